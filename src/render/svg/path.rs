//! The path of a response: words on its parts, bands in the rows of those that delay it, and a table of its
//! causes. Not the bars of the parts (see `rows`).

use std::collections::BTreeMap;

use super::layout::{LABEL, Layout, Place, SMALL};
use super::pen::{Pen, boxes};
use super::sheet::{Across, PX, Sheet, px};
use super::{style, text};
use crate::picture::{Cause, Picture, Row, Run, State, exact};

/// So many causes are listed, the longest; their numbers are on the parts.
const LISTED: usize = 12;
/// With more bands than this, those of a row are one path.
const MAX_INDIVIDUAL: usize = 1000;
/// Above the table of causes: the first of these that fits.
const HEADINGS: [&str; 2] = [
    "What the response is made of; a number stands in a part without room for its words",
    "What the response is made of",
];
/// Space between two columns of the table.
const SPACE: i64 = 12 * PX;

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

/// The words on the parts of a response: the first of these that fits is what they are and how long, what
/// they are, and the number of their cause.
pub(super) fn words(pen: &Pen<'_>, row: &Row, place: Place, sheet: &mut Sheet) {
    let Some(response) = &pen.picture.response else { return };
    for run in row.runs.iter().filter(|run| run.count == 1) {
        let (x, width) = pen.span(run);
        let label = pen.name(run.name);
        let duration = exact(run.end.saturating_sub(run.begin), pen.picture.scale);
        let number = response.cause_of(run.state, run.name).filter(|cause| *cause < LISTED);
        let number = number.map(|cause| (cause + 1).to_string());
        let choices = [(Some(format!("{label}, {duration}")), 8), (Some(label.to_owned()), 8), (number, 2)];
        let fits = |(words, margin): (Option<String>, i64)| {
            words.filter(|words| !words.is_empty() && text::width(words, SMALL) + margin * PX <= width)
        };
        let Some(words) = choices.into_iter().find_map(fits) else { continue };
        on_ground(run, &words, (x + width / 2, place.middle() + SMALL * 35 / 100), sheet);
    }
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
pub(super) fn causes(picture: &Picture, (left, right): (i64, i64), mut y: i64, sheet: &mut Sheet) -> i64 {
    let Some(response) = &picture.response else { return y };
    let cells: Vec<[String; 3]> = response.causes.iter().take(LISTED).map(|c| cells(c, picture)).collect();
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
    let fits = |words: &&str| text::width(words, LABEL) <= right - left;
    if let Some(words) = HEADINGS.into_iter().find(fits).or(HEADINGS.last().copied()) {
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

/// Share, duration and number of parts.
fn cells(cause: &Cause, picture: &Picture) -> [String; 3] {
    let share = format!("{}.{} %", cause.permille / 10, cause.permille % 10);
    let times = if cause.count == 1 { String::new() } else { format!("{} times", cause.count) };
    [share, exact(cause.length, picture.scale), times]
}
