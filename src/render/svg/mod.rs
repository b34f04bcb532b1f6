//! A [`Picture`] as SVG: one file for a browser, for paper, and for tests. Everything is drawn with whole
//! numbers, so that the same picture gives the same bytes everywhere. Not for pixels (see `png`).

mod chart;
mod frame;
mod layout;
mod rows;
mod sheet;
mod style;
#[cfg(test)]
mod tests;
mod text;

use std::collections::HashMap;

use crate::picture::{MarkKind, Picture, RowKind, State};
use crate::render::markup;
use crate::words::words;
pub use chart::drawn as chart;
use frame::LegendEntries;
use layout::{LABEL, Layout};
use rows::Pen;
use sheet::{PX, Sheet, px};

words! {
    /// Where the legend is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Legend {
        /// Below the title.
        Top = "top",
        /// Below the time axis.
        #[default]
        Bottom = "bottom",
        /// Nowhere.
        None = "none",
    }
}

/// Options for drawing a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawingOptions {
    /// Width in pixels, at least 320.
    pub width: u32,
    /// Where the legend is.
    pub legend: Legend,
}

impl Default for DrawingOptions {
    fn default() -> Self {
        Self { width: 1200, legend: Legend::default() }
    }
}

/// With more runs and marks than this, they are not drawn individually: the file would be too large.
const MAX_INDIVIDUAL: usize = 6_000;
const MARGIN: i64 = 16 * PX;

/// A picture as SVG 1.1 with `href` and `<title>`s of SVG 2.
pub fn drawn(picture: &Picture, options: &DrawingOptions) -> String {
    let width = i64::from(options.width.clamp(320, 20_000)) * PX;
    let occurring = LegendEntries::of(picture);
    let mut sheet = Sheet::default();
    let (left, right) = (MARGIN, width - MARGIN);

    let mut y = MARGIN;
    for line in text::lines(&picture.title, right - left, 15 * PX) {
        y += 18 * PX;
        sheet.words("title", (left, y - 4 * PX), 15 * PX, "", &line);
    }
    for line in text::lines(&picture.description, right - left, LABEL) {
        y += 15 * PX;
        sheet.words("q", (left, y - 3 * PX), LABEL, "", &line);
    }
    if options.legend == Legend::Top {
        y = frame::legend(&occurring, (left, right), y, &mut sheet);
    }
    if picture.highlight.is_some() {
        y += 4 * PX;
    }
    let layout = Layout::new(picture, y);
    let across = frame::across(picture, &layout, MARGIN, width);
    let bottom = layout.bottom.max(y + 20 * PX) + 4 * PX;
    frame::axis(picture, across, (y + 2 * PX, bottom), &mut sheet);
    gaps(picture, across, (y + 2 * PX, bottom), &mut sheet);
    frame::highlight(picture, &layout, across, bottom, &mut sheet);
    let drawn_items: usize = picture.rows.iter().map(|row| row.runs.len() + row.marks.len()).sum();
    let colours = colours(picture);
    let pen = Pen { picture, across, dense: drawn_items > MAX_INDIVIDUAL, colours };
    frame::labels(picture, &layout, left, across, &pen.colours, &mut sheet);
    for (row, place) in picture.rows.iter().zip(&layout.places) {
        pen.row(row, *place, &mut sheet);
    }
    frame::links(picture, &layout, across, &mut sheet);
    y = bottom + if options.legend == Legend::Bottom { 34 } else { 26 } * PX;
    if options.legend == Legend::Bottom {
        y = frame::legend(&occurring, (left, right), y - 8 * PX, &mut sheet);
    }
    y = frame::notes(&picture.notes, (left, right), y, &mut sheet);
    let states: std::collections::BTreeSet<_> = occurring.states.keys().map(|(state, _)| *state).collect();
    let states: Vec<_> = states.into_iter().collect();
    document(
        (&picture.title, &picture.description),
        (width, y + MARGIN / 2),
        &states,
        &occurring.marks,
        &sheet,
    )
}

/// Colours of tasks and ISRs, in the order of their rows, if there are rows of cores, which use them.
fn colours(picture: &Picture) -> HashMap<&str, usize> {
    let process = |row: &&crate::picture::Row| matches!(row.kind, RowKind::Task | RowKind::Isr);
    let rows = picture.rows.iter().filter(process);
    let some = picture.rows.iter().any(|row| row.kind == RowKind::Core);
    rows.zip((0..style::PROCESSES.len()).cycle())
        .filter(|_| some)
        .map(|(row, n)| (row.label.as_str(), n))
        .collect()
}

/// The document around the drawing.
fn document(
    (title, description): (&str, &str),
    (width, height): (i64, i64),
    states: &[State],
    marks: &[MarkKind],
    sheet: &Sheet,
) -> String {
    let mut out = String::with_capacity(sheet.out.len() + 4096);
    let (width, height) = (px(width), px(height));
    out.push_str(&format!(
        "<svg xmlns='http://www.w3.org/2000/svg' class='btfdb' role='img' aria-labelledby='title desc' \
         width='{width}' height='{height}' viewBox='0 0 {width} {height}'>\n<title id='title'>{}</title>\n<desc id='desc'>{}</desc>\n",
        markup::escaped(title),
        markup::escaped(description)
    ));
    style::definitions(states, marks, &mut out);
    out.push_str(&format!("\n<path d='M0 0H{width}V{height}H0Z' fill='#ffffff'/>\n"));
    out.push_str(&sheet.out);
    out.push_str("</svg>\n");
    out
}

/// Gaps of the recording are hatched from top to bottom.
fn gaps(picture: &Picture, across: sheet::Across, (top, bottom): (i64, i64), sheet: &mut Sheet) {
    let rows = picture.rows.iter().filter(|row| row.kind == RowKind::Trace);
    for run in rows.flat_map(|row| &row.runs) {
        let (x, end) = (across.x(run.begin), across.x(run.end));
        let band = [x, top, (end - x).max(PX), bottom - top];
        sheet.rect("gap", band, " style='stroke:none' opacity='.35'", "");
    }
}
