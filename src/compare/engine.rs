//! Runs the comparison: reads both sides in step, pairs the events of each sequence, and passes differences
//! to `report`. Positions in further sequences are settled in `settle`.

use super::align::{Pending, Step};
use super::event::{Event, Words, normal_action};
use super::feed::{self, Feed};
use super::index::ByIndex;
use super::report::{Report, View};
use super::result::{Comparison, DifferenceKind, Line};
use super::sequence::{Id, SMALLEST_WINDOW, Subject, Table};
use super::side::{Side, State};
use super::{CompareOptions, Level, Tolerance};
use crate::btf::{NameId, Records};
use crate::error::Result;
use crate::names::IdMap;

/// A running comparison.
pub(super) struct Engine<'o> {
    options: &'o CompareOptions,
    words: Words,
    pub(super) table: Table,
    pub(super) sides: [Side; 2],
    report: Report,
    tolerances: IdMap<NameId, Tolerance>,
    /// Subtracted from the times of each side.
    origins: [i64; 2],
    /// Time of the first event of each side.
    starts: [i64; 2],
    by_index: ByIndex,
    /// Left and right time of the first pair of the latest instance of an entity.
    begins: IdMap<NameId, (i64, i64)>,
    /// Sequences with an event of this instant, which is measured from the start of each side.
    open: Vec<Id>,
    instant: i128,
}

impl<'o> Engine<'o> {
    /// A comparison that has not begun.
    pub(super) fn new(options: &'o CompareOptions) -> Self {
        let mut words = Words::new(options.level == Level::Exact, &options.rename);
        let tolerances = options
            .action_tolerances
            .iter()
            .map(|(action, t)| (words.name(&normal_action(action)), *t))
            .collect();
        Self {
            options,
            words,
            table: Table::new(options.level == Level::Exact, options.pending_limit),
            sides: [Side::default(), Side::default()],
            report: Report::new(options),
            tolerances,
            origins: [0; 2],
            starts: [0; 2],
            by_index: ByIndex::default(),
            begins: IdMap::default(),
            open: Vec::new(),
            instant: 0,
        }
    }

    pub(super) fn run(mut self, left: &mut dyn Records, right: &mut dyn Records) -> Result<Comparison> {
        let mut feeds = [
            Feed::new(left, true, self.options, &mut self.words),
            Feed::new(right, false, self.options, &mut self.words),
        ];
        let [l, r] = &mut feeds;
        let mut heads = [l.next(&mut self.words)?, r.next(&mut self.words)?];
        self.origins = [l.origin(), r.origin()];
        self.starts =
            [0, 1].map(|side: usize| heads.get(side).and_then(Option::as_ref).map_or(0, |e| e.time));
        // The time of the last event of each side.
        let mut ends = [None; 2];
        loop {
            for (side, head) in self.sides.iter_mut().zip(&heads) {
                side.ended = head.is_none();
            }
            let side = match &heads {
                [Some(left), Some(right)] => self.next_side(left, right),
                [None, None] => break,
                [None, Some(event)] if self.is_cut(ends[0], event) => break,
                [Some(event), None] if self.is_cut(ends[1], event) => break,
                [left, _] => usize::from(left.is_none()),
            };
            let (Some(head), Some(feed)) = (heads.get_mut(side), feeds.get_mut(side)) else { break };
            let next = feed.next(&mut self.words)?;
            if let Some(event) = std::mem::replace(head, next) {
                if let Some(end) = ends.get_mut(side) {
                    *end = (*end).max(Some(event.time));
                }
                self.deliver(side, event);
            }
        }
        [self.report.counts.left_ignored, self.report.counts.right_ignored] =
            [0, 1].map(|side: usize| feeds.get(side).map_or(0, Feed::ignored));
        self.report.counts.unused = feed::unused(self.options, &feeds, &mut self.words);
        self.end();
        if self.options.level == Level::Exact {
            self.report.counts.strict = Some(self.by_index.verdict());
        }
        Ok(self.report.finish(&self.words))
    }

    /// The side to read next: the one with the earlier time, measured from its own start. One with many
    /// pending events waits. If the end is cut, absolute times count: no side is read past the end of the
    /// other.
    fn next_side(&self, left: &Event, right: &Event) -> usize {
        if self.options.cut_to_common_length {
            return usize::from(right.time < left.time);
        }
        let half = self.options.pending_limit / 2;
        let [l, r] = &self.sides;
        match (l.len() > half, r.len() > half) {
            (true, false) => return 1,
            (false, true) => return 0,
            _ => {}
        }
        let [left_start, right_start] = self.starts.map(i128::from);
        usize::from(i128::from(right.time) - right_start < i128::from(left.time) - left_start)
    }

    /// True for an event after the end of the other side.
    fn is_cut(&self, end: Option<i64>, event: &Event) -> bool {
        self.options.cut_to_common_length && end.is_none_or(|end| event.time > end)
    }

    fn deliver(&mut self, side: usize, event: Event) {
        let start = self.starts.get(side).copied().unwrap_or(0);
        let instant = i128::from(event.time) - i128::from(start);
        if instant != self.instant {
            self.instant = instant;
            self.pump_open();
        }
        self.report.event(side, &event);
        let members = self.table.members(side, &event, &self.words);
        if self.options.level == Level::Exact {
            self.by_index.put(side, &event, self.options.pending_limit);
        }
        let Some(here) = self.sides.get_mut(side) else { return };
        let ordinal = here.push(event, members);
        for (n, id) in members.into_iter().flatten().enumerate() {
            let Some(sequence) = self.table.get(id) else { continue };
            let subject = sequence.subject;
            let Some(backlog) = sequence.backlogs.get_mut(side) else { continue };
            backlog.unsettled.push_back(ordinal);
            if n == 0 {
                backlog.unpaired.push_back(ordinal);
            }
            let (sides, words, origins) = (&self.sides, &self.words, self.origins);
            self.report.arrived(subject, side, || line(sides, words, origins, side, ordinal));
        }
        self.open.extend(members[0]);
        self.relieve(side);
    }

    /// Pairs what can be paired in a sequence. `force`: decides on its first event without waiting for more.
    fn pump(&mut self, id: Id, mut force: bool) {
        loop {
            let offset = self.offset(id);
            let Some(sequence) = self.table.get(id) else { return };
            let [left, right] = &mut sequence.backlogs;
            match (left.unpaired.front().copied(), right.unpaired.front().copied()) {
                (Some(l), Some(r)) => {
                    let events = self.sides[0].get(l).zip(self.sides[1].get(r));
                    let same = events.is_some_and(|(l, r)| l.event.key == r.event.key);
                    let apart = events.map_or(0, |(l, r)| r.event.time.saturating_sub(l.event.time));
                    // Times show which of several equal events is missing. At levels without times, they are
                    // used only after a difference was found, so that the verdict never depends on them.
                    if same && self.options.level != Level::Exact && self.report.is_different() {
                        let (backlogs, complete) = (&sequence.backlogs, [false; 2]);
                        let offset = self.starts[1].saturating_sub(self.starts[0]);
                        let pending = Pending { backlogs, sides: &self.sides, complete, offset };
                        if let Some((step, count)) = pending.shift(apart) {
                            (0..count).for_each(|_| self.take(id, step));
                            continue;
                        }
                    }
                    let [left, right] = &mut sequence.backlogs;
                    if same && (self.options.level != Level::Exact || apart == offset) {
                        left.unpaired.pop_front();
                        right.unpaired.pop_front();
                        sequence.window = SMALLEST_WINDOW;
                        self.pair(id, l, r);
                        continue;
                    }
                    let complete = self.sides.each_ref().map(|side| side.ended || force);
                    let pending =
                        Pending { backlogs: &sequence.backlogs, sides: &self.sides, complete, offset };
                    let mut window = if force { SMALLEST_WINDOW } else { sequence.window };
                    let steps = pending.steps(&mut window);
                    sequence.window = if steps.is_some() { SMALLEST_WINDOW } else { window };
                    let Some(steps) = steps else { return };
                    steps.into_iter().for_each(|step| self.take(id, step));
                    force = false;
                }
                (Some(_), None) if force || self.sides[1].ended => {
                    self.take(id, Step::Left);
                    force = false;
                }
                (None, Some(_)) if force || self.sides[0].ended => {
                    self.take(id, Step::Right);
                    force = false;
                }
                _ => return,
            }
        }
    }

    /// Pairs the events of an instant once both sides were read beyond it: then all equal ones are known.
    fn pump_open(&mut self) {
        let mut open = std::mem::take(&mut self.open);
        open.sort_unstable();
        open.dedup();
        open.drain(..).for_each(|id| self.pump(id, false));
        self.open = open;
    }

    /// How much later the right side is in a sequence.
    fn offset(&self, id: Id) -> i64 {
        let last = self.table.peek(id).and_then(|s| s.last_times);
        let (left, right) = last.unwrap_or((self.starts[0], self.starts[1]));
        right.saturating_sub(left)
    }

    /// Takes the next events of a sequence according to a step.
    fn take(&mut self, id: Id, step: Step) {
        let Some(sequence) = self.table.get(id) else { return };
        let [left, right] = &mut sequence.backlogs;
        let left = if step == Step::Right { None } else { left.unpaired.pop_front() };
        let right = if step == Step::Left { None } else { right.unpaired.pop_front() };
        match (left, right) {
            (Some(left), Some(right)) if step == Step::Equal => self.pair(id, left, right),
            (Some(left), Some(right)) => self.changed(id, left, right),
            (Some(left), None) => self.unpaired(id, 0, left),
            (None, Some(right)) => self.unpaired(id, 1, right),
            (None, None) => {}
        }
    }

    /// Two events correspond; only their times may differ.
    fn pair(&mut self, id: Id, left: u64, right: u64) {
        let [here, there] = &mut self.sides;
        let (Some(l), Some(r)) = (here.get_mut(left), there.get_mut(right)) else { return };
        l.state = State::Paired(right);
        r.state = State::Paired(left);
        self.report.pair(&l.event, &r.event);
        let times = (l.event.time, r.event.time);
        let action = l.event.key.action;
        let members = (l.members, r.members);
        let Some(sequence) = self.table.get(id) else { return };
        sequence.pairs += 1;
        let previous = match (sequence.last_times.replace(times), sequence.subject) {
            (None, Subject::Instance(entity, _)) => self.begins.insert(entity, times),
            (previous, _) => previous,
        };
        let previous = previous.unwrap_or((self.starts[0], self.starts[1]));
        let differs = match self.options.level {
            Level::Exact => times.0 != times.1,
            Level::Order => false,
            Level::Timing => {
                let tolerance = self.tolerances.get(&action).copied().unwrap_or(self.options.tolerance);
                !tolerance.allows(times, previous)
            }
        };
        if differs {
            self.report_pair(DifferenceKind::Time, id, left, right);
        }
        self.settle_all(members);
    }

    /// Reports a difference between two existing events.
    pub(super) fn report_pair(&mut self, kind: DifferenceKind, id: Id, left: u64, right: u64) {
        let view = View { sides: &self.sides, table: &self.table, words: &self.words, origins: self.origins };
        let [here, there] = &self.sides;
        let events = [
            here.get(left).map(|slot| (left, &slot.event)),
            there.get(right).map(|slot| (right, &slot.event)),
        ];
        self.report.difference(&view, kind, id, events);
    }

    /// Two events are one that has changed; their positions do not count any more.
    fn changed(&mut self, id: Id, left: u64, right: u64) {
        self.report_pair(DifferenceKind::Changed, id, left, right);
        let mut members = [[None; 3]; 2];
        for ((side, ordinal), members) in self.sides.iter_mut().zip([left, right]).zip(&mut members) {
            if let Some(slot) = side.get_mut(ordinal) {
                slot.state = State::Out;
                *members = slot.members;
            }
        }
        let [left, right] = members;
        self.settle_all((left, right));
    }

    fn unpaired(&mut self, id: Id, side: usize, ordinal: u64) {
        let view = View { sides: &self.sides, table: &self.table, words: &self.words, origins: self.origins };
        let Some(slot) = self.sides.get(side).and_then(|s| s.get(ordinal)) else { return };
        let place = self.table.peek(id).map_or(0, |s| s.pairs);
        self.report.unpaired(&view, (id, place), side, ordinal, &slot.event);
        let members = slot.members;
        if let Some(slot) = self.sides.get_mut(side).and_then(|s| s.get_mut(ordinal)) {
            slot.state = State::Out;
        }
        self.settle_all((members, members));
    }

    /// Keeps a side within the limit: decides on the event that has waited longest, here or, if only the
    /// verdict on positions is missing, there.
    fn relieve(&mut self, side: usize) {
        let is_over =
            |sides: &[Side; 2]| sides.get(side).is_some_and(|s| s.is_over(self.options.pending_limit));
        if is_over(&self.sides) {
            self.pump_open();
        }
        while is_over(&self.sides) {
            let waiting = |side: usize| self.sides.get(side)?.oldest_waiting()?.members[0];
            let Some(home) = waiting(side).or_else(|| waiting(1 - side)) else { return };
            self.report.counts.given_up += 1;
            self.pump(home, true);
            if let Some(side) = self.sides.get_mut(side) {
                side.trim();
            }
        }
    }

    /// No more events will come: decides on everything that waits.
    fn end(&mut self) {
        self.sides.iter_mut().for_each(|side| side.ended = true);
        self.report.hold();
        for id in self.table.ids() {
            self.pump(id, false);
        }
        for id in self.table.ids() {
            self.settle(id);
        }
        self.report.join_all(&View {
            sides: &self.sides,
            table: &self.table,
            words: &self.words,
            origins: self.origins,
        });
    }
}

fn line(sides: &[Side; 2], words: &Words, origins: [i64; 2], side: usize, ordinal: u64) -> Line {
    let event = sides.get(side).and_then(|s| s.get(ordinal)).map(|slot| &slot.event);
    event.map_or_else(
        || Line { place: crate::btf::Place::default(), text: String::new() },
        |e| Line { place: e.place, text: words.line(e, origins.get(side).copied().unwrap_or(0)) },
    )
}
