//! A [`Picture`] as SVG: one file for a browser, for paper, and for tests. Everything is drawn with whole
//! numbers, so that the same picture gives the same bytes everywhere. Not for pixels (see `png`).

mod chart;
mod frame;
mod layout;
mod panel;
mod path;
mod pen;
mod rows;
mod shares;
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
use pen::Pen;
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
    y += frame::above(picture);
    let layout = Layout::new(picture, y);
    let across = frame::across(picture, &layout, MARGIN, width);
    let bottom = layout.bottom.max(y + 20 * PX) + 4 * PX;
    frame::axis(picture, across, (y + 2 * PX, bottom), &mut sheet);
    gaps(picture, &layout, across, bottom, &mut sheet);
    frame::highlight(picture, &layout, across, bottom, &mut sheet);
    path::bands(picture, &layout, across, &mut sheet);
    let drawn_items: usize = picture.rows.iter().map(|row| row.runs.len() + row.marks.len()).sum();
    let colours = colours(picture);
    let pen = Pen { picture, across, dense: drawn_items > MAX_INDIVIDUAL, colours };
    frame::labels(picture, &layout, left, across, &pen.colours, &mut sheet);
    for (row, place) in picture.rows.iter().zip(&layout.places) {
        pen.row(row, *place, &mut sheet);
    }
    frame::links(picture, &layout, across, &mut sheet);
    path::remarks(picture, &layout, across, &mut sheet);
    y = bottom + if options.legend == Legend::Bottom { 34 } else { 26 } * PX;
    y = path::causes(&pen, (left, right), y, &mut sheet);
    if options.legend == Legend::Bottom {
        y = frame::legend(&occurring, (left, right), y - 8 * PX, &mut sheet);
    }
    y = frame::notes(&picture.notes, (left, right), y, &mut sheet);
    let states: std::collections::BTreeSet<_> = occurring.states.keys().map(|(state, _)| *state).collect();
    let states: Vec<_> = states.into_iter().collect();
    let colours: Vec<u16> = picture.colours.iter().map(|(_, colour)| *colour).collect();
    document(
        (&picture.title, &picture.description),
        (width, y + MARGIN / 2),
        (&states, &occurring.marks, &colours),
        &sheet,
    )
}

/// The numbers of the colours of processes, by name.
fn colours(picture: &Picture) -> HashMap<&str, u16> {
    let name = |name: u32| picture.names.get(name as usize).map(String::as_str);
    picture.colours.iter().filter_map(|(id, colour)| Some((name(*id)?, *colour))).collect()
}

/// The document around the drawing.
fn document(
    (title, description): (&str, &str),
    (width, height): (i64, i64),
    (states, marks, colours): (&[State], &[MarkKind], &[u16]),
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
    style::definitions(states, marks, colours, &mut out);
    out.push_str(&format!("\n<path d='M0 0H{width}V{height}H0Z' fill='#ffffff'/>\n"));
    out.push_str(&sheet.out);
    out.push_str("</svg>\n");
    out
}

/// Gaps of a recording are hatched over the rows of their cores, or over all rows; what lies before its begin
/// or after its end is over all of them.
fn gaps(picture: &Picture, layout: &Layout, across: sheet::Across, bottom: i64, sheet: &mut Sheet) {
    for (first, end) in picture.sections() {
        let top_of = |row: usize| layout.places.get(row).map(|place| place.top);
        let heading = picture.rows.get(first).filter(|row| row.kind == RowKind::Recording);
        let below = heading.and(layout.places.get(first)).map(|place| place.bottom);
        let top = below.unwrap_or(layout.top + 2 * PX);
        let end_y = top_of(end).unwrap_or(bottom);
        let rows = picture.rows.get(first..end).unwrap_or_default();
        let of_gaps = rows.iter().filter(|row| matches!(row.kind, RowKind::Trace | RowKind::Recording));
        for gaps in of_gaps.filter(|row| !row.runs.is_empty()) {
            // Rows that follow each other have one band, with the headings between them.
            let blind = |at: usize| rows.get(at).is_some_and(|row| row.is_blind_in(gaps));
            let mut bands: Vec<(i64, i64)> = Vec::new();
            let begin = usize::from(below.is_some());
            for at in (begin..rows.len()).filter(|at| blind(*at)) {
                let Some(place) = layout.places.get(first + at) else { continue };
                let under = if at + 1 == rows.len() { end_y } else { place.bottom + 3 * PX };
                match bands.last_mut() {
                    Some(last) if at > begin && blind(at - 1) => last.1 = under,
                    _ => bands.push((if at == begin { top } else { place.top + PX }, under)),
                }
            }
            for run in &gaps.runs {
                let (x, end_x) = (across.x(run.begin), across.x(run.end));
                for (above, under) in &bands {
                    let band = [x, *above, (end_x - x).max(PX), under - above];
                    sheet.rect("gap", band, " style='stroke:none' opacity='.35'", "");
                }
            }
        }
    }
}
