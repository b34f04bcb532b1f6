//! Writes a kernel event trace of a simulated QNX machine, of any size, for measuring and for experiments. It
//! depends on nothing but the simulator in `tests/neutrino`:
//!
//! ```text
//! rustc --edition 2024 -O benches/kev.rs -o /tmp/kev
//! /tmp/kev /tmp/trace.kev --size 1G --cpus 4 --release 7 --seed 1
//! ```
//!
//! More: `--wide` for events with all arguments, `--big-endian`, `--skew CYCLES` between the clocks of CPUs,
//! `--clock HZ`, `--lose N` and `--wrong-cpu N` for one of N buffers lost and one of N records mistagged
//! (8.0), `--no-time`. The same arguments give the same bytes. One line on stdout: bytes.

#![allow(dead_code, unused_imports, reason = "tests of the project use the rest")]

#[path = "../tests/neutrino/mod.rs"]
mod neutrino;

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

use neutrino::machine::{Options, simulate};
use neutrino::{ByteOrder, Release};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: kev FILE [--OPTION [VALUE]]...";
    let file = args.next().filter(|f| !f.starts_with('-')).ok_or(usage)?;
    let mut options = Options { bytes: 64 << 20, truth: false, ..Options::default() };
    while let Some(option) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{option} needs a value"));
        match option.as_str() {
            "--size" => options.bytes = size(&value()?)?,
            "--seed" => options.seed = value()?.parse()?,
            "--cpus" => options.target.cpus = value()?.parse()?,
            "--release" => {
                options.target.release = Release::of_number(&value()?).ok_or("releases are 6, 7 and 8")?;
            }
            "--clock" => options.target.cycles_per_sec = value()?.parse()?,
            "--skew" => options.skew = value()?.parse()?,
            "--lose" => options.faults.lost_buffer = value()?.parse()?,
            "--wrong-cpu" => options.faults.wrong_cpu = value()?.parse()?,
            "--wide" => options.wide = true,
            "--big-endian" => options.target.order = ByteOrder::Big,
            "--no-time" => options.faults.no_time = true,
            _ => return Err(format!("unknown option {option}; {usage}").into()),
        }
    }
    let (out, _) = simulate(BufWriter::with_capacity(1 << 20, File::create(file)?), &options)?;
    let bytes = out.into_inner()?.metadata()?.len();
    println!("{bytes}");
    Ok(())
}

/// `2G`, `64M`, `100K` or plain bytes.
fn size(text: &str) -> Result<u64, Box<dyn Error>> {
    let shift = match text.chars().last() {
        Some('G') => 30,
        Some('M') => 20,
        Some('K') => 10,
        _ => 0,
    };
    let number: u64 = text.trim_end_matches(['G', 'M', 'K']).parse()?;
    number.checked_mul(1 << shift).ok_or_else(|| "too large".into())
}
