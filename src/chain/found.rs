//! Chains and links that a recording shows. Not for finding them (see `discover`), nor for the text of a file
//! with them (see `file`).

use std::collections::HashMap;

use super::seen::{Limits, Link, Seen};
use super::{ChainStep, Instance};

/// A link from a process to the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLink {
    /// The process that wrote or triggered; `None` if it was the environment, or is not recorded.
    pub from: Option<String>,
    /// The signal or stimulus.
    pub via: String,
    /// A signal that was written and read; else a stimulus that was triggered and activated.
    pub is_signal: bool,
    /// The process that read or was activated.
    pub to: String,
    /// How many reads or activations.
    pub count: u64,
    /// When the first of them was, in ticks.
    pub first: i64,
    /// When the last of them was, in ticks.
    pub last: i64,
}

/// A chain of links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundChain {
    /// Its processes, and what is between them; no two chains have the same.
    pub name: String,
    /// The steps, cause first; at least two.
    pub steps: Vec<ChainStep>,
    /// How many times its last step followed from all others.
    pub count: u64,
    /// When that was first, in ticks.
    pub first: i64,
    /// When that was last, in ticks.
    pub last: i64,
    /// Its last process is on it before.
    pub is_cycle: bool,
    /// It may go on: it was cut where it would be too long, or where there were too many.
    pub is_cut: bool,
}

/// What the limits left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cut {
    /// How many times a way would have been too long.
    pub long: u64,
    /// How many times a way was left out, as too many led to the same instance.
    pub ways: u64,
    /// How many times a way was left out, as there were too many in all.
    pub all: u64,
}

/// What a recording shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// By count, the greatest first, then by name.
    pub chains: Vec<FoundChain>,
    /// By count, the greatest first, then by names.
    pub links: Vec<FoundLink>,
    /// What was left out.
    pub cut: Cut,
    /// By which limits.
    pub limits: Limits,
}

impl FoundLink {
    pub(super) fn new<'a>(link: Link, seen: Seen, name: impl Fn(u32) -> &'a str) -> Self {
        Self {
            from: link.from.map(|from| name(from).to_owned()),
            via: name(link.via).to_owned(),
            is_signal: link.is_signal,
            to: name(link.to).to_owned(),
            count: seen.count,
            first: seen.first,
            last: seen.last,
        }
    }
}

impl FoundChain {
    pub(super) fn new<'a>(
        links: &[Link],
        seen: Seen,
        (is_cycle, is_cut): (bool, bool),
        name: impl Fn(u32) -> &'a str,
    ) -> Self {
        let mut names = Vec::new();
        let mut steps = Vec::new();
        let mut step = |entity: u32, action: &str, source: Option<u32>, instance: Instance| {
            let source = source.map(|source| name(source).to_owned());
            steps.push(ChainStep {
                entity: name(entity).to_owned(),
                action: action.to_owned(),
                source,
                instance,
            });
        };
        for (n, link) in links.iter().enumerate() {
            // What an instance does follows from what that instance got.
            let instance = if n == 0 { Instance::Any } else { Instance::Same };
            if n == 0 {
                names.extend(link.from.map(&name));
            }
            names.extend([name(link.via), name(link.to)]);
            if link.is_signal {
                step(link.via, "write", link.from, instance);
                step(link.via, "read", Some(link.to), Instance::Any);
                continue;
            }
            if link.has_begin {
                step(link.via, "trigger", link.from, instance);
            }
            step(link.to, "activate", Some(link.via), Instance::Any);
        }
        let Seen { count, first, last } = seen;
        Self { name: names.join(" > "), steps, count, first, last, is_cycle, is_cut }
    }
}

impl Cut {
    /// What was left out, and by which limit: a sentence each, without a full stop.
    pub fn sentences(&self, limits: &Limits) -> Vec<String> {
        let Self { long, ways, all } = *self;
        let Limits { links, ways: most_ways, all: most } = limits;
        [
            (long, format!("a chain was cut where it would have more links than {links}")),
            (ways, format!("a chain was cut, as more than {most_ways} lead to one instance")),
            (all, format!("a chain was cut, as no more than {most} are kept")),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(
            |(count, what)| if count == 1 { format!("once {what}") } else { format!("{count} times {what}") },
        )
        .collect()
    }
}

impl Found {
    pub(super) fn new(
        mut chains: Vec<FoundChain>,
        mut links: Vec<FoundLink>,
        cut: Cut,
        limits: Limits,
    ) -> Self {
        let of_link =
            |link: &FoundLink| (link.from.clone(), link.via.clone(), link.to.clone(), link.is_signal);
        links.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| of_link(a).cmp(&of_link(b))));
        chains.sort_by(|a, b| {
            b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)).then(a.first.cmp(&b.first))
        });
        distinct(chains.iter_mut().map(|chain| &mut chain.name));
        Self { chains, links, cut, limits }
    }
}

/// Appends numbers to names that came before: names of entities may contain what is between them in the name
/// of a chain.
pub(super) fn distinct<'a>(names: impl Iterator<Item = &'a mut String>) {
    let mut known: HashMap<String, u64> = HashMap::new();
    for name in names {
        let plain = name.clone();
        while let Some(number) = known.get_mut(name.as_str()) {
            *number += 1;
            *name = format!("{plain} ({number})");
        }
        known.insert(name.clone(), 1);
    }
}
