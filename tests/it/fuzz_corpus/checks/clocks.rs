//! Promises of the files of clocks, and of the clocks that messages lead to.

use std::path::Path;

use btfdb::TimeScale;
use btfdb::internals::clocks::{Alignment, ClocksFile, Limit, Limits};

use super::is_located;

const FILE: &str = "v/clocks.toml";

/// A file of clocks is refused with a place, or has two clocks at least, one of them the reference, and what
/// it gives is in the unit that was asked for.
pub fn clocks_toml(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let file = match ClocksFile::parse(&text, Path::new(FILE)) {
        Ok(file) => file,
        Err(error) => return is_located(&error, FILE, &text),
    };
    assert!(file.clock.len() >= 2 && file.reference() < file.clock.len());
    assert!((0.0..=1e-4).contains(&file.wander().unwrap()));
    for clock in 0..file.clock.len() {
        assert!(!file.ecu(clock).contains(['\n', ',']));
        for scale in [TimeScale::Ps, TimeScale::Ns, TimeScale::S] {
            match file.given(clock, scale) {
                Ok(Some(given)) => {
                    assert!(given.error >= 0 && given.rate.abs() <= 0.1 && clock != file.reference());
                    if let Ok(aligned) = Alignment::given(given.offset, given.rate, given.error, given.offset)
                    {
                        assert_eq!(aligned.aligned(given.offset), 0);
                    }
                }
                Ok(None) => {}
                Err(error) => is_located(&error, FILE, &text),
            }
        }
    }
}

/// Any messages are refused, or lead to a clock that keeps the order of times, with no effect before its
/// cause but of messages that are refused, and with its own times inside its bounds.
pub fn clock_messages(data: &[u8]) {
    let mut limits = Limits::default();
    let (mut reference, mut drift) = (0i64, 0i64);
    for bytes in data.chunks_exact(5) {
        let [kind, wait, more, a, b] = bytes else { return };
        reference = reference.saturating_add(i64::from(*wait) << (more % 52));
        drift = drift.saturating_add(i64::from(*a) - 128);
        let off = i64::from(*b) << (kind >> 4);
        let local = |off: i64| reference.saturating_add(drift).saturating_add(off);
        if kind % 2 == 0 {
            limits.at_most.push(Limit { reference, sure: reference, local: local(off) });
        } else {
            limits.at_least.push(Limit { reference, sure: reference, local: local(-off) });
        }
    }
    let span = (-1000, reference);
    let Ok((clock, refused)) = Alignment::fitted(limits.clone(), 2e-6, span) else { return };
    let mut times: Vec<i64> = limits.at_most.iter().chain(&limits.at_least).map(|l| l.local).collect();
    times.sort_unstable();
    let aligned: Vec<i64> = times.iter().map(|time| clock.aligned(*time)).collect();
    assert!(aligned.is_sorted(), "{aligned:?}");
    let is_kept = |limit: &&Limit| !refused.contains(limit);
    for limit in limits.at_most.iter().filter(is_kept) {
        assert!(clock.aligned(limit.local) >= limit.reference, "{limit:?} {clock:?}");
    }
    for limit in limits.at_least.iter().filter(is_kept) {
        assert!(clock.aligned(limit.local) <= limit.reference, "{limit:?} {clock:?}");
    }
    assert!(clock.bounds().is_sorted_by_key(|bound| bound.from));
    assert!(clock.bounds().iter().all(|bound| bound.early >= 0 && bound.late >= 0), "{clock:?}");
}
