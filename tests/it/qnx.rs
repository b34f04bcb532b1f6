//! QNX kernel traces of simulated machines, on the command line: every record is in the tables; filters,
//! listings and a second mapping work. Not what the tables say about the machine (see `qnx_truth`).

use crate::neutrino::machine::{Options, Truth, simulate};
use crate::neutrino::{ByteOrder, Faults, Release, Target};
use crate::support::{Bench, Run, tree};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

pub const RELEASES: [Release; 3] = [Release::R6, Release::R7, Release::R8];

/// The trace of a machine with two CPUs.
pub fn trace(release: Release, bytes: u64, change: impl FnOnce(&mut Options)) -> (Vec<u8>, Truth) {
    let target = Target { release, ..Target::default() };
    let mut options = Options { target, seed: 7, wide: true, bytes, ..Options::default() };
    change(&mut options);
    simulate(Vec::new(), &options).unwrap()
}

/// A folder with `t.kev`, ingested into `t.db` with some more options.
fn bench(release: Release, options: &[&str]) -> (Bench, Truth) {
    let (file, truth) = trace(release, 96 << 10, |_| {});
    let bench = Bench::new();
    bench.write("t.kev", file);
    bench.ok(&[&["ingest", "t.db", "t.kev", "-q"], options].concat());
    (bench, truth)
}

pub fn csv(bench: &Bench, db: &str, sql: &str) -> String {
    bench.ok(&["query", db, sql, "--format", "csv"]).stdout
}

/// The only row of an answer.
#[track_caller]
fn row(bench: &Bench, db: &str, sql: &str) -> Vec<i64> {
    let text = csv(bench, db, sql);
    let mut lines = text.lines().skip(1);
    let row = lines.next().unwrap_or_else(|| panic!("no row: {sql}")).split(',');
    assert_eq!(lines.next(), None, "{sql}");
    row.map(|cell| cell.parse().unwrap_or_else(|_| panic!("{text}"))).collect()
}

const ACCOUNT: &str = "SELECT sum(records), sum(rows), sum(rejected), sum(skipped) FROM source";

/// Whole records of a file.
fn records(file: &[u8]) -> i64 {
    let end = b"TRACE_HEADER_END::";
    let text = file.windows(end.len()).position(|w| w == end).unwrap() + end.len();
    let page = Target::default().syspage().len();
    ((file.len() - text - page) / 16) as i64
}

#[test]
fn every_record_is_accounted_for_whatever_it_comes_from() {
    for release in RELEASES {
        let (file, truth) = trace(release, 96 << 10, |_| {});
        let (all, events) = (records(&file), truth.written.events.len() as i64);
        let bench = Bench::new();
        bench.write("t.kev", &file);
        bench.ok(&["ingest", "path.db", "t.kev", "--strict"]);
        let gzip = Command::new("gzip").args(["-k", "t.kev"]).current_dir(bench.path()).status().unwrap();
        assert!(gzip.success());
        bench.ok(&["ingest", "gz.db", "t.kev.gz"]);
        let mut piped = bench
            .command()
            .args(["ingest", "pipe.db", "-", "--name", "t"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        piped.stdin.take().unwrap().write_all(&file).unwrap();
        let run = Run::of(piped.wait_with_output().unwrap(), bench.path());
        assert_eq!(run.code, Some(0), "{}", run.all());
        let sql = "SELECT * FROM kernel_event ORDER BY seq";
        let expected = csv(&bench, "path.db", sql);
        for db in ["path.db", "gz.db", "pipe.db"] {
            assert_eq!(row(&bench, db, ACCOUNT), [all, events, 0, all - events], "{release:?} {db}");
            assert_eq!(csv(&bench, db, sql), expected, "{release:?} {db}");
        }
    }
}

/// traceprinter writes no line end after a failed call.
#[test]
fn a_line_with_several_records_is_one_line() {
    let bench = Bench::new();
    let call = "CPU:00 KER_EXIT:MSG_SENDV/11 ret_val:-1, errno:4";
    bench.write("joined.txt", format!("t:0x1 {call}t:0x2 {call}\nt:0x3 {call}\n"));
    let run = bench.ok(&["ingest", "joined.db", "joined.txt"]);
    assert!(
        run.stderr.contains("joined.txt: 2 lines with 3 records = 3 rows + 0 rejected"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_tail_and_lost_buffers_are_reported() {
    for release in RELEASES {
        let faults = Faults { lost_buffer: 3, interlace: 3, ..Faults::default() };
        let (mut file, truth) = trace(release, 400 << 10, |o| o.faults = faults);
        assert!(truth.written.lost_buffers.len() >= 3, "{release:?}");
        let whole = records(&file);
        file.extend([1, 2, 3, 4, 5]);
        let bench = Bench::new();
        bench.write("t.kev", &file);
        let run = bench.ok(&["ingest", "t.db", "t.kev"]);
        assert!(run.stderr.contains(" 1 rejected"), "{}", run.all());
        let events = truth.written.events.len() as i64;
        assert_eq!(
            row(&bench, "t.db", ACCOUNT),
            [whole + 1, events, 1, whole - events],
            "{release:?}\n{}",
            run.all()
        );
        let run = bench.ok(&["export", "t.db", "--format", "traceprinter", "-o", "t.txt"]);
        let incomplete = csv(&bench, "t.db", "SELECT count(*) FROM kernel_event WHERE status <> 'ok'");
        let expected = format!("{} events of which parts are missing", incomplete.lines().last().unwrap());
        assert!(run.stderr.contains(&expected), "{expected}\n{}", run.all());
        let lost: i64 = truth.written.lost_buffers.iter().map(|l| i64::from(l.count)).sum();
        assert_eq!(row(&bench, "t.db", "SELECT sum(lost) FROM kernel_buffer"), [lost], "{release:?}");
        let sql = "SELECT sum(gaps), (SELECT count(*) FROM gap WHERE reason = 'lost_buffer') FROM source";
        let gaps = row(&bench, "t.db", sql);
        assert!(gaps[0] >= 3 && gaps[0] == gaps[1], "{release:?} {gaps:?}");
        let sql = "SELECT count(*) FROM diagnostic WHERE code = 'lost-buffers'";
        assert_eq!(row(&bench, "t.db", sql), [truth.written.lost_buffers.len() as i64], "{release:?}");
    }
}

#[test]
fn a_listing_is_the_trace_that_it_was_printed_from() {
    // What a listing does not show: flags and the numbers of records, and which addresses had 64 bits.
    let whole = "SELECT * EXCEPT (record, flags) FROM kernel_event ORDER BY seq";
    let part =
        "SELECT * EXCEPT (record, flags, is64, arguments, d0, d1, rest) FROM kernel_event ORDER BY seq";
    for release in RELEASES {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let sql = if release == Release::R6 || order == ByteOrder::Big { whole } else { part };
            let (file, _) = trace(release, 64 << 10, |o| o.target.order = order);
            let bench = Bench::new();
            bench.write("t.kev", &file);
            bench.ok(&["ingest", "t.db", "t.kev", "--name", "t"]);
            let expected = csv(&bench, "t.db", sql);
            let styles = [&["--style", "6"][..], &["--style", "7"], &["--style", "7", "--one-line"]];
            for (n, style) in styles.into_iter().enumerate() {
                let (text, db) = (format!("{n}.txt"), format!("{n}.db"));
                bench.ok(&[&["export", "t.db", "--format", "traceprinter", "-o", &text], style].concat());
                let run = bench.ok(&["ingest", &db, &text, "--name", "t"]);
                assert!(run.stderr.contains(" 0 rejected"), "{}", run.all());
                let got = csv(&bench, &db, sql);
                assert_eq!(got.lines().count(), expected.lines().count());
                // Names beyond ASCII are not printed.
                for (got, expected) in got.lines().zip(expected.lines()).filter(|pair| pair.1.is_ascii()) {
                    assert_eq!(got, expected, "{release:?} {order:?} {style:?}");
                }
            }
        }
    }
}

/// Filters, and how many of the rows they leave.
const FILTERS: [&[&str]; 8] = [
    &["--class", "THREAD,COMM"],
    &["--not-class", "KERCALL,INT"],
    &["--event", "THREAD:THRUNNING,2", "--not-event", "COMM:SND_PULSE"],
    &["--cpu", "1"],
    &["--pid", "1", "--who", "actor"],
    &["--tid", "2", "--who", "subject"],
    &["--tid", "1", "--who", "live"],
    &["--class", "KER_CALL", "--where", "argument(arguments, 'coid') > 0 -- a comment"],
];

#[test]
fn filters_leave_the_same_rows_in_ingest_query_and_export() {
    let (bench, _) = bench(Release::R7, &[]);
    let all = csv(&bench, "t.db", "SELECT * FROM kernel_event ORDER BY seq").lines().count();
    for (n, filter) in FILTERS.iter().enumerate() {
        let db = format!("{n}.db");
        bench.ok(&[&["ingest", &db, "t.kev", "-q"], *filter].concat());
        let sql = "SELECT * FROM kernel_event ORDER BY seq";
        let expected = csv(&bench, &db, sql);
        assert!((2..all).contains(&expected.lines().count()), "{filter:?}");
        let query = bench.ok(&[&["query", "t.db", sql, "--format", "csv"], *filter].concat());
        assert!(query.stdout == expected, "query {filter:?}");
        let table = ["export", "t.db", "--table", "kernel_event", "--format", "csv", "-o", "-"];
        let exported = bench.ok(&[&table, *filter].concat()).stdout;
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&exported).len(), sorted(&expected).len(), "export {filter:?}");
        let lines = ["export", "t.db", "--format", "traceprinter", "--one-line", "-o", "-"];
        let printed = bench.ok(&[&lines, *filter].concat()).stdout;
        let events = printed.lines().filter(|l| l.starts_with("t:")).count();
        assert_eq!(events, expected.lines().count() - 1, "printed {filter:?}");
    }
    let named = ["--process", "io-net", "--who", "subject"];
    let base = "regexp_replace(name, '^.*/', '')";
    let name = csv(&bench, "t.db", &format!("SELECT min({base}) FROM kernel_process WHERE pid > 1"));
    let name = name.lines().nth(1).unwrap();
    let count = "SELECT count(*) AS n FROM kernel_event";
    let query = bench.ok(&["query", "t.db", count, "--process", name, "--who", named[3], "--format", "csv"]);
    let pids = format!("{count} WHERE pid IN (SELECT pid FROM kernel_process WHERE {base} = '{name}')");
    assert_eq!(query.stdout, csv(&bench, "t.db", &pids));
    let refused = bench.run(&["ingest", "x.db", "t.kev", "--process", name]);
    assert_eq!(refused.code, Some(2), "{}", refused.all());
}

/// Folders of all tables but some, with the hashes of the files in them; the numbers of files go on when a
/// recording is mapped again.
fn tables(bench: &Bench, db: &str, without: &[&str]) -> Vec<(String, u64)> {
    let root = bench.path().join(db);
    let files = tree(&root).into_iter().filter(|(p, _)| p.extension().is_some_and(|e| e == "parquet"));
    let folder = |p: &Path| p.strip_prefix(&root).unwrap().parent().unwrap().to_string_lossy().into_owned();
    let named = files.map(|(p, hash)| (folder(&p), hash));
    named.filter(|(name, _)| !without.iter().any(|w| name.starts_with(w))).collect()
}

#[test]
fn what_is_derived_comes_from_all_events() {
    let (bench, _) = bench(Release::R7, &[]);
    bench.ok(&["ingest", "part.db", "t.kev", "--class", "USER"]);
    let compared = ["kernel_event/", "source/", "diagnostic/", "recording/"];
    assert_eq!(tables(&bench, "part.db", &compared), tables(&bench, "t.db", &compared));
    assert!(tables(&bench, "t.db", &compared).len() >= 10);
    let account = row(&bench, "part.db", ACCOUNT);
    let rows = row(&bench, "part.db", "SELECT count(*) FROM kernel_event");
    assert_eq!((account[1], account[0]), (rows[0], account[1] + account[2] + account[3]));
    let again = bench.run(&["map", "part.db"]);
    assert_eq!(again.code, Some(2), "{}", again.all());
    assert!(again.stderr.contains("left out") && again.stderr.contains("hint:"), "{}", again.stderr);
}

#[test]
fn mistakes_are_named() {
    let (bench, _) = bench(Release::R7, &[]);
    let wrong = |args: &[&str], code: i32, words: &[&str]| {
        let run = bench.run(args);
        assert_eq!(run.code, Some(code), "{args:?}\n{}", run.all());
        for word in words {
            assert!(run.stderr.contains(word), "{args:?}: no '{word}'\n{}", run.stderr);
        }
    };
    wrong(&["ingest", "x.db", "t.kev", "--where", "pidd = 1"], 1, &["pidd", "line 1, column 1", "'pid'"]);
    wrong(&["ingest", "x.db", "t.kev", "--where", "pid + 1"], 2, &["no condition"]);
    wrong(&["query", "t.db", "SELECT 1", "--where", "pidd = 1"], 1, &["pidd"]);
    wrong(&["ingest", "x.db", "t.kev", "--class", "THRAED"], 2, &["THRAED", "did you mean 'THREAD'?"]);
    wrong(&["ingest", "x.db", "t.kev", "--event", "RUNNING"], 2, &["CLASS:EVENT"]);
    wrong(&["ingest", "x.db", "t.kev", "--qnx-version", "5"], 2, &["'5'", "8.0"]);
    wrong(&["ingest", "x.db", "t.kev", "--jobs", "RECIEVE"], 2, &["RECIEVE", "did you mean 'RECEIVE'?"]);
    wrong(&["export", "t.db", "-o", "x.btf", "--class", "THREAD"], 2, &["traceprinter"]);
    // An option that is only for kernel traces is an error for others.
    bench.write("t.btf", "#version 2.1.5\n#timeScale ns\n1,Core_0,0,T,A,0,start\n");
    for option in [&["--class", "THREAD"][..], &["--jobs", "RECEIVE"], &["--qnx-version", "7"], &["--idle"]] {
        wrong(&[&["ingest", "x.db", "t.btf"], option].concat(), 2, &["t.btf", "no kernel trace"]);
    }
    wrong(&["ingest", "x.db", "t.btf", "--format", "qnx"], 1, &["t.btf", "no kernel trace"]);
    wrong(&["ingest", "x.db", "t.kev", "--format", "btf"], 1, &["t.kev", "--format qnx"]);
    assert!(!bench.path().join("x.db").exists() && !bench.path().join("x.btf").exists());
}

#[test]
fn mapping_again_and_any_number_of_threads_give_the_same_bytes() {
    for release in RELEASES {
        for options in [&[][..], &["--jobs", "RECEIVE,NANOSLEEP", "--overlay-irqs", "--idle"]] {
            let (bench, _) = bench(release, &[options, &["--threads", "1", "--name", "t"]].concat());
            let expected = tables(&bench, "t.db", &[]);
            assert!(expected.iter().any(|(name, _)| name.starts_with("btf_event/")), "{release:?}");
            for threads in ["2", "3", "8"] {
                let db = format!("{threads}.db");
                let args = ["ingest", &db, "t.kev", "--threads", threads, "--name", "t", "-q"];
                bench.ok(&[&args, options].concat());
                assert_eq!(tables(&bench, &db, &[]), expected, "{release:?} {threads} {options:?}");
            }
            bench.ok(&["map", "t.db", "--threads", "3"]);
            assert_eq!(tables(&bench, "t.db", &[]), expected, "{release:?} map {options:?}");
        }
    }
}

#[test]
fn simulated_traces_keep_the_state_charts() {
    for release in RELEASES {
        for options in [&[][..], &["--jobs", "RECEIVE,NANOSLEEP"], &["--overlay-irqs"], &["--idle"]] {
            let (bench, _) = bench(release, options);
            let run = bench.run(&["check", "t.db", "--format", "json"]);
            for rule in ["process-transition", "core-occupied"] {
                assert!(!run.stdout.contains(rule), "{release:?} {options:?}\n{}", run.stdout);
            }
        }
    }
}

/// Before 8.0 nothing marks the list of what existed before: it ends with the first event that is not of the
/// list.
#[test]
fn processes_that_come_later_are_created_then() {
    let bench = Bench::new();
    bench.write(
        "t.txt",
        "TRACE_CYCLES_PER_SEC:: 1000000000\nTRACE_SYS_RELEASE:: 6.4.1\n -- KERNEL EVENTS -- \n\
         t:0x00000010 CPU:00 CONTROL: BUFFER sequence = 1, num_events = 0\n\
         t:0x00000010 CPU:00 CONTROL :TIME msb:0x00000000 lsb(offset):0x00000010\n\
         t:0x00000020 CPU:00 PROCESS :PROCCREATE_NAME ppid:0 pid:1 name:procnto\n\
         t:0x00000021 CPU:00 THREAD  :THCREATE      pid:1 tid:1\n\
         t:0x00000022 CPU:00 THREAD  :THRUNNING     pid:1 tid:1\n\
         t:0x00000030 CPU:00 KER_EXIT:TRACE_EVENT/01 ret_val:0x00000000 empty:0x00000000\n\
         t:0x00000040 CPU:00 PROCESS :PROCCREATE_NAME ppid:1 pid:4099 name:bin/late\n\
         t:0x00000050 CPU:00 THREAD  :THRUNNING     pid:7 tid:1\n",
    );
    let run = bench.ok(&["ingest", "t.db", "t.txt"]);
    assert!(run.stderr.contains(" 0 rejected"), "{}", run.all());
    let sql = "SELECT pid, name, created_at, dumped FROM kernel_process ORDER BY pid";
    let expected = "pid,name,created_at,dumped\n1,procnto,,true\n7,,,false\n4099,bin/late,48,false";
    assert_eq!(csv(&bench, "t.db", sql), expected);
    // Lines are no records: what the printer leaves out is not invented.
    assert_eq!(row(&bench, "t.db", "SELECT count(*), count(records) FROM kernel_buffer"), [1, 0]);
    bench.ok(&["ingest", "k.db", "t.txt", "--where", "recording = 't' AND class = 9"]);
    assert_eq!(row(&bench, "k.db", "SELECT count(*) FROM kernel_event"), [2]);
}

/// A listing of Neutrino `release`, whose clock has 1 GHz, with these events.
fn listing(release: &str, events: &str) -> Bench {
    let bench = Bench::new();
    let head =
        "TRACEPRINTER version 1.02\n -- HEADER FILE INFORMATION -- \n  TRACE_CYCLES_PER_SEC:: 1000000000\n";
    bench.write("t.txt", format!("{head}  TRACE_SYS_RELEASE:: {release}\n -- KERNEL EVENTS -- \n{events}"));
    bench.ok(&["ingest", "t.db", "t.txt"]);
    bench
}

#[test]
fn without_time_records_the_clock_goes_on_for_any_length() {
    // Thirty seconds, with steps of up to three seconds.
    let times: Vec<u64> = (0..20).map(|n| 0xfff0_0000 + n * 1_500_000_000).collect();
    let mut events = String::new();
    for (n, time) in times.iter().enumerate() {
        let state = ["THRUNNING", "THREADY"][n % 2];
        events.push_str(&format!(
            "t:0x{:08x} CPU:00 THREAD  :{state}     pid:4099 tid:1 \n",
            time & 0xffff_ffff
        ));
        // Another CPU, which begins later.
        if n > 2 {
            events.push_str(&format!(
                "t:0x{:08x} CPU:01 THREAD  :{state}     pid:4099 tid:2 \n",
                (time + 7) & 0xffff_ffff
            ));
        }
    }
    let bench = listing("6.5.0", &events);
    let found = csv(&bench, "t.db", "SELECT time FROM kernel_event WHERE cpu = 0 ORDER BY seq");
    let expected: Vec<String> = times.iter().map(|time| (time - times[0]).to_string()).collect();
    assert_eq!(found.lines().skip(1).collect::<Vec<_>>(), expected);
    let differences = "SELECT DISTINCT b.time - a.time FROM kernel_event AS a JOIN kernel_event AS b \
        ON a.cpu = 0 AND b.cpu = 1 AND b.seq = a.seq + 1";
    assert_eq!(csv(&bench, "t.db", differences).lines().nth(1), Some("7"));
    let codes = csv(&bench, "t.db", "SELECT DISTINCT code FROM diagnostic");
    assert!(codes.contains("no-time") && !codes.contains("time-overflow"), "{codes}");
}

#[test]
fn what_a_listing_does_not_explain_is_kept_as_text() {
    let events = "t:0x00000010 CPU:00 THREAD          :THRUNNING          pid:200 tid:1\n\
        t:0x00000020 CPU:00 KER_CALL        :MSG_SENDV/11       coid:0x40000003 msg[0]:\"\" (0x00000101)\n\
        t:0x00000030 CPU:00 KER_EXIT        :MSG_SENDV/11       \n                   ret_val:0x0000000000000020\n\
        t:0x00000040 CPU:00 KER_CALL        :SYNC_RWLOCK/77     \n        syncp:0x0000002c0d1a2af0\n        op:3\n\
        t:0x00000050 CPU:00 KER_EXIT        :SYNC_RWLOCK/77     ret_val:0 empty:0x00000000\n\
        t:0x00000060 CPU:00 KER_CALL        :MSG_SENDV/11       coid:0x1 foo:0x5\n\
        t:0x00000070 CPU:00 KER_EXIT        :MSG_SENDV/11       what\n\
        t:0x00000080 CPU:00 KER_CALL        :NEW_CALL/119       x:1\n\
        t:0x00000090 CPU:00 KER_EXIT        :NEW_CALL/119       ret_val:7\n\
        t:0x000000a0 CPU:00 THREAD          :THNEWSTATE         pid:200 tid:1\n";
    let bench = listing("8.0.0", events);
    let rows = "SELECT event_name, status, pid, d0, d1, arguments FROM kernel_event ORDER BY seq";
    assert_eq!(
        csv(&bench, "t.db", rows).lines().skip(1).collect::<Vec<_>>(),
        [
            "RUNNING,ok,200,200,1,pid:200 tid:1",
            "MSG_SENDV,ok,,1073741827,257,\"coid:0x40000003 msg:\"\"\"\" (0x00000101)\"",
            "MSG_SENDV,ok,,32,0,ret_val:0x0000000000000020",
            "SYNC_RWLOCK,unread,,,,syncp:0x0000002c0d1a2af0 op:3",
            "SYNC_RWLOCK,ok,,0,0,ret_val:0 empty:0x00000000",
            "MSG_SENDV,unread,,,,coid:0x1 foo:0x5",
            "MSG_SENDV,unread,,,,what",
            "UNKNOWN,unread,,,,NEW_CALL/119 x:1",
            "UNKNOWN,ok,,7,0,ret_val:7",
            "UNKNOWN,ok,200,200,1,THNEWSTATE pid:200 tid:1",
        ]
    );
    let calls = "SELECT call, number, result, outcome, object IS NULL FROM kernel_call ORDER BY enter_at";
    assert_eq!(
        csv(&bench, "t.db", calls).lines().skip(1).collect::<Vec<_>>(),
        [
            "MSG_SENDV,11,32,returned,false",
            "SYNC_RWLOCK,77,0,returned,true",
            "MSG_SENDV,11,,returned,true",
            "CALL_119,119,7,returned,true",
        ]
    );
    assert_eq!(row(&bench, "t.db", "SELECT rejected FROM source"), [0]);
    let warnings = "SELECT code, count(*) FROM diagnostic WHERE severity = 'warning' AND code LIKE 'un%' GROUP BY code ORDER BY code";
    assert_eq!(
        csv(&bench, "t.db", warnings).lines().skip(1).collect::<Vec<_>>(),
        ["unknown-event,2", "unreadable-arguments,3"]
    );
    // The state is none that is known, so the thread does not run any more.
    assert_eq!(
        csv(&bench, "t.db", "SELECT state FROM kernel_state ORDER BY begin_at").lines().nth(1),
        Some("RUNNING")
    );
    bench.ok(&["map", "t.db"]);
    bench.ok(&["export", "t.db", "--format", "traceprinter", "-o", "-"]);
}

#[test]
fn idle_threads_that_become_tasks_are_no_load() {
    for release in RELEASES {
        let load = |options: &[&str]| {
            let (bench, _) = bench(release, options);
            let run = bench.ok(&["metrics", "t.db", "CPULoad", "--format", "csv"]);
            let idle =
                csv(&bench, "t.db", "SELECT count(*) FROM process_state WHERE idle AND state = 'running'");
            let cores: Vec<String> =
                run.stdout.lines().filter(|line| line.contains(",C,")).map(str::to_owned).collect();
            (cores, idle.trim_end().ends_with("\n0"))
        };
        let (without, with) = (load(&[]), load(&["--idle"]));
        assert_eq!(without.0, with.0, "{release:?}");
        assert!(without.1 && !with.1, "{release:?}");
    }
}

/// A filter is one of the file, not of what is asked afterwards.
#[test]
fn a_filtered_export_leaves_the_shell_as_it_was() {
    let (bench, _) = bench(Release::R7, &[]);
    let count = "SELECT count(*) AS n FROM kernel_event";
    let script = format!(
        "{count};\n.export k.csv --table kernel_event --class THREAD\n\
         .export k.txt --format traceprinter --class THREAD\n{count};\n\
         .export all.csv --table kernel_event"
    );
    let run = bench.run_with_input(&["shell", "t.db"], &script);
    assert_eq!(run.code, Some(0), "{}", run.all());
    let all = row(&bench, "t.db", count)[0];
    let threads = row(&bench, "t.db", &format!("{count} WHERE class_name = 'THREAD'"))[0];
    assert_eq!(run.stdout.lines().collect::<Vec<_>>(), ["n", &all.to_string(), "n", &all.to_string()]);
    let rows =
        |file: &str| std::fs::read_to_string(bench.path().join(file)).unwrap().lines().count() as i64 - 1;
    assert!(threads > 0 && threads < all);
    assert_eq!((rows("k.csv"), rows("all.csv")), (threads, all));
}
