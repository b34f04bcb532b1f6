//! What an event says, by the profile of its trace and its parameters. Not what follows from it (see
//! `rules`).

use super::occurrences::{ISR, IsrSaid, Leaves, Named, Object, Said, What};
use super::parameters::Parameters;
use crate::btf::{Action, IdleTasks};
use crate::description::{Meaning, Parameter, SchedulerProfile};
use crate::names::Interner;
use std::fmt::Write as _;
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
        if self.profile.idle.names.is_empty() {
            return self.profile.idle.numbers.contains(&said.task);
        }
        let has_name = |name: &str| self.idle.verdict(name) == Some(true);
        self.profile.idle.numbers.contains(&said.task) || said.name.as_deref().is_some_and(has_name)
    }
}

/// The names in events, each allocated once: they come again and again.
#[derive(Debug, Default)]
pub(super) struct Texts {
    ids: Interner,
    /// By id.
    all: Vec<Arc<str>>,
    /// A name in the making.
    made: String,
}

impl Texts {
    /// The number of a name.
    pub fn number(&mut self, text: &str) -> u32 {
        let id = self.ids.intern(text);
        if id as usize == self.all.len() {
            self.all.push(Arc::from(text));
        }
        id
    }

    fn get(&mut self, text: &str) -> Arc<str> {
        let id = self.number(text) as usize;
        self.all.get(id).map_or_else(|| Arc::from(text), Arc::clone)
    }

    /// The name of an object by its number.
    fn numbered(&mut self, class: &str, number: u64) -> Arc<str> {
        let mut made = std::mem::take(&mut self.made);
        made.clear();
        made.push_str(class);
        // Writing to a text does not fail.
        let _ = write!(made, "{number:x}");
        let name = self.get(&made);
        self.made = made;
        name
    }
}

impl Parameters<'_> {
    fn said(&self, task: &Parameter, name: Option<&Parameter>, texts: &mut Texts) -> Option<Said> {
        let name = name.and_then(|name| self.text(name)).filter(|name| !name.is_empty());
        Some(Said { task: self.number(task)?, name: name.map(|name| texts.get(name)), ..Said::default() })
    }

    /// The same, with the CPU that the task will run on.
    fn placed(
        &self,
        task: &Parameter,
        name: Option<&Parameter>,
        cpu: Option<&Parameter>,
        texts: &mut Texts,
    ) -> Option<Said> {
        let cpu = cpu.and_then(|cpu| self.signed(cpu));
        Some(Said { cpu, ..self.said(task, name, texts)? })
    }

    fn object(&self, process: &Parameter, object: &Parameter) -> Option<Object> {
        Some((self.number(process)?, self.number(object)?))
    }

    fn semaphore(&self, action: Action, class: &str, object: &Parameter, texts: &mut Texts) -> Option<What> {
        Some(What::Semaphore { action, name: texts.numbered(class, self.number(object)?) })
    }
}

impl Meanings {
    /// What an event says; `None` if it lacks a parameter. `of` is where parameters are read to.
    pub fn what<'p>(
        &self,
        meaning: &Meaning,
        payload: &'p str,
        of: &mut Parameters<'p>,
        texts: &mut Texts,
    ) -> Option<What> {
        let needs_none =
            matches!(meaning, Meaning::Stop | Meaning::Idle | Meaning::IsrEnd | Meaning::IsrEndToScheduler);
        if !needs_none && !of.read(payload) {
            return None;
        }
        let busy = |said: Said| Some(said).filter(|said| !self.is_idle(said));
        Some(match meaning {
            Meaning::Task { task, name, priority } => {
                let said = of.said(task, Some(name), texts)?;
                let priority = priority.as_ref().and_then(|priority| of.signed(priority));
                What::Task { task: said.task, name: said.name?, priority }
            }
            Meaning::Create { task, name, cpu } => {
                busy(of.placed(task, name.as_ref(), cpu.as_ref(), texts)?).map_or(What::Nothing, What::Create)
            }
            Meaning::Ready { task, name, cpu } => {
                busy(of.placed(task, name.as_ref(), cpu.as_ref(), texts)?).map_or(What::Nothing, What::Ready)
            }
            Meaning::Run { task, name } => {
                busy(of.said(task, name.as_ref(), texts)?).map_or(What::Idle, What::Run)
            }
            Meaning::Switch { from, from_name, state, waits, ends, may_end, to, to_name, to_priority } => {
                let state = of.number(state)?;
                let leaves = match state {
                    state if state & ends != 0 => Leaves::Ends,
                    state if state & may_end != 0 => Leaves::MayEnd,
                    state if state & waits != 0 => Leaves::Waits,
                    _ => Leaves::Ready,
                };
                let from = busy(of.said(from, Some(from_name), texts)?);
                let priority = of.signed(to_priority);
                let to = busy(Said { priority, ..of.said(to, Some(to_name), texts)? });
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
                let listed = || names.get(usize::try_from(number?).ok()?).map(String::as_str);
                let name = name.as_ref().and_then(|name| of.text(name)).or_else(listed);
                let key = (texts.get(class.as_deref().unwrap_or(ISR)), number);
                What::IsrBegin(IsrSaid { key, name: name.map(|name| texts.get(name)) })
            }
            Meaning::IsrEnd => What::IsrEnd,
            Meaning::IsrEndToScheduler => What::IsrEndToScheduler,
            Meaning::Texts { text } => What::IsrNames(isr_names(of.text(text)?)),
            Meaning::Reorder { task, address, ready_is } => {
                let number = |name: &Option<Parameter>| name.as_ref().and_then(|name| of.number(name));
                let named = number(task).map(Named::Number).or(number(address).map(Named::Address));
                What::Reorder { task: named?, ready_is: *ready_is }
            }
            Meaning::Addresses { base, shift } => {
                What::Addresses { base: of.number(base)?, shift: of.number(shift)? }
            }
            Meaning::Mark { mark, value } => What::Mark { mark: of.number(mark)?, value: *value },
            Meaning::MarkName { mark, name } => {
                What::MarkName { mark: of.number(mark)?, name: of.text(name)?.to_owned() }
            }
            Meaning::Request { class, object } => {
                of.semaphore(Action::RequestSemaphore, class, object, texts)?
            }
            Meaning::Await { class, object } => of.semaphore(Action::Waiting, class, object, texts)?,
            Meaning::Assign { class, object, result } => match of.signed(result)? {
                0 => of.semaphore(Action::Assigned, class, object, texts)?,
                _ => What::Nothing,
            },
            Meaning::Release { class, object } => of.semaphore(Action::Released, class, object, texts)?,
            Meaning::CallbackBegin { callback, process, process_name, thread } => What::CallbackBegin {
                callback: of.object(process, callback)?,
                process: texts.get(of.text(process_name)?),
                thread: of.number(thread)?,
            },
            Meaning::CallbackEnd { callback, process, thread } => {
                What::CallbackEnd { callback: of.object(process, callback)?, thread: of.number(thread)? }
            }
            Meaning::Label { object, process, begin, name } => {
                let name = format!("{begin}{}", of.printed(name)?);
                What::Label { object: of.object(process, object)?, name }
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
