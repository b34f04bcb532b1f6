//! The parts of observed bodies → the steps of a model. Not which parts there are (see `bodies`).

use std::collections::BTreeMap;

use super::bodies::Part;
use super::body::{Gap, Item, SetId, Sets};
use super::times;
use crate::btf::NameId;
use crate::simulate::model::{Runs, Step};

/// How a lock is taken in a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockKind {
    Resource(usize),
    /// The process spins.
    Spin(usize),
    /// The process tries again and again, with so many ns in between.
    Try(usize, i64),
}

/// Whose steps they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// An index of the tasks of the model.
    Task(usize),
    Isr,
    Runnable,
}

/// Where the entities of a trace are in a model.
#[derive(Debug, Default)]
pub struct Places {
    pub tasks: BTreeMap<NameId, usize>,
    pub runnables: BTreeMap<NameId, usize>,
    pub signals: BTreeMap<NameId, usize>,
    pub events: BTreeMap<NameId, usize>,
    pub locks: BTreeMap<NameId, LockKind>,
    /// Of each task that waits for something without a name: its event.
    pub wakes: BTreeMap<usize, usize>,
    /// Of each signal that always gets the same value: that.
    pub values: BTreeMap<NameId, u32>,
    pub remote_call: i64,
}

impl Places {
    /// The steps of parts.
    pub fn steps(&self, parts: &[Part], owner: Owner, sets: &Sets) -> Vec<Step> {
        let mut steps = Vec::new();
        for part in parts {
            match part {
                Part::Time(gaps) => {
                    let gaps = gaps.iter().map(|gap| self.without_call(*gap)).collect();
                    steps.extend(times::distribution(gaps).map(Step::Execute));
                }
                Part::Do(item) => self.step(*item, owner, sets, &mut steps),
                Part::Turns(turns) => {
                    let of: Runs<Vec<Step>> =
                        turns.iter().map(|(times, parts)| (*times, self.steps(parts, owner, sets))).collect();
                    if of.items().iter().any(|steps| !steps.is_empty()) {
                        steps.push(Step::Turns { of });
                    }
                }
                Part::OneOf(ways) => {
                    let ways = ways.iter().map(|(count, parts)| (*count, self.steps(parts, owner, sets)));
                    steps.extend(branches(&ways.collect::<Vec<_>>()));
                }
                Part::Repeat(times, parts) => {
                    let inside = self.steps(parts, owner, sets);
                    if !inside.is_empty() {
                        steps.push(Step::Repeat { times: *times, steps: inside });
                    }
                }
            }
        }
        steps
    }

    /// Without the time of the way to another core.
    fn without_call(&self, gap: Gap) -> Gap {
        let call = if gap.remote { self.remote_call } else { 0 };
        Gap { net: (gap.net - call).max(0), ..gap }
    }

    fn step(&self, item: Item, owner: Owner, sets: &Sets, steps: &mut Vec<Step>) {
        let is_isr = owner == Owner::Isr;
        let step = match item {
            Item::Nothing => None,
            Item::Call(name) => self.runnables.get(&name).map(|runnable| Step::Call { runnable: *runnable }),
            Item::Read(name) => self.signals.get(&name).map(|signal| Step::Read { signal: *signal }),
            Item::Write(name) => {
                let value = self.values.get(&name).copied();
                self.signals.get(&name).map(|signal| Step::Write { signal: *signal, value })
            }
            Item::Activate(name) => self.tasks.get(&name).map(|task| Step::Activate { task: *task }),
            Item::SetEvent(task, set) => {
                let events = self.events_of(set, sets);
                let task = self.tasks.get(&task).filter(|_| !events.is_empty());
                task.map(|task| Step::SetEvent { task: *task, events })
            }
            Item::ClearEvent(set) => {
                let events = self.events_of(set, sets);
                (!events.is_empty() && !is_isr).then_some(Step::ClearEvent { events })
            }
            Item::Wait(set) => {
                let events = self.events_of(set, sets);
                if let (true, Owner::Task(task)) = (events.is_empty(), owner)
                    && let Some(wake) = self.wakes.get(&task)
                {
                    steps.push(Step::WaitEvent { events: vec![*wake] });
                    steps.push(Step::ClearEvent { events: vec![*wake] });
                    return;
                }
                (!events.is_empty() && !is_isr).then_some(Step::WaitEvent { events })
            }
            Item::Take(name) => self.locks.get(&name).map(|lock| match *lock {
                LockKind::Resource(resource) => Step::GetResource { resource },
                LockKind::Spin(spinlock) => Step::GetSpinlock { spinlock },
                LockKind::Try(spinlock, every) => Step::TryToGetSpinlock { spinlock, every },
            }),
            Item::Give(name) => self.locks.get(&name).map(|lock| match *lock {
                LockKind::Resource(resource) => Step::ReleaseResource { resource },
                LockKind::Spin(spinlock) | LockKind::Try(spinlock, _) => Step::ReleaseSpinlock { spinlock },
            }),
        };
        steps.extend(step);
    }

    fn events_of(&self, set: SetId, sets: &Sets) -> Vec<usize> {
        sets.names(set).iter().filter_map(|name| self.events.get(name).copied()).collect()
    }
}

/// Branches between ways by how often each was observed, as a tree of little depth.
fn branches(ways: &[(u64, Vec<Step>)]) -> Vec<Step> {
    let total: u64 = ways.iter().map(|(count, _)| count).sum();
    let (_, steps) = match ways {
        [] => return Vec::new(),
        [way] => way,
        _ => {
            let (then, otherwise) = ways.split_at(ways.len() / 2);
            let share: u64 = then.iter().map(|(count, _)| count).sum();
            let probability = share as f64 / total.max(1) as f64;
            let (then, otherwise) = (branches(then), branches(otherwise));
            return vec![Step::Branch { probability, then, otherwise }];
        }
    };
    steps.clone()
}
