//! Instances and states of runnables, with their process and nesting depth. BTF never names the calling
//! runnable, so depth is the number of runnables that are open in the same process instance (BTF 2.1.5,
//! runnable events). Nothing of a runnable is known before the first event that tells of it, and in a gap.

use super::Rows;
use super::processes::Processes;
use super::step::MAX_DEPTH;
use crate::btf::spec::{process_transition, runnable_transition};
use crate::btf::{Actor, Event, NameId, Names, State};
use crate::names::{IdMap, Name};
use crate::schema::{RunnableInstanceRow, RunnableStateRow};
use std::collections::{BTreeMap, VecDeque};

#[derive(Debug)]
struct Open {
    runnable: NameId,
    instance: i64,
    process: (NameId, i64),
    core: Option<NameId>,
    depth: i64,
    state: State,
    since: i64,
    start_at: Option<i64>,
    running: i64,
    suspended: i64,
    /// The runnable that called it: the last open one of its process instance.
    caller: Option<u64>,
    /// How long its callees were running.
    callees: i64,
    /// The part of `running` that its caller has in `callees`.
    counted: i64,
    cut: bool,
    /// It is suspended because its process does not run: no event says so.
    implied: bool,
}

/// The open runnables of a process instance.
#[derive(Debug, Default)]
struct Nest {
    /// Their number: the depth of the next one.
    depth: i64,
    top: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Runnables {
    by_instance: IdMap<(NameId, i64), u64>,
    open: BTreeMap<u64, Open>,
    nested: IdMap<(NameId, i64), Nest>,
    /// Those of which nothing is known until their next events, by process instance: they may have ended.
    lost: IdMap<Actor, VecDeque<(u64, Open)>>,
    /// Processes that have ended although they call runnables, with the time and the last runnable by then.
    ended: Vec<((NameId, i64), i64, u64)>,
    born: u64,
    pub violations: u64,
}

impl Runnables {
    pub fn event(&mut self, event: &Event, names: &Names, processes: &Processes, rows: &mut Rows) {
        let Some((from, to)) = runnable_transition(event.action) else { return };
        self.end_with_processes(event.time, names, rows);
        let key = (event.target, event.target_instance);
        let process = (event.source, event.source_instance);
        let id = match self.by_instance.get(&key) {
            Some(id) => *id,
            None => self.appear(event, from, names, rows),
        };
        let Some(open) = self.open.get_mut(&id) else { return };
        let implied = std::mem::take(&mut open.implied);
        if open.state != from && !(implied && to == State::Suspended) {
            self.violations += 1;
        }
        open.leave(event.time, names, rows);
        open.state = to;
        if to == State::Running || open.core.is_none() {
            // Its process may go on on another core.
            open.core = processes.core(process.0, process.1).or(open.core);
        }
        open.since = match open.core {
            Some(core) => processes.gaps.visible(core, event.time),
            None => processes.gaps.visible_everywhere(event.time),
        };
        open.cut |= open.since > event.time;
        if to == State::Terminated
            && let Some(mut open) = self.take(id)
        {
            self.returned(&mut open);
            open.write(Some(event.time), names, rows);
        }
    }

    /// A runnable that was not known to be open has its next event, which leads from state `from`: one that
    /// was lost, or a new one.
    fn appear(&mut self, event: &Event, from: State, names: &Names, rows: &mut Rows) -> u64 {
        let key = (event.target, event.target_instance);
        let process = (event.source, event.source_instance);
        let started = from == State::Terminated;
        let found = self.take_lost(key, process);
        let nest = self.nested.entry(process).or_default();
        let (id, open) = match found {
            Some((id, open)) if !started => {
                (id, Open { state: from, since: event.time, caller: nest.top, ..open })
            }
            // Another one may have its number.
            before => {
                before.iter().for_each(|(_, open)| open.write(None, names, rows));
                self.born += 1;
                let open = Open {
                    runnable: event.target,
                    instance: event.target_instance,
                    process,
                    core: None,
                    depth: nest.depth,
                    state: from,
                    since: event.time,
                    start_at: started.then_some(event.time),
                    running: 0,
                    suspended: 0,
                    caller: nest.top,
                    callees: 0,
                    counted: 0,
                    cut: !started,
                    implied: false,
                };
                (self.born, open)
            }
        };
        nest.depth += 1;
        nest.top = Some(id);
        self.by_instance.insert(key, id);
        self.open.insert(id, open);
        id
    }

    /// What happened to a process happens to its runnables, which writers need not say: they run when it
    /// does.
    pub fn of_process(&mut self, event: &Event, names: &Names, rows: &mut Rows) {
        let Some((_, to)) = process_transition(event.action) else { return };
        self.end_with_processes(event.time, names, rows);
        let process = (event.target, event.target_instance);
        if to == State::Terminated {
            if self.nested.contains_key(&process) || self.lost.contains_key(&process) {
                self.ended.push((process, event.time, self.born));
            }
            return;
        }
        let mut next = self.nested.get(&process).and_then(|nest| nest.top);
        while let Some(open) = next.and_then(|id| self.open.get_mut(&id)) {
            let (is, implied) = match to {
                State::Ready | State::Waiting | State::Parking => (State::Suspended, true),
                State::Running | State::Polling => (State::Running, false),
                _ => return,
            };
            if open.implied != implied && (open.implied || open.state == State::Running) {
                open.leave(event.time, names, rows);
                (open.state, open.implied) = (is, implied);
                if is == State::Running {
                    // It may go on on another core.
                    open.core = Some(event.source);
                }
            }
            next = open.caller;
        }
    }

    /// What is still open after the end of its process ended with it, as far as is known: events of one
    /// instant may be in any order, so this needs a later one.
    fn end_with_processes(&mut self, now: i64, names: &Names, rows: &mut Rows) {
        if self.ended.first().is_none_or(|(_, time, _)| *time >= now) {
            return;
        }
        for (process, time, last) in std::mem::take(&mut self.ended) {
            if self.nested.contains_key(&process) {
                let ended = self.ids(|id, open| id <= last && open.process == process);
                self.leave(&ended, time, names, rows);
                self.violations += ended.len() as u64;
                for open in ended.into_iter().filter_map(|id| self.take(id)) {
                    open.write(None, names, rows);
                }
            }
            self.end_lost_by(process, last, names, rows);
        }
    }

    /// A process instance has ended, when and how is not known; so has what it ran that was lost.
    pub fn end_lost(&mut self, process: Actor, names: &Names, rows: &mut Rows) {
        self.end_lost_by(process, u64::MAX, names, rows);
    }

    /// Those up to the runnable `last`: a later one is of another instance with the number of that process.
    fn end_lost_by(&mut self, process: Actor, last: u64, names: &Names, rows: &mut Rows) {
        let Some(lost) = self.lost.get_mut(&process) else { return };
        lost.iter().filter(|(id, _)| *id <= last).for_each(|(_, open)| open.write(None, names, rows));
        lost.retain(|(id, _)| *id > last);
        if lost.is_empty() {
            self.lost.remove(&process);
        }
    }

    /// A lost runnable has ended, when is not known.
    pub fn end_lost_one(&mut self, runnable: Actor, process: Actor, names: &Names, rows: &mut Rows) {
        if let Some((_, open)) = self.take_lost(runnable, process) {
            open.write(None, names, rows);
        }
    }

    /// Takes a runnable from those of its process that are lost.
    fn take_lost(&mut self, runnable: Actor, process: Actor) -> Option<(u64, Open)> {
        let lost = self.lost.get_mut(&process)?;
        let place = lost.iter().position(|(_, open)| (open.runnable, open.instance) == runnable)?;
        let found = lost.remove(place);
        if lost.is_empty() {
            self.lost.remove(&process);
        }
        found
    }

    /// The trace of `core`, or of all, has a gap from `begin` on: what is open there is lost. So is what is
    /// open on an unknown core.
    pub fn gap(&mut self, core: Option<NameId>, begin: i64, names: &Names, rows: &mut Rows) {
        self.end_with_processes(begin, names, rows);
        let hidden = self.ids(|_, open| core.is_none() || open.core.is_none_or(|c| Some(c) == core));
        self.lose_all(hidden, begin, names, rows);
    }

    /// The state of a process instance is unknown from `time` on: so is that of what it runs.
    pub fn lose(&mut self, process: (NameId, i64), time: i64, names: &Names, rows: &mut Rows) {
        if self.nested.contains_key(&process) {
            let all = self.ids(|_, open| open.process == process);
            self.lose_all(all, time, names, rows);
        }
    }

    /// Nothing is known of these open runnables from `time` on, until their next events.
    fn lose_all(&mut self, ids: Vec<u64>, time: i64, names: &Names, rows: &mut Rows) {
        self.leave(&ids, time, names, rows);
        for id in ids {
            let Some(open) = self.take(id) else { continue };
            let lost = self.lost.entry(open.process).or_default();
            if lost.len() >= MAX_DEPTH {
                lost.pop_front().iter().for_each(|(_, oldest)| oldest.write(None, names, rows));
            }
            lost.push_back((id, Open { cut: true, implied: false, ..open }));
        }
    }

    /// The numbers of open runnables, in the order of their first events.
    fn ids(&self, of: impl Fn(u64, &Open) -> bool) -> Vec<u64> {
        self.open.iter().filter(|(id, open)| of(**id, open)).map(|(id, _)| *id).collect()
    }

    /// Takes a runnable from the open ones.
    fn take(&mut self, id: u64) -> Option<Open> {
        let open = self.open.remove(&id)?;
        self.by_instance.remove(&(open.runnable, open.instance));
        self.left(id, &open);
        Some(open)
    }

    pub fn finish(&mut self, end: i64, names: &Names, rows: &mut Rows) {
        self.end_with_processes(i64::MAX, names, rows);
        let all: Vec<u64> = self.open.keys().copied().collect();
        self.leave(&all, end, names, rows);
        let lost = std::mem::take(&mut self.lost).into_values().flatten();
        let mut rest: Vec<(u64, Open)> = std::mem::take(&mut self.open).into_iter().chain(lost).collect();
        rest.sort_unstable_by_key(|(id, _)| *id);
        for (_, open) in rest {
            open.write(None, names, rows);
        }
        self.by_instance.clear();
        self.nested.clear();
    }

    /// Counts the time of open runnables, innermost first: it is part of the time of their callers.
    fn leave(&mut self, ids: &[u64], time: i64, names: &Names, rows: &mut Rows) {
        for id in ids.iter().rev() {
            if let Some(mut open) = self.open.remove(id) {
                open.leave(time, names, rows);
                self.returned(&mut open);
                self.open.insert(*id, open);
            }
        }
    }

    /// Adds its time to that of the callees of its caller.
    fn returned(&mut self, open: &mut Open) {
        if let Some(caller) = open.caller.and_then(|id| self.open.get_mut(&id)) {
            let new = open.running.saturating_sub(open.counted);
            caller.callees = caller.callees.saturating_add(new);
            open.counted = open.running;
        }
    }

    /// Removes a closed runnable from the open ones of its process instance.
    fn left(&mut self, id: u64, open: &Open) {
        if let Some(nest) = self.nested.get_mut(&open.process) {
            nest.depth -= 1;
            if nest.top == Some(id) {
                nest.top = open.caller;
            }
            if nest.depth <= 0 {
                self.nested.remove(&open.process);
            }
        }
    }
}

impl Open {
    /// Ends the span of the current state at `time`. Spans of length 0 are not written, nor what is in a gap.
    fn leave(&mut self, time: i64, names: &Names, rows: &mut Rows) {
        if time <= self.since {
            return;
        }
        let begin_at = std::mem::replace(&mut self.since, time);
        match self.state {
            State::Running => self.running = self.running.saturating_add(time.saturating_sub(begin_at)),
            State::Suspended => self.suspended = self.suspended.saturating_add(time.saturating_sub(begin_at)),
            _ => return,
        }
        let (process, process_instance) = self.process(names);
        rows.runnable_states.push(RunnableStateRow {
            runnable: names.name(self.runnable),
            instance: self.instance,
            process,
            process_instance,
            core: self.core.map(|c| names.name(c)),
            depth: self.depth,
            state: self.state.into(),
            begin_at,
            end_at: time,
        });
    }

    /// The process instance that runs it. `SIM`, instance −1, is none: it runs outside of all processes.
    fn process<'a>(&self, names: &'a Names) -> (Option<Name<'a>>, Option<i64>) {
        let known = self.process.1 >= 0;
        (known.then(|| names.name(self.process.0)), known.then_some(self.process.1))
    }

    fn write(&self, terminate_at: Option<i64>, names: &Names, rows: &mut Rows) {
        let (process, process_instance) = self.process(names);
        rows.runnables.push(RunnableInstanceRow {
            runnable: names.name(self.runnable),
            instance: self.instance,
            process,
            process_instance,
            core: self.core.map(|c| names.name(c)),
            depth: self.depth,
            start_at: self.start_at,
            terminate_at,
            running: self.running,
            suspended: self.suspended,
            callees: (process_instance.is_some() && self.start_at.is_some()).then_some(self.callees),
            complete: !self.cut && self.start_at.is_some() && terminate_at.is_some(),
        });
    }
}
