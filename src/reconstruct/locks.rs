//! Semaphores of a trace → resources and spinlocks of a model. Not who takes them when (see `observe`).

use std::collections::BTreeMap;

use super::evidence::{Confidence, Evidence};
use super::names::Namer;
use super::observe::{Lock, Observer, ProcessId};
use super::steps::LockKind;
use crate::btf::{EntityType, NameId, Names};
use crate::simulate::model::{Model, Resource, Spinlock};

/// How long a process computes between two tries for a spinlock, if nothing says so, in ns.
const EVERY: i64 = 1_000;

/// Adds the locks to a model. A lock is a resource if only tasks take it, and none of them loses its core to
/// another one that takes it too; with one task per core, a lock of several cores is a spinlock. All others
/// are spinlocks. What keeps no rule of either gets no steps.
pub fn add(
    seen: &Observer,
    names: &Names,
    model: &mut Model,
    namer: &mut Namer,
    evidence: &mut Vec<Evidence>,
) -> BTreeMap<NameId, LockKind> {
    let mut kinds = BTreeMap::new();
    for (name, lock) in &seen.locks {
        if lock.taken == 0 {
            continue;
        }
        let entity = namer.name(names.text(*name));
        let (is_resource, why) = is_resource(seen, lock);
        let kind = if is_resource { "resource" } else { "spinlock" };
        let note = match lock.broken {
            Some(why) => format!("no step takes it: {why}"),
            None => why.to_owned(),
        };
        evidence.push(Evidence {
            kind,
            entity: entity.clone(),
            what: "taken",
            value: String::new(),
            samples: lock.taken,
            confidence: Confidence::Observed,
            note,
        });
        let of_model = if is_resource {
            model.resources.push(Resource { name: entity, internal: false });
            LockKind::Resource(model.resources.len() - 1)
        } else {
            model.spinlocks.push(Spinlock { name: entity });
            let spinlock = model.spinlocks.len() - 1;
            if lock.parked > 0 {
                LockKind::Try(spinlock, lock.delay.max(EVERY))
            } else {
                LockKind::Spin(spinlock)
            }
        };
        if lock.broken.is_none() {
            kinds.insert(*name, of_model);
        }
    }
    kinds
}

/// Whether a lock is a resource, and why.
fn is_resource(seen: &Observer, lock: &Lock) -> (bool, &'static str) {
    let is_task = |process: &NameId| seen.kinds.get(process) == Some(&EntityType::Task);
    if !lock.users.iter().all(|(process, _)| is_task(process)) {
        return (false, "an ISR takes it");
    }
    if lock.cores.len() < 2 {
        return (true, "only tasks of one core take it");
    }
    // Two tasks of one core: with a spinlock, one could wait for the other one for ever.
    let users = |core: NameId| {
        let here = |(task, _): &&ProcessId| seen.contention.home(*task) == Some(core);
        lock.users.iter().filter(here).count()
    };
    if lock.cores.iter().all(|core| users(*core) < 2) {
        return (false, "one task per core takes it");
    }
    if lock.preemptors.iter().any(|task| lock.users.contains(&(*task, None))) {
        return (false, "a task that takes it preempts the one that has it");
    }
    (true, "several tasks of a core take it, and none preempts the one that has it")
}
