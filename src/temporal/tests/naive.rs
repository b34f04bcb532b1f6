//! The definitions of the templates, over whole lists, in quadratic time. It shares no code with the monitor
//! but the types of what it is asked and answers.

use super::super::{Counts, During, Judgement, Symbol, Template, Violation, Witness};
use super::{Record, Recording};

/// A recording with the ends of its gaps as items. Slot `k` is what is before item `k`.
pub struct Naive {
    begin: i64,
    end: i64,
    items: Vec<Item>,
    gaps: Vec<Gap>,
    places: Vec<(Symbol, Vec<u32>)>,
}

struct Item {
    time: i64,
    record: Option<(Record, u64)>,
}

/// Between two items.
struct Gap {
    begin: i64,
    end: i64,
    core: Option<u32>,
    open: usize,
    close: usize,
}

/// Whether an interval may be in force, and whether it may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct May {
    be: bool,
    not: bool,
}

const YES: May = May { be: true, not: false };
const NO: May = May { be: false, not: true };
const BOTH: May = May { be: true, not: true };

fn apart(from: i64, to: i64) -> i128 {
    i128::from(to) - i128::from(from)
}

#[derive(Default)]
struct Answer {
    counts: Counts,
    violations: Vec<Violation>,
}

impl Answer {
    fn violated(&mut self, begin: i64, end: i64, witnesses: &[Option<Witness>]) {
        self.counts.violated += 1;
        self.violations.push(Violation {
            begin,
            end,
            witnesses: witnesses.iter().flatten().copied().collect(),
        });
    }

    fn open(&mut self, is_missing: bool) {
        self.counts.open += 1;
        self.counts.missing += u64::from(is_missing);
    }

    fn unknown(&mut self, is_missing: bool) {
        self.counts.unknown += 1;
        self.counts.missing += u64::from(is_missing);
    }
}

impl Naive {
    pub fn new(recording: &Recording) -> Self {
        let (mut items, mut gaps, mut index) = (Vec::new(), Vec::<Gap>::new(), 0);
        for (time, record) in &recording.records {
            let mut over: Vec<_> =
                gaps.iter_mut().filter(|gap| gap.close == usize::MAX && gap.end <= *time).collect();
            over.sort_by_key(|gap| gap.end);
            for gap in over {
                gap.close = items.len();
                items.push(Item { time: gap.end, record: None });
            }
            if let Record::Gap(end, core) = *record {
                gaps.push(Gap { begin: *time, end, core, open: items.len(), close: usize::MAX });
                items.push(Item { time: *time, record: None });
            } else {
                items.push(Item { time: *time, record: Some((*record, index)) });
                index += 1;
            }
        }
        let mut over: Vec<_> =
            gaps.iter_mut().filter(|gap| gap.close == usize::MAX && gap.end <= recording.end).collect();
        over.sort_by_key(|gap| gap.end);
        for gap in over {
            gap.close = items.len();
            items.push(Item { time: gap.end, record: None });
        }
        let (begin, end, places) = (recording.begin, recording.end, recording.places.clone());
        Self { begin, end, items, gaps, places }
    }

    pub fn judge(&self, template: &Template) -> Judgement {
        let Answer { counts, violations } = match *template {
            Template::Response { a, b, within } => self.response(a, b, within),
            Template::Rate { a, at_most, window } => self.rate(a, at_most, window),
            Template::Alternation { a, b } => self.alternation(a, b),
            Template::Absence { a, during } => self.absence(a, during),
            Template::Hold { start, held, until } => self.hold(start, held, until),
        };
        Judgement { verdict: counts.verdict(), counts, violations }
    }

    /// The gaps that may hide a symbol, between the items `after` and `before`.
    fn gaps_of(&self, symbol: Symbol, after: Option<usize>, before: usize) -> impl Iterator<Item = &Gap> {
        let place = self.places.iter().find(|(placed, _)| *placed == symbol);
        self.gaps.iter().filter(move |gap| {
            let is_place = match (place, gap.core) {
                (Some((_, cores)), Some(core)) => cores.contains(&core),
                _ => true,
            };
            is_place && gap.open < before && after.is_none_or(|after| gap.close > after)
        })
    }

    fn hides_at(&self, symbol: Symbol, slot: usize) -> bool {
        self.gaps_of(symbol, slot.checked_sub(1), slot).any(|gap| gap.close >= slot)
    }

    fn is(&self, item: usize, symbol: Symbol) -> bool {
        matches!(self.items[item].record, Some((Record::Event(s), _)) if s == symbol)
    }

    fn all(&self, symbol: Symbol) -> Vec<usize> {
        (0..self.items.len()).filter(|i| self.is(*i, symbol)).collect()
    }

    fn witness(&self, item: usize) -> Option<Witness> {
        let Item { time, record } = &self.items[item];
        record.map(|(_, index)| Witness { time: *time, index })
    }

    fn time(&self, item: usize) -> i64 {
        self.items[item].time
    }

    fn response(&self, a: Symbol, b: Symbol, within: i64) -> Answer {
        let mut answer = Answer::default();
        let within = i128::from(within);
        let in_time = |begin: i64, after: usize| {
            self.all(b).into_iter().any(|j| j > after && apart(begin, self.time(j)) <= within)
        };
        for i in self.all(a) {
            let time = self.time(i);
            let mut hiding = self.gaps_of(b, Some(i), self.items.len());
            if in_time(time, i) {
                answer.counts.kept += 1;
            } else if apart(time, self.end) <= within {
                answer.open(true);
            } else if hiding.any(|gap| apart(time, gap.begin.max(time)) <= within) {
                answer.unknown(true);
            } else {
                answer.violated(time, time.saturating_add(within as i64), &[self.witness(i)]);
            }
        }
        for gap in self.gaps_of(a, None, self.items.len()) {
            let inside = self.all(b).into_iter().filter(|j| gap.open < *j && *j < gap.close);
            let mut hidden = inside.map(|j| (self.time(j), j)).chain([(gap.begin, gap.open)]);
            answer.counts.blind |= u64::from(hidden.any(|(time, j)| !in_time(time, j)));
        }
        answer
    }

    fn rate(&self, a: Symbol, at_most: u32, window: i64) -> Answer {
        let mut answer = Answer::default();
        let window = i128::from(window);
        for i in self.all(a) {
            let time = self.time(i);
            let inside = |other: i64| apart(time, other) < window;
            let too_many =
                self.all(a).into_iter().filter(|j| *j >= i && inside(self.time(*j))).nth(at_most as usize);
            let mut hiding = self.gaps_of(a, Some(i), self.items.len());
            if let Some(last) = too_many {
                let last_witness = self.witness(last).filter(|_| last != i);
                answer.violated(time, self.time(last), &[self.witness(i), last_witness]);
            } else if inside(self.end) {
                answer.open(false);
            } else if hiding.any(|gap| inside(gap.begin.max(time))) {
                answer.unknown(false);
            } else {
                answer.counts.kept += 1;
            }
        }
        answer.counts.blind = u64::from(self.gaps_of(a, None, self.items.len()).next().is_some());
        answer
    }

    fn alternation(&self, a: Symbol, b: Symbol) -> Answer {
        let mut answer = Answer::default();
        let mut both = [self.all(a), self.all(b)].concat();
        both.sort_unstable();
        for (n, i) in both.iter().enumerate() {
            let Some(j) = both.get(n + 1) else {
                answer.open(false);
                break;
            };
            let hides = |symbol| self.gaps_of(symbol, Some(*i), *j).next().is_some();
            let other = if self.is(*i, a) { b } else { a };
            match self.is(*i, a) == self.is(*j, a) {
                true if hides(other) => answer.unknown(true),
                true => answer.violated(self.time(*i), self.time(*j), &[self.witness(*i), self.witness(*j)]),
                false if hides(a) || hides(b) => answer.unknown(false),
                false => answer.counts.kept += 1,
            }
        }
        let hides = |symbol| self.gaps_of(symbol, None, self.items.len()).next().is_some();
        answer.counts.blind = u64::from(hides(a) || hides(b));
        answer
    }

    /// Whether an item begins an interval, and whether it ends one.
    fn bounds(&self, item: usize, during: During) -> (bool, bool) {
        match (self.items[item].record, during) {
            (Some((Record::Event(s), _)), During::Between { from, to }) => (s == from, s == to),
            (Some((Record::State(s, begins), _)), During::State(state)) if s == state => (begins, !begins),
            _ => (false, false),
        }
    }

    /// Whether gaps hide begins in a slot, and ends.
    fn hides_bounds(&self, slot: usize, during: During) -> (bool, bool) {
        match during {
            During::Between { from, to } => (self.hides_at(from, slot), self.hides_at(to, slot)),
            During::State(state) => (self.hides_at(state, slot), self.hides_at(state, slot)),
        }
    }

    /// By slot: what an interval may be, as far as what was before says; and as far as anything says.
    fn may(&self, during: During) -> (Vec<May>, Vec<May>) {
        let with_gaps = |slot: usize, may: May| {
            let (begins, ends) = self.hides_bounds(slot, during);
            let grown = May { be: may.be || begins, not: may.not || ends };
            // An interval that is in force cannot begin, and one that is not cannot end.
            if may == YES {
                May { be: true, ..grown }
            } else if may == NO {
                May { not: true, ..grown }
            } else {
                may
            }
        };
        let mut forward = vec![with_gaps(0, BOTH)];
        for item in 0..self.items.len() {
            let may = match self.bounds(item, during) {
                (true, _) => YES,
                (_, true) => NO,
                _ => forward[item],
            };
            forward.push(with_gaps(item + 1, may));
        }
        let mut all = forward.clone();
        if let During::State(_) = during {
            for slot in (0..self.items.len()).rev() {
                let hides = |slot| self.hides_bounds(slot, during).0;
                let then = match self.bounds(slot, during) {
                    (true, _) => NO,
                    (_, true) => YES,
                    _ if hides(slot + 1) => BOTH,
                    _ => all[slot + 1],
                };
                if !hides(slot) && all[slot] == BOTH {
                    all[slot] = then;
                }
            }
        }
        (forward, all)
    }

    /// Where the last gap before a slot ended that hides a state.
    fn quiet_since(&self, slot: usize, state: Symbol) -> i64 {
        let over = self.gaps_of(state, None, slot).map(|gap| gap.end);
        over.max().unwrap_or(self.begin)
    }

    fn absence(&self, a: Symbol, during: During) -> Answer {
        struct Part {
            anchor: Option<usize>,
            first: usize,
            last: usize,
            ended: bool,
        }
        let (forward, may) = self.may(during);
        let mut parts: Vec<Part> = vec![Part { anchor: None, first: 0, last: usize::MAX, ended: false }];
        for item in 0..self.items.len() {
            let (begins, ends) = self.bounds(item, during);
            let open = parts.last_mut().filter(|part| part.last == usize::MAX);
            if ends && forward[item].be {
                open.into_iter().for_each(|part| (part.last, part.ended) = (item, true));
            } else if begins && forward[item].not {
                open.into_iter().for_each(|part| part.last = item);
            }
            let open = parts.last().is_some_and(|part| part.last == usize::MAX);
            if begins && forward[item].not {
                parts.push(Part { anchor: Some(item), first: item + 1, last: usize::MAX, ended: false });
            } else if !open && forward[item + 1].be {
                parts.push(Part { anchor: None, first: item + 1, last: usize::MAX, ended: false });
            }
        }
        let mut answer = Answer::default();
        for part in &parts {
            let Part { anchor, first, last, ended } = *part;
            let to = last.min(self.items.len());
            // An `a` that begins the next interval may still be in this one.
            let inside: Vec<usize> = self.all(a).into_iter().filter(|i| first <= *i && *i <= to).collect();
            let sure = inside.iter().find(|i| may[**i] == YES);
            let doubt = inside.iter().any(|i| may[*i] == BOTH);
            let hides = (first..=to).any(|slot| may[slot].be && self.hides_at(a, slot));
            if let Some(sure) = sure {
                let anchored = anchor.and_then(|anchor| self.witness(anchor));
                if forward[*sure] == YES {
                    answer.violated(
                        anchored.unwrap().time,
                        self.time(*sure),
                        &[anchored, self.witness(*sure)],
                    );
                } else {
                    let During::State(state) = during else { panic!("only states say what was before") };
                    let since = self.quiet_since(*sure, state);
                    let witnesses = [anchored, self.witness(*sure), self.witness(last)];
                    answer.violated(since, self.time(*sure), &witnesses);
                }
            } else if doubt {
                answer.unknown(true);
            } else if last == usize::MAX {
                match anchor {
                    Some(_) => answer.open(false),
                    None => answer.counts.blind = 1,
                }
            } else if anchor.is_some() || (ended && may[last] == YES) {
                if hides { answer.unknown(false) } else { answer.counts.kept += 1 }
            } else if hides {
                answer.counts.blind = 1;
            }
        }
        answer
    }

    /// The ticks of a slot: from, to (not included).
    fn span(&self, slot: usize) -> (i64, i64) {
        let from = if slot == 0 { self.begin } else { self.time(slot - 1) };
        (from, if slot == self.items.len() { self.end } else { self.time(slot) })
    }

    fn hold(&self, start: Symbol, held: Symbol, until: Symbol) -> Answer {
        let during = During::State(held);
        let (forward, may) = self.may(during);
        let mut answer = Answer::default();
        let is_long = |slot: &usize| self.span(*slot).0 < self.span(*slot).1;
        let mut free = 0;
        for i in self.all(start) {
            if i < free {
                continue;
            }
            let may_be_over = |slot: usize| self.gaps_of(until, Some(i), slot).next().is_some();
            let end = (i + 1..self.items.len())
                .find(|j| self.is(*j, until) || (self.is(*j, start) && may_be_over(*j)));
            let last = end.unwrap_or(self.items.len());
            free = last;
            let slots: Vec<usize> = (i + 1..=last).filter(is_long).collect();
            let sure = slots.iter().find(|slot| may[**slot] == NO && !may_be_over(**slot));
            let after = |slot: usize, begins: bool| {
                let mut all: Vec<usize> = (0..self.items.len()).collect();
                if !begins {
                    all.reverse();
                }
                all.into_iter()
                    .filter(|j| if begins { *j >= slot } else { *j < slot })
                    .find(|j| self.bounds(*j, during) == (begins, !begins))
            };
            if let Some(slot) = sure {
                let by = after(*slot, forward[*slot] != NO).and_then(|j| self.witness(j));
                answer.violated(self.time(i), self.span(*slot).0, &[self.witness(i), by]);
            } else if slots.iter().any(|slot| may[*slot] == NO) {
                answer.unknown(true);
            } else if end.is_none() {
                answer.open(forward[self.items.len()] == NO);
            } else if slots.iter().any(|slot| may[*slot] == BOTH) {
                answer.unknown(false);
            } else {
                answer.counts.kept += 1;
            }
        }
        for gap in self.gaps_of(start, None, self.items.len()) {
            let inside = self.all(until).into_iter().filter(|j| gap.open < *j && *j < gap.close);
            for hidden in inside.chain([gap.open]) {
                let end = (hidden + 1..self.items.len()).find(|j| self.is(*j, until));
                let last = end.unwrap_or(self.items.len());
                let not_held = (hidden + 1..=last).filter(is_long).any(|slot| may[slot] != YES);
                answer.counts.blind |= u64::from(end.is_none() || not_held);
            }
        }
        answer
    }
}
