//! What a database says of a system before an event of it is read: its processes with their priorities and
//! cores, and its locks. Not what happened (see `feed`).

use crate::bound::{CoreId, Facts, Kind, LockId, Order, Place, Preemption, Process, ProcessId};
use crate::btf::EntityType;
use crate::engine::{Param, Session};
use crate::error::Result;
use crate::schema::result::{self, Texts};
use crate::schema::{tables, view};
use crate::selection::pattern;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

view! {
    struct Entities of entity { entity, r#type, core, priority, preemption, idle }
}

/// A task or ISR.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// As derived tables call it.
    pub name: String,
    pub kind: Kind,
    pub priority: Option<i64>,
    preemption: Preemption,
    core: Option<CoreId>,
}

/// Who a name in events is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Process(ProcessId),
    /// An ISR that is another process on each core (rule I9 of docs/mapping.md).
    Shared,
}

/// The processes, cores and locks of a recording.
#[derive(Debug, Default)]
pub(super) struct System {
    pub processes: Vec<Known>,
    pub cores: Vec<String>,
    pub locks: Vec<String>,
    core_ids: HashMap<String, CoreId>,
    lock_ids: HashMap<String, LockId>,
    tasks: HashMap<String, Who>,
    isrs: HashMap<String, Who>,
    /// By name in events and core.
    on_cores: HashMap<(String, CoreId), ProcessId>,
    /// By name in events: the process of that name on the cores that have no other one.
    elsewhere: HashMap<String, ProcessId>,
    /// Who goes before whom where priorities are not described.
    order: Option<Arc<Order>>,
}

impl System {
    /// Idle tasks are no part of it: they have what nobody else needs.
    pub fn read(session: &Session, recording: &str) -> Result<Self> {
        let mut system = Self::default();
        let ran = ran(session, recording)?;
        let mut idle = BTreeSet::new();
        for batch in session.scanner().rows(tables::ENTITY, recording, Entities::COLUMNS)? {
            let entities = Entities::of(&batch)?;
            for row in 0..entities.len() {
                let name = entities.entity.value(row);
                let kind = match EntityType::parse_tolerant(entities.r#type.value(row)) {
                    Some(EntityType::Task) => Kind::Task,
                    Some(EntityType::Isr) => Kind::Isr,
                    Some(EntityType::Semaphore) => {
                        system.lock_ids.entry(name.to_owned()).or_insert_with(|| {
                            system.locks.push(name.to_owned());
                            system.locks.len() - 1
                        });
                        continue;
                    }
                    _ => continue,
                };
                if entities.idle.value(row) {
                    idle.insert(name.to_owned());
                    continue;
                }
                let core = entities.core.get(row).map(|core| system.core(core));
                let preemption = match entities.preemption.get(row) {
                    Some("full") => Preemption::Full,
                    Some("non") => Preemption::Never,
                    _ => Preemption::Unknown,
                };
                let priority = entities.priority.get(row);
                let known = Known { name: name.to_owned(), kind, priority, preemption, core };
                let is_on_cores = |(process, of): &&(String, Kind)| {
                    *of == Kind::Isr && pattern::fits_on_core(name, process)
                };
                let shares: Vec<_> = ran.iter().filter(is_on_cores).collect();
                let alone = kind == Kind::Task || shares.is_empty();
                if alone || ran.contains(&(name.to_owned(), kind)) {
                    let id = system.add(known.clone());
                    system.elsewhere.extend((!alone).then(|| (name.to_owned(), id)));
                }
                if alone {
                    continue;
                }
                for (process, _) in shares {
                    let prefix = process.len().saturating_sub(name.len() + 1);
                    let core = system.core(process.get(..prefix).unwrap_or_default());
                    let known = Known { name: process.clone(), core: Some(core), ..known.clone() };
                    let id = system.add(known);
                    system.on_cores.insert((name.to_owned(), core), id);
                }
                system.isrs.insert(name.to_owned(), Who::Shared);
            }
        }
        // The description need not have all that ran.
        for (name, kind) in ran {
            let is_known = system.by_kind(kind).contains_key(&name);
            if !is_known && !idle.contains(&name) {
                system.add(Known { name, kind, priority: None, preemption: Preemption::Unknown, core: None });
            }
        }
        Ok(system)
    }

    fn add(&mut self, known: Known) -> ProcessId {
        let (id, name) = (self.processes.len(), known.name.clone());
        self.by_kind_mut(known.kind).insert(name, Who::Process(id));
        self.processes.push(known);
        id
    }

    fn by_kind(&self, kind: Kind) -> &HashMap<String, Who> {
        if kind == Kind::Task { &self.tasks } else { &self.isrs }
    }

    fn by_kind_mut(&mut self, kind: Kind) -> &mut HashMap<String, Who> {
        if kind == Kind::Task { &mut self.tasks } else { &mut self.isrs }
    }

    /// Learns who goes before whom from what was observed, where it is not described; whether there is more
    /// to be known now.
    pub fn learn_order(&mut self, facts: &Facts) -> bool {
        if self.processes.iter().all(|known| known.priority.is_some()) {
            return false;
        }
        self.order = facts.order();
        self.order.is_some()
    }

    /// What the analysis needs to know of each process. It compares priorities only, so that their places in
    /// the order of all of them say enough, whatever their range is.
    pub fn described(&self) -> Vec<Process> {
        let order: BTreeSet<i64> = self.processes.iter().filter_map(|known| known.priority).collect();
        let order: Vec<i64> = order.into_iter().collect();
        let place = |priority: i64| order.binary_search(&priority).ok().and_then(|at| u32::try_from(at).ok());
        let of = |(process, known): (ProcessId, &Known)| Process {
            place: self.order.clone().map(|order| Place { process, order }),
            kind: known.kind,
            priority: known.priority.and_then(place),
            preemption: known.preemption,
            core: known.core,
        };
        self.processes.iter().enumerate().map(of).collect()
    }

    /// The number of a core, from the first time on that it is named.
    pub fn core(&mut self, name: &str) -> CoreId {
        if let Some(id) = self.core_ids.get(name) {
            return *id;
        }
        let id = self.cores.len();
        self.cores.push(name.to_owned());
        self.core_ids.insert(name.to_owned(), id);
        id
    }

    pub fn lock(&self, name: &str) -> Option<LockId> {
        self.lock_ids.get(name).copied()
    }

    /// Who has this name in events.
    pub fn who(&self, name: &str, kind: Kind) -> Option<Who> {
        self.by_kind(kind).get(name).copied()
    }

    /// The process that an ISR of this name is on a core.
    pub fn on_core(&self, name: &str, core: CoreId) -> Option<ProcessId> {
        self.on_cores.get(&(name.to_owned(), core)).or_else(|| self.elsewhere.get(name)).copied()
    }
}

/// The processes that have instances.
fn ran(session: &Session, recording: &str) -> Result<BTreeSet<(String, Kind)>> {
    let sql = "SELECT DISTINCT process, type FROM process_instance WHERE recording = $recording";
    let mut found = BTreeSet::new();
    for batch in session.sql(sql, &[("recording", Param::from(recording))])? {
        let [processes, types] = result::columns::<[Texts; 2]>(&batch?)?;
        for row in 0..processes.len() {
            let kind = match types.get(row).and_then(EntityType::parse_tolerant) {
                Some(EntityType::Task) => Kind::Task,
                Some(EntityType::Isr) => Kind::Isr,
                _ => continue,
            };
            found.insert((processes.value(row).to_owned(), kind));
        }
    }
    Ok(found)
}
