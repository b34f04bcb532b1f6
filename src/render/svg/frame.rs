//! Everything around the rows: title, labels, time axis with its grid, legend, notes. Not their content.

use std::collections::{BTreeMap, HashMap};

use super::layout::{GUTTER, LABEL, Layout, SMALL};
use super::sheet::{Across, PX, Sheet, px};
use super::{style, text};
use crate::picture::{Axis, LinkKind, MarkKind, Picture, RowKind, State, exact};

/// Size of the name of one of several recordings.
const TITLE: i64 = 13 * PX;
/// Minimum room for a label of the time axis.
const TICK: i64 = 84 * PX;

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

/// Lines between rows.
pub(super) fn links(picture: &Picture, layout: &Layout, across: Across, sheet: &mut Sheet) {
    if picture.links.is_empty() {
        return;
    }
    sheet.open("links", "");
    for link in &picture.links {
        let (Some(from), Some(to)) = (layout.places.get(link.from_row), layout.places.get(link.to_row))
        else {
            continue;
        };
        let (a, b) =
            if from.bottom < to.bottom { (from.bottom, to.tracks) } else { (from.tracks, to.bottom) };
        let d = format!("M{} {}L{} {}", px(across.x(link.from_at)), px(a), px(across.x(link.to_at)), px(b));
        let word = link.kind.as_str();
        sheet.path("l", &d, &format!(" data-link='{}' data-at='{}'", word, link.from_at));
    }
    sheet.close();
}

/// The span that the picture was made for: a band over its row, and lines from top to bottom.
pub(super) fn highlight(picture: &Picture, layout: &Layout, across: Across, bottom: i64, sheet: &mut Sheet) {
    let Some(found) = &picture.highlight else { return };
    let Some(place) = layout.places.get(found.row) else { return };
    let (x, end) = (across.x(found.begin), across.x(found.end));
    let band = [x, place.top - PX, (end - x).max(PX), place.bottom - place.top + 3 * PX];
    sheet.open("highlight", "");
    let more = format!(" fill='#fff0b3' data-begin='{}' data-end='{}'", found.begin, found.end);
    sheet.rect("h", band, &more, &found.label);
    let line = |x: i64| format!("M{} {}V{}", px(x), px(layout.top), px(bottom));
    sheet.path(
        "h",
        &format!("{}{}", line(x), line(end)),
        " fill='none' stroke='#b58900' stroke-width='1' stroke-dasharray='6 3'",
    );
    let words = exact(found.end.saturating_sub(found.begin), picture.scale);
    let half = text::width(&words, SMALL) / 2;
    let middle =
        (i64::midpoint(x, end)).clamp(across.left + half, (across.right() - half).max(across.left + half));
    let y = layout.top + 11 * PX;
    if end - x > 2 * half + 16 * PX {
        let arrows = format!(
            "M{a} {y}H{b}M{c} {y}H{d}M{a} {y}l4-2.5M{a} {y}l4 2.5M{d} {y}l-4-2.5M{d} {y}l-4 2.5",
            a = px(x + PX),
            b = px(middle - half - 4 * PX),
            c = px(middle + half + 4 * PX),
            d = px(end - PX),
            y = px(y - 3 * PX)
        );
        sheet.path("h", &arrows, " fill='none' stroke='#8a6900'");
    }
    sheet.words("w", (middle, y), SMALL, "", &words);
    sheet.close();
}

/// What occurs in a picture and needs an entry in the legend.
pub(super) struct LegendEntries {
    /// States with the kind of row in which they occur first.
    pub states: BTreeMap<(State, &'static str), RowKind>,
    pub marks: Vec<MarkKind>,
    merged: bool,
    links: Vec<LinkKind>,
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
        Self { states, marks, merged, links, band: band.map(|band| band.state) }
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
        items.push((
            (*word).to_owned(),
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
                sheet.path("l", &format!("M{} {}v-12", px(x + swatch / 2), px(y)), "");
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
