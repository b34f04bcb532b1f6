//! Random traces: one response, of which little is read, is explained as all are, for which the recording is
//! read once. Not what explanations say (see `explain`).

use crate::support::Bench;
use std::fmt::Write as _;

/// How many traces are drawn.
const TRACES: u64 = 16;

/// Small random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    fn is(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// What a process does.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    Nothing,
    Active,
    Runs,
    Ready,
    Polls,
    Parks,
    Waits,
}

struct Process {
    name: String,
    core: usize,
    instance: i64,
    does: Does,
    asks: u64,
    holds: Vec<u64>,
}

/// A system of two cores that does anything of which a recording can tell: tasks take semaphores that others
/// have, give back what they do not have, end with some, and leave cores that nobody takes.
struct System {
    random: Random,
    processes: Vec<Process>,
    /// Who runs or polls.
    on: [Option<usize>; 2],
    time: u64,
    text: String,
}

impl System {
    fn line(&mut self, rest: &str) {
        writeln!(self.text, "{},{rest}", self.time).unwrap();
    }

    /// An event of a process on its core.
    fn event(&mut self, n: usize, action: &str, does: Does) {
        let Process { name, core, instance, .. } = &self.processes[n];
        let (kind, core) = (&name[..1], *core);
        let line = format!("Core_{core},0,{kind},{name},{instance},{action}");
        self.line(&line);
        self.processes[n].does = does;
        let has_core = matches!(does, Does::Runs | Does::Polls);
        if has_core || self.on[core] == Some(n) {
            self.on[core] = has_core.then_some(n);
        }
    }

    /// An event of a semaphore.
    fn semaphore(&mut self, n: usize, semaphore: u64, action: &str) {
        let Process { name, instance, .. } = &self.processes[n];
        let line = format!("{name},{instance},SEM,S_{semaphore},0,{action}");
        self.line(&line);
        match action {
            "assigned" => self.processes[n].holds.push(semaphore),
            "released" => self.processes[n].holds.retain(|held| *held != semaphore),
            _ => {}
        }
    }

    fn step(&mut self) {
        let n = self.random.below(self.processes.len() as u64) as usize;
        let Process { core, does, asks, .. } = self.processes[n];
        let is_free = self.on[core].is_none();
        let (choice, any) = (self.random.below(100), self.random.below(3));
        match does {
            Does::Nothing if choice < 80 || is_free => {
                self.processes[n].instance += 1;
                let Process { name, instance, .. } = &self.processes[n];
                let line = format!("Alarm,{instance},{},{name},{instance},activate", &name[..1]);
                if choice < 80 {
                    self.line(&line);
                    self.processes[n].does = Does::Active;
                } else {
                    self.event(n, "start", Does::Runs);
                }
            }
            Does::Active if is_free => self.event(n, "start", Does::Runs),
            Does::Active if choice < 30 => {
                if let Some(other) = self.on[core].filter(|other| self.processes[*other].does == Does::Runs) {
                    self.event(other, "preempt", Does::Ready);
                    self.event(n, "start", Does::Runs);
                }
            }
            Does::Ready if is_free => self.event(n, "resume", Does::Runs),
            Does::Runs if choice < 30 => {
                self.semaphore(n, any, "requestsemaphore");
                if self.random.is(60) {
                    return self.semaphore(n, any, "assigned");
                }
                self.semaphore(n, any, "waiting");
                self.processes[n].asks = any;
                let (action, does) = if choice < 20 { ("poll", Does::Polls) } else { ("wait", Does::Waits) };
                self.event(n, action, does);
            }
            Does::Runs if choice < 55 => {
                let held = self.processes[n].holds.first().copied();
                self.semaphore(n, held.unwrap_or(any), "released");
            }
            Does::Runs if choice < 80 => {
                self.event(n, "terminate", Does::Nothing);
                self.processes[n].holds.clear();
            }
            Does::Runs if choice < 90 => self.event(n, "preempt", Does::Ready),
            Does::Polls if choice < 60 => {
                self.semaphore(n, asks, "assigned");
                self.event(n, "run", Does::Runs);
            }
            Does::Polls if choice < 80 => self.event(n, "park", Does::Parks),
            Does::Parks if is_free => self.event(n, "poll_parking", Does::Polls),
            Does::Waits => {
                self.semaphore(n, asks, "assigned");
                self.event(n, "release", Does::Ready);
            }
            _ => {}
        }
    }
}

/// A trace in BTF. Its steps take microseconds or up to a tenth of a second.
fn trace(seed: u64) -> String {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed);
    let process = |n: u64, random: &mut Random| Process {
        name: if n < 2 { format!("I_{n}") } else { format!("T_{n}") },
        core: random.below(2) as usize,
        instance: -1,
        does: Does::Nothing,
        asks: 0,
        holds: Vec::new(),
    };
    let processes = (0..6).map(|n| process(n, &mut random)).collect();
    let length = [1_000, 100_000, 3_000_000, 20_000_000][random.below(4) as usize];
    let text =
        "#version 2.2.1\n#creator test\n#creationDate 2026-01-01T00:00:00Z\n#timeScale ns\n".to_owned();
    let mut system = System { random, processes, on: [None; 2], time: 0, text };
    for _ in 0..120 {
        let pause = [0, 1, length, 10 * length][system.random.below(4) as usize];
        system.time += system.random.below(pause + 1);
        system.step();
    }
    system.text
}

#[test]
fn one_response_of_any_trace_is_explained_as_all_are() {
    let bench = Bench::new();
    let mut count = 0;
    for seed in 0..TRACES {
        bench.write("r.btf", trace(seed));
        let recording = format!("r_{seed}");
        bench.ok(&["ingest", "r.db", "r.btf", "--name", &recording, "-q"]);
        let sql = format!(
            "SELECT * FROM response_part WHERE recording = '{recording}' ORDER BY process, instance, part"
        );
        let all = bench.ok(&["query", "r.db", &sql, "--format", "csv"]).stdout;
        let (header, all) = all.split_once('\n').unwrap_or_default();
        let mut script = ".mode csv\n".to_owned();
        let mut instances: Vec<&str> = all.lines().map(instance).collect();
        instances.dedup();
        for instance in &instances {
            let mut fields = instance.split(',');
            let (process, number) = (fields.nth(1).unwrap(), fields.nth(1).unwrap());
            writeln!(
                script,
                "SELECT * FROM response_part WHERE recording = '{recording}' AND process = '{process}' \
                 AND instance = {number} ORDER BY part;"
            )
            .unwrap();
        }
        let each = bench.run_with_input(&["shell", "r.db"], &script);
        assert_eq!(each.code, Some(0), "{}", each.stderr);
        let rows: Vec<&str> = each.stdout.lines().filter(|line| *line != header).collect();
        let different = rows.iter().zip(all.lines()).find(|(one, other)| **one != *other);
        assert_eq!(different, None, "trace {seed}:\n{}", trace(seed));
        assert_eq!(rows.len(), all.lines().count(), "trace {seed}");
        count += instances.len();
    }
    assert!(count > 5 * TRACES as usize, "{count} instances");
}

/// Recording, process, type and number of a row.
fn instance(line: &str) -> &str {
    let end = line.match_indices(',').nth(3).map_or(line.len(), |(end, _)| end);
    &line[..end]
}
