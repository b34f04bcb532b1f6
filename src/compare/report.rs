//! Counts the differences and stores the first ones in full. The differences are found in `engine`.

use super::event::{Event, Words};
use super::orphans::{Context, Orphan, Orphans};
use super::result::{
    Comparison, Difference, DifferenceKind, Divergence, EntitySummary, Line, TimeDifference,
};
use super::sequence::{Id, Subject, Table};
use super::side::Side;
use super::{CompareOptions, Level};
use crate::btf::NameId;
use crate::names::IdMap;
use std::collections::BTreeMap;

/// How many events before and after the first difference are shown.
const CONTEXT: usize = 3;
/// This many extra differences are stored, because two may become one.
const SPARE: usize = 1024;

/// The state of the comparison that a report needs.
pub(super) struct View<'a> {
    pub(super) sides: &'a [Side; 2],
    pub(super) table: &'a Table,
    pub(super) words: &'a Words,
    /// Subtracted from the times of each side.
    pub(super) origins: [i64; 2],
}

impl View<'_> {
    fn line(&self, side: usize, event: &Event) -> Line {
        let origin = self.origins.get(side).copied().unwrap_or(0);
        Line { place: event.place, text: self.words.line(event, origin) }
    }
}

/// The events of a difference: ordinal and content, per side.
pub(super) type Events<'a> = [Option<(u64, &'a Event)>; 2];

/// The place of a difference: smallest ordinal, and 1 if that is of the right side only.
type Rank = (u64, u8);

#[derive(Debug)]
struct First {
    rank: Rank,
    sequence: Subject,
    divergence: Divergence,
    /// Per side, how many events after the difference are still to come.
    missing: [usize; 2],
}

/// The result so far.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) counts: Comparison,
    limit: usize,
    first: Option<First>,
    differing: BTreeMap<Rank, Difference>,
    orphans: Orphans,
    entities: IdMap<(NameId, NameId), [u64; 4]>,
}

impl Report {
    pub(super) fn new(options: &CompareOptions) -> Self {
        let counts = Comparison { level: options.level, equal: true, ..Comparison::default() };
        Self { counts, limit: options.differing, ..Self::default() }
    }

    fn entity(&mut self, event: &Event, column: usize, add: bool) {
        let row = self.entities.entry((event.key.target, event.key.kind)).or_default();
        if let Some(n) = row.get_mut(column) {
            *n = if add { *n + 1 } else { n.saturating_sub(1) };
        }
    }

    pub(super) fn event(&mut self, side: usize, event: &Event) {
        *(if side == 0 { &mut self.counts.left_events } else { &mut self.counts.right_events }) += 1;
        self.entity(event, side, true);
    }

    pub(super) fn pair(&mut self, left: &Event, right: &Event) {
        self.counts.compared += 1;
        self.apart(left, right);
    }

    /// Two events that correspond, at any places.
    fn apart(&mut self, left: &Event, right: &Event) {
        let ticks = left.time.abs_diff(right.time);
        if self.counts.max_time_difference.is_none_or(|max| ticks > max.ticks) {
            let (left, right) = (left.place, right.place);
            self.counts.max_time_difference = Some(TimeDifference { ticks, left, right });
        }
    }

    /// Adds an event without a partner: a difference of its own, unless its other half turns up. `home`: its
    /// sequence and how many pairs were made in it.
    pub(super) fn unpaired(
        &mut self,
        view: &View<'_>,
        home: (Id, u64),
        side: usize,
        ordinal: u64,
        event: &Event,
    ) {
        let (kind, rank) = (
            if side == 0 { DifferenceKind::OnlyLeft } else { DifferenceKind::OnlyRight },
            (ordinal, side as u8),
        );
        let mut events = [None, None];
        if let Some(place) = events.get_mut(side) {
            *place = Some((ordinal, event));
        }
        self.difference(view, kind, home.0, events);
        let sequence = view.table.subject(home.0);
        let mut orphan = Orphan { ordinal, event: event.clone(), sequence, place: home.1, context: None };
        let shown = self.first.as_ref().is_some_and(|first| {
            first.rank == rank
                || usize::from(first.rank.1) != side && self.orphans.may_join(first.rank.0, side, &orphan)
        });
        orphan.context = shown.then(|| context(view, home.0, side, events));
        if let Some(halves) = self.orphans.put(side, orphan) {
            self.join(view, halves);
        }
    }

    /// True when a difference was found.
    pub(super) fn is_different(&self) -> bool {
        self.first.is_some()
    }

    /// No more events will come, and the events without a partner are in no order.
    pub(super) fn hold(&mut self) {
        self.orphans.hold();
    }

    /// Joins the halves of events.
    pub(super) fn join_all(&mut self, view: &View<'_>) {
        for halves in self.orphans.drain() {
            self.join(view, halves);
        }
    }

    /// Two differences turned out to be one event.
    fn join(&mut self, view: &View<'_>, halves: [Orphan; 2]) {
        let [left, right] = halves;
        let (kind, fields) = self.kind_of_pair(&left.event, &right.event, None);
        self.counts.only_left -= 1;
        self.counts.only_right -= 1;
        if (left.event.key.target, left.event.key.kind) == (right.event.key.target, right.event.key.kind) {
            self.entity(&right.event, 3, false);
        }
        let ranks = [(left.ordinal, 0), (right.ordinal, 1)];
        let rank = ranks[0].min(ranks[1]);
        self.differing.remove(&ranks[0].max(ranks[1]));
        let [here, there] = [&left, &right].map(|half| half.sequence.describe(view.words));
        let sequence = if here == there { here } else { format!("{here} / {there}") };
        let line = |side, half: &Orphan| Some(view.line(side, &half.event));
        let joined = Difference { kind, sequence, fields, left: line(0, &left), right: line(1, &right) };
        if let Some(first) = self.first.as_mut().filter(|first| first.rank == rank) {
            first.divergence.difference = joined.clone();
            let Divergence { left_context, right_context, .. } = &mut first.divergence;
            let (half, lines) = if rank.1 == 0 { (right, right_context) } else { (left, left_context) };
            if let Some((context, _)) = half.context {
                *lines = context;
            }
        }
        if let Some(stored) = self.differing.get_mut(&rank) {
            *stored = joined;
        }
    }

    /// Counts two events that correspond, and returns how they differ. `kind`: if that is known already.
    fn kind_of_pair(
        &mut self,
        left: &Event,
        right: &Event,
        kind: Option<DifferenceKind>,
    ) -> (DifferenceKind, Vec<&'static str>) {
        self.apart(left, right);
        let mut fields = left.key.differing(&right.key);
        let kind =
            kind.unwrap_or(if fields.is_empty() { DifferenceKind::Moved } else { DifferenceKind::Changed });
        let counts = &mut self.counts;
        counts.semantic += u64::from(kind != DifferenceKind::Time);
        counts.moved += u64::from(kind == DifferenceKind::Moved);
        counts.temporal += u64::from(kind == DifferenceKind::Time);
        if kind == DifferenceKind::Time || (counts.level == Level::Exact && left.time != right.time) {
            fields.insert(0, "time");
            // The thesis counts by field: a pair may differ in both ways.
            counts.temporal += u64::from(kind == DifferenceKind::Changed);
        }
        (kind, fields)
    }

    /// Counts a difference and stores it if it is among the first.
    pub(super) fn difference(
        &mut self,
        view: &View<'_>,
        kind: DifferenceKind,
        sequence: Id,
        events: Events<'_>,
    ) {
        let [left, right] = events;
        self.counts.only_left += u64::from(right.is_none());
        self.counts.only_right += u64::from(left.is_none());
        let mut fields = Vec::new();
        if let (Some((_, l)), Some((_, r))) = (left, right) {
            (_, fields) = self.kind_of_pair(l, r, Some(kind));
        }
        let mut known = None;
        for (_, event) in events.into_iter().flatten() {
            let row = Some((event.key.target, event.key.kind));
            if known != row {
                self.entity(event, if kind == DifferenceKind::Time { 2 } else { 3 }, true);
            }
            known = row;
        }
        let rank = match (left, right) {
            (Some((l, _)), Some((r, _))) => (l.min(r), u8::from(r < l)),
            (Some((l, _)), None) => (l, 0),
            (None, Some((r, _))) => (r, 1),
            (None, None) => return,
        };
        let is_first = self.first.as_ref().is_none_or(|first| rank < first.rank);
        let room = self.limit.saturating_mul(2).saturating_add(SPARE);
        let is_early = self.differing.len() < room
            || self.differing.last_key_value().is_some_and(|(last, _)| rank < *last);
        if !is_first && !is_early {
            return;
        }
        let line = |side: usize, event: Option<(u64, &Event)>| event.map(|(_, e)| view.line(side, e));
        let subject = view.table.subject(sequence);
        let difference = Difference {
            kind,
            sequence: subject.describe(view.words),
            fields,
            left: line(0, left),
            right: line(1, right),
        };
        if is_first {
            let [l, r] = [0, 1].map(|side| context(view, sequence, side, events));
            let missing = [CONTEXT.saturating_sub(l.1), CONTEXT.saturating_sub(r.1)];
            let divergence =
                Divergence { difference: difference.clone(), left_context: l.0, right_context: r.0 };
            self.first = Some(First { rank, sequence: subject, divergence, missing });
        }
        self.differing.insert(rank, difference);
        if self.differing.len() > room {
            self.differing.pop_last();
        }
    }

    /// Adds a later event of its sequence to the context of the first difference.
    pub(super) fn arrived(&mut self, sequence: Subject, side: usize, line: impl FnOnce() -> Line) {
        let Some(first) = self.first.as_mut().filter(|first| first.sequence == sequence) else { return };
        let Some(missing) = first.missing.get_mut(side).filter(|missing| **missing > 0) else { return };
        *missing -= 1;
        let divergence = &mut first.divergence;
        (if side == 0 { &mut divergence.left_context } else { &mut divergence.right_context }).push(line());
    }

    pub(super) fn finish(mut self, words: &Words) -> Comparison {
        let counts = &self.counts;
        let different =
            [counts.temporal, counts.semantic, counts.only_left, counts.only_right, counts.given_up];
        self.counts.equal = different.iter().all(|n| *n == 0);
        self.counts.first = self.first.map(|first| first.divergence);
        self.counts.differing = self.differing.into_values().take(self.limit).collect();
        let mut entities: Vec<EntitySummary> = self
            .entities
            .into_iter()
            .map(|((entity, kind), [left, right, temporal, semantic])| EntitySummary {
                entity: words.text(entity).to_owned(),
                kind: words.text(kind).to_owned(),
                left,
                right,
                temporal,
                semantic,
            })
            .collect();
        entities.sort_by(|a, b| (&a.kind, &a.entity).cmp(&(&b.kind, &b.entity)));
        self.counts.entities = entities;
        self.counts
    }
}

/// The events around a difference in its sequence on one side, and how many of them come after it. On a side
/// without the event, they are those around its first unpaired event.
fn context(view: &View<'_>, sequence: Id, side: usize, events: Events<'_>) -> Context {
    let backlog = view.table.peek(sequence).and_then(|s| s.backlogs.get(side));
    let Some((backlog, slots)) = backlog.zip(view.sides.get(side)) else { return (Vec::new(), 0) };
    let own = events.get(side).copied().flatten().map(|(ordinal, _)| ordinal);
    let at = own.or(backlog.unpaired.front().copied()).unwrap_or(u64::MAX);
    let open = &backlog.unsettled;
    let start = open.partition_point(|o| *o < at);
    let before = backlog.settled.iter().filter(|o| **o < at).chain(open.iter().take(start));
    let before: Vec<u64> = before.copied().collect();
    let after = open.iter().skip(start).copied().filter(|o| Some(*o) != own).take(CONTEXT);
    let line = |ordinal: u64| slots.get(ordinal).map(|slot| view.line(side, &slot.event));
    let skip = before.len().saturating_sub(CONTEXT);
    let mut lines: Vec<Line> = before.into_iter().skip(skip).filter_map(line).collect();
    let count = lines.len();
    lines.extend(after.filter_map(line));
    let following = lines.len() - count;
    (lines, following)
}
