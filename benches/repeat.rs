//! Makes a long BTF file of a shorter one, for measuring import and export. It repeats the events, each time
//! later, and instance counters go on. One file, no dependencies:
//!
//! ```text
//! rustc --edition 2024 -O benches/repeat.rs -o /tmp/repeat
//! /tmp/repeat trace.btf /tmp/long.btf 10000000
//! ```
//!
//! The number is that of the events; the last round is finished. One line on stdout: events, bytes, rounds.
//! Names and distances repeat, so the short file must be longer than the window of a compressor.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};

/// Types whose instances are counted; cores, signals and semaphores have none.
const COUNTED: [&str; 5] = ["T", "I", "ISR", "R", "STI"];

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [from, to, wanted] = args.as_slice() else { return Err("usage: repeat FROM TO EVENTS".into()) };
    let wanted: u64 = wanted.parse()?;
    let text = std::fs::read_to_string(from)?;
    let (header, events): (Vec<&str>, Vec<&str>) =
        text.lines().filter(|l| !l.trim().is_empty()).partition(|l| l.starts_with('#'));
    let events: Vec<Vec<&str>> = events.iter().map(|l| l.trim().splitn(8, ',').collect()).collect();
    let number = |field: &str| field.parse::<i64>().unwrap_or(0);
    // Of everything that is counted, one more than its last instance.
    let mut counted: HashMap<&str, i64> = HashMap::new();
    for event in events.iter().filter(|e| COUNTED.contains(&e[3])) {
        let next = counted.entry(event[4]).or_default();
        *next = (*next).max(number(event[5]) + 1);
    }
    let span = events.iter().map(|e| number(e[0])).max().unwrap_or(0) + 1;
    // A writer that counts no instances says 0 for ever: its tasks would pile up, never ended, under new
    // numbers.
    if counted.values().all(|next| *next < 2) {
        counted.clear();
    }
    let mut out = BufWriter::with_capacity(1 << 20, File::create(to)?);
    let mut written = 0;
    for line in header {
        written += line.len() as u64 + 1;
        writeln!(out, "{line}")?;
    }
    let (mut rows, mut line) = (0u64, String::new());
    let mut round = 0;
    while rows < wanted && !events.is_empty() {
        // A semaphore becomes ready once, when there begins to be one.
        for e in events.iter().filter(|e| round == 0 || (e[3], e[6]) != ("SEM", "ready")) {
            line.clear();
            let of = |name: &str, instance: &str| match instance.parse::<i64>() {
                Ok(n) if n >= 0 => (n + round * counted.get(name).unwrap_or(&0)).to_string(),
                _ => instance.to_owned(),
            };
            let (source, target) = (of(e[1], e[2]), of(e[4], e[5]));
            write!(
                line,
                "{},{},{source},{},{},{target},{}",
                number(e[0]) + round * span,
                e[1],
                e[3],
                e[4],
                e[6]
            )?;
            if let Some(note) = e.get(7) {
                write!(line, ",{note}")?;
            }
            line.push('\n');
            out.write_all(line.as_bytes())?;
            written += line.len() as u64;
            rows += 1;
        }
        round += 1;
    }
    out.flush()?;
    println!("{rows}\t{written}\t{round}");
    Ok(())
}
