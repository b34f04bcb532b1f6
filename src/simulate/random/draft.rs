//! A random model in the making: what is there, and what is planned for each task. Not the parts
//! themselves, which the other files add one after the other.

use super::{Features, Options};
use crate::simulate::model::{Core, Event, Model, Os, Resource, Runnable, Signal, Spinlock, Task};
use crate::simulate::random_numbers::RandomNumbers;

/// Microseconds and milliseconds in ns.
pub const US: i64 = 1_000;
pub const MS: i64 = 1_000_000;

/// The model so far.
pub struct Draft {
    pub numbers: RandomNumbers,
    pub features: Features,
    pub model: Model,
    /// One for each task of the model.
    pub plans: Vec<Plan>,
    /// One for each ISR.
    pub isrs: Vec<IsrPlan>,
    /// One for each resource.
    pub resources: Vec<ResourcePlan>,
    /// The spinlock of the ISR of each core that takes one.
    pub isr_locks: Vec<Option<usize>>,
    /// Tasks in the order in which they activate each other: only later ones, so that nothing runs away.
    pub order: Vec<usize>,
    /// Whose each runnable is; none: of the library that all call.
    pub owners: Vec<Option<usize>>,
}

/// What a task is to do.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// It may take locks of several cores and make remote calls.
    pub calls: bool,
    pub kind: Kind,
    /// Jobs per second, about.
    pub rate: f64,
    /// Services that it calls for others.
    pub duties: Vec<Duty>,
    /// What it takes.
    pub locks: Vec<Held>,
    /// What it chains, and how probably.
    pub chain: Option<(usize, f64)>,
}

/// How a task lives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// It has no events.
    #[default]
    Basic,
    /// It has events, and ends after each activation.
    Job,
    /// It has events, and serves them in a loop without end.
    Server,
}

/// A service for a task.
#[derive(Debug, Clone)]
pub struct Duty {
    pub task: usize,
    /// Sets these events; without any it activates the task.
    pub events: Vec<usize>,
    /// In how many jobs.
    pub probability: f64,
    /// How often, one after the other.
    pub times: usize,
    /// The task is of another core.
    pub remote: bool,
}

/// What an ISR is to do.
#[derive(Debug, Clone, Default)]
pub struct IsrPlan {
    /// Requests per second, about.
    pub rate: f64,
    pub duties: Vec<Duty>,
    pub spinlock: Option<usize>,
}

/// Who takes a resource.
#[derive(Debug, Clone, Default)]
pub struct ResourcePlan {
    /// Of several cores: a lock in the sense of the rules.
    pub shared: bool,
    /// Its ceiling on each core, as a priority.
    pub ceilings: Vec<Option<u32>>,
}

/// What a task holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    Resource(usize),
    Spinlock(usize),
}

impl Draft {
    /// Cores, and the times of the operating system.
    pub fn new(seed: u64, options: &Options) -> Self {
        let mut numbers = RandomNumbers::stream(seed, "model");
        let everything = numbers.chance(0.3);
        let mut features = Features::of(|| everything || numbers.chance(0.85)).and(&options.features);
        features.overload &= numbers.chance(0.15);
        // Table 5.6: 2 cores; some models have another number.
        let drawn = of(&mut numbers, &[2, 2, 2, 2, 2, 2, 2, 3, 3, 4, 1]).unwrap_or(2);
        let cores = options.cores.unwrap_or(drawn).max(1);
        features.across_cores &= cores > 1;
        let os = os(&mut numbers, features.overheads);
        let duration = numbers.between(50, 100) * MS;
        let model = Model {
            seed,
            cores: (0..cores).map(|core| Core { name: format!("Core_{core}") }).collect(),
            ..Model::new(format!("random_{seed}"), duration, os)
        };
        Self {
            numbers,
            features,
            model,
            plans: Vec::new(),
            isrs: Vec::new(),
            resources: Vec::new(),
            isr_locks: vec![None; cores],
            order: Vec::new(),
            owners: Vec::new(),
        }
    }

    pub fn task(&self, task: usize) -> Option<&Task> {
        self.model.tasks.get(task)
    }

    pub fn core_of(&self, task: usize) -> usize {
        self.task(task).map_or(0, |task| task.core)
    }

    pub fn priority_of(&self, task: usize) -> u32 {
        self.task(task).map_or(0, |task| task.priority)
    }

    pub fn kind(&self, task: usize) -> Kind {
        self.plans.get(task).map_or(Kind::Basic, |plan| plan.kind)
    }

    pub fn calls(&self, task: usize) -> bool {
        self.plans.get(task).is_some_and(|plan| plan.calls)
    }

    /// The tasks of a core.
    pub fn tasks_of(&self, core: usize) -> Vec<usize> {
        let tasks = self.model.tasks.iter().enumerate();
        tasks.filter(|(_, task)| task.core == core).map(|(ix, _)| ix).collect()
    }

    /// The priority from which on nobody of a core is a caller: that of the highest one.
    pub fn highest_caller(&self, core: usize) -> u32 {
        let callers = self.tasks_of(core).into_iter().filter(|task| self.calls(*task));
        callers.map(|task| self.priority_of(task)).max().unwrap_or(0)
    }

    /// The priority that a task has against others while it runs.
    pub fn level(&self, task: usize) -> u32 {
        let Some(of_model) = self.task(task) else { return 0 };
        let of_core = self.model.tasks.iter().filter(|other| other.core == of_model.core);
        let highest = if of_model.preemptable {
            of_core
                .filter(|other| other.group.is_some() && other.group == of_model.group)
                .map(|o| o.priority)
                .max()
        } else {
            of_core.map(|other| other.priority).max()
        };
        highest.unwrap_or(0).max(of_model.priority)
    }

    pub fn add_resource(&mut self, internal: bool) -> usize {
        let number = self.model.resources.len();
        let name = if internal { format!("GROUP_{number}") } else { format!("RES_{number}") };
        self.model.resources.push(Resource { name, internal });
        let ceilings = vec![None; self.model.cores.len()];
        self.resources.push(ResourcePlan { shared: false, ceilings });
        number
    }

    pub fn add_spinlock(&mut self) -> usize {
        let number = self.model.spinlocks.len();
        self.model.spinlocks.push(Spinlock { name: format!("SPIN_{number}") });
        number
    }

    /// Another event, with a bit of its own: without OIL, a trace does not tell events of one bit apart.
    /// None if all bits are taken.
    pub fn add_event(&mut self) -> Option<usize> {
        let taken = self.model.events.iter().fold(0, |taken, event| taken | event.mask);
        let free: Vec<u32> = (0..32).map(|bit| 1 << bit).filter(|mask| mask & taken == 0).collect();
        let mask = of(&mut self.numbers, &free)?;
        let number = self.model.events.len();
        self.model.events.push(Event { name: format!("EV_{number}"), mask });
        Some(number)
    }

    pub fn add_signal(&mut self) {
        let number = self.model.signals.len();
        let initial = if self.numbers.chance(0.5) { 0 } else { self.numbers.bits() as u32 };
        self.model.signals.push(Signal { name: format!("SIG_{number}"), initial });
    }

    /// A runnable of a task, or of the library.
    pub fn add_runnable(&mut self, owner: Option<usize>, runnable: Runnable) -> usize {
        self.owners.push(owner);
        self.model.runnables.push(runnable);
        self.model.runnables.len() - 1
    }

    /// True with a probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.numbers.chance(probability)
    }

    /// A number within limits, both inclusive.
    pub fn count(&mut self, min: usize, max: usize) -> usize {
        self.numbers.between(min as i64, max as i64) as usize
    }
}

/// One of some.
pub fn of<T: Copy>(numbers: &mut RandomNumbers, from: &[T]) -> Option<T> {
    let last = from.len().checked_sub(1)?;
    from.get(numbers.between(0, last as i64) as usize).copied()
}

/// Some of some, in their order, at most so many.
pub fn some<T: Copy>(numbers: &mut RandomNumbers, from: &[T], most: usize) -> Vec<T> {
    let mut places: Vec<usize> = (0..from.len()).collect();
    shuffle(numbers, &mut places);
    places.truncate(most);
    places.sort_unstable();
    places.into_iter().filter_map(|place| from.get(place).copied()).collect()
}

/// Another order: R. Durstenfeld, "Algorithm 235: Random permutation", CACM 7 (1964).
pub fn shuffle<T>(numbers: &mut RandomNumbers, list: &mut [T]) {
    for last in (1..list.len()).rev() {
        list.swap(last, numbers.between(0, last as i64) as usize);
    }
}

/// The times of the operating system. Without overheads, only an access takes time, as in the thesis.
fn os(numbers: &mut RandomNumbers, overheads: bool) -> Os {
    let tick = of(numbers, &[250 * US, 500 * US, MS, MS, 2 * MS]).unwrap_or(MS);
    let access = of(numbers, &[10, 10, 10, 10, 10, 5, 20, 1, 33]).unwrap_or(10);
    let mut time = |most: i64| if numbers.chance(0.5) { 0 } else { numbers.between(1, most) };
    let [dispatch, service, interrupt, timer_drift] = [time(400), time(250), time(300), time(900)];
    let remote_call = 300 + time(1500);
    let timer_isr = numbers.chance(0.85);
    if overheads {
        return Os { access, dispatch, service, interrupt, remote_call, tick, timer_drift, timer_isr };
    }
    // The defaults of a file.
    Os {
        access: 10,
        dispatch: 0,
        service: 0,
        interrupt: 0,
        remote_call: 900,
        tick,
        timer_drift: 0,
        timer_isr: true,
    }
}
