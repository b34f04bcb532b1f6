//! Pictures as pages: a small system is simulated, drawn as a page, and the page is checked as text.
//! `tests/browser/` checks that the page works in a browser; this file writes the pages for it.

use btfdb::TimeScale;
use btfdb::internals::picture::{
    Curve, ExplainedPart, Explanation, Explanations, Highlight, Link, LinkKind, Mark, MarkKind, Picture,
    Point, Row, RowKind, Run, Shape, State, write_page,
};

/// A generator of numbers that are the same on every machine (Knuth's MMIX constants).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit.unsigned_abs()).cast_signed()
    }
}

/// A task of the simulated system; those before it in the list have a higher priority.
struct Task {
    name: &'static str,
    period: i64,
    /// Least and greatest execution time.
    runs: (i64, i64),
}

const fn task(name: &'static str, period: i64, least: i64, most: i64) -> Task {
    Task { name, period, runs: (least, most) }
}

const CORES: [&[Task]; 2] = [
    &[
        task("ISR_Timer", 250_000, 4_000, 9_000),
        task("T_1ms", 1_000_000, 120_000, 310_000),
        task("T_5ms", 5_000_000, 600_000, 1_400_000),
        task("T_10ms", 10_000_000, 900_000, 2_600_000),
        task("T_100ms", 100_000_000, 4_000_000, 9_000_000),
    ],
    &[
        task("ISR_Can", 730_000, 9_000, 25_000),
        task("T_2ms", 2_000_000, 250_000, 640_000),
        task("T_20ms", 20_000_000, 2_000_000, 5_100_000),
        task("T_Diag", 50_000_000, 3_000_000, 16_000_000),
    ],
];

/// Begin of the picture: late in a long recording, as worst cases are.
const BEGIN: i64 = 86_412_345_678_901;

struct Job {
    task: usize,
    instance: i64,
    released: i64,
    left: i64,
    /// Where the state it is in began, and which it is.
    since: i64,
    state: State,
}

/// A picture that grows while the system runs.
struct Drawn {
    picture: Picture,
    chance: Chance,
}

fn row(id: &str, label: &str, kind: RowKind) -> Row {
    Row { id: format!("{id}:{label}"), ..Row::new(kind, label) }
}

fn run(begin: i64, end: i64, state: State, name: Option<u32>, instance: Option<i64>) -> Run {
    let covered = end - begin;
    let occupied = if state.is_occupied() { covered } else { 0 };
    Run {
        begin,
        end,
        track: 0,
        state,
        name,
        instance,
        count: 1,
        covered,
        occupied,
        longest: covered,
        longest_at: begin,
    }
}

fn mark(at: i64, kind: MarkKind, name: Option<u32>) -> Mark {
    Mark { at, last: at, kind, name, count: 1 }
}

fn point(at: i64, value: f64) -> Point {
    Point { at, value, least: value, greatest: value, count: 1 }
}

impl Drawn {
    fn name(&mut self, name: &str) -> u32 {
        let names = &mut self.picture.names;
        let at = names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.into());
            names.len() - 1
        });
        u32::try_from(at).unwrap()
    }

    /// Fixed priorities, preemptive, on one core; `rows` are those of its tasks.
    fn schedule(&mut self, core: usize, tasks: &[Task], rows: &[usize], end: i64) {
        let core_row = core;
        let names: Vec<u32> = tasks.iter().map(|task| self.name(task.name)).collect();
        let on = self.name(&format!("Core_{core}"));
        let mut next: Vec<i64> = tasks.iter().map(|task| BEGIN + self.chance.below(task.period)).collect();
        let mut count = vec![0i64; tasks.len()];
        let mut jobs: Vec<Job> = Vec::new();
        let mut now = BEGIN;
        let mut last = None;
        while now < end {
            let running = (0..jobs.len()).min_by_key(|at| (jobs[*at].task, jobs[*at].instance));
            let release = next.iter().copied().min().unwrap();
            let done = running.map_or(i64::MAX, |at| now + jobs[at].left);
            let until = release.min(done).min(end);
            if let Some(at) = running {
                let job = &mut jobs[at];
                if job.state != State::Running {
                    self.picture.rows[rows[job.task]].runs.push(run(
                        job.since,
                        now,
                        job.state,
                        None,
                        Some(job.instance),
                    ));
                    (job.since, job.state) = (now, State::Running);
                }
                let job = &mut jobs[at];
                job.left -= until - now;
                let (task, instance) = (job.task, job.instance);
                self.picture.rows[core_row].runs.push(run(
                    now,
                    until,
                    State::Running,
                    Some(names[task]),
                    Some(instance),
                ));
                for other in (0..jobs.len()).filter(|other| *other != at) {
                    let other = &mut jobs[other];
                    if other.state == State::Running {
                        let ran = run(other.since, now, State::Running, Some(on), Some(other.instance));
                        self.picture.rows[rows[other.task]].runs.push(ran);
                        (other.since, other.state) = (now, State::Ready);
                    }
                }
                last = Some((task, instance));
            }
            now = until;
            if now == done {
                last = None;
                let job = jobs.remove(running.unwrap());
                let ran = run(job.since, now, State::Running, Some(on), Some(job.instance));
                let deadline = job.released + tasks[job.task].period;
                let missed = now > deadline;
                let words = format!("deadline missed by {} ns", now - deadline);
                let name = missed.then(|| self.name(&words));
                let row = &mut self.picture.rows[rows[job.task]];
                row.runs.push(ran);
                row.marks.push(mark(now, MarkKind::Termination, None));
                if missed {
                    row.marks.push(mark(now, MarkKind::Violation, name));
                }
            }
            for task in 0..tasks.len() {
                if next[task] != now || now >= end {
                    continue;
                }
                count[task] += 1;
                let (least, most) = tasks[task].runs;
                let left = least + self.chance.below(most - least);
                jobs.push(Job {
                    task,
                    instance: count[task],
                    released: now,
                    left,
                    since: now,
                    state: State::Active,
                });
                let row = &mut self.picture.rows[rows[task]];
                row.marks.push(mark(now, MarkKind::Activation, None));
                row.marks.push(mark(now + tasks[task].period, MarkKind::Deadline, None));
                if let Some((loser, _)) = last.filter(|(loser, _)| *loser > task && now != done) {
                    let (from_row, to_row) = (rows[loser], rows[task]);
                    let kind = LinkKind::Preemption;
                    self.picture.links.push(Link { kind, from_row, from_at: now, to_row, to_at: now });
                }
                next[task] += tasks[task].period;
            }
        }
        for job in jobs {
            self.picture.rows[rows[job.task]].runs.push(run(
                job.since,
                end,
                job.state,
                None,
                Some(job.instance),
            ));
        }
    }
}

fn rows_index(rows: &[Row], label: &str) -> usize {
    rows.iter().position(|row| row.label == label).unwrap()
}

/// Everything that a picture can have, over so many nanoseconds.
fn simulated(length: i64) -> Picture {
    let end = BEGIN + length;
    let mut picture = Picture {
        title: "engine-idle: tasks and cores".into(),
        description: "Two cores of an engine controller: which task runs when, and why not.".into(),
        scale: TimeScale::Ns,
        from: BEGIN,
        to: end,
        names: Vec::new(),
        colours: Vec::new(),
        rows: Vec::new(),
        links: Vec::new(),
        highlight: None,
        response: None,
        explanations: Explanations::default(),
        notes: vec!["Of T_100ms, 3 activations before the window are not shown.".into()],
    };
    for core in 0..CORES.len() {
        picture.rows.push(row("core", &format!("Core_{core}"), RowKind::Core));
    }
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for tasks in CORES {
        rows.push(Vec::new());
        for task in tasks {
            let (id, kind) =
                if task.name.starts_with("ISR") { ("isr", RowKind::Isr) } else { ("task", RowKind::Task) };
            rows.last_mut().unwrap().push(picture.rows.len());
            picture.rows.push(row(id, task.name, kind));
        }
    }
    let mut drawn = Drawn { picture, chance: Chance(42) };
    for (core, tasks) in CORES.into_iter().enumerate() {
        drawn.schedule(core, tasks, &rows[core], end);
    }
    drawn.others(end);
    let mut picture = drawn.picture;
    for row in &mut picture.rows {
        row.runs.sort_by_key(|run| (run.begin, run.track));
        row.marks.sort_by_key(|mark| mark.at);
    }
    picture.links.sort_by_key(|link| (link.from_at, link.from_row, link.to_row));
    let is_task = |name: &str| CORES.into_iter().flatten().any(|task| task.name == name);
    let named = (0..).zip(&picture.names).filter(|(_, name)| is_task(name)).map(|(name, _)| name);
    picture.colours = named.zip(0..).collect();
    let worst = rows[0][2];
    let longest = picture.rows[worst].runs.iter().max_by_key(|run| run.longest).unwrap();
    let label = "the longest stretch of T_5ms".into();
    picture.highlight = Some(Highlight { row: worst, begin: longest.begin, end: longest.end, label });
    picture.explanations = explained(&picture.rows);
    // A gap cuts off the instance that runs longest without a break.
    let diag = rows_index(&picture.rows, "T_Diag");
    let cut = &mut picture.rows[diag];
    let longest = cut.runs.iter().max_by_key(|run| run.longest).and_then(|run| run.instance);
    cut.cut.extend(longest.map(|instance| (None, instance)));
    picture
}

/// Explains the instances of the scheduled tasks: each run is a part.
fn explained(rows: &[Row]) -> Explanations {
    let words = vec!["executes".to_owned(), format!("behind {}", HOSTILE[0])];
    let mut of: std::collections::BTreeMap<(usize, i64), Explanation> = std::collections::BTreeMap::new();
    let tasks = rows.iter().enumerate().filter(|(_, row)| row.kind == RowKind::Task);
    for (row, task) in tasks.filter(|(_, row)| row.label != "T_AllStates") {
        for run in &task.runs {
            let Some(instance) = run.instance else { continue };
            let (state, words) =
                if run.state == State::Running { (State::Executes, 0) } else { (State::Delayed, 1) };
            let one = of.entry((row, instance)).or_insert_with(|| {
                let begin = run.begin;
                Explanation { row, instance, begin, parts: Vec::new() }
            });
            one.parts.push(ExplainedPart { state, words, length: run.end - run.begin });
        }
    }
    Explanations { words, of: of.into_values().collect() }
}

impl Drawn {
    /// Rows that are no schedule.
    fn others(&mut self, end: i64) {
        let long = (end - BEGIN) / 400;
        let parent = rows_index(&self.picture.rows, "T_10ms");
        let names = ["Filter", "Lookup", "ControlLaw"].map(|name| self.name(name));
        let mut runnables = row("runnable", "T_10ms/runnables", RowKind::Runnable);
        (runnables.tracks, runnables.parent) = (2, Some(parent));
        for (n, outer) in
            self.picture.rows[parent].runs.iter().filter(|r| r.state == State::Running).enumerate()
        {
            let (begin, length) = (outer.begin, outer.end - outer.begin);
            let instance = outer.instance;
            runnables.runs.push(run(begin, outer.end, State::Running, Some(names[n % 2]), instance));
            let inner = run(begin + length / 4, begin + length / 2, State::Running, Some(names[2]), instance);
            runnables.runs.push(Run { track: 1, ..inner });
        }
        self.picture.rows.insert(parent + 1, runnables);
        for link in &mut self.picture.links {
            link.from_row += usize::from(link.from_row > parent);
            link.to_row += usize::from(link.to_row > parent);
        }

        let holder = self.name("T_5ms");
        let mut semaphore = row("semaphore", "Res_Spi", RowKind::Semaphore);
        let mut event = row("event", "Ev_Data", RowKind::Event);
        let mut signal = row("signal", "VehicleSpeed", RowKind::Signal);
        let mut server = row("server", "S_Comfort", RowKind::Server);
        let mut buffer = row("buffer", "Q_Can", RowKind::Buffer);
        let mut stimulus = row("stimulus", "Timer_1ms", RowKind::Stimulus);
        let mut steps = Vec::new();
        let mut levels = Vec::new();
        let mut budget = Vec::new();
        let mut speed = 1200;
        for n in 0..400 {
            let at = BEGIN + n * long;
            let held = at + long / 5 + self.chance.below(long / 5);
            semaphore.runs.push(run(at + long / 9, held, State::Held, Some(holder), Some(n + 1)));
            if n % 3 == 0 {
                semaphore.runs.push(run(held, held + long / 8, State::Wanted, Some(holder), None));
            }
            event.marks.push(mark(at, MarkKind::Wait, Some(holder)));
            event.marks.push(mark(at + long / 3, MarkKind::Set, None));
            event.marks.push(mark(at + long / 2, MarkKind::Clear, None));
            speed += self.chance.below(200) - 100;
            steps.push(point(at, speed as f64 / 8.0));
            signal.marks.push(mark(at, MarkKind::Write, None));
            signal.marks.push(mark(at + long / 2, MarkKind::Read, None));
            levels.push(point(at, self.chance.below(9) as f64));
            budget.push(point(at, if n % 4 == 0 { 4.0 } else { f64::from((4 - n % 4) as i32) }));
            budget.push(point(at + long / 2, f64::from((4 - n % 4) as i32) - 1.0));
            if n % 4 == 0 {
                server.marks.push(mark(at, MarkKind::Replenished, None));
            }
            stimulus.marks.push(mark(at, MarkKind::Trigger, None));
        }
        server.marks.push(mark(BEGIN + 150 * long, MarkKind::Depleted, None));
        signal.curve = Some(Curve { shape: Shape::Steps, points: steps, limit: None, unit: "km/h".into() });
        server.curve =
            Some(Curve { shape: Shape::Lines, points: budget, limit: Some(4.0), unit: "ms".into() });
        buffer.curve =
            Some(Curve { shape: Shape::Steps, points: levels, limit: Some(8.0), unit: String::new() });

        let mut states = row("task", "T_AllStates", RowKind::Task);
        let all = [
            State::Active,
            State::Running,
            State::Polling,
            State::Parking,
            State::Critical,
            State::Ready,
            State::Waiting,
            State::Running,
        ];
        for n in 0..160 {
            let begin = BEGIN + n * long * 5 / 2;
            let state = all[(n % 8) as usize];
            states.runs.push(run(begin, begin + long * 5 / 2, state, None, Some(n / 8 + 1)));
            if n == 61 {
                states.marks.push(mark(begin, MarkKind::ActivationLost, None));
                states.marks.push(mark(begin + long, MarkKind::Migration, None));
            }
        }
        let merged =
            Run { count: 4711, covered: long * 20, occupied: long * 12, longest: long / 7, ..states.runs[9] };
        let mut idle = row("isr", "ISR_Merged", RowKind::Isr);
        for n in 0..10 {
            let begin = BEGIN + n * long * 40;
            let (longest_at, covered) = (begin + 5, long * (2 + n * 3));
            idle.runs.push(Run {
                begin,
                end: begin + long * 36,
                track: 0,
                covered,
                occupied: covered,
                longest_at,
                ..merged
            });
            idle.runs[n as usize].state = State::Running;
        }
        let mut trace = row("trace", "recording", RowKind::Trace);
        trace.runs.push(run(BEGIN + 210 * long, BEGIN + 218 * long, State::Gap, None, None));
        for (n, words) in HOSTILE.into_iter().enumerate() {
            let name = self.name(words);
            trace.marks.push(mark(BEGIN + (n as i64 + 1) * 37 * long, MarkKind::Message, Some(name)));
        }
        self.picture.rows.extend([states, idle, semaphore, event, signal, server, buffer, stimulus, trace]);
    }
}

/// Names that a recording may bring, and that a page must show as they are.
const HOSTILE: [&str; 6] = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "\" onmouseover='alert(3)'",
    "line\u{2028}separator & <!-- comment",
    "\u{202e}reversed\u{0}\u{1b}[31m",
    "{{data}}",
];

fn page(picture: &Picture) -> String {
    let mut bytes = Vec::new();
    write_page(picture, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_page_needs_nothing_else() {
    let mut picture = simulated(20_000_000);
    let page_of_tame = page(&picture);
    for word in ["http:", "https:", " src=", " href=", "url(", "@import", "import(", "eval(", "innerHTML"] {
        assert!(!page_of_tame.contains(word), "{word} in the page");
    }
    assert!(page_of_tame.contains("default-src 'none'"));
    picture.title = HOSTILE.concat();
    picture.description = HOSTILE.concat();
    picture.notes = HOSTILE.map(String::from).to_vec();
    picture.rows[0].label = HOSTILE.concat();
    let hostile = page(&picture);
    for tag in ["<script", "</script", "<img", "<style", "<!--"] {
        assert_eq!(hostile.matches(tag).count(), page_of_tame.matches(tag).count(), "{tag}");
    }
    assert!(hostile.contains("{{data}}"), "a name is no part of the frame");
    assert!(!hostile.contains('\u{0}') && !hostile.contains('\u{1b}'));
}

#[test]
fn the_same_picture_gives_the_same_page() {
    let picture = simulated(20_000_000);
    assert_eq!(page(&picture), page(&picture.clone()));
}

#[test]
fn a_window_that_cannot_be_counted_is_refused() {
    let mut picture = simulated(20_000_000);
    (picture.from, picture.to) = (i64::MIN, i64::MAX);
    let error = write_page(&picture, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("2^52"), "{error}");
}

/// Writes the pages that `tests/browser/` opens into the folder that it names.
#[test]
fn pages_for_the_browser() {
    let small = simulated(200_000_000);
    let runs = |picture: &Picture| picture.rows.iter().map(|row| row.runs.len()).sum::<usize>();
    assert!(runs(&small) > 2_000);
    let Some(folder) = std::env::var_os("BTFDB_PAGES") else {
        eprintln!("skipped: no browser asks for pages (BTFDB_PAGES)");
        return;
    };
    let folder = std::path::PathBuf::from(folder);
    std::fs::write(folder.join("small.html"), page(&small)).unwrap();
    let large = simulated(28_000_000_000);
    assert!(runs(&large) > 1_000_000, "{}", runs(&large));
    std::fs::write(folder.join("million.html"), page(&large)).unwrap();
    eprintln!("{} stretches", runs(&large));
}
