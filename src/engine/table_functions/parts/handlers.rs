//! Whom events mean by the names of ISRs that stand for another process on each core (rule I9 of
//! docs/mapping.md): events have one numbering for all cores, tables of instances one for each core, and both
//! have the time of an activation. Not what events say (see `feed`).

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::AtomicBool;

use super::names::Names;
use crate::btf::EntityType;
use crate::error::Result;
use crate::explain::Actor;
use crate::names::IdMap;
use crate::schema::{columns::process_instance, tables, view};
use crate::store::{Database, Scan, Scanner, Within, read_batches};

const BATCH_ROWS: usize = 16 * 1024;

view! {
    struct Described of entity { entity, r#type, occurs }
}

/// The processes of each name that stands for several, or for one whose core is in front of the name.
#[derive(Debug, Clone, Default)]
pub(super) struct Shared(BTreeMap<String, Vec<String>>);

impl Shared {
    /// The ISRs of a recording that tables of instances call otherwise than events.
    pub fn of_recording(database: &Database, recording: &str) -> Result<Self> {
        let (mut isrs, mut tasks) = (Vec::new(), HashSet::new());
        for file in database.files(tables::ENTITY, Some(recording))? {
            let place = database.place_of(&file);
            for batch in read_batches(&place, tables::ENTITY, Some(Described::COLUMNS), BATCH_ROWS)? {
                let batch = batch?;
                let entities = Described::of(&batch)?;
                for row in 0..entities.len() {
                    let name = entities.entity.value(row).to_owned();
                    match EntityType::parse_tolerant(entities.r#type.value(row)) {
                        Some(EntityType::Isr) if entities.occurs.value(row) => isrs.push(name),
                        Some(EntityType::Task) => {
                            tasks.insert(name);
                        }
                        _ => {}
                    }
                }
            }
        }
        if isrs.is_empty() {
            return Ok(Self::default());
        }
        let mut processes = processes(database, recording)?;
        processes.retain(|process| !tasks.contains(process));
        Ok(Self::of(&isrs, processes))
    }

    /// `isrs` are their names in events, `processes` the names in tables of instances; others may be among
    /// these.
    pub fn of(isrs: &[String], processes: Vec<String>) -> Self {
        let mut shared: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let (plain, of_cores): (Vec<String>, Vec<String>) =
            processes.into_iter().partition(|process| isrs.contains(process));
        for process in of_cores {
            // The longest name: of `Core_0.a.b`, the core is rather `Core_0` than `Core_0.a`.
            let is_of =
                |name: &&String| process.strip_suffix(name.as_str()).is_some_and(|core| core.ends_with('.'));
            if let Some(name) = isrs.iter().filter(is_of).max_by_key(|name| name.len()) {
                shared.entry(name.clone()).or_default().push(process);
            }
        }
        // The process of one image may have the name as it is, and so have instances whose core was not seen.
        for process in plain {
            if let Some(processes) = shared.get_mut(&process) {
                processes.push(process);
            }
        }
        Self(shared)
    }

    /// Each name means one process.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Events have these names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether a process of tables of instances has such a name in events.
    pub fn has(&self, process: &str) -> bool {
        self.0.values().flatten().any(|one| one == process)
    }
}

/// The processes of a recording, and possibly some without instances: from dictionaries, where there are any.
fn processes(database: &Database, recording: &str) -> Result<Vec<String>> {
    let (begin, end) = (process_instance::ACTIVATE_AT, process_instance::TERMINATE_AT);
    let within = Within { begin, end, from: i64::MIN, to: i64::MAX };
    let (table, columns) = (tables::PROCESS_INSTANCE, &[process_instance::PROCESS][..]);
    let scan = Scan { table, recording, columns, within, having: None };
    let interrupt = AtomicBool::new(false);
    Scanner { database, threads: 1, interrupt: &interrupt }.names_of(&scan, process_instance::PROCESS)
}

/// Which instances events mean, by the names of [`Shared`].
#[derive(Debug, Default)]
pub(super) struct Handlers {
    /// Names in events, by process.
    names: Vec<Option<u32>>,
    /// By name: several processes have it in events.
    shared: Vec<bool>,
    /// In the order of time.
    activations: Vec<(i64, Actor)>,
    /// The first one that is not over.
    next: usize,
    /// Those that have not ended, by name and number in events; and the other way.
    open: IdMap<(u32, i64), Actor>,
    numbers: IdMap<Actor, (u32, i64)>,
}

impl Handlers {
    /// `activations` of instances, in any order, with their times; others may be among them.
    pub fn of(shared: &Shared, names: &Names, mut activations: Vec<(i64, Actor)>) -> Self {
        let mut handlers = Self::default();
        for (name, processes) in &shared.0 {
            let name = names.intern(name);
            put(&mut handlers.shared, name, true);
            for process in processes {
                put(&mut handlers.names, names.intern(process), Some(name));
            }
        }
        activations.retain(|(_, actor)| handlers.name_of(actor.process).is_some());
        activations.sort_unstable();
        Self { activations, ..handlers }
    }

    /// The name of a process in events, if others have it, too.
    fn name_of(&self, process: u32) -> Option<u32> {
        self.names.get(process as usize).copied().flatten()
    }

    /// Whether several processes have the name in events.
    pub fn share(&self, name: u32) -> bool {
        self.shared.get(name as usize) == Some(&true)
    }

    /// All processes of such names.
    pub fn processes(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.names).filter_map(|(process, name)| name.map(|_| process))
    }

    /// The time of the first activation.
    pub fn first(&self) -> Option<i64> {
        self.activations.first().map(|(at, _)| *at)
    }

    /// An event activates what it calls by such a name and a number; times do not go back. Returns the
    /// instance that it means, which has this name and number until it ends: the only one that is activated
    /// then. Of several, nothing says which of them it is, each goes to `of_several`. None, if the tables
    /// have none that is activated then, or another event has activated it.
    pub fn activated(
        &mut self,
        time: i64,
        called: (u32, i64),
        of_several: impl FnMut(Actor),
    ) -> Option<Actor> {
        if let Some(before) = self.open.remove(&called) {
            self.numbers.remove(&before);
        }
        let rest = self.activations.get(self.next..).unwrap_or_default();
        let (passed, rest) = rest.split_at(rest.iter().take_while(|(at, _)| *at < time).count());
        self.next += passed.len();
        let now = rest.iter().take_while(|(at, _)| *at == time).map(|(_, actor)| *actor);
        let of_name = now.filter(|actor| self.name_of(actor.process) == Some(called.0));
        let mut each = of_name.clone();
        let (actor, another) = (each.next()?, each.next());
        if another.is_some() {
            of_name.for_each(of_several);
            return None;
        }
        if self.numbers.contains_key(&actor) {
            return None;
        }
        self.open.insert(called, actor);
        self.numbers.insert(actor, called);
        Some(actor)
    }

    /// The instance that has a name and a number in events now, if that is known.
    pub fn who(&self, called: (u32, i64)) -> Option<Actor> {
        self.open.get(&called).copied()
    }

    /// An instance ends: no event means it any more.
    pub fn ended(&mut self, actor: Actor) {
        if self.name_of(actor.process).is_some()
            && let Some(called) = self.numbers.remove(&actor)
        {
            self.open.remove(&called);
        }
    }
}

/// Sets the value of a number.
fn put<T: Clone + Default>(values: &mut Vec<T>, number: u32, value: T) {
    let place = number as usize;
    if values.len() <= place {
        values.resize(place + 1, T::default());
    }
    if let Some(place) = values.get_mut(place) {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(isrs: &[&str], processes: &[&str]) -> Shared {
        let [isrs, processes] =
            [isrs, processes].map(|all| all.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        Shared::of(&isrs, processes)
    }

    #[test]
    fn a_name_is_shared_if_a_process_has_a_core_in_front_of_it() {
        let shared =
            |isrs: &[&str], processes: &[&str]| shared(isrs, processes).0.into_iter().collect::<Vec<_>>();
        let of = |name: &str, processes: &[&str]| {
            (name.to_owned(), processes.iter().map(|process| (*process).to_owned()).collect::<Vec<_>>())
        };
        assert!(shared(&["I", "J"], &["I", "J", "T", "xI"]).is_empty());
        assert_eq!(shared(&["I"], &["C0.I", "C1.I"]), [of("I", &["C0.I", "C1.I"])]);
        // One image has kept the name.
        assert_eq!(shared(&["I", "J"], &["I", "C1.I", "J"]), [of("I", &["C1.I", "I"])]);
        // An ISR of a longer name, and one whose own name has a dot.
        assert_eq!(shared(&["b", "a.b"], &["a.b", "C0.a.b"]), [of("a.b", &["C0.a.b", "a.b"])]);
        // Names are no patterns.
        assert!(shared(&["*"], &["C0.I"]).is_empty());
    }

    #[test]
    fn an_event_means_the_only_instance_that_is_activated_then() {
        let names = Names::of("r");
        let [i, j, i_0, i_1, j_0] = ["I", "J", "C0.I", "C1.I", "C0.J"].map(|name| names.intern(name));
        let actor = |process, instance| Actor { process, instance };
        let mut handlers = Handlers::of(
            &shared(&["I", "J"], &["C0.I", "C1.I", "C0.J"]),
            &names,
            vec![
                (30, actor(i_1, 1)),
                (30, actor(i_0, 1)),
                (10, actor(i_1, 0)),
                (10, actor(j_0, 0)),
                (20, actor(i_0, 0)),
                (40, actor(i_0, 2)),
                (20, actor(9999, 0)),
            ],
        );
        assert_eq!(handlers.first(), Some(10));
        assert!(handlers.share(i) && handlers.share(j) && !handlers.share(i_0));
        let mut several = Vec::new();
        let mut activated = |handlers: &mut Handlers, time, called| {
            handlers.activated(time, called, |actor| several.push(actor))
        };
        assert_eq!(handlers.who((i, 0)), None);
        // Another name, or another event of this time, does not matter.
        assert_eq!(activated(&mut handlers, 10, (i, 0)), Some(actor(i_1, 0)));
        assert_eq!(activated(&mut handlers, 10, (i, 1)), None);
        assert_eq!(activated(&mut handlers, 10, (j, 0)), Some(actor(j_0, 0)));
        assert_eq!(activated(&mut handlers, 15, (i, 2)), None);
        assert_eq!(activated(&mut handlers, 20, (i, 3)), Some(actor(i_0, 0)));
        assert_eq!(
            [0, 1, 2, 3].map(|n| handlers.who((i, n)).map(|one| one.process)),
            [Some(i_1), None, None, Some(i_0)]
        );
        handlers.ended(actor(i_1, 0));
        assert_eq!((handlers.who((i, 0)), handlers.who((i, 3))), (None, Some(actor(i_0, 0))));
        // Two at once: it is not known which. Nor is it of a number that comes again.
        assert_eq!(activated(&mut handlers, 30, (i, 3)), None);
        assert_eq!(activated(&mut handlers, 30, (i, 4)), None);
        assert_eq!((handlers.who((i, 3)), handlers.who((i, 4))), (None, None));
        assert_eq!(activated(&mut handlers, 40, (i, 5)), Some(actor(i_0, 2)));
        let both = [actor(i_0, 1), actor(i_1, 1)];
        assert_eq!(several, [both, both].concat());
        handlers.ended(actor(i_0, 2));
        handlers.ended(actor(j_0, 0));
        assert!(handlers.open.is_empty() && handlers.numbers.is_empty());
    }
}
