//! A million events: a swapped pair is found, memory stays bounded, and given-up events are reported.

use super::super::{CompareOptions, Level, compare};
use crate::btf::{Place, Record, Records};
use crate::error::Result;
use std::fmt::Write as _;

/// Twelve events per period, on two cores. `swapped`: this event is one place later; `missing`: it is
/// missing.
#[derive(Default)]
struct Generated {
    next: u64,
    events: u64,
    swapped: Option<u64>,
    missing: Option<u64>,
    line: String,
}

impl Records for Generated {
    fn next(&mut self) -> Result<Option<(Place, Record<'_>)>> {
        if self.missing == Some(self.next) {
            self.next += 1;
        }
        if self.next >= self.events {
            return Ok(None);
        }
        let seq = self.next;
        self.next += 1;
        let n = match self.swapped {
            Some(s) if s == seq => seq + 1,
            Some(s) if s + 1 == seq => s,
            _ => seq,
        };
        let (period, step) = (n / 12, n % 12);
        let core = step % 2;
        let instance = Some(period as i64);
        self.line.clear();
        let (source, source_instance, kind, action) = match step / 2 {
            0 => ("STI", instance, "T", "activate"),
            1 => ("Core", Some(0), "T", "start"),
            2 => ("Task", instance, "R", "start"),
            3 => ("Task", instance, "SIG", "write"),
            4 => ("Task", instance, "R", "terminate"),
            _ => ("Core", Some(0), "T", "terminate"),
        };
        let target = if kind == "T" { "Task" } else { kind };
        let _ = write!(self.line, "{source}_{core} {target}_{core}");
        let (source, target) = self.line.split_once(' ').unwrap_or_default();
        let target_instance = if kind == "SIG" { Some(0) } else { instance };
        let record = Record {
            time: seq as i64 * 10,
            source,
            source_instance,
            target_type: kind,
            target,
            target_instance,
            action,
            note: (kind == "SIG").then_some("17"),
        };
        Ok(Some((Place { seq: seq as i64, line: Some(seq + 1) }, record)))
    }
}

fn generated(events: u64) -> Generated {
    Generated { events, ..Generated::default() }
}

#[test]
fn a_swapped_pair_in_a_million_events_is_found() {
    // Event 12·50,000 + 3 is the start of a task on core 1; two later begins its runnable.
    let at = 600_003;
    for level in [Level::Exact, Level::Order] {
        let options = CompareOptions { level, ..CompareOptions::default() };
        let mut right = Generated { swapped: Some(at), ..generated(1_000_000) };
        let result = compare(&mut generated(1_000_000), &mut right, &options).unwrap();
        assert_eq!(result.left_events, 1_000_000);
        // The neighbours are on different cores: no difference in a partial order.
        assert_eq!(result.semantic, u64::from(level == Level::Exact));
        assert_eq!(result.equal, level == Level::Order);
        if let Some(first) = result.first {
            let lines = [first.difference.left, first.difference.right].map(|l| l.unwrap().place.line);
            assert!(lines.contains(&Some(at + 1)) && lines.contains(&Some(at + 2)), "{lines:?}");
        }
    }
}

#[test]
fn a_swapped_pair_of_one_sequence_is_found_at_order() {
    let even = |swapped| {
        let mut lines = Vec::new();
        let mut all = generated(240_000);
        while let Some((_, r)) = all.next().unwrap() {
            if r.source.ends_with("_0") {
                lines.push(super::Owned::parse(&format!(
                    "{},{},{},{},{},{},{}",
                    r.time,
                    r.source,
                    r.source_instance.unwrap(),
                    r.target_type,
                    r.target,
                    r.target_instance.unwrap(),
                    r.action
                )));
            }
        }
        if let Some(n) = swapped {
            lines.swap(n, n + 1);
        }
        lines
    };
    for n in [0, 59_996, 59_999, 60_001, 119_998] {
        let result = super::at(Level::Order, &even(None), &even(Some(n)));
        // Activation and start of different instances share no sequence.
        let apart = n % 6 == 5;
        assert_eq!((result.semantic, result.equal), (u64::from(!apart), apart), "{n} {:#?}", result.first);
        if let Some(first) = result.first {
            let line = first.difference.left.unwrap().place.line.unwrap() as usize;
            assert!(line == n + 1 || line == n + 2);
            let sequence = first.difference.sequence;
            let instance = format!(" instance {}", n / 6);
            assert!(sequence.ends_with(&instance) || sequence.starts_with("core"), "{n}: {sequence}");
        }
    }
}

#[test]
fn what_waits_too_long_is_given_up() {
    for level in [Level::Exact, Level::Order] {
        let options = CompareOptions { level, pending_limit: 1000, ..CompareOptions::default() };
        let mut right = Generated { missing: Some(30_011), ..generated(100_000) };
        let result = compare(&mut generated(100_000), &mut right, &options).unwrap();
        assert_eq!((result.only_left, result.only_right, result.semantic), (1, 0, 0));
        assert_eq!(result.first.unwrap().difference.left.unwrap().place.line, Some(30_012));
        assert_eq!(result.given_up, u64::from(level == Level::Order));
    }
}

#[test]
fn traces_without_anything_in_common_end() {
    let mut left = generated(50_000);
    let mut other: Vec<super::Owned> = Vec::new();
    for n in 0..50_000 {
        other.push(super::Owned::parse(&format!("{},X,{n},R,Y_{},{n},start,{n}", n * 10, n % 7)));
    }
    for level in [Level::Exact, Level::Order] {
        let options = CompareOptions { level, pending_limit: 5000, ..CompareOptions::default() };
        left.next = 0;
        let result = compare(&mut left, &mut super::Trace(&other, 0), &options).unwrap();
        assert_eq!(result.compared, 0);
        assert_eq!(result.only_left + result.semantic, 50_000);
    }
}
