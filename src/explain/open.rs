//! One wanted instance from its activation until it is explained. Not how its spans are cut (see `split`).

use super::explanations::Explanations;
use super::runnables::Nest;
use super::split::{Cutter, Known, Need, Own, add, unknown};
use super::types::{Actor, Core, Explained, Part, RunnableSpan, Source, State, StateSpan};
use super::waits::Waits;
use std::borrow::Cow;

/// As many spans wait for the end of their instance; more are cut before, so that what is kept about other
/// instances is bounded by the spans of this one, not by its response.
const MOST: usize = 32;

/// An open instance; also a place for the next one, with its buffers.
#[derive(Debug)]
pub(super) struct Open {
    pub actor: Actor,
    /// Counts the instances that had this place.
    pub generation: u64,
    pub activated_by: Option<Source>,
    pub triggered_by: Option<Actor>,
    pub waits: Waits,
    /// Activation and termination.
    pub ended: Option<(i64, i64)>,
    /// Nothing before this is asked about, apart from spans that are not cut.
    since: i64,
    /// In the order of their ends.
    runnables: Vec<RunnableSpan>,
    todo: Vec<Own>,
    limit: usize,
    last_core: Option<Core>,
    parts: Vec<Part>,
}

impl Open {
    pub fn new(actor: Actor, since: i64) -> Self {
        Self {
            actor,
            generation: 0,
            activated_by: None,
            triggered_by: None,
            waits: Waits::default(),
            ended: None,
            since,
            runnables: Vec::new(),
            todo: Vec::new(),
            limit: MOST,
            last_core: None,
            parts: Vec::new(),
        }
    }

    /// The place of an instance that is explained goes to another one.
    pub fn begin(&mut self, actor: Actor, since: i64) {
        (self.actor, self.since, self.ended) = (actor, since, None);
        (self.activated_by, self.triggered_by) = (None, None);
        (self.last_core, self.limit) = (None, MOST);
        self.waits.clear();
        self.runnables.clear();
        self.todo.clear();
    }

    /// A state span of the instance. Returns whether some should be cut now.
    pub fn state(&mut self, span: StateSpan) -> bool {
        let StateSpan { core, state, begin, end, .. } = span;
        let for_what = self.waits.of(state, begin, end);
        if begin < end {
            self.todo.push(Own { core, state, begin, end, for_what });
        }
        self.todo.len() >= self.limit
    }

    pub fn runnable(&mut self, span: RunnableSpan) {
        if span.begin < span.end {
            self.runnables.push(span);
        }
    }

    /// Before this, nothing is asked about any more.
    pub fn horizon(&self) -> i64 {
        self.todo.first().map_or(self.since, |own| own.begin.min(self.since))
    }

    /// Cuts the spans that end before `before`, in order, until something has to come first. Returns that,
    /// and until when.
    pub fn cut(&mut self, known: Known, nest: &mut Nest, before: i64) -> Result<(), (Need, i64)> {
        let mut cutter = Cutter { known, actor: self.actor, parts: &mut self.parts, until: i64::MAX };
        let (mut count, mut used) = (0, 0);
        let mut kept = None;
        let mut done = Ok(());
        while let Some(own) = self.todo.get(count).copied().filter(|own| own.end < before) {
            let next = || self.todo.get(count + 1).filter(|_| own.state == State::Active)?.core;
            let is_last = count + 1 == self.todo.len();
            if own.core.is_none() && own.state == State::Active && is_last && self.ended.is_none() {
                break;
            }
            let last = match kept {
                Some(last) if last >= count => last,
                _ => count + keeps_core(self.todo.get(count..).unwrap_or_default()),
            };
            kept = Some(last);
            // The runnables that it is in come when they end.
            let until = self.todo.get(last).map_or(own.end, |last| last.end);
            if last > count && last + 1 == self.todo.len() && self.ended.is_none() {
                break;
            }
            let core = own.core.or_else(next).or(self.last_core);
            let begin = cutter.parts.last().map_or(own.begin, |last| last.end);
            add(cutter.parts, unknown(begin, own.begin));
            let own = Own { core, begin: own.begin.max(begin), ..own };
            let rest = self.runnables.get(used..).unwrap_or_default();
            // Only few end in one span: no binary search over all.
            let mine = rest.iter().take_while(|span| span.end <= own.end).count();
            let (ended, open) = rest.split_at(mine);
            let go_on = open.iter().take_while(|span| span.end <= until);
            let runnables: Cow<[RunnableSpan]> = match last > count && own.state == State::Running {
                true => ended.iter().chain(go_on.filter(|span| span.begin < own.end)).copied().collect(),
                false => Cow::Borrowed(ended),
            };
            if own.begin < own.end
                && let Err(need) = cutter.cut(&own, &runnables, nest)
            {
                done = Err((need, own.end));
                break;
            }
            used += mine;
            count += 1;
            self.last_core = core.or(self.last_core);
            self.since = self.since.max(own.end);
        }
        self.runnables.drain(..used.min(self.runnables.len()));
        self.todo.drain(..count);
        self.limit = MOST.max(2 * self.todo.len());
        done
    }

    /// All spans are cut: adds the response with its parts, without hole.
    pub fn explained(&mut self, all: &mut Explanations) {
        let (begin, end) = self.ended.unwrap_or((self.since, self.since));
        let is_whole = self.parts.first().is_some_and(|first| first.begin == begin)
            && self.parts.last().is_some_and(|last| last.end == end);
        if !is_whole {
            self.parts = within(&self.parts, begin, end);
        }
        let (activated_by, triggered_by) = (self.activated_by, self.triggered_by);
        all.push(Explained { actor: self.actor, begin, end, activated_by, triggered_by, parts: &self.parts });
        self.parts.clear();
    }
}

/// How many spans follow the first one in which an instance still has its core: a runnable can go on in all
/// of them.
fn keeps_core(spans: &[Own]) -> usize {
    let has_core = |own: &Own| matches!(own.state, State::Running | State::Polling);
    let goes_on = |pair: &&[Own]| match pair {
        [own, next] => has_core(own) && has_core(next) && own.end == next.begin,
        _ => false,
    };
    spans.windows(2).take_while(goes_on).count()
}

/// Parts without hole between them, as parts of `[begin, end)`.
fn within(parts: &[Part], begin: i64, end: i64) -> Vec<Part> {
    let mut whole = Vec::with_capacity(parts.len() + 2);
    let first = parts.first().map_or(end, |first| first.begin).min(end);
    add(&mut whole, unknown(begin, first));
    for part in parts {
        add(&mut whole, Part { begin: part.begin.max(begin), end: part.end.min(end), ..*part });
    }
    let last = parts.last().map_or(end, |last| last.end).max(begin);
    add(&mut whole, unknown(last, end));
    whole
}
