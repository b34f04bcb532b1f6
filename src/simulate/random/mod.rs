//! Random timing models that reach every feature and never come to a standstill. Not the kernel that runs
//! them, and not the small models of property tests (see `model::any_model`).
//!
//! The sizes of a model are those of F. Martin, "Transformation of Hardware Traces to System Traces for
//! Embedded Multi-Core Real-Time Systems", 2015, table 5.6, whose generator knew tasks, runnables and
//! signals. Everything else that a model can have is added here: events, resources, spinlocks, ISRs,
//! chains, remote calls and so on. [`waters()`] is another kind of model, after published figures of an
//! engine control unit.
//!
//! # Why no model gets stuck
//!
//! On a core, two loops let nobody else run: that of `GetResource` for a resource of several cores and that
//! of `GetSpinlock`, in which interrupts are disabled, and that of a remote call, in which the core answers
//! remote calls of others, but takes no other interrupt. *Locks* are in the following spinlocks and
//! resources of several cores; the *callers* of a core are those of its tasks that take locks or make
//! remote calls.
//!
//! 1. Locks have one order (resources before spinlocks, each in the order of the model). A task takes a
//!    lock only while all those that it holds come before it.
//! 2. A task that holds a lock makes no remote call; nor does it wait or end, which a model cannot do.
//! 3. While a task holds a lock, no other caller of its core can run: it runs at the level of the highest
//!    caller of the core or above. It does so because it is not preemptable, by its group, by its own
//!    priority, or by the ceiling of a resource that it has taken before.
//! 4. ISRs make no remote calls. On each core at most one ISR takes a spinlock, and this one comes behind
//!    all those that tasks of the core take. So it is none that the interrupted task has.
//!
//! Then no core that holds a lock waits in a remote call: neither the holder (2), nor tasks that preempt it
//! (3), nor ISRs (4) make one. When it waits for a lock, that one comes behind all those that are held on
//! the core (1, 3, 4). So a holder that waits, waits for one of a later lock; the holder of the last lock
//! in such a row does not wait, and what can run before it on its core is work that ends. So each lock is
//! given back, and who spins goes on. A core that waits in a remote call waits for a core that spins for a
//! lock, which ends, or that is in an ISR, which ends, or that waits in a remote call itself and so
//! answers. The words that guard remote calls are held for a few accesses only. The loop of
//! `TryToGetSpinlock` takes interrupts, and who holds the lock is on another core, because of 3 and 4.
//!
//! "Work that ends" needs time that is left: overload comes only from tasks below the callers.

mod bodies;
mod draft;
mod isrs;
mod locks;
mod sections;
mod stimuli;
mod tasks;
mod times;
mod waters;

#[cfg(test)]
mod rules;
#[cfg(test)]
mod tests;

use super::model::Model;
use draft::Draft;

pub use waters::waters;

/// What a random model is to be like.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// How many cores; drawn if there is no number, 2 in most models.
    pub cores: Option<usize>,
    /// How many tasks; drawn if there is no number. At least two for each core.
    pub tasks: Option<usize>,
    /// How long the model runs, in ns; drawn if there is no number.
    pub duration: Option<i64>,
    /// What it may have.
    pub features: Features,
}

/// What a random model may have. Of what it may, each model has a random choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Features {
    /// Tasks and ISRs that activate tasks.
    pub activations: bool,
    /// Extended tasks, which wait for events.
    pub events: bool,
    /// Resources.
    pub resources: bool,
    /// Spinlocks.
    pub spinlocks: bool,
    /// ISRs of both categories.
    pub isrs: bool,
    /// Tasks that chain tasks; such a chain is an activation, too.
    pub chains: bool,
    /// Several pending activations, and more than are allowed.
    pub limits: bool,
    /// Services for tasks of another core, and resources of several cores.
    pub across_cores: bool,
    /// Tasks of a group, tasks that are not preemptable, and `Schedule`.
    pub cooperation: bool,
    /// Schedule tables, in addition to alarms.
    pub schedule_tables: bool,
    /// Branches and repeats.
    pub control_flow: bool,
    /// Times of the operating system itself.
    pub overheads: bool,
    /// Cores that have more to do than they can, in a few models.
    pub overload: bool,
}

impl Features {
    /// Those of the random models of the thesis: none.
    #[cfg(test)]
    pub fn none() -> Self {
        Self::of(|| false)
    }

    /// All of them, which is the default.
    pub fn all() -> Self {
        Self::of(|| true)
    }

    fn of(mut has: impl FnMut() -> bool) -> Self {
        Self {
            activations: has(),
            events: has(),
            resources: has(),
            spinlocks: has(),
            isrs: has(),
            chains: has(),
            limits: has(),
            across_cores: has(),
            cooperation: has(),
            schedule_tables: has(),
            control_flow: has(),
            overheads: has(),
            overload: has(),
        }
    }

    /// Those that both have.
    fn and(&self, other: &Self) -> Self {
        Self {
            activations: self.activations && other.activations,
            events: self.events && other.events,
            resources: self.resources && other.resources,
            spinlocks: self.spinlocks && other.spinlocks,
            isrs: self.isrs && other.isrs,
            chains: self.chains && other.chains,
            limits: self.limits && other.limits,
            across_cores: self.across_cores && other.across_cores,
            cooperation: self.cooperation && other.cooperation,
            schedule_tables: self.schedule_tables && other.schedule_tables,
            control_flow: self.control_flow && other.control_flow,
            overheads: self.overheads && other.overheads,
            overload: self.overload && other.overload,
        }
    }
}

impl Default for Features {
    fn default() -> Self {
        Self::all()
    }
}

/// The model of a seed. The same seed and options give the same model on every machine.
pub fn model(seed: u64, options: &Options) -> Model {
    let mut draft = Draft::new(seed, options);
    draft.add_tasks(options.tasks);
    draft.add_locks();
    draft.add_isrs();
    draft.add_stimuli();
    draft.add_bodies();
    draft.fit_load();
    // The model does not follow from how long it runs.
    draft.model.duration = options.duration.unwrap_or(draft.model.duration).max(1);
    draft.model
}
