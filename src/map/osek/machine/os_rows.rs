//! Rows of the tables `os_call` and `os_error`: services and errors as the OS reports them. Not what they
//! mean to tasks (see `services`).

use super::Machine;
use super::state::{Actor, Context, OpenCall, Proc};
use crate::btf::NameId;
use crate::error::Result;
use crate::map::NativeRows;
use crate::schema::{OsCallRow, OsCallRows, OsErrorRow, OsErrorRows};
use arrow::array::RecordBatch;

/// Rows ready to be written.
#[derive(Debug, Default)]
pub struct OsRows {
    calls: OsCallRows,
    errors: OsErrorRows,
}

impl OsRows {
    /// Takes the rows so far, if a table has at least `at_least`.
    pub fn take(&mut self, at_least: usize) -> Option<Self> {
        let rows = self.calls.len().max(self.errors.len());
        (rows >= at_least).then(|| std::mem::take(self))
    }
}

impl NativeRows for OsRows {
    fn take_batches(&mut self) -> Result<Vec<RecordBatch>> {
        Ok(vec![self.calls.take_batch()?, self.errors.take_batch()?])
    }
}

/// A process for a row: name, type, instance.
type Caller = Option<(Actor, &'static str)>;

impl Machine {
    pub(super) fn caller(&self, p: Option<Proc>) -> Caller {
        let process = |p| match p {
            // Rule I9: rows name it as the derived tables do.
            Proc::Isr(core, n) => self.cores[core].isrs[n].process,
            Proc::Task(_) => self.actor(p),
        };
        p.map(|p| (process(p), Self::kind(p).as_str()))
    }

    /// A call ends; `None` when it is not known when.
    pub(super) fn write_call(&mut self, caller: Caller, call: &OpenCall, exit_at: Option<i64>) {
        let names = &self.model.names;
        let core = &self.model.cores[call.core];
        self.rows.calls.push(OsCallRow {
            core: names.name(core.name),
            process: caller.map(|((name, _), _)| names.name(name)),
            r#type: caller.map(|(_, kind)| kind.into()),
            instance: caller.map(|((_, instance), _)| instance),
            service: call.id,
            name: core.service_names.get(&call.id).map(|name| names.name(*name)),
            depth: call.depth,
            enter_at: call.enter_at,
            exit_at,
            error: call.error.map(|error| names.name(error)),
        });
    }

    /// The calls of a context that ends or is forgotten.
    pub(super) fn cut_calls(&mut self, caller: Caller, context: &Context) {
        for call in &context.services {
            self.write_call(caller, call, None);
        }
    }

    /// The calls that are open at the end of the recording.
    pub(super) fn cut_all_calls(&mut self) {
        for core in 0..self.cores.len() {
            for n in 0..self.cores[core].isrs.len() {
                self.cut_calls_of(Proc::Isr(core, n));
            }
            let idle = std::mem::take(&mut self.cores[core].idle.services);
            idle.iter().for_each(|call| self.write_call(None, call, None));
            self.cores[core].idle.services = idle;
        }
        for t in 0..self.tasks.len() {
            self.cut_calls_of(Proc::Task(t));
        }
    }

    /// The calls of a process of which it is not known when they end.
    pub(super) fn cut_calls_of(&mut self, p: Proc) {
        let caller = self.caller(Some(p));
        let calls = std::mem::take(&mut self.context(Some(p), 0).services);
        calls.iter().for_each(|call| self.write_call(caller, call, None));
        self.context(Some(p), 0).services = calls;
    }

    /// An error is reported on a core. The same one again within a call comes from an error hook.
    pub(super) fn write_error(&mut self, core: usize, p: Option<Proc>, code: i64, task: Option<usize>) {
        let error = self.error_name(core, code);
        let call = self.context(p, core).services.last_mut();
        let repeated = call.as_ref().is_some_and(|call| call.error == Some(error));
        let service = call.map(|call| {
            call.error = Some(error);
            call.id
        });
        if repeated {
            return;
        }
        let caller = self.caller(p);
        let for_caller = p.is_some_and(|p| self.is_rpc(p));
        let (names, model) = (&self.model.names, &self.model.cores[core]);
        let service = service.and_then(|id| model.service_names.get(&id));
        self.rows.errors.push(OsErrorRow {
            core: names.name(model.name),
            time: self.now,
            error: names.name(error),
            code,
            process: caller.map(|((name, _), _)| names.name(name)),
            r#type: caller.map(|(_, kind)| kind.into()),
            instance: caller.map(|((_, instance), _)| instance),
            service: service.map(|name| names.name(*name)),
            task: task.map(|t| names.name(self.tasks[t].name)),
            for_caller,
        });
    }

    fn error_name(&mut self, core: usize, code: i64) -> NameId {
        match self.model.cores[core].errors.get(&code) {
            Some(name) => *name,
            None => self.model.names.intern(&code.to_string()),
        }
    }
}
