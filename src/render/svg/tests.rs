//! Drawings are XML, have a description, and are no larger than necessary.

use super::*;
use crate::picture::{
    Band, Cause, Curve, Explanations, Grid, Highlight, Link, LinkKind, Mark, MarkKind, Marks, Point, Remark,
    Response, Row, Runs, Shape, Span, State, spread,
};
use crate::time::TimeScale;

const NASTY: &str = "a<b>&\"'\u{1}]]>";

fn row(kind: RowKind, label: &str, spans: &[(i64, i64, State)], columns: u32) -> Row {
    let mut runs = Runs::new(Grid::new(0, 1000, columns));
    for (n, (begin, end, state)) in (0..).zip(spans) {
        runs.add(Span { begin: *begin, end: *end, state: *state, name: Some(0), instance: Some(n) });
    }
    let mut runs = runs.finish();
    let tracks = spread(&mut runs);
    let id = format!("{}:{label}", kind.as_str());
    Row {
        id,
        label: label.into(),
        kind,
        parent: None,
        tracks,
        runs,
        marks: Vec::new(),
        curve: None,
        cores: Vec::new(),
        cut: Vec::new(),
    }
}

fn picture(rows: Vec<Row>) -> Picture {
    Picture {
        title: NASTY.into(),
        description: "what is to be seen".into(),
        scale: TimeScale::Ns,
        from: 0,
        to: 1000,
        names: vec![NASTY.into(), "N".into()],
        colours: Vec::new(),
        rows,
        links: Vec::new(),
        highlight: None,
        response: None,
        explanations: Explanations::default(),
        notes: vec!["A note.".into()],
    }
}

/// One of everything.
fn full() -> Picture {
    let states: Vec<_> = (0..).zip(State::ALL).map(|(n, state)| (n * 58, n * 58 + 50, state)).collect();
    let mut rows: Vec<Row> = RowKind::ALL.into_iter().map(|kind| row(kind, NASTY, &states, 1000)).collect();
    let mut marks = Marks::new(Grid::new(0, 1000, 1000));
    (0..).zip(MarkKind::ALL).for_each(|(n, kind)| marks.add(n * 60, kind, Some(1)));
    rows[1].marks = marks.finish();
    let point = |at, value| Point { at, value, least: value, greatest: value, count: 1 };
    let points = vec![point(0, 10.0), point(400, 2.0), point(500, -1.0)];
    for (row, shape) in [(6, Shape::Steps), (8, Shape::Lines)] {
        rows[row].curve = Some(Curve { shape, points: points.clone(), limit: Some(10.0), unit: "ms".into() });
    }
    rows[3].parent = Some(2);
    let mut picture = picture(rows);
    let link =
        |from_row, to_row| Link { kind: LinkKind::Preemption, from_row, from_at: 100, to_row, to_at: 100 };
    picture.links = vec![link(1, 2), link(2, 1), link(99, 1)];
    let of_parts = RowKind::ALL.into_iter().position(|kind| kind == RowKind::Response).unwrap();
    let cause = |(n, state): (i64, State)| {
        let words = format!("{n}, because of {NASTY}");
        Cause { state, name: 0, words, length: 100 - n, permille: 170, count: n.unsigned_abs() }
    };
    // More than the table has lines for.
    let states = State::of_responses().into_iter().cycle().take(15);
    let causes = (1..).zip(states).map(cause).collect();
    let bands = vec![
        Band { row: 1, state: State::Delayed, begin: 200, end: 300 },
        Band { row: 99, state: State::Blocked, begin: 200, end: 300 },
    ];
    // One with room, one between marks without, and one without a row.
    let remark = |(row, at, words): (usize, i64, &str)| Remark { row, at, words: words.to_owned() };
    let remarks = [(1, 300, "x"), (1, 360, "too long for the room"), (99, 1, "x")].map(remark).to_vec();
    let sample = Some(Highlight { row: 1, begin: 100, end: 400, label: "StartDelay".into() });
    picture.response = Some(Response { row: of_parts, causes, bands, remarks, sample });
    picture.highlight = Some(Highlight { row: 1, begin: 100, end: 800, label: NASTY.into() });
    picture
}

/// All texts in a drawing, with their position and width.
pub(super) fn texts(svg: &str) -> Vec<(String, f64, f64, f64, f64)> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let number =
        |node: roxmltree::Node<'_, '_>, name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
    let all = document.descendants().filter(|node| node.has_tag_name("text"));
    all.map(|node| {
        let words = node.text().unwrap_or_default().to_owned();
        let size = number(node, "font-size");
        let wide = text::width(&words, (size * 100.0) as i64) as f64 / 100.0;
        let middle = node.attribute("class").is_some_and(|c| c.split(' ').any(|c| c == "w"));
        let x = number(node, "x");
        let left = match node.attribute("text-anchor") {
            Some("end") => x - wide,
            _ if middle => x - wide / 2.0,
            _ => x,
        };
        (words, left, left + wide, number(node, "y") - size * 0.75, number(node, "y"))
    })
    .collect()
}

#[test]
fn everything_is_drawn_and_well_formed() {
    let svg = drawn(&full(), &DrawingOptions::default());
    let document = roxmltree::Document::parse(&svg).unwrap();
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    let of =
        |tag: &str| document.descendants().find(|n| n.has_tag_name(tag)).unwrap().text().unwrap().to_owned();
    assert_eq!(of("title"), "a<b>&\"'\u{fffd}]]>");
    assert_eq!(of("desc"), "what is to be seen");
    let groups: Vec<_> = document.descendants().filter(|n| n.attribute("data-row").is_some()).collect();
    assert_eq!(groups.len(), RowKind::ALL.len());
    let mut drawn_rows = 0;
    // The heading of a recording has no room for runs.
    for group in groups.into_iter().filter(|group| group.descendants().any(|n| n.has_attribute("data-begin")))
    {
        drawn_rows += 1;
        assert_eq!(group.attribute("data-count"), Some(State::COUNT.to_string().as_str()));
        let runs = group.descendants().filter(|n| n.attribute("data-begin").is_some());
        assert!(runs.clone().all(|n| n.first_element_child().unwrap().has_tag_name("title")));
        assert_eq!(runs.count(), State::COUNT);
    }
    assert_eq!(drawn_rows, RowKind::ALL.len() - 1);
    for kind in MarkKind::ALL {
        let marks = document.descendants().filter(|n| n.attribute("data-mark") == Some(kind.as_str()));
        assert_eq!(marks.count(), 1, "{kind:?}");
    }
    assert_eq!(document.descendants().filter(|n| n.attribute("data-link").is_some()).count(), 2);
    // Every reference has a target.
    for node in document.descendants() {
        if let Some(id) = node.attribute("href").and_then(|h| h.strip_prefix('#')) {
            assert!(document.descendants().any(|n| n.attribute("id") == Some(id)), "{id}");
        }
    }
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    assert_eq!(svg, drawn(&full(), &DrawingOptions::default()));
}

#[test]
fn texts_stay_on_the_sheet_and_off_each_other() {
    for (width, legend) in [(1200, Legend::Bottom), (700, Legend::Top), (320, Legend::None)] {
        let svg = drawn(&full(), &DrawingOptions { width, legend });
        let texts = texts(&svg);
        assert!(texts.iter().all(|t| t.1 >= 0.0 && t.2 <= f64::from(width)), "{texts:?}");
        are_apart(&texts);
    }
}

/// Fails for texts that overlap.
#[track_caller]
pub(super) fn are_apart(texts: &[(String, f64, f64, f64, f64)]) {
    for (n, a) in texts.iter().enumerate() {
        for b in &texts[n + 1..] {
            let apart = a.2 <= b.1 || b.2 <= a.1 || a.4 <= b.3 || b.4 <= a.3;
            assert!(apart, "{a:?} and {b:?} overlap");
        }
    }
}

/// What fits on a part is its cause and duration, or its cause, or the number of that.
#[test]
fn parts_of_a_response_say_what_fits() {
    let parts = [(0, 600, State::Delayed), (600, 700, State::Executes), (700, 712, State::Kernel)];
    let task = row(RowKind::Task, "T", &[(0, 712, State::Running)], 1000);
    let mut of_parts = row(RowKind::Response, "response", &parts, 1000);
    of_parts.parent = Some(0);
    for (run, name) in of_parts.runs.iter_mut().zip([1, 1, 2]) {
        run.name = Some(name);
    }
    let mut picture = picture(vec![task, of_parts]);
    picture.names = ["", "a semaphore", "a very long name of a cause"].map(str::to_owned).to_vec();
    let cause = |state, name, words: &str, length| {
        let words = words.to_owned();
        Cause { state, name, words, length, permille: 500, count: 1 }
    };
    let causes = vec![
        cause(State::Delayed, 1, "behind somebody", 600),
        cause(State::Executes, 1, "executes", 100),
        cause(State::Kernel, 2, "the kernel is at work", 12),
    ];
    picture.response =
        Some(Response { row: 1, causes, bands: Vec::new(), remarks: Vec::new(), sample: None });
    let svg = drawn(&picture, &DrawingOptions::default());
    for words in [">a semaphore, 600 ns<", ">a semaphore<", ">3<", "What the response is made of"] {
        assert!(svg.contains(words), "{words}\n{svg}");
    }
    assert!(!svg.contains("a very long name of a cause, "), "{svg}");
    for tooltip in
        [">T[0]: running, 0 ns", ">response: executes, +600 ns, 600 ns", ">response: behind somebody, +0 ns"]
    {
        assert!(svg.contains(tooltip), "{tooltip}\n{svg}");
    }
    let document = roxmltree::Document::parse(&svg).unwrap();
    let causes: Vec<_> = document.descendants().filter_map(|n| n.attribute("data-cause")).collect();
    assert_eq!(causes, ["delayed", "executes", "kernel"]);
}

/// Without numbers, nothing is said about them.
#[test]
fn narrow_parts_of_a_response_have_their_number_above_them() {
    let of = |parts: &[(i64, i64, State)]| {
        let mut picture = picture(vec![row(RowKind::Response, "response", parts, 1000)]);
        picture.names[0] = "executes".into();
        let cause = |state, length, permille| {
            let words = "it is so".to_owned();
            Cause { state, name: 0, words, length, permille, count: 1 }
        };
        let causes = vec![cause(State::Executes, 994, 1000), cause(State::Kernel, 6, 0)];
        let (bands, remarks) = (Vec::new(), Vec::new());
        picture.response = Some(Response { row: 0, causes, bands, remarks, sample: None });
        drawn(&picture, &DrawingOptions::default())
    };
    let narrow = of(&[
        (0, 500, State::Executes),
        (500, 503, State::Kernel),
        (503, 506, State::Kernel),
        (506, 1000, State::Executes),
    ]);
    assert!(narrow.contains("; a number stands in or above a part"), "{narrow}");
    assert_eq!(narrow.matches("font-size='7'>2<").count(), 1, "the other one would touch it\n{narrow}");
    let texts = texts(&narrow);
    for share in ["> 99.9 %", "< 0.1 %"] {
        assert!(texts.iter().any(|text| text.0 == share), "{share}: {texts:?}");
    }
    assert!(!of(&[(0, 1000, State::Executes)]).contains("a number stands"));
}

#[test]
fn remarks_are_right_or_left_of_their_mark_or_nowhere() {
    let mut task = row(RowKind::Task, "T", &[], 10);
    let mark = |at| Mark { at, last: at, kind: MarkKind::Activation, name: None, count: 1 };
    task.marks = [400, 420, 980].map(mark).to_vec();
    let mut picture = picture(vec![task]);
    let remark = |(at, words): (i64, &str)| Remark { row: 0, at, words: words.to_owned() };
    let remarks = [(400, "left"), (420, "right"), (420, "nowhere"), (980, "left, too")].map(remark).to_vec();
    let (causes, bands) = (Vec::new(), Vec::new());
    picture.response = Some(Response { row: 0, causes, bands, remarks, sample: None });
    let svg = drawn(&picture, &DrawingOptions::default());
    let document = roxmltree::Document::parse(&svg).unwrap();
    let x = |at: &str| {
        let mark = document.descendants().find(|node| node.attribute("data-at") == Some(at)).unwrap();
        mark.attribute("x").unwrap().parse::<f64>().unwrap()
    };
    let texts = texts(&svg);
    let place = |words: &str| texts.iter().find(|text| text.0 == words).map(|text| (text.1, text.2));
    assert!(place("left").unwrap().1 < x("400"), "{svg}");
    assert!(x("420") < place("right").unwrap().0, "{svg}");
    assert_eq!(place("nowhere"), None);
    assert!(place("left, too").unwrap().1 < x("980"), "{svg}");
}

/// No line of a heading goes through them, nor one of the grid.
#[test]
fn lengths_are_above_the_lines_of_the_rows() {
    let svg = drawn(&full(), &DrawingOptions::default());
    let texts = texts(&svg);
    let place = |words: &str| texts.iter().find(|text| text.0 == words).unwrap();
    for words in ["700 ns", "StartDelay: 300 ns"] {
        assert!(place(words).4 <= place("Cores").3, "{words}: {texts:?}");
    }
    assert!(texts.iter().any(|text| text.0 == "the response"), "the band is in the legend");
}

/// The parts of a response that were merged are no shares of a core.
#[test]
fn merged_parts_of_a_response_have_the_colour_of_most_of_them() {
    let parts: Vec<_> = (0..100)
        .map(|n| (10 * n, 10 * n + 10, if n % 10 == 0 { State::Kernel } else { State::Delayed }))
        .collect();
    let svg =
        drawn(&picture(vec![row(RowKind::Response, "response", &parts, 10)]), &DrawingOptions::default());
    assert!(svg.contains("parts, ") && svg.contains("mostly behind another one"), "{svg}");
    assert!(!svg.contains("height is the share that runs"));
    assert!(svg.contains("class='s delayed'"));
}

#[test]
fn a_picture_of_much_is_small() {
    // As irregular as possible: neighbours differ in coverage.
    let mut seed = 1u64;
    let mut next = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((seed >> 33) % below) as i64
    };
    let rows = (0..100)
        .map(|n| {
            let mut runs = Runs::new(Grid::new(0, 12_000_000, 1200));
            let mut at = 0;
            while at < 12_000_000 {
                let (wait, run) = (next(2000), next(3000));
                let state = if n % 2 == 0 { State::Running } else { State::ALL[next(6) as usize] };
                runs.add(Span { begin: at + wait, end: at + wait + run, state, name: None, instance: None });
                at += wait + run;
            }
            let runs = runs.finish();
            let label = format!("T_{n}");
            Row {
                id: label.clone(),
                label,
                kind: RowKind::Task,
                parent: None,
                tracks: 1,
                runs,
                marks: Vec::new(),
                curve: None,
                cores: Vec::new(),
                cut: Vec::new(),
            }
        })
        .collect();
    let picture = Picture { to: 12_000_000, ..picture(rows) };
    let svg = drawn(&picture, &DrawingOptions::default());
    assert!(svg.len() < 2_000_000, "{} bytes", svg.len());
    roxmltree::Document::parse(&svg).unwrap();
}

#[test]
fn what_is_rare_is_drawn_one_by_one_among_much() {
    let grid = Grid::new(0, 1_000_000, 1200);
    let mut marks = Marks::new(grid);
    (0..100_000).for_each(|n| marks.add(n * 10, MarkKind::Activation, None));
    let rare = [5, 500_000, 999_999];
    rare.iter().for_each(|at| marks.add(*at, MarkKind::Violation, None));
    let mut row = row(RowKind::Task, "T", &[], 10);
    row.marks = marks.finish();
    let svg = drawn(&Picture { to: 1_000_000, ..picture(vec![row]) }, &DrawingOptions::default());
    let document = roxmltree::Document::parse(&svg).unwrap();
    let of = |kind| document.descendants().filter(move |n| n.attribute("data-mark") == Some(kind));
    let at: Vec<i64> = of("violation").map(|n| n.attribute("data-at").unwrap().parse().unwrap()).collect();
    assert_eq!(at, rare);
    let activations: Vec<_> = of("activation").map(|n| n.attribute("data-count").unwrap()).collect();
    assert_eq!(activations, ["100000"]);
}

#[test]
fn an_empty_picture_is_a_picture() {
    let svg = drawn(&picture(Vec::new()), &DrawingOptions { width: 0, legend: Legend::Top });
    roxmltree::Document::parse(&svg).unwrap();
    let svg = drawn(&picture(Vec::new()), &DrawingOptions::default());
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
}

#[test]
fn a_mark_of_many_says_so() {
    let mut row = row(RowKind::Task, "T", &[(0, 10, State::Running)], 10);
    row.marks = vec![Mark { at: 5, last: 9, kind: MarkKind::ActivationLost, name: None, count: 7 }];
    let svg = drawn(&picture(vec![row]), &DrawingOptions::default());
    assert!(svg.contains("T: 7 × activation lost, 5 ns – 9 ns"), "{svg}");
}

#[test]
fn what_is_merged_is_as_high_as_the_share_that_runs() {
    // One tick of ten is running, in columns of a hundred; so many rows that they are drawn as paths.
    let spans: Vec<_> = (0..100).map(|n| (10 * n, 10 * n + 1, State::Running)).collect();
    let merged = row(RowKind::Task, "T", &spans, 10);
    let small: Vec<_> = (0..500).map(|n| (2 * n, 2 * n + 1, State::Running)).collect();
    let rows = std::iter::repeat_with(|| row(RowKind::Task, "U", &small, 100_000)).take(20);
    let svg = drawn(&picture(std::iter::once(merged).chain(rows).collect()), &DrawingOptions::default());
    let height = |class: &str| {
        let path = svg.split("<path ").find(|path| path.starts_with(&format!("class='{class}'")));
        let path = path.and_then(|path| path.split('>').next()).expect("a path of that class");
        assert!(!path.contains("stroke='"), "a class would win over it: {path}");
        path.split("stroke-width='").nth(1).unwrap().split('\'').next().unwrap().parse::<f64>().unwrap()
    };
    assert_eq!(height("behind"), 8.0 * height("bar"));
    assert!(svg.contains(".behind{") && svg.contains(".bar{"));
}

#[test]
fn the_title_of_the_axis_is_clear_of_its_labels() {
    use super::layout::SMALL;
    let windows = [(0, 1000), (0, 7), (999_999_990, 1_000_000_050), (-50, 50), (123_456_700, 123_456_900)];
    for ((from, to), width) in windows.into_iter().flat_map(|window| [(window, 320), (window, 1200)]) {
        for label in ["T", "A_task_with_quite_a_long_name"] {
            let row = row(RowKind::Task, label, &[(from, to, State::Running)], 10);
            let svg = drawn(
                &Picture { from, to, ..picture(vec![row]) },
                &DrawingOptions { width, ..DrawingOptions::default() },
            );
            let document = roxmltree::Document::parse(&svg).unwrap();
            let axis = document.descendants().find(|n| n.attribute("class") == Some("axis")).unwrap();
            let texts: Vec<_> = axis.children().filter(|n| n.has_tag_name("text")).collect();
            let number =
                |n: &roxmltree::Node<'_, '_>, name: &str| n.attribute(name).unwrap().parse::<f64>().unwrap();
            let wide = |n: &roxmltree::Node<'_, '_>| text::width(n.text().unwrap(), SMALL) as f64 / PX as f64;
            let (titles, labels): (Vec<_>, Vec<_>) =
                texts.iter().partition(|n| n.text().unwrap().starts_with("time in "));
            let [title] = titles.as_slice() else { panic!("one title") };
            let first = labels.first().map(|n| number(n, "x") - wide(n) / 2.0).unwrap();
            let below = number(title, "y") > number(&labels[0], "y") + 10.0;
            assert!(below || number(title, "x") + 4.0 < first, "{from} to {to}, {width}, {label}");
            let begin = number(title, "x") - if below { 0.0 } else { wide(title) };
            assert!(begin > 0.0, "{from} to {to}, {width}, {label}");
        }
    }
}

#[test]
fn gaps_are_hatched_over_the_rows_of_their_cores() {
    let gaps = |core: &[u32]| {
        let gaps = Row { cores: core.to_vec(), ..row(RowKind::Trace, "gaps", &[(40, 60, State::Gap)], 10) };
        let of = |name: &str, core: u32| Row {
            cores: vec![core],
            ..row(RowKind::Task, name, &[(0, 90, State::Ready)], 10)
        };
        let anywhere = row(RowKind::Signal, "S", &[], 10);
        let rows = vec![of("A", 0), of("B", 0), of("C", 1), of("D", 0), anywhere, gaps];
        let svg = drawn(&picture(rows), &DrawingOptions::default());
        let document = roxmltree::Document::parse(&svg).unwrap();
        let bands = document.descendants().filter(|n| n.attribute("opacity") == Some(".35"));
        let number =
            |n: &roxmltree::Node<'_, '_>, name: &str| n.attribute(name).unwrap().parse::<f64>().unwrap();
        let bands: Vec<(f64, f64)> =
            bands.map(|n| (number(&n, "y"), number(&n, "y") + number(&n, "height"))).collect();
        // Which rows a band goes over: the base lines of rows have their heights.
        let mut lines = Vec::new();
        for row in document.descendants().filter(|n| n.has_attribute("data-row")) {
            let line = row.children().find(|n| n.attribute("class") == Some("f")).unwrap();
            let (_, y) = line.attribute("d").unwrap().split_once(' ').unwrap();
            lines.push(y.split('H').next().unwrap().parse::<f64>().unwrap());
        }
        let over = |band: &(f64, f64)| lines.iter().filter(|y| band.0 < **y && **y <= band.1).count();
        bands.iter().map(over).collect::<Vec<_>>()
    };
    assert_eq!(gaps(&[]), [6]);
    assert_eq!(gaps(&[0]), [2, 3], "A and B; D, S, and the row of the gaps");
    assert_eq!(gaps(&[1]), [1, 2], "C; S, and the row of the gaps");
    assert_eq!(gaps(&[0, 1]), [6]);
}

#[test]
fn a_curve_ends_where_its_value_is_not_known() {
    let point = |at, value: f64, count| Point { at, value, least: value, greatest: value, count };
    let points = vec![
        point(100, 1.0, 1),
        point(300, 2.0, 1),
        point(400, f64::NAN, 0),
        point(600, 3.0, 1),
        Point { value: f64::NAN, ..point(800, 1.0, 1) },
    ];
    let curve = Curve { shape: Shape::Steps, points, limit: None, unit: String::new() };
    let of = Row { curve: Some(curve), ..row(RowKind::Signal, "S", &[], 10) };
    let svg = drawn(&picture(vec![of]), &DrawingOptions::default());
    assert!(!svg.contains("NaN"), "{svg}");
    let path = svg.split("<path class='c' d='").nth(1).unwrap().split('\'').next().unwrap();
    let commands: String = path.chars().filter(|c| c.is_ascii_alphabetic()).collect();
    // Two steps and their end; one step and what was seen last.
    assert_eq!(commands, "MHVHMHV", "{path}");
}
