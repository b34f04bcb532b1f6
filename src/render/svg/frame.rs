//! Everything around the rows: title, labels, time axis with its grid, legend, notes. Not their content.

use std::collections::{BTreeMap, HashMap};

use super::layout::{GUTTER, LABEL, Layout, SMALL};
use super::sheet::{Across, PX, Sheet, px};
use super::{style, text};
use crate::picture::{Axis, Highlight, LinkKind, MarkKind, Picture, RowKind, State, exact};

/// Size of the name of one of several recordings.
const TITLE: i64 = 13 * PX;
/// Minimum room for a label of the time axis.
const TICK: i64 = 84 * PX;
/// Height of a line above the rows that says how long a span is.
const DIMENSION: i64 = 13 * PX;
/// The band of the span that a picture was made for: grey, as all other colours mean something else.
const SPAN: &str = " fill='#e9e9e9'";
/// The ends of that span.
const ENDS: &str = " fill='none' stroke='#555555' stroke-width='1' stroke-dasharray='6 3'";
/// The heads of lines between rows.
const HEAD: &str = " fill='#555555'";

/// The lines of the grid and their labels. The time axis is that of the window.
pub(super) fn axis(picture: &Picture, across: Across, (top, bottom): (i64, i64), sheet: &mut Sheet) {
    let most = u32::try_from(across.width / TICK).unwrap_or(1).max(2);
    let axis = Axis::new(picture.from, picture.to, picture.scale, most);
    let line = |at: &i64| format!("M{} {}V{}", px(across.x(*at)), px(top), px(bottom));
    sheet.open("axis", "");
    sheet.path("f", &axis.minor.iter().map(line).collect::<String>(), "");
    sheet.path("g", &axis.major.iter().map(|(at, _)| line(at)).collect::<String>(), "");
    let base = format!("M{} {}H{}", px(across.left), px(bottom), px(across.right()));
    sheet.path("a", &base, " stroke='#222222' fill='none'");
    let ticks = |at: &i64, long: i64| format!("M{} {}v{}", px(across.x(*at)), px(bottom), px(long));
    let mut d: String = axis.minor.iter().map(|at| ticks(at, 3 * PX)).collect();
    d.extend(axis.major.iter().map(|(at, _)| ticks(at, 5 * PX)));
    sheet.path("a", &d, " stroke='#222222' fill='none'");
    let y = bottom + 16 * PX;
    // The first and the last label stay on the sheet, and none touches the previous one.
    let mut free = i64::MIN;
    for (at, label) in &axis.major {
        let half = text::width(label, SMALL) / 2;
        let x = across.x(*at).min(across.right() + 14 * PX - half);
        if x - half >= free {
            sheet.words("w", (x, y), SMALL, "", label);
            free = x + half + 6 * PX;
        }
    }
    axis_title(&axis, across, y, sheet);
    sheet.close();
}

/// The title of a time axis with labels at `y`: before the first label if there is room, else below.
pub(super) fn axis_title(axis: &Axis, across: Across, y: i64, sheet: &mut Sheet) {
    let first =
        axis.major.first().map_or(across.left, |(at, label)| across.x(*at) - text::width(label, SMALL) / 2);
    let end = (across.left - 14 * PX).min(first - 8 * PX);
    let title = format!("time in {}", axis.title);
    match text::width(&title, SMALL) + 10 * PX <= end {
        true => sheet.words("q", (end, y), SMALL, "end", &title),
        false => sheet.words("q", (across.left, y + 14 * PX), SMALL, "", &title),
    }
}

pub(super) fn labels(
    picture: &Picture,
    layout: &Layout,
    left: i64,
    across: Across,
    colours: &HashMap<&str, u16>,
    sheet: &mut Sheet,
) {
    sheet.open("labels", "");
    for (words, y) in &layout.headings {
        sheet.words("q", (left, *y), SMALL, "", words);
        let begin = left + text::width(words, SMALL) + 6 * PX;
        let line = format!("M{} {}H{}", px(begin), px(y - 3 * PX), px(across.right()));
        sheet.path("g", &line, "");
    }
    for (row, place) in picture.rows.iter().zip(&layout.places) {
        if row.kind == RowKind::Recording {
            // The name of the recording, over the whole width.
            let words = text::fitted(&row.label, across.right() - left, TITLE);
            sheet.words("title", (left, place.bottom - 4 * PX), TITLE, "", &words);
            let line = format!("M{} {}H{}", px(left), px(place.bottom), px(across.right()));
            sheet.path("a", &line, " stroke='#222222' fill='none'");
            continue;
        }
        let room = layout.labels - place.indent;
        let words = text::fitted(&row.label, room, LABEL);
        let y = place.middle() + LABEL * 36 / 100;
        let size = if place.track * i64::from(row.tracks) < LABEL { SMALL } else { LABEL };
        sheet.words("label", (left + place.indent, y), size, "", &words);
        if let (RowKind::Task | RowKind::Isr, Some(n)) = (row.kind, colours.get(row.label.as_str())) {
            // The colour of the process in the rows of cores.
            let swatch = [left + layout.labels + 3 * PX, place.tracks, 4 * PX, place.bottom - place.tracks];
            sheet.rect(&format!("p{n}"), swatch, " style='stroke:none'", "");
        }
    }
    sheet.close();
}

/// Lines between rows, with heads: between neighbours, a line alone is too short to be seen.
pub(super) fn links(picture: &Picture, layout: &Layout, across: Across, sheet: &mut Sheet) {
    if picture.links.is_empty() {
        return;
    }
    sheet.open("links", "");
    let mut heads = String::new();
    for link in &picture.links {
        let (Some(from), Some(to)) = (layout.places.get(link.from_row), layout.places.get(link.to_row))
        else {
            continue;
        };
        let down = from.bottom < to.bottom;
        let (a, b) = if down { (from.bottom, to.tracks) } else { (from.tracks, to.bottom) };
        heads.push_str(&head((across.x(link.to_at), b), down));
        let d = format!("M{} {}L{} {}", px(across.x(link.from_at)), px(a), px(across.x(link.to_at)), px(b));
        let word = link.kind.as_str();
        sheet.path("l", &d, &format!(" data-link='{}' data-at='{}'", word, link.from_at));
    }
    if !heads.is_empty() {
        sheet.path("h", &heads, HEAD);
    }
    sheet.close();
}

/// The head of a line that ends at a point, from above or from below.
fn head((x, y): (i64, i64), down: bool) -> String {
    format!("M{} {}l-2{}h4z", px(x), px(y), if down { "-4" } else { " 4" })
}

/// The spans whose lengths are above the rows: the one that the picture was made for, and that of a sample
/// which is a part of it. With words before the length.
fn dimensions(picture: &Picture) -> Vec<(&Highlight, String)> {
    let Some(found) = &picture.highlight else { return Vec::new() };
    let sample = picture.response.iter().filter_map(|response| response.sample.as_ref());
    let sample = sample.map(|sample| (sample, format!("{}: ", sample.label)));
    std::iter::once((found, String::new())).chain(sample).collect()
}

/// The height of the lengths above the rows.
pub(super) fn above(picture: &Picture) -> i64 {
    i64::try_from(dimensions(picture).len()).unwrap_or(0) * DIMENSION
}

/// The span that the picture was made for: a band over its row, and lines from top to bottom.
pub(super) fn highlight(picture: &Picture, layout: &Layout, across: Across, bottom: i64, sheet: &mut Sheet) {
    let Some(found) = &picture.highlight else { return };
    let Some(place) = layout.places.get(found.row) else { return };
    let (x, end) = (across.x(found.begin), across.x(found.end));
    let band = [x, place.top - PX, (end - x).max(PX), place.bottom - place.top + 3 * PX];
    sheet.open("highlight", "");
    let more = format!("{SPAN} data-begin='{}' data-end='{}'", found.begin, found.end);
    sheet.rect("h", band, &more, &found.label);
    // Above the grid and the headings, whose lines would go through the words: the last one ends at the top.
    let first = layout.top - above(picture) + DIMENSION;
    let spans = || (0..).zip(dimensions(picture)).map(|(n, of)| (first + n * DIMENSION, of));
    let line = |x: i64, base: i64| format!("M{} {}V{}", px(x), px(base - 7 * PX), px(bottom));
    // All of them begin with the first.
    let ends = spans().map(|(base, (span, _))| line(across.x(span.end), base));
    let lines: String = std::iter::once(line(x, first)).chain(ends).collect();
    sheet.path("h", &lines, ENDS);
    for (base, (span, words)) in spans() {
        let words = format!("{words}{}", exact(span.end.saturating_sub(span.begin), picture.scale));
        dimension((across.x(span.begin), across.x(span.end)), &words, across, base, sheet);
    }
    sheet.close();
}

/// The length of a span in words whose base is at `y`, with arrows to its ends if there is room for them.
fn dimension((x, end): (i64, i64), words: &str, across: Across, y: i64, sheet: &mut Sheet) {
    let half = text::width(words, SMALL) / 2;
    let middle =
        (i64::midpoint(x, end)).clamp(across.left + half, (across.right() - half).max(across.left + half));
    if end - x > 2 * half + 16 * PX {
        let arrows = format!(
            "M{a} {y}H{b}M{c} {y}H{d}M{a} {y}l4-2.5M{a} {y}l4 2.5M{d} {y}l-4-2.5M{d} {y}l-4 2.5",
            a = px(x + PX),
            b = px(middle - half - 4 * PX),
            c = px(middle + half + 4 * PX),
            d = px(end - PX),
            y = px(y - 3 * PX)
        );
        sheet.path("h", &arrows, " fill='none' stroke='#555555'");
    } else {
        // The lines of its ends go through the words.
        let ground = [middle - half - 2 * PX, y - SMALL * 85 / 100, 2 * half + 4 * PX, SMALL * 110 / 100];
        sheet.rect("n", ground, " fill='#ffffff'", "");
    }
    sheet.words("w", (middle, y), SMALL, "", words);
}

/// What occurs in a picture and needs an entry in the legend.
pub(super) struct LegendEntries {
    /// States with the kind of row in which they occur first.
    pub states: BTreeMap<(State, &'static str), RowKind>,
    pub marks: Vec<MarkKind>,
    merged: bool,
    links: Vec<LinkKind>,
    /// What the span is that the picture was made for.
    span: Option<&'static str>,
    /// Bands of a response are drawn, the first for this.
    band: Option<State>,
}

impl LegendEntries {
    pub fn of(picture: &Picture) -> Self {
        let mut states = BTreeMap::new();
        let (mut merged, mut marks) = (false, Vec::new());
        for row in &picture.rows {
            for run in &row.runs {
                // Merged parts of a response have the colour of most of them.
                let is_merged = run.count > 1 && row.kind != RowKind::Response;
                merged |= is_merged;
                let state = if is_merged { State::Running } else { run.state };
                states.entry((state, style::word(state, row.kind))).or_insert(row.kind);
            }
            marks.extend(row.marks.iter().map(|mark| mark.kind));
        }
        for cause in picture.response.iter().flat_map(|response| &response.causes) {
            let word = style::word(cause.state, RowKind::Response);
            states.entry((cause.state, word)).or_insert(RowKind::Response);
        }
        marks.sort_unstable();
        marks.dedup();
        let mut links: Vec<LinkKind> = picture.links.iter().map(|link| link.kind).collect();
        links.sort_unstable();
        links.dedup();
        let band = picture.response.as_ref().and_then(|response| response.bands.first());
        let span = if picture.response.is_some() { "the response" } else { "what the picture is around" };
        let span = picture.highlight.as_ref().map(|_| span);
        Self { states, marks, merged, links, span, band: band.map(|band| band.state) }
    }
}

/// Draws the sample of an entry on a line.
type Draw = Box<dyn Fn(&mut Sheet, i64, i64)>;

/// The lines of the legend from `y` on; returns where it ends.
pub(super) fn legend(occurring: &LegendEntries, (left, right): (i64, i64), y: i64, sheet: &mut Sheet) -> i64 {
    let (swatch, gap, line) = (22 * PX, 5 * PX, 18 * PX);
    let mut items: Vec<(String, Draw)> = Vec::new();
    let is_there = |state| occurring.states.keys().any(|(other, _)| *other == state);
    // Both look alike, as the response executes where its row runs.
    let is_said = is_there(State::Running);
    for (state, word) in occurring.states.keys().filter(|(state, _)| *state != State::Executes || !is_said) {
        let (class, high) = (format!("s {}", state.as_str()), style::style_of(*state).height);
        let words = match state {
            State::Running if is_there(State::Executes) => {
                format!("{word}, {}", style::word(State::Executes, RowKind::Response))
            }
            _ => (*word).to_owned(),
        };
        items.push((
            words,
            Box::new(move |sheet, x, y| {
                let height = 12 * PX * high / 100;
                sheet.rect(&class, [x, y - height, swatch, height], "", "");
            }),
        ));
    }
    if occurring.merged {
        items.push((
            "many: height is the share that runs".to_owned(),
            Box::new(move |sheet, x, y| {
                sheet.rect("b", [x, y - 12 * PX, swatch, 12 * PX], "", "");
                for (n, height) in (0..).zip([6, 9, 3, 7]) {
                    let bar = [x + n * swatch / 4, y - height * PX, swatch / 4, height * PX];
                    sheet.rect("running", bar, " style='stroke:none'", "");
                }
            }),
        ));
    }
    for kind in &occurring.marks {
        let kind = *kind;
        items.push((
            style::mark_word(kind).to_owned(),
            Box::new(move |sheet, x, y| {
                sheet.mark(kind.as_str(), (x + swatch / 2, y - PX), "", "");
            }),
        ));
    }
    for kind in &occurring.links {
        items.push((
            kind.as_str().to_owned(),
            Box::new(move |sheet, x, y| {
                let x = x + swatch / 2;
                sheet.path("l", &format!("M{} {}v-12", px(x), px(y)), "");
                sheet.path("h", &head((x, y), true), HEAD);
            }),
        ));
    }
    if let Some(words) = occurring.span {
        items.push((
            words.to_owned(),
            Box::new(move |sheet, x, y| {
                sheet.rect("h", [x, y - 12 * PX, swatch, 12 * PX], SPAN, "");
                let ends = format!("M{} {y}v-12M{} {y}v-12", px(x), px(x + swatch), y = px(y));
                sheet.path("h", &ends, ENDS);
            }),
        ));
    }
    if let Some(state) = occurring.band {
        let style_of = style::style_of(state);
        items.push((
            "delays the response".to_owned(),
            Box::new(move |sheet, x, y| {
                let more = format!(" fill='{}' opacity='.45'", style_of.fill);
                sheet.rect("h", [x, y - 12 * PX, swatch, 12 * PX], &more, "");
                sheet.rect("h", [x, y - 3 * PX, swatch, 3 * PX], &format!(" fill='{}'", style_of.edge), "");
            }),
        ));
    }
    if items.is_empty() {
        return y;
    }
    sheet.open("legend", "");
    let (mut x, mut y) = (left, y + line);
    for (words, draw) in items {
        let wide = swatch + gap + text::width(&words, SMALL);
        if x > left && x + wide > right {
            (x, y) = (left, y + line);
        }
        draw(sheet, x, y);
        sheet.words("", (x + swatch + gap, y - 2 * PX), SMALL, "", &words);
        x += wide + 16 * PX;
    }
    sheet.close();
    y + 6 * PX
}

/// Notes below the picture; returns where they end.
pub(super) fn notes(notes: &[String], (left, right): (i64, i64), mut y: i64, sheet: &mut Sheet) -> i64 {
    if notes.is_empty() {
        return y;
    }
    sheet.open("notes", "");
    for note in notes {
        for line in text::lines(note, right - left, SMALL) {
            y += 14 * PX;
            sheet.words("q", (left, y), SMALL, "", &line);
        }
    }
    sheet.close();
    y + 4 * PX
}

/// The horizontal range of the rows: right of the labels.
pub(super) fn across(picture: &Picture, layout: &Layout, margin: i64, width: i64) -> Across {
    let left = margin + layout.labels + GUTTER;
    let width = (width - left - margin - 8 * PX).max(100 * PX);
    Across { left, width, from: picture.from, to: picture.to }
}
