//! Every system event follows the charts and the rules of BTF (see `checker`): processes, runnables and
//! semaphores change state only along their charts; instances count up without a gap; no core has two
//! processes; runnables are suspended before their process leaves its core, innermost first, and resumed
//! after it, outermost first; time never decreases. The mapper's own count of violations must agree.

use super::checker::Checker;
use super::{Event, corpus, none};

#[test]
fn every_event_follows_the_charts() {
    let Some(recordings) = corpus() else { return };
    for recording in recordings {
        none(&recording.name, &Checker::new(recording.from_start).check(&recording.events));
        eprintln!("{}: {} events", recording.name, recording.events.len());
    }
}

/// The checker is not blind: each of these makes a whole recording wrong.
#[test]
fn the_checker_sees_what_is_wrong() {
    let Some(recordings) = corpus() else { return };
    for recording in recordings.iter().filter(|r| r.from_start) {
        for (kind, action) in [
            ("T", "activate"),
            ("T", "start"),
            ("T", "preempt"),
            ("T", "resume"),
            ("T", "terminate"),
            ("T", "release"),
            ("T", "poll"),
            ("T", "park"),
            ("T", "poll_parking"),
            ("T", "release_parking"),
            ("T", "mtalimitexceeded"),
            ("I", "start"),
            ("I", "terminate"),
            ("R", "start"),
            ("R", "suspend"),
            ("R", "resume"),
            ("R", "terminate"),
            ("SEM", "lock"),
            ("SEM", "unlock"),
            ("SEM", "assigned"),
            ("SEM", "full"),
            ("STI", "trigger"),
        ] {
            // The middle one: what is missing near the end may have no consequences any more.
            let all: Vec<usize> = positions(&recording.events, kind, action);
            let Some(n) = all.get(all.len() / 2).filter(|_| all.len() > 4) else { continue };
            let mut events = recording.events.clone();
            let removed = events.remove(*n);
            let problems = Checker::new(true).check(&events);
            assert!(!problems.is_empty(), "{}: nobody missed {}", recording.name, removed.line());
        }
        let mut events = recording.events.clone();
        let middle = events.len() / 2;
        events[middle].time -= 10_000_000;
        assert!(!Checker::new(true).check(&events).is_empty(), "{}: time went back", recording.name);
    }
}

fn positions(events: &[Event], kind: &str, action: &str) -> Vec<usize> {
    let wanted = events.iter().enumerate().filter(|(_, e)| e.kind == kind && e.action == action);
    wanted.map(|(n, _)| n).collect()
}
