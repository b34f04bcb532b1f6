//! Reads one side: records become events, times are aligned, ignored events are counted. Does not compare.

use super::collapse::Collapse;
use super::event::{Class, Event, Words, normal_type};
use super::{CompareOptions, Level, Tolerance};
use crate::btf::{NameId, Records};
use crate::error::Result;
use crate::names::{IdMap, IdSet};

/// One side's events, in the order of its file.
pub(super) struct Feed<'a> {
    records: &'a mut dyn Records,
    left: bool,
    align: bool,
    origin: Option<i64>,
    types: Vec<String>,
    /// Whether a type is one of `types`, by its id.
    type_is_ignored: IdMap<NameId, bool>,
    /// By ignored entity, whether an event had it.
    entities: IdMap<NameId, bool>,
    /// Processes of an ignored type: what they cause is ignored too.
    processes: IdSet<NameId>,
    collapse: Option<Collapse>,
    ignored: u64,
}

impl<'a> Feed<'a> {
    /// The events of `records`; `left`: with the names of the right side.
    pub(super) fn new(
        records: &'a mut dyn Records,
        left: bool,
        options: &CompareOptions,
        words: &mut Words,
    ) -> Self {
        Self {
            records,
            left,
            align: options.align,
            origin: None,
            types: options.ignore_types.iter().map(|t| normal_type(t)).collect(),
            type_is_ignored: IdMap::default(),
            entities: options.ignore_entities.iter().map(|name| (words.name(name), false)).collect(),
            processes: IdSet::default(),
            collapse: options.collapse_ignored_isrs.then(Collapse::default),
            ignored: 0,
        }
    }

    /// Subtracted from the times of this side; known after the first event.
    pub(super) fn origin(&self) -> i64 {
        self.origin.unwrap_or(0)
    }

    /// The number of events left out so far.
    pub(super) fn ignored(&self) -> u64 {
        self.ignored + self.collapse.as_ref().map_or(0, |collapse| collapse.dropped)
    }

    pub(super) fn next(&mut self, words: &mut Words) -> Result<Option<Event>> {
        loop {
            if let Some(event) = self.collapse.as_mut().and_then(Collapse::take) {
                return Ok(Some(event));
            }
            let Some((place, record)) = self.records.next()? else {
                let Some(collapse) = &mut self.collapse else { return Ok(None) };
                collapse.end();
                return Ok(collapse.take());
            };
            let first = if self.align { record.time } else { 0 };
            let origin = *self.origin.get_or_insert(first);
            let event = words.event(place, &record, origin, self.left);
            let ignored = self.is_ignored(&event, words);
            self.ignored += u64::from(ignored);
            match &mut self.collapse {
                Some(collapse) => collapse.put(event, ignored),
                None if !ignored => return Ok(Some(event)),
                None => {}
            }
        }
    }

    fn is_ignored(&mut self, event: &Event, words: &Words) -> bool {
        let key = &event.key;
        if !self.entities.is_empty() {
            let [source, _, target, _] = event.raw;
            let mut any = false;
            for name in [key.source, key.target, source, target] {
                if let Some(met) = self.entities.get_mut(&name) {
                    (*met, any) = (true, true);
                }
            }
            if any {
                return true;
            }
        }
        if self.types.is_empty() {
            return false;
        }
        let types = &self.types;
        let is_type = *self
            .type_is_ignored
            .entry(key.kind)
            .or_insert_with(|| types.contains(&normal_type(words.text(key.kind))));
        if is_type && event.class == Class::Process {
            self.processes.insert(key.target);
        }
        is_type || self.processes.contains(&key.source)
    }
}

/// The options that had no effect on any event of either side, in the words of the command line.
pub(super) fn unused(options: &CompareOptions, feeds: &[Feed<'_>; 2], words: &mut Words) -> Vec<String> {
    let mut unused = Vec::new();
    for (from, to) in options.rename.iter().filter(|(from, _)| !words.was_renamed(from)) {
        unused.push(format!("rename {from}={to}"));
    }
    for name in &options.ignore_entities {
        let id = words.name(name);
        if !feeds.iter().any(|feed| feed.entities.get(&id).is_some_and(|met| *met)) {
            unused.push(format!("ignore {name}"));
        }
    }
    unused.extend(options.ignore_types.iter().filter(|t| !words.has_type(t)).map(|t| format!("ignore {t}")));
    let timing = options.level == Level::Timing;
    if !timing && options.tolerance != Tolerance::default() {
        unused.push("tolerance".to_owned());
    }
    for (action, _) in options.action_tolerances.iter().filter(|(a, _)| !timing || !words.has_action(a)) {
        unused.push(format!("tolerance {action}"));
    }
    if options.collapse_ignored_isrs && options.ignore_entities.is_empty() && options.ignore_types.is_empty()
    {
        unused.push("collapse-isrs".to_owned());
    }
    unused
}
