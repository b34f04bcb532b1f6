//! Do tasks run when the switches of a traced kernel say so? Each stretch between two switches of a CPU is
//! looked at, by SQL over the events alone.

use crate::support::Bench;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The folder of a trace; says so where there is no corpus.
fn trace(name: &str) -> Option<PathBuf> {
    let Some(root) = std::env::var_os("BTFDB_CORPUS") else {
        eprintln!("skipped: BTFDB_CORPUS is not set");
        return None;
    };
    Some(PathBuf::from(root).join("ctf").join(name))
}

fn rows(bench: &Bench, sql: &str) -> Vec<Vec<String>> {
    let text = bench.ok(&["query", "c.db", sql, "--format", "csv"]).stdout;
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn number(text: &str) -> i64 {
    text.parse().unwrap()
}

/// Where somebody runs between two switches of a CPU, that is one task, or an ISR, at every instant; where
/// nobody does, only ISRs do.
fn check_windows(name: &str, switches: &str, least: usize) {
    let Some(folder) = trace(name) else { return };
    let bench = Bench::new();
    bench.ok(&["ingest", "c.db", folder.to_str().unwrap(), "-q"]);
    let mut runs: BTreeMap<String, Vec<(i64, i64, bool, String)>> = BTreeMap::new();
    let sql = "SELECT core, begin_at, end_at, type, process FROM process_state WHERE state = 'running' ORDER BY 1, 2";
    for row in rows(&bench, sql) {
        let stretch = (number(&row[1]), number(&row[2]), row[3] == "T", row[4].clone());
        runs.entry(row[0].clone()).or_default().push(stretch);
    }
    let mut windows = 0;
    let all = rows(&bench, switches);
    for pair in all.windows(2) {
        let [cpu, begin, task, comm] = &pair[0][..] else { panic!("{:?}", pair[0]) };
        let (begin, end) = (number(begin), number(&pair[1][1]));
        if pair[1][0] != *cpu || begin == end {
            continue;
        }
        windows += 1;
        let of_core = runs.get(&format!("Core_{cpu}")).map(Vec::as_slice).unwrap_or_default();
        let within = of_core.iter().filter(|run| run.0 < end && run.1 > begin);
        let (mut sum, mut tasks) = (0, Vec::new());
        for (from, to, is_task, process) in within {
            sum += end.min(*to) - begin.max(*from);
            if *is_task && !tasks.contains(process) {
                tasks.push(process.clone());
            }
        }
        match task.as_str() {
            "0" => assert!(tasks.is_empty(), "{name}: {tasks:?} at {begin}, where the CPU idles"),
            _ => {
                assert_eq!(sum, end - begin, "{name}: {comm} runs from {begin} to {end}");
                assert_eq!(tasks.len(), 1, "{name}: {tasks:?} between {begin} and {end}");
            }
        }
    }
    assert!(windows > least, "{windows}");
}

#[test]
fn tasks_of_linux_run_where_its_switches_say() {
    let switches =
        "SELECT cpu, time, coalesce(payload['next_tid'], payload['next_pid']), payload['next_comm']
                    FROM trace_event WHERE name LIKE '%sched_switch' ORDER BY cpu, time, seq";
    for (name, least) in
        [("lttng-kernel-arm64", 1000), ("lttng-kernel-flipping-endianness", 2500), ("perf-taskset", 500)]
    {
        check_windows(name, switches, least);
    }
}

#[test]
fn threads_of_zephyr_run_where_its_switches_say() {
    let switches =
        "SELECT 0, time, CASE WHEN name = 'thread_switched_in' AND payload['name'] <> 'idle' THEN payload['thread_id'] ELSE '0' END,
                           payload['name']
                    FROM trace_event WHERE name IN ('thread_switched_in', 'thread_switched_out')
                    ORDER BY time, seq";
    check_windows("zephyr-shaped", switches, 480);
}

/// Each callback of the trace is an instance of a runnable, as long as the trace says.
#[test]
fn callbacks_of_ros_are_runnables() {
    let Some(folder) = trace("ros2") else { return };
    let bench = Bench::new();
    bench.ok(&["ingest", "c.db", folder.to_str().unwrap(), "-q"]);
    let thread = "payload['stream_context']['vtid']";
    let traced = format!(
        "SELECT count(*) AS n, sum(length) AS length FROM (
             SELECT name, lead(time) OVER w - time AS length, lead(name) OVER w AS next FROM trace_event
             WHERE name IN ('ros2:callback_start', 'ros2:callback_end')
             WINDOW w AS (PARTITION BY {thread} ORDER BY time, seq))
         WHERE name = 'ros2:callback_start' AND next = 'ros2:callback_end'"
    );
    let mapped = "SELECT count(*) AS n, sum(last - first) AS length FROM (
                      SELECT min(begin_at) AS first, max(end_at) AS last FROM runnable_state GROUP BY runnable, instance)";
    let found = rows(&bench, mapped);
    assert!(number(&found[0][0]) > 6000, "{found:?}");
    assert_eq!(found, rows(&bench, &traced));
    let names =
        bench.ok(&["query", "c.db", "SELECT DISTINCT runnable FROM runnable_state", "--format", "csv"]);
    assert!(names.stdout.contains("source/timer_"), "{}", names.stdout);
}
