//! `btfdb explain`: its text and rows, what it refuses, and that one response is explained as all are. Not
//! the rules of a cut (see `src/explain`), nor what holds of every recording (see
//! `tests/slt/every_recording.slt`).

use crate::support::{Bench, Run};
use std::fmt::Write as _;

/// Two cores and a spinlock: T_A polls on Core_0 for what T_B has got on Core_1, which an ISR interrupts
/// meanwhile; then it waits for an event, which an alarm sets.
pub fn locked() -> Bench {
    let bench = Bench::new();
    let mut text =
        "#version 2.2.1\n#creator test\n#creationDate 2026-01-01T00:00:00Z\n#timeScale ns\n".to_owned();
    for line in [
        "0,Alarm_B,0,T,T_B,0,activate",
        "10,Core_1,0,T,T_B,0,start",
        "20,T_B,0,SEM,Spin,0,requestsemaphore",
        "20,T_B,0,SEM,Spin,0,assigned",
        "100,Alarm_A,0,T,T_A,0,activate",
        "100,Core_0,0,T,T_C,0,start",
        "150,Core_0,0,T,T_C,0,terminate",
        "160,Core_0,0,T,T_A,0,start",
        "170,T_A,0,R,Work,0,start",
        "200,T_A,0,R,Work,0,terminate",
        "200,T_A,0,SEM,Spin,0,requestsemaphore",
        "200,T_A,0,SEM,Spin,0,waiting",
        "200,Core_0,0,T,T_A,0,poll",
        "220,Irq,0,I,ISR_1,0,activate",
        "220,Core_1,0,T,T_B,0,preempt",
        "220,Core_1,0,I,ISR_1,0,start",
        "260,Core_1,0,I,ISR_1,0,terminate",
        "260,Core_1,0,T,T_B,0,resume",
        "300,T_B,0,SEM,Spin,0,released",
        "300,T_A,0,SEM,Spin,0,assigned",
        "300,Core_0,0,T,T_A,0,run",
        "340,T_A,0,SEM,Spin,0,released",
        "400,T_A,0,EVENT,Ev,0,wait_event",
        "400,Core_0,0,T,T_A,0,wait",
        "450,Core_1,0,T,T_B,0,terminate",
        "500,Alarm_E,0,EVENT,Ev,0,set_event,T_A",
        "500,Core_0,0,T,T_A,0,release",
        "510,Core_0,0,T,T_A,0,resume",
        "600,Core_0,0,T,T_A,0,terminate",
    ] {
        writeln!(text, "{line}").unwrap();
    }
    bench.write("locked.btf", text);
    bench.ok(&["ingest", "locked.db", "locked.btf", "-q"]);
    bench
}

fn rows(bench: &Bench, database: &str, sql: &str) -> String {
    let Run { stdout, .. } = bench.ok(&["query", database, sql, "--format", "csv"]);
    stdout + "\n"
}

#[test]
fn the_worst_response_of_the_demo_reads_like_sentences() {
    let bench = Bench::engine();
    insta::assert_snapshot!(bench.ok(&["explain", "engine.db", "ResponseTime:T_4:max"]).stdout);
}

#[test]
fn locks_events_and_who_holds_back_their_holders_are_named() {
    let bench = locked();
    insta::assert_snapshot!(bench.ok(&["explain", "locked.db", "ResponseTime:T_A"]).stdout);
}

#[test]
fn slow_responses_are_compared_with_typical_ones() {
    let bench = Bench::engine();
    let run = bench.ok(&["explain", "engine.db", "ResponseTime:T_4", "--slow", "--format", "table"]);
    insta::assert_snapshot!(run.stdout);
    let run = bench.ok(&["explain", "engine.db", "ResponseTime:T_4", "--slow"]);
    insta::assert_snapshot!("slow_responses_in_words", run.stdout);
    let refused = |which: &str| bench.run(&["explain", "engine.db", which, "--slow"]).stderr;
    assert!(refused("ResponseTime:T_44").contains("did you mean 'T_4'?"));
    // Neither of them is what is compared.
    assert!(refused("NetExecutionTime:T_4").contains("write ResponseTime:T_4 --slow"));
    for which in ["p50", "max", "5"] {
        assert!(refused(&format!("ResponseTime:T_4:{which}")).contains("write ResponseTime:T_4 --slow"));
    }
}

/// Two cores with a handler `I` each: that of Core_0 triggers the stimulus of A, and holds what B polls for.
/// Then, both are activated at once; at last, that of Core_0 runs for long before it triggers the stimulus.
fn shared_handlers() -> Bench {
    let bench = Bench::new();
    let mut text = "#version 2.2.1\n#timeScale ns\n# on each core another handler: I\n".to_owned();
    for line in [
        "10,Irq,0,I,I,0,activate",
        "10,Core_1,0,I,I,0,start",
        "15,Core_1,0,I,I,0,terminate",
        "20,Irq,1,I,I,1,activate",
        "22,Core_0,0,I,I,1,start",
        "24,I,1,STI,Go,0,trigger",
        "24,Go,0,T,A,0,activate",
        "30,Core_0,0,I,I,1,terminate",
        "32,Core_0,0,T,A,0,start",
        "40,Core_0,0,T,A,0,terminate",
        "45,Go,1,T,B,0,activate",
        "45,Core_1,0,T,B,0,start",
        "50,Irq,2,I,I,2,activate",
        "50,Core_0,0,I,I,2,start",
        "51,I,2,SEM,Spin,0,requestsemaphore",
        "51,I,2,SEM,Spin,0,assigned",
        "55,B,0,SEM,Spin,0,requestsemaphore",
        "55,B,0,SEM,Spin,0,waiting",
        "55,Core_1,0,T,B,0,poll",
        "70,I,2,SEM,Spin,0,released",
        "70,B,0,SEM,Spin,0,assigned",
        "70,Core_1,0,T,B,0,run",
        "72,Core_0,0,I,I,2,terminate",
        "80,B,0,SEM,Spin,0,released",
        "85,Core_1,0,T,B,0,terminate",
        "90,Irq,3,I,I,3,activate",
        "90,Irq,4,I,I,4,activate",
        "91,Core_1,0,I,I,4,start",
        "92,Core_0,0,I,I,3,start",
        "94,I,3,STI,Go,2,trigger",
        "94,Go,2,T,A,1,activate",
        "95,Core_1,0,I,I,4,terminate",
        "96,Core_0,0,I,I,3,terminate",
        "97,Core_0,0,T,A,1,start",
        "99,Core_0,0,T,A,1,terminate",
        "100000000,Irq,5,I,I,5,activate",
        "100000000,Core_0,0,I,I,5,start",
        "119900000,I,5,STI,Go,3,trigger",
        "119900000,Go,3,T,A,2,activate",
        "120000000,Core_0,0,I,I,5,terminate",
        "120000000,Core_0,0,T,A,2,start",
        "120001000,Core_0,0,T,A,2,terminate",
    ] {
        writeln!(text, "{line}").unwrap();
    }
    bench.write("shared.btf", text);
    bench.ok(&["ingest", "shared.db", "shared.btf", "-q"]);
    bench
}

/// Events have one name for the handlers of all cores, and one numbering.
#[test]
fn handlers_that_share_a_name_have_activators_and_are_causes() {
    let bench = shared_handlers();
    let of = |columns: &str, condition: &str| {
        let sql =
            format!("SELECT DISTINCT {columns} FROM response_part WHERE {condition} ORDER BY {columns}");
        rows(&bench, "shared.db", &sql)
    };
    assert_eq!(
        of("process, instance, activated_by", "type = 'I' AND activated_by IS NOT NULL"),
        "process,instance,activated_by\nCore_0.I,0,Irq\nCore_0.I,1,Irq\nCore_0.I,3,Irq\nCore_1.I,0,Irq\n"
    );
    assert_eq!(
        of("instance, activated_by, triggered_by, triggered_by_instance", "process = 'A' AND instance <> 1"),
        "instance,activated_by,triggered_by,triggered_by_instance\n0,Go,Core_0.I,0\n2,Go,Core_0.I,3\n"
    );
    // Which of those that are activated at once an event means, is not known.
    let at_once = rows(
        &bench,
        "shared.db",
        "SELECT count(DISTINCT process) AS processes, count(activated_by) AS activated, \
         count(triggered_by) AS triggered FROM response_part WHERE (process = 'A' AND instance = 1 AND \
         activated_by = 'Go') OR (process = 'Core_0.I' AND instance = 2) OR (process = 'Core_1.I' AND instance = 1)",
    );
    assert!(at_once.starts_with("processes,activated,triggered\n3,"), "{at_once}");
    assert!(at_once.trim_end().ends_with(",0"), "{at_once}");
    assert_eq!(of("process", "type = 'I' AND activated_by IS NULL"), "process\nCore_0.I\nCore_1.I\n");
    assert_eq!(
        of("object, by_process, by_instance", "process = 'B' AND kind = 'lock'"),
        "object,by_process,by_instance\nSpin,Core_0.I,1\n"
    );
    // Those of the demo; pictures have the row of what activated an instance.
    let bench = Bench::engine();
    let demo = rows(
        &bench,
        "engine.db",
        "SELECT process, activated_by, count(DISTINCT instance) AS n FROM response_part \
         WHERE process LIKE '%iirq%' GROUP BY process, activated_by ORDER BY process",
    );
    let stimulus = "STI_EE_TC_iirq_handler";
    assert_eq!(
        demo,
        format!(
            "process,activated_by,n\nCore_0.EE_TC_iirq_handler,{stimulus},9\n\
             Core_1.EE_TC_iirq_handler,{stimulus},20\n"
        )
    );
    let asked = "ResponseTime:Core_1.EE_TC_iirq_handler";
    let text = bench.ok(&["explain", "engine.db", asked]).stdout;
    assert!(text.contains(&format!(", activated by {stimulus}.")), "{text}");
    bench.ok(&["plot", "engine.db", "--explain", asked, "-o", "one.svg"]);
    let svg = std::fs::read_to_string(bench.path().join("one.svg")).unwrap();
    assert!(svg.contains(stimulus), "{svg}");
}

/// A condition on process and instance reads a part of the recording only.
#[test]
fn one_response_is_explained_as_all_are() {
    for (bench, database) in [
        (Bench::engine(), "engine.db"),
        (locked(), "locked.db"),
        (behind_a_poller(), "poller.db"),
        (held_for_long(0), "long.db"),
        // More than the footers of files tell.
        (held_for_long(1_500), "long.db"),
        (shared_handlers(), "shared.db"),
    ] {
        let all = rows(&bench, database, "SELECT * FROM response_part ORDER BY process, instance, part");
        let (header, all) = all.split_once('\n').unwrap();
        let instances =
            rows(&bench, database, "SELECT DISTINCT process, instance FROM response_part ORDER BY 1, 2");
        let mut each = String::new();
        for line in instances.lines().skip(1) {
            let (process, instance) = line.split_once(',').unwrap();
            let condition = format!("process = '{process}' AND instance = {instance}");
            let sql = format!("SELECT * FROM response_part WHERE {condition} ORDER BY part");
            let one = rows(&bench, database, &sql);
            let (same, one) = one.split_once('\n').unwrap();
            assert_eq!(same, header);
            each.push_str(one);
        }
        assert!(all.lines().count() > 5);
        let different = each.lines().zip(all.lines()).find(|(one, other)| one != other);
        assert_eq!(different, None);
        assert_eq!(each.len(), all.len());
    }
}

#[test]
fn percentiles_and_small_parts_are_said_as_they_are() {
    let bench = Bench::engine();
    let text = |which: &str| bench.ok(&["explain", "engine.db", &format!("ResponseTime:{which}")]).stdout;
    let percentile = text("T_4:p95");
    assert!(percentile.contains(", p95 by nearest rank: the greatest of 13 samples."), "{percentile}");
    let nearly = text("T_3:max");
    assert!(nearly.contains("for more than 99 % of that, and could not for less than 1 %."), "{nearly}");
    assert!(nearly.contains("  < 0.1 %  0.000250 ms           behind T_5 on Core_1\n"), "{nearly}");
    let all = text("Core_1.EE_TC_iirq_handler");
    assert!(all.contains("  100.0 %  510 ns  executes on Core_1\n"), "{all}");
}

#[test]
fn the_instance_can_be_any() {
    let bench = Bench::engine();
    let instance = |which: &str| {
        let which = format!("ResponseTime:T_4{which}");
        let run = bench.ok(&["explain", "engine.db", &which, "--format", "csv"]);
        run.stdout.lines().nth(1).unwrap().split(',').nth(3).unwrap().to_owned()
    };
    let by_length = rows(
        &bench,
        "engine.db",
        "SELECT instance FROM process_instance WHERE process = 'T_4' AND complete ORDER BY terminate_at - activate_at",
    );
    let by_length: Vec<&str> = by_length.lines().skip(1).collect();
    assert_eq!(by_length.len(), 13);
    assert_eq!(instance(""), by_length[12]);
    assert_eq!(instance(":max"), by_length[12]);
    assert_eq!(instance(":min"), by_length[0]);
    // Nearest rank: 0.5 · 13 is 6.5, so the seventh.
    assert_eq!(instance(":p50"), by_length[6]);
    assert_eq!(instance(":p99"), by_length[12]);
    assert_eq!(instance(":p0"), by_length[0]);
    assert_eq!(instance(":5"), "5");
}

#[test]
fn of_equal_responses_the_first_is_explained() {
    let bench = Bench::new();
    let mut text =
        "#version 2.2.1\n#creator test\n#creationDate 2026-01-01T00:00:00Z\n#timeScale ns\n".to_owned();
    // The fastest, twice the slowest, and the fastest again.
    for (instance, length) in [50, 90, 90, 50].into_iter().enumerate() {
        let begin = 100 + 200 * instance;
        let end = begin + length;
        writeln!(text, "{begin},A,0,T,T_A,{instance},activate").unwrap();
        writeln!(text, "{begin},Core_0,0,T,T_A,{instance},start").unwrap();
        writeln!(text, "{end},Core_0,0,T,T_A,{instance},terminate").unwrap();
    }
    bench.write("equal.btf", text);
    for name in ["b", "a"] {
        bench.ok(&["ingest", "equal.db", "equal.btf", "--name", name, "-q"]);
    }
    for (which, instance) in [("max", 1), ("min", 0)] {
        let which = format!("ResponseTime:T_A:{which}");
        let csv = bench.ok(&["explain", "equal.db", &which, "--format", "csv"]).stdout;
        let first = csv.lines().nth(1).unwrap();
        assert!(first.starts_with(&format!("a,T_A,T,{instance},0,")), "{csv}");
        let csv = bench.ok(&["explain", "equal.db", &which, "--recording", "b", "--format", "csv"]).stdout;
        let first = csv.lines().nth(1).unwrap();
        assert!(first.starts_with(&format!("b,T_A,T,{instance},0,")), "{csv}");
    }
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let bench = Bench::engine();
    let mut all = String::new();
    for which in [
        "T_4",
        "Nonsense:T_4",
        "ResponseTime:T_44",
        "CPULoad:Core_0",
        "ResponseTime:T_4:p101",
        "ResponseTime:T_4:999",
        "ResponseTime:T_44:1",
        "ResponseTime:T_4:6",
        "T_4:max",
        "Response:T_4",
        "ResponseTime:T_4:avg",
        "ResponseTime:T_4:-1",
        "ResponseTime:T_1",
        "ResponseTime:R_2a",
        "ResponseTime:EE_TC_iirq_handler",
        "ResponseTime:T_9",
    ] {
        let run = bench.run(&["explain", "engine.db", which]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{which}");
        writeln!(all, "$ btfdb explain engine.db {which}\n{}", run.stderr).unwrap();
    }
    insta::assert_snapshot!(all);
}

/// The end of a recording cuts a response off.
#[test]
fn an_open_response_is_not_explained() {
    let bench = locked();
    let run = bench.run(&["explain", "locked.db", "ResponseTime:T_C:0"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("is not complete"), "{}", run.stderr);
}

/// T_L waits on Core_0 while T_A polls there for what T_B has on Core_1.
pub fn behind_a_poller() -> Bench {
    let bench = Bench::new();
    let mut text =
        "#version 2.2.1\n#creator test\n#creationDate 2026-01-01T00:00:00Z\n#timeScale ns\n".to_owned();
    for line in [
        "0,Alarm_B,0,T,T_B,0,activate",
        "10,Core_1,0,T,T_B,0,start",
        "20,T_B,0,SEM,Spin,0,requestsemaphore",
        "20,T_B,0,SEM,Spin,0,assigned",
        "100,Alarm_A,0,T,T_A,0,activate",
        "110,Core_0,0,T,T_A,0,start",
        "150,T_A,0,SEM,Spin,0,requestsemaphore",
        "150,T_A,0,SEM,Spin,0,waiting",
        "150,Core_0,0,T,T_A,0,poll",
        "200,Alarm_L,0,T,T_L,0,activate",
        "300,T_B,0,SEM,Spin,0,released",
        "300,T_A,0,SEM,Spin,0,assigned",
        "300,Core_0,0,T,T_A,0,run",
        "340,T_A,0,SEM,Spin,0,released",
        "400,Core_0,0,T,T_A,0,terminate",
        "400,Core_0,0,T,T_L,0,start",
        "450,Core_1,0,T,T_B,0,terminate",
        "500,Core_0,0,T,T_L,0,terminate",
    ] {
        writeln!(text, "{line}").unwrap();
    }
    bench.write("poller.btf", text);
    bench.ok(&["ingest", "poller.db", "poller.btf", "-q"]);
    bench
}

#[test]
fn who_has_the_core_and_only_polls_waits_for_somebody_else() {
    let bench = behind_a_poller();
    insta::assert_snapshot!(bench.ok(&["explain", "poller.db", "StartDelay:T_L"]).stdout);
}

/// Each second of the last seven, T_L waits on Core_0 while T_A polls there for a semaphore: somebody has got
/// it minutes before, also one of whom no begin is known, or has given it back, or ended with it, also just
/// before. At the begin, T_M has some other semaphores for a moment.
fn held_for_long(others: usize) -> Bench {
    let bench = Bench::new();
    let mut text = "#version 2.2.1\n#creator test\n#creationDate 2026-01-01T00:00:00Z\n#timeScale us\n\
         1,Alarm,0,T,T_M,0,activate\n1,Core_1,0,T,T_M,0,start\n"
        .to_owned();
    for other in 0..others {
        for action in ["requestsemaphore", "assigned", "released"] {
            writeln!(text, "2,T_M,0,SEM,S_{other},0,{action}").unwrap();
        }
    }
    writeln!(text, "3,Core_1,0,T,T_M,0,terminate").unwrap();
    for line in [
        "10,T_N,0,SEM,Of_N,0,requestsemaphore",
        "10,T_N,0,SEM,Of_N,0,assigned",
        "20,Core_1,0,T,T_N,0,preempt",
        "30,Alarm,0,T,T_H,0,activate",
        "30,Core_1,0,T,T_H,0,start",
        "40,T_H,0,SEM,Of_H,0,requestsemaphore",
        "40,T_H,0,SEM,Of_H,0,assigned",
        "50,T_H,0,SEM,Given,0,requestsemaphore",
        "50,T_H,0,SEM,Given,0,assigned",
        "60,T_H,0,SEM,Given,0,released",
        "70,Core_1,0,T,T_H,0,wait",
        "80,Alarm,0,T,T_E,0,activate",
        "80,Core_1,0,T,T_E,0,start",
        "90,T_E,0,SEM,Lost,0,requestsemaphore",
        "90,T_E,0,SEM,Lost,0,assigned",
        "100,Core_1,0,T,T_E,0,terminate",
    ] {
        writeln!(text, "{line}").unwrap();
    }
    for (nth, semaphore) in ["Of_N", "Of_H", "Given", "Lost", "New", "Short", "Of_N"].into_iter().enumerate()
    {
        let at = 200_000_000 + 1_000_000 * nth as u64;
        if semaphore == "Short" {
            for line in [
                "204995000,Alarm,0,T,T_F,0,activate",
                "204995000,Core_1,0,T,T_F,0,start",
                "204995500,T_F,0,SEM,Short,0,requestsemaphore",
                "204995500,T_F,0,SEM,Short,0,assigned",
                "204999000,Core_1,0,T,T_F,0,terminate",
                "204999500,Core_1,0,T,T_N,0,resume",
                "204999900,Core_1,0,T,T_N,0,terminate",
            ] {
                writeln!(text, "{line}").unwrap();
            }
        }
        for (after, rest) in [
            (0, format!("Alarm,0,T,T_A,{nth},activate")),
            (0, format!("Core_0,0,T,T_A,{nth},start")),
            (10, format!("T_A,{nth},SEM,{semaphore},0,requestsemaphore")),
            (10, format!("T_A,{nth},SEM,{semaphore},0,waiting")),
            (10, format!("Core_0,0,T,T_A,{nth},poll")),
            (20, format!("Alarm,0,T,T_L,{nth},activate")),
            (30, format!("T_A,{nth},SEM,{semaphore},0,assigned")),
            (30, format!("Core_0,0,T,T_A,{nth},run")),
            (40, format!("T_A,{nth},SEM,{semaphore},0,released")),
            (50, format!("Core_0,0,T,T_A,{nth},terminate")),
            (50, format!("Core_0,0,T,T_L,{nth},start")),
            (60, format!("Core_0,0,T,T_L,{nth},terminate")),
        ] {
            writeln!(text, "{},{rest}", at + after).unwrap();
        }
    }
    bench.write("long.btf", text);
    bench.ok(&["ingest", "long.db", "long.btf", "-q"]);
    bench
}

#[test]
fn what_was_got_long_before_has_its_holder() {
    for others in [0, 1_500] {
        let bench = held_for_long(others);
        let found = rows(
            &bench,
            "long.db",
            "SELECT instance, object, behind_process FROM response_part WHERE process = 'T_L' AND holder_state = 'polling'",
        );
        insta::assert_snapshot!("what_was_got_long_before_has_its_holder", found);
    }
}
