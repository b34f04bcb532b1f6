//! Slices that begin with the state there: another viewer knows what runs and what is held, the slice has no
//! finding that the whole has not, and read again it has the states of the whole.

use crate::continued::random;
use crate::support::{Bench, relative, root};
use btfdb::internals::btf::{Action, EntityType, State, rule};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const VERSIONS: [&str; 3] = ["2.1.5", "2.2.1", "2.3.0"];

/// One event of a BTF text.
struct Event<'a>(Vec<&'a str>);

impl<'a> Event<'a> {
    fn all(text: &'a str) -> impl Iterator<Item = Self> {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(|line| Self(line.splitn(8, ',').collect()))
    }

    fn time(&self) -> i64 {
        self.0[0].parse().unwrap()
    }

    fn action(&self) -> Action {
        Action::parse_tolerant(self.0[6]).unwrap()
    }
}

/// What a viewer shows that takes each event at its word: state by entity, by the state charts alone.
#[derive(Default)]
struct Viewer(BTreeMap<String, String>);

impl Viewer {
    fn event(&mut self, event: &Event<'_>) {
        let [source, kind, target] = [1, 3, 4].map(|n| event.0[n]);
        let instance = event.0[5];
        let (action, note) = (event.action(), event.0.get(7).copied());
        match kind {
            "SIG" => drop(self.0.insert(target.into(), note.unwrap_or_default().into())),
            "SEM" if action == Action::Assigned => {
                drop(self.0.insert(format!("{target} owner"), source.into()))
            }
            "SEM" | "T" | "I" | "R" => {
                let kind = EntityType::parse_tolerant(kind).unwrap();
                let rule = rule(btfdb::internals::btf::Version::V2_1_5, kind, action);
                let Some(moves) = rule.and_then(|rule| rule.moves) else { return };
                let key = format!("{target} {instance}");
                if moves.to == State::Terminated {
                    self.0.remove(&key);
                } else if moves.to == State::Free {
                    self.0.remove(&key);
                    self.0.remove(&format!("{target} owner"));
                } else {
                    self.0.insert(key, format!("{:?}", moves.to));
                }
            }
            _ => {}
        }
    }

    /// What all events before `end` show.
    fn of(text: &str, end: i64) -> BTreeMap<String, String> {
        let mut viewer = Self::default();
        Event::all(text).filter(|event| event.time() < end).for_each(|event| viewer.event(&event));
        viewer.0
    }
}

/// A recording in a database, and as BTF.
pub struct Whole {
    bench: Bench,
    btf: String,
    times: Vec<i64>,
    /// Rules of each version that the whole breaks.
    broken: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Whole {
    pub fn of(folder: &Path) -> Self {
        let bench = Bench::new();
        bench.ok(&["ingest", "t.db", &folder.display().to_string(), "-q"]);
        let btf = bench.ok(&["export", "t.db", "-o", "-", "-q"]).stdout;
        let mut times: Vec<i64> = Event::all(&btf).map(|event| event.time()).collect();
        times.dedup();
        let mut whole = Self { bench, btf, times, broken: BTreeMap::new() };
        for version in VERSIONS {
            let file = format!("{version}.btf");
            whole.bench.ok(&["export", "t.db", "-o", &file, "--btf-version", version, "-q"]);
            let broken = whole.findings(&file);
            whole.broken.insert(version, broken);
        }
        whole
    }

    /// Errors and warnings of `check`, by their rules.
    fn findings(&self, file: &str) -> BTreeSet<String> {
        let run = self.bench.run(&["check", file, "--format", "json"]);
        let reports: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let findings = reports[0]["findings"].as_array().unwrap().iter();
        let bad = findings.filter(|finding| finding["severity"] != "info");
        bad.map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
    }

    /// An instant of the recording by a number between 0 and 1000, and one a while later.
    pub fn window(&self, place: usize) -> (i64, i64) {
        let n = self.times.len() * place / 1000;
        let later = (n + self.times.len() / 4).min(self.times.len() - 1);
        (self.times[n.max(1)], self.times[later].max(self.times[n.max(1)] + 1))
    }

    /// What is wrong with the slice of a window.
    pub fn slice(&self, (from, to): (i64, i64)) -> Vec<String> {
        let (from_text, to_text) = (from.to_string(), to.to_string());
        let export = |more: &[&str]| {
            let args =
                ["export", "t.db", "--from", &from_text, "--to", &to_text, "--with-state", "-q", "--force"];
            self.bench.ok(&[&args, more].concat()).stdout
        };
        let mut found = Vec::new();
        let text = export(&["-o", "-"]);
        // What the first lines say, as far as the comment says that they are of the state.
        let said = text.lines().find_map(|l| l.strip_prefix("# the next ")?.split(' ').next()?.parse().ok());
        let mut viewer = Viewer::default();
        Event::all(&text).take(said.unwrap_or(0)).for_each(|event| viewer.event(&event));
        let expected = Viewer::of(&self.btf, from);
        if viewer.0 != expected {
            found.push(format!("at {from} a viewer shows {:?}, not {expected:?}", viewer.0));
        }
        for version in VERSIONS {
            export(&["-o", "slice.btf", "--btf-version", version]);
            let new: Vec<_> = self.findings("slice.btf").difference(&self.broken[version]).cloned().collect();
            if !new.is_empty() {
                found.push(format!("[{from}, {to}) in {version}: {new:?}"));
            }
        }
        export(&["-o", "slice.btf"]);
        let _ = fs::remove_dir_all(self.bench.path().join("slice.db"));
        self.bench.ok(&["ingest", "slice.db", "slice.btf", "-q"]);
        let last = Event::all(&text).map(|event| event.time()).max().unwrap_or(from);
        // BTF knows the handlers of one name on several cores by that name, and counts them as one (I9).
        let sql = format!(
            "SELECT regexp_replace(process, '^Core_[0-9]+\\.', '') AS process, type, \
             CASE type WHEN 'T' THEN instance END AS instance, state, greatest(begin_at, {from}) AS b, least(end_at, {last}) AS e \
             FROM process_state WHERE begin_at < {last} AND end_at > {from} ORDER BY 1, 2, 3, 5"
        );
        let states = |db: &str| self.bench.ok(&["query", db, &sql, "--format", "csv"]).stdout;
        let [whole, slice] = ["t.db", "slice.db"].map(states);
        if last > from && whole != slice {
            let differ = |a: &str, b: &str| {
                a.lines()
                    .filter(|line| !b.lines().any(|other| other == *line))
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            found.push(format!(
                "[{from}, {last}): - {:?} + {:?}",
                differ(&whole, &slice),
                differ(&slice, &whole)
            ));
        }
        found
    }
}

/// Recordings without gaps, whose states a BTF file can hold.
fn recordings() -> Vec<PathBuf> {
    let names = [
        "erika2/events",
        "erika2/resources",
        "erika2/polling_isr",
        "osek/error_polling",
        "osek/isr",
        "osek/mta",
    ];
    let small = names.iter().map(|name| root().join("tests/data").join(name));
    [root().join("demo/recording")].into_iter().chain(small).collect()
}

#[test]
fn a_slice_with_its_state_says_what_the_whole_knows() {
    let mut seed = 4;
    for folder in recordings() {
        let whole = Whole::of(&folder);
        let places = if folder.ends_with("demo/recording") { 3 } else { 1 };
        for _ in 0..places {
            let window = whole.window(random(&mut seed, 1000));
            let found = whole.slice(window);
            assert!(found.is_empty(), "{}\n{}", relative(&folder), found.join("\n"));
        }
    }
}

#[test]
fn the_state_is_asked_for_and_only_with_a_begin() {
    let bench = Bench::new();
    bench.demo();
    bench.ok(&["ingest", "t.db", "recording", "-q"]);
    let run = bench.run(&["export", "t.db", "-o", "a.btf", "--with-state"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("--with-state is about the instant --from"), "{}", run.stderr);
    let run = bench.run(&["export", "t.db", "-o", "a.csv", "--from", "1ms", "--with-state"]);
    assert!(run.stderr.contains("--with-state is for BTF only"), "{}", run.stderr);
    // Slices without it, one after the other, are the whole.
    let whole = bench.ok(&["export", "t.db", "-o", "-", "-q"]).stdout;
    let events =
        |text: &str| text.lines().filter(|l| !l.starts_with('#')).map(str::to_owned).collect::<Vec<_>>();
    let first = bench.ok(&["export", "t.db", "-o", "-", "-q", "--to", "5ms"]).stdout;
    let second = bench.ok(&["export", "t.db", "-o", "-", "-q", "--from", "5ms"]).stdout;
    assert_eq!([events(&first), events(&second)].concat(), events(&whole));
    let slice = bench.ok(&["export", "t.db", "-o", "-", "-q", "--from", "5ms", "--with-state"]).stdout;
    assert!(events(&slice).ends_with(&events(&second)) && events(&slice).len() > events(&second).len());
}

/// P holds S on core 1, in a runnable; Q polls for S on core 0; T has two pending activations, and lost one.
const TRACE: &str = "#version 2.1.5
#timeScale ns
0,S,0,SEM,S,0,ready
0,SIM,-1,STI,B,0,trigger
0,B,0,T,P,0,activate
0,Core_1,0,T,P,0,start
0,SIM,-1,STI,C,0,trigger
0,C,0,T,Q,0,activate
0,Core_0,0,T,Q,0,start
0,SIM,-1,STI,A,0,trigger
0,A,0,T,T,0,activate
1,P,0,SEM,S,0,requestsemaphore
1,S,0,SEM,S,0,lock
1,P,0,SEM,S,0,assigned
1,P,0,SIG,X,0,write,7
1,P,0,R,F,0,start
2,Q,0,SEM,S,0,requestsemaphore
2,S,0,SEM,S,0,overfull
2,Q,0,SEM,S,0,waiting
2,Core_0,0,T,Q,0,poll
3,SIM,-1,STI,A,1,trigger
3,A,1,T,T,1,mtalimitexceeded
4,SIM,-1,STI,A,2,trigger
4,A,2,T,T,2,activate
9,P,0,R,F,0,terminate
10,P,0,SEM,S,0,released
10,S,0,SEM,S,0,full
10,S,0,SEM,S,0,unlock
20,SIM,-1,STI,A,3,trigger
20,A,3,T,T,3,activate
";

#[test]
fn each_state_is_said_by_the_event_that_claims_least() {
    let bench = Bench::new();
    bench.write("trace.btf", TRACE);
    bench.ok(&["ingest", "t.db", "trace.btf", "-q"]);
    let run = bench.ok(&["export", "t.db", "--from", "5", "--with-state", "-o", "slice.btf"]);
    assert!(run.stderr.contains("23 events, the first 17 for the state at the begin"), "{}", run.stderr);
    let expected = "#version 2.1.5
#timeScale ns
# the next 17 events say the state at the begin of the window; they were not recorded there
5,SIM,-1,STI,A,0,trigger
5,SIM,-1,STI,A,1,trigger
5,SIM,-1,STI,A,2,trigger
5,P,0,SIG,X,0,write,7
5,S,0,SEM,S,0,ready
5,P,0,SEM,S,0,requestsemaphore
5,S,0,SEM,S,0,lock
5,P,0,SEM,S,0,assigned
5,Q,0,SEM,S,0,requestsemaphore
5,S,0,SEM,S,0,overfull
5,Q,0,SEM,S,0,waiting
5,A,0,T,T,0,activate
5,A,1,T,T,1,mtalimitexceeded
5,A,2,T,T,2,activate
5,Core_1,0,T,P,0,resume
5,Core_0,0,T,Q,0,poll
5,P,0,R,F,0,resume
9,P,0,R,F,0,terminate
";
    let text = fs::read_to_string(bench.path().join("slice.btf")).unwrap();
    assert!(text.starts_with(expected), "{text}");
    let check = bench.ok(&["check", "slice.btf"]).stdout;
    assert!(check.contains("0 errors, 0 warnings"), "{check}");
    // A number that was used after a pending activation cannot be left out.
    let trace =
        TRACE.replace("4,A,2,T,T,2,activate", "4,A,2,T,T,3,activate").replace("20,A,3,T,T,3", "20,A,3,T,T,4");
    bench.write("odd.btf", trace);
    bench.ok(&["ingest", "odd.db", "odd.btf", "-q"]);
    let run = bench.ok(&["export", "odd.db", "--from", "5", "--with-state", "-o", "odd2.btf"]);
    assert!(run.stderr.contains("2 pending activations at the begin are comments"), "{}", run.stderr);
    let text = fs::read_to_string(bench.path().join("odd2.btf")).unwrap();
    assert!(text.contains("# not said by an event: T instance 0 is active\n"), "{text}");
    // Names are selected by patterns, too.
    let of = |names: &str| {
        let args =
            ["export", "odd.db", "--from", "5", "--with-state", "--entity", names, "-o", "x.btf", "--force"];
        let run = bench.ok(&args);
        let text = fs::read_to_string(bench.path().join("x.btf")).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with("# a part of a trace"));
        (lines.map(str::to_owned).collect::<Vec<_>>(), run.stderr.contains("pending activations"))
    };
    let (queue, is_unsaid) = of("Q");
    assert!(queue.contains(&"5,Core_0,0,T,Q,0,poll".to_owned()) && !is_unsaid, "{queue:?}");
    assert!(!queue.iter().any(|line| line.contains("not said by an event")), "{queue:?}");
    assert_eq!(of("Q*"), (queue, false));
    let (tasks, is_unsaid) = of("T");
    assert!(tasks.iter().any(|line| line.contains("T instance 0 is active")) && is_unsaid, "{tasks:?}");
    assert_eq!(of("T*"), (tasks, true));
}

#[test]
fn what_a_gap_hides_is_not_said() {
    let bench = Bench::new();
    let folder = root().join("tests/data/erika2/gap");
    bench.ok(&["ingest", "t.db", &folder.display().to_string(), "-q"]);
    // Within the first gap of the only core.
    let gap = bench.ok(&[
        "query",
        "t.db",
        "SELECT begin_at, end_at FROM gap ORDER BY 1 LIMIT 1",
        "--format",
        "csv",
    ]);
    let (begin, end) = gap.stdout.lines().nth(1).unwrap().split_once(',').unwrap();
    let middle = (begin.parse::<i64>().unwrap() + end.parse::<i64>().unwrap()) / 2;
    let from = middle.max(begin.parse::<i64>().unwrap() + 1).to_string();
    let text = bench.ok(&["export", "t.db", "--from", &from, "--with-state", "-o", "-", "-q"]).stdout;
    assert!(!text.contains("say the state at the begin"), "{text}");
}
