//! Makes a long TRACE32 recording of a short one of an ERIKA kernel, for measuring the mapping. The long one
//! maps as cleanly as the short one, and its instances count on. One file; compressed exports need `gzip`:
//!
//! ```text
//! rustc --edition 2024 -O benches/lengthen.rs -o /tmp/lengthen
//! /tmp/lengthen demo/recording /tmp/long --bytes 1G --seed 1
//! ```
//!
//! The recording is cut at all instants at which no core runs anything, the kernel's variables are the same,
//! and so are the calls of waiting tasks. The pieces between the cuts follow the beginning of the recording,
//! round by round: every round has each piece once, in random order, so each round adds the same number of
//! system events and instances. Every distance of two instants is stretched a little, at random, and equally
//! in all files; variables that count go on counting. Each data and function export gets one line on stdout:
//! name, rows, bytes. The last line is `rounds`, their number, pieces.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// Variables that hold the state of the kernel; an opening bracket stands for every element.
const STATE: [&str; 12] = [
    "EE_stkfirst",
    "EE_IRQ_nesting_level",
    "EE_ORTI_runningisr2",
    "EE_th_status[",
    "EE_th_rnact[",
    "EE_th_event_active[",
    "EE_th_event_waitmask[",
    "EE_th_waswaiting[",
    "EE_resource_locked[",
    "EE_hal_spinlock_status[",
    "EE_hal_spin_status[",
    "EE_as_rpc_serving[",
];
/// A core that runs no task says so with this value of `EE_stkfirst`, which is also its value after a reset.
const NOBODY: u64 = 0xFFFF_FFFF;
/// Between two events that far apart, in nanoseconds, no service is under way.
const PAUSE: u64 = 2000;
/// Standard deviation of the factor that stretches a distance of two instants.
const JITTER: f64 = 0.08;

struct Export {
    name: String,
    core: usize,
    data: bool,
    text: String,
}

enum What<'t> {
    Access { variable: &'t str, access: &'t str, value: u64, width: usize },
    Call(&'t str),
}

struct Event<'t> {
    /// Nanoseconds.
    time: u64,
    export: usize,
    bytes: u64,
    what: What<'t>,
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [from, to, options @ ..] = args.as_slice() else {
        return Err("usage: lengthen FROM TO [--bytes SIZE | --rounds N] [--seed N]".into());
    };
    let (mut wanted, mut rounds, mut seed) = (64 << 20, None, 1);
    for option in options.chunks(2) {
        match option {
            [name, value] if name == "--bytes" => wanted = size(value)?,
            [name, value] if name == "--rounds" => rounds = Some(value.parse::<u64>()?),
            [name, value] if name == "--seed" => seed = value.parse()?,
            _ => return Err(format!("unknown option {option:?}").into()),
        }
    }
    let exports = read_recording(Path::new(from), Path::new(to))?;
    let mut events = Vec::new();
    for (n, export) in exports.iter().enumerate() {
        for line in export.text.lines() {
            events.push(parse(line, n, export.data).ok_or_else(|| format!("{}: {line}", export.name))?);
        }
    }
    events.sort_by_key(|e| e.time);
    let cuts = cuts(&events, &exports);
    let (Some(&first), Some(&last)) = (cuts.first(), cuts.last()) else {
        return Err("no core is ever idle".into());
    };
    if first == last {
        return Err("no two idle instants are alike".into());
    }
    let length = |range: &[Event]| range.iter().map(|e| e.bytes).sum::<u64>();
    let (begin, round) = (length(&events[..first]), length(&events[first..last]));
    let rounds = rounds.unwrap_or_else(|| wanted.saturating_sub(begin).div_ceil(round).max(1));

    let mut writer = Writer::new(Path::new(to), &exports, &events, first, last, rounds, seed)?;
    writer.piece(&events, 0, first)?;
    let mut pieces: Vec<(usize, usize)> = cuts.windows(2).map(|w| (w[0], w[1])).collect();
    for _ in 0..rounds {
        for n in (1..pieces.len()).rev() {
            let other = (writer.random.next() % (n as u64 + 1)) as usize;
            pieces.swap(n, other);
        }
        for (begin, end) in &pieces {
            writer.piece(&events, *begin, *end)?;
        }
    }
    writer.finish(&exports)?;
    println!("rounds\t{rounds}\t{}", pieces.len());
    Ok(())
}

/// Reads the exports that `recording.toml` lists per core, and copies everything else that the recording
/// needs.
fn read_recording(from: &Path, to: &Path) -> Result<Vec<Export>> {
    let description = fs::read_to_string(from.join("recording.toml"))?;
    fs::create_dir_all(to)?;
    let (mut exports, mut core) = (Vec::new(), 0);
    for line in description.lines() {
        if line.trim() == "[[core]]" {
            core += 1;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let file = value.trim().trim_matches('"');
        let data = match key.trim() {
            "data" => true,
            "functions" => false,
            "orti" | "os_header" | "symbols" => {
                fs::copy(from.join(file), to.join(file))?;
                continue;
            }
            _ => continue,
        };
        let name = file.trim_end_matches(".gz").to_owned();
        let text = if name == file {
            fs::read_to_string(from.join(file))?
        } else {
            String::from_utf8(Command::new("gzip").arg("-dc").arg(from.join(file)).output()?.stdout)?
        };
        exports.push(Export { name, core, data, text });
    }
    fs::write(to.join("recording.toml"), description.replace(".csv.gz\"", ".csv\""))?;
    Ok(exports)
}

/// `-0000005983,0.0000000300,"EE_ORTI_servicetrace","wr-data",33` or `+20; EE_oo_StartOS; fentry`.
fn parse(line: &str, export: usize, data: bool) -> Option<Event<'_>> {
    let bytes = line.len() as u64 + 1;
    if !data {
        let (time, call) = line.strip_prefix('+')?.split_once(';')?;
        return Some(Event { time: time.parse().ok()?, export, bytes, what: What::Call(call) });
    }
    let mut cells = line.split(',').skip(1);
    let (seconds, fraction) = cells.next()?.split_once('.')?;
    let time = seconds.parse::<u64>().ok()? * 1_000_000_000 + fraction.get(..9)?.parse::<u64>().ok()?;
    let (variable, access, digits) = (cells.next()?, cells.next()?, cells.next()?);
    let value = u64::from_str_radix(digits, 16).ok()?;
    let what = What::Access { variable: variable.trim_matches('"'), access, value, width: digits.len() };
    Some(Event { time, export, bytes, what })
}

/// Indices of the events that follow an idle instant, of that state of the kernel that spans most of the
/// recording.
fn cuts(events: &[Event], exports: &[Export]) -> Vec<usize> {
    // What is open belongs to the state, but for what never returns: the services that end a task, and its
    // body.
    let mut open: HashMap<(usize, &str), i64> = HashMap::new();
    for event in events {
        if let What::Call(call) = event.what {
            let (function, step) = step(call);
            *open.entry((event.export, function)).or_default() += step;
        }
    }
    open.retain(|_, calls| calls.abs() <= 1);
    let mut state: BTreeMap<(usize, &str), u64> = BTreeMap::new();
    let mut alike: HashMap<Vec<((usize, &str), u64)>, Vec<usize>> = HashMap::new();
    for (n, pair) in events.windows(2).enumerate() {
        if let What::Access { variable, value, .. } = pair[0].what
            && STATE.iter().any(|s| if s.ends_with('[') { variable.starts_with(s) } else { variable == *s })
        {
            state.insert((exports[pair[0].export].core, variable), value);
        }
        if let What::Call(call) = pair[0].what
            && let (function, step) = step(call)
            && open.contains_key(&(pair[0].export, function))
        {
            let calls = state.entry((exports[pair[0].export].core, function)).or_default();
            *calls = calls.wrapping_add_signed(step);
        }
        let idle = state.iter().all(|((_, variable), value)| match *variable {
            "EE_stkfirst" => *value == NOBODY,
            "EE_IRQ_nesting_level" | "EE_ORTI_runningisr2" => *value == 0,
            _ => true,
        });
        if idle && pair[1].time - pair[0].time >= PAUSE {
            alike.entry(state.clone().into_iter().collect()).or_default().push(n + 1);
        }
    }
    let span = |cuts: &Vec<usize>| cuts.last().zip(cuts.first()).map_or(0, |(last, first)| last - first);
    alike.into_values().max_by_key(|cuts| (span(cuts), cuts[0])).unwrap_or_default()
}

/// `EE_oo_StartOS; fentry`: the function, and how many more of it are open then.
fn step(call: &str) -> (&str, i64) {
    let (function, kind) = call.rsplit_once(';').unwrap_or((call, ""));
    (function, if kind.contains("entry") { 1 } else { -1 })
}

/// Variables that count go on from piece to piece.
struct Counters<'t> {
    /// For each one, the events that wrote it, and what they wrote.
    of: HashMap<&'t str, Vec<(usize, u64)>>,
    /// Added to the values of the piece that is being written.
    added: HashMap<&'t str, u64>,
    /// Last values of the long recording so far.
    now: HashMap<&'t str, u64>,
}

impl<'t> Counters<'t> {
    /// Variables whose written values, over all cores, never fall and do change.
    fn new(events: &[Event<'t>]) -> Self {
        let mut of: HashMap<&str, Vec<(usize, u64)>> = HashMap::new();
        let mut falling = HashSet::new();
        for (n, event) in events.iter().enumerate() {
            let What::Access { variable, access, value, .. } = event.what else { continue };
            if access.contains("wr") {
                let values = of.entry(variable).or_default();
                if values.last().is_some_and(|(_, before)| *before > value) {
                    falling.insert(variable);
                }
                values.push((n, value));
            }
        }
        of.retain(|v, values| {
            !falling.contains(v) && values.first().map(|v| v.1) != values.last().map(|v| v.1)
        });
        Self { of, added: HashMap::new(), now: HashMap::new() }
    }

    /// A piece begins with event `begin`: what was `before` there is `now` here.
    fn piece(&mut self, begin: usize) {
        for (variable, values) in &self.of {
            let before = values[..values.partition_point(|(n, _)| *n < begin)].last().map_or(0, |v| v.1);
            let now = self.now.get(variable).copied().unwrap_or(before);
            self.added.insert(variable, now.wrapping_sub(before));
        }
    }

    fn value(&mut self, variable: &'t str, access: &str, value: u64, width: usize) -> u64 {
        let Some(added) = self.added.get(variable) else { return value };
        let mask = 1u64.checked_shl(4 * width as u32).map_or(u64::MAX, |limit| limit - 1);
        let value = value.wrapping_add(*added) & mask;
        if access.contains("wr") {
            self.now.insert(variable, value);
        }
        value
    }
}

struct Writer<'t> {
    files: Vec<BufWriter<File>>,
    rows: Vec<u64>,
    written: Vec<u64>,
    counters: Counters<'t>,
    random: Random,
    now: u64,
    line: Vec<u8>,
}

impl<'t> Writer<'t> {
    fn new(
        to: &Path,
        exports: &[Export],
        events: &[Event<'t>],
        first: usize,
        last: usize,
        rounds: u64,
        seed: u64,
    ) -> Result<Self> {
        let mut rows = vec![0; exports.len()];
        events[..first].iter().for_each(|e| rows[e.export] += 1);
        events[first..last].iter().for_each(|e| rows[e.export] += rounds);
        let create = |e: &Export| Ok(BufWriter::with_capacity(1 << 20, File::create(to.join(&e.name))?));
        Ok(Self {
            files: exports.iter().map(create).collect::<Result<_>>()?,
            rows,
            written: vec![0; exports.len() * 2],
            counters: Counters::new(events),
            random: Random(seed),
            now: 0,
            line: Vec::new(),
        })
    }

    /// Writes the events from `begin` to before `end`, later than those written so far.
    fn piece(&mut self, events: &[Event<'t>], begin: usize, end: usize) -> Result<()> {
        self.counters.piece(begin);
        let mut before = if begin == 0 { 0 } else { events[begin - 1].time };
        for event in &events[begin..end] {
            let gap = event.time - before;
            before = event.time;
            // Distances stay distances: what was at the same time stays so, and nothing overtakes.
            if gap > 0 {
                self.now += ((gap as f64 * (1.0 + JITTER * self.random.normal())).round() as u64).max(1);
            }
            let (n, now) = (event.export, self.now);
            self.line.clear();
            match event.what {
                What::Call(call) => writeln!(self.line, "+{now};{call}")?,
                What::Access { variable, access, value, width } => {
                    let value = self.counters.value(variable, access, value, width);
                    let record = self.rows[n] - self.written[2 * n];
                    let (seconds, rest) = (now / 1_000_000_000, now % 1_000_000_000);
                    let line = &mut self.line;
                    writeln!(
                        line,
                        "-{record:010},{seconds}.{rest:09}0,\"{variable}\",{access},{value:0width$X}"
                    )?;
                }
            }
            self.files[n].write_all(&self.line)?;
            self.written[2 * n] += 1;
            self.written[2 * n + 1] += self.line.len() as u64;
        }
        Ok(())
    }

    fn finish(mut self, exports: &[Export]) -> Result<()> {
        for (n, export) in exports.iter().enumerate() {
            self.files[n].flush()?;
            println!("{}\t{}\t{}", export.name, self.written[2 * n], self.written[2 * n + 1]);
        }
        Ok(())
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Standard normal, near enough: the sum of four uniform numbers of 16 bits, scaled.
    fn normal(&mut self) -> f64 {
        let bits = self.next();
        let sum: u64 = (0..4).map(|n| bits >> (16 * n) & 0xFFFF).sum();
        (sum as f64 / 65536.0 - 2.0) * 3f64.sqrt()
    }
}

/// `2G`, `64M`, `100K` or plain bytes.
fn size(text: &str) -> Result<u64> {
    let shift = match text.chars().last() {
        Some('G') => 30,
        Some('M') => 20,
        Some('K') => 10,
        _ => 0,
    };
    Ok(text.trim_end_matches(['G', 'M', 'K']).parse::<u64>()? << shift)
}
