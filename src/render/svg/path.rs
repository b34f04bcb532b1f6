//! The path of a response: words on its parts, bands in the rows of those that delay it, and a table of its
//! causes. Not the bars of the parts (see `rows`).

use std::collections::BTreeMap;

use super::layout::{LABEL, Layout, Place, SMALL};
use super::pen::{Pen, boxes};
use super::sheet::{Across, PX, Sheet, px};
use super::{style, text};
use crate::picture::{Cause, Picture, Response, Row, RowKind, Run, State, exact};

/// So many causes are listed, the longest; their numbers are on the parts.
const LISTED: usize = 12;
/// With more bands than this, those of a row are one path.
const MAX_INDIVIDUAL: usize = 1000;
/// Above the table of causes: the first of these that fits; without numbers, the second.
const HEADINGS: [&str; 2] = [
    "What the response is made of; a number stands in or above a part without room for its words",
    "What the response is made of",
];
/// Space between two columns of the table.
const SPACE: i64 = 12 * PX;
/// Size of the numbers above parts.
const TINY: i64 = 7 * PX;

/// A band behind each span in which somebody delays the response, and a line under it.
pub(super) fn bands(picture: &Picture, layout: &Layout, across: Across, sheet: &mut Sheet) {
    let Some(response) = picture.response.as_ref().filter(|response| !response.bands.is_empty()) else {
        return;
    };
    sheet.open("path", "");
    let mut many: BTreeMap<(usize, State), Vec<(i64, i64)>> = BTreeMap::new();
    for band in &response.bands {
        let Some(place) = layout.places.get(band.row) else { continue };
        let (x, end) = (across.x(band.begin), across.x(band.end));
        let width = (end - x).max(PX);
        if response.bands.len() > MAX_INDIVIDUAL {
            many.entry((band.row, band.state)).or_default().push((x, width));
            continue;
        }
        let style_of = style::style_of(band.state);
        let data = format!(
            " data-path='{}' data-begin='{}' data-end='{}'",
            band.state.as_str(),
            band.begin,
            band.end
        );
        let more = format!("{data} fill='{}' opacity='.45'", style_of.fill);
        sheet.rect("h", [x, place.top, width, place.bottom - place.top + 4 * PX], &more, "");
        let more = format!(" fill='{}'", style_of.edge);
        sheet.rect("h", [x, place.bottom + PX, width, 3 * PX], &more, "");
    }
    for ((row, state), spans) in many {
        let Some(place) = layout.places.get(row) else { continue };
        let style_of = style::style_of(state);
        let more = format!(" data-path='{}' fill='{}' opacity='.45'", state.as_str(), style_of.fill);
        sheet.path("h", &boxes(&spans, place.top, place.bottom - place.top + 4 * PX), &more);
        sheet.path("h", &boxes(&spans, place.bottom + PX, 3 * PX), &format!(" fill='{}'", style_of.edge));
    }
    sheet.close();
}

/// What is written on a part of a response.
enum Said {
    /// What it is, and how long if there is room for that.
    Words(String),
    /// The number of its cause, as there is no room for words.
    Number(String),
}

/// The first of these that fits: what the part is and how long, what it is, and the number of its cause.
fn said(pen: &Pen<'_>, response: &Response, run: &Run) -> Option<Said> {
    let (label, width) = (pen.name(run.name), pen.span(run).1);
    let duration = exact(run.end.saturating_sub(run.begin), pen.picture.scale);
    let fits = |words: &String| !words.is_empty() && text::width(words, SMALL) + 8 * PX <= width;
    if let Some(words) = [format!("{label}, {duration}"), label.to_owned()].into_iter().find(fits) {
        return Some(Said::Words(words));
    }
    let cause = response.cause_of(run.state, run.name).filter(|cause| *cause < LISTED)?;
    Some(Said::Number((cause + 1).to_string()))
}

/// The words on the parts of a response. A number goes above a part that is too narrow for it.
pub(super) fn words(pen: &Pen<'_>, row: &Row, place: Place, sheet: &mut Sheet) {
    let Some(response) = &pen.picture.response else { return };
    let mut free = i64::MIN;
    for run in row.runs.iter().filter(|run| run.count == 1) {
        let (x, width) = pen.span(run);
        let middle = x + width / 2;
        let inside = (middle, place.middle() + SMALL * 35 / 100);
        let number = match said(pen, response, run) {
            Some(Said::Number(number)) if text::width(&number, SMALL) + 2 * PX > width => number,
            Some(Said::Words(words) | Said::Number(words)) => {
                on_ground(run, &words, inside, sheet);
                continue;
            }
            None => continue,
        };
        // Of numbers that would touch each other, the first; on white, as lines go from row to row.
        let wide = text::width(&number, TINY) + 2 * PX;
        let (begin, base) = (middle - wide / 2, place.tracks - PX);
        if begin >= free {
            let ground = [begin, base - TINY * 80 / 100, wide, TINY * 90 / 100];
            sheet.rect("n", ground, " fill='#ffffff' pointer-events='none'", "");
            sheet.words("w", (middle, base), TINY, "", &number);
            free = begin + wide;
        }
    }
}

/// Words next to instants of the response, right of them or left, where they touch no mark and no other
/// words.
pub(super) fn remarks(picture: &Picture, layout: &Layout, across: Across, sheet: &mut Sheet) {
    let Some(response) = picture.response.as_ref().filter(|response| !response.remarks.is_empty()) else {
        return;
    };
    sheet.open("remarks", "");
    // Half the width of a mark, and some space.
    let half = 6 * PX;
    let (mut last_row, mut free) = (usize::MAX, i64::MIN);
    for remark in &response.remarks {
        let (Some(row), Some(place)) = (picture.rows.get(remark.row), layout.places.get(remark.row)) else {
            continue;
        };
        if remark.row != last_row {
            (last_row, free) = (remark.row, i64::MIN);
        }
        let (x, wide) = (across.x(remark.at), text::width(&remark.words, SMALL));
        // Where marks before it end, and those after it begin.
        let marks = row.marks.iter().map(|mark| across.x(mark.at));
        let before = marks.clone().filter(|at| *at < x - half).map(|at| at + half).max();
        let after = marks.filter(|at| *at > x + half).map(|at| at - half).min();
        let before = before.unwrap_or(across.left).max(free);
        let after = after.unwrap_or(across.right());
        let begin = if x + half >= before && x + half + wide <= after {
            x + half
        } else if x - half - wide >= before {
            x - half - wide
        } else {
            continue;
        };
        sheet.words("", (begin, place.tracks - 3 * PX), SMALL, "", &remark.words);
        free = begin + wide + half;
    }
    sheet.close();
}

/// Words in the middle of a part; on a pattern, with a ground of their own.
fn on_ground(run: &Run, words: &str, (middle, y): (i64, i64), sheet: &mut Sheet) {
    let style_of = style::style_of(run.state);
    if style_of.pattern != style::Pattern::Plain {
        let wide = text::width(words, SMALL) + 3 * PX;
        let ground = [middle - wide / 2, y - SMALL * 85 / 100, wide, SMALL * 110 / 100];
        sheet.rect("n", ground, &format!(" fill='{}' pointer-events='none'", style_of.fill), "");
    }
    let ink = format!("w i-{}", run.state.as_str());
    sheet.words(&ink, (middle, y), SMALL, "", words);
}

/// The causes of the response, a line for each, from `y` on; returns where they end.
pub(super) fn causes(pen: &Pen<'_>, (left, right): (i64, i64), mut y: i64, sheet: &mut Sheet) -> i64 {
    let picture = pen.picture;
    let Some(response) = &picture.response else { return y };
    let is_only = response.causes.len() == 1;
    let cells: Vec<[String; 3]> =
        response.causes.iter().take(LISTED).map(|cause| cells(cause, is_only, picture)).collect();
    let widest =
        |at: usize| cells.iter().filter_map(|row| row.get(at)).map(|cell| text::width(cell, SMALL)).max();
    let swatch = 24 * PX;
    let mut edge = left + swatch;
    let ends: Vec<i64> = (0..3)
        .map(|at| {
            edge += widest(at).filter(|wide| *wide > 0).map_or(0, |wide| SPACE + wide);
            edge
        })
        .collect();
    sheet.open("causes", "");
    y += 18 * PX;
    let parts = picture.rows.iter().filter(|row| row.kind == RowKind::Response).flat_map(|row| &row.runs);
    let is_numbered = parts
        .filter(|run| run.count == 1)
        .any(|run| matches!(said(pen, response, run), Some(Said::Number(_))));
    let mut headings = HEADINGS.into_iter().skip(usize::from(!is_numbered));
    let fits = |words: &&str| text::width(words, LABEL) <= right - left;
    if let Some(words) = headings.find(fits).or(HEADINGS.last().copied()) {
        sheet.words("", (left, y - 3 * PX), LABEL, "", words);
    }
    for (number, (cause, cells)) in (1..).zip(response.causes.iter().zip(&cells)) {
        y += 17 * PX;
        let (state, word) = (style::style_of(cause.state), cause.state.as_str());
        let more = format!(" data-cause='{word}' data-length='{}'", cause.length);
        sheet.rect(&format!("s {word}"), [left, y - 13 * PX, swatch, 14 * PX], &more, "");
        let words = format!("{number}");
        let at = (left + swatch / 2, y - 3 * PX);
        if state.pattern != style::Pattern::Plain {
            let wide = text::width(&words, SMALL) + 3 * PX;
            let ground = [at.0 - wide / 2, at.1 - SMALL * 85 / 100, wide, SMALL * 110 / 100];
            sheet.rect("n", ground, &format!(" fill='{}'", state.fill), "");
        }
        sheet.words(&format!("w i-{word}"), at, SMALL, "", &words);
        for (cell, end) in cells.iter().zip(&ends).filter(|(cell, _)| !cell.is_empty()) {
            sheet.words("q", (*end, y - 3 * PX), SMALL, "end", cell);
        }
        let begin = edge + SPACE;
        let words = text::fitted(&cause.words, right - begin, SMALL);
        sheet.words("", (begin, y - 3 * PX), SMALL, "", &words);
    }
    let others = response.causes.get(LISTED..).unwrap_or_default();
    if !others.is_empty() {
        let ticks = others.iter().fold(0i64, |sum, cause| sum.saturating_add(cause.length));
        let words = format!("and {} causes more, {} together", others.len(), exact(ticks, picture.scale));
        let words = text::fitted(&words, right - edge - SPACE, SMALL);
        y += 17 * PX;
        sheet.words("q", (edge + SPACE, y - 3 * PX), SMALL, "", &words);
    }
    let line = format!("M{} {}H{}", px(left), px(y + 5 * PX), px(right));
    sheet.path("g", &line, "");
    sheet.close();
    y + 18 * PX
}

/// Share, duration and number of parts. Rounded, a share is not that of nothing or of all.
fn cells(cause: &Cause, is_only: bool, picture: &Picture) -> [String; 3] {
    let share = match cause.permille {
        0 if cause.length > 0 => "< 0.1 %".to_owned(),
        1000.. if !is_only => "> 99.9 %".to_owned(),
        permille => format!("{}.{} %", permille / 10, permille % 10),
    };
    let times = if cause.count == 1 { String::new() } else { format!("{} times", cause.count) };
    [share, exact(cause.length, picture.scale), times]
}
