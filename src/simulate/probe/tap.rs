//! What reaches the exports of a core, and with which times: overflows, a start in the middle, drift and
//! jitter. Not how records are written (see `form`).

use super::options::ProbeOptions;
use crate::simulate::model::Model;
use crate::simulate::random_numbers::RandomNumbers;

/// How long an overflow lasts, in ns.
const OVERFLOW: (i64, i64) = (20_000, 2_000_000);

/// What becomes of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is recorded, with this time.
    Kept(i64),
    /// It is lost, as the first one of an overflow, at this time.
    Overflow(i64),
    /// It is lost, or before the recording begins.
    Missing,
}

/// The tap of the probe on a core. Records come in the order of time.
pub struct Tap {
    begin: i64,
    clock: Clock,
    overflows: Overflows,
}

impl Tap {
    /// That of a core of a model.
    pub fn new(model: &Model, core: usize, options: &ProbeOptions) -> Self {
        let name = model.cores.get(core).map_or("", |core| &core.name);
        // No name of a model has a blank.
        let random = |what: &str| RandomNumbers::stream(model.seed, &format!("{what} {name}"));
        let drift = options.drift.saturating_mul(core as i64);
        Self {
            begin: options.begin,
            clock: Clock { drift, jitter: options.jitter, random: random("jitter"), now: 0, shown: 0 },
            overflows: Overflows::new(
                options.overflows,
                (options.begin, model.duration),
                random("overflows"),
            ),
        }
    }

    /// What becomes of a record at this time.
    pub fn fate(&mut self, time: i64) -> Fate {
        if time < self.begin {
            return Fate::Missing;
        }
        let shown = self.clock.show(time);
        if time < self.overflows.until {
            Fate::Missing
        } else if time >= self.overflows.next {
            self.overflows.begin(time);
            Fate::Overflow(shown)
        } else {
            Fate::Kept(shown)
        }
    }
}

/// The clock of a core.
struct Clock {
    /// Millionths by which it is fast.
    drift: i64,
    jitter: i64,
    random: RandomNumbers,
    /// The right time of the last record, and what it shows for it.
    now: i64,
    shown: i64,
}

impl Clock {
    /// What the clock shows. Later records have later times, so that it does not mix them up.
    fn show(&mut self, time: i64) -> i64 {
        if self.drift == 0 && self.jitter == 0 {
            return time;
        }
        let fast = i128::from(time) * i128::from(self.drift);
        let fast = i64::try_from(fast.div_euclid(1_000_000)).unwrap_or_default();
        let late = if self.jitter > 0 { self.random.between(0, self.jitter) } else { 0 };
        let least = self.shown + i64::from(time > self.now);
        self.now = time;
        self.shown = time.saturating_add(fast).saturating_add(late).max(least);
        self.shown
    }
}

/// Where a core loses records: one stretch in each of so many spans of the same length.
struct Overflows {
    random: RandomNumbers,
    /// Spans that follow.
    left: u32,
    /// The begin of the first of them, and their length.
    span: i64,
    length_of_span: i64,
    /// When the next overflow begins at the earliest, and its length.
    next: i64,
    length: i64,
    /// The end of the last one.
    until: i64,
}

impl Overflows {
    fn new(count: u32, (begin, end): (i64, i64), random: RandomNumbers) -> Self {
        let length_of_span = end.saturating_sub(begin) / i64::from(count.max(1));
        let (next, length, until) = (i64::MAX, 0, i64::MIN);
        let mut all = Self { random, left: count, span: begin, length_of_span, next, length, until };
        all.choose();
        all
    }

    /// Chooses the next one. Half of a span is not lost.
    fn choose(&mut self) {
        self.next = i64::MAX;
        if self.left == 0 || self.length_of_span < 2 {
            return;
        }
        let longest = OVERFLOW.1.min(self.length_of_span / 2);
        let shortest = OVERFLOW.0.min(longest);
        // Short ones are more frequent.
        let longest = self.random.between(shortest, longest);
        self.length = self.random.between(shortest, longest);
        let latest = self.length_of_span - self.length;
        self.next = self.span.saturating_add(self.random.between(0, latest));
        self.span = self.span.saturating_add(self.length_of_span);
        self.left -= 1;
    }

    /// The FIFO overflows at this time.
    fn begin(&mut self, time: i64) {
        self.until = time.saturating_add(self.length);
        self.choose();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::random;

    fn model() -> Model {
        let duration = Some(50_000_000);
        random::model(3, &random::Options { cores: Some(3), duration, ..random::Options::default() })
    }

    /// What becomes of records every 10 ns, on a core.
    fn fates(core: usize, options: &ProbeOptions) -> Vec<(i64, Fate)> {
        let model = model();
        let mut tap = Tap::new(&model, core, options);
        (0..model.duration / 10).map(|n| (10 * n, tap.fate(10 * n))).collect()
    }

    fn kept(fates: &[(i64, Fate)]) -> Vec<(i64, i64)> {
        let kept = |(time, fate): &(i64, Fate)| match fate {
            Fate::Kept(shown) => Some((*time, *shown)),
            _ => None,
        };
        fates.iter().filter_map(kept).collect()
    }

    #[test]
    fn everything_is_kept_by_default() {
        let all = kept(&fates(1, &ProbeOptions::default()));
        assert!(all.len() == 5_000_000 && all.iter().all(|(time, shown)| time == shown));
    }

    #[test]
    fn so_many_stretches_are_lost() {
        let options = ProbeOptions { overflows: 20, ..ProbeOptions::default() };
        let all = fates(0, &options);
        let first: Vec<_> = all.iter().filter(|(_, fate)| matches!(fate, Fate::Overflow(_))).collect();
        assert_eq!(first.len(), 20);
        for (place, (time, fate)) in first.iter().enumerate() {
            assert_eq!(*fate, Fate::Overflow(*time));
            let span = 2_500_000 * place as i64..2_500_000 * (place as i64 + 1);
            let after = all.iter().skip(*time as usize / 10 + 1);
            let lost = after.take_while(|(_, fate)| *fate == Fate::Missing).count() as i64 + 1;
            assert!(span.contains(time) && span.contains(&(time + 10 * lost - 10)), "{time} {lost}");
            assert!((2_000..125_001).contains(&lost), "{lost}");
        }
        // The same on every run, and elsewhere on another core.
        assert_eq!(all, fates(0, &options));
        assert_ne!(all, fates(1, &options));
    }

    #[test]
    fn an_overflow_waits_for_a_record_to_lose() {
        let options = ProbeOptions { overflows: 1, ..ProbeOptions::default() };
        let mut tap = Tap::new(&model(), 0, &options);
        assert_eq!(
            [0, 49_999_999, 49_999_999].map(|time| tap.fate(time)),
            [Fate::Kept(0), Fate::Overflow(49_999_999), Fate::Missing]
        );
        // More overflows than time.
        let options = ProbeOptions { overflows: u32::MAX, ..ProbeOptions::default() };
        assert_eq!(kept(&fates(0, &options)).len(), 5_000_000);
    }

    #[test]
    fn a_recording_begins_in_the_middle() {
        let options = ProbeOptions { begin: 1_005, ..ProbeOptions::default() };
        let all = kept(&fates(2, &options));
        assert_eq!((all.first(), all.len()), (Some(&(1_010, 1_010)), 5_000_000 - 101));
    }

    #[test]
    fn clocks_drift_from_core_to_core() {
        let last = |core, drift| {
            let all = kept(&fates(core, &ProbeOptions { drift, ..ProbeOptions::default() }));
            assert!(all.windows(2).all(|pair| pair[0].1 < pair[1].1));
            all.last().unwrap().1
        };
        assert_eq!([last(0, 100), last(1, 100), last(2, 100)], [49_999_990, 50_004_989, 50_009_989]);
        assert_eq!([last(0, -100), last(2, -100)], [49_999_990, 49_989_990]);
    }

    #[test]
    fn times_jitter_and_stay_in_order() {
        let options = ProbeOptions { jitter: 1_000, ..ProbeOptions::default() };
        let all = kept(&fates(1, &options));
        assert!(all.windows(2).all(|pair| pair[0].1 < pair[1].1));
        let late = |(time, shown): &(i64, i64)| shown - time;
        let (min, max) = (all.iter().map(late).min().unwrap(), all.iter().map(late).max().unwrap());
        assert!((0..1_000).contains(&min) && (990..=1_100).contains(&max), "{min} {max}");
        // Far apart, each is as probable.
        let mut tap = Tap::new(&model(), 1, &options);
        let late = (1..5_000).map(|n| match tap.fate(10_000 * n) {
            Fate::Kept(shown) => shown - 10_000 * n,
            fate => panic!("{fate:?}"),
        });
        let mean = late.sum::<i64>() / 5_000;
        assert!((480..520).contains(&mean), "{mean}");
        // Records of one instant may have one time.
        assert!((0..100).any(|_| tap.fate(49_999_999) == tap.fate(49_999_999)));
    }
}
