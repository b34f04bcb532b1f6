//! Traces that say what cannot be: a clock that goes back, two traces in one file, a core with two processes,
//! a writer that lost events. What follows from them is right, and every command says that it is doubtful.

use crate::support::Bench;

/// One value of a query.
fn value(bench: &Bench, sql: &str) -> String {
    let run = bench.ok(&["query", "t.db", sql, "--format", "csv"]);
    run.stdout.lines().skip(1).collect::<Vec<_>>().join(";")
}

/// Reads a text into `t.db`, which succeeds, and returns what was said.
fn ingested(text: impl AsRef<[u8]>, args: &[&str]) -> (Bench, String) {
    let bench = Bench::new();
    bench.write("t.btf", text);
    let run = bench.ok(&[&["ingest", "t.db", "t.btf"], args].concat());
    (bench, run.stderr)
}

/// Each command that shows results repeats the finding.
#[track_caller]
fn all_say(bench: &Bench, code: &str) {
    for args in
        [&["metrics", "t.db", "CPULoad"][..], &["plot", "t.db", "-o", "t.svg", "--force"], &["info", "t.db"]]
    {
        let run = bench.ok(args);
        let said = run.all();
        assert!(said.contains(&format!("[{code}]")) && said.contains("doubtful"), "{args:?}: {said}");
    }
}

const PAIRS: &str = "SELECT count(*), min(next_activate_at - activate_at), max(next_activate_at - activate_at) \
    FROM process_pair WHERE next_activate_at IS NOT NULL";
const LOAD: &str = "SELECT CAST(100 * sum(s.end_at - s.begin_at) / max(r.end_at - r.begin_at) AS BIGINT) \
    FROM process_state AS s JOIN recording AS r ON s.recording = r.recording WHERE s.state = 'running'";
const OVERLAPS: &str = "SELECT count(*) FROM process_state AS a JOIN process_state AS b ON a.core = b.core \
    AND a.state = 'running' AND b.state = 'running' AND a.begin_at < b.end_at AND b.begin_at < a.end_at \
    AND (a.process <> b.process OR a.instance <> b.instance)";
const CODES: &str = "SELECT code FROM diagnostic WHERE severity <> 'info' ORDER BY code";

/// Six jobs, 300,000 ticks apart, with the low `bits` of the time from `begin` on, in this unit.
fn jobs(begin: i64, bits: u32, unit: &str) -> String {
    let mut text = format!("#version 2.1.5\n#timeScale {unit}\n");
    for n in 0..6 {
        for (after, line) in [
            (0, "S,{n},T,A,{n},activate"),
            (10, "Core_0,0,T,A,{n},start"),
            (100_010, "Core_0,0,T,A,{n},terminate"),
        ] {
            let time = (begin + n * 300_000 + after) & ((1 << bits) - 1);
            text.push_str(&format!("{time},{}\n", line.replace("{n}", &n.to_string())));
        }
    }
    text
}

#[test]
fn nothing_goes_on_over_a_counter_that_overflows() {
    // In a pause, and while a job runs.
    for begin in [4_294_000_000, (1 << 32) - 650_000] {
        let (bench, said) = ingested(jobs(begin, 32, "ns"), &[]);
        assert_eq!(said.matches("[time-backwards]").count(), 1, "{said}");
        assert!(said.contains("--counter-bits 32"), "{said}");
        let pairs = value(&bench, PAIRS);
        assert!(pairs.ends_with(",300000,300000"), "{pairs}");
        assert_eq!(value(&bench, "SELECT count(*) FROM process_instance WHERE running > 100000"), "0");
        assert_eq!(value(&bench, "SELECT count(*) FROM process_state WHERE end_at - begin_at > 100000"), "0");
        assert_eq!(value(&bench, "SELECT reason, core FROM gap"), "clock_set_back,");
        assert_eq!(value(&bench, "SELECT backwards FROM source"), "1");
        all_say(&bench, "time-backwards");
    }
}

#[test]
fn a_counter_is_continued_on_request() {
    for (bits, begin) in [(32, 4_294_000_000), (24, (1 << 24) - 650_000), (21, 1_000_000)] {
        let (bench, said) = ingested(jobs(begin, bits, "us"), &["--counter-bits", &bits.to_string()]);
        assert!(!said.contains("warning"), "{said}");
        assert_eq!(value(&bench, PAIRS), "5,300000000,300000000");
        assert_eq!(
            value(&bench, "SELECT min(running), max(running), bool_and(complete) FROM process_instance"),
            "100000000,100000000,true"
        );
        assert_eq!(value(&bench, LOAD), "37");
    }
    let bench = Bench::new();
    bench.write("t.btf", jobs(4_294_000_000, 32, "ns"));
    let run = bench.run(&["ingest", "t.db", "t.btf", "--counter-bits", "16"]);
    assert_eq!(run.code, Some(1), "{}", run.all());
    assert!(
        run.stderr.contains("t.btf:3: the time 4294000000 is none of a counter of 16 bits"),
        "{}",
        run.stderr
    );
    assert!(!bench.path().join("t.db").exists());
    let run = bench.run(&["ingest", "t.db", "t.btf", "--counter-bits", "many"]);
    assert_eq!(run.code, Some(2), "{}", run.all());
}

#[test]
fn a_trace_that_is_twice_in_a_file_counts_once() {
    let one = jobs(0, 40, "ns");
    let body: String = one.lines().filter(|l| !l.starts_with('#')).map(|l| format!("{l}\n")).collect();
    let (whole, _) = ingested(&one, &[]);
    for text in [one.repeat(2), format!("{one}{body}"), one.repeat(3)] {
        let (bench, said) = ingested(&text, &[]);
        for sql in
            [PAIRS, LOAD, "SELECT count(*) FROM process_instance", "SELECT count(*) FROM process_state"]
        {
            assert_eq!(value(&bench, sql), value(&whole, sql), "{sql}");
        }
        assert!(said.contains("[doubled-times]"), "{said}");
        assert_eq!(
            value(&bench, "SELECT count(*) FROM btf_event"),
            (text.lines().count() - text.matches('#').count()).to_string()
        );
        all_say(&bench, "doubled-times");
    }
    // A clock that is set back for a while: what comes after is known again.
    let back = one.lines().skip(2).filter_map(|line| line.split_once(',')).map(|(time, rest)| {
        let time: i64 = time.parse().unwrap();
        format!("{},{rest}\n", time + 1_200_000)
    });
    let (bench, _) = ingested(format!("{one}{}", back.collect::<String>()), &[]);
    assert_eq!(value(&bench, OVERLAPS), "0");
    assert_eq!(value(&bench, "SELECT reason FROM gap"), "clock_set_back");
    assert!(value(&bench, PAIRS).ends_with(",300000,300000"));
}

#[test]
fn a_core_has_one_process_at_a_time() {
    let text = "#version 2.1.5\n#creator x\n#timeScale ns\n0,STI_A,0,T,A,0,activate\n10,Core_0,0,T,A,0,start\n\
                500,STI_B,0,T,B,0,activate\n510,Core_0,0,T,B,0,start\n600,Core_0,0,I,I,0,start\n\
                700,Core_0,0,I,I,0,terminate\n1000,Core_0,0,T,B,0,terminate\n1100,Core_0,0,T,A,0,terminate\n";
    let (bench, said) = ingested(text, &[]);
    assert!(said.contains("2 times a process runs on a core on which another one runs"), "{said}");
    assert_eq!(value(&bench, OVERLAPS), "0");
    let stretches =
        "SELECT process, begin_at, end_at FROM process_state WHERE state = 'running' ORDER BY begin_at";
    assert_eq!(value(&bench, stretches), "A,10,510;B,510,600;I,600,700;B,700,1000;A,1000,1100");
    assert_eq!(
        value(&bench, "SELECT process, running, ready, complete FROM process_instance ORDER BY 1"),
        "A,600,490,true;B,390,100,true;I,100,0,true"
    );
    assert_eq!(value(&bench, LOAD), "99");
    all_say(&bench, "core-occupied");
    // A preemption of the same instant may stand behind the start.
    let orderly = text
        .replace("510,Core_0,0,T,B,0,start\n", "510,Core_0,0,T,B,0,start\n510,Core_0,0,T,A,0,preempt\n")
        .replace("600,Core_0,0,I,I,0,start\n", "600,Core_0,0,T,B,0,preempt\n600,Core_0,0,I,I,0,start\n")
        .replace(
            "700,Core_0,0,I,I,0,terminate\n",
            "700,Core_0,0,T,B,0,resume\n700,Core_0,0,I,I,0,terminate\n",
        )
        .replace(
            "1000,Core_0,0,T,B,0,terminate\n",
            "1000,Core_0,0,T,B,0,terminate\n1000,Core_0,0,T,A,0,resume\n",
        );
    let (bench, said) = ingested(&orderly, &[]);
    assert!(!said.contains("warning"), "{said}");
    assert_eq!(value(&bench, stretches), "A,10,510;B,510,600;I,600,700;B,700,1000;A,1000,1100");
}

#[test]
fn instances_without_an_end_are_counted() {
    let text = "#version 2.1.5\n0,S,0,T,A,0,activate\n1,C,0,T,A,0,start\n5,C,0,T,A,0,preempt\n10,S,1,T,A,1,activate\n\
                11,C,0,T,A,1,start\n15,C,0,T,A,1,terminate\n20,S,2,T,A,2,activate\n21,C,0,T,A,2,start\n";
    let (bench, said) = ingested(text, &[]);
    assert!(said.contains("1 instances do not end") && said.contains("terminate_at IS NULL"), "{said}");
    assert_eq!(value(&bench, CODES), "instance-without-end");
    all_say(&bench, "instance-without-end");
}

#[test]
fn what_the_writer_says_it_lost_is_a_finding() {
    let events = "100,S,0,T,A,0,activate\n110,Core_0,0,T,A,0,start\n120,Core_0,0,T,A,0,terminate\n";
    let head = "#version 2.2.0\n#timeScale us\n#ringOverflow true\n#TaskTableOverflow\n#truncated 1\n#droppedEvents 17\n";
    let (bench, said) = ingested(format!("{head}{events}"), &[]);
    assert_eq!(value(&bench, CODES), "events-lost;file-truncated;ring-overflow;task-table-overflow");
    assert_eq!(value(&bench, "SELECT line FROM diagnostic WHERE code = 'ring-overflow'"), "3");
    for code in ["events-lost", "file-truncated", "ring-overflow", "task-table-overflow"] {
        assert!(said.contains(&format!("[{code}]")), "{said}");
        all_say(&bench, code);
    }
    let head = "#version 2.2.0\n#timeScale us\n#ringOverflow false\n#truncated 0\n#droppedEvents 0\n";
    let (bench, _) = ingested(format!("{head}{events}"), &[]);
    assert_eq!(value(&bench, CODES), "");
}

/// Only BTF 2.1.5 has a default (2.2.1, §2.2.6).
#[test]
fn a_unit_that_is_missing_is_reported_from_version_2_2_on() {
    let text = "#version 2.2.1\n#creator X\n100,S,0,T,A,0,activate\n1000,Core_0,0,T,A,0,start\n";
    let (bench, said) = ingested(text, &[]);
    assert_eq!(value(&bench, CODES), "no-time-scale");
    assert!(said.contains("no #timeScale, which BTF 2.2.1 wants"), "{said}");
    for complete in [text.replace("2.2.1", "2.1.5"), text.replace("#creator", "#timeScale ns\n#creator")] {
        let (bench, _) = ingested(complete, &[]);
        assert_eq!(value(&bench, CODES), "");
    }
}

#[test]
fn a_unit_that_comes_late_is_reported() {
    let text = "#version 2.1.5\n100,S,0,T,A,0,activate\n#timeScale us\n1000,Core_0,0,T,A,0,start\n";
    let (bench, said) = ingested(text, &[]);
    assert_eq!(value(&bench, CODES), "another-time-scale");
    assert!(said.contains("t.btf:3: times count in us from here on, before in ns, because"), "{said}");
    let (bench, _) = ingested(text.replace("us", "ns"), &[]);
    assert_eq!(value(&bench, CODES), "");
}

#[test]
fn times_that_do_not_fit_are_refused() {
    let bench = Bench::new();
    bench.write("ps.btf", "#version 2.1.5\n#timeScale ps\n10,C,0,T,A,0,start\n20,C,0,T,A,0,terminate\n");
    bench.ok(&["ingest", "t.db", "ps.btf", "-q"]);
    let before = value(&bench, "SELECT count(*) FROM source");
    let epoch = |unit: &str, time: i64| {
        format!(
            "#version 2.1.5\n#timeScale {unit}\n{time},C,0,T,A,0,start\n{},C,0,T,A,0,terminate\n",
            time + 5
        )
    };
    for (unit, time) in
        [("ns", 1_672_924_880_617_000_000), ("us", 1_672_924_880_617_000), ("s", 1_672_924_880)]
    {
        bench.write("epoch.btf", epoch(unit, time));
        let run = bench.run(&["ingest", "t.db", "epoch.btf"]);
        assert_eq!(run.code, Some(1), "{}", run.all());
        for word in ["epoch.btf:3", "does not fit 64 bits of ps", "--time-scale ns"] {
            assert!(run.stderr.contains(word), "no '{word}' in {}", run.stderr);
        }
        assert_eq!(value(&bench, "SELECT count(*) FROM source"), before);
        bench.ok(&["ingest", &format!("{unit}.db"), "epoch.btf", "-q"]);
    }
    bench.write(
        "core0_data.csv",
        "-1,99999999999.0,\"x\",\"wr-data\",1\n-2,99999999999.1,\"x\",\"wr-data\",2\n",
    );
    let run = bench.run(&["ingest", "t.db", "core0_data.csv", "--name", "n"]);
    assert_eq!(run.code, Some(1), "{}", run.all());
}

/// A gap whose times cannot be told is said, and claims nothing.
#[test]
fn gaps_of_a_file_are_not_dropped_where_a_counter_is_continued() {
    let bench = Bench::new();
    let text = "#version 2.2.1\n#timescale ns\n1,S,0,T,A,0,activate\n\
                # gap of Core_0: fifo overflow, from 1 to 5 ns\n6,Core_0,0,T,A,0,start\n";
    bench.write("t.btf", text);
    let run = bench.ok(&["ingest", "t.db", "t.btf", "--counter-bits", "32"]);
    assert!(run.stderr.contains("[gap-not-read]"), "{}", run.stderr);
    let run = bench.ok(&["ingest", "u.db", "t.btf"]);
    assert!(!run.stderr.contains("[gap-not-read]"), "{}", run.stderr);
    let gaps = bench.ok(&["query", "u.db", "SELECT begin_at, end_at FROM gap", "--format", "csv"]).stdout;
    assert_eq!(gaps, "begin_at,end_at\n1,5");
}
