//! Text of ftrace on the command line: a recording of a real kernel against what its tasks noted of
//! themselves, what other programs print of the same events, losses, and damaged texts. Not the lines nor the
//! fields (see `formats::ftrace`).

use crate::support::{Bench, root};

/// Three tasks of real time on one CPU and one on another, 160 ms long.
const TRACE: &str = "tests/data/ftrace/control.trace";
/// Their jobs: task, job, release, and when it began and ended by the clock that it read itself.
const JOBS: &str = "tests/data/ftrace/control.jobs.csv";

/// A bench with that recording in `f.db`; each job is an instance.
fn recorded() -> Bench {
    let bench = Bench::new();
    let trace = root().join(TRACE);
    let run = bench.ok(&["ingest", "f.db", trace.to_str().unwrap(), "--endless", "*"]);
    assert!(run.stderr.contains("[lost-events]"), "switches of a CPU are missing: {}", run.all());
    bench
}

fn rows(bench: &Bench, sql: &str) -> Vec<Vec<String>> {
    let found = bench.ok(&["query", "f.db", sql, "--format", "csv"]).stdout;
    found.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn every_job_is_an_instance_around_the_times_that_it_noted() {
    let bench = recorded();
    let jobs = std::fs::read_to_string(root().join(JOBS)).unwrap();
    assert_eq!(jobs.lines().count(), 78, "all jobs were noted");
    for job in jobs.lines() {
        let [task, _, release, begin, end] = job.split(',').collect::<Vec<_>>()[..] else { panic!("{job}") };
        // The kernel prints microseconds, cut. It did not record when its second CPU left its idle task: when
        // the task there got the CPU is not known, nor claimed.
        let is_seen = task != "net=0_pid=7";
        let known = if is_seen {
            "start_at <= {begin} AND complete"
        } else {
            "activate_at <= {begin} AND NOT complete"
        };
        let sql = format!(
            "SELECT count(*), min(activate_at), min(core) FROM process_instance
             WHERE process = '{task}' AND {} AND terminate_at + 1000 > {end} AND activate_at < {end}",
            known.replace("{begin}", begin)
        );
        let [found] = &rows(&bench, &sql)[..] else { panic!("{job}") };
        assert_eq!(found[0], "1", "{job}: one instance");
        let time = |text: &str| text.parse::<i64>().unwrap();
        assert!(time(&found[1]) + 1000 > time(release), "{job}: not before its release: {found:?}");
        assert_eq!(found[2], if is_seen { "Core_0" } else { "Core_1" }, "{job}");
    }
}

#[test]
fn events_are_those_that_a_plain_search_counts() {
    let bench = recorded();
    let text = std::fs::read_to_string(root().join(TRACE)).unwrap();
    let events = text.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(rows(&bench, "SELECT count(*) FROM trace_event")[0][0], events.to_string());
    for name in ["sched_switch", "sched_wakeup", "softirq_entry", "irq_handler_entry"] {
        let count = text.lines().filter(|line| line.contains(&format!(": {name}: "))).count();
        let sql = format!(
            "SELECT count(*), count(payload['context']['pid']) FROM trace_event WHERE name = '{name}'"
        );
        assert_eq!(rows(&bench, &sql)[0], [count.to_string(), count.to_string()], "{name}");
    }
    let named = text.lines().filter(|line| line.contains("prev_comm=net=0 pid=7 prev_pid=")).count();
    let sql = "SELECT count(*) FROM trace_event WHERE payload['prev_comm'] = 'net=0 pid=7'";
    assert!(named > 10 && rows(&bench, sql)[0][0] == named.to_string());
}

#[test]
fn all_that_is_done_with_recordings_is_done_with_it() {
    let bench = recorded();
    let check = bench.ok(&["check", "f.db"]);
    assert!(check.stdout.contains("0 errors, 0 warnings"), "{}", check.all());
    for (format, file) in [("btf", "f.btf"), ("perfetto", "f.pftrace"), ("csv", "f.csv")] {
        bench.ok(&["export", "f.db", "--format", format, "-o", file]);
    }
    let same = bench.ok(&["compare", "f.db", "f.btf"]);
    assert!(same.stdout.contains("0 only in A, 0 only in B"), "{}", same.all());
    bench.ok(&["plot", "f.db", "-o", "f.svg"]);
    assert!(bench.ok(&["map", "f.db"]).stderr.contains("control: mapped to"));
    let response = bench.ok(&["metrics", "f.db", "ResponseTime", "--entity", "control", "--format", "csv"]);
    assert_eq!(response.stdout.lines().count(), 2, "{}", response.all());
}

/// trace-cmd prints switches and wake-ups in its own way; the system events are the same.
#[test]
fn what_trace_cmd_prints_means_the_same() {
    let bench = recorded();
    let text = std::fs::read_to_string(root().join(TRACE)).unwrap();
    let field = |line: &str, name: &str, next: &str| {
        let behind = line.split_once(&format!(" {name}=")).unwrap().1;
        behind.split_once(next).map_or(behind, |(value, _)| value).to_owned()
    };
    let mut printed = "cpus=2\n".to_owned();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (begin, _) = line.split_once(": ").unwrap();
        if line.contains(": sched_switch: ") {
            let [from, from_pid, from_prio, state] =
                [("prev_comm", " prev_pid="), ("prev_pid", " "), ("prev_prio", " "), ("prev_state", " ==>")]
                    .map(|(name, next)| field(line, name, next));
            let [to, to_pid, to_prio] = [("next_comm", " next_pid="), ("next_pid", " "), ("next_prio", " ")]
                .map(|(name, next)| field(line, name, next));
            printed += &format!(
                "{begin}: sched_switch:         {from}:{from_pid} [{from_prio}] {state} ==> {to}:{to_pid} [{to_prio}]\n"
            );
        } else if line.contains(": sched_wakeup: ") {
            let [comm, pid, prio, cpu] =
                [("comm", " pid="), ("pid", " "), ("prio", " "), ("target_cpu", " ")].map(|(name, next)| {
                    // Behind the name, which has an equals sign itself.
                    let line = if name == "comm" { line } else { line.rsplit_once(" pid=").unwrap().1 };
                    if name == "pid" {
                        line.split_once(' ').unwrap().0.to_owned()
                    } else {
                        field(line, name, next)
                    }
                });
            printed += &format!("{begin}: sched_wakeup:         {comm}:{pid} [{prio}] CPU:{cpu}\n");
        } else {
            printed += &format!("{line}\n");
        }
    }
    assert!(printed.contains("log writer:") && printed.contains("] R ==> sensor:"));
    bench.write("printed.txt", &printed);
    bench.ok(&["ingest", "p.db", "printed.txt", "--endless", "*", "-q"]);
    let same = bench.ok(&["compare", "f.db", "p.db"]);
    assert!(same.stdout.contains("0 only in A, 0 only in B"), "{}", same.all());
}

#[test]
fn what_was_lost_is_not_claimed() {
    let bench = Bench::new();
    let switch = |cpu: u32, at: u32, from: &str, state: &str, to: &str| {
        let number = |name: &str| match name {
            "a" => 1,
            "b" => 2,
            _ => 0,
        };
        format!(
            "  x-9  [00{cpu}] d..2. 10.{at:06}: sched_switch: prev_comm={from} prev_pid={} prev_prio=120 prev_state={state} ==> \
             next_comm={to} next_pid={} next_prio=120\n",
            number(from),
            number(to)
        )
    };
    let text = [
        "# tracer: nop\n#\n# entries-in-buffer/entries-written: 7/20   #P:2\n#\n".to_owned(),
        switch(0, 100, "idle", "R", "a"),
        switch(0, 200, "a", "S", "idle"),
        "##### CPU 1 buffer started ####\n".to_owned(),
        switch(1, 300, "idle", "R", "b"),
        switch(0, 400, "idle", "R", "a"),
        "CPU:0 [LOST 3 EVENTS]\n".to_owned(),
        switch(0, 600, "idle", "R", "a"),
        switch(0, 700, "a", "S", "idle"),
        switch(1, 800, "b", "S", "idle"),
        "CPU:1 [LOST EVENTS]\n".to_owned(),
    ];
    bench.write("lost.trace", text.concat());
    let run = bench.ok(&["ingest", "f.db", "lost.trace"]);
    assert!(run.stderr.contains("13 events before were overwritten"), "{}", run.all());
    let gaps = bench.ok(&[
        "query",
        "f.db",
        "SELECT core, begin_at, end_at, reason FROM gap ORDER BY begin_at",
        "--format",
        "csv",
    ]);
    insta::assert_snapshot!("gaps", gaps.stdout);
    // A text that was cut from another one has no header; the kernel says what it overwrote in between, too.
    bench.write("cut.trace", text[1..].concat());
    bench.ok(&["ingest", "cut.db", "cut.trace"]);
    let sql = "SELECT core, begin_at, end_at, reason FROM gap ORDER BY begin_at";
    assert_eq!(bench.ok(&["query", "cut.db", sql, "--format", "csv"]).stdout, gaps.stdout);
    let states = "SELECT process, state, begin_at, end_at FROM process_state WHERE core = 'Core_0' ORDER BY begin_at, process";
    insta::assert_snapshot!(
        "states_around_gaps",
        bench.ok(&["query", "f.db", states, "--format", "csv"]).stdout
    );
}

#[test]
fn damaged_texts_lose_their_damaged_lines_only() {
    let bench = Bench::new();
    let text = std::fs::read(root().join(TRACE)).unwrap();
    let lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
    let events = lines.iter().filter(|line| !line.starts_with(b"#")).count();
    let mut damaged = lines[..40].concat();
    damaged.extend_from_slice(b"segmentation fault (core dumped)\n\xff\xfe not a line\n");
    damaged.extend_from_slice(&lines[40..].concat());
    damaged.truncate(damaged.len() - 60);
    bench.write("damaged.trace", &damaged);
    let run = bench.ok(&["ingest", "f.db", "damaged.trace"]);
    assert!(run.stderr.contains("damaged.trace:41:") && run.stderr.contains("[no-event]"), "{}", run.all());
    let left = rows(&bench, "SELECT count(*) FROM trace_event")[0][0].parse::<usize>().unwrap();
    assert!(left == events || left == events - 1, "the last line is cut: {left} of {events}");
    let windows = String::from_utf8(text).unwrap().replace('\n', "\r\n");
    bench.write("windows.trace", &windows);
    bench.ok(&["ingest", "f.db", "windows.trace", "-q"]);
    let all = "SELECT count(*) FROM trace_event WHERE recording = 'windows'";
    assert_eq!(rows(&bench, all)[0][0], events.to_string());
}

#[test]
fn what_is_no_text_of_ftrace_is_said() {
    let bench = Bench::new();
    bench.write(
        "graph.trace",
        "# tracer: function_graph\n#\n# CPU  DURATION\n 0)   0.541 us    |  mutex_lock();\n",
    );
    let graph = bench.run(&["ingest", "f.db", "graph.trace"]);
    assert!(
        graph.code == Some(1) && graph.stderr.contains("function_graph draws a picture"),
        "{}",
        graph.all()
    );
    bench.write("empty.trace", "# tracer: nop\n#\n");
    let empty = bench.ok(&["ingest", "f.db", "empty.trace"]);
    assert!(empty.stderr.contains("the text holds no event"), "{}", empty.all());
    bench.write("other.btf", "#version 2.1.5\n0,A,0,T,B,0,activate\n");
    let other = bench.run(&["ingest", "f.db", "other.btf", "--format", "ftrace"]);
    assert!(other.code == Some(1) && other.stderr.contains("no event is in the 2 lines"), "{}", other.all());
    let endless = bench.run(&["ingest", "f.db", "other.btf", "--endless", "*"]);
    assert_eq!(endless.code, Some(2), "{}", endless.all());
    insta::assert_snapshot!("endless_elsewhere", endless.stderr);
}
