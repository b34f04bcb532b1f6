//! What drawing a row and drawing a path share: names, times, positions, boxes. Not for what is drawn
//! (see `rows`, `path`).

use std::collections::HashMap;
use std::fmt::Write as _;

use super::sheet::{Across, px};
use crate::picture::{Picture, Run, exact};

/// Settings for drawing rows.
pub(super) struct Pen<'a> {
    pub picture: &'a Picture,
    pub across: Across,
    /// There is too much for a tooltip on each run.
    pub dense: bool,
    /// Colours of processes with a row of their own, by name.
    pub colours: HashMap<&'a str, u16>,
}

/// Minimum width of anything drawn.
const THIN: i64 = 70;

impl Pen<'_> {
    pub fn name(&self, name: Option<u32>) -> &str {
        name.and_then(|n| self.picture.names.get(n as usize)).map(String::as_str).unwrap_or_default()
    }

    pub fn time(&self, at: i64) -> String {
        exact(at, self.picture.scale)
    }

    pub fn length(&self, ticks: i64) -> String {
        exact(ticks, self.picture.scale)
    }

    /// The position and width of a run; it is wide enough to be visible.
    pub fn span(&self, run: &Run) -> (i64, i64) {
        let (x, end) = (self.across.x(run.begin), self.across.x(run.end));
        let width = (end - x).max(THIN);
        (x.min(self.across.right() - width), width)
    }
}

/// Boxes between two heights, one path.
pub(super) fn boxes(spans: &[(i64, i64)], top: i64, height: i64) -> String {
    let mut d = String::new();
    for (x, width) in spans {
        let (width, height) = (px(*width), px(height));
        let _ = write!(d, "M{} {}h{width}v{height}h-{width}z", px(*x), px(top));
    }
    d
}
