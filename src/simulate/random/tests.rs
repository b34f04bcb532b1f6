//! That random models are the same everywhere, valid, of every kind, and never get stuck.

use super::{Features, Model, Options, model, rules, waters};
use crate::simulate::kernel::access::{Function, Recorder, Variable};
use crate::simulate::kernel::effect::{Effect, Observer};
use crate::simulate::kernel::{Handlers, Kernel};
use crate::simulate::model::{Action, Arrivals, Distribution, Step};
use std::collections::BTreeMap;

/// Of the text of models. They change with every change of the generator, and with nothing else.
const RANDOM_HASHES: [u64; 4] = [
    17_876_043_033_914_903_249,
    6_922_749_440_430_081_282,
    6_183_347_477_821_465_650,
    14_574_848_047_437_584_025,
];
const WATERS_HASHES: [u64; 2] = [6_058_306_135_701_469_726, 8_330_716_226_793_993_458];

/// FNV-1a of 64 bits, as in `random_numbers`.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

fn models(count: u64) -> impl Iterator<Item = Model> {
    (0..count).map(|seed| model(seed, &Options::default()))
}

#[test]
fn a_seed_is_the_same_model_on_every_machine() {
    let hashes = [0, 1, 2, 1 << 63].map(|seed| hash(&model(seed, &Options::default()).to_toml()));
    assert_eq!(hashes, RANDOM_HASHES);
    let hashes = [0, 1].map(|seed| hash(&waters(seed, &Options::default()).to_toml()));
    assert_eq!(hashes, WATERS_HASHES);
}

#[test]
fn a_model_that_runs_longer_is_the_same_one() {
    for seed in 0..50 {
        let longer = model(seed, &Options { duration: Some(2_000_000_000), ..Options::default() });
        let own = model(seed, &Options::default());
        assert_eq!(longer.duration, 2_000_000_000);
        assert_eq!(Model { duration: own.duration, ..longer }.to_toml(), own.to_toml());
    }
}

#[test]
fn models_are_valid_and_hold_the_rules() {
    for model in models(500) {
        let log = model.check().unwrap_or_else(|error| panic!("{}: {error:?}", model.name));
        let codes: Vec<&str> = log.entries().iter().map(|entry| entry.code).collect();
        assert!(codes.iter().all(|code| *code == "over-utilisation"), "{}: {codes:?}", model.name);
        rules::hold(&model);
    }
    for seed in 0..3 {
        let model = waters(seed, &Options::default());
        assert!(model.check().unwrap().entries().is_empty(), "{}", model.name);
    }
}

#[test]
fn the_rules_are_checked() {
    let broken = |change: &dyn Fn(&mut Model)| {
        let is_caught = |mut model: Model| {
            change(&mut model);
            std::panic::catch_unwind(|| rules::hold(&model)).is_err()
        };
        models(40).map(is_caught).filter(|caught| *caught).count()
    };
    assert_eq!(broken(&|_| {}), 0);
    // Rule 3.
    assert!(broken(&|model| model.tasks.iter_mut().for_each(|task| task.preemptable = true)) > 0);
    // Rules 2 and 4: activations, also of ISRs and within sections, are of another core.
    assert!(broken(&|model| model.tasks.iter_mut().for_each(|task| task.core = 0)) > 0);
    // Rule 1.
    assert!(
        broken(&|model| model.tasks.iter_mut().for_each(|task| task.steps.iter_mut().for_each(exchange))) > 0
    );

    fn exchange(step: &mut Step) {
        if let Step::GetSpinlock { spinlock } | Step::TryToGetSpinlock { spinlock, .. } = step {
            *spinlock = 2 - (*spinlock).min(2);
        }
    }
}

#[test]
fn options_are_kept() {
    for seed in 0..20 {
        let options = Options {
            cores: Some(3),
            tasks: Some(12),
            duration: Some(7_000_000),
            features: Features::none(),
        };
        let model = model(seed, &options);
        assert_eq!((model.cores.len(), model.tasks.len(), model.duration), (3, 12, 7_000_000));
        assert!(model.check().is_ok());
        let others = [model.events.len(), model.resources.len(), model.spinlocks.len(), model.isrs.len()];
        assert_eq!((others, model.schedule_tables.len()), ([0; 4], 0));
        let steps = keys(&model);
        let plain = ["execute", "call", "read", "write", "terminate"];
        let kinds = ["constant", "uniform", "normal", "weibull", "beta", "log_normal"];
        assert!(steps.keys().all(|key| plain.contains(key) || kinds.contains(key)), "{steps:?}");
    }
}

fn keys(model: &Model) -> BTreeMap<&'static str, usize> {
    fn add(steps: &[Step], keys: &mut BTreeMap<&'static str, usize>) {
        for step in steps {
            *keys.entry(step.key()).or_default() += 1;
            step.inside().into_iter().for_each(|steps| add(steps, keys));
            let kind = match step {
                Step::Execute(Distribution::Constant(_)) => "constant",
                Step::Execute(Distribution::Uniform { .. }) => "uniform",
                Step::Execute(Distribution::Normal { .. }) => "normal",
                Step::Execute(Distribution::Weibull { .. }) => "weibull",
                Step::Execute(Distribution::Beta { .. }) => "beta",
                Step::Execute(Distribution::LogNormal { .. }) => "log_normal",
                Step::WaitEvent { events } if events.len() == 2 => "wait for two",
                Step::SetEvent { events, .. } if events.len() == 2 => "set two",
                _ => continue,
            };
            *keys.entry(kind).or_default() += 1;
        }
    }
    let mut all = BTreeMap::new();
    model.tasks.iter().for_each(|task| add(&task.steps, &mut all));
    model.isrs.iter().for_each(|isr| add(&isr.steps, &mut all));
    model.runnables.iter().for_each(|runnable| add(&runnable.steps, &mut all));
    all
}

#[test]
fn every_feature_occurs() {
    let mut all: BTreeMap<&str, usize> = BTreeMap::new();
    for model in models(100) {
        keys(&model).into_iter().for_each(|(key, count)| *all.entry(key).or_default() += count);
        let mut add = |key, has: bool| *all.entry(key).or_default() += usize::from(has);
        add("group", model.tasks.iter().any(|task| task.group.is_some()));
        add("not preemptable", model.tasks.iter().any(|task| !task.preemptable));
        add("autostart", model.tasks.iter().any(|task| task.autostart));
        add("several activations", model.tasks.iter().any(|task| task.activations > 1));
        add("falls off", model.tasks.iter().any(|task| !matches!(task.steps.last(), Some(Step::Terminate))));
        add("once", model.alarms.iter().any(|alarm| alarm.cycle == 0));
        add("alarm sets", model.alarms.iter().any(|alarm| matches!(alarm.action, Action::SetEvent { .. })));
        let points =
            || model.schedule_tables.iter().flat_map(|table| &table.points).flat_map(|point| &point.1);
        add("point activates", points().any(|action| matches!(action, Action::Activate { .. })));
        add("table once", model.schedule_tables.iter().any(|table| !table.repeats));
        add("category 1", model.isrs.iter().any(|isr| isr.category1));
        add(
            "ISR with spinlock",
            model.isrs.iter().any(|isr| keys_of(&isr.steps).contains(&"release_spinlock")),
        );
        add("ISR activates", model.isrs.iter().any(|isr| keys_of(&isr.steps).contains(&"activate")));
        add("ISR sets", model.isrs.iter().any(|isr| keys_of(&isr.steps).contains(&"set_event")));
        add("ISR calls", model.isrs.iter().any(|isr| keys_of(&isr.steps).contains(&"call")));
        for isr in &model.isrs {
            add("periodic", matches!(isr.arrivals, Arrivals::Periodic { .. }));
            add("sporadic", matches!(isr.arrivals, Arrivals::Sporadic { .. }));
            add("at", matches!(isr.arrivals, Arrivals::At(_)));
            add("curve", matches!(isr.arrivals, Arrivals::Curve { .. }));
        }
        add("one core", model.cores.len() == 1);
        add("four cores", model.cores.len() == 4);
        add("no timer", !model.os.timer_isr);
        add(
            "overload",
            model.check().unwrap().entries().iter().any(|entry| entry.code == "over-utilisation"),
        );
    }
    let rare: Vec<_> = all.iter().filter(|(_, count)| **count == 0).collect();
    assert_eq!(rare, [], "{all:?}");
    assert_eq!(all.len(), 18 + 8 + 22, "{all:?}");
}

fn keys_of(steps: &[Step]) -> Vec<&'static str> {
    let inside = steps.iter().flat_map(Step::inside).flat_map(keys_of);
    steps.iter().map(Step::key).chain(inside).collect()
}

/// How long each core reads the same value of one variable again and again: it waits for another core.
struct Loops {
    reads: Vec<Option<(Variable, u32, i64)>>,
    longest: i64,
    ends: Vec<i64>,
}

impl Recorder for Loops {
    fn data(&mut self, core: usize, time: i64, variable: Variable, write: bool, value: u32) {
        self.ends[core] = time;
        match self.reads[core] {
            Some((of, same, since)) if !write && of == variable && same == value => {
                self.longest = self.longest.max(time - since);
            }
            _ => self.reads[core] = Some((variable, value, time)),
        }
    }

    fn function(&mut self, core: usize, _: i64, _: Function, _: bool) {
        self.reads[core] = None;
    }
}

/// Counts what happens.
#[derive(Default)]
struct Events(u64);

impl Observer for Events {
    fn effect(&mut self, _: usize, _: i64, _: Effect) {
        self.0 += 1;
    }
}

#[test]
fn no_model_gets_stuck() {
    for model in models(60) {
        let handlers = Handlers::of(&model);
        let cores = model.cores.len();
        let loops = Loops { reads: vec![None; cores], longest: 0, ends: vec![0; cores] };
        let run = Kernel::new(&model, &handlers, loops, Events::default()).run(|_| Ok::<(), ()>(()));
        let (loops, events, _) = run.unwrap();
        assert!(loops.longest < 20_000_000, "{}: a loop of {} ns", model.name, loops.longest);
        assert!(events.0 > 100, "{}: {} events", model.name, events.0);
        for end in loops.ends {
            // Something happens on each core until the end: at least, its timer ticks.
            assert!(end > model.duration - 20_000_000, "{}: a core stops at {end} ns", model.name);
        }
    }
}
