//! Which cores the rows of a picture are of, so that only the gaps of those concern them; and when nothing is
//! known of an object. Not the rows of gaps (see `objects`), and not how gaps are drawn.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::Context;
use super::objects::each_row;
use super::states::States;
use crate::btf::EntityType;
use crate::error::Result;
use crate::names::Interner;
use crate::picture::{Row, RowKind};
use crate::schema::result::{Integers, Texts};
use crate::schema::tables;
use crate::time::united;

/// Where entities belong, as far as tables say it. Nothing is read for a recording without gaps.
#[derive(Debug, Default)]
pub(super) struct Homes {
    /// The core of a process by the description.
    of_process: HashMap<String, String>,
    /// The cores on which a process was seen; true: an ISR.
    seen: HashMap<(bool, String), Vec<String>>,
    /// The control unit of an entity, by its type.
    units: HashMap<(EntityType, String), String>,
    /// All cores.
    all: BTreeSet<String>,
    /// The cores of a control unit.
    cores: BTreeMap<String, BTreeSet<String>>,
}

impl Homes {
    pub fn read(context: &Context<'_>) -> Result<Self> {
        let mut homes = Self::default();
        let has = |table| context.session.database().has(table, context.recording.as_str());
        if !has(tables::GAP)? {
            return Ok(homes);
        }
        if has(tables::ENTITY)? {
            let sql = "SELECT entity, core FROM entity
                WHERE recording = $recording AND (type IN ('T', 'I') AND core IS NOT NULL OR type = 'C')
                ORDER BY entity, core";
            each_row(context, sql, |[entity, core]: &[Texts; 2], row| {
                let entity = entity.value(row).to_owned();
                match core.get(row) {
                    Some(core) => drop(homes.of_process.insert(entity, core.to_owned())),
                    None => drop(homes.all.insert(entity)),
                }
            })?;
        }
        if has(tables::ECU_ENTITY)? {
            let sql =
                "SELECT ecu, type, entity FROM ecu_entity WHERE recording = $recording ORDER BY ecu, entity";
            each_row(context, sql, |[unit, ty, entity]: &[Texts; 3], row| {
                let (unit, entity) = (unit.value(row).to_owned(), entity.value(row).to_owned());
                let Some(ty) = EntityType::parse_tolerant(ty.value(row)) else { return };
                if ty == EntityType::Core {
                    homes.cores.entry(unit.clone()).or_default().insert(entity.clone());
                }
                homes.units.insert((ty, entity), unit);
            })?;
        }
        Ok(homes)
    }

    /// Processes were seen on these cores.
    pub fn see(&mut self, states: &States) {
        for (slot, seen) in states.seen_on.iter().enumerate() {
            let cores = states.cores.iter().zip(seen).filter(|(_, seen)| **seen);
            let cores: Vec<String> = cores.map(|(core, _)| core.clone()).collect();
            if let Some(process) = states.processes.get(slot / 2).filter(|_| !cores.is_empty()) {
                self.seen.insert((slot % 2 == 1, process.clone()), cores);
            }
        }
    }

    /// The cores of the control unit of an object; none if that is not known: any core may use it.
    pub fn of_object(&self, ty: EntityType, name: &str) -> Option<&BTreeSet<String>> {
        self.cores.get(self.units.get(&(ty, name.to_owned()))?)
    }

    /// The cores of a process: those on which it was seen in the window, and that of its description; else
    /// those of its control unit.
    fn of_process(&self, isr: bool, name: &str) -> BTreeSet<&str> {
        let seen = self.seen.get(&(isr, name.to_owned())).into_iter().flatten();
        let mut cores: BTreeSet<&str> = seen.chain(self.of_process.get(name)).map(String::as_str).collect();
        if isr && cores.is_empty() {
            // `CORE.NAME` is a handler that several cores have (rule I9 of docs/mapping.md).
            let parts = name.match_indices('.').filter_map(|(dot, _)| name.get(..dot));
            cores.extend(parts.filter_map(|part| self.all.get(part)).map(String::as_str).take(1));
        }
        if cores.is_empty() {
            let ty = if isr { EntityType::Isr } else { EntityType::Task };
            cores.extend(self.of_object(ty, name).into_iter().flatten().map(String::as_str));
        }
        cores
    }

    /// Says of each row which cores it is of.
    pub fn place(&self, rows: &mut [Row], names: &mut Interner) {
        for at in 0..rows.len() {
            let (above, rest) = rows.split_at_mut(at);
            let Some(row) = rest.first_mut() else { continue };
            let object =
                |ty| self.of_object(ty, &row.label).into_iter().flatten().map(String::as_str).collect();
            let cores: BTreeSet<&str> = match row.kind {
                RowKind::Core => BTreeSet::from([row.label.as_str()]),
                RowKind::Task | RowKind::Isr => self.of_process(row.kind == RowKind::Isr, &row.label),
                RowKind::Runnable | RowKind::Response => {
                    match row.parent.and_then(|parent| above.get(parent)) {
                        Some(process) => {
                            row.cores.clone_from(&process.cores);
                            continue;
                        }
                        None => {
                            let process = row.label.strip_prefix("runnables of ").unwrap_or_default();
                            [true, false].into_iter().flat_map(|isr| self.of_process(isr, process)).collect()
                        }
                    }
                }
                RowKind::Semaphore => object(EntityType::Semaphore),
                RowKind::Signal => object(EntityType::Signal),
                RowKind::Stimulus => object(EntityType::Stimulus),
                RowKind::Event => {
                    // `EVENT of TASK`; both are of one control unit.
                    let of = row.label.match_indices(" of ");
                    let mut tasks = of.filter_map(|(place, word)| row.label.get(place + word.len()..));
                    let cores = tasks.find_map(|task| self.of_object(EntityType::Task, task));
                    cores.into_iter().flatten().map(String::as_str).collect()
                }
                RowKind::Server | RowKind::Buffer | RowKind::Trace | RowKind::Recording => continue,
            };
            row.cores = cores.into_iter().map(|core| names.intern(core)).collect();
        }
    }
}

/// The times of which nothing was recorded.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    /// By core; `None`: of all.
    gaps: Vec<(Option<String>, i64, i64)>,
    /// Those of some cores, or of any.
    known: RefCell<BTreeMap<Option<BTreeSet<String>>, Spans>>,
}

/// Begins and ends, shared.
type Spans = Rc<[(i64, i64)]>;

impl Unseen {
    /// Those that begin before the end of the window.
    pub fn read(context: &Context<'_>) -> Result<Self> {
        let mut unseen = Self::default();
        if !context.session.database().has(tables::GAP, context.recording.as_str())? {
            return Ok(unseen);
        }
        let sql = "SELECT core, begin_at, end_at FROM gap WHERE recording = $recording AND begin_at < $to";
        each_row(context, sql, |(core, [begin, end]): &(Texts, [Integers; 2]), row| {
            if let (Some(begin), Some(end)) = (begin.get(row), end.get(row)) {
                // What has the time of a gap without a length may have been before it.
                let end = end.max(begin.saturating_add(1));
                unseen.gaps.push((core.get(row).map(str::to_owned), begin, end));
            }
        })?;
        Ok(unseen)
    }

    /// Those in which an object can have been used that these cores have; `None`: any core. Sorted, without
    /// overlaps.
    pub fn of(&self, cores: Option<&BTreeSet<String>>) -> Spans {
        let can = |core: &Option<String>| match (core, cores) {
            (Some(core), Some(cores)) => cores.contains(core),
            _ => true,
        };
        let find = || {
            let gaps = self.gaps.iter().filter(|gap| can(&gap.0));
            let mut times: Vec<(i64, i64)> = gaps.map(|gap| (gap.1, gap.2)).collect();
            united(&mut times);
            times.into()
        };
        Rc::clone(self.known.borrow_mut().entry(cores.cloned()).or_insert_with(find))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_that_several_cores_have_are_of_the_one_in_their_names() {
        let homes = Homes { all: BTreeSet::from(["a.Core_0".to_owned()]), ..Homes::default() };
        assert_eq!(homes.of_process(true, "a.Core_0.a.I"), BTreeSet::from(["a.Core_0"]));
        assert_eq!(homes.of_process(true, "b.Core_0.b.I"), BTreeSet::new());
        assert_eq!(homes.of_process(false, "a.Core_0.T"), BTreeSet::new());
    }
}
