//! Writes a synthetic TRACE32 recording of any size, for measuring the ingest; its events mean nothing to the
//! mapper. One file, no dependencies:
//!
//! ```text
//! rustc --edition 2024 -O benches/generate.rs -o /tmp/generate
//! /tmp/generate /tmp/recording --mode both --bytes 2G --cores 2 --grid 20 --seed 1
//! ```
//!
//! `--bytes` is the size of each file. The same arguments give the same bytes. The data is as hard to
//! compress as that of real exports: times jitter log-normally on the grid of the trace clock, a few of the
//! 60 variables or 200 functions get most of the events (Zipf's law), and values are counters, states,
//! addresses and noise. It is also as easy: 15 % of the draws are a service of the kernel, which accesses its
//! variables in a fixed order, at nearly the same distances. `--shape NAME` writes the rows of a data export another
//! way (see `Shape`), as other export scripts and tools do. For each file, one line is printed: name, rows, bytes.

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

/// The output is written in pieces of about this size.
const PIECE: usize = 1 << 20;
/// Entries of a table that stands for a distribution; a power of two.
const TABLE: usize = 4096;
const VARIABLES: usize = 60;
const FUNCTIONS: usize = 200;
const DEEPEST_CALL: usize = 12;
/// The exponent of Zipf's law.
const SKEW: f64 = 1.1;
/// Standard deviation of the logarithm of the distance of two events.
const SPREAD: f64 = 0.6;
/// Sequences of accesses that come again and again, and which percentage of the draws starts one.
const SERVICES: usize = 24;
const SERVICE_PERCENT: u64 = 15;

struct Options {
    out: PathBuf,
    data: bool,
    functions: bool,
    bytes: u64,
    cores: u64,
    grid: u64,
    seed: u64,
    shape: Shape,
}

/// How the lines of a data export are written.
#[derive(Clone, Copy)]
struct Shape {
    header: &'static str,
    delimiter: &'static str,
    /// What is around a name, around a cycle, and around everything else.
    name_quote: &'static str,
    before_cycle: &'static str,
    behind_cycle: &'static str,
    number_quote: &'static str,
    /// Digits of a record number; none without that column.
    record_width: usize,
    /// Seconds that are added to each time.
    late: u64,
    /// Decimals of a time in seconds; `None` for microseconds with their unit.
    decimals: Option<usize>,
    point: &'static str,
    value_prefix: &'static str,
    /// Digits of a value; `None` for those of its variable.
    value_width: Option<usize>,
    /// In front of each name.
    scope: &'static str,
    line_end: &'static str,
}

/// The example of the thesis (5.1.2).
const THESIS: Shape = Shape {
    header: "",
    delimiter: ",",
    name_quote: "\"",
    before_cycle: "\"",
    behind_cycle: "\"",
    number_quote: "",
    record_width: 10,
    late: 0,
    decimals: Some(10),
    point: ".",
    value_prefix: "",
    value_width: None,
    scope: "",
    line_end: "\n",
};

impl Shape {
    fn named(name: &str) -> Option<Self> {
        let bare = Self { name_quote: "", before_cycle: "", behind_cycle: "", ..THESIS };
        Some(match name {
            "thesis" => THESIS,
            "blanks" => Self { before_cycle: " \"", behind_cycle: "\" ", ..THESIS },
            "bare" => bare,
            "hex_mark" => Self { value_prefix: "0x", ..THESIS },
            "quoted" => Self { number_quote: "\"", ..THESIS },
            "unit" => Self { decimals: None, ..THESIS },
            "semicolons" => Self { delimiter: ";", ..THESIS },
            "no_record" => Self { record_width: 0, ..THESIS },
            "header" => Self { header: "record,ti.zero,var,cycle,data\n", ..THESIS },
            "crlf" => Self { line_end: "\r\n", ..THESIS },
            "decimals_6" => Self { decimals: Some(6), ..THESIS },
            "decimals_9" => Self { decimals: Some(9), ..THESIS },
            "decimals_12" => Self { decimals: Some(12), ..THESIS },
            "record_8" => Self { record_width: 8, ..THESIS },
            "record_14" => Self { record_width: 14, ..THESIS },
            "value_8" => Self { value_width: Some(8), ..THESIS },
            "value_16" => Self { value_width: Some(16), ..THESIS },
            "long_names" => Self { scope: "vehicle::powertrain::Controller<float, 4>::", ..THESIS },
            "late" => Self { late: 12_345, ..THESIS },
            "excel" => Self {
                header: "record;ti.zero;var;cycle;data\r\n",
                delimiter: ";",
                point: ",",
                decimals: Some(9),
                line_end: "\r\n",
                ..bare
            },
            _ => return None,
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse(std::env::args().skip(1))?;
    fs::create_dir_all(&options.out)?;
    let mut description = String::from("name = \"synthetic\"\n");
    for core in 0..options.cores {
        description.push_str(&format!("\n[[core]]\nname = \"Core_{core}\"\n"));
        let mut random = Random(options.seed.wrapping_add(core << 32));
        if options.data {
            let file = format!("core{core}_data.csv");
            description.push_str(&format!("data = \"{file}\"\n"));
            let mut source = DataExport::new(&mut random, options.grid, options.bytes, options.shape);
            write_export(&options, &file, options.shape.header, |out| source.row(out))?;
        }
        if options.functions {
            let file = format!("core{core}_func.csv");
            description.push_str(&format!("functions = \"{file}\"\n"));
            let mut source = FunctionExport::new(&mut random, options.grid);
            write_export(&options, &file, "", |out| source.row(out))?;
        }
    }
    fs::write(options.out.join("recording.toml"), description)?;
    Ok(())
}

impl Options {
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let out = args
            .next()
            .filter(|out| !out.starts_with('-'))
            .ok_or("usage: generate DIR [--OPTION VALUE]...")?;
        let mut options = Self {
            out: out.into(),
            data: true,
            functions: false,
            bytes: 64 << 20,
            cores: 1,
            grid: 20,
            seed: 1,
            shape: THESIS,
        };
        while let Some(option) = args.next() {
            let value = args.next().ok_or_else(|| format!("{option} needs a value"))?;
            match option.as_str() {
                "--mode" => {
                    options.data = matches!(value.as_str(), "data" | "both");
                    options.functions = matches!(value.as_str(), "func" | "both");
                    if !options.data && !options.functions {
                        return Err("--mode is data, func or both".into());
                    }
                }
                "--bytes" => options.bytes = size(&value)?,
                "--cores" => options.cores = value.parse()?,
                "--grid" => options.grid = value.parse()?,
                "--seed" => options.seed = value.parse()?,
                "--shape" => {
                    options.shape = Shape::named(&value).ok_or_else(|| format!("no shape '{value}'"))?
                }
                _ => return Err(format!("unknown option {option}").into()),
            }
        }
        Ok(options)
    }
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

/// Writes rows until the file has the wanted size.
fn write_export(
    options: &Options,
    name: &str,
    header: &str,
    mut row: impl FnMut(&mut Vec<u8>),
) -> io::Result<()> {
    let mut file = File::create(options.out.join(name))?;
    file.write_all(header.as_bytes())?;
    let mut piece = Vec::with_capacity(PIECE + 4096);
    let (mut rows, mut bytes) = (0u64, header.len() as u64);
    while bytes < options.bytes {
        piece.clear();
        while piece.len() < PIECE && bytes + (piece.len() as u64) < options.bytes {
            row(&mut piece);
            rows += 1;
        }
        file.write_all(&piece)?;
        bytes += piece.len() as u64;
    }
    println!("{name}\t{rows}\t{bytes}");
    Ok(())
}

/// SplitMix64 (Steele, Lea, Flood 2014): fast, and good enough for tables of 4096 entries.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Standard normal, near enough: the sum of twelve uniform numbers.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| (self.next() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
    }
}

/// The instants of a trace, in nanoseconds on the grid of its clock.
struct Clock {
    now: u64,
    steps: Vec<u32>,
}

impl Clock {
    /// `median` is the median distance of two events in nanoseconds.
    fn new(random: &mut Random, grid: u64, median: f64) -> Self {
        let grid = grid.max(1);
        let step = |_| {
            let nanoseconds = median * (SPREAD * random.normal()).exp();
            (nanoseconds / grid as f64).round().max(1.0) as u32 * grid as u32
        };
        Self { now: 0, steps: (0..TABLE).map(step).collect() }
    }

    /// The next instant: one of 32 is the one before again, one of a thousand comes after a pause.
    fn tick(&mut self, bits: u64) -> u64 {
        let step = u64::from(self.steps[bits as usize % TABLE]);
        self.now += match (bits >> 12) % 1024 {
            0 => step * 1000,
            1..32 => 0,
            _ => step,
        };
        self.now
    }

    /// The next instant of something that takes `ticks` of the grid and one more, or not.
    fn step(&mut self, ticks: u64, grid: u64, bits: u64) -> u64 {
        self.now += (ticks + bits % 2) * grid.max(1);
        self.now
    }
}

/// A table of ranks in which rank r appears about r to the power of -1.1 times as often as the first (Zipf's
/// law).
fn zipf(ranks: usize) -> Vec<u16> {
    let weight = |rank: usize| (rank as f64).powf(-SKEW);
    let total: f64 = (1..=ranks).map(weight).sum();
    let mut table = Vec::with_capacity(TABLE);
    for rank in 0..ranks {
        let share = TABLE as f64 / total * weight(rank + 1);
        table.extend(std::iter::repeat_n(rank as u16, share.round().max(1.0) as usize));
    }
    table.resize(TABLE, 0);
    table
}

/// Appends `value` with `width` decimal digits, zero-padded, more when it needs more.
fn decimal(out: &mut Vec<u8>, mut value: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    while value > 0 {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    out.extend_from_slice(&digits[at.min(20 - width)..]);
}

/// Appends the lowest `width` hexadecimal digits.
fn hexadecimal(out: &mut Vec<u8>, value: u64, width: usize) {
    for digit in (0..width).rev() {
        out.push(b"0123456789ABCDEF"[(value >> (4 * digit)) as usize & 15]);
    }
}

/// How the values of a variable come about.
#[derive(Clone, Copy)]
enum Kind {
    Counter,
    State,
    Address,
    Signal,
    Noise,
}

struct Variable {
    name: String,
    kind: Kind,
    /// Hexadecimal digits: 2, 4, 8 or 16.
    width: usize,
    value: u64,
}

/// One access of a service.
#[derive(Clone, Copy)]
struct Step {
    variable: u16,
    is_write: bool,
    ticks: u64,
}

struct DataExport<'r> {
    random: &'r mut Random,
    grid: u64,
    clock: Clock,
    popular: Vec<u16>,
    variables: Vec<Variable>,
    services: Vec<Vec<Step>>,
    /// What is left of the service under way: which, and its next step.
    under_way: (usize, usize),
    /// Counts up to zero, as TRACE32 numbers records from the last one.
    record: u64,
    shape: Shape,
}

impl<'r> DataExport<'r> {
    fn new(random: &'r mut Random, grid: u64, bytes: u64, shape: Shape) -> Self {
        let variable = |n: usize| {
            let (kind, width, name) = match n % 12 {
                0 => (Kind::State, 2, format!("EE_ORTI_servicetrace_{n}")),
                8 => (Kind::Counter, 8, format!("counter_{n}")),
                3 | 9 => (Kind::Address, 16, format!("EE_ORTI_isr2_{n}")),
                5 => (Kind::Signal, 4, format!("Rte_Buffer_{n}.value")),
                7 => (Kind::Noise, 8, format!("Com_RxSignal[{n}]")),
                _ => (Kind::State, 2, format!("EE_th_status[{n}]")),
            };
            let name = format!("{}{name}", shape.scope);
            Variable { name, kind, width: shape.value_width.unwrap_or(width), value: 0 }
        };
        let clock = Clock::new(random, grid, 4400.0);
        let popular = zipf(VARIABLES);
        let mut step = |_| Step {
            variable: popular[random.below(TABLE as u64) as usize],
            is_write: random.below(8) < 3,
            ticks: 2 + random.below(20),
        };
        let services = (0..SERVICES).map(|n| (0..3 + n % 7).map(&mut step).collect()).collect();
        // No row is shorter than 40 bytes, none takes more than three records: zero is never passed.
        let record = bytes / 40 * 3 + 3;
        Self {
            random,
            grid,
            clock,
            popular,
            variables: (0..VARIABLES).map(variable).collect(),
            services,
            under_way: (0, usize::MAX),
            record,
            shape,
        }
    }

    fn service_step(&self) -> Option<Step> {
        self.services[self.under_way.0].get(self.under_way.1).copied()
    }

    /// `-0083448136,0.0004372600,"EE_ORTI_servicetrace","wr-data",43`
    fn row(&mut self, out: &mut Vec<u8>) {
        let bits = self.random.next();
        if (bits >> 56) * 100 < SERVICE_PERCENT * 256 && self.service_step().is_none() {
            self.under_way = (self.random.below(SERVICES as u64) as usize, 0);
        }
        let (time, variable, is_write) = match self.service_step() {
            Some(step) => {
                self.under_way.1 += 1;
                (self.clock.step(step.ticks, self.grid, bits), step.variable, step.is_write)
            }
            None => {
                let variable = self.popular[(bits >> 32) as usize % TABLE];
                (self.clock.tick(bits), variable, (bits >> 48) % 8 < 3)
            }
        };
        self.record -= 1 + (bits >> 24) % 3;
        let variable = &mut self.variables[usize::from(variable)];
        if is_write {
            variable.value = match variable.kind {
                Kind::Counter => variable.value + 1,
                Kind::State => (bits >> 52) % 4,
                Kind::Address => 0x0040_1CA0 + (bits >> 52) % 8 * 0x44,
                Kind::Signal => variable.value.wrapping_add((bits >> 52) % 4).wrapping_sub(1) & 0xFF,
                Kind::Noise => self.random.below(256),
            };
        }
        self.shape.line(out, self.record, time, variable, is_write);
    }
}

impl Shape {
    fn line(&self, out: &mut Vec<u8>, record: u64, nanoseconds: u64, variable: &Variable, is_write: bool) {
        let mut put = |text: &str| out.extend_from_slice(text.as_bytes());
        if self.record_width > 0 {
            put(self.number_quote);
            put("-");
            decimal(out, record, self.record_width);
            self.end_number(out);
        }
        out.extend_from_slice(self.number_quote.as_bytes());
        let nanoseconds = nanoseconds + self.late * 1_000_000_000;
        let (whole, fraction) = match self.decimals {
            Some(_) => (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000),
            None => (nanoseconds / 1000, nanoseconds % 1000),
        };
        decimal(out, whole, 1);
        out.extend_from_slice(self.point.as_bytes());
        match self.decimals {
            Some(decimals @ ..9) => decimal(out, fraction / 10u64.pow(9 - decimals as u32), decimals),
            Some(decimals) => {
                decimal(out, fraction, 9);
                out.extend_from_slice(&b"000"[..decimals - 9]);
            }
            None => {
                decimal(out, fraction, 3);
                out.extend_from_slice(b"us");
            }
        }
        self.end_number(out);
        let cycle = if is_write { "wr-data" } else { "rd-data" };
        let [quote, before, behind] = [self.name_quote, self.before_cycle, self.behind_cycle];
        for text in [quote, &variable.name, quote, self.delimiter, before, cycle, behind, self.delimiter] {
            out.extend_from_slice(text.as_bytes());
        }
        out.extend_from_slice(self.number_quote.as_bytes());
        out.extend_from_slice(self.value_prefix.as_bytes());
        hexadecimal(out, variable.value, variable.width);
        out.extend_from_slice(self.number_quote.as_bytes());
        out.extend_from_slice(self.line_end.as_bytes());
    }

    fn end_number(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.number_quote.as_bytes());
        out.extend_from_slice(self.delimiter.as_bytes());
    }
}

struct FunctionExport<'r> {
    random: &'r mut Random,
    clock: Clock,
    popular: Vec<u16>,
    names: Vec<String>,
    /// What is active: function, and whether it is an interrupt's.
    stack: Vec<(u16, bool)>,
}

impl<'r> FunctionExport<'r> {
    fn new(random: &'r mut Random, grid: u64) -> Self {
        let name = |n: usize| match n % 4 {
            0 => format!("EE_oo_Service_{n}"),
            1 => format!("Rte_Runnable_{n}"),
            2 => format!("filter_{n}"),
            _ => format!("app::step_{n}(int, int)"),
        };
        let clock = Clock::new(random, grid, 400.0);
        let names = (0..FUNCTIONS).map(name).collect();
        Self { random, clock, popular: zipf(FUNCTIONS), names, stack: Vec::new() }
    }

    /// `+437050; EE_as_StartCore; fentry`
    fn row(&mut self, out: &mut Vec<u8>) {
        let bits = self.random.next();
        let time = self.clock.tick(bits);
        let enters = self.stack.len() < DEEPEST_CALL && (bits >> 24) % 2 == 0;
        let left = if enters { None } else { self.stack.pop() };
        let (function, event): (u16, &[u8]) = match left {
            Some((function, true)) => (function, b"; iexit\n"),
            Some((function, false)) => (function, b"; fexit\n"),
            None => {
                let is_interrupt = (bits >> 25) % 128 == 0;
                let function = self.popular[(bits >> 32) as usize % TABLE];
                self.stack.push((function, is_interrupt));
                (function, if is_interrupt { b"; ientry\n" } else { b"; fentry\n" })
            }
        };
        out.push(b'+');
        decimal(out, time, 1);
        out.extend_from_slice(b"; ");
        out.extend_from_slice(self.names[usize::from(function)].as_bytes());
        out.extend_from_slice(event);
    }
}
