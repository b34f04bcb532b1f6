//! Properties of all traces: a trace equals itself, an interleaving that keeps the sequences is equal, a
//! change is found.

use super::super::{CompareOptions, Level, Tolerance};
use super::{Owned, at, with};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Any record, from a small set of names so that they coincide.
fn record() -> impl Strategy<Value = Owned> {
    let name = || prop::sample::select(vec!["C_0", "C_1", "T_1", "T_2", "S", "SIM", ""]);
    let kind = prop::sample::select(vec!["T", "I", "ISR", "R", "STI", "SIG", "SEM", "C", "IB", "x"]);
    let action = prop::sample::select(vec![
        "activate",
        "start",
        "resume",
        "preempt",
        "terminate",
        "trigger",
        "suspend",
        "write",
        "release",
        "?",
    ]);
    let instance = || prop::option::weighted(0.9, -1..3_i64);
    (-5..20_i64, name(), instance(), kind, name(), instance(), action, prop::option::of(0..2_u8)).prop_map(
        |(time, source, source_instance, kind, target, target_instance, action, note)| Owned {
            time,
            source: source.into(),
            source_instance,
            kind: kind.into(),
            target: target.into(),
            target_instance,
            action: action.into(),
            note: note.map(|n| n.to_string()),
        },
    )
}

fn records() -> impl Strategy<Value = Vec<Owned>> {
    prop::collection::vec(record(), 0..60)
}

fn by_meaning(e: &Owned) -> Owned {
    let kind = if e.kind == "ISR" { "I".into() } else { e.kind.clone() };
    Owned { kind, time: 0, ..e.clone() }
}

/// The sequences of the module documentation, in memory.
fn sequences(trace: &[Owned]) -> BTreeMap<String, Vec<String>> {
    let mut sequences: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut cores: BTreeMap<String, String> = BTreeMap::new();
    for e in trace.iter().map(by_meaning) {
        let source = format!("instance {} {:?}", e.source, e.source_instance);
        let target = format!("instance {} {:?}", e.target, e.target_instance);
        let between = format!("between {} {}", e.source, e.target);
        let shared = e.source == e.target || e.source == "SIM" || e.source_instance.is_some_and(|n| n < 0);
        let mut of = Vec::new();
        match (e.kind.as_str(), e.action.as_str()) {
            ("T" | "I", "start" | "resume") => {
                cores.insert(target.clone(), e.source.clone());
                of.extend([target, format!("core {}", e.source)]);
            }
            ("T" | "I", "preempt" | "terminate") => {
                cores.remove(&target);
                of.extend([target, format!("core {}", e.source)]);
            }
            ("T" | "I", "release") => of.push(target),
            ("T" | "I", _) => {
                of.push(target);
                if !shared {
                    of.extend(cores.get(&source).map(|core| format!("core {core}")));
                    of.push(source);
                }
            }
            ("C", _) => {
                of.push(format!("core {}", e.target));
                if e.source != e.target {
                    of.push(if shared { between } else { source });
                }
            }
            (kind, _) => {
                if shared || kind == "IB" {
                    of.push(between);
                } else {
                    of.extend(cores.get(&source).map(|core| format!("core {core}")));
                    of.push(source);
                }
                if kind == "STI" {
                    of.push(target);
                }
            }
        }
        of.sort();
        of.dedup();
        for name in of {
            sequences.entry(name).or_default().push(format!("{e:?}"));
        }
    }
    sequences
}

/// Swaps neighbours according to `swaps`.
fn shuffle(trace: &[Owned], swaps: &[usize]) -> Vec<Owned> {
    let mut out = trace.to_vec();
    for n in swaps {
        if out.len() > 1 {
            let n = n % (out.len() - 1);
            out.swap(n, n + 1);
        }
    }
    out
}

fn change(e: &mut Owned, field: usize) {
    match field % 8 {
        0 => e.time += 1,
        1 => e.source.push('x'),
        2 => e.source_instance = e.source_instance.map_or(Some(0), |n| Some(n + 1)),
        3 => e.kind.push('x'),
        4 => e.target.push('x'),
        5 => e.target_instance = None.filter(|_: &i64| e.target_instance.is_some()).or(Some(77)),
        6 => e.action.push('x'),
        _ => e.note = Some("x".into()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_trace_equals_itself(trace in records()) {
        for level in [Level::Exact, Level::Order, Level::Timing] {
            let result = at(level, &trace, &trace);
            prop_assert!(result.equal);
            prop_assert_eq!(result.compared, trace.len() as u64);
        }
    }

    #[test]
    fn order_is_what_the_sequences_say(trace in records(), swaps in prop::collection::vec(0..60_usize, 0..8)) {
        let other = shuffle(&trace, &swaps);
        let same = sequences(&trace) == sequences(&other);
        let result = at(Level::Order, &trace, &other);
        prop_assert_eq!(result.equal, same, "{:#?}", result);
        prop_assert_eq!(at(Level::Order, &other, &trace).equal, same);
        let wide = Tolerance { ticks: 1000, per_mille: 0 };
        let options = CompareOptions { level: Level::Timing, tolerance: wide, ..CompareOptions::default() };
        prop_assert_eq!(with(&options, &trace, &other).equal, same);
    }

    #[test]
    fn any_two_traces_are_distinguished(a in records(), b in records(), limit in 1..20_usize) {
        for level in [Level::Exact, Level::Order] {
            let options = CompareOptions { level, pending_limit: limit, ..CompareOptions::default() };
            let result = with(&options, &a, &b);
            prop_assert_eq!(result.equal, if level == Level::Exact { a == b } else { sequences(&a) == sequences(&b) });
            let paired = result.compared + (result.semantic - result.moved);
            prop_assert!(paired + result.only_left <= a.len() as u64);
            let strict = a.len() == b.len();
            prop_assert_eq!(result.strict.is_none_or(|s| s.same_length == strict), true);
        }
    }

    #[test]
    fn one_changed_field_is_found_at_exact(trace in records(), n in 0..60_usize, field in 0..8_usize) {
        prop_assume!(!trace.is_empty());
        let mut other = trace.clone();
        let n = n % other.len();
        change(&mut other[n], field);
        let result = at(Level::Exact, &trace, &other);
        prop_assert!(!result.equal);
        let strict = result.strict.unwrap();
        prop_assert_eq!(strict.temporal + strict.semantic, 1);
        prop_assert!(result.first.is_some());
    }

    #[test]
    fn cutting_is_leaving_out_what_is_later(mut a in records(), mut b in records(), same in any::<bool>(), end in 0..20_i64) {
        a.sort_by_key(|e| e.time);
        b.sort_by_key(|e| e.time);
        if same {
            b = a.iter().filter(|e| e.time < end).cloned().collect();
        }
        let until = |of: &[Owned]| of.last().map_or(i64::MIN, |e| e.time);
        let common = until(&a).min(until(&b));
        let [short_a, short_b] =
            [&a, &b].map(|of| of.iter().filter(|e| e.time <= common).cloned().collect::<Vec<_>>());
        for level in [Level::Exact, Level::Order, Level::Timing] {
            let options = CompareOptions { level, cut_to_common_length: true, ..CompareOptions::default() };
            let verdict = with(&options, &a, &b);
            let plain = at(level, &short_a, &short_b);
            prop_assert_eq!(verdict.equal, plain.equal);
            prop_assert_eq!((verdict.left_events, verdict.right_events), (plain.left_events, plain.right_events));
            prop_assert_eq!(verdict.strict, plain.strict);
            prop_assert_eq!(with(&options, &b, &a).equal, verdict.equal);
        }
    }

    #[test]
    fn all_options_at_once_do_not_panic(a in records(), b in records(), cut in any::<bool>(), align in any::<bool>()) {
        let options = CompareOptions {
            level: Level::Timing,
            tolerance: Tolerance { ticks: 1, per_mille: 10 },
            ignore_types: vec!["I".into()],
            ignore_entities: vec!["S".into()],
            collapse_ignored_isrs: true,
            rename: vec![("T_1".into(), "T_2".into())],
            cut_to_common_length: cut,
            align,
            pending_limit: 3,
            differing: 2,
            ..CompareOptions::default()
        };
        prop_assert!(with(&options, &a, &b).differing.len() <= 2);
        prop_assert!(with(&options, &a, &a).left_events <= a.len() as u64);
    }
}
