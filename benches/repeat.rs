//! Makes a long BTF file of a short one, for measuring import and export: its events again and again, each time later,
//! with instance counters that go on, where there are any. One file, no dependencies:
//!
//! ```text
//! rustc --edition 2024 -O benches/repeat.rs -o /tmp/repeat
//! /tmp/repeat trace.btf /tmp/long.btf 1G
//! ```
//!
//! Names and their order repeat, so that a dictionary compresses them better than those of a trace that never repeats.

use std::collections::HashSet;
use std::error::Error;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};

/// Types whose instances are counted; cores, signals and semaphores have none.
const COUNTED: [&str; 5] = ["T", "I", "ISR", "R", "STI"];

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [from, to, size] = args.as_slice() else { return Err("usage: repeat FROM TO SIZE[K|M|G]".into()) };
    let text = std::fs::read_to_string(from)?;
    let (header, events): (Vec<&str>, Vec<&str>) =
        text.lines().filter(|l| !l.trim().is_empty()).partition(|l| l.starts_with('#'));
    let events: Vec<Vec<&str>> = events.iter().map(|l| l.trim().splitn(8, ',').collect()).collect();
    let number = |field: &str| field.parse::<i64>().unwrap_or(0);
    let counted: HashSet<&str> = events.iter().filter(|e| COUNTED.contains(&e[3])).map(|e| e[4]).collect();
    let span = events.iter().map(|e| number(e[0])).max().unwrap_or(0) + 1;
    // A writer that counts no instances says 0 for ever: its tasks would pile up, never ended, under new numbers.
    let instances = match events.iter().map(|e| number(e[5])).max() {
        Some(last) if last > 0 => last + 1,
        _ => 0,
    };
    let wanted = bytes(size)?;
    let mut out = BufWriter::with_capacity(1 << 20, File::create(to)?);
    let mut written = 0;
    for line in header {
        written += line.len() as u64 + 1;
        writeln!(out, "{line}")?;
    }
    let (mut rows, mut line) = (0u64, String::new());
    for round in 0.. {
        for e in &events {
            line.clear();
            let of = |name: &str, instance: &str| match instance.parse::<i64>() {
                Ok(n) if n >= 0 && counted.contains(name) => (n + round * instances).to_string(),
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
        if written >= wanted {
            break;
        }
    }
    out.flush()?;
    println!("{rows}\t{written}");
    Ok(())
}

fn bytes(text: &str) -> Result<u64, Box<dyn Error>> {
    let (digits, factor) = match text.as_bytes().last() {
        Some(b'K') => (&text[..text.len() - 1], 1 << 10),
        Some(b'M') => (&text[..text.len() - 1], 1 << 20),
        Some(b'G') => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    Ok(digits.parse::<u64>()? * factor)
}
