//! Instances of runnables, with their process and nesting depth. BTF never names the calling runnable, so
//! depth is the number of runnables that are open in the same process instance (BTF 2.1.5, runnable events).

use super::processes::Processes;
use crate::btf::{Event, IdMap, NameId, Names, RunnableState, runnable_transition};
use crate::schema::{RunnableInstanceRow, RunnableInstanceRows};
use std::collections::BTreeMap;

#[derive(Debug)]
struct Open {
    runnable: NameId,
    instance: i64,
    process: (NameId, i64),
    core: Option<NameId>,
    depth: i64,
    state: RunnableState,
    since: i64,
    start_at: Option<i64>,
    running: i64,
    suspended: i64,
    cut: bool,
}

#[derive(Debug)]
pub(super) struct Runnables {
    begin: i64,
    by_instance: IdMap<(NameId, i64), u64>,
    open: BTreeMap<u64, Open>,
    /// Open runnables per process instance: the depth of the next one.
    nested: IdMap<(NameId, i64), i64>,
    born: u64,
    pub violations: u64,
}

impl Runnables {
    pub fn new(begin: i64) -> Self {
        Self {
            begin,
            by_instance: IdMap::default(),
            open: BTreeMap::new(),
            nested: IdMap::default(),
            born: 0,
            violations: 0,
        }
    }

    pub fn event(
        &mut self,
        event: &Event,
        names: &Names,
        processes: &Processes,
        rows: &mut RunnableInstanceRows,
    ) {
        let Some((from, to)) = runnable_transition(event.action) else { return };
        let key = (event.target, event.target_instance);
        let process = (event.source, event.source_instance);
        let id = match self.by_instance.get(&key) {
            Some(id) => *id,
            None => {
                let started = from == RunnableState::Terminated;
                let depth = self.nested.entry(process).or_insert(0);
                self.born += 1;
                self.by_instance.insert(key, self.born);
                self.open.insert(
                    self.born,
                    Open {
                        runnable: event.target,
                        instance: event.target_instance,
                        process,
                        core: processes.core(process.0, process.1),
                        depth: *depth,
                        state: from,
                        since: if started { event.time } else { self.begin },
                        start_at: started.then_some(event.time),
                        running: 0,
                        suspended: 0,
                        cut: !started,
                    },
                );
                *depth += 1;
                self.born
            }
        };
        let Some(open) = self.open.get_mut(&id) else { return };
        if open.state != from {
            self.violations += 1;
        }
        open.leave(event.time);
        open.state = to;
        if to == RunnableState::Terminated {
            self.by_instance.remove(&key);
            if let Some(open) = self.open.remove(&id) {
                self.nested_less(open.process);
                open.write(Some(event.time), names, rows);
            }
        }
    }

    pub fn gap(&mut self, core: NameId, begin: i64, names: &Names, rows: &mut RunnableInstanceRows) {
        let cut: Vec<u64> =
            self.open.iter().filter(|(_, o)| o.core == Some(core)).map(|(id, _)| *id).collect();
        for id in cut {
            if let Some(mut open) = self.open.remove(&id) {
                open.leave(begin);
                self.by_instance.remove(&(open.runnable, open.instance));
                self.nested_less(open.process);
                open.write(None, names, rows);
            }
        }
    }

    pub fn finish(&mut self, end: i64, names: &Names, rows: &mut RunnableInstanceRows) {
        for mut open in std::mem::take(&mut self.open).into_values() {
            open.leave(end);
            open.write(None, names, rows);
        }
        self.by_instance.clear();
        self.nested.clear();
    }

    fn nested_less(&mut self, process: (NameId, i64)) {
        if let Some(n) = self.nested.get_mut(&process) {
            *n -= 1;
            if *n <= 0 {
                self.nested.remove(&process);
            }
        }
    }
}

impl Open {
    fn leave(&mut self, time: i64) {
        let stretch = (time - self.since).max(0);
        match self.state {
            RunnableState::Running => self.running += stretch,
            RunnableState::Suspended => self.suspended += stretch,
            RunnableState::Terminated => {}
        }
        self.since = time;
    }

    fn write(&self, terminate_at: Option<i64>, names: &Names, rows: &mut RunnableInstanceRows) {
        // `SIM`, instance −1, is no process: the runnable ran outside of every process.
        let known = self.process.1 >= 0;
        rows.push(RunnableInstanceRow {
            runnable: names.name(self.runnable),
            instance: self.instance,
            process: known.then(|| names.name(self.process.0)),
            process_instance: known.then_some(self.process.1),
            core: self.core.map(|c| names.name(c)),
            depth: self.depth,
            start_at: self.start_at,
            terminate_at,
            running: self.running,
            suspended: self.suspended,
            complete: !self.cut && self.start_at.is_some() && terminate_at.is_some(),
        });
    }
}
