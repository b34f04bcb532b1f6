//! The position of every row of a picture: heights, headings, labels. Not for what is drawn in the rows.

use super::sheet::PX;
use super::{style, text};
use crate::picture::{MarkKind, Picture, Row, RowKind};

pub(super) const LABEL: i64 = 11 * PX;
/// Size of texts in runs, below the axis and in the legend.
pub(super) const SMALL: i64 = 9 * PX + 50;
/// Widest column of labels.
const MAX_LABELS: i64 = 190 * PX;
/// Indentation of a child's label.
const INDENT: i64 = 12 * PX;
/// Space between labels and rows.
pub(super) const GUTTER: i64 = 10 * PX;
/// Height of a heading.
const HEADING: i64 = 20 * PX;
/// Space above the name of one of several recordings.
const SECTION: i64 = 8 * PX;

/// The position of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Top of the room for its marks, above its tracks.
    pub top: i64,
    /// Top of its highest track.
    pub tracks: i64,
    /// Height of a track.
    pub track: i64,
    /// Bottom of its lowest track.
    pub bottom: i64,
    /// Indentation of its label.
    pub indent: i64,
}

impl Place {
    pub fn middle(&self) -> i64 {
        (self.tracks + self.bottom) / 2
    }

    /// Top of a track; 0 is the lowest.
    pub fn track_top(&self, track: u16) -> i64 {
        (self.bottom - (i64::from(track) + 1) * self.track).max(self.tracks)
    }
}

/// All rows and headings from top to bottom.
#[derive(Debug)]
pub(super) struct Layout {
    pub places: Vec<Place>,
    /// Headings, with the position of their text.
    pub headings: Vec<(&'static str, i64)>,
    /// Width of the labels.
    pub labels: i64,
    pub top: i64,
    pub bottom: i64,
}

/// Height of a track of a row.
fn track(row: &Row) -> i64 {
    let height = match row.kind {
        RowKind::Core => 16,
        RowKind::Task | RowKind::Isr if row.tracks > 1 => 10,
        RowKind::Task | RowKind::Isr => 14,
        RowKind::Runnable => 12,
        RowKind::Semaphore => 12,
        RowKind::Event => 8,
        RowKind::Signal | RowKind::Buffer if row.curve.is_none() => 8,
        RowKind::Signal | RowKind::Buffer => 26,
        RowKind::Server => 34,
        RowKind::Stimulus => 3,
        RowKind::Trace => 8,
        RowKind::Recording => 18,
        RowKind::Response => 20,
    };
    height * PX
}

/// Room for marks above the tracks, and for words next to them.
fn marks(row: &Row, has_words: bool) -> i64 {
    match row.marks.is_empty() {
        _ if has_words => 13 * PX,
        true => 4 * PX,
        false if row.marks.iter().all(|m| matches!(m.kind, MarkKind::Read | MarkKind::Write)) => 8 * PX,
        false => 13 * PX,
    }
}

impl Layout {
    /// The rows of a picture from `top` on.
    pub fn new(picture: &Picture, top: i64) -> Self {
        let mut places = Vec::with_capacity(picture.rows.len());
        let mut headings = Vec::new();
        let (mut y, mut last) = (top, None);
        let mut widest = 0;
        let remarks = || picture.response.iter().flat_map(|response| &response.remarks);
        for (at, row) in picture.rows.iter().enumerate() {
            let depth = i64::try_from(picture.depth(row)).unwrap_or(0);
            let heading = style::heading(row.kind);
            if row.kind == RowKind::Recording {
                y += SECTION;
                last = None;
            } else if depth == 0 && last != Some(heading) {
                y += HEADING;
                headings.push((heading, y - 6 * PX));
                widest = widest.max(text::width(heading, SMALL));
                last = Some(heading);
            }
            let tracks = y + marks(row, remarks().any(|remark| remark.row == at));
            let bottom = tracks + track(row) * i64::from(row.tracks);
            places.push(Place { top: y, tracks, track: track(row), bottom, indent: depth * INDENT });
            widest = widest.max(text::width(&row.label, LABEL) + depth * INDENT);
            y = bottom + 5 * PX;
        }
        Self { places, headings, labels: widest.min(MAX_LABELS), top, bottom: y }
    }
}
