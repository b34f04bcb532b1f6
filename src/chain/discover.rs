//! Which chains a recording shows: what is written and read, triggered and activated → ways from process to
//! process, with counts. One pass. Not for their names (see `found`), nor for how long they take (see
//! `ends`).
//!
//! A *link* leads from a process to the next one: through a signal that one writes and the other reads, or
//! through a stimulus that one triggers and that activates the other. A *way* is links in a row: the next
//! link begins in the instance of the process in which the one before ended, after it ended. A read gets what
//! was written last, by whomever. What an instance has read or was activated by, the latest of each signal
//! and stimulus, leads to all that it writes or triggers later. An instance without any begins new ways.
//!
//! A way ends where it comes to a process for the second time, and where it is as long as allowed. What
//! follows there is on the ways that begin there, or that come from elsewhere. A *chain* is a way that no
//! longer one begins with. Its count is how many times its last link was seen with all those before. An
//! activation that is not followed by anything, and whose trigger is not recorded, is no chain.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::found::{Cut, Found, FoundChain, FoundLink};
use super::seen::{Limits, Link, Seen};

/// A process or stimulus with its instance.
pub type Actor<'a> = (&'a str, i64);

/// No process or stimulus has more instances that go on: the oldest are forgotten.
const MAX_INSTANCES: usize = 64;

/// The last link of a way.
#[derive(Debug, Clone)]
struct Way {
    /// The way without it.
    before: Option<u32>,
    link: Link,
    links: usize,
    seen: Seen,
    /// A longer one begins with it.
    goes_on: bool,
    is_cycle: bool,
    is_cut: bool,
}

/// Numbers of ways, in order.
type Ways = Arc<[u32]>;

/// Who wrote a signal or triggered a stimulus, and the ways that lead there.
#[derive(Debug, Clone, Default)]
struct Origin {
    by: Option<u32>,
    ways: Ways,
}

/// An instance of a process: by signal or stimulus, the ways that lead to it.
#[derive(Debug, Default)]
struct Reached {
    by: BTreeMap<(bool, u32), Ways>,
    /// All of them, unless it has to be made again.
    all: Option<Ways>,
}

/// Finds chains; see the [module](self).
///
/// Memory depends on the signals and stimuli, on the instances that go on, and on the ways, which are
/// bounded; not on the length of the recording.
#[derive(Debug, Default)]
pub struct Discovery {
    limits: Limits,
    numbers: HashMap<String, u32>,
    names: Vec<String>,
    links: HashMap<Link, Seen>,
    ways: Vec<Way>,
    longer: HashMap<(Option<u32>, Link), u32>,
    written: HashMap<u32, Origin>,
    triggered: HashMap<u32, BTreeMap<i64, Origin>>,
    reached: HashMap<u32, BTreeMap<i64, Reached>>,
    /// The end of the latest gap.
    hidden_until: Option<i64>,
    cut: Cut,
}

impl Discovery {
    /// With limits of memory.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// A signal was written, by a process or by the environment.
    pub fn write(&mut self, signal: &str, by: Option<Actor<'_>>) {
        let (signal, origin) = (self.number(signal), self.origin(by));
        self.written.insert(signal, origin);
    }

    /// A process read a signal, at a time in ticks.
    pub fn read(&mut self, time: i64, signal: &str, by: Actor<'_>) {
        let (via, to) = (self.number(signal), self.number(by.0));
        if let Some(origin) = self.written.get(&via).cloned() {
            let link = Link { from: origin.by, via, is_signal: true, has_begin: true, to };
            self.follow(time, &origin, link, by.1);
        }
    }

    /// A stimulus was triggered, by a process or by the environment.
    pub fn trigger(&mut self, stimulus: Actor<'_>, by: Option<Actor<'_>>) {
        let (number, origin) = (self.number(stimulus.0), self.origin(by));
        keep(self.triggered.entry(number).or_default(), stimulus.1, origin);
    }

    /// A stimulus activated a process, at a time in ticks.
    pub fn activate(&mut self, time: i64, stimulus: Actor<'_>, process: Actor<'_>) {
        let (via, to) = (self.number(stimulus.0), self.number(process.0));
        let origin = self.triggered.get(&via).and_then(|all| all.get(&stimulus.1)).cloned();
        let has_begin = origin.is_some();
        let origin = origin.unwrap_or_default();
        let link = Link { from: origin.by, via, is_signal: false, has_begin, to };
        self.follow(time, &origin, link, process.1);
    }

    /// An instance of a process is over. A later one of the same number has nothing to do with it.
    pub fn terminate(&mut self, process: Actor<'_>) {
        let reached = self.numbers.get(process.0).and_then(|process| self.reached.get_mut(process));
        reached.into_iter().for_each(|reached| drop(reached.remove(&process.1)));
    }

    /// A gap of any core, until a time in ticks: nothing later follows from what was before. What is recorded
    /// in it is left out, as who wrote or triggered last may be hidden.
    pub fn gap(&mut self, end: i64) {
        self.hidden_until = self.hidden_until.max(Some(end));
        self.written.clear();
        self.triggered.clear();
        self.reached.clear();
    }

    /// Whether a time is in a gap.
    pub fn is_hidden(&self, time: i64) -> bool {
        self.hidden_until.is_some_and(|end| time < end)
    }

    /// The chains that were seen at least `least` times, and all links; each in the order of their counts,
    /// the greatest first, and then of their names.
    pub fn found(&self, least: u64) -> Found {
        let name = |number: u32| self.names.get(number as usize).map_or("", String::as_str);
        let link = |(link, seen): (&Link, &Seen)| FoundLink::new(*link, *seen, name);
        let links = self.links.iter().map(link).collect();
        let is_chain = |way: &&Way| !way.goes_on && (way.links > 1 || way.link.has_begin);
        let ended = self.ways.iter().filter(is_chain).filter(|way| way.seen.count >= least);
        let chain = |way: &Way| {
            let mut links = vec![way.link];
            let mut before = way.before;
            while let Some(way) = before.and_then(|number| self.ways.get(number as usize)) {
                links.push(way.link);
                before = way.before;
            }
            links.reverse();
            FoundChain::new(&links, way.seen, (way.is_cycle, way.is_cut), name)
        };
        Found::new(ended.map(chain).collect(), links, self.cut, self.limits)
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        // There are less than 2^32 names in memory.
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// What an instance of a process does now, begins or goes on with these ways.
    fn origin(&mut self, by: Option<Actor<'_>>) -> Origin {
        let Some((process, instance)) = by else { return Origin::default() };
        let process = self.number(process);
        let reached = self.reached.get_mut(&process).and_then(|all| all.get_mut(&instance));
        let ways = reached.map(|reached| match &reached.all {
            Some(ways) => Arc::clone(ways),
            None => {
                let mut all: Vec<u32> = reached.by.values().flat_map(|ways| ways.iter().copied()).collect();
                all.sort_unstable();
                all.dedup();
                self.cut.ways += all.len().saturating_sub(self.limits.ways) as u64;
                for left_out in all.iter().skip(self.limits.ways) {
                    if let Some(way) = self.ways.get_mut(*left_out as usize) {
                        way.is_cut = true;
                    }
                }
                all.truncate(self.limits.ways);
                Arc::clone(reached.all.insert(all.into()))
            }
        });
        Origin { by: Some(process), ways: ways.unwrap_or_default() }
    }

    /// Appends a link to all ways that lead to its origin.
    fn follow(&mut self, time: i64, origin: &Origin, link: Link, instance: i64) {
        let seen = self.links.entry(Link { has_begin: true, ..link });
        seen.and_modify(|seen| seen.again(time)).or_insert_with(|| Seen::at(time));
        let mut ways = Vec::with_capacity(origin.ways.len().max(1));
        if origin.ways.is_empty() {
            ways.extend(self.append(time, None, link));
        }
        for before in origin.ways.iter() {
            ways.extend(self.append(time, Some(*before), link));
        }
        let instances = self.reached.entry(link.to).or_default();
        if !instances.contains_key(&instance) {
            keep(instances, instance, Reached::default());
        }
        if let Some(reached) = instances.get_mut(&instance) {
            reached.all = None;
            reached.by.insert((link.is_signal, link.via), ways.into());
        }
    }

    /// A way with one more link; `None` if it may not go on after it.
    fn append(&mut self, time: i64, before: Option<u32>, link: Link) -> Option<u32> {
        let links = before.and_then(|before| self.ways.get(before as usize)).map_or(0, |way| way.links);
        if links >= self.limits.links {
            self.cut.long += 1;
            self.at(before).into_iter().for_each(|way| way.is_cut = true);
            return None;
        }
        let is_full = self.ways.len() >= self.limits.all;
        let next = self.ways.len() as u32;
        let number = match self.longer.entry((before, link)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(_) if is_full => {
                self.cut.all += 1;
                self.at(before).into_iter().for_each(|way| way.is_cut = true);
                return None;
            }
            Entry::Vacant(new) => {
                new.insert(next);
                let is_cycle = self.comes_to(before, link);
                let seen = Seen { count: 0, ..Seen::at(time) };
                let links = links + 1;
                self.at(before).into_iter().for_each(|way| way.goes_on = true);
                self.ways.push(Way { before, link, links, seen, goes_on: false, is_cycle, is_cut: false });
                next
            }
        };
        let way = self.ways.get_mut(number as usize)?;
        way.seen.again(time);
        (!way.is_cycle).then_some(number)
    }

    fn at(&mut self, way: Option<u32>) -> Option<&mut Way> {
        way.and_then(|number| self.ways.get_mut(number as usize))
    }

    /// Whether a link leads back to a process of the way before it, or to where it begins.
    fn comes_to(&self, mut before: Option<u32>, link: Link) -> bool {
        let mut from = link.from;
        loop {
            if from == Some(link.to) {
                return true;
            }
            let Some(way) = before.and_then(|number| self.ways.get(number as usize)) else { return false };
            (before, from) = (way.before, way.link.from);
        }
    }
}

fn keep<T>(all: &mut BTreeMap<i64, T>, instance: i64, value: T) {
    all.insert(instance, value);
    if all.len() > MAX_INSTANCES {
        all.pop_first();
    }
}

#[cfg(test)]
mod tests;
