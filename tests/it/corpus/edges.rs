//! Edges at random places: recordings in which exports have lost records, and recordings that begin in the
//! middle. What the derived tables say outside of the gaps is what they say of the whole recording, and of
//! the gaps they say nothing. Situations chosen by hand are in `gaps` and `cuts`.
//!
//! `BTFDB_EDGES` is the number of random places in each recording; 4 without it.

use super::{Ingested, Recording, corpus, cuts, ingested, none};
use btfdb::{Choice, Control, OpenOptions, Queries, Remote, SessionOptions, Severity, Trace, check, tables};
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

/// A span of a process in one state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Stretch {
    core: String,
    begin: i64,
    end: i64,
    process: String,
    instance: i64,
    state: String,
}

/// Gaps `[begin, end)` by core.
type Gaps = BTreeMap<String, Vec<(i64, i64)>>;

/// What tells complete instances of one process apart, and what the tables say of them.
type Instances = BTreeMap<Key, Vec<Option<i64>>>;

/// Process or runnable, core, begin and end.
type Key = (String, String, i64, i64);

struct Tables {
    stretches: Vec<Stretch>,
    complete: Instances,
}

impl Tables {
    fn of(db: &Ingested) -> Self {
        let stretches = db.rows(tables::PROCESS_STATE, None, |r| Stretch {
            core: r.text("core").unwrap_or_default().to_owned(),
            begin: r.int("begin_at").unwrap(),
            end: r.int("end_at").unwrap(),
            process: r.text("process").unwrap().to_owned(),
            instance: r.int("instance").unwrap(),
            state: r.text("state").unwrap().to_owned(),
        });
        let mut complete = Instances::new();
        db.rows(tables::PROCESS_INSTANCE, None, |r| {
            if r.flag("complete") {
                let key = (
                    r.text("process").unwrap().to_owned(),
                    r.text("core").unwrap().to_owned(),
                    r.int("activate_at").unwrap(),
                    r.int("terminate_at").unwrap(),
                );
                let columns =
                    ["start_at", "running", "ready", "waiting", "polling", "parking", "preemptions"];
                complete.insert(key, columns.map(|c| r.int(c)).to_vec());
            }
        });
        db.rows(tables::RUNNABLE_INSTANCE, None, |r| {
            if r.flag("complete") {
                let key = (
                    format!("runnable {}", r.text("runnable").unwrap()),
                    r.text("core").unwrap_or_default().to_owned(),
                    r.int("start_at").unwrap(),
                    r.int("terminate_at").unwrap(),
                );
                complete.insert(key, ["running", "suspended"].map(|c| r.int(c)).to_vec());
            }
        });
        Self { stretches, complete }
    }

    /// The spans of a core that some process runs in, in order.
    fn occupants(&self, core: &str) -> Vec<&Stretch> {
        let on_core = |s: &&Stretch| s.core == core && matches!(s.state.as_str(), "running" | "polling");
        let mut out: Vec<&Stretch> = self.stretches.iter().filter(on_core).collect();
        out.sort();
        out
    }
}

/// The process on a core at `time`, by spans in order.
fn occupant<'a>(stretches: &[&'a Stretch], time: i64) -> Option<&'a str> {
    let n = stretches.partition_point(|s| s.begin <= time).checked_sub(1)?;
    stretches.get(n).filter(|s| time < s.end).map(|s| s.process.as_str())
}

/// What is wrong with the tables of a recording that knows nothing inside of `gaps`, nor before `begin`.
fn wrong(recording: &Recording, whole: &Tables, found: &Tables, gaps: &Gaps, begin: i64) -> Vec<String> {
    let mut problems = Vec::new();
    let none = Vec::new();
    let of_core = |core: &str| gaps.get(core).unwrap_or(&none);
    for s in &found.stretches {
        if let Some(gap) = of_core(&s.core).iter().find(|gap| s.begin < gap.1 && gap.0 < s.end) {
            problems.push(format!("{s:?} in gap {gap:?}"));
        }
        if s.begin < begin {
            problems.push(format!("{s:?} before {begin}"));
        }
    }
    for core in &recording.description.core {
        let core = core.name.as_str();
        let (expected, now) = (whole.occupants(core), found.occupants(core));
        let overlaps = now.windows(2).filter(|pair| pair[1].begin < pair[0].end);
        problems.extend(overlaps.map(|pair| format!("overlap: {:?}, {:?}", pair[0], pair[1])));
        let mut times: Vec<i64> = expected.iter().chain(&now).flat_map(|s| [s.begin, s.end]).collect();
        times.extend(of_core(core).iter().map(|gap| gap.1));
        times.push(begin);
        times.sort_unstable();
        times.dedup();
        for time in times {
            let known = time >= begin && of_core(core).iter().all(|gap| time < gap.0 || gap.1 <= time);
            let (e, n) = (occupant(&expected, time), occupant(&now, time));
            // Behind an edge, nothing may tell of a process until its first event.
            let edges = of_core(core).iter().map(|gap| gap.1).chain([begin]);
            let edge = edges.filter(|edge| *edge <= time).max();
            let shown =
                now.iter().any(|s| Some(s.process.as_str()) == e && Some(s.begin) >= edge && s.begin <= time);
            // So it is when a process that parked has its core again, if a gap of another core may hide that
            // the lock became free.
            let until = |end: i64, state: &str| {
                let fits = |s: &&Stretch| Some(s.process.as_str()) == e && s.state == state && s.end == end;
                whole.stretches.iter().find(fits)
            };
            let ready = until(time, "ready").map_or(time, |ready| ready.begin);
            let parked = until(ready, "parking").is_some();
            let hidden = parked && gaps.values().flatten().any(|gap| gap.0 < time);
            let unseen = n.is_none() && (!shown || hidden);
            if known && e != n && !unseen {
                problems.push(format!("{core} at {time}: {n:?}, not {e:?}"));
            }
        }
    }
    // A record at the edge of a gap is known, and so is an instance that begins or ends with it.
    let inside = |(_, core, from, to): &Key| {
        *from < begin || of_core(core).iter().any(|gap| *from < gap.1 && gap.0 < *to)
    };
    let spans = |from: i64, to: i64, gaps: &[(i64, i64)]| gaps.iter().any(|gap| from <= gap.1 && gap.0 <= to);
    // A process that parks is ready again when another core frees the lock.
    let touched = |(_, core, from, to): &Key, columns: &[Option<i64>]| {
        let parks = columns.get(5).is_some_and(|parking| *parking > Some(0));
        let other = parks && gaps.values().any(|gaps| spans(*from, *to, gaps));
        *from < begin || other || spans(*from, *to, of_core(core))
    };
    for (key, columns) in &whole.complete {
        if !touched(key, columns) && found.complete.get(key) != Some(columns) {
            problems.push(format!("{key:?}: {:?}, not {columns:?}", found.complete.get(key)));
        }
    }
    let odd = found.complete.keys().filter(|key| !whole.complete.contains_key(key) || inside(key));
    problems.extend(odd.map(|key| format!("{key:?} is complete")));
    problems
}

/// How often the mapped events break the rules of BTF.
fn violations(db: &Ingested) -> u64 {
    let session = SessionOptions { threads: Some(1), ..SessionOptions::default() };
    let queries = Queries::shipped();
    let options = OpenOptions {
        time_scale: None,
        choice: Choice::default(),
        remote: Remote::default(),
        session,
        queries,
    };
    let path = db.db.location().path().to_str().unwrap().to_owned();
    let trace = Trace::open(&path, &options, &Arc::new(Control::default())).unwrap();
    check(&trace, None).unwrap().iter().map(|(_, report)| report.violations(Severity::Warning)).sum()
}

/// A small generator of numbers with a fixed seed: the test is the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

fn places() -> usize {
    std::env::var("BTFDB_EDGES").map_or(4, |n| n.parse().unwrap())
}

/// Replaces a random span of records by an overflow row, in the data export, the function export, or both of
/// a random core. Returns what was done.
fn lose_records(recording: &Recording, folder: &std::path::Path, random: &mut Random) -> String {
    let cores = &recording.description.core;
    let core = &cores[random.below(cores.len())];
    let length = [1, 3, 30, 100, 1000][random.below(5)];
    let (share, timed) = (random.below(1000), random.below(2) == 0);
    let files: Vec<(&String, bool)> = match random.below(3) {
        0 => core.data.iter().map(|f| (f, true)).collect(),
        1 => core.functions.iter().map(|f| (f, false)).collect(),
        _ => core.data.iter().map(|f| (f, true)).chain(core.functions.iter().map(|f| (f, false))).collect(),
    };
    let mut span = None;
    for (file, data) in &files {
        let path = folder.join(file);
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let lines: Vec<&str> = text.lines().collect();
        if lines.iter().all(|line| line.contains("OVERFLOW")) {
            continue;
        }
        // The second export loses the same time.
        let (first, last) = *span.get_or_insert_with(|| {
            // A place that was lost before has no time.
            let records: Vec<&&str> = lines.iter().filter(|line| !line.contains("OVERFLOW")).collect();
            let first = records.len() * share / 1000;
            let last = (first + length).min(records.len()) - 1;
            (cuts::time_of(records[first]), cuts::time_of(records[last]))
        });
        let mut out = String::new();
        let mut lost = false;
        for line in lines {
            if !line.contains("OVERFLOW") && (first..=last).contains(&cuts::time_of(line)) {
                if !std::mem::replace(&mut lost, true) {
                    let seconds = format!("{}.{:09}0", first / 1_000_000_000, first % 1_000_000_000);
                    out += &match (data, timed) {
                        (true, true) => format!("-0000000001,{seconds},\"\",\"TARGET FIFO OVERFLOW\",\n"),
                        (true, false) => "-0000000001,,\"\",\"TARGET FIFO OVERFLOW\",\n".to_owned(),
                        (false, true) => format!("+{first}; TARGET FIFO OVERFLOW; \n"),
                        (false, false) => "; TARGET FIFO OVERFLOW; \n".to_owned(),
                    };
                }
            } else {
                out += line;
                out.push('\n');
            }
        }
        fs::write(path, out).unwrap();
    }
    format!("{files:?} {span:?}")
}

#[test]
fn overflows_at_random_places_leave_the_rest_as_it_is() {
    let Some(recordings) = corpus() else { return };
    let mut problems = Vec::new();
    let mut random = Random(29);
    for recording in recordings {
        let whole = Tables::of(&ingested(&recording.folder, 2));
        for place in 0..places() {
            let folder = cuts::part(recording, i64::MIN, i64::MAX);
            let mut what = format!("{} {place}:", recording.name);
            for _ in 0..=random.below(3) {
                what += &lose_records(recording, folder.path(), &mut random);
            }
            let db = ingested(folder.path(), 2);
            let mut gaps = Gaps::new();
            db.rows(tables::GAP, None, |r| {
                let span = (r.int("begin_at").unwrap(), r.int("end_at").unwrap());
                gaps.entry(r.text("core").unwrap().to_owned()).or_default().push(span);
            });
            let begin = recording.range.0;
            let found = wrong(recording, &whole, &Tables::of(&db), &gaps, begin);
            problems.extend(found.into_iter().map(|p| format!("{what} {p}")));
            let violations = violations(&db);
            problems.extend((violations > 0).then(|| format!("{what} {violations} violations of BTF")));
        }
    }
    none("overflows", &problems);
}

#[test]
fn starts_at_random_places_leave_the_rest_as_it_is() {
    let Some(recordings) = corpus() else { return };
    let mut problems = Vec::new();
    let mut random = Random(92);
    for recording in recordings {
        let whole = Tables::of(&ingested(&recording.folder, 2));
        for _ in 0..places() {
            let (begin, end) = recording.range;
            let cut = begin + (end - begin) / 1000 * (random.below(990) as i64) + random.below(5000) as i64;
            let db = ingested(cuts::part(recording, cut, i64::MAX).path(), 2);
            let begin = db.db.recordings().unwrap()[0].begin_at.unwrap();
            let found = wrong(recording, &whole, &Tables::of(&db), &Gaps::new(), begin);
            problems.extend(found.into_iter().map(|p| format!("{} from {cut}: {p}", recording.name)));
            let violations = violations(&db);
            let broken = || format!("{} from {cut}: {violations} violations of BTF", recording.name);
            problems.extend((violations > 0).then(broken));
        }
    }
    none("starts", &problems);
}
