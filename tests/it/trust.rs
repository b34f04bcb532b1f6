//! Damaged databases, and statements that are too deep: refused, repaired where it can be, and nothing else
//! is lost. The full run is `tests/trust`.

use std::path::{Path, PathBuf};

use crate::support::{Bench, Run, copy_dir, root};

/// The first file of a database whose path has a word in it.
fn file_with(folder: &Path, word: &str) -> PathBuf {
    let mut folders = vec![folder.to_path_buf()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            // What commits took out.
            if !entry.file_name().to_str().unwrap().starts_with('.') {
                let path = entry.path();
                if path.is_dir() { folders.push(path) } else { found.push(path) }
            }
        }
    }
    found.sort();
    found.into_iter().find(|path| path.to_str().unwrap().contains(word)).unwrap()
}

/// Changes a bit of every page of a file; returns the content from before.
fn damage(path: &Path) -> Vec<u8> {
    let good = std::fs::read(path).unwrap();
    let mut bad = good.clone();
    bad.iter_mut().step_by(16).for_each(|byte| *byte ^= 16);
    std::fs::write(path, bad).unwrap();
    good
}

fn demo() -> Bench {
    let bench = Bench::new();
    copy_dir(&root().join("demo/recording"), &bench.path().join("recording"));
    bench.ok(&["ingest", "t.db", "recording", "-q"]);
    bench
}

#[test]
fn no_command_answers_from_a_damaged_file() {
    let bench = demo();
    let database = bench.path().join("t.db");
    let select = |table: &str| vec!["query".to_owned(), "t.db".into(), format!("SELECT * FROM {table}")];
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    for (file, command) in [
        ("process_state/", select("process_state")),
        ("data_event/", select("data_event")),
        ("data_event/", words(&["map", "t.db"])),
        ("function_event/", words(&["map", "t.db"])),
        ("btf_event/", words(&["export", "t.db", "-o", "x.btf", "--force"])),
        ("process_instance/", words(&["metrics", "t.db", "ResponseTime"])),
        ("process_state/", words(&["plot", "t.db", "-o", "x.svg", "--force"])),
    ] {
        let path = file_with(&database, file);
        let good = damage(&path);
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let run = bench.run(&command);
        assert_eq!(run.code, Some(1), "{command:?}: {}", run.all());
        assert!(run.stderr.contains("damaged") && run.stderr.contains("btfdb verify"), "{}", run.stderr);
        let run = bench.run(&["verify", "t.db"]);
        assert!(run.code == Some(3) && run.stdout.contains(file), "{}", run.all());
        std::fs::write(path, good).unwrap();
    }
    assert_eq!(bench.run(&["verify", "t.db"]).code, Some(0));
}

/// Each file is sound, but is not the one of its place.
#[test]
fn exports_of_two_cores_that_were_swapped_are_not_mapped() {
    let bench = demo();
    let database = bench.path().join("t.db/data_event");
    let (first, second) = (file_with(&database, "core=Core_0"), file_with(&database, "core=Core_1"));
    std::fs::rename(&first, bench.path().join("kept")).unwrap();
    std::fs::rename(&second, &first).unwrap();
    std::fs::rename(bench.path().join("kept"), &second).unwrap();
    for command in [&["map", "t.db"][..], &["query", "t.db", "SELECT count(value) FROM data_event"]] {
        let run = bench.run(command);
        assert!(run.code == Some(1) && run.stderr.contains("damaged"), "{command:?}: {}", run.all());
    }
}

#[test]
fn what_follows_from_sound_files_is_made_again() {
    let bench = demo();
    for n in 0..9 {
        let name = format!("n{n}");
        bench.ok(&["ingest", "t.db", "recording", "--name", &name, "--no-map", "-q"]);
    }
    let database = bench.path().join("t.db");
    let events = |name: &str| {
        bench.ok(&["export", "t.db", "--recording", "demo", "-o", name, "--force", "-q"]);
        std::fs::read(bench.path().join(name)).unwrap()
    };
    let before = events("before.btf");
    damage(&file_with(&database, "btf_event/recording=demo"));
    damage(&file_with(&database, "process_state/recording=demo"));
    damage(&file_with(&database, ".checkpoint"));
    std::fs::write(database.join("log/tip"), "999 00000000\n").unwrap();
    let run = bench.run(&["verify", "t.db", "--repair"]);
    assert_eq!(run.code, Some(0), "{}", run.all());
    for made in ["made again: recording 'demo'", "made again: log/", "made again: log/tip"] {
        assert!(run.stderr.contains(made), "{}", run.stderr);
    }
    assert_eq!(bench.run(&["verify", "t.db"]).code, Some(0));
    assert_eq!(events("after.btf"), before);
    // What nothing else says is named, and left.
    let path = file_with(&database, "data_event/recording=demo");
    damage(&path);
    damage(&file_with(&database, "process_state/recording=demo"));
    let run = bench.run(&["verify", "t.db", "--repair"]);
    assert!(run.code == Some(3) && run.stdout.contains("data_event/recording=demo"), "{}", run.all());
    assert!(run.stderr.contains("'demo' cannot be mapped again"), "{}", run.stderr);
    assert!(path.exists());
}

/// It may be sound: nothing is made again for it.
#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_not_made_again() {
    let bench = demo();
    let path = file_with(&bench.path().join("t.db"), "process_state/recording=demo");
    let kept = bench.path().join("kept");
    std::fs::rename(&path, &kept).unwrap();
    std::os::unix::fs::symlink(&path, &path).unwrap();
    let run = bench.run(&["verify", "t.db", "--repair"]);
    assert!(run.code == Some(3) && run.stdout.contains("the file cannot be read"), "{}", run.all());
    assert!(!run.stderr.contains("made again"), "{}", run.stderr);
    std::fs::rename(&kept, &path).unwrap();
    assert_eq!(bench.run(&["verify", "t.db"]).code, Some(0));
}

#[test]
fn a_statement_that_is_too_deep_is_refused() {
    let bench = demo();
    let too_deep = [
        format!("SELECT count(*) FROM btf_event WHERE {}", vec!["seq = 1"; 20_000].join(" OR ")),
        vec!["SELECT 1"; 5000].join(" UNION ALL "),
        format!("SELECT CAST(1 AS {}INT{})", "ARRAY<".repeat(10_000), ">".repeat(10_000)),
        format!("SELECT 1{}", "::INT".repeat(20_000)),
        format!("SELECT {}1{}", "abs(".repeat(60), ")".repeat(60)),
        format!("SELECT {}'a'", "'a' || ".repeat(20_000)),
        format!("SELECT {}1", "1 + ".repeat(100_000)),
        format!("SELECT {}1{}", "(".repeat(20_000), ")".repeat(20_000)),
        format!("SELECT {}1", "-(".repeat(20_000)),
        format!("SELECT {}true", "NOT ".repeat(20_000)),
    ];
    for sql in &too_deep {
        let file = bench.write("deep.sql", sql);
        let run = bench.run(&["query", "t.db", "-f", file.to_str().unwrap()]);
        let shown = run.stderr.get(..300.min(run.stderr.len())).unwrap_or_default();
        assert!(run.code == Some(1) && run.stderr.contains("nested too deeply"), "{:?} {shown}", run.code);
    }
    let script = format!("SELECT 41 + 1 AS answer;\n{};\n", too_deep[2]);
    let run = bench.run_with_input(&["shell", "t.db"], &script);
    assert_eq!(run.code, Some(1));
    assert!(run.stdout.contains("42") && run.stderr.contains("nested too deeply"), "{}", run.stdout);
    // A result is written and shown on a smaller stack.
    let nested = format!("SELECT CAST(NULL AS {}INT{}) AS x", "ARRAY<".repeat(900), ">".repeat(900));
    for output in ["-", "x.parquet", "x.json"] {
        let run = bench.run(&["query", "t.db", &nested, "-o", output]);
        assert!(run.code == Some(1) && run.stderr.contains("it has 900 levels"), "{}", run.stderr);
    }
    let chain = |n: usize| {
        let list = |i| format!(", c{i} AS (SELECT make_array(x) AS x FROM c{})", i - 1);
        let lists: String = (1..=n).map(list).collect();
        format!("WITH c0 AS (SELECT 1 AS x){lists} SELECT x FROM c{n}")
    };
    let run = bench.run(&["query", "t.db", &chain(150), "-o", "x.parquet"]);
    assert!(run.code == Some(1) && run.stderr.contains("it has 151 levels"), "{}", run.stderr);
    let allowed = format!("SELECT CAST(NULL AS {}INT{}) AS x", "ARRAY<".repeat(99), ">".repeat(99));
    for output in ["-", "x.parquet", "x.json"] {
        bench.ok(&["query", "t.db", &allowed, "-o", output]);
    }
    // What is long, or as deep as it may be, is run.
    for sql in [
        format!("SELECT count(*) FROM btf_event WHERE seq IN ({})", vec!["1"; 20_000].join(", ")),
        format!("SELECT count(*) FROM btf_event WHERE {}", vec!["seq = 1"; 490].join(" OR ")),
        vec!["SELECT 1"; 300].join(" UNION ALL "),
        format!("SELECT {}1", "1 + ".repeat(900)),
    ] {
        let file = bench.write("long.sql", sql);
        bench.ok(&["query", "t.db", "-f", file.to_str().unwrap()]);
    }
}

#[test]
fn the_user_says_how_deep_a_statement_may_be() {
    let bench = demo();
    let deep = |levels: usize| {
        let file = bench.write("deep.sql", format!("SELECT {}1 AS n", "1 + ".repeat(levels)));
        file.to_str().unwrap().to_owned()
    };
    let run = bench.run(&["query", "t.db", "-f", &deep(20), "--max-depth", "10"]);
    assert!(run.code == Some(1) && run.stderr.contains("10 are the most (--max-depth)"), "{}", run.stderr);
    // Deeper than it may be without the option; the stack grows with it.
    let run = bench.ok(&["query", "t.db", "-f", &deep(1500), "--max-depth", "2000"]);
    assert_eq!(run.stdout, "n\n1501");
}

/// Also where a pipe is read that says nothing, and a named one that nobody writes.
#[cfg(unix)]
#[test]
fn the_user_says_how_large_the_names_may_be() {
    let bench = demo();
    bench.ok(&["export", "t.db", "--format", "btf", "-o", "t.btf"]);
    for input in ["t.btf", "recording"] {
        let run = bench.run(&["ingest", "n.db", input, "--max-names", "20B"]);
        let said = &run.stderr;
        assert!(
            run.code == Some(1) && said.contains("more than 20") && said.contains("--max-names"),
            "{said}"
        );
    }
    bench.ok(&["ingest", "n.db", "recording", "--max-names", "20KiB"]);
    assert_eq!(bench.run(&["map", "n.db", "--max-names", "20B"]).code, Some(1));
    bench.ok(&["map", "n.db"]);
}

#[test]
fn a_signal_ends_each_command_that_waits() {
    use std::process::Stdio;

    let bench = demo();
    let fifo = bench.path().join("fifo.btf");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    bench.ok(&["export", "t.db", "-o", "t.btf"]);
    let input = [&["ingest", "new.db", "-"][..], &["ingest", "new.db", "fifo.btf"], &["shell", "t.db"]];
    let output =
        [&["query", "t.db", "SELECT 1", "-o", "fifo.btf"][..], &["export", "t.db", "-o", "fifo.btf"]];
    // As another writer has it for the time of its commit.
    let held = std::fs::File::options().write(true).open(bench.path().join("t.db/.lock")).unwrap();
    held.lock().unwrap();
    let lock = [
        &["ingest", "t.db", "t.btf", "--name", "other"][..],
        &["remove", "t.db", "--recording", "*"],
        &["vacuum", "t.db"],
    ];
    for words in input.into_iter().chain(output).chain(lock) {
        let mut waiting = bench.command();
        waiting.args(words).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut waiting = waiting.spawn().unwrap();
        // Until it waits; a signal before that ends it, too.
        std::thread::sleep(std::time::Duration::from_millis(500));
        let pid = waiting.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let mut code = None;
        for _ in 0..1200 {
            code = waiting.try_wait().unwrap();
            if code.is_some() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let _ = waiting.kill();
        assert_eq!(code.and_then(|code| code.code()), Some(130), "{words:?}");
        assert!(!bench.path().join("new.db").exists(), "{words:?}");
    }
}

/// What the engine does not count: values of a function, and a plan that doubles 24 times.
#[cfg(target_os = "linux")]
#[test]
fn a_command_that_takes_too_much_memory_ends_with_an_error() {
    let bench = demo();
    let doubled = |n: u32| format!(", c{n} AS (SELECT * FROM c{0} UNION ALL SELECT * FROM c{0})", n - 1);
    let plan: String = (1..25).map(doubled).collect();
    for sql in [
        "SELECT length(repeat('a', 2000000000))".to_owned(),
        format!("WITH c0 AS (SELECT 1 AS a){plan} SELECT count(*) FROM c24"),
    ] {
        let run = bench.run(&["query", "t.db", &sql, "--memory-limit", "64MiB"]);
        assert_eq!(run.code, Some(1), "{}", run.all());
        assert!(run.stderr.contains("needs more memory than it may use: 64 MiB"), "{}", run.all());
    }
}

/// As when the folder is full: what the operating system says, and what to do.
#[test]
fn a_temporary_file_that_cannot_be_written_is_said_with_the_next_step() {
    let bench = demo();
    let sql = "SELECT max(n) AS n FROM (SELECT row_number() OVER (ORDER BY a.value * b.value % 7919, b.value) AS n \
               FROM generate_series(1, 3000) AS a, generate_series(1, 300) AS b)";
    let command = ["query", "t.db", sql, "--memory-limit", "32MiB"];
    let refused = bench.command().args(command).env("TMPDIR", bench.path().join("gone")).output().unwrap();
    let run = Run::of(refused, bench.path());
    assert_eq!(run.code, Some(1), "{}", run.all());
    assert!(run.stderr.contains("cannot write or read a temporary file: No such file"), "{}", run.all());
    assert!(run.stderr.contains("set TMPDIR to a folder with more space"), "{}", run.all());
    assert_eq!(bench.ok(&command).stdout, "n\n900000");
}
