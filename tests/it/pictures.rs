//! Pictures that say why: the path of a response, tails, and what changed. Not timelines (see `plot`), nor
//! what a page does in a browser (see `tests/browser`).

use crate::support::{Bench, root};
use base64::engine::{Engine, general_purpose::STANDARD};
use flate2::read::ZlibDecoder;
use roxmltree::{Document, Node};
use std::fmt::Write as _;
use std::io::Read;

/// The picture of a response.
fn explained(bench: &Bench, database: &str, asked: &str, more: &[&str]) -> String {
    bench.ok(&[&["plot", database, "--explain", asked, "-q", "-o", "-"], more].concat()).stdout
}

fn all<'a>(document: &'a Document<'_>, attribute: &str) -> Vec<Node<'a, 'a>> {
    document.descendants().filter(|node| node.has_attribute(attribute)).collect()
}

fn number(node: Node<'_, '_>, attribute: &str) -> i64 {
    node.attribute(attribute).unwrap().parse().unwrap()
}

/// The rows of a picture, by their ids.
fn rows(document: &Document<'_>) -> Vec<String> {
    all(document, "data-row").into_iter().map(|node| node.attribute("data-row").unwrap().to_owned()).collect()
}

/// The parts in the row of a response: kind, begin and end.
fn parts(document: &Document<'_>, id: &str) -> Vec<(String, i64, i64)> {
    let row =
        all(document, "data-row").into_iter().find(|node| node.attribute("data-row") == Some(id)).unwrap();
    let parts = row.children().filter(|node| node.has_attribute("data-begin"));
    let part = |node: Node<'_, '_>| {
        let state = node.attribute("class").unwrap().strip_prefix("s ").unwrap().to_owned();
        (state, number(node, "data-begin"), number(node, "data-end"))
    };
    parts.map(part).collect()
}

/// The data of a page, as bytes.
fn data(page: &str) -> Vec<u8> {
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let bytes = STANDARD.decode(data.replace('\n', "")).unwrap();
    let mut inflated = Vec::new();
    ZlibDecoder::new(&bytes[..]).read_to_end(&mut inflated).unwrap();
    inflated
}

fn holds(bytes: &[u8], words: &str) -> bool {
    bytes.windows(words.len()).any(|window| window == words.as_bytes())
}

#[test]
fn the_parts_of_a_response_are_those_of_explain() {
    let bench = Bench::engine();
    let svg = explained(&bench, "engine.db", "ResponseTime:T_4:max", &["--width", "4000"]);
    let document = Document::parse(&svg).unwrap();
    fn drawn_as(kind: &str) -> &str {
        match kind {
            "behind" => "delayed",
            "os" => "kernel",
            other => other,
        }
    }
    let csv = bench.ok(&["explain", "engine.db", "ResponseTime:T_4:max", "--format", "csv"]).stdout;
    let expected: Vec<(String, i64, i64)> = csv
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (drawn_as(cells[8]).to_owned(), cells[5].parse().unwrap(), cells[6].parse().unwrap())
        })
        .collect();
    // Two switches of 120 ns are too short for this width, and drawn with what is next to them.
    let shown = parts(&document, "response:T_4");
    let long = |parts: &[(String, i64, i64)]| -> Vec<_> {
        parts.iter().filter(|(_, begin, end)| end - begin > 100_000).cloned().collect()
    };
    assert_eq!(long(&shown), long(&expected));
    let (begin, end) = (expected.first().unwrap().1, expected.last().unwrap().2);
    assert_eq!((shown.first().unwrap().1, shown.last().unwrap().2), (begin, end));
    assert!(shown.windows(2).all(|pair| pair[0].2 == pair[1].1), "{shown:?}");
    let causes = all(&document, "data-cause");
    assert_eq!(causes.iter().map(|node| number(*node, "data-length")).sum::<i64>(), end - begin);
    for words in [
        "T_4[5] took 3.436945 ms",
        "ResponseTime: 3.436945 ms, the greatest of 13 samples.",
        ">behind T_3 on Core_1<",
        ">33.8 %<",
        ">behind another one<",
        ">running, executes<",
        ": 61 % behind T_3, T_5<",
        "Activated by IPA_T_3, which T_3[6] triggered. ResponseTime: ",
        ">activates T_4[5]<",
        ">lost, by IPA_T_5<",
        ">response: behind T_5 on Core_1, +1.16307 ms, ",
        ">T_5[8]<",
    ] {
        assert!(svg.contains(words), "{words}");
    }
    let found = rows(&document);
    for id in ["core:Core_1", "task:T_3", "task:T_5", "stimulus:IPA_T_3", "stimulus:IPA_T_5"] {
        assert!(found.iter().any(|row| row == id), "{id}: {found:?}");
    }
    assert!(!found.iter().any(|row| row == "core:Core_0" || row == "task:T_2"), "{found:?}");
    let place = |id: &str| found.iter().position(|row| row == id).unwrap();
    assert_eq!(place("response:T_4"), place("task:T_4") + 1);
    assert!(place("task:T_4") < place("task:T_3"), "the one that is explained comes first");
    let bands: i64 =
        all(&document, "data-path").iter().map(|n| number(*n, "data-end") - number(*n, "data-begin")).sum();
    let delayed: i64 = expected.iter().filter(|part| part.0 == "delayed").map(|part| part.2 - part.1).sum();
    assert_eq!(bands, delayed, "T_3 and T_5 delay it");
    let run = bench.ok(&["plot", "engine.db", "--explain", "ResponseTime:T_4", "-o", "why.svg"]);
    assert!(
        run.stderr.starts_with("T_4[5] took 3.436945 ms, from 87.228185 ms to 90.66513 ms; window: --from "),
        "{}",
        run.stderr
    );
}

/// The picture is of the whole response; of a start delay, which is what was asked for, it shows the end.
#[test]
fn a_start_delay_is_marked_in_its_response() {
    let bench = Bench::engine();
    let svg = explained(&bench, "engine.db", "StartDelay:T_4", &[]);
    for words in [">3.436945 ms<", ">StartDelay: 2.105821 ms<", "StartDelay: 2.105821 ms, the greatest of"] {
        assert!(svg.contains(words), "{words}\n{svg}");
    }
    for other in ["ResponseTime:T_4", "NetExecutionTime:T_4", "StartDelay:T_4:5"] {
        let svg = explained(&bench, "engine.db", other, &[]);
        assert!(!svg.contains(">StartDelay: "), "{other}\n{svg}");
    }
}

#[test]
fn holders_and_wakers_on_other_cores_have_rows() {
    let bench = crate::explain::locked();
    let svg = explained(&bench, "locked.db", "ResponseTime:T_A", &["--width", "3000"]);
    let document = Document::parse(&svg).unwrap();
    let found = rows(&document);
    for id in [
        "core:Core_0",
        "core:Core_1",
        "task:T_A",
        "response:T_A",
        "task:T_B",
        "task:T_C",
        "isr:ISR_1",
        "semaphore:Spin",
        "event:Ev of T_A",
    ] {
        assert!(found.iter().any(|row| row == id), "{id}: {found:?}");
    }
    let kinds: Vec<String> = parts(&document, "response:T_A").into_iter().map(|part| part.0).collect();
    for kind in ["delayed", "kernel", "executes", "blocked", "awaits"] {
        assert!(kinds.iter().any(|other| other == kind), "{kind}: {kinds:?}");
    }
    for words in ["waits for a lock", "waits for an event", "Spin: T_B behind ISR_1", "Ev: Alarm_E"] {
        assert!(svg.contains(words), "{words}\n{svg}");
    }
    assert!(!all(&document, "data-path").is_empty());
    // By its number, in the page, and with kinds of rows that are chosen.
    let page = explained(&bench, "locked.db", "ResponseTime:T_A:0", &["--format", "html"]);
    assert!(holds(&data(&page), "Spin: T_B behind ISR_1"));
    let svg = explained(&bench, "locked.db", "ResponseTime:T_A:0", &["--type", "T"]);
    let found = rows(&Document::parse(&svg).unwrap());
    assert!(found.iter().all(|row| row.starts_with("task:") || row.starts_with("response:")), "{found:?}");
    let svg = explained(&bench, "locked.db", "ResponseTime:T_A:0", &["--type", "C"]);
    assert!(rows(&Document::parse(&svg).unwrap()).contains(&"response:T_A".to_owned()));
}

/// A task that polls has the core: the semaphore and who holds it have rows, as those of a wait of its own.
#[test]
fn who_holds_what_a_poller_asks_for_has_a_row() {
    let bench = crate::explain::behind_a_poller();
    let svg = explained(&bench, "poller.db", "ResponseTime:T_L", &["--width", "3000"]);
    let found = rows(&Document::parse(&svg).unwrap());
    for id in ["task:T_L", "response:T_L", "task:T_A", "task:T_B", "core:Core_1", "semaphore:Spin"] {
        assert!(found.iter().any(|row| row == id), "{id}: {found:?}");
    }
    let words = "behind T_A on Core_0, which polls for Spin, which T_B holds";
    assert!(svg.contains("behind T_A, polls for Spin") && svg.contains(words), "{svg}");
    let page = explained(&bench, "poller.db", "ResponseTime:T_L:0", &["--format", "html"]);
    assert!(holds(&data(&page), words));
}

/// A background task that is preempted by sixty others, again and again, over all of the recording.
#[test]
fn a_response_as_long_as_the_recording_is_a_small_picture() {
    let bench = Bench::new();
    let mut text =
        "#version 2.2.1\n#creator test\n#creationDate 2026-01-01T00:00:00Z\n#timeScale ns\n".to_owned();
    text += "0,A,0,T,T_Background,0,activate\n10,Core_0,0,T,T_Background,0,start\n";
    let rounds = 6000_i64;
    for n in 0..rounds {
        let (at, isr) = (1000 * (n + 1), n % 60);
        writeln!(text, "{at},Irq,{n},I,ISR_{isr},{n},activate\n{at},Core_0,0,T,T_Background,0,preempt")
            .unwrap();
        let end = at + 100 + isr;
        writeln!(text, "{at},Core_0,0,I,ISR_{isr},{n},start\n{end},Core_0,0,I,ISR_{isr},{n},terminate")
            .unwrap();
        writeln!(text, "{end},Core_0,0,T,T_Background,0,resume").unwrap();
    }
    writeln!(text, "{},Core_0,0,T,T_Background,0,terminate", 1000 * (rounds + 1)).unwrap();
    bench.write("long.btf", text);
    bench.ok(&["ingest", "long.db", "long.btf", "-q"]);
    let svg = explained(&bench, "long.db", "ResponseTime:T_Background", &[]);
    let document = Document::parse(&svg).unwrap();
    assert!(svg.len() < 1_500_000, "{} bytes", svg.len());
    let found = rows(&document);
    assert_eq!(found.iter().filter(|row| row.starts_with("isr:")).count(), 30, "{found:?}");
    // Those that ran longest.
    assert!(found.contains(&"isr:ISR_59".to_owned()) && !found.contains(&"isr:ISR_0".to_owned()));
    for words in [
        "30 more that parts of the response name have no row",
        "parts of the response narrower than two pixels are merged into",
        "causes more",
    ] {
        assert!(svg.contains(words), "{words}");
    }
    assert_eq!(all(&document, "data-cause").len(), 12);
    let more = explained(&bench, "long.db", "ResponseTime:T_Background", &["--entity", "ISR_0"]);
    assert!(rows(&Document::parse(&more).unwrap()).contains(&"isr:ISR_0".to_owned()));
}

#[test]
fn what_cannot_be_drawn_as_a_path_is_refused() {
    let bench = Bench::engine();
    for (args, words) in [
        (&["--explain", "T_4"][..], "is no metric and entity"),
        (&["--explain", "ResponseTime:T_44"], "T_44"),
        (&["--explain", "ResponseTime:T_4:999"], "no instance 999"),
        (&["--explain", "ResponseTime:T_4", "--from", "2ms"], "--from"),
        (&["--explain", "ResponseTime:T_4", "--around", "ResponseTime:T_4"], "--around"),
        (&["--explain", "ResponseTime:T_4", "--recording", "dem"], "dem"),
    ] {
        let run = bench.run(&[&["plot", "engine.db", "-o", "x.svg"], args].concat());
        assert_eq!(run.code, Some(2), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{args:?}: {}", run.stderr);
        assert!(!bench.path().join("x.svg").exists());
    }
}

#[test]
fn the_recording_of_a_path_can_be_chosen() {
    let bench = Bench::new();
    for name in ["thesis_t52", "thesis_t53"] {
        let file = root().join(format!("tests/data/btf/{name}.btf"));
        bench.ok(&["ingest", "two.db", file.to_str().unwrap(), "-q"]);
    }
    for recording in ["thesis_t52", "thesis_t53"] {
        let svg = explained(&bench, "two.db", "ResponseTime:T_2", &["--recording", recording]);
        assert!(svg.contains(&format!("<title id='title'>{recording}: T_2[")), "{}", &svg[..300]);
    }
    let both = ["--recording", "thesis_t52", "--recording", "thesis_t53"];
    let worst = bench.ok(&["explain", "two.db", "ResponseTime:T_2"]).stdout;
    let worst = worst.split_once(':').unwrap().0;
    let svg = explained(&bench, "two.db", "ResponseTime:T_2", &both);
    assert!(svg.contains(&format!("<title id='title'>{worst}: T_2[")), "of both, the one with the worst");
    // A page of both explains the instances of both.
    let page = bench.ok(&[&["plot", "two.db", "-q", "-o", "-", "--format", "html"][..], &both].concat());
    assert!(holds(&data(&page.stdout), "executes on Core_1"));
}

#[test]
fn a_page_explains_its_instances() {
    let bench = Bench::engine();
    let page = bench.ok(&["plot", "engine.db", "-q", "-o", "-", "--format", "html"]).stdout;
    let bytes = data(&page);
    for words in ["behind T_3 on Core_1", "executes R_2a on Core_1", "the kernel is at work on Core_1"] {
        assert!(holds(&bytes, words), "{words}");
    }
    // A window has those of its own instances only.
    let part = bench.ok(&["plot", "engine.db", "-q", "-o", "-", "--format", "html", "--to", "1ms"]).stdout;
    assert!(!holds(&data(&part), "behind T_3 on Core_1"));
}

/// Names that end elements, quotes, and comments, also of semaphores, events and runnables.
#[test]
fn hostile_names_are_text_in_all_of_these_pictures() {
    let bench = Bench::new();
    let evil = "</title><script>alert(1)</script>&\"'<!--";
    let mut text =
        "#version 2.2.1\n#creator test\n#creationDate 2026-01-01T00:00:00Z\n#timeScale ns\n".to_owned();
    for line in [
        "0,X,0,T,B@,0,activate",
        "10,Core_1@,0,T,B@,0,start",
        "20,B@,0,SEM,S@,0,requestsemaphore",
        "20,B@,0,SEM,S@,0,assigned",
        "100,X,0,T,A@,0,activate",
        "160,Core_0@,0,T,A@,0,start",
        "170,A@,0,R,R@,0,start",
        "200,A@,0,R,R@,0,terminate",
        "200,A@,0,SEM,S@,0,requestsemaphore",
        "200,A@,0,SEM,S@,0,waiting",
        "200,Core_0@,0,T,A@,0,poll",
        "300,B@,0,SEM,S@,0,released",
        "300,A@,0,SEM,S@,0,assigned",
        "300,Core_0@,0,T,A@,0,run",
        "340,A@,0,SEM,S@,0,released",
        "450,Core_1@,0,T,B@,0,terminate",
        "600,Core_0@,0,T,A@,0,terminate",
    ] {
        writeln!(text, "{}", line.replace('@', evil)).unwrap();
    }
    bench.write("evil.btf", text);
    bench.ok(&["ingest", "evil.db", "evil.btf", "-q", "--name", evil]);
    let asked = format!("ResponseTime:A{evil}");
    let svg = explained(&bench, "evil.db", &asked, &[]);
    let document = Document::parse(&svg).unwrap();
    assert!(document.descendants().all(|node| !node.has_tag_name("script")));
    assert!(!all(&document, "data-cause").is_empty() && !all(&document, "data-path").is_empty());
    let page = explained(&bench, "evil.db", &asked, &["--format", "html"]);
    assert_eq!(page.matches("<script").count(), 2, "the data and the script");
    assert!(!page.contains("alert(1)</script>"));
    bench.ok(&["metrics", "evil.db", "ResponseTime", "--tail", "-q", "--picture", "tail.svg"]);
    let tail = std::fs::read_to_string(bench.path().join("tail.svg")).unwrap();
    let document = Document::parse(&tail).unwrap();
    assert!(document.descendants().any(|node| node.text().is_some_and(|text| text.contains("<script>"))));
}

#[test]
fn tails_are_drawn_with_their_fit_or_with_the_reason() {
    let bench = crate::tail::bench();
    let file = |name: &str| std::fs::read_to_string(bench.path().join(name)).unwrap();
    let tail = ["metrics", "times.db", "NetExecutionTime", "--tail"];
    let rows = bench.ok(&[&tail[..], &["--entity", "T_Tail"]].concat()).stdout;
    let drawn = bench.ok(&[&tail[..], &["--entity", "T_Tail", "--picture", "fit.svg"]].concat());
    assert_eq!(drawn.stdout, rows, "the rows are the same");
    let svg = file("fit.svg");
    let document = Document::parse(&svg).unwrap();
    let of = |class: &str| {
        document.descendants().filter(|node| node.attribute("class") == Some(class)).collect::<Vec<_>>()
    };
    assert_eq!((of("panel").len(), of("measured").len()), (2, 2), "a panel for each method");
    assert_eq!((of("fitted").len(), of("confidence").len()), (2, 2));
    // The levels of the rows.
    let header: Vec<&str> = rows.lines().next().unwrap().split(',').collect();
    let level = header.iter().position(|name| *name == "level").unwrap();
    let levels: Vec<&str> = rows.lines().skip(1).filter_map(|line| line.split(',').nth(level)).collect();
    let levels: Vec<&str> = levels.into_iter().filter(|level| !level.is_empty()).collect();
    let marked: Vec<&str> =
        of("level").into_iter().map(|node| node.attribute("data-value").unwrap()).collect();
    let of_numbers =
        |texts: &[&str]| texts.iter().map(|text| text.parse::<f64>().unwrap()).collect::<Vec<_>>();
    assert_eq!(of_numbers(&marked), of_numbers(&levels));
    assert!(svg.contains("no safe bound of the worst case"));
    bench.ok(&[&tail[..], &["--entity", "T_Two,T_Drift", "--picture", "none.svg"]].concat());
    let svg = file("none.svg");
    let document = Document::parse(&svg).unwrap();
    let of =
        |class: &str| document.descendants().filter(|node| node.attribute("class") == Some(class)).count();
    assert_eq!((of("panel"), of("measured"), of("fitted"), of("level")), (2, 2, 0, 0));
    assert!(
        svg.contains("No distribution is fitted: only 2 values differ") && svg.contains("drift over time")
    );
    assert!(!svg.contains("no safe bound"), "there is no estimate");
    for (arguments, why) in [
        (&["--picture", "fit.svg"][..], "--force"),
        (&["--picture", "fit.html"], "is no name of a chart"),
        (&["--picture", "-"], "is no name of a chart"),
        (&["--picture", "a.svg", "-o", "a.svg"], "the same file"),
    ] {
        let run = bench.run(&[&tail[..], arguments].concat());
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(why), "{arguments:?}: {}", run.stderr);
    }
    let run = bench.run(&["metrics", "times.db", "NetExecutionTime", "--picture", "x.svg"]);
    assert_eq!(run.code, Some(2), "--picture needs --tail");
}

#[test]
fn what_changed_is_drawn_before_and_after() {
    let bench = crate::regress::fleet();
    let regress = ["regress", "fleet.db", "a", "--metric", "RunnableNetExecutionTime", "--against"];
    let run = bench.run(&[&regress[..], &["slow", "--picture", "changed.svg"]].concat());
    assert_eq!(run.code, Some(3), "{}", run.all());
    let file = |name: &str| std::fs::read_to_string(bench.path().join(name)).unwrap();
    let svg = file("changed.svg");
    let document = Document::parse(&svg).unwrap();
    let panels: Vec<_> =
        all(&document, "data-panel").iter().map(|n| n.attribute("data-panel").unwrap()).collect();
    assert_eq!(panels, ["RunnableNetExecutionTime of R_Filter"]);
    let medians: Vec<f64> = all(&document, "data-median")
        .iter()
        .map(|n| n.attribute("data-median").unwrap().parse().unwrap())
        .collect();
    for (median, expected) in medians.iter().zip([500_000.0, 600_000.0]) {
        assert!((median - expected).abs() < 0.02 * expected, "{medians:?}");
    }
    let sides: Vec<_> =
        all(&document, "data-side").iter().map(|n| n.attribute("data-side").unwrap()).collect();
    assert_eq!(sides, ["before", "after"]);
    assert!(svg.contains("a → slow"));
    // Nothing changed.
    bench.ok(&[&regress[..], &["b", "--picture", "same.svg"]].concat());
    let svg = file("same.svg");
    Document::parse(&svg).unwrap();
    assert!(svg.contains("Nothing changed for sure") && !svg.contains("There are no samples"));
    for (arguments, why) in [
        (&["b", "--picture", "same.svg"][..], "--force"),
        (&["b", "--picture", "x.html"], "is no name of a chart"),
        (&["b", "--force"], "--picture"),
    ] {
        let run = bench.run(&[&regress[..], arguments].concat());
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.all());
        assert!(run.stderr.contains(why), "{arguments:?}: {}", run.stderr);
    }
    bench.ok(&[&regress[..], &["b", "--picture", "same.svg", "--force"]].concat());
}

#[test]
fn the_picture_of_the_guide_is_up_to_date() {
    let bench = Bench::engine();
    let svg = explained(&bench, "engine.db", "ResponseTime:T_4:max", &[]);
    let path = root().join("docs/why.svg");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &svg).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == svg, "docs/why.svg is old; run the tests with UPDATE_DOCS=1");
}
