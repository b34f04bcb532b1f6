//! Every line of the exports is accounted for, and what became a row is what the line says. The lines are
//! read here once more, with the plainest code there is.

use super::{Ingested, Recording, corpus, ingested, none};
use btfdb::tables;
use std::collections::BTreeMap;
use std::fs;

/// A row of either table: time in ns, name, access or kind, value (0 for functions).
type Software = (i64, String, String, u64);

/// `-0000011324,0.0000000300,"EE_ORTI_servicetrace","wr-data",33`: record, seconds, name, cycle, hex value.
fn data_line(line: &str) -> Software {
    let cells: Vec<&str> = line.split(',').map(|c| c.trim().trim_matches('"')).collect();
    let [_, time, name, cycle, value] = cells[..] else { panic!("{line}") };
    let (seconds, decimals) = time.split_once('.').unwrap();
    let (ns, finer) = decimals.split_at(9);
    assert!(finer.bytes().all(|b| b == b'0'), "{line}: finer than a nanosecond");
    let ns = seconds.parse::<i64>().unwrap() * 1_000_000_000 + ns.parse::<i64>().unwrap();
    let access = match cycle {
        "wr-data" => "write",
        "rd-data" => "read",
        other => panic!("{other}"),
    };
    (ns, name.to_owned(), access.to_owned(), u64::from_str_radix(value, 16).unwrap())
}

/// `+437050; EE_as_StartCore; fentry`: ns, name, what.
fn function_line(line: &str) -> Software {
    let cells: Vec<&str> = line.split(';').map(str::trim).collect();
    let [time, name, what] = cells[..] else { panic!("{line}") };
    let kind = match what {
        "fentry" => "entry",
        "fexit" => "exit",
        other => panic!("{other}"),
    };
    (time.parse().unwrap(), name.to_owned(), kind.to_owned(), 0)
}

fn stored_data(ingested: &Ingested, core: &str) -> Vec<Software> {
    ingested.rows(tables::DATA_EVENT, Some(core), |r| {
        let (name, access) = (r.text("variable").unwrap().to_owned(), r.text("access").unwrap().to_owned());
        (r.int("time").unwrap(), name, access, r.bits("value").unwrap())
    })
}

fn stored_functions(ingested: &Ingested, core: &str) -> Vec<Software> {
    ingested.rows(tables::FUNCTION_EVENT, Some(core), |r| {
        let (name, kind) = (r.text("function").unwrap().to_owned(), r.text("kind").unwrap().to_owned());
        (r.int("time").unwrap(), name, kind, 0)
    })
}

/// The account of each source by its file: records, rows, rejected, skipped.
fn account(ingested: &Ingested) -> BTreeMap<String, [i64; 4]> {
    let rows = ingested.rows(tables::SOURCE, None, |r| {
        let count = |column| r.int(column).unwrap();
        let counts = [count("records"), count("rows"), count("rejected"), count("skipped")];
        (r.text("source").unwrap().to_owned(), counts)
    });
    rows.into_iter().collect()
}

#[test]
fn every_line_is_a_row_with_its_time_name_access_and_value() {
    let Some(recordings) = corpus() else { return };
    for recording in recordings {
        let ingested = ingested(&recording.folder, 2);
        let account = account(&ingested);
        let mut rows = 0;
        for core in &recording.description.core {
            for (file, is_data) in [(&core.data, true), (&core.functions, false)] {
                let Some(file) = file else { continue };
                let text = fs::read_to_string(recording.folder.join(file)).unwrap();
                let place = format!("{}/{file}", recording.name);
                let (expected, stored): (Vec<Software>, _) = if is_data {
                    (text.lines().map(data_line).collect(), stored_data(&ingested, &core.name))
                } else {
                    (text.lines().map(function_line).collect(), stored_functions(&ingested, &core.name))
                };
                let lines = expected.len() as i64;
                assert_eq!(account[file], [lines, lines, 0, 0], "{place}: records, rows, rejected, skipped");
                assert_eq!(stored.len(), expected.len(), "{place}: rows in the table");
                for (n, (stored, expected)) in stored.iter().zip(&expected).enumerate() {
                    assert_eq!(stored, expected, "{place}: line {}", n + 1);
                }
                rows += lines;
            }
        }
        eprintln!("{}: {rows} lines", recording.name);
    }
}

/// `full.tsv` was written by the simulator and not by way of the exports: the same events, all cores in one
/// file, values in decimal.
#[test]
fn the_rows_are_those_that_the_simulator_wrote() {
    let Some(recordings) = corpus() else { return };
    for recording in recordings {
        let Some(full) = recording.tsv("full.tsv") else { continue };
        let ingested = ingested(&recording.folder, 1);
        let mut problems = Vec::new();
        for (number, core) in recording.description.core.iter().enumerate() {
            let (data, functions) = expected_of(recording, &full, number);
            for (stored, expected) in [
                (stored_data(&ingested, &core.name), data),
                (stored_functions(&ingested, &core.name), functions),
            ] {
                if stored.len() != expected.len() {
                    problems.push(format!("{}: {} rows of {}", core.name, stored.len(), expected.len()));
                }
                let pairs = stored.iter().zip(&expected).filter(|(s, e)| s != e);
                problems.extend(pairs.map(|(s, e)| format!("{}: {s:?} is not {e:?}", core.name)));
            }
        }
        none(&recording.name, &problems);
    }
}

/// Data and function events of one core in `full.tsv`: time, core, R/W/E/X, name, value.
fn expected_of(recording: &Recording, full: &[Vec<String>], core: usize) -> (Vec<Software>, Vec<Software>) {
    let (mut data, mut functions) = (Vec::new(), Vec::new());
    for row in full.iter().filter(|row| row[1] == core.to_string()) {
        let (time, name) = (row[0].parse().unwrap(), row[3].clone());
        let value = || row[4].parse().unwrap();
        match row[2].as_str() {
            "R" => data.push((time, name, "read".to_owned(), value())),
            "W" => data.push((time, name, "write".to_owned(), value())),
            "E" => functions.push((time, name, "entry".to_owned(), 0)),
            "X" => functions.push((time, name, "exit".to_owned(), 0)),
            other => panic!("{}: {other}", recording.name),
        }
    }
    (data, functions)
}
