//! Several control units on one clock: what `align` writes for two units whose true times are known, what it
//! says of wrong files, and the clocks of the corpus. Not the computation (see `clocks`).

use crate::support::{Bench, Run};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Two control units: A asks B every millisecond, and B answers. B's clock is 5 ms ahead and 40 ppm faster.
/// Requests take 700 ns, answers 900 ns. Each tenth request is lost.
fn bench() -> Bench {
    let bench = Bench::new();
    let local = |time: i64| 5_000_000 + time + time / 25_000;
    let head = "#version 2.2.1\n#creator test\n#creationDate 2026-01-01T00:00:00Z\n#timeScale ns\n";
    let (mut a, mut b) = (head.to_owned(), head.to_owned());
    for n in 0..100 {
        let begin = 1_000_000 * (n + 1);
        let line = |ecu: &mut String, time: i64, rest: String| writeln!(ecu, "{time},{rest}").unwrap();
        line(&mut a, begin - 500, format!("Alarm,{n},T,Ask,{n},activate"));
        line(&mut a, begin - 400, format!("Core_0,0,T,Ask,{n},start"));
        line(&mut a, begin, format!("Ask,{n},SIG,Request,0,write,{n}"));
        line(&mut a, begin + 100, format!("Core_0,0,T,Ask,{n},terminate"));
        if n % 10 == 9 {
            continue;
        }
        let i = n - n / 10;
        line(&mut b, local(begin + 700), format!("Bus,{i},I,Answer,{i},activate"));
        line(&mut b, local(begin + 700), format!("Core_0,0,I,Answer,{i},start"));
        line(&mut b, local(begin + 700), format!("Answer,{i},SIG,Received,0,read,{n}"));
        line(&mut b, local(begin + 2000), format!("Answer,{i},SIG,Reply,0,write,{n}"));
        line(&mut b, local(begin + 2100), format!("Core_0,0,I,Answer,{i},terminate"));
        line(&mut a, begin + 2900, format!("Bus,{i},I,Result,{i},activate"));
        line(&mut a, begin + 2900, format!("Core_0,0,I,Result,{i},start"));
        line(&mut a, begin + 2900, format!("Result,{i},SIG,Replied,0,read,{n}"));
        line(&mut a, begin + 3000, format!("Core_0,0,I,Result,{i},terminate"));
    }
    bench.write("ecu_a.btf", a);
    bench.write("ecu_b.btf", b);
    bench.write("clocks.toml", CLOCKS);
    bench.ok(&["ingest", "v.db", "ecu_a.btf", "ecu_b.btf", "-q"]);
    bench
}

const CLOCKS: &str = "\
[[clock]]
recording = \"ecu_a\"
[[clock]]
recording = \"ecu_b\"
ecu = \"BODY\"

[[message]]
name = \"request\"
send = \"SELECT time, note AS key FROM btf_event WHERE target = 'Request' AND is_action(action, 'write')\"
receive = \"SELECT time, note AS key FROM btf_event WHERE target = 'Received' AND is_action(action, 'read')\"

[[message]]
name = \"reply\"
send = \"SELECT time, note AS key FROM btf_event WHERE target = 'Reply' AND is_action(action, 'write')\"
receive = \"SELECT time, note AS key FROM btf_event WHERE target = 'Replied' AND is_action(action, 'read')\"
";

const CHAIN: &str = "[[chain]]\nname = \"round\"\nsteps = [\n{ entity = \"Request\", action = \"write\" },\n\
                     { entity = \"Received\", action = \"read\" },\n{ entity = \"Reply\", action = \"write\" }]\n";

fn csv(bench: &Bench, sql: &str) -> String {
    bench.ok(&["query", "v.db", sql, "--format", "csv"]).stdout
}

fn csv_of(bench: &Bench, recording: &str, sql: &str) -> String {
    bench.ok(&["query", "v.db", sql, "--recording", recording, "--format", "csv"]).stdout
}

#[test]
fn two_units_are_one_recording_on_one_clock() {
    let bench = bench();
    insta::assert_snapshot!("align", bench.ok(&["align", "v.db", "clocks.toml", "--into", "vehicle"]).all());
    insta::assert_snapshot!("clock", csv(&bench, "SELECT * FROM clock"));
    let fates =
        "SELECT rule, fate, count(*) AS n, min(latency), max(latency), min(least_latency) >= 0 AS sane
                 FROM clock_message GROUP BY rule, fate ORDER BY rule, fate";
    insta::assert_snapshot!("messages", csv(&bench, fates));
    let names = "SELECT ecu, type, entity, original FROM ecu_entity WHERE type IN ('C', 'T', 'I') ORDER BY ecu, type, entity";
    insta::assert_snapshot!("entities", csv(&bench, names));
    let units = csv(&bench, "SELECT entity FROM entity WHERE type = 'ECU' AND recording = 'vehicle'");
    assert_eq!(units, "entity\nBODY\necu_a");
    // What imported traces have no row of, too: the stimulus of both.
    let sources = "SELECT DISTINCT source FROM btf_event WHERE recording = 'vehicle' AND source LIKE '%Bus' ORDER BY source";
    assert_eq!(csv(&bench, sources), "source\nBODY.Bus\necu_a.Bus");
    // The true latencies are between the bounds.
    let wrong = "SELECT count(*) AS n FROM clock_message WHERE fate = 'used' AND NOT (CASE rule WHEN 'request' THEN 700
                 ELSE 900 END BETWEEN least_latency AND most_latency)";
    assert_eq!(csv(&bench, wrong), "n\n0");
    let gaps = csv(&bench, "SELECT core, reason, begin_at, end_at FROM gap WHERE recording = 'vehicle'");
    assert!(gaps.starts_with("core,reason,begin_at,end_at\nBODY.Core_0,not_recorded,999500,"), "{gaps}");
}

#[test]
fn all_that_is_done_with_recordings_is_done_with_it() {
    let bench = bench();
    bench.ok(&["align", "v.db", "clocks.toml", "--into", "vehicle", "-q"]);
    bench.write("chains.toml", CHAIN);
    // From the request to the reply are 2 µs, whatever the clocks say; the first request comes before its
    // receiver is recorded.
    let ages = "SELECT count(*) AS n, count(*) FILTER (WHERE 2000 BETWEEN least_age AND most_age) AS right_ones,
                max(most_age - least_age) < 3500 AS narrow, first_ecu, last_ecu FROM chain_bound GROUP BY ALL";
    let chains = bench.ok(&["query", "v.db", ages, "--chains", "chains.toml", "--format", "csv"]);
    assert_eq!(chains.stdout, "n,right_ones,narrow,first_ecu,last_ecu\n89,89,true,ecu_a,BODY");
    let metrics = bench.ok(&["metrics", "v.db", "ResponseTime", "--recording", "vehicle", "--format", "csv"]);
    assert_eq!(metrics.stdout.lines().count(), 4, "{}", metrics.all());
    let check = bench.ok(&["check", "v.db:vehicle"]);
    assert!(check.stdout.contains("0 errors, 0 warnings"), "{}", check.all());
    for (format, file) in [("btf", "v.btf"), ("perfetto", "v.pftrace")] {
        bench.ok(&["export", "v.db", "--recording", "vehicle", "--format", format, "-o", file]);
    }
    bench.ok(&["plot", "v.db", "--recording", "vehicle", "-o", "v.svg", "--from", "1ms", "--to", "3ms"]);
    let same = bench.ok(&["compare", "v.db:vehicle", "v.btf"]);
    assert!(same.stdout.contains("0 only in A, 0 only in B"), "{}", same.all());
    assert_eq!(bench.ok(&["verify", "v.db"]).stdout, "");
    let more = bench.run(&["ingest", "v.db", "ecu_a.btf", "--continue", "vehicle"]);
    assert!(
        more.code == Some(2) && more.stderr.contains("was aligned from other recordings"),
        "{}",
        more.all()
    );
    // What it is made of can go.
    bench.ok(&["remove", "v.db", "--recording", "ecu_b"]);
    assert_eq!(csv(&bench, "SELECT count(*) AS n FROM clock"), "n\n2");
}

#[test]
fn a_clock_that_is_right_changes_nothing() {
    let bench = Bench::engine();
    bench.ok(&["ingest", "v.db", "recording", "--name", "a", "-q"]);
    bench.ok(&["ingest", "v.db", "recording", "--name", "b", "-q"]);
    bench.write(
        "same.toml",
        "[[clock]]\nrecording = \"a\"\n[[clock]]\nrecording = \"b\"\noffset = \"0ns\"\nerror = \"0ns\"\n",
    );
    bench.ok(&["align", "v.db", "same.toml", "--into", "both", "-q"]);
    for (table, names) in [
        ("btf_event", ["target", "source"].as_slice()),
        ("process_instance", &["process", "core"]),
        ("process_state", &["process", "core"]),
        ("runnable_instance", &["runnable", "process", "core"]),
        ("runnable_state", &["runnable", "process", "core"]),
        ("gap", &["core"]),
    ] {
        let leave = if table == "btf_event" { "recording, seq, note" } else { "recording" };
        let original = |name: &&str| format!("regexp_replace({name}, '(^|[.])b[.]', '\\1', 'g') AS {name}");
        let of_unit = names.iter().map(original).collect::<Vec<_>>().join(", ");
        let rows = |recording: &str, names: &str| {
            format!(
                "SELECT * REPLACE ({names}) FROM (SELECT * EXCEPT ({leave}) FROM {table} WHERE recording = '{recording}')"
            )
        };
        let plain = names.iter().map(|name| format!("{name} AS {name}")).collect::<Vec<_>>().join(", ");
        let is_of_unit = format!("{} LIKE 'b.%'", names.first().unwrap());
        let (alone, both) = (
            rows("b", &plain),
            format!(
                "SELECT * REPLACE ({of_unit}) FROM (SELECT * EXCEPT ({leave}) FROM {table} WHERE recording = 'both' AND {is_of_unit})"
            ),
        );
        let counts = format!(
            "SELECT (SELECT count(*) FROM ({alone})) AS a, (SELECT count(*) FROM ({both})) AS b,
             (SELECT count(*) FROM ({alone} EXCEPT {both})) AS only_a"
        );
        let counts = csv(&bench, &counts);
        let of = counts.lines().nth(1).unwrap().split(',').collect::<Vec<_>>();
        assert!(of[0] == of[1] && of[2] == "0", "{table}: {counts}");
    }
}

/// The note of `set_event` is the owner of the event; that of a signal is a value, whatever it looks like.
#[test]
fn of_the_notes_only_owners_of_events_get_other_names() {
    let bench = Bench::engine();
    let ecu = "#version 2.2.1\n#timeScale ns\n0,Alarm,0,T,T_1,0,activate\n1,Core_0,0,T,T_1,0,start\n\
        2,T_1,0,EVENT,Go,0,set_event,T_1\n3,T_1,0,SIG,Mode,0,write,T_1\n4,Core_0,0,T,T_1,0,terminate\n";
    bench.write("a.btf", ecu);
    bench.write("b.btf", ecu);
    bench.ok(&["ingest", "v.db", "a.btf", "b.btf", "-q"]);
    let clocks =
        "[[clock]]\nrecording = \"a\"\n[[clock]]\nrecording = \"b\"\noffset = \"0ns\"\nerror = \"0ns\"\n";
    bench.write("same.toml", clocks);
    bench.ok(&["align", "v.db", "same.toml", "--into", "both", "-q"]);
    let notes = "SELECT target, note FROM btf_event WHERE recording = 'both' AND target_type <> 'SIM' AND note IS NOT NULL";
    let found = csv(&bench, &format!("{notes} ORDER BY target"));
    assert_eq!(found, "target,note\na.Go,a.T_1\na.Mode,T_1\nb.Go,b.T_1\nb.Mode,T_1");
}

#[test]
fn wrong_files_and_rules_are_refused_with_their_place() {
    let bench = bench();
    let before = crate::support::tree(&bench.path().join("v.db"));
    let refused = |text: &str| -> Run {
        bench.write("wrong.toml", text);
        let run = bench.run(&["align", "v.db", "wrong.toml", "--into", "vehicle"]);
        assert_ne!(run.code, Some(0), "{text}\n{}", run.all());
        run
    };
    let mut all = String::new();
    for text in [
        CLOCKS.replace("ecu_b", "ecu_c"),
        CLOCKS.replace("'Request'", "'Requests'").replace("'Reply'", "'Replies'"),
        CLOCKS.replace("note AS key", "note"),
        CLOCKS.replace("note AS key", "nota AS key"),
        CLOCKS.replace(
            "SELECT time, note AS key FROM btf_event WHERE target = 'Reply'",
            "SELECT 1.5 AS time, 1 AS key FROM btf_event WHERE target = 'Reply'",
        ),
        // Requests alone bound the clock on one side.
        CLOCKS.split("\n[[message]]\nname = \"reply\"").next().unwrap().to_owned(),
        CLOCKS
            .replace("wander_ppm", "wander")
            .replace("name = \"reply\"", "name = \"reply\"\nform = \"ecu_a\""),
    ] {
        let run = refused(&text);
        writeln!(all, "exit {}: {}\n", run.code.unwrap(), run.stderr).unwrap();
    }
    bench.ok(&["align", "v.db", "clocks.toml", "--into", "vehicle", "-q"]);
    let twice = bench.run(&["align", "v.db", "clocks.toml", "--into", "vehicle"]);
    writeln!(all, "exit {}: {}", twice.code.unwrap(), twice.stderr).unwrap();
    insta::assert_snapshot!("refused", all);
    bench.ok(&["remove", "v.db", "--recording", "vehicle", "-q"]);
    bench.ok(&["vacuum", "v.db", "--older-than", "0s", "-q"]);
    let tables = |tree: Vec<(PathBuf, u64)>| -> Vec<(PathBuf, u64)> {
        tree.into_iter().filter(|(path, _)| path.extension().is_some_and(|e| e == "parquet")).collect()
    };
    assert_eq!(tables(before), tables(crate::support::tree(&bench.path().join("v.db"))));
}

#[test]
fn edges_that_both_see_are_messages_in_both_directions() {
    let bench = bench();
    let edge = "[[edge]]\nat = \"SELECT CASE recording WHEN 'ecu_a' THEN time + 700 ELSE time END AS time, note AS key \
                FROM btf_event WHERE target IN ('Request', 'Received')\"\nwithin = \"100ns\"\n";
    let clocks = CLOCKS.split("\n[[message]]").next().unwrap();
    bench.write("edges.toml", format!("{clocks}\n{edge}"));
    bench.ok(&["align", "v.db", "edges.toml", "--into", "vehicle", "-q"]);
    let found = csv(
        &bench,
        "SELECT sender, fate, count(*) AS n, max(abs(latency)) <= 100 AS close FROM clock_message GROUP BY sender, fate ORDER BY sender, fate",
    );
    assert_eq!(found, "sender,fate,n,close\nBODY,used,90,true\necu_a,not_received,10,\necu_a,used,90,true");
}

#[test]
fn a_clock_that_is_given_needs_no_messages() {
    let bench = bench();
    let clocks = CLOCKS.split("\n[[message]]").next().unwrap();
    bench.write("given.toml", format!("{clocks}offset = \"5ms\"\ndrift_ppm = 40\nerror = \"2ns\"\n"));
    bench.ok(&["align", "v.db", "given.toml", "--into", "vehicle", "-q"]);
    let times = "SELECT max(abs(a.time + 700 - b.time)) AS off FROM btf_event a JOIN btf_event b
                 ON a.note = b.note WHERE a.recording = 'vehicle' AND b.recording = 'vehicle'
                 AND a.target = 'Request' AND b.target = 'Received'";
    let off: i64 = csv(&bench, times).lines().nth(1).unwrap().parse().unwrap();
    assert!(off <= 1, "{off}");
    assert_eq!(csv(&bench, "SELECT early, late FROM clock_bound WHERE ecu = 'BODY'"), "early,late\n2,2");
}

/// A unit of a core and a task, which writes and reads signals: time, name, action, key. `clock` is what its
/// clock shows.
fn unit(bench: &Bench, name: &str, clock: impl Fn(i64) -> i64, mut events: Vec<(i64, &str, &str, i64)>) {
    events.sort_unstable();
    let mut text = "#version 2.2.1\n#timeScale ns\n".to_owned();
    writeln!(text, "{0},Alarm,0,T,Main,0,activate\n{0},Core_{name},0,T,Main,0,start", clock(0)).unwrap();
    for (time, signal, action, key) in events {
        writeln!(text, "{},Main,0,SIG,{signal},0,{action},{key}", clock(time)).unwrap();
    }
    bench.write(&format!("{name}.btf"), text);
}

fn rule(send: &str, receive: &str) -> String {
    let side = |signal: &str, action: &str| {
        format!(
            "SELECT time, note AS key FROM btf_event WHERE target = '{signal}' AND is_action(action, '{action}')"
        )
    };
    format!("[[message]]\nsend = \"{}\"\nreceive = \"{}\"\n", side(send, "write"), side(receive, "read"))
}

#[test]
fn a_unit_that_cannot_be_aligned_yet_is_aligned_by_others() {
    let bench = Bench::new();
    let (mut a, mut b, mut c) = (vec![], vec![], vec![]);
    for n in 0..50 {
        let time = n * 1_000_000;
        // A asks B, and B answers; so do B and C. C hears more of A, and says nothing to it.
        a.extend([(time, "AB", "write", n), (time + 4000, "BA_in", "read", n)]);
        b.extend([(time + 800, "AB_in", "read", n), (time + 3000, "BA", "write", n)]);
        b.extend([(time + 5000, "BC", "write", n), (time + 9000, "CB_in", "read", n)]);
        c.extend([(time + 5900, "BC_in", "read", n), (time + 8000, "CB", "write", n)]);
        for k in 0..4 {
            a.push((time + 100_000 * (k + 1), "AC", "write", 4 * n + k));
            c.push((time + 100_000 * (k + 1) + 700, "AC_in", "read", 4 * n + k));
        }
    }
    unit(&bench, "a", |t| t, a);
    unit(&bench, "b", |t| 7_000_000 + t - t / 50_000, b);
    unit(&bench, "c", |t| 90_000_000 + t + t / 20_000, c);
    bench.ok(&["ingest", "v.db", "a.btf", "b.btf", "c.btf", "-q"]);
    let clocks: String =
        ["a", "b", "c"].iter().map(|name| format!("[[clock]]\nrecording = \"{name}\"\n")).collect();
    let rules = [("AB", "AB_in"), ("BA", "BA_in"), ("BC", "BC_in"), ("CB", "CB_in"), ("AC", "AC_in")];
    let rules: String = rules.iter().map(|(send, receive)| rule(send, receive)).collect();
    bench.write("clocks.toml", format!("{clocks}{rules}"));
    bench.ok(&["align", "v.db", "clocks.toml", "--into", "all"]);
    let messages =
        "SELECT count(*) AS n, min(latency) >= 0 AS forwards, bool_and(latency BETWEEN least_latency AND
                    most_latency) AS sane FROM clock_message WHERE fate = 'used'";
    assert_eq!(csv(&bench, messages), "n,forwards,sane\n400,true,true");
    let again = clocks.replace("\"a\"", "\"all\"");
    bench.write("again.toml", format!("{again}{rules}"));
    let run = bench.run(&["align", "v.db", "again.toml", "--into", "more"]);
    assert!(run.code == Some(2) && run.stderr.contains("'all' was aligned already"), "{}", run.all());
}

#[test]
fn what_one_unit_has_is_not_that_of_all() {
    let bench = Bench::new();
    unit(&bench, "a", |t| t, vec![(100, "S", "write", 1), (9000, "S", "write", 2)]);
    unit(&bench, "b", |t| t + 50, vec![(100, "S", "write", 1), (9000, "S", "write", 2)]);
    let text = std::fs::read_to_string(bench.path().join("a.btf")).unwrap();
    // A gap of all cores of A is none of B.
    bench.write(
        "a.btf",
        text.replace("9000,Main", "# gap of all cores: lost_buffer, from 200 to 300 ns\nno event\n9000,Main"),
    );
    bench.ok(&["ingest", "v.db", "a.btf", "b.btf", "-q"]);
    assert_eq!(csv(&bench, "SELECT core, begin_at FROM gap"), "core,begin_at\n,200");
    let given = |ecu: &str| {
        format!(
            "[[clock]]\nrecording = \"a\"\n[[clock]]\nrecording = \"b\"\necu = \"{ecu}\"\noffset = \"0ns\"\nerror = \"60ns\"\n"
        )
    };
    // The clock of B is wrong by less than its error: no message contradicts it. One of them has no key.
    let send = rule("S", "S")
        .replace("note AS key", "nullif(note, '2') AS key")
        .replace("'S' AND", "'S' AND recording = 'b' AND");
    let receive = rule("S", "S");
    let receive = receive
        .split("receive = ")
        .nth(1)
        .unwrap()
        .replace("'read'", "'write'")
        .replace("'S' AND", "'S' AND recording = 'a' AND");
    let send = send.split("receive = ").next().unwrap().to_owned();
    bench.write("clocks.toml", format!("{}{send}receive = {receive}", given("b")));
    let run = bench.ok(&["align", "v.db", "clocks.toml", "--into", "all"]);
    assert!(run.stderr.contains("1 rows of the statements have no time or no key"), "{}", run.all());
    assert!(!run.stderr.contains("contradict"), "{}", run.all());
    let gaps =
        "SELECT core, begin_at, end_at, reason FROM gap WHERE recording = 'all' ORDER BY begin_at, core";
    assert_eq!(
        csv(&bench, gaps),
        "core,begin_at,end_at,reason\nCore_b,0,50,not_recorded\nCore_a,200,300,lost_buffer\nCore_a,9000,9050,not_recorded"
    );
    let found =
        "SELECT source, code FROM diagnostic WHERE recording = 'all' AND source <> 'align' ORDER BY source";
    let of_units = "SELECT recording || ': ' || source AS source, code FROM diagnostic WHERE recording IN ('a', 'b') ORDER BY source";
    let [found, of_units] = [found, of_units].map(|sql| csv(&bench, sql));
    assert_eq!(found, of_units, "what is doubtful there is doubtful here");
    assert_eq!(found.lines().count(), 2, "{found}");
    // Two entities never get one name.
    bench.write("clocks.toml", given("Main"));
    let run = bench.run(&["align", "v.db", "clocks.toml", "--into", "more"]);
    assert_eq!(run.code, Some(0), "a unit may be called as a task is: {}", run.all());
    let text = std::fs::read_to_string(bench.path().join("a.btf")).unwrap();
    bench.write("c.btf", text.replace(",S,", ",x.S,"));
    bench.ok(&["ingest", "v.db", "c.btf", "-q"]);
    bench.write(
        "clocks.toml",
        format!("{}[[clock]]\nrecording = \"c\"\noffset = \"0ns\"\nerror = \"1ns\"\n", given("x")),
    );
    let run = bench.run(&["align", "v.db", "clocks.toml", "--into", "other"]);
    assert!(run.code == Some(1) && run.stderr.contains("would both be called 'x.S'"), "{}", run.all());
}

fn corpus() -> Option<PathBuf> {
    let Some(corpus) = std::env::var_os("BTFDB_CORPUS") else {
        eprintln!("skipped: BTFDB_CORPUS does not name a corpus");
        return None;
    };
    Some(PathBuf::from(corpus).join("sync"))
}

/// Two parts of a recording on clocks that are known: inside what its messages allow, and the truth of every
/// message between the bounds.
#[test]
fn clocks_of_the_corpus_are_inside_what_their_messages_allow() {
    let Some(corpus) = corpus() else { return };
    for name in ["r04-drift", "r04-wander"] {
        let (bench, folder) = (Bench::new(), corpus.join(name));
        let copy = |file: &str| {
            bench.write(file, std::fs::read(folder.join(file)).unwrap());
        };
        for file in
            ["ecu_a.btf", "ecu_b.btf", "ecu_a_messages.csv", "ecu_b_messages.csv", "truth_messages.csv"]
        {
            copy(file);
        }
        let rule = |from: &str, to: &str| {
            let side = |ecu: &str, event: &str| {
                format!(
                    "SELECT time_ns AS time, key FROM read_csv('{ecu}_messages.csv') WHERE event = '{event}'"
                )
            };
            format!(
                "[[message]]\nfrom = \"{from}\"\nto = \"{to}\"\nsend = \"{}\"\nreceive = \"{}\"\n",
                side(from, "send"),
                side(to, "receive")
            )
        };
        let clocks = CLOCKS.split("\n[[message]]").next().unwrap().replace("ecu = \"BODY\"\n", "");
        bench.write("clocks.toml", format!("{clocks}\n{}{}", rule("ecu_a", "ecu_b"), rule("ecu_b", "ecu_a")));
        bench.ok(&["ingest", "v.db", "ecu_a.btf", "ecu_b.btf", "-q"]);
        let report = bench.ok(&["align", "v.db", "clocks.toml", "--into", "vehicle"]);
        let expected: serde_json::Value =
            serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
        let used = csv_of(&bench, "vehicle", "SELECT count(*) AS n FROM clock_message WHERE fate = 'used'");
        let wanted = expected["a_to_b"].as_i64().unwrap() + expected["b_to_a"].as_i64().unwrap();
        assert_eq!(used, format!("n\n{wanted}"), "{}", report.all());
        let lost =
            csv_of(&bench, "vehicle", "SELECT count(*) AS n FROM clock_message WHERE fate = 'not_received'");
        assert_eq!(lost, format!("n\n{}", expected["lost"]));
        let drift: f64 = csv(&bench, "SELECT drift / 1e6 AS ppm FROM clock WHERE model <> 'reference'")
            .lines()
            .nth(1)
            .unwrap()
            .parse()
            .unwrap();
        let feasible = |key: &str, n: usize| expected["feasible_lines"][key][n].as_f64().unwrap();
        assert!(feasible("drift_ppm", 0) <= drift && drift <= feasible("drift_ppm", 1), "{name}: {drift}");
        let reversed = csv_of(&bench, "vehicle", "SELECT count(*) AS n FROM clock_message WHERE latency < 0");
        assert_eq!(reversed, "n\n0");
        // Truth is in the time of A. Everything is compared in it.
        let outside = "SELECT count(*) AS n, count(*) FILTER (WHERE NOT t.received_ns - t.sent_ns BETWEEN least_latency AND
                       most_latency) AS wrong FROM clock_message m JOIN read_csv('truth_messages.csv') t
                       ON CAST(t.key AS VARCHAR) = m.key WHERE m.fate = 'used'";
        assert_eq!(csv_of(&bench, "vehicle", outside), format!("n,wrong\n{wanted},0"), "{name}");
        let true_times = "WITH seen AS (SELECT m.sent_at AS time, t.sent_ns AS truth, m.sender AS ecu FROM clock_message m
            JOIN read_csv('truth_messages.csv') t ON CAST(t.key AS VARCHAR) = m.key WHERE m.sent_at IS NOT NULL
            UNION ALL SELECT m.received_at, t.received_ns, m.receiver FROM clock_message m JOIN
            read_csv('truth_messages.csv') t ON CAST(t.key AS VARCHAR) = m.key WHERE m.received_at IS NOT NULL)
            SELECT count(*) > 700 AS many, count(*) FILTER (WHERE truth BETWEEN time - early AND time + late) = count(*) AS sure
            FROM as_of(seen, (SELECT ecu, time, early, late FROM clock_bound), ecu)";
        assert_eq!(csv_of(&bench, "vehicle", true_times), "many,sure\ntrue,true", "{name}");
        // No wider than twice what a line leaves open in the middle of the recording.
        let width = csv(
            &bench,
            "SELECT early + late AS width FROM clock_bound WHERE ecu = 'ecu_b' AND time <= 99544534 ORDER BY time DESC LIMIT 1",
        );
        let width: f64 = width.lines().nth(1).unwrap().parse().unwrap();
        let known = feasible("t_b_ns", 1) - feasible("t_b_ns", 0);
        assert!(width >= known && width <= 2.0 * known, "{name}: {width} {known}");
    }
}

/// Two kernels of one copy over the network: 30 packets in 0.1 s, each of which takes 136 µs or more. They
/// leave 5400 ppm of the drift open, and 270 µs of the offset. The line that another program publishes is one
/// of those that they allow (Trace Compass, `ExperimentSyncTest`).
#[test]
fn two_kernels_of_the_corpus_are_aligned_as_published() {
    let Some(corpus) = corpus() else { return };
    let bench = Bench::new();
    let folder = |name: &str| corpus.join("tracecompass").join(name).to_str().unwrap().to_owned();
    bench.ok(&["ingest", "v.db", &folder("scp_src"), &folder("scp_dest"), "--no-map", "-q"]);
    let side = |name: &str| {
        format!(
            "SELECT time, concat_ws(' ', payload['seq'], payload['ack_seq'], payload['check'], payload['flags']) AS key \
             FROM trace_event WHERE name = '{name}'"
        )
    };
    bench.write(
        "clocks.toml",
        format!(
            "[[clock]]\nrecording = \"scp_src\"\n[[clock]]\nrecording = \"scp_dest\"\n[[message]]\nsend = \"{}\"\nreceive = \"{}\"\n",
            side("inet_sock_local_out"),
            side("inet_sock_local_in")
        ),
    );
    let report = bench.ok(&["align", "v.db", "clocks.toml", "--into", "both"]);
    let clock = csv(
        &bench,
        "SELECT drift, begin_at, local_begin, end_at, local_end, messages FROM clock WHERE ecu = 'scp_dest'",
    );
    let of: Vec<i64> = clock.lines().nth(1).unwrap().split(',').map(|n| n.parse().unwrap()).collect();
    assert_eq!(of[5], 30, "{}", report.all());
    // Slope 0.99994137837031390110, offset 79796507913179.33347660124688298171: -58.6 ppm.
    assert!((of[0] - -58_621_630).abs() < 8_000_000, "{clock}");
    let bounds =
        csv(&bench, "SELECT time, local, early, late FROM clock_bound WHERE ecu = 'scp_dest' ORDER BY time");
    let mut inside = 0;
    for row in bounds.lines().skip(1) {
        let row: Vec<i64> = row.split(',').map(|n| n.parse().unwrap()).collect();
        // In exact numbers, of 10^20.
        let exact = i128::from(row[0]) * 99_994_137_837_031_390_110
            + 79_796_507_913_179_333_476_601_246_882_981_i128 * 100;
        let ahead = exact / 100_000_000_000_000_000_000 - i128::from(row[1]);
        assert!(-i128::from(row[3]) <= ahead && ahead <= i128::from(row[2]), "{row:?}: {ahead}");
        inside += usize::from(row[2] + row[3] < 300_000);
    }
    assert!(inside > 10, "{inside} bounds of the time in which packets were sent");
    let fast = csv(
        &bench,
        "SELECT min(latency) > 130000 AS slow, min(least_latency) >= 0 AS sane FROM clock_message WHERE fate = 'used'",
    );
    assert_eq!(fast, "slow,sane\ntrue,true");
}
