//! Calls of services, as rows of table `os_call`. Not what they mean to processes, which words of the kernel
//! say themselves.

use crate::btf::{Actor, EntityType, NameId, Names};
use crate::error::Result;
use crate::map::NativeRows;
use crate::schema::{OsCallRow, OsCallRows};
use arrow::array::RecordBatch;

/// Who calls: a process and its instance, and what it is; `None` if the core runs none.
pub(super) type Caller = Option<(Actor, EntityType)>;

/// A call that has not returned.
#[derive(Debug)]
struct Open {
    caller: Caller,
    core: NameId,
    service: u64,
    name: Option<NameId>,
    depth: i64,
    enter_at: i64,
}

/// The calls of a recording.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// In the order in which they were entered.
    open: Vec<Open>,
    pub rows: CallRows,
    /// Returns of calls that were not entered.
    pub unentered: u64,
}

#[derive(Debug, Default)]
pub struct CallRows(OsCallRows);

impl CallRows {
    /// Takes the rows so far, if there are at least `at_least`.
    pub fn take(&mut self, at_least: usize) -> Option<Self> {
        (self.0.len() >= at_least.max(1)).then(|| std::mem::take(self))
    }
}

impl NativeRows for CallRows {
    fn take_batches(&mut self) -> Result<Vec<RecordBatch>> {
        Ok(vec![self.0.take_batch()?])
    }
}

impl Calls {
    /// A service is called on a core.
    pub fn enter(&mut self, core: NameId, caller: Caller, time: i64, service: u64, name: Option<NameId>) {
        let depth = self.open.iter().filter(|open| open.is_of(core, caller)).count() as i64;
        self.open.push(Open { caller, core, service, name, depth, enter_at: time });
    }

    /// A service returns on a core: the last call of it by the same caller. Those that were made inside have
    /// not been seen to return.
    pub fn exit(&mut self, core: NameId, caller: Caller, time: i64, service: u64, names: &Names) {
        let is_it = |open: &Open| open.is_of(core, caller) && open.service == service;
        let Some(at) = self.open.iter().rposition(is_it) else {
            self.unentered += 1;
            return;
        };
        let depth = self.open.get(at).map_or(0, |open| open.depth);
        let inside = |open: &mut Open| open.is_of(core, caller) && open.depth >= depth;
        for open in self.open.extract_if(at.., inside).collect::<Vec<_>>().into_iter().rev() {
            let exit_at = (open.depth == depth).then_some(time);
            self.rows.push(&open, exit_at, names);
        }
    }

    /// An instance ends: its calls do not return.
    pub fn end(&mut self, actor: Actor, names: &Names) {
        self.cut(names, |open| open.caller.is_some_and(|(caller, _)| caller == actor));
    }

    /// Nothing is known of the calls on a core any more.
    pub fn forget(&mut self, core: NameId, names: &Names) {
        self.cut(names, |open| open.core == core);
    }

    /// The recording ends.
    pub fn finish(&mut self, names: &Names) {
        self.cut(names, |_| true);
    }

    fn cut(&mut self, names: &Names, is_cut: impl Fn(&Open) -> bool) {
        for open in self.open.extract_if(.., |open| is_cut(open)).collect::<Vec<_>>().into_iter().rev() {
            self.rows.push(&open, None, names);
        }
    }
}

impl Open {
    /// Calls of a process are its own on any core; those of none are of their core.
    fn is_of(&self, core: NameId, caller: Caller) -> bool {
        self.caller == caller && (caller.is_some() || self.core == core)
    }
}

impl CallRows {
    fn push(&mut self, open: &Open, exit_at: Option<i64>, names: &Names) {
        self.0.push(OsCallRow {
            core: names.name(open.core),
            process: open.caller.map(|((name, _), _)| names.name(name)),
            r#type: open.caller.map(|(_, kind)| kind.as_str().into()),
            instance: open.caller.map(|((_, instance), _)| instance),
            service: i64::try_from(open.service).unwrap_or(i64::MAX),
            name: open.name.map(|name| names.name(name)),
            depth: open.depth,
            enter_at: open.enter_at,
            exit_at,
            error: None,
        });
    }
}
