//! Names with what a terminal obeys: no command passes it on. Not for names in pages and files (see `page`,
//! `plot`), which have rules of their own.

use crate::support::{Bench, Run};

/// Clears the screen; begins a sequence in one character; turns text around; beeps.
const NAMES: [&str; 4] = ["T\u{1b}[2J", "T\u{9b}31m", "T\u{202e}x", "T\u{7}y"];

fn trace(shift: u64) -> String {
    let mut text = String::from("#version 2.1.5\n#creator x\u{1b}[1m\n#timeScale ns\n#\u{9b}odd y\n");
    for (n, name) in NAMES.iter().enumerate() {
        let at = 100 * n as u64 + shift;
        for (time, event) in [(0, "activate"), (10, "start"), (40 + 10 * n as u64 + shift, "terminate")] {
            let source = if event == "activate" { "S\u{1b}]0;t\u{7}" } else { "Core_\u{1b}c" };
            text += &format!("{},{source},0,T,{name},0,{event},n\u{1b}[3{n}m\n", at + time);
        }
        text += &format!("{},nonsense\u{1b}[5m,{name}\n", at + 90);
    }
    text
}

#[track_caller]
fn is_harmless(args: &[&str], run: &Run) {
    let text = run.all();
    let obeyed =
        text.chars().find(|c| (c.is_control() && *c != '\n') || matches!(c, '\u{202a}'..='\u{202e}'));
    assert_eq!(obeyed, None, "{args:?}: {}", text.escape_debug());
}

#[test]
fn no_command_passes_on_what_a_terminal_obeys() {
    let bench = Bench::new();
    let (one, other) = ("a\u{1b}[2J.btf", "b.btf");
    bench.write(one, trace(0));
    bench.write(other, trace(7));
    let chain = "[[chain]]\nname = \"c\u{1b}[7m\"\nsteps = [{ type = \"T\", name = \"T\u{7}none\", event = \"start\" }]\n";
    bench.write("chains.toml", chain.replace('\u{1b}', "\\u001b").replace('\u{7}', "\\u0007"));
    let name = "r\u{1b}[2J\u{9b}1m";
    let commands: &[&[&str]] = &[
        &["ingest", "t.db", one, "--name", name, "--label", "build=\u{1b}[1mx"],
        &["ingest", "t.db", other, "--name", "second"],
        &["ingest", "t.db", other, "--name", name],
        &["ingest", "t.db", "none\u{1b}[2J.btf"],
        &["info", "t.db"],
        &["check", "t.db"],
        &["check", one],
        &["compare", one, other],
        &["compare", one, other, "--level", "metrics"],
        &["metrics", "t.db", "--format", "table"],
        &["metrics", "t.db", "--entity", "T\u{1b}[3J"],
        &["metrics", "t.db", "ResponseTime", "--histogram", "--format", "table"],
        &["query", "t.db", "SELECT * FROM entity", "--format", "table"],
        &["query", "t.db", "SELECT * FROM diagnostic", "--format", "table"],
        &["query", "t.db", "SELECT \"T\u{1b}[2J\" FROM btf_event"],
        &["query", "t.db", "SELECT * FROM \"\u{9b}1m\""],
        &["query", "t.db", "SELECT 1 \u{1b}[2J"],
        &["query", "t.db", "SELECT * FROM chain_instance", "--chains", "chains.toml"],
        &["export", "t.db", "--recording", "r\u{1b}[9J", "-o", "x.btf"],
        &["plot", "t.db", "-o", "x.svg"],
        &["plot", "t.db", "-o", "y.svg", "--entity", "T\u{1b}[1J"],
        &["plot", "t.db", "-o", "z.svg", "--recording", name, "--around", "ResponseTime:T\u{1b}"],
        &["remove", "t.db", "r\u{1b}[9J"],
        &["vacuum", "t.db"],
        &["verify", "t.db"],
        &["map", "t.db"],
        &["simulate", one, "-o", "s"],
    ];
    for args in commands {
        is_harmless(args, &bench.run(args));
    }
    for line in [
        ".recordings\n",
        "SELECT name FROM entity;\n",
        ".mode table\nSELECT * FROM entity;\n",
        ".metric ResponseTime T\u{1b}\n",
        ".tables \u{1b}[1m\n",
    ] {
        let run = bench.run_with_input(&["shell", "t.db"], &format!(".mode table\n{line}"));
        is_harmless(&["shell", line], &run);
    }
    let shown = bench.run(&["info", "t.db"]).stdout;
    assert!(shown.contains("recording   r\\u{1b}[2J\\u{9b}1m"), "{shown}");
}

#[test]
fn reports_for_programs_stay_as_they_are() {
    let bench = Bench::new();
    bench.write("a.btf", trace(0));
    bench.ok(&["ingest", "t.db", "a.btf", "--name", "r\u{9b}", "-q"]);
    let info: serde_json::Value =
        serde_json::from_str(&bench.ok(&["info", "t.db", "--format", "json"]).stdout).unwrap();
    assert_eq!(info["recordings"][0]["recording"], "r\u{9b}");
    let names = bench.ok(&["query", "t.db", "SELECT DISTINCT target FROM btf_event ORDER BY 1"]).stdout;
    assert!(NAMES.iter().all(|name| names.contains(name)), "{names:?}");
}
