//! Compares the events with those of a prototype of the rules, which was written before the mapper and
//! independently of it. The prototype is a cross-check and not the truth, but at present there is no
//! difference.

use super::{corpus, none};

#[test]
fn the_events_are_those_of_the_prototype_in_its_order() {
    let Some(recordings) = corpus() else { return };
    for recording in recordings {
        let Ok(text) = std::fs::read_to_string(recording.folder.join("draft_expected.btf")) else { continue };
        let drafted: Vec<&str> = text.lines().filter(|l| !l.starts_with('#')).collect();
        let mapped: Vec<String> = recording.events.iter().map(super::Event::line).collect();
        let longer = drafted.len().max(mapped.len());
        let line = |n: usize| (drafted.get(n).copied(), mapped.get(n).map(String::as_str));
        let differ = (0..longer).map(|n| (n, line(n))).filter(|(_, (a, b))| a != b);
        let differences: Vec<String> =
            differ.map(|(n, (a, b))| format!("event {n}: drafted {a:?}, mapped {b:?}")).collect();
        eprintln!("{}: {} events", recording.name, mapped.len());
        none(&recording.name, &differences);
    }
}
