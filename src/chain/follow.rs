//! Which last step of a chain follows from which first one, in one pass over its events. Memory depends on
//! the open steps, not on the length of the trace. Not for finding the events.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use super::Instance;

/// An event of a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event<'a> {
    /// Number of the step, from 0.
    pub step: usize,
    pub time: i64,
    /// The process that acts or is acted on, and its instance, if the trace has it. Instances of a process
    /// come one after another.
    pub process: Option<(&'a str, i64)>,
    /// The instance of the process or stimulus that it happens to, if the next step may name it.
    pub instance: Option<i64>,
    /// Instances of that entity overlap: it is a handler that several cores may run.
    pub overlaps: bool,
    /// What the trace says of its cause.
    pub cause: Cause,
}

/// The event of the previous step that is the cause of an event, as far as the trace names it: by the
/// instance of the process or stimulus that the event happened to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Not named: the latest one.
    #[default]
    Latest,
    /// That of this instance, and no other.
    Of(i64),
    /// That of this instance, which the event itself happens to; else the latest one of an earlier instance.
    Own(i64),
    /// Something that is not the previous step.
    Other,
}

/// The outcome of a first step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A last step follows from it.
    Used,
    /// Another last step follows from it, after an earlier one.
    Repeated,
    /// None follows: a later first step came before the next step.
    Lost,
    /// The trace ends, or has a gap, before the outcome is known.
    Open,
}

impl Outcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Repeated => "repeated",
            Self::Lost => "lost",
            Self::Open => "open",
        }
    }
}

/// A path through a chain, possibly incomplete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Occurrence {
    /// Time of the first step.
    pub begin: i64,
    /// Times of all steps on the path; only of the first one if nothing follows.
    pub times: Vec<i64>,
    /// From the first step to the first last step that follows from it or a later one; of used and lost ones.
    pub reaction: Option<i64>,
    pub outcome: Outcome,
}

/// A first step that later events may still follow from.
#[derive(Debug)]
struct First {
    begin: i64,
    reaction: Option<i64>,
    used: bool,
    /// Shared with each path that begins here.
    paths: Arc<()>,
}

/// The path to an event.
#[derive(Debug, Clone)]
struct Path {
    first: u64,
    times: Vec<i64>,
    _of: Arc<()>,
}

/// The latest event of a step, with its path; `None` if it follows from no first step.
#[derive(Debug, Default)]
struct Latest {
    any: Option<Path>,
    /// The instance that `any` happened to.
    instance: Option<i64>,
    /// Its instances overlap.
    overlaps: bool,
    /// By the instance that it happened to, which later events may name.
    of: BTreeMap<i64, Option<Path>>,
    /// By process, with the instance.
    own: HashMap<String, (i64, Option<Path>)>,
}

#[derive(Debug)]
pub(crate) struct Follower {
    rules: Vec<Instance>,
    latest: Vec<Latest>,
    /// First steps without a reaction; the first of them has the number `answered`.
    waiting: VecDeque<First>,
    answered: u64,
    /// First steps with a reaction (possibly to a later first step) that a path still begins with.
    known: BTreeMap<u64, First>,
}

/// No process or stimulus has more instances that something may still follow from: the oldest are forgotten.
const MAX_INSTANCES: usize = 1024;
/// Instances of an entity are used in the order of their numbers, but those of one handler on several cores
/// overlap. No more cores are at work in one at a time.
const OVERLAP: i64 = 4;

impl Latest {
    /// The event of an instance. Those of instances before it are over.
    fn named(&mut self, instance: i64) -> Option<Path> {
        self.forget_before(instance);
        self.of.get(&instance).cloned().flatten()
    }

    fn forget_before(&mut self, instance: i64) {
        let first = if self.overlaps { instance.saturating_sub(OVERLAP) } else { instance };
        if self.of.first_key_value().is_some_and(|(known, _)| *known < first) {
            self.of = self.of.split_off(&first);
        }
    }

    fn follows_from(&mut self, cause: Cause) -> Option<Path> {
        match cause {
            Cause::Latest => {
                self.instance.into_iter().for_each(|latest| self.forget_before(latest));
                self.any.clone()
            }
            Cause::Of(instance) => self.named(instance),
            Cause::Own(instance) if self.of.contains_key(&instance) => self.named(instance),
            Cause::Own(instance) => self.any.clone().filter(|_| self.instance.is_none_or(|i| i < instance)),
            Cause::Other => None,
        }
    }

    fn keep(&mut self, (instance, overlaps): (Option<i64>, bool), path: Option<Path>) {
        self.overlaps = overlaps;
        if let Some(instance) = instance {
            self.of.insert(instance, path.clone());
            if self.of.len() > MAX_INSTANCES {
                self.of.pop_first();
            }
        }
        (self.any, self.instance) = (path, instance);
    }
}

impl Follower {
    /// `rules`: one per step; that of the first one is not used.
    pub fn new(rules: Vec<Instance>) -> Self {
        let latest = rules.iter().map(|_| Latest::default()).collect();
        Self { rules, latest, waiting: VecDeque::new(), answered: 0, known: BTreeMap::new() }
    }

    /// Events come in order; an event that is several steps comes as the last of them first, otherwise it
    /// would be its own cause.
    pub fn push(&mut self, event: Event<'_>, out: &mut Vec<Occurrence>) {
        let path = match event.step {
            0 => Some(self.first(event.time)),
            step => self.cause(step, &event).map(|mut path| {
                path.times.push(event.time);
                path
            }),
        };
        if event.step + 1 == self.rules.len() {
            if let Some(path) = path {
                self.answer(path, out);
            }
            return;
        }
        let own = self.rules.get(event.step + 1) == Some(&Instance::Same);
        let Some(latest) = self.latest.get_mut(event.step) else { return };
        match event.process {
            Some((process, instance)) if own => match latest.own.get_mut(process) {
                Some(known) => *known = (instance, path),
                None => drop(latest.own.insert(process.to_owned(), (instance, path))),
            },
            _ if own => {}
            _ => latest.keep((event.instance, event.overlaps), path),
        }
    }

    /// Nothing will follow from the event of a step that happened to this instance.
    pub fn refuse(&mut self, step: usize, instance: i64, out: &mut Vec<Occurrence>) {
        let Some(latest) = self.latest.get_mut(step) else { return };
        if latest.of.remove(&instance).is_some() && latest.instance == Some(instance) {
            latest.any = None;
        }
        self.sweep(out);
    }

    /// The end of the trace, or a gap: later events do not follow from earlier ones.
    pub fn cut(&mut self, out: &mut Vec<Occurrence>) {
        self.sweep(out);
        self.latest.iter_mut().for_each(|latest| *latest = Latest::default());
        let known = std::mem::take(&mut self.known).into_values().filter(|first| !first.used);
        self.answered += self.waiting.len() as u64;
        let open = known.chain(self.waiting.drain(..)).map(|first| first.without_end(Outcome::Open));
        out.extend(open);
    }

    fn first(&mut self, time: i64) -> Path {
        let paths = Arc::new(());
        let path = Path {
            first: self.answered + self.waiting.len() as u64,
            times: vec![time],
            _of: Arc::clone(&paths),
        };
        self.waiting.push_back(First { begin: time, reaction: None, used: false, paths });
        path
    }

    /// The path to the event of the previous step that is the cause.
    fn cause(&mut self, step: usize, event: &Event<'_>) -> Option<Path> {
        let latest = self.latest.get_mut(step - 1)?;
        match self.rules.get(step)? {
            Instance::Any => latest.follows_from(event.cause),
            Instance::Same => {
                let (process, instance) = event.process?;
                latest.own.get(process).filter(|(known, _)| *known == instance)?.1.clone()
            }
        }
    }

    fn answer(&mut self, path: Path, out: &mut Vec<Occurrence>) {
        let Some(end) = path.times.last().copied() else { return };
        while self.answered <= path.first
            && let Some(mut first) = self.waiting.pop_front()
        {
            first.reaction = Some(end - first.begin);
            self.known.insert(self.answered, first);
            self.answered += 1;
        }
        if let Some(first) = self.known.get_mut(&path.first) {
            let outcome = if first.used { Outcome::Repeated } else { Outcome::Used };
            let reaction = first.reaction.filter(|_| !first.used);
            first.used = true;
            out.push(Occurrence { begin: first.begin, times: path.times.clone(), reaction, outcome });
        }
        drop(path);
        self.sweep(out);
    }

    /// Removes the first steps that no path begins with any more.
    fn sweep(&mut self, out: &mut Vec<Occurrence>) {
        self.known.retain(|_, first| {
            let held = Arc::strong_count(&first.paths) > 1;
            if !held && !first.used {
                out.push(first.without_end(Outcome::Lost));
            }
            held
        });
    }
}

impl First {
    fn without_end(&self, outcome: Outcome) -> Occurrence {
        let reaction = self.reaction.filter(|_| outcome == Outcome::Lost);
        Occurrence { begin: self.begin, times: vec![self.begin], reaction, outcome }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PROCESSES: [&str; 3] = ["A", "B", "C"];

    fn follow(rules: &[Instance], events: &[Event<'_>]) -> Vec<Occurrence> {
        let (mut follower, mut out) = (Follower::new(rules.to_vec()), Vec::new());
        events.iter().for_each(|event| follower.push(*event, &mut out));
        follower.cut(&mut out);
        out.sort_by_key(|o| (o.begin, o.times.last().copied()));
        out
    }

    const NONE: Event<'static> =
        Event { step: 0, time: 0, process: None, instance: None, overlaps: false, cause: Cause::Latest };

    fn at(step: usize, time: i64) -> Event<'static> {
        Event { step, time, ..NONE }
    }

    fn occurrence(times: &[i64], reaction: Option<i64>, outcome: Outcome) -> Occurrence {
        Occurrence { begin: times[0], times: times.to_vec(), reaction, outcome }
    }

    #[test]
    fn each_step_takes_the_latest_of_the_step_before() {
        // Sensor every 10, filter every 15, actuator every 20.
        let mut events = vec![at(0, 0), at(0, 10), at(0, 20), at(0, 30), at(1, 5), at(1, 21), at(1, 35)];
        events.extend([at(2, 6), at(2, 26), at(2, 46), at(2, 66)]);
        events.sort_by_key(|e| e.time);
        let expected = [
            occurrence(&[0, 5, 6], Some(6), Outcome::Used),
            occurrence(&[10], Some(16), Outcome::Lost),
            occurrence(&[20, 21, 26], Some(6), Outcome::Used),
            occurrence(&[30, 35, 46], Some(16), Outcome::Used),
            occurrence(&[30, 35, 66], None, Outcome::Repeated),
        ];
        assert_eq!(follow(&[Instance::Any; 3], &events), expected);
    }

    #[test]
    fn what_has_no_cause_or_no_effect_gives_no_answer() {
        let events = [at(1, 5), at(2, 6), at(0, 10), at(1, 12), at(2, 13), at(0, 50)];
        let expected =
            [occurrence(&[10, 12, 13], Some(3), Outcome::Used), occurrence(&[50], None, Outcome::Open)];
        assert_eq!(follow(&[Instance::Any; 3], &events), expected);
    }

    #[test]
    fn the_same_instance_is_distinguished_from_others() {
        // Both read; B, which read the older value, writes last.
        let of =
            |step, time, process, instance| Event { step, time, process: Some((process, instance)), ..NONE };
        let events = [
            at(0, 0),
            of(1, 1, "B", 1),
            at(0, 2),
            of(1, 3, "A", 1),
            of(2, 4, "A", 1),
            of(2, 5, "B", 1),
            of(2, 6, "B", 2),
        ];
        let expected =
            [occurrence(&[0, 1, 5], Some(4), Outcome::Used), occurrence(&[2, 3, 4], Some(2), Outcome::Used)];
        assert_eq!(follow(&[Instance::Any, Instance::Any, Instance::Same], &events), expected);
    }

    #[test]
    fn a_named_instance_is_the_cause_whatever_came_last() {
        // Two activations are pending; a third is lost. The second instance takes up the second trigger.
        let trigger = |time, n| Event { instance: Some(n), ..at(0, time) };
        let start = |time, cause| Event { cause, ..at(1, time) };
        let (mut follower, mut out) = (Follower::new(vec![Instance::Any; 2]), Vec::new());
        for (time, n) in [(10, 0), (20, 1), (30, 2)] {
            follower.push(trigger(time, n), &mut out);
        }
        follower.refuse(0, 2, &mut out);
        follower.push(start(11, Cause::Of(0)), &mut out);
        follower.push(start(40, Cause::Of(1)), &mut out);
        // Another stimulus, and an instance that the trace does not have.
        follower.push(start(50, Cause::Other), &mut out);
        follower.push(start(60, Cause::Of(7)), &mut out);
        follower.push(trigger(70, 8), &mut out);
        follower.push(start(80, Cause::Of(8)), &mut out);
        follower.cut(&mut out);
        out.sort_by_key(|o| o.begin);
        let expected = [
            occurrence(&[10, 11], Some(1), Outcome::Used),
            occurrence(&[20, 40], Some(20), Outcome::Used),
            occurrence(&[30], Some(50), Outcome::Lost),
            occurrence(&[70, 80], Some(10), Outcome::Used),
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn the_own_instance_comes_first_and_a_later_one_is_no_cause() {
        let of = |step, time, n| Event { instance: Some(n), cause: Cause::Own(n), ..at(step, time) };
        // Activations 3 and 4 are pending when 3 starts; the activation of 5 is not in the trace, that of 6
        // is.
        let events =
            [of(0, 1, 3), of(0, 2, 4), of(1, 3, 3), of(1, 5, 4), of(0, 6, 6), of(1, 7, 5), of(1, 8, 6)];
        let expected = [
            occurrence(&[1, 3], Some(2), Outcome::Used),
            occurrence(&[2, 5], Some(3), Outcome::Used),
            occurrence(&[6, 8], Some(2), Outcome::Used),
        ];
        assert_eq!(follow(&[Instance::Any; 2], &events), expected);
    }

    #[test]
    fn a_cut_ends_all_paths() {
        let (mut follower, mut out) = (Follower::new(vec![Instance::Any; 2]), Vec::new());
        follower.push(at(0, 1), &mut out);
        follower.cut(&mut out);
        follower.push(at(1, 2), &mut out);
        follower.push(at(0, 3), &mut out);
        follower.push(at(1, 4), &mut out);
        let expected = [occurrence(&[1], None, Outcome::Open), occurrence(&[3, 4], Some(1), Outcome::Used)];
        assert_eq!(out, expected);
    }

    /// The times of all steps on the path to an event, found backwards; `None` without a cause.
    fn way(rules: &[Instance], events: &[Event<'_>], i: usize) -> Option<Vec<usize>> {
        let event = events[i];
        if event.step == 0 {
            return Some(vec![i]);
        }
        let same = rules[event.step] == Instance::Same;
        let cause = (0..i)
            .rev()
            .find(|j| events[*j].step + 1 == event.step && (!same || events[*j].process == event.process))?;
        let mut way = way(rules, events, cause)?;
        way.push(i);
        Some(way)
    }

    fn naive(rules: &[Instance], events: &[Event<'_>]) -> Vec<Occurrence> {
        let last = rules.len() - 1;
        let ways: Vec<_> = (0..events.len())
            .filter(|i| events[*i].step == last)
            .filter_map(|i| way(rules, events, i))
            .collect();
        let mut out = Vec::new();
        for (i, first) in events.iter().enumerate().filter(|(_, e)| e.step == 0) {
            let answer = ways.iter().filter(|w| w[0] >= i).map(|w| events[*w.last().unwrap()].time).min();
            let reaction = answer.map(|end| end - first.time);
            let own: Vec<_> = ways.iter().filter(|w| w[0] == i).collect();
            for (n, way) in own.iter().enumerate() {
                let times: Vec<_> = way.iter().map(|e| events[*e].time).collect();
                let outcome = if n == 0 { Outcome::Used } else { Outcome::Repeated };
                out.push(occurrence(&times, reaction.filter(|_| n == 0), outcome));
            }
            if own.is_empty() {
                // Open if a last step may still follow from an event with this path.
                let held = reaction.is_none() || (0..last).any(|step| held(rules, events, step, i));
                let outcome = if held { Outcome::Open } else { Outcome::Lost };
                out.push(occurrence(&[first.time], reaction.filter(|_| !held), outcome));
            }
        }
        out.sort_by_key(|o| (o.begin, o.times.last().copied()));
        out
    }

    /// Whether at the end the latest event of a step follows from the first step `first`.
    fn held(rules: &[Instance], events: &[Event<'_>], step: usize, first: usize) -> bool {
        let of_step = |process: Option<&str>| {
            (0..events.len()).rev().find(|i| {
                events[*i].step == step
                    && process.is_none_or(|p| events[*i].process.is_some_and(|q| q.0 == p))
            })
        };
        let leads = |i: usize| way(rules, events, i).is_some_and(|w| w[0] == first);
        match rules[step + 1] {
            Instance::Any => of_step(None).is_some_and(leads),
            Instance::Same => PROCESSES.iter().any(|p| of_step(Some(p)).is_some_and(leads)),
        }
    }

    proptest! {
        #[test]
        fn it_finds_what_looking_back_finds(
            same in prop::collection::vec(any::<bool>(), 2..4),
            made in prop::collection::vec((0usize..4, 0usize..3, 0i64..2), 0..60),
        ) {
            let rules: Vec<_> =
                same.iter().map(|same| if *same { Instance::Same } else { Instance::Any }).collect();
            let mut instances = [0; 3];
            let event = |(time, (step, process, next)): (usize, &(usize, usize, i64))| {
                instances[*process] += next;
                let process = Some((PROCESSES[*process], instances[*process]));
                Event { step: step % rules.len(), time: time as i64, process, ..NONE }
            };
            let events: Vec<_> = made.iter().enumerate().map(event).collect();
            prop_assert_eq!(follow(&rules, &events), naive(&rules, &events));
        }
    }
}
