//! What BTF names as causes: which instance of a stimulus activated an instance of a process, and which
//! process instance triggered that stimulus. Not what follows from it (see `follow`).

use super::{Cause, ChainStep};
use std::collections::{BTreeMap, HashMap, HashSet};

/// An entity with its instance.
pub(crate) type Actor<'a> = (&'a str, i64);

/// No process or stimulus has more instances that are still at work: the oldest are forgotten.
const MAX_INSTANCES: usize = 1024;

/// By instance, what caused it: an entity, and its instance.
type Causes = BTreeMap<i64, (usize, i64)>;

/// The activations and triggers so far. Memory depends on the entities and not on the length of the trace.
#[derive(Debug, Default)]
pub(crate) struct Links {
    numbers: HashMap<String, usize>,
    /// By process: the stimulus instance that activated each of its instances.
    activated: HashMap<usize, Causes>,
    /// By stimulus: the process instance that triggered each of its instances.
    triggered: HashMap<usize, Causes>,
    /// Stimuli, and the processes that they activate.
    activates: HashSet<(usize, usize)>,
}

/// An event that may be a step, with what it says about its cause.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link<'a> {
    /// What it happens to; the instance only if it is a process or stimulus.
    pub target: (&'a str, Option<i64>),
    pub source: (&'a str, Option<i64>),
    /// It happens to a handler, whose instances may overlap on several cores.
    pub overlaps: bool,
    /// The process that it happens to, or else the one that causes it.
    pub process: Option<Actor<'a>>,
}

impl Links {
    /// A stimulus activated a process, or failed to, as it had too many activations.
    pub fn activation(&mut self, stimulus: Actor<'_>, process: Actor<'_>, is_lost: bool) {
        let (from, to) = (self.number(stimulus.0), self.number(process.0));
        self.activates.insert((from, to));
        if !is_lost {
            keep(&mut self.activated, to, process.1, (from, stimulus.1));
        }
    }

    /// A process triggered a stimulus.
    pub fn trigger(&mut self, process: Actor<'_>, stimulus: Actor<'_>) {
        let (from, to) = (self.number(process.0), self.number(stimulus.0));
        keep(&mut self.triggered, to, stimulus.1, (from, process.1));
    }

    /// What BTF says about the cause of an event that is `step`, whose cause is the step `before`:
    ///
    /// * its source is the entity of the step before: the same instance;
    /// * it happens to the same process or stimulus: the same instance, or one before it;
    /// * its process was activated by the stimulus of the step before: that instance of the stimulus, and
    ///   none if another stimulus activated it;
    /// * it is the activation or start of a process, and the process of the step before triggered the
    ///   stimulus: that instance of the process.
    pub fn cause(&self, before: &ChainStep, step: &ChainStep, event: Link<'_>) -> Cause {
        let named = |instance: Option<i64>| instance.filter(|n| *n >= 0);
        if event.source.0 == before.entity {
            return named(event.source.1).map_or(Cause::Latest, Cause::Of);
        }
        if let (true, Some(instance)) = (event.target.0 == before.entity, named(event.target.1)) {
            return Cause::Own(instance);
        }
        let Some((process, instance)) = event.process else { return Cause::Latest };
        let (Some(process), Some(before)) = (self.numbers.get(process), self.numbers.get(&before.entity))
        else {
            return Cause::Latest;
        };
        if let Some((stimulus, n)) = self.activated.get(process).and_then(|all| all.get(&instance)) {
            if stimulus == before {
                return named(Some(*n)).map_or(Cause::Latest, Cause::Of);
            }
            let by = self.triggered.get(stimulus).and_then(|all| all.get(n));
            if let (true, Some((by, instance))) = (step.begins_instance(), by)
                && by == before
            {
                return Cause::Of(*instance);
            }
        }
        if self.activates.contains(&(*before, *process)) { Cause::Other } else { Cause::Latest }
    }

    fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.numbers.len();
        self.numbers.insert(name.to_owned(), number);
        number
    }
}

fn keep(of: &mut HashMap<usize, Causes>, entity: usize, instance: i64, cause: (usize, i64)) {
    let causes = of.entry(entity).or_default();
    causes.insert(instance, cause);
    if causes.len() > MAX_INSTANCES {
        causes.pop_first();
    }
}

impl ChainStep {
    fn begins_instance(&self) -> bool {
        ["activate", "start"].iter().any(|action| self.action.eq_ignore_ascii_case(action))
    }

    /// Whether a step `next` may name the instance that this step happens to.
    pub(crate) fn may_be_named_by(&self, next: &ChainStep) -> bool {
        next.entity == self.entity
            || next.source.as_ref().is_none_or(|source| *source == self.entity)
            || self.action.eq_ignore_ascii_case("trigger")
            || next.begins_instance()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::Instance;

    fn step(entity: &str, action: &str) -> ChainStep {
        ChainStep { entity: entity.into(), action: action.into(), source: None, instance: Instance::Any }
    }

    fn event<'a>(source: Actor<'a>, target: Actor<'a>, process: Actor<'a>) -> Link<'a> {
        Link {
            target: (target.0, Some(target.1)),
            source: (source.0, Some(source.1)),
            overlaps: false,
            process: Some(process),
        }
    }

    #[test]
    fn activations_lead_from_instance_to_instance() {
        let mut links = Links::default();
        links.trigger(("P", 4), ("IPA_P", 2));
        links.activation(("IPA_P", 2), ("T", 7), false);
        links.activation(("AL", 9), ("T", 8), false);
        links.activation(("AL", 10), ("T", 9), true);
        let start = |n| event(("Core", 0), ("T", n), ("T", n));
        let write = |n| event(("T", n), ("S", 0), ("T", n));
        let cause = |before: &str, action: &str, wanted: &ChainStep, event| {
            links.cause(&step(before, action), wanted, event)
        };
        let of_start = step("T", "start");
        assert_eq!(cause("IPA_P", "trigger", &of_start, start(7)), Cause::Of(2));
        assert_eq!(cause("AL", "trigger", &of_start, start(7)), Cause::Other);
        assert_eq!(cause("AL", "trigger", &of_start, start(8)), Cause::Of(9));
        assert_eq!(cause("P", "start", &of_start, start(7)), Cause::Of(4));
        assert_eq!(cause("P", "start", &of_start, start(8)), Cause::Latest);
        assert_eq!(cause("T", "activate", &of_start, start(7)), Cause::Own(7));
        assert_eq!(cause("T", "start", &step("S", "write"), write(8)), Cause::Of(8));
        assert_eq!(cause("AL", "trigger", &step("S", "write"), write(8)), Cause::Of(9));
        // Who writes a signal is not who activated the writer.
        assert_eq!(cause("P", "start", &step("S", "write"), write(7)), Cause::Latest);
        assert_eq!(cause("S2", "write", &step("S", "write"), write(8)), Cause::Latest);
    }

    #[test]
    fn an_instance_may_be_named_by_whatever_it_may_cause() {
        let of = |source: Option<&str>| ChainStep { source: source.map(str::to_owned), ..step("S", "write") };
        let named = |next: &ChainStep| step("T", "start").may_be_named_by(next);
        assert!(named(&of(Some("T"))) && named(&of(None)) && !named(&of(Some("U"))));
    }

    #[test]
    fn memory_is_bounded() {
        let mut links = Links::default();
        (0..10_000).for_each(|n| links.activation(("AL", n), ("T", n), false));
        assert_eq!(links.activated.values().map(BTreeMap::len).sum::<usize>(), MAX_INSTANCES);
    }
}
