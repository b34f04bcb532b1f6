//! Recordings of which it is known what really happened: certain verdicts are never wrong. Not for counts.

use super::super::{During, Symbol, Template, Verdict};
use super::{Random, Record, Recording, templates};

/// All that happened, and which part of it is in the recording.
pub struct Truth {
    pub all: Vec<(i64, Record)>,
    /// Within the edges: from, to.
    pub part: (usize, usize),
    pub recording: Recording,
}

pub const CORES: [u32; 6] = [0, 1, 0, 1, 0, 1];

fn truth(random: &mut Random) -> Truth {
    let (mut time, mut all) = (0, Vec::new());
    let mut held = [random.chance(50), random.chance(50)];
    for _ in 0..random.below(30) {
        time += random.one_of(&[0, 0, 1, 1, 2, 3]);
        let record = match random.below(5) {
            0 | 1 => {
                let state = random.below(2);
                held[state] = !held[state];
                Record::State(Symbol(4 + state as u32), held[state])
            }
            _ => Record::Event(Symbol(random.below(4) as u32)),
        };
        all.push((time, record));
    }
    let mut part = (random.below(all.len() + 1), random.below(all.len() + 1));
    if random.chance(50) {
        part = (0, all.len());
    }
    let part = (part.0.min(part.1), part.0.max(part.1));
    let begin = all.get(part.0).map_or(time, |first| first.0);
    let end = if part.1 == part.0 { begin } else { all[part.1 - 1].0 };
    let (mut records, mut gap) = (Vec::new(), None::<(i64, Option<u32>)>);
    for &(time, record) in &all[part.0..part.1] {
        gap = gap.filter(|(end, _)| *end >= time);
        if gap.is_none() && random.chance(8) {
            let core = random.one_of(&[None, Some(0), Some(1)]);
            let end = time + random.one_of(&[0, 1, 2, 4]);
            records.push((time, Record::Gap(end, core)));
            gap = Some((end, core));
        }
        let (Record::Event(symbol) | Record::State(symbol, _)) = record else { continue };
        let is_hidden = gap.is_some_and(|(_, core)| core.is_none_or(|core| core == CORES[symbol.0 as usize]));
        if is_hidden && random.chance(80) {
            continue;
        }
        records.push((time, record));
        // What is recorded at its end, ends it.
        gap = gap.filter(|(end, _)| *end > time);
    }
    let places = (0..6).map(|symbol| (Symbol(symbol), vec![CORES[symbol as usize]])).collect();
    Truth { part, recording: Recording { begin, end, records, places }, all }
}

impl Truth {
    fn is(&self, i: usize, symbol: Symbol) -> bool {
        self.all[i].1 == Record::Event(symbol)
    }

    /// Whether a state is held after that many records.
    fn held(&self, after: usize, state: Symbol) -> bool {
        let of_state = |(_, record): &(i64, Record)| match record {
            Record::State(s, begins) if *s == state => Some(*begins),
            _ => None,
        };
        let before = self.all[..after].iter().rev().find_map(of_state);
        // What it was in the beginning is what its first change says, or anything.
        before.or_else(|| self.all[after..].iter().find_map(of_state).map(|begins| !begins)).unwrap_or(false)
    }

    /// Whether a template is violated by an obligation of the recording.
    pub fn violates(&self, template: &Template) -> bool {
        let (all, n) = (&self.all, self.all.len());
        let mut inside = self.part.0..self.part.1;
        match *template {
            Template::Response { a, b, within } => inside.any(|i| {
                let answers = |j: usize| self.is(j, b) && all[j].0 - all[i].0 <= within;
                self.is(i, a) && !(i + 1..n).any(answers)
            }),
            Template::Rate { a, at_most, window } => inside.any(|i| {
                let counts = |j: &usize| self.is(*j, a) && all[*j].0 - all[i].0 < window;
                self.is(i, a) && (i..n).filter(counts).count() > at_most as usize
            }),
            Template::Alternation { a, b } => inside.any(|i| {
                let either = |j: usize| self.is(j, a) || self.is(j, b);
                either(i) && (i + 1..n).find(|j| either(*j)).is_some_and(|j| self.is(i, a) == self.is(j, a))
            }),
            // Intervals that reach into the recording, to their ends.
            Template::Absence { a, during: During::State(state) } => (self.part.0..n).any(|i| {
                let changes = |j: usize| matches!(all[j].1, Record::State(s, _) if s == state);
                self.is(i, a) && self.held(i, state) && !(self.part.1..i).any(changes)
            }),
            Template::Absence { a, during: During::Between { from, to } } => (self.part.0..n).any(|i| {
                let ended = (0..i).rev().find(|j| self.is(*j, to)).map_or(0, |j| j + 1);
                let begin = (ended..i).find(|j| self.is(*j, from));
                self.is(i, a) && begin.is_some_and(|begin| begin < self.part.1.max(1))
            }),
            Template::Hold { start, held, until } => inside.any(|i| {
                let over = (i + 1..n).find(|j| self.is(*j, until)).unwrap_or(n);
                let next = |j: usize| all.get(j).map_or(self.recording.end, |next| next.0);
                let lasts = |j: &usize| all[*j - 1].0 < next(*j);
                self.is(i, start) && (i + 1..=over).filter(lasts).any(|j| !self.held(j, held))
            }),
        }
    }
}

#[test]
fn what_is_certain_is_true() {
    let mut seen = std::collections::BTreeMap::<_, [[u64; 2]; 4]>::new();
    for seed in 0..100_000 {
        let mut random = Random(seed);
        let truth = truth(&mut random);
        let templates = templates(&mut random);
        for (n, (template, judged)) in templates.iter().zip(truth.recording.judge(&templates)).enumerate() {
            let is_violated = truth.violates(template);
            let message = || format!("seed {seed}: {template:?}\n{:?}\n{:?}", truth.all, truth.recording);
            match judged.verdict {
                Verdict::Kept => assert!(!is_violated, "{}", message()),
                Verdict::Violated => assert!(is_violated, "{}", message()),
                Verdict::MayStillBeKept | Verdict::MayStillBeViolated => {}
            }
            seen.entry(n).or_default()[judged.verdict as usize][usize::from(is_violated)] += 1;
        }
    }
    // Every presumption was right and wrong in some cases: it is no certainty that was missed. Of `Rate` none
    // is that it may still be kept, as what is hidden only adds to it.
    for (n, [.., kept, violated]) in seen {
        let is_rate = n == 4;
        assert!(if is_rate { kept == [0, 0] } else { kept.iter().all(|count| *count > 0) }, "{n}: {kept:?}");
        assert!(violated.iter().all(|count| *count > 0), "{n}: {violated:?}");
    }
}
