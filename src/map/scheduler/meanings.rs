//! What an event says, by the profile of its trace and its parameters. Not what follows from it (see
//! `rules`).

use super::occurrences::{ISR, IsrSaid, Leaves, Named, Object, Said, What};
use crate::btf::{Action, IdleTasks};
use crate::description::{Meaning, SchedulerProfile};
use serde_json::Value;
use std::sync::Arc;

/// What the events of a trace mean.
pub(super) struct Meanings {
    profile: SchedulerProfile,
    /// Patterns of the names of tasks that run where nothing is to be done.
    idle: IdleTasks,
}

impl Meanings {
    pub fn new(profile: SchedulerProfile) -> Self {
        Self { idle: IdleTasks::new(&profile.idle.names), profile }
    }

    /// The meaning of the events of a name.
    pub fn of(&self, name: &str) -> Option<Meaning> {
        self.profile.event.get(name).cloned()
    }

    fn is_idle(&self, said: &Said) -> bool {
        let has_name = |name: &String| self.idle.verdict(name) == Some(true);
        self.profile.idle.numbers.contains(&said.task) || said.name.as_ref().is_some_and(has_name)
    }
}

/// The parameters of an event.
struct Parameters(Value);

impl Parameters {
    /// The parameter of that name, in the words of [`Meaning`].
    fn find(&self, names: &str) -> Option<&Value> {
        let of_path = |name: &str| name.split('.').try_fold(&self.0, |value, part| value.get(part));
        names.split('|').find_map(of_path)
    }

    fn number(&self, names: &str) -> Option<u64> {
        let value = self.find(names)?;
        if value.is_string() {
            // The value has a name: its number has one, too.
            return names.split('|').find_map(|name| self.0.get(format!("{name}.value"))?.as_u64());
        }
        value.as_u64()
    }

    fn text(&self, names: &str) -> Option<String> {
        Some(self.find(names)?.as_str()?.to_owned())
    }

    fn said(&self, task: &str, name: Option<&str>, priority: Option<&str>) -> Option<Said> {
        Some(Said {
            task: self.number(task)?,
            name: name.and_then(|name| self.text(name)).filter(|name| !name.is_empty()),
            priority: priority.and_then(|priority| self.find(priority)?.as_i64()),
            cpu: None,
        })
    }

    /// The same, with the CPU that the task will run on.
    fn placed(&self, task: &str, name: Option<&str>, cpu: Option<&str>) -> Option<Said> {
        let cpu = cpu.and_then(|cpu| self.find(cpu)?.as_i64());
        Some(Said { cpu, ..self.said(task, name, None)? })
    }

    fn object(&self, process: &str, object: &str) -> Option<Object> {
        Some((self.number(process)?, self.number(object)?))
    }

    fn semaphore(&self, action: Action, class: &str, object: &str) -> Option<What> {
        Some(What::Semaphore { action, name: format!("{class}{:x}", self.number(object)?) })
    }
}

impl Meanings {
    /// What an event says; `None` if it lacks a parameter.
    pub fn what(&self, meaning: &Meaning, payload: &str) -> Option<What> {
        let of = Parameters(match meaning {
            Meaning::Stop | Meaning::Idle | Meaning::IsrEnd | Meaning::IsrEndToScheduler => Value::Null,
            _ => serde_json::from_str(payload).ok()?,
        });
        let busy = |said: Said| Some(said).filter(|said| !self.is_idle(said));
        Some(match meaning {
            Meaning::Task { task, name, priority } => {
                let said = of.said(task, Some(name), priority.as_deref())?;
                What::Task { task: said.task, name: said.name?, priority: said.priority }
            }
            Meaning::Create { task, name, cpu } => {
                busy(of.placed(task, name.as_deref(), cpu.as_deref())?).map_or(What::Nothing, What::Create)
            }
            Meaning::Ready { task, name, cpu } => {
                busy(of.placed(task, name.as_deref(), cpu.as_deref())?).map_or(What::Nothing, What::Ready)
            }
            Meaning::Run { task, name } => {
                busy(of.said(task, name.as_deref(), None)?).map_or(What::Idle, What::Run)
            }
            Meaning::Switch { from, from_name, state, waits, ends, may_end, to, to_name, to_priority } => {
                let state = of.number(state)?;
                let leaves = match state {
                    state if state & ends != 0 => Leaves::Ends,
                    state if state & may_end != 0 => Leaves::MayEnd,
                    state if state & waits != 0 => Leaves::Waits,
                    _ => Leaves::Ready,
                };
                let from = busy(of.said(from, Some(from_name), None)?);
                let to = busy(of.said(to, Some(to_name), Some(to_priority))?);
                What::Switch { from, leaves, to }
            }
            Meaning::Stop => What::Stop,
            Meaning::Block { task } => What::Block(of.number(task)?),
            Meaning::Pend { task } => What::Pend(of.number(task)?),
            Meaning::End { task } => What::End(of.number(task)?),
            Meaning::Idle => What::Idle,
            Meaning::IsrBegin { isr, name, class, names } => {
                let number = match isr {
                    Some(isr) => Some(of.number(isr)?),
                    None => None,
                };
                let listed = || names.get(usize::try_from(number?).ok()?).cloned();
                let name = name.as_ref().and_then(|name| of.text(name)).or_else(listed);
                let key = (Arc::from(class.as_deref().unwrap_or(ISR)), number);
                What::IsrBegin(IsrSaid { key, name })
            }
            Meaning::IsrEnd => What::IsrEnd,
            Meaning::IsrEndToScheduler => What::IsrEndToScheduler,
            Meaning::Texts { text } => What::IsrNames(isr_names(&of.text(text)?)),
            Meaning::Reorder { task, address, ready_is } => {
                let number = |name: &Option<String>| name.as_ref().and_then(|name| of.number(name));
                let named = number(task).map(Named::Number).or(number(address).map(Named::Address));
                What::Reorder { task: named?, ready_is: *ready_is }
            }
            Meaning::Addresses { base, shift } => {
                What::Addresses { base: of.number(base)?, shift: of.number(shift)? }
            }
            Meaning::Mark { mark, value } => What::Mark { mark: of.number(mark)?, value: *value },
            Meaning::MarkName { mark, name } => {
                What::MarkName { mark: of.number(mark)?, name: of.text(name)? }
            }
            Meaning::Request { class, object } => of.semaphore(Action::RequestSemaphore, class, object)?,
            Meaning::Await { class, object } => of.semaphore(Action::Waiting, class, object)?,
            Meaning::Assign { class, object, result } => match of.find(result)?.as_i64()? {
                0 => of.semaphore(Action::Assigned, class, object)?,
                _ => What::Nothing,
            },
            Meaning::Release { class, object } => of.semaphore(Action::Released, class, object)?,
            Meaning::CallbackBegin { callback, process, process_name, thread } => What::CallbackBegin {
                callback: of.object(process, callback)?,
                process: of.text(process_name)?,
                thread: of.number(thread)?,
            },
            Meaning::CallbackEnd { callback, process, thread } => {
                What::CallbackEnd { callback: of.object(process, callback)?, thread: of.number(thread)? }
            }
            Meaning::Label { object, process, begin, name } => {
                let name = match of.find(name)? {
                    Value::String(name) => name.clone(),
                    other => other.to_string(),
                };
                What::Label { object: of.object(process, object)?, name: format!("{begin}{name}") }
            }
            Meaning::LabelAs { object, process, other } => {
                What::LabelAs { object: of.object(process, object)?, other: of.object(process, other)? }
            }
        })
    }
}

/// `I#5=SysTick`, one or several, among other things.
fn isr_names(text: &str) -> Vec<(u64, String)> {
    let one = |part: &str| {
        let (number, name) = part.trim().strip_prefix("I#")?.split_once('=')?;
        Some((number.parse().ok()?, name.to_owned()))
    };
    text.split(',').filter_map(one).collect()
}
