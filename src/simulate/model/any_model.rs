//! Small random models that are valid, for property tests. Not those of the command line.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::{
    Action, Alarm, Arrivals, Core, Distribution, Event, Isr, Model, Os, Resource, Runnable, Runs,
    ScheduleTable, Signal, Spinlock, Step, Task,
};

/// How many of each kind every model has. Events 0 and 1 are those of task 0, which is an extended one.
const COUNT: usize = 3;

/// A model of two cores that [`Model::check`] accepts.
pub(crate) fn any_model() -> impl Strategy<Value = Model> {
    let parts = (any_os(), vec(any_task(), COUNT), vec(any_isr(), 0..3), any_runnables());
    let starts = (vec(any_alarm(), 0..3), vec(any_schedule_table(), 0..2), vec(any::<u32>(), COUNT));
    (parts, starts, any::<u64>(), 1..10_000_000_000i64, "[ -~]{1,8}").prop_map(
        |((os, mut tasks, isrs, runnables), (alarms, tables, initials), seed, duration, name)| {
            for (ix, task) in tasks.iter_mut().enumerate() {
                task.name = format!("T_{ix}");
                chain_itself(&mut task.steps, ix);
                // A group is of one core.
                task.core = if task.group.is_some() { 0 } else { task.core };
            }
            if let Some(first) = tasks.first_mut() {
                first.events = vec![0, 1];
                first.activations = 1;
                first.steps.insert(0, Step::WaitEvent { events: vec![1, 0] });
                first.steps.insert(1, Step::ClearEvent { events: vec![1] });
            }
            let core_of = |action| match action {
                Action::Activate { task } | Action::SetEvent { task, .. } => tasks[task].core,
            };
            let alarms = named(alarms, |alarm: &mut Alarm, ix| {
                alarm.name = format!("A_{ix}");
                alarm.core = core_of(alarm.action);
            });
            Model {
                name,
                seed,
                duration,
                os,
                cores: (0..2).map(|ix| Core { name: format!("Core_{ix}") }).collect(),
                isrs: named(isrs, |isr: &mut Isr, ix| isr.name = format!("ISR_{ix}")),
                runnables,
                signals: (0..)
                    .zip(initials)
                    .map(|(ix, initial): (usize, u32)| Signal { name: format!("SIG_{ix}"), initial })
                    .collect(),
                events: (0..COUNT)
                    .map(|ix| Event { name: format!("E_{ix}"), mask: 0x8000_0000 >> ix })
                    .collect(),
                // The last one is the group.
                resources: (0..=COUNT)
                    .map(|ix| Resource { name: format!("RES_{ix}"), internal: ix == COUNT })
                    .collect(),
                spinlocks: (0..COUNT).map(|ix| Spinlock { name: format!("SPIN_{ix}") }).collect(),
                alarms,
                schedule_tables: named(tables, |table: &mut ScheduleTable, ix| {
                    table.name = format!("S_{ix}");
                    // A table acts on the tasks of its core.
                    let mut actions = table.points.iter_mut().flat_map(|(_, actions)| actions);
                    if let Some(first) = actions.next() {
                        table.core = core_of(*first);
                        let first = *first;
                        actions.for_each(|action| *action = first);
                    }
                }),
                tasks,
            }
        },
    )
}

/// A task chains tasks of its core only.
fn chain_itself(steps: &mut [Step], task: usize) {
    for step in steps {
        step.inside_mut().into_iter().for_each(|steps| chain_itself(steps, task));
        if let Step::Chain { task: next } = step {
            *next = task;
        }
    }
}

fn named<T>(mut entries: Vec<T>, name: impl Fn(&mut T, usize)) -> Vec<T> {
    entries.iter_mut().enumerate().for_each(|(ix, entry)| name(entry, ix));
    entries
}

fn any_os() -> impl Strategy<Value = Os> {
    let times = [0..1000i64, 0..1000, 0..1000, 0..1000, 0..5000, 1..2_000_000, 0..1000];
    (any::<bool>(), times).prop_map(|(timer_isr, times)| {
        let [access, dispatch, service, interrupt, remote_call, tick, timer_drift] = times;
        Os { access, dispatch, service, interrupt, remote_call, tick, timer_drift, timer_isr }
    })
}

fn any_task() -> impl Strategy<Value = Task> {
    let steps = vec(prop_oneof![plain(0), service(), section()], 0..5);
    let end =
        option::of(prop_oneof![Just(Step::Terminate), (0..COUNT).prop_map(|task| Step::Chain { task })]);
    (0..2usize, any::<(u32, bool, bool, bool)>(), 1..5u32, steps, end).prop_map(
        |(core, (priority, preemptable, autostart, grouped), activations, steps, end)| Task {
            name: String::new(),
            core,
            priority,
            activations,
            preemptable,
            group: grouped.then_some(COUNT),
            autostart,
            events: Vec::new(),
            steps: steps.into_iter().flatten().chain(end).collect(),
        },
    )
}

fn any_isr() -> impl Strategy<Value = Isr> {
    let steps = |category1: bool| {
        let step = if category1 { plain(0).boxed() } else { prop_oneof![plain(0), of_isr()].boxed() };
        vec(step, 0..4).prop_map(|steps| steps.into_iter().flatten().collect())
    };
    any::<bool>()
        .prop_flat_map(move |category1| {
            (steps(category1), Just(category1), any_arrivals(), any::<u32>(), 0..2usize)
        })
        .prop_map(|(steps, category1, arrivals, priority, core)| Isr {
            name: String::new(),
            core,
            category1,
            priority,
            arrivals,
            steps,
        })
}

/// Each calls only later ones.
fn any_runnables() -> impl Strategy<Value = Vec<Runnable>> {
    let steps = |ix: usize| vec(plain(ix + 1), 0..4);
    [steps(0), steps(1), steps(2)].prop_map(|bodies| {
        let runnable = |(ix, steps): (usize, Vec<Vec<Step>>)| Runnable {
            name: format!("R_{ix}"),
            steps: steps.into_iter().flatten().collect(),
        };
        bodies.into_iter().enumerate().map(runnable).collect()
    })
}

fn any_alarm() -> impl Strategy<Value = Alarm> {
    (any_action(), 1..100i64, 0..100i64).prop_map(|(action, first, cycle)| Alarm {
        name: String::new(),
        core: 0,
        action,
        first,
        cycle,
    })
}

fn any_schedule_table() -> impl Strategy<Value = ScheduleTable> {
    let points = proptest::collection::btree_map(0..50i64, vec(any_action(), 1..3), 1..4);
    (0..2usize, 1..100i64, 50..100i64, any::<bool>(), points).prop_map(
        |(core, first, length, repeats, points)| ScheduleTable {
            name: String::new(),
            core,
            first,
            length,
            repeats,
            points: points.into_iter().collect(),
        },
    )
}

fn any_action() -> impl Strategy<Value = Action> {
    prop_oneof![
        (0..COUNT).prop_map(|task| Action::Activate { task }),
        (0..2usize).prop_map(|event| Action::SetEvent { task: 0, event }),
    ]
}

fn any_arrivals() -> impl Strategy<Value = Arrivals> {
    let rising = |times: std::collections::BTreeSet<i64>| times.into_iter().collect::<Vec<_>>();
    let times = move || proptest::collection::btree_set(1..1_000_000_000i64, 1..4).prop_map(rising);
    prop_oneof![
        (0..1_000_000i64, 1000..1_000_000i64, 0..1000i64)
            .prop_map(|(offset, period, jitter)| Arrivals::Periodic { offset, period, jitter }),
        (0..1_000_000i64, 1..1_000_000i64, any_distribution())
            .prop_map(|(offset, distance, more)| Arrivals::Sporadic { offset, distance, more }),
        times().prop_map(Arrivals::At),
        (0..1_000_000i64, times())
            .prop_map(|(offset, spans)| Arrivals::Curve { offset, limits: (1..).zip(spans).collect() }),
    ]
}

fn any_distribution() -> impl Strategy<Value = Distribution> {
    let limits = || (0..5_000_000i64, 0..5_000_000i64).prop_map(|(min, more)| (min, min + more));
    let number = || 1e-3..1e7f64;
    prop_oneof![
        (0..5_000_000_000i64).prop_map(Distribution::Constant),
        limits().prop_map(|(min, max)| Distribution::Uniform { min, max }),
        (number(), number(), limits()).prop_map(|(mean, deviation, (min, max))| Distribution::Normal {
            mean,
            deviation,
            min,
            max
        }),
        (number(), (1..9_000_000u32).prop_map(f64::from), limits())
            .prop_map(|(shape, scale, (min, max))| Distribution::Weibull { shape, scale, min, max }),
        (number(), number(), limits()).prop_map(|(alpha, beta, (min, max))| Distribution::Beta {
            alpha,
            beta,
            min,
            max
        }),
        (-20.0..20.0f64, 0.0..3.0f64, limits()).prop_map(|(mu, sigma, (min, max))| Distribution::LogNormal {
            mu,
            sigma,
            min,
            max
        }),
        (vec((1..50u32, 0..5_000_000i64), 1..40), any::<bool>()).prop_map(|(values, in_turn)| {
            let mut runs = Runs::default();
            values.into_iter().for_each(|(times, value)| runs.push_equal(times, value));
            Distribution::Observed { values: runs, in_turn }
        }),
    ]
}

/// Steps that any task, ISR or runnable may do; calls are of runnables from `first` on.
fn plain(first: usize) -> impl Strategy<Value = Vec<Step>> {
    let signal = || 0..COUNT;
    let leaf = prop_oneof![
        any_distribution().prop_map(Step::Execute),
        (first..COUNT.max(first + 1)).prop_map(move |runnable| match runnable {
            0..COUNT => Step::Call { runnable },
            _ => Step::Read { signal: 0 },
        }),
        signal().prop_map(|signal| Step::Read { signal }),
        (signal(), any::<Option<u32>>()).prop_map(|(signal, value)| Step::Write { signal, value }),
    ];
    let nested = leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            (0.0..=1.0f64, vec(inner.clone(), 1..4), vec(inner.clone(), 0..4))
                .prop_map(|(probability, then, otherwise)| Step::Branch { probability, then, otherwise }),
            (1..1000u32, vec(inner.clone(), 0..4)).prop_map(|(times, steps)| Step::Repeat { times, steps }),
            vec((1..4u32, vec(inner, 0..4)), 1..4)
                .prop_map(|entries| Step::Turns { of: entries.into_iter().collect() }),
        ]
    });
    nested.prop_map(|step| vec![step])
}

/// Services that an ISR of category 2 may call, too.
fn of_isr() -> impl Strategy<Value = Vec<Step>> {
    prop_oneof![
        (0..COUNT).prop_map(|task| vec![Step::Activate { task }]),
        (0..2usize).prop_map(|event| vec![Step::SetEvent { task: 0, events: vec![event] }]),
    ]
}

fn service() -> impl Strategy<Value = Vec<Step>> {
    prop_oneof![of_isr(), Just(vec![Step::Schedule])]
}

/// Steps with a resource or a spinlock.
fn section() -> impl Strategy<Value = Vec<Step>> {
    let ends = prop_oneof![
        (0..COUNT).prop_map(|resource| [Step::GetResource { resource }, Step::ReleaseResource { resource }]),
        (0..COUNT).prop_map(|spinlock| [Step::GetSpinlock { spinlock }, Step::ReleaseSpinlock { spinlock }]),
        (0..COUNT, 1..10_000i64).prop_map(|(spinlock, every)| {
            [Step::TryToGetSpinlock { spinlock, every }, Step::ReleaseSpinlock { spinlock }]
        }),
    ];
    (ends, plain(0)).prop_map(|([begin, end], mut steps)| {
        steps.insert(0, begin);
        steps.push(end);
        steps
    })
}
