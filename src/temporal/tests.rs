//! Templates by hand, against a naive monitor, and against what really happened. Not for speed.

mod by_hand;
mod completions;
mod naive;
mod random;
mod truth;

use super::{During, Judgement, Monitor, Symbol, Template};

/// What a monitor is fed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Record {
    Event(Symbol),
    State(Symbol, bool),
    /// To that time, of that core or all.
    Gap(i64, Option<u32>),
}

/// A recording: from, to, records with times; symbols that happen on some cores only.
#[derive(Debug, Clone)]
struct Recording {
    begin: i64,
    end: i64,
    records: Vec<(i64, Record)>,
    places: Vec<(Symbol, Vec<u32>)>,
}

impl Recording {
    fn judge(&self, templates: &[Template]) -> Vec<Judgement> {
        let mut monitor = Monitor::new(templates, self.begin).unwrap();
        self.places.iter().for_each(|(symbol, cores)| monitor.place(*symbol, cores));
        for (time, record) in &self.records {
            match record {
                Record::Event(symbol) => monitor.event(*time, *symbol).unwrap(),
                Record::State(state, begins) => monitor.state(*time, *state, *begins).unwrap(),
                Record::Gap(end, core) => monitor.gap(*time, *end, *core).unwrap(),
            }
        }
        monitor.finish(self.end)
    }
}

/// Random numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// Less than `end`.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Templates of all kinds over events 0 to 3 and states 4 and 5.
fn templates(random: &mut Random) -> Vec<Template> {
    let mut event = || Symbol(random.below(4) as u32);
    let (a, b) = (event(), event());
    let other = Symbol((a.0 + 1) % 4);
    let c = [0, 1, 2].map(Symbol).into_iter().find(|c| ![a, b].contains(c)).unwrap();
    let state = Symbol(4 + random.below(2) as u32);
    let time = random.one_of(&[0, 1, 2, 3, 5, 8, i64::MAX]);
    let at_most = random.below(4) as u32;
    vec![
        Template::Response { a, b, within: time },
        Template::Response { a, b: other, within: time },
        Template::Absence { a, during: During::Between { from: b, to: c } },
        Template::Absence { a, during: During::State(state) },
        Template::Rate { a, at_most, window: time.max(1) },
        Template::Alternation { a, b: other },
        Template::Hold { start: a, held: state, until: b },
        Template::Hold { start: a, held: state, until: other },
    ]
}
