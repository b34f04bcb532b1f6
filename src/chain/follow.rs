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
            step => self.cause(step, event.process).map(|mut path| {
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
            _ => latest.any = path,
        }
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
    fn cause(&self, step: usize, process: Option<(&str, i64)>) -> Option<Path> {
        let latest = self.latest.get(step - 1)?;
        match self.rules.get(step)? {
            Instance::Any => latest.any.clone(),
            Instance::Same => {
                let (process, instance) = process?;
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

    fn at(step: usize, time: i64) -> Event<'static> {
        Event { step, time, process: None }
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
        let of = |step, time, process, instance| Event { step, time, process: Some((process, instance)) };
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
                Event { step: step % rules.len(), time: time as i64, process }
            };
            let events: Vec<_> = made.iter().enumerate().map(event).collect();
            prop_assert_eq!(follow(&rules, &events), naive(&rules, &events));
        }
    }
}
