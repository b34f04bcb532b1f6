//! `btfdb plot`: files that other programs can read, and whose content is that of the database.

use crate::support::{Bench, root};
use roxmltree::{Document, Node};

fn plot(bench: &Bench, args: &[&str]) -> String {
    bench.ok(&[&["plot", "engine.db", "-q", "-o", "-"], args].concat()).stdout
}

/// The first cell of the first row of a statement.
fn asked(bench: &Bench, sql: &str) -> u64 {
    let run = bench.ok(&["query", "engine.db", sql, "--format", "csv"]);
    run.stdout.lines().nth(1).unwrap().parse().unwrap()
}

fn row<'a>(document: &'a Document<'_>, id: &str) -> Node<'a, 'a> {
    document.descendants().find(|n| n.attribute("data-row") == Some(id)).unwrap_or_else(|| panic!("no {id}"))
}

/// How many things the elements of a kind in a row stand for.
fn counted(row: Node<'_, '_>, attribute: &str, value: Option<&str>) -> u64 {
    let nodes = row.children().filter(|n| match value {
        Some(value) => n.attribute(attribute) == Some(value),
        None => n.has_attribute(attribute),
    });
    nodes.map(|n| n.attribute("data-count").unwrap().parse::<u64>().unwrap()).sum()
}

/// A lost activation is always drawn, however its file spells it, and so is a migration.
#[test]
fn rare_events_are_drawn_in_every_spelling() {
    let bench = Bench::new();
    let words = root().join("tests/data/btf/words.btf");
    bench.ok(&["ingest", "engine.db", words.to_str().unwrap(), "-q"]);
    for window in [&[][..], &["--type", "T"]] {
        let svg = plot(&bench, window);
        let document = Document::parse(&svg).unwrap();
        let row = row(&document, "task:T_A");
        assert_eq!(counted(row, "data-mark", Some("activation-lost")), 2);
        assert_eq!(counted(row, "data-mark", Some("migration")), 1);
        assert!(svg.contains("activation lost"), "it is in the legend");
    }
}

#[test]
fn an_svg_shows_what_the_database_has() {
    let bench = Bench::engine();
    for window in [&[][..], &["--from", "80ms", "--to", "130ms"], &["--width", "320"]] {
        let svg = plot(&bench, window);
        let document = Document::parse(&svg).unwrap();
        let within = match window.first() {
            Some(&"--from") => "end_at > 80000000 AND begin_at < 130000000",
            _ => "true",
        };
        for process in ["T_2", "T_3", "T_4", "T_5"] {
            let row = row(&document, &format!("task:{process}"));
            let states = asked(
                &bench,
                &format!("SELECT count(*) FROM process_state WHERE process = '{process}' AND {within}"),
            );
            assert_eq!(counted(row, "data-begin", None), states, "{process} {window:?}");
            assert_eq!(row.attribute("data-count").unwrap(), states.to_string());
            if within == "true" {
                let activated =
                    format!("SELECT count(activate_at) FROM process_instance WHERE process = '{process}'");
                assert_eq!(counted(row, "data-mark", Some("activation")), asked(&bench, &activated));
                let lost = format!(
                    "SELECT count(*) FROM btf_event WHERE target = '{process}' AND action = 'mtalimitexceeded'"
                );
                assert_eq!(counted(row, "data-mark", Some("activation-lost")), asked(&bench, &lost));
            }
        }
        let of_core = format!(
            "SELECT count(*) FROM process_state WHERE core = 'Core_1' AND state IN ('running', 'polling') AND {within}"
        );
        assert_eq!(counted(row(&document, "core:Core_1"), "data-begin", None), asked(&bench, &of_core));
    }
    assert_eq!(plot(&bench, &["--threads", "1"]), plot(&bench, &["--threads", "2"]));
}

#[test]
fn files_are_of_the_format_that_their_name_says() {
    let bench = Bench::engine();
    bench.ok(&["plot", "engine.db", "-o", "all.svg"]);
    let svg = std::fs::read_to_string(bench.path().join("all.svg")).unwrap();
    Document::parse(&svg).unwrap();
    bench.ok(&["plot", "engine.db", "-o", "small.png", "--width", "400", "--type", "C"]);
    let png = std::fs::read(bench.path().join("small.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert_eq!(u32::from_be_bytes(png[16..20].try_into().unwrap()), 400);
    bench.ok(&[
        "plot",
        "engine.db",
        "-o",
        "all.svg",
        "--force",
        "--format",
        "png",
        "--width",
        "400",
        "--type",
        "C",
    ]);
    assert_eq!(std::fs::read(bench.path().join("all.svg")).unwrap(), png, "the same every time");
    for (args, code, words) in [
        (&["-o", "all.svg"][..], 2, "--force"),
        (&["-o", "all.jpg"], 2, "--format"),
        (&["-o", "x.svg", "--recording", "demo", "--recording", "demo"], 2, "given twice"),
        (&["-o", "x.svg", "--from", "2s"], 2, "outside the recording"),
        (&["-o", "x.svg", "--from", "3ms", "--to", "3ms"], 2, "the window is empty"),
        (&["-o", "x.svg", "--type", "X"], 2, "'X'"),
        (&["-o", "x.svg", "--around", "T_5"], 2, "METRIC:ENTITY"),
        (&["-o", "x.svg", "--recording", "dem"], 2, "demo"),
        (&["ResponseTime", "-o", "x.svg"], 2, "--chart"),
        (&["-o", "x.svg", "--chart", "histogram"], 2, "metric"),
    ] {
        let run = bench.run(&[&["plot", "engine.db"], args].concat());
        assert_eq!(run.code, Some(code), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{args:?}: {}", run.stderr);
        assert!(!bench.path().join("x.svg").exists());
    }
}

#[test]
fn a_pdf_is_one_page_of_the_size_of_the_picture() {
    let bench = Bench::engine();
    bench.ok(&["plot", "engine.db", "-o", "all.pdf", "--width", "1000"]);
    let pdf = std::fs::read(bench.path().join("all.pdf")).unwrap();
    let text = String::from_utf8_lossy(&pdf);
    assert!(text.starts_with("%PDF-1.6") && text.ends_with("%%EOF\n"));
    assert!(text.contains("/MediaBox[0 0 750 ") && text.contains("/Count 1>>"));
}

/// The classes of the boxes in a row, by name: colours of processes.
fn colours(svg: &str, id: &str) -> std::collections::BTreeMap<String, String> {
    let document = Document::parse(svg).unwrap();
    let boxes = row(&document, id).children().filter(|n| n.has_attribute("data-begin"));
    let name = |n: Node<'_, '_>| {
        let title = n.first_element_child()?.text()?.split_once('(')?.1.split_once('[')?.0.to_owned();
        Some((title, n.attribute("class")?.to_owned()))
    };
    boxes.filter_map(name).filter(|(_, class)| class.starts_with("s p")).collect()
}

#[test]
fn a_colour_means_one_process_in_every_window() {
    let bench = Bench::engine();
    let around = |from: &str, to: &str| colours(&plot(&bench, &["--from", from, "--to", to]), "core:Core_1");
    let (a, b) = (around("17ms", "21ms"), around("57ms", "61ms"));
    assert!(a.len() > 1 && b.len() > 1, "{a:?} {b:?}");
    let distinct = |of: &std::collections::BTreeMap<String, String>| {
        of.values().collect::<std::collections::BTreeSet<_>>().len() == of.len()
    };
    assert!(distinct(&a) && distinct(&b));
    let both: Vec<_> = a.iter().filter_map(|(name, class)| Some((class, b.get(name)?))).collect();
    assert!(!both.is_empty() && both.iter().all(|(one, other)| one == other), "{a:?} {b:?}");
}

#[test]
fn lost_activations_are_drawn_in_every_spelling() {
    for word in ["mtalimitexceeded", "mtalimitexceded", "mpalimitexceeded", "MTALimitExceeded"] {
        let bench = Bench::new();
        let head = "#version 2.1.3\n#timeScale ns\n0,SIM,-1,STI,S,0,trigger\n0,S,0,T,A,0,activate\n1,Core,0,T,A,0,start\n";
        let rest = "5,Core,0,T,A,0,fullmigration\n9,Core,0,T,A,0,terminate\n";
        bench.write("t.btf", format!("{head}3,S,1,T,A,1,{word}\n{rest}"));
        bench.ok(&["ingest", "engine.db", "t.btf", "-q"]);
        let svg = plot(&bench, &["--type", "T"]);
        let document = Document::parse(&svg).unwrap();
        let task = row(&document, "task:A");
        for mark in ["activation-lost", "migration"] {
            assert_eq!(counted(task, "data-mark", Some(mark)), 1, "{word} {mark}");
        }
    }
}

#[test]
fn runnables_are_drawn_suspended_while_their_process_is_preempted() {
    let bench = Bench::new();
    let file = root().join("tests/data/btf/suspended.btf");
    bench.ok(&["ingest", "engine.db", file.to_str().unwrap(), "-q"]);
    let svg = plot(&bench, &[]);
    let document = Document::parse(&svg).unwrap();
    let of = |n: Node<'_, '_>| {
        let of = |name: &str| n.attribute(name).map(str::to_owned);
        Some((of("class")?, of("data-begin")?, of("data-end")?))
    };
    let found: Vec<_> = row(&document, "runnable:T_2").children().filter_map(of).collect();
    let expected =
        [("s running", "100", "4000"), ("s suspended", "4000", "7000"), ("s running", "7000", "9000")];
    assert_eq!(found, expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())));
    assert!(svg.contains(">suspended</text>"), "the legend");
}

#[test]
fn several_recordings_are_under_each_other_on_one_axis() {
    let bench = Bench::new();
    for name in ["thesis_t52", "thesis_t53"] {
        let file = root().join(format!("tests/data/btf/{name}.btf"));
        bench.ok(&["ingest", "engine.db", file.to_str().unwrap(), "-q"]);
    }
    let both = ["--recording", "thesis_t52", "--recording", "thesis_t53"];
    let svg = plot(&bench, &both);
    let document = Document::parse(&svg).unwrap();
    for (recording, task) in [("thesis_t52", "T_3"), ("thesis_t53", "T_2")] {
        let row = row(&document, &format!("{recording}/task:{task}"));
        let sql = format!(
            "SELECT count(*) FROM process_state WHERE recording = '{recording}' AND process = '{task}'"
        );
        assert_eq!(counted(row, "data-begin", None), asked(&bench, &sql), "{recording}");
    }
    let one = |recording: &str| plot(&bench, &["--recording", recording]);
    // A process has one colour in both.
    let core = |of: &str| colours(&svg, &format!("{of}/core:Core_2"));
    assert_eq!(core("thesis_t52").get("T_2"), core("thesis_t53").get("T_2"));
    assert!(core("thesis_t52").contains_key("T_2"));
    // The rows are those of each by itself.
    let ids = |svg: &str| -> Vec<String> {
        let document = Document::parse(svg).unwrap();
        document.descendants().filter_map(|n| n.attribute("data-row")).map(str::to_owned).collect()
    };
    let alone = |recording: &str| {
        let inside =
            ids(&one(recording)).into_iter().map(|id| format!("{recording}/{id}")).collect::<Vec<_>>();
        [vec![format!("recording:{recording}")], inside].concat()
    };
    assert_eq!(ids(&svg), [alone("thesis_t52"), alone("thesis_t53")].concat());
    // With an axis from the begin of each, the window is too.
    let part = plot(&bench, &[&both[..], &["--from", "1ms", "--to", "2ms"]].concat());
    assert!(part.contains("each from its begin: 1 ms to 2 ms"), "{}", &part[..600]);
    let clock = plot(&bench, &[&both[..], &["--align", "time"]].concat());
    assert!(clock.contains("on one clock: 0 ns to "));
    let page = bench.ok(&[&["plot", "engine.db", "-q", "-o", "both.html"][..], &both].concat());
    assert_eq!(page.stdout, "");
    let chart = plot(&bench, &[&["--chart", "load"][..], &both].concat());
    for panel in ["thesis_t52: load of Core_1", "thesis_t53: load of Core_2"] {
        assert!(chart.contains(panel), "{panel}");
    }
    let run = bench
        .run(&[&["plot", "engine.db", "-o", "x.svg", "--around", "ResponseTime:T_1"][..], &both].concat());
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("--around is about an instance of one recording"), "{}", run.stderr);
}

#[test]
fn the_window_around_an_instance_is_said() {
    let bench = Bench::engine();
    let run = bench.ok(&["plot", "engine.db", "-o", "worst.svg", "--around", "ResponseTime:T_4:max"]);
    assert_eq!(
        run.stderr.lines().next().unwrap(),
        "greatest ResponseTime of T_4: 3.436945 ms, instance 5; window: --from 86.368949ms --to 91.524366ms"
    );
    let svg = std::fs::read_to_string(bench.path().join("worst.svg")).unwrap();
    let document = Document::parse(&svg).unwrap();
    let band = document.descendants().find(|n| n.attribute("class") == Some("h")).unwrap();
    let at = |name: &str| band.attribute(name).unwrap().parse::<i64>().unwrap();
    assert_eq!(at("data-end") - at("data-begin"), 3_436_945);
}

#[test]
fn deadlines_come_from_requirements() {
    let bench = Bench::engine();
    bench.write("limits.toml", "[[deadline]]\nentity = 'T_4'\ndeadline = '3ms'\n");
    let svg = plot(&bench, &["--requirements", "limits.toml", "--entity", "T_4", "--rows", "task"]);
    let document = Document::parse(&svg).unwrap();
    let row = row(&document, "task:T_4");
    let late = "SELECT count(*) FROM process_instance WHERE process = 'T_4' AND terminate_at - activate_at > 3000000";
    assert_eq!(counted(row, "data-mark", Some("violation")), asked(&bench, late));
    let mark = row.children().find(|n| n.attribute("data-mark") == Some("violation")).unwrap();
    let words = mark.first_element_child().unwrap().text().unwrap();
    assert!(words.contains("deadline missed by 436.945 us"), "{words}");
}

#[test]
fn charts_count_what_the_metrics_count() {
    let bench = Bench::engine();
    let svg = plot(&bench, &["--chart", "histogram", "ResponseTime", "--entity", "T_5"]);
    let document = Document::parse(&svg).unwrap();
    let bars = document.descendants().filter(|n| n.attribute("class") == Some("bar-of"));
    let samples: u64 = bars.map(|n| n.attribute("data-count").unwrap().parse::<u64>().unwrap()).sum();
    let complete = "SELECT count(*) FROM process_instance WHERE process = 'T_5' AND complete";
    assert_eq!(samples, asked(&bench, complete));
    let svg = plot(&bench, &["--chart", "distribution", "ResponseTime", "--entity", "T_5"]);
    let document = Document::parse(&svg).unwrap();
    let columns = document.descendants().filter(|n| n.attribute("class") == Some("middle"));
    let counts = columns.filter_map(|n| n.attribute("data-count")?.parse::<u64>().ok());
    assert_eq!(counts.sum::<u64>(), samples);
    let svg = plot(&bench, &["--chart", "load", "--window", "10ms"]);
    let document = Document::parse(&svg).unwrap();
    let steps = document.descendants().filter(|n| n.attribute("class") == Some("step")).count() as u64;
    let sql =
        ["query", "engine.db", "SELECT count(*) FROM core_load WHERE process IS NULL", "--format", "csv"];
    let run = bench.ok(&[&sql[..], &["--param", "window=10ms", "--param", "step=10ms"]].concat());
    // The windows, and what is left at both edges of both cores.
    let windows: u64 = run.stdout.lines().nth(1).unwrap().parse().unwrap();
    assert_eq!(steps, windows + 4);
}

#[test]
fn charts_of_loads_reach_the_edges() {
    let bench = Bench::engine();
    for window in [&[][..], &["--from", "7ms", "--to", "95ms"], &["--window", "30ms"], &["--window", "1s"]] {
        let svg = plot(&bench, &[&["--chart", "load", "--width", "1000"][..], window].concat());
        let document = Document::parse(&svg).unwrap();
        let steps: Vec<(f64, f64)> = document
            .descendants()
            .filter(|n| {
                n.attribute("class") == Some("panel") && n.attribute("data-panel") == Some("load of Core_1")
            })
            .flat_map(|panel| panel.children())
            .filter(|n| n.attribute("class") == Some("step"))
            .map(|n| {
                let of = |name: &str| n.attribute(name).unwrap().parse::<f64>().unwrap();
                (of("x"), of("x") + of("width"))
            })
            .collect();
        let (first, last) = (steps.first().unwrap(), steps.last().unwrap());
        assert!(
            (first.0 - 102.0).abs() < 1.0 && (last.1 - 974.0).abs() < 1.0,
            "{window:?}: {first:?} {last:?}"
        );
        let gaps = steps.windows(2).filter(|pair| (pair[0].1 - pair[1].0).abs() > 0.6).count();
        assert_eq!(gaps, 0, "{window:?}");
    }
}

#[test]
fn the_picture_of_the_readme_is_up_to_date() {
    let bench = Bench::engine();
    let args = ["--around", "ResponseTime:T_4", "--type", "C,I,T,R", "--width", "1000"];
    let svg = plot(&bench, &args);
    let path = root().join("docs/demo.svg");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &svg).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == svg, "docs/demo.svg is old; run the tests with UPDATE_DOCS=1");
}

#[test]
fn a_database_that_is_damaged_is_an_error() {
    let bench = Bench::engine();
    let dir = bench.path().join("engine.db/process_state/recording=demo");
    let file = std::fs::read_dir(dir).unwrap().next().unwrap().unwrap().path();
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let run = bench.run(&["plot", "engine.db", "-o", "x.svg"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("verify"), "{}", run.stderr);
}

/// Servers, buffers, deadlines and messages, as Grasp traces have them.
#[test]
fn grasp_traces_have_budgets_and_buffers() {
    let trace = "newTask t1 -priority 1 -name Work\n\
        newServer s1 -name Reserve -capacity 10 -budget 4\n\
        newBuffer b1 -name Queue -capacity 3\n\
        plot 0 jobArrived j1 t1\n\
        plot 0 jobResumed j1\n\
        plot 0 serverResumed s1\n\
        bufferplot 1 push b1 x\n\
        bufferplot 2 push b1 y\n\
        plot 3 message {half of it}\n\
        plot 6 serverReplenished s1 10\n\
        bufferplot 7 pop b1\n\
        plot 8 jobDeadline j1\n\
        plot 9 serverPreempted s1\n\
        plot 9 jobCompleted j1\n\
        plot 12 jobArrived j2 t1\n";
    let bench = Bench::new();
    bench.write("player.grasp", trace);
    bench.ok(&["ingest", "engine.db", "player.grasp", "--tick", "1ms", "-q"]);
    let svg = plot(&bench, &[]);
    let document = Document::parse(&svg).unwrap();
    let server = row(&document, "server:Reserve");
    assert_eq!(counted(server, "data-mark", Some("replenished")), 1);
    // 4 ticks of budget are used up at 4, and no consumer stops.
    let below = server.children().find(|n| n.attribute("data-mark") == Some("violation")).unwrap();
    assert_eq!(below.attribute("data-at"), Some("4000000"));
    assert!(server.children().any(|n| n.attribute("class") == Some("area")));
    let buffer = row(&document, "buffer:Queue");
    let curve = buffer.children().find(|n| n.attribute("class") == Some("c")).unwrap();
    assert_eq!(curve.attribute("data-count"), Some("3"));
    let task = row(&document, "task:Work");
    let at = |kind| {
        let mark = task.children().find(|n| n.attribute("data-mark") == Some(kind));
        mark.and_then(|n| n.attribute("data-at")).map(str::to_owned)
    };
    assert_eq!(at("deadline").as_deref(), Some("8000000"));
    assert_eq!(at("violation").as_deref(), Some("8000000"), "it ends at 9");
    let said = row(&document, "trace:messages").descendants().find(|n| n.has_tag_name("title")).unwrap();
    assert!(said.text().unwrap().contains("half of it"));
}
