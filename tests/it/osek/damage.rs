//! Recordings with lines that are missing, repeated, have the value of another line, or are lost to an
//! overflow. The mapping breaks no state chart, and no core has two processes.

use super::{data, map, recordings, time_and_cores};
use proptest::prelude::*;
use std::path::Path;

/// What happens to a line of an export.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Missing,
    Twice,
    /// The value of another access to the same variable.
    OtherValue(usize),
    /// A gap in the trace follows.
    Hole,
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => Just(Damage::Missing),
        1 => Just(Damage::Twice),
        3 => (0..1000usize).prop_map(Damage::OtherValue),
        1 => Just(Damage::Hole),
    ]
}

/// Copies a recording; in its data exports, the first `cut` percent of the lines are missing, and the line
/// that each place of `damages` falls on is damaged.
fn copy(from: &Path, to: &Path, cut: usize, damages: &[(usize, Damage)]) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if !path.to_string_lossy().ends_with("_data.csv") {
            std::fs::copy(&path, target).unwrap();
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().filter(|l| !l.starts_with('#')).collect();
        // The header line, if there is one, stays.
        let header = usize::from(lines[0].starts_with("record"));
        let mut out: Vec<String> = lines[..header].iter().map(|l| (*l).to_owned()).collect();
        let rows = &lines[header..];
        for (at, row) in rows.iter().enumerate().skip(rows.len() * cut / 100) {
            let hit = damages.iter().find(|(place, _)| place % rows.len() == at).map(|(_, damage)| *damage);
            let copies = match hit {
                Some(Damage::Missing) if !out.is_empty() => 0,
                Some(Damage::Twice) => 2,
                _ => 1,
            };
            let row = if let Some(Damage::OtherValue(n)) = hit {
                other_value(rows, row, n)
            } else {
                (*row).to_owned()
            };
            out.extend(std::iter::repeat_n(row, copies));
            if matches!(hit, Some(Damage::Hole)) {
                let time = rows[at].split(',').nth(1).unwrap();
                out.push(format!("+0000000000,{time},\"\",\"\",\"TARGET FIFO OVERFLOW\""));
            }
        }
        std::fs::write(target, out.join("\n") + "\n").unwrap();
    }
}

fn other_value(rows: &[&str], row: &str, n: usize) -> String {
    let variable = |row: &str| row.split(',').nth(2).map(str::to_owned);
    let same: Vec<&&str> = rows.iter().filter(|r| variable(r) == variable(row)).collect();
    let (head, _) = row.rsplit_once(',').unwrap();
    let (_, value) = same[n % same.len()].rsplit_once(',').unwrap();
    format!("{head},{value}")
}

/// While an ISR ran, T_A was dispatched and T_X ended, but the earlier end of T_X and the end of T_A are
/// missing.
#[test]
fn a_task_that_ends_where_another_one_was_dispatched_gets_the_core_for_that() {
    let dir = tempfile::tempdir().unwrap();
    let damages = [(351, Damage::Missing), (646, Damage::Missing), (408, Damage::OtherValue(136))];
    copy(&data().join("erika2/fall_off"), dir.path(), 0, &damages);
    let mapped = map(dir.path(), 1);
    time_and_cores("fall_off", &mapped);
    let lines: Vec<String> = mapped.lines.iter().map(ToString::to_string).collect();
    let at =
        |line: &str| lines.iter().position(|l| l == line).unwrap_or_else(|| panic!("{line}: {lines:#?}"));
    let order = ["T_A,2,preempt", "T_X,0,resume", "T_X,0,terminate", "T_A,2,resume"];
    assert!(order.map(|event| at(&format!("11100,Core_0,0,T,{event}"))).is_sorted());
}

/// ActivateTask is entered again and again, and nothing is activated: rule A14.
#[test]
fn stimuli_that_activate_nothing_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    copy(&data().join("osek/mta"), dir.path(), 0, &[]);
    let export = dir.path().join("core0_data.csv");
    let text = std::fs::read_to_string(&export).unwrap();
    let start = text.lines().take(5).map(str::to_owned);
    let calls = (20..1050).map(|n| format!("-0000000001,0.{n:07}000,\"osTrace\",\"wr-data\",03"));
    std::fs::write(&export, start.chain(calls).collect::<Vec<_>>().join("\n") + "\n").unwrap();
    let mapped = map(dir.path(), 1);
    assert_eq!(mapped.lines.iter().filter(|l| l.source.0 == "T_A" && l.action == "trigger").count(), 1030);
    assert_eq!(mapped.log.count_of("stale-stimulus"), 6);
}

/// Each call is entered, and none is left.
#[test]
fn calls_that_are_never_left_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    copy(&data().join("osek/mta"), dir.path(), 0, &[]);
    let export = dir.path().join("core0_data.csv");
    let text = std::fs::read_to_string(&export).unwrap();
    let start = text.lines().take(5).map(str::to_owned);
    let calls = (20..120).map(|n| format!("-0000000001,0.{n:07}000,\"osTrace\",\"wr-data\",03"));
    std::fs::write(&export, start.chain(calls).collect::<Vec<_>>().join("\n") + "\n").unwrap();
    let mapped = map(dir.path(), 1);
    assert_eq!(mapped.lines.iter().filter(|l| l.source.0 == "T_A" && l.action == "trigger").count(), 100);
    assert_eq!(mapped.log.count_of("calls-without-exit"), 100 - 64);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_recordings_break_no_chart(
        which in any::<prop::sample::Index>(),
        cut in prop_oneof![2 => Just(0usize), 1 => 0..60usize],
        damages in prop::collection::vec((0..1000usize, damage()), 0..12),
    ) {
        let names = recordings();
        let name = which.get(&names);
        let dir = tempfile::tempdir().unwrap();
        copy(&data().join(name), dir.path(), cut, &damages);
        time_and_cores(name, &map(dir.path(), 1));
    }
}
