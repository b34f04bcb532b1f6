//! The shell without a terminal: every dot command has its effect, errors name their line. Not for keys and
//! prompts (see `terminal`).

use crate::support::{Bench, Run};

/// Pipes a script into the shell.
fn piped(bench: &Bench, script: &str) -> Run {
    bench.run_with_input(&["shell", "engine.db"], script)
}

#[track_caller]
fn shows(bench: &Bench, script: &str) -> String {
    let run = piped(bench, script);
    assert_eq!(run.code, Some(0), "{script}\n{}", run.all());
    run.stdout
}

/// Names of all commands, from the help.
fn commands(bench: &Bench) -> Vec<String> {
    let help = shows(bench, ".help");
    let names = help.lines().take_while(|l| l.starts_with('.'));
    names.map(|l| l.split_whitespace().next().unwrap().to_owned()).collect()
}

/// What can be seen of every command: a script, and what its output holds.
const EFFECTS: &[(&str, &str)] = &[
    (".help", "Tab completes"),
    (".help .metric", "ENTITY"),
    (".tables", "process_instance"),
    (".schema gap", "reason"),
    (".schema", "process_pair"),
    (".recordings", "erika2"),
    (".metrics", "ResponseTime"),
    (".metrics responsetime", "SELECT"),
    (".metric ResponseTime T_5", "2737181"),
    (".metric ResponseTime T_5 demo", "2737181"),
    (".checks", "BTF"),
    (".explain SELECT 1", "plan_type"),
    (".mode tsv\nSELECT 1 AS a, 2 AS b;", "a\tb\n"),
    (".mode", "mode auto"),
    (
        ".unit ms\n.mode table\nSELECT max(terminate_at - activate_at) AS worst FROM process_instance;",
        "worst [ms]",
    ),
    (".unit", "unit ticks"),
    (".rows 7\n.rows", "rows 7"),
    (".param n=1\n.param $n=7\n.param m=2us\n.param\nSELECT $n + $m AS sum;", "2007"),
    // In quotes, it is text.
    (".param x='7'\nSELECT arrow_typeof($x) AS t;", "Utf8"),
    (".param x = 'null';\nSELECT $x IS NULL AS missing;", "false"),
    (".param x='99999999999999999999'\nSELECT CAST($x AS DECIMAL(38, 0)) + 1 AS n;", "100000000000000000000"),
    (".param x=\"a  b\"\nSELECT '<' || $x || '>' AS t;", "<a  b>"),
    (".param \"x=a  b\"\nSELECT '<' || $x || '>' AS t;", "<a  b>"),
    (".param 'x=a  b' ;\nSELECT '<' || $x || '>' AS t;", "<a  b>"),
    (".schema core_peak", "$window"),
    (".mode table\n.histogram RT T_5", "20 samples, 917.743 us to 2.73718 ms"),
    (".unit us\n.mode table\n.histogram RT T_5", "20 samples, 917.743 us to 2737.181 us"),
    (".timer on\n.timer", "timer on"),
    (".pager cat\n.pager", "pager cat"),
    (".once one.csv\nSELECT 1;\n.output\n", "output -"),
    (".output all.csv\n.output -\n.output", "output -"),
    (".read two.sql", "two"),
    (".export slice.btf 117ms 120ms\nSELECT 'done';", "done"),
    (".plot slice.svg 117ms 120ms\nSELECT 'done';", "done"),
    (".open engine.db\nSELECT 'open';", "open"),
    (".reload\nSELECT 'again';", "again"),
    ("SELECT 'before';\n.quit\nSELECT 'after';", "before"),
];

#[test]
fn every_command_has_an_effect() {
    let bench = Bench::engine();
    bench.write("two.sql", "SELECT 'two' AS\n  word;\n");
    for (script, effect) in EFFECTS {
        let shown = shows(&bench, script);
        assert!(shown.contains(effect), "{script}\n{shown}");
    }
    for name in commands(&bench) {
        let tried = EFFECTS.iter().any(|(script, _)| script.split_whitespace().any(|w| w == name));
        assert!(tried, "{name} is not tried");
        assert!(shows(&bench, &format!(".help {name}")).starts_with(&name));
    }
}

#[test]
fn quitting_stops() {
    assert!(!shows(&Bench::engine(), "SELECT 'before';\n.exit\nSELECT 'after';").contains("after"));
}

#[test]
fn scripts_mix_statements_and_commands() {
    let script = "-- The busiest tasks.\nSELECT process, count(*) AS n\nFROM process_instance -- ; not here\n\
                  WHERE type = 'T'\nGROUP BY process ORDER BY n DESC, process LIMIT 2;\n\n\
                  .mode jsonl\nSELECT ';' AS a; SELECT 2 AS b;\n.mode table\nSELECT 3 AS last";
    insta::assert_snapshot!(piped(&Bench::engine(), script).all());
}

#[test]
fn the_first_error_ends_a_script_and_names_its_line() {
    let bench = Bench::engine();
    let script = "SELECT 1;\n\nSELECT time,\n  targt\nFROM btf_event;\nSELECT 'never';\n";
    insta::assert_snapshot!(piped(&bench, script).all());
    for (script, message) in [
        ("SELECT 1;\n.tabels\n", "standard input:2: there is no command '.tabels'"),
        ("SELECT 1;\n\nSELECT 'x;\n", "standard input:3: "),
        ("SELECT 1;\nSELECT 1 FORM x y;", "(line 2, column "),
        (".metric NoSuch", "standard input:1: there is no metric 'NoSuch'"),
        ("\n.mode xml", "standard input:2: there is no format 'xml'"),
        (".unit hours", "there is no unit 'hours'"),
        (".rows many", "'many' is no number of rows"),
        (".schema gaps", "there is no table or view 'gaps'"),
        (".open nowhere.db", "nowhere.db"),
        (".read nowhere.sql", "nowhere.sql"),
        (".once", "write .once FILE"),
        (".export x.btf 1 2 3", "write .export FILE"),
        (".export x.btf --nonsense", "--nonsense"),
        (".export x.btf --threads 2", "--threads is the same for all of a shell"),
        (".export x.btf --memory-limit=1GiB", "--memory-limit is the same for all of a shell"),
        (".plot x.svg --sql-path mine", "--sql-path is the same for all of a shell"),
        (".plot x.svg 1ms 2ms --max-depth 9", "`btfdb shell DB --max-depth …`"),
        (".param a b=1", "'a b' cannot be the name of a parameter"),
        ("DROP TABLE btf_event;", "standard input:1: "),
        ("\\d", "there is no command '\\d'"),
    ] {
        let run = piped(&bench, script);
        assert_eq!(run.code, Some(1), "{script}\n{}", run.all());
        assert!(run.stderr.contains(message), "{script}\n{}", run.all());
    }
    assert!(!bench.path().join("x.btf").exists());
}

#[test]
fn commands_that_do_not_exist_are_guessed() {
    insta::assert_snapshot!(piped(&Bench::engine(), ".shema gap").all());
}

#[test]
fn files_read_files_but_not_for_ever() {
    let bench = Bench::engine();
    bench.write("inner.sql", "SELECT 1 AS inner;\n.nonsense\n");
    bench.write("outer.sql", "\n.read inner.sql\n");
    let run = piped(&bench, "SELECT 0;\n.read outer.sql\n");
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.starts_with("error: inner.sql:2: there is no command"), "{}", run.stderr);
    bench.write("ring.sql", "-- Reads itself.\n.read ring.sql\n");
    let run = piped(&bench, ".read ring.sql");
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("ring.sql:2: 'ring.sql' is read by a file that it reads"), "{}", run.stderr);
    bench.write("leave.sql", ".quit");
    assert_eq!(shows(&bench, ".read leave.sql\nSELECT 'after';"), "");
}

#[test]
fn results_go_to_files() {
    let bench = Bench::engine();
    let read = |name: &str| std::fs::read_to_string(bench.path().join(name)).unwrap();
    let shown = shows(&bench, ".once 'a file.csv'\nSELECT 1 AS a;\nSELECT 2 AS b;");
    assert_eq!((shown.as_str(), read("a file.csv").as_str()), ("b\n2", "a\n1\n"));
    let shown = shows(&bench, ".output all.csv\nSELECT 1 AS a;\nSELECT 2 AS b;\n.output -\nSELECT 3 AS c;");
    assert_eq!((shown.as_str(), read("all.csv").as_str()), ("c\n3", "a\n1\nb\n2\n"));
    // Complete at the end of the input, too.
    shows(&bench, ".output end.csv\nSELECT 1 AS a;");
    assert_eq!(read("end.csv"), "a\n1\n");
    // Nothing is overwritten by accident, and nothing half done is left.
    let run = piped(&bench, ".once all.csv\nSELECT 4;");
    assert!(run.code == Some(1) && run.stderr.contains("exists already"), "{}", run.all());
    shows(&bench, ".once all.csv --force\nSELECT 4 AS d;");
    assert_eq!(read("all.csv"), "d\n4\n");
    piped(&bench, ".output never.csv\nSELECT 1;\nSELECT nonsense;");
    assert!(!bench.path().join("never.csv").exists());
}

#[test]
fn slices_are_those_of_the_export_command() {
    let bench = Bench::engine();
    bench.ok(&["export", "engine.db", "--from", "117ms", "--to", "120ms", "-o", "a.btf"]);
    shows(&bench, ".export b.btf 117ms 120ms\n.export c.btf --from 117ms --to 120ms --recording demo;");
    let read = |name: &str| std::fs::read(bench.path().join(name)).unwrap();
    assert!(read("a.btf") == read("b.btf") && read("a.btf") == read("c.btf"));
}

#[test]
fn times_are_shown_in_units() {
    let script = ".mode table\n.unit ms\n\
                  SELECT process, instance, begin_at, (end_at - begin_at) AS length, end_at / begin_at AS ratio \
                  FROM process_state WHERE process = 'T_5' AND begin_at > 117000000 ORDER BY begin_at LIMIT 3;\n\
                  .metric ResponseTime T_5\n.unit ticks\nSELECT max(begin_at) AS last FROM process_state;\n\
                  .unit us\n.mode csv\nSELECT max(begin_at) AS last FROM process_state;";
    insta::assert_snapshot!(shows(&Bench::engine(), script));
}

#[test]
fn statements_cannot_write() {
    let bench = Bench::engine();
    let before = crate::support::tree(&bench.path().join("engine.db"));
    for sql in [
        "CREATE TABLE gap AS SELECT 1 AS one;",
        "INSERT INTO gap SELECT * FROM gap;",
        "COPY gap TO 'x.csv';",
        "SET datafusion.execution.batch_size = 1;",
        "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'x.csv';",
    ] {
        let run = piped(&bench, sql);
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{sql}\n{}", run.all());
    }
    assert_eq!(crate::support::tree(&bench.path().join("engine.db")), before);
    assert!(!bench.path().join("x.csv").exists());
}

#[test]
fn an_empty_script_does_nothing() {
    let bench = Bench::engine();
    for script in ["", "\n\n", "-- only a note\n", ";;\n"] {
        assert_eq!(shows(&bench, script), "");
    }
    let run = piped(&bench, "\u{feff}SELECT 1 AS a;\r\nSELECT 2 AS b;\r\n");
    assert_eq!(run.stdout, "a\n1\nb\n2", "{}", run.all());
}
