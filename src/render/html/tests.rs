//! The data of a page are those of the picture, according to a second, simple decoder.

use std::io::{Read, Write};

use flate2::read::ZlibDecoder;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::encode::{END, FAR, VERSION};
use super::write;
use super::{LINE, Wrapped};
use crate::picture::{
    Band, Cause, Curve, ExplainedPart, Explanation, Explanations, Highlight, Link, LinkKind, Mark, MarkKind,
    Picture, Point, Response, Row, RowKind, Run, Shape, State,
};
use crate::time::TimeScale;

const SCALES: [TimeScale; 5] = [TimeScale::Ps, TimeScale::Ns, TimeScale::Us, TimeScale::Ms, TimeScale::S];
const KINDS: [RowKind; 13] = [
    RowKind::Core,
    RowKind::Task,
    RowKind::Isr,
    RowKind::Runnable,
    RowKind::Semaphore,
    RowKind::Event,
    RowKind::Signal,
    RowKind::Stimulus,
    RowKind::Server,
    RowKind::Buffer,
    RowKind::Trace,
    RowKind::Recording,
    RowKind::Response,
];
const STATES: [State; 17] = [
    State::Active,
    State::Running,
    State::Ready,
    State::Waiting,
    State::Polling,
    State::Parking,
    State::Critical,
    State::Held,
    State::Wanted,
    State::Gap,
    State::Suspended,
    State::Executes,
    State::Delayed,
    State::Kernel,
    State::Blocked,
    State::Awaits,
    State::Unknown,
];
const MARKS: [MarkKind; 15] = [
    MarkKind::Activation,
    MarkKind::Deadline,
    MarkKind::Termination,
    MarkKind::Migration,
    MarkKind::ActivationLost,
    MarkKind::Violation,
    MarkKind::Write,
    MarkKind::Read,
    MarkKind::Set,
    MarkKind::Wait,
    MarkKind::Clear,
    MarkKind::Trigger,
    MarkKind::Replenished,
    MarkKind::Depleted,
    MarkKind::Message,
];
const LINKS: [LinkKind; 3] = [LinkKind::Preemption, LinkKind::Activation, LinkKind::Chain];

fn page(picture: &Picture) -> String {
    let mut bytes = Vec::new();
    write(picture, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for c in text.bytes().filter(|c| !b"\n=".contains(c)) {
        (bits, count) = (bits << 6 | u32::from(digit(c)), count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 255) as u8);
        }
    }
    bytes
}

/// Decodes the data of a page.
struct Decoder {
    bytes: std::vec::IntoIter<u8>,
    from: i64,
}

impl Decoder {
    fn unsigned(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.bytes.next().unwrap();
            value |= u64::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                return value;
            }
        }
    }

    fn signed(&mut self) -> i64 {
        let value = self.unsigned();
        (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
    }

    fn count(&mut self) -> usize {
        usize::try_from(self.unsigned()).unwrap()
    }

    fn float(&mut self) -> f64 {
        f64::from_le_bytes(std::array::from_fn(|_| self.bytes.next().unwrap()))
    }

    fn text(&mut self) -> String {
        let length = self.count();
        String::from_utf8(self.bytes.by_ref().take(length).collect()).unwrap()
    }

    fn texts(&mut self) -> Vec<String> {
        (0..self.count()).map(|_| self.text()).collect()
    }

    fn at(&mut self) -> i64 {
        self.from + self.signed()
    }

    fn name(&mut self) -> Option<u32> {
        let name = self.unsigned();
        name.checked_sub(1).map(|name| u32::try_from(name).unwrap())
    }

    fn picture(mut self) -> Picture {
        assert_eq!(self.unsigned(), VERSION);
        let scale = TimeScale::parse(&self.text()).unwrap();
        let (title, description) = (self.text(), self.text());
        self.from = self.text().parse().unwrap();
        let (from, to) = (self.from, self.at());
        let names = self.texts();
        let coloured = (0..names.len()).map(|_| self.unsigned()).collect::<Vec<_>>();
        let colour =
            |(name, colour): (u32, u64)| Some((name, u16::try_from(colour.checked_sub(1)?).unwrap()));
        let colours = (0..).zip(coloured).filter_map(colour).collect();
        let notes = self.texts();
        let highlight = (self.unsigned() == 1).then(|| Highlight {
            row: self.count(),
            begin: self.at(),
            end: self.at(),
            label: self.text(),
        });
        let response = (self.unsigned() == 1).then(|| self.response());
        let rows = (0..self.count()).map(|_| self.row(names.len())).collect();
        let links = self.links();
        let explanations = self.explanations();
        assert_eq!(self.unsigned(), END);
        assert_eq!(self.bytes.next(), None);
        Picture {
            title,
            description,
            scale,
            from,
            to,
            names,
            colours,
            rows,
            links,
            highlight,
            response,
            explanations,
            notes,
        }
    }

    fn length(&mut self) -> i64 {
        self.unsigned().cast_signed()
    }

    fn state(&mut self) -> State {
        STATES[self.count()]
    }

    fn number(&mut self) -> u32 {
        u32::try_from(self.unsigned()).unwrap()
    }

    fn response(&mut self) -> Response {
        let row = self.count();
        let cause = |d: &mut Self| Cause {
            state: d.state(),
            name: d.number(),
            words: d.text(),
            length: d.length(),
            permille: d.number(),
            count: d.unsigned(),
        };
        let causes = (0..self.count()).map(|_| cause(self)).collect();
        let band = |d: &mut Self| {
            let (row, state, begin) = (d.count(), d.state(), d.at());
            Band { row, state, begin, end: begin + d.length() }
        };
        let bands = (0..self.count()).map(|_| band(self)).collect();
        Response { row, causes, bands, remarks: Vec::new(), sample: None }
    }

    fn explanations(&mut self) -> Explanations {
        let words = self.texts();
        let part = |d: &mut Self| ExplainedPart { state: d.state(), words: d.number(), length: d.length() };
        let one = |d: &mut Self| {
            let (row, instance, begin) = (d.count(), d.signed(), d.at());
            Explanation { row, instance, begin, parts: (0..d.count()).map(|_| part(d)).collect() }
        };
        Explanations { words, of: (0..self.count()).map(|_| one(self)).collect() }
    }

    fn row(&mut self, names: usize) -> Row {
        let (id, label) = (self.text(), self.text());
        let kind = KINDS[self.count()];
        let parent = self.count().checked_sub(1);
        let tracks = u16::try_from(self.unsigned()).unwrap();
        let (runs, marks) = (self.runs(names), self.marks());
        let shape = match self.unsigned() {
            0 => None,
            1 => Some(Shape::Steps),
            _ => Some(Shape::Lines),
        };
        let curve = shape.map(|shape| self.curve(shape));
        let mut last = 0i64;
        let mut cut = |d: &mut Self| {
            let name = d.name();
            last = last.wrapping_add(d.signed());
            (name, last)
        };
        let cut = (0..self.count()).map(|_| cut(self)).collect();
        // The page draws gaps in rows of their own.
        Row { id, label, kind, parent, tracks, runs, marks, curve, cores: Vec::new(), cut }
    }

    fn runs(&mut self, names: usize) -> Vec<Run> {
        let flags: Vec<u64> = (0..self.count()).map(|_| self.unsigned()).collect();
        let mut column = |bit: u64, read: &mut dyn FnMut(&mut Self, usize) -> i64| -> Vec<i64> {
            let flagged = |flag: &u64| bit == 0 || flag & bit != 0;
            flags.iter().enumerate().map(|(n, flag)| if flagged(flag) { read(self, n) } else { 0 }).collect()
        };
        let tracks = column(128, &mut |d, _| d.unsigned().cast_signed());
        let gaps = column(0, &mut |d, _| d.signed());
        let lengths = column(0, &mut |d, _| d.unsigned().cast_signed());
        let names_of = column(0, &mut |d, _| d.unsigned().cast_signed());
        let mut last = vec![0i64; names + 1];
        let instances = column(32, &mut |d, n| {
            let slot = &mut last[usize::try_from(names_of[n]).unwrap()];
            *slot = slot.wrapping_add(d.signed());
            *slot
        });
        let mut merged = Vec::new();
        column(64, &mut |d, n| {
            let lengths: [u64; 4] = std::array::from_fn(|_| d.unsigned());
            merged.push((n, lengths, d.signed()));
            0
        });
        let mut ends = std::collections::HashMap::new();
        let mut runs: Vec<Run> = Vec::new();
        for (n, flag) in flags.iter().enumerate() {
            let end = ends.entry(tracks[n]).or_insert(self.from);
            let begin = *end + gaps[n];
            *end = begin + lengths[n];
            let state = STATES[(flag & 31) as usize];
            runs.push(Run {
                begin,
                end: *end,
                track: u16::try_from(tracks[n]).unwrap(),
                state,
                name: u32::try_from(names_of[n] - 1).ok(),
                instance: (flag & 32 != 0).then_some(instances[n]),
                count: 1,
                covered: lengths[n],
                occupied: if state.is_occupied() { lengths[n] } else { 0 },
                longest: lengths[n],
                longest_at: begin,
            });
        }
        for (n, [count, covered, occupied, longest], at) in merged {
            let run = &mut runs[n];
            run.count = u32::try_from(count).unwrap();
            [run.covered, run.occupied, run.longest] = [covered, occupied, longest].map(u64::cast_signed);
            run.longest_at = run.begin + at;
        }
        runs
    }

    fn marks(&mut self) -> Vec<Mark> {
        let flags: Vec<u64> = (0..self.count()).map(|_| self.unsigned()).collect();
        let mut at = self.from;
        let mut marks: Vec<Mark> = Vec::new();
        for flag in &flags {
            at += self.signed();
            marks.push(Mark { at, last: at, kind: MARKS[(flag & 15) as usize], name: None, count: 1 });
        }
        for (mark, _) in marks.iter_mut().zip(&flags).filter(|(_, flag)| *flag & 32 != 0) {
            mark.name = self.name();
        }
        for (mark, _) in marks.iter_mut().zip(&flags).filter(|(_, flag)| *flag & 16 != 0) {
            mark.count = u32::try_from(self.unsigned()).unwrap();
            mark.last = mark.at + self.signed();
        }
        marks
    }

    fn curve(&mut self, shape: Shape) -> Curve {
        let unit = self.text();
        let limit = (self.unsigned() == 1).then(|| self.float());
        let mut at = self.from;
        let ats: Vec<i64> = (0..self.count())
            .map(|_| {
                at += self.signed();
                at
            })
            .collect();
        let whole = self.unsigned() == 1;
        let mut value = 0;
        let mut points: Vec<Point> = Vec::new();
        for at in ats {
            let float = if whole {
                value += self.signed();
                value as f64
            } else {
                self.float()
            };
            points.push(Point { at, value: float, least: float, greatest: float, count: 1 });
        }
        for point in &mut points {
            point.count = u32::try_from(self.unsigned()).unwrap();
        }
        for point in points.iter_mut().filter(|point| point.count != 1 || point.value.is_nan()) {
            let mut next = || if whole { point.value + self.signed() as f64 } else { self.float() };
            (point.least, point.greatest) = (next(), next());
        }
        Curve { shape, points, limit, unit }
    }

    fn links(&mut self) -> Vec<Link> {
        let kinds: Vec<_> = (0..self.count()).map(|_| LINKS[self.count()]).collect();
        let [from_rows, to_rows] = [(); 2].map(|()| kinds.iter().map(|_| self.count()).collect::<Vec<_>>());
        let mut at = self.from;
        let mut from_ats = Vec::new();
        for _ in &kinds {
            at += self.signed();
            from_ats.push(at);
        }
        let link = |n: usize, to_at| Link {
            kind: kinds[n],
            from_row: from_rows[n],
            from_at: from_ats[n],
            to_row: to_rows[n],
            to_at,
        };
        (0..kinds.len()).map(|n| link(n, from_ats[n] + self.signed())).collect()
    }
}

fn decode(page: &str) -> Picture {
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let mut bytes = Vec::new();
    ZlibDecoder::new(&base64(data)[..]).read_to_end(&mut bytes).unwrap();
    Decoder { bytes: bytes.into_iter(), from: 0 }.picture()
}

// ---- pictures of all kinds ----

/// Typical lengths, and some of the maximum for a page. Sums stay below [`FAR`].
fn length() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 0..1000i64, 2 => 0..1i64 << 32, 1 => 0..FAR >> 8]
}

fn name(names: usize) -> BoxedStrategy<Option<u32>> {
    match u32::try_from(names).unwrap() {
        0 => Just(None).boxed(),
        names => option::of(0..names).boxed(),
    }
}

fn run(from: i64, names: usize) -> impl Strategy<Value = Run> {
    let merged = option::of((0..5u32, length(), length(), length(), -1000..1000i64));
    let instance = option::of(prop_oneof![-3..40i64, any::<i64>()]);
    let place = (-FAR >> 1..FAR >> 1, length(), prop_oneof![3 => Just(0), 1 => 0..5u16]);
    (place, select(&STATES[..]), name(names), instance, merged).prop_map(
        move |((begin, length, track), state, name, instance, merged)| {
            let (begin, end) = (from + begin, from + begin + length);
            let occupied = if state.is_occupied() { length } else { 0 };
            let (count, covered, occupied, longest, shift) =
                merged.unwrap_or((1, length, occupied, length, 0));
            let longest_at = begin + shift;
            Run { begin, end, track, state, name, instance, count, covered, occupied, longest, longest_at }
        },
    )
}

fn mark(from: i64, names: usize) -> impl Strategy<Value = Mark> {
    let several = option::of((2..90u32, length()));
    (-1000..FAR >> 1, select(&MARKS[..]), name(names), several).prop_map(move |(at, kind, name, several)| {
        let (count, length) = several.unwrap_or((1, 0));
        Mark { at: from + at, last: from + at + length, kind, name, count }
    })
}

fn curve(from: i64) -> impl Strategy<Value = Curve> {
    let whole = (-99i32..99).prop_map(f64::from);
    let value =
        prop_oneof![whole.clone().boxed(), any::<f64>().prop_filter("a number", |v| !v.is_nan()).boxed()];
    let values = prop_oneof![
        vec((-9..FAR >> 1, whole, 0..3u32), 0..9).boxed(),
        vec((-9..FAR >> 1, value, 0..3u32), 0..9).boxed()
    ];
    let shape = select(&[Shape::Steps, Shape::Lines][..]);
    (shape, values, option::of(0.0..1e9), "\\PC{0,4}").prop_map(move |(shape, values, limit, unit)| {
        let point = |(at, value, count): (i64, f64, u32)| {
            let (least, greatest) = if count == 1 { (value, value) } else { (value - 1.0, value + 2.0) };
            Point { at: from + at, value, least, greatest, count }
        };
        Curve { shape, points: values.into_iter().map(point).collect(), limit, unit }
    })
}

fn response(from: i64) -> impl Strategy<Value = Response> {
    let state = || select(&STATES[11..]);
    let cause = (state(), 0..3u32, any::<String>(), length(), 0..1001u32, any::<u64>());
    let cause = cause.prop_map(|(state, name, words, length, permille, count)| Cause {
        state,
        name,
        words,
        length,
        permille,
        count,
    });
    let band = (0..9usize, state(), -1000..FAR >> 1, length());
    let band = band.prop_map(move |(row, state, begin, length)| {
        let begin = from + begin;
        Band { row, state, begin, end: begin + length }
    });
    // A page has no remarks, and no span of a sample.
    (0..9usize, vec(cause, 0..4), vec(band, 0..4)).prop_map(|(row, causes, bands)| Response {
        row,
        causes,
        bands,
        remarks: Vec::new(),
        sample: None,
    })
}

fn explanations(from: i64) -> impl Strategy<Value = Explanations> {
    let part = (select(&STATES[11..]), 0..3u32, length());
    let part = part.prop_map(|(state, words, length)| ExplainedPart { state, words, length });
    let one = (0..9usize, any::<i64>(), -1000..FAR >> 1, vec(part, 0..5));
    let one = one.prop_map(move |(row, instance, begin, parts)| Explanation {
        row,
        instance,
        begin: from + begin,
        parts,
    });
    (vec(any::<String>(), 0..3), vec(one, 0..4)).prop_map(|(words, of)| Explanations { words, of })
}

fn picture() -> impl Strategy<Value = Picture> {
    let head = (any::<String>(), any::<String>(), select(&SCALES[..]), i64::MIN / 2..i64::MAX / 2, 0..FAR);
    (head, vec(any::<String>(), 0..4)).prop_flat_map(|((title, description, scale, from, span), names)| {
        let n = names.len();
        let row = (
            (any::<String>(), any::<String>(), select(&KINDS[..]), option::of(0..3usize), 1..9u16),
            (vec(run(from, n), 0..12), vec(mark(from, n), 0..12), option::of(curve(from))),
            vec((name(n), any::<i64>()), 0..4),
        );
        let row = row.prop_map(|((id, label, kind, parent, tracks), (runs, marks, curve), cut)| Row {
            id,
            label,
            kind,
            parent,
            tracks,
            runs,
            marks,
            curve,
            cores: Vec::new(),
            cut,
        });
        let link = (select(&LINKS[..]), 0..9usize, 0..9usize, -FAR >> 1..FAR >> 1, length()).prop_map(
            move |(kind, from_row, to_row, at, length)| Link {
                kind,
                from_row,
                from_at: from + at,
                to_row,
                to_at: from + at + length,
            },
        );
        let highlight = option::of((0..9usize, length(), length(), any::<String>()).prop_map(
            move |(row, begin, length, label)| Highlight {
                row,
                begin: from + begin,
                end: from + begin + length,
                label,
            },
        ));
        // Every second name has a colour.
        let colours: Vec<(u32, u16)> =
            (0..).zip(&names).step_by(2).map(|(n, _)| (n, 300 * n as u16)).collect();
        let responses = (option::of(response(from)), explanations(from));
        (vec(row, 0..5), vec(link, 0..9), highlight, vec(any::<String>(), 0..3), responses).prop_map(
            move |(rows, links, highlight, notes, (response, explanations))| Picture {
                title: title.clone(),
                description: description.clone(),
                scale,
                from,
                to: from + span,
                names: names.clone(),
                colours: colours.clone(),
                rows,
                links,
                highlight,
                response,
                explanations,
                notes,
            },
        )
    })
}

proptest! {
    #[test]
    fn a_page_carries_all_of_its_picture(picture in picture()) {
        prop_assert_eq!(decode(&page(&picture)), picture);
    }

    #[test]
    fn lines_are_the_same_however_they_are_written(length in 0..5000usize, step in 1..2000usize) {
        let text = vec![b'x'; length];
        let mut writer = Wrapped { out: Vec::new(), column: 0 };
        text.chunks(step).for_each(|part| writer.write_all(part).unwrap());
        let lines: Vec<_> = writer.out.split(|byte| *byte == b'\n').map(<[u8]>::len).collect();
        prop_assert_eq!(lines.iter().sum::<usize>(), length);
        prop_assert!(lines.split_last().unwrap().1.iter().all(|line| *line == LINE), "{:?}", lines);
        prop_assert!(lines.iter().all(|line| *line <= LINE));
    }
}

fn empty() -> Picture {
    Picture {
        title: String::new(),
        description: String::new(),
        scale: TimeScale::Ns,
        from: 0,
        to: 100,
        names: Vec::new(),
        colours: Vec::new(),
        rows: Vec::new(),
        links: Vec::new(),
        highlight: None,
        response: None,
        explanations: Explanations::default(),
        notes: Vec::new(),
    }
}

#[test]
fn what_is_too_far_away_is_as_far_as_can_be_represented() {
    let run = Run {
        begin: i64::MIN,
        end: i64::MAX,
        track: 0,
        state: State::Waiting,
        name: None,
        instance: None,
        count: 1,
        covered: i64::MAX,
        occupied: 0,
        longest: i64::MAX,
        longest_at: i64::MIN,
    };
    let row = Row {
        id: "task:T".into(),
        label: "T".into(),
        kind: RowKind::Task,
        parent: None,
        tracks: 1,
        runs: vec![run, Run { end: -5, begin: 5, ..run }],
        marks: vec![Mark { at: i64::MAX, last: i64::MAX, kind: MarkKind::Deadline, name: None, count: 1 }],
        curve: None,
        cores: Vec::new(),
        cut: Vec::new(),
    };
    let read = decode(&page(&Picture { rows: vec![row], ..empty() }));
    let runs: Vec<_> = read.rows[0].runs.iter().map(|run| (run.begin, run.end)).collect();
    assert_eq!(runs, [(-FAR, FAR), (5, 5)], "none ends before it begins");
    assert_eq!(read.rows[0].marks[0].at, FAR);
}

#[test]
fn a_value_that_is_not_known_any_more_keeps_what_was_seen_of_it() {
    let point = |at, value: f64, count| Point { at, value, least: value, greatest: value, count };
    let points = vec![
        point(1, 2.0, 1),
        point(3, f64::NAN, 0),
        Point { value: f64::NAN, ..point(5, 4.0, 1) },
        Point { least: -1.0, greatest: 7.0, ..point(8, f64::NAN, 3) },
    ];
    let curve = Curve { shape: Shape::Steps, points, limit: None, unit: String::new() };
    let row = Row { curve: Some(curve.clone()), ..Row::new(RowKind::Signal, "S") };
    let read = decode(&page(&Picture { rows: vec![row], ..empty() }));
    assert_eq!(format!("{:?}", read.rows[0].curve), format!("{:?}", Some(curve)));
}

#[test]
fn the_script_has_the_words_of_the_picture_in_their_order() {
    fn check(name: &str, words: &[impl std::fmt::Debug]) {
        let script = super::SCRIPTS[0];
        let (_, list) = script.split_once(&format!("const {name} = [")).unwrap();
        let (list, _) = list.split_once(']').unwrap();
        let list: Vec<_> = list.split(',').map(|word| word.trim().trim_matches('"')).collect();
        let list: Vec<_> = list.into_iter().filter(|word| !word.is_empty()).collect();
        assert_eq!(list, words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>());
    }
    check("KINDS", &KINDS);
    check("STATES", &STATES);
    check("MARKS", &MARKS);
    check("LINKS", &LINKS);
    for (n, kind) in KINDS.into_iter().enumerate() {
        assert_eq!(kind as usize, n);
    }
    assert!(STATES.into_iter().enumerate().all(|(n, state)| state as usize == n));
    assert!(MARKS.into_iter().enumerate().all(|(n, mark)| mark as usize == n));
}

#[test]
fn every_part_of_the_page_says_what_it_is_for() {
    assert!(super::PAGE.starts_with("<!DOCTYPE html>\n<!-- "));
    assert!(super::STYLE.starts_with("/* "));
    for script in super::SCRIPTS {
        assert!(script.starts_with("// "), "{}", &script[..40]);
        assert!(script.lines().next().is_some_and(|line| line.contains(" not ") || line.contains(" Not ")));
        assert!(!script.contains("</script") && !script.contains("<!--"), "this would end the script");
    }
}
