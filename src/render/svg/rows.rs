//! The content of rows: runs as bars, marks above them, curves. A small number is drawn individually, each
//! with its times as a tooltip; many are one path per state. Not for the position of the row.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::layout::{Place, SMALL};
use super::pen::{Pen, boxes};
use super::sheet::{PX, Sheet, px};
use super::{path, style, text};
use crate::picture::{Curve, Mark, Row, RowKind, Run, SHADES, Shape, State, shades};
use crate::render::markup;

/// The key of a path: merged runs, their running parts, or exact runs; track; state; height or colour.
type Layer = (u8, u16, State, i64);

impl Pen<'_> {
    /// The runs, marks and curve of a row.
    pub fn row(&self, row: &Row, place: Place, sheet: &mut Sheet) {
        let count: u64 = row.runs.iter().map(|run| u64::from(run.count)).sum();
        let more = format!(" data-row='{}' data-count='{count}'", markup::escaped(&row.id));
        sheet.open(&format!("row {}", row.kind.as_str()), &more);
        if row.kind == RowKind::Recording {
            // Its name is a label, and where it has not begun or has ended is hatched.
            return sheet.close();
        }
        let base = format!("M{} {}H{}", px(self.across.left), px(place.bottom), px(self.across.right()));
        sheet.path("f", &base, "");
        if let Some(curve) = &row.curve {
            self.curve(curve, place, sheet);
        }
        if self.dense {
            self.many(row, place, sheet);
        } else {
            row.runs.iter().for_each(|run| self.run(row, run, place, sheet));
        }
        // A curve is labelled with its values instead.
        match row.kind {
            RowKind::Response => path::words(self, row, place, sheet),
            _ if row.curve.is_none() => self.words(row, place, sheet),
            _ => {}
        }
        self.marks(row, place, sheet);
        sheet.close();
    }

    /// The colour of what runs on a core.
    fn colour(&self, row: &Row, run: &Run) -> Option<u16> {
        let plain = row.kind == RowKind::Core && run.state == State::Running;
        self.colours.get(self.name(run.name)).copied().filter(|_| plain)
    }

    fn run_tooltip(&self, row: &Row, run: &Run) -> String {
        let state = style::word(run.state, row.kind);
        let name = self.name(run.name);
        let number = run.instance.map(|n| format!("[{n}]")).unwrap_or_default();
        // In the row of a process, the number is its own, and the name that of its core.
        let (label, number) = match row.kind {
            RowKind::Task | RowKind::Isr => (format!("{}{number}", row.label), String::new()),
            _ => (row.label.clone(), number),
        };
        let whose = format!("{name}{number}");
        let whose = if whose.is_empty() { whose } else { format!(" ({whose})") };
        let times = format!("{} – {}", self.time(run.begin), self.time(run.end));
        if run.count == 1 {
            let ticks = self.length(run.end.saturating_sub(run.begin));
            return match self.part(row, run) {
                Some(part) => format!("{label}: {part}, {times}, {ticks}"),
                None => format!("{label}: {state}{whose}, {times}, {ticks}"),
            };
        }
        if row.kind == RowKind::Response {
            let (longest, at) = (self.length(run.longest), self.time(run.longest_at));
            return format!(
                "{}: {} parts, {times}, mostly {state}, longest {longest}{whose} at {at}",
                row.label, run.count
            );
        }
        let window = run.end.saturating_sub(run.begin).max(1);
        let permille = i128::from(run.occupied) * 1000 / i128::from(window);
        format!(
            "{}: {} stretches, {times}, occupied {}.{} %, longest {}{whose} at {}",
            row.label,
            run.count,
            permille / 10,
            permille % 10,
            self.length(run.longest),
            self.time(run.longest_at)
        )
    }

    /// What a part of a response is, and how long after the begin of the response it begins, as in a text.
    fn part(&self, row: &Row, run: &Run) -> Option<String> {
        let response = self.picture.response.as_ref().filter(|_| row.kind == RowKind::Response)?;
        let cause = response.causes.get(response.cause_of(run.state, run.name)?)?;
        let begin = row.runs.first().map_or(run.begin, |first| first.begin);
        Some(format!("{}, +{}", cause.words, self.length(run.begin.saturating_sub(begin))))
    }

    fn run(&self, row: &Row, run: &Run, place: Place, sheet: &mut Sheet) {
        let (x, width) = self.span(run);
        let top = place.track_top(run.track);
        let data = format!(" data-begin='{}' data-end='{}' data-count='{}'", run.begin, run.end, run.count);
        if run.count > 1 && row.kind != RowKind::Response {
            sheet.rect("b", [x, top, width, place.track], &data, &self.run_tooltip(row, run));
            let height = place.track * i64::try_from(shades(run).1).unwrap_or(0) / SHADES as i64;
            if height > 0 {
                let class = if row.kind == RowKind::Trace { "gap" } else { "running" };
                let bar = [x, top + place.track - height, width, height];
                sheet.rect(class, bar, " style='stroke:none' pointer-events='none'", "");
            }
            return;
        }
        let height = place.track * style::style_of(run.state).height / 100;
        let bar = [x, top + place.track - height, width, height];
        let class = match self.colour(row, run) {
            Some(n) => format!("s p{n}"),
            None => format!("s {}", run.state.as_str()),
        };
        sheet.rect(&class, bar, &data, &self.run_tooltip(row, run));
    }

    /// All runs as a small number of paths: those of one state and height are one thick line.
    fn many(&self, row: &Row, place: Place, sheet: &mut Sheet) {
        // On a core, the process says more than the state.
        let mut paths: BTreeMap<Layer, Vec<(i64, i64)>> = BTreeMap::new();
        for run in &row.runs {
            let span = self.span(run);
            if run.count > 1 && row.kind != RowKind::Response {
                let shade = i64::try_from(shades(run).1).unwrap_or(0);
                paths.entry((0, run.track, State::Ready, SHADES as i64)).or_default().push(span);
                if shade > 0 {
                    paths.entry((1, run.track, State::Running, shade)).or_default().push(span);
                }
            } else {
                let colour = self.colour(row, run).map_or(0, |n| i64::from(n) + 1);
                paths.entry((2, run.track, run.state, colour)).or_default().push(span);
            }
        }
        for ((layer, track, state, shade), spans) in paths {
            let top = place.track_top(track);
            let height = match layer {
                2 => place.track * style::style_of(state).height / 100,
                _ => place.track * shade / SHADES as i64,
            };
            if layer == 2 {
                let d = boxes(&spans, top + place.track - height, height);
                let class =
                    if shade > 0 { format!("s p{}", shade - 1) } else { format!("s {}", state.as_str()) };
                sheet.path(&class, &d, "");
                continue;
            }
            let d = dashes(&spans, top + place.track - height / 2);
            let class = if layer == 0 { "behind" } else { "bar" };
            sheet.path(class, &d, &format!(" stroke-width='{}'", px(height)));
        }
    }

    /// The names in runs that have room for them.
    fn words(&self, row: &Row, place: Place, sheet: &mut Sheet) {
        for run in row.runs.iter().filter(|run| run.count == 1) {
            let style_of = style::style_of(run.state);
            let (x, width) = self.span(run);
            let (name, room) = (self.name(run.name), width - 4 * PX);
            let size = SMALL.min(place.track - 2 * PX);
            if name.is_empty() || style_of.height < 100 || size < 7 * PX {
                continue;
            }
            // The causes of a response are of instances.
            let is_path = row.kind == RowKind::Core && self.picture.response.is_some();
            let numbered = run.instance.filter(|_| is_path).map(|n| format!("{name}[{n}]"));
            // A shortened name would say little.
            let words = match numbered.filter(|words| text::width(words, size) <= room) {
                Some(words) => words,
                None if text::width(name, size) <= room => name.to_owned(),
                None if room > 40 * PX => text::fitted(name, room, size),
                None => continue,
            };
            let y = place.track_top(run.track) + place.track / 2 + size * 35 / 100;
            let (fill, pattern, ink) = match self.colour(row, run).map(style::style_of_process) {
                Some(process) => (process.fill, process.pattern, process.words),
                None => (style_of.fill, style_of.pattern, style_of.words),
            };
            if pattern != style::Pattern::Plain {
                // On a background of its own, because text on a pattern cannot be read.
                let wide = text::width(&words, size) + 3 * PX;
                let ground = [x + width / 2 - wide / 2, y - size * 85 / 100, wide, size * 110 / 100];
                sheet.rect("n", ground, &format!(" fill='{fill}' pointer-events='none'"), "");
            }
            let _ = write!(
                sheet.out,
                "<text class='w' x='{}' y='{}' font-size='{}' style='fill:{ink}'>{}</text>",
                px(x + width / 2),
                px(y),
                px(size),
                markup::escaped(&words)
            );
        }
    }

    /// Draws marks above the tracks; frequent ones that are not rare kinds are short lines.
    fn marks(&self, row: &Row, place: Place, sheet: &mut Sheet) {
        let room = 6 * PX;
        let mut of_kind: BTreeMap<_, Vec<&Mark>> = BTreeMap::new();
        row.marks.iter().for_each(|mark| of_kind.entry(mark.kind).or_default().push(mark));
        for (kind, marks) in of_kind {
            let near = |pair: &[&Mark]| self.across.x(pair[1].at) - self.across.x(pair[0].at) < room;
            let crowded = marks.windows(2).filter(|pair| near(pair)).count();
            if !kind.is_rare() && (crowded * 3 > marks.len() || self.dense && marks.len() > 200) {
                let mut d = String::new();
                let mut last = 0;
                for mark in &marks {
                    let x = self.across.x(mark.at);
                    // Lines within a pixel are merged.
                    if d.is_empty() || x - last >= PX {
                        let _ = write!(d, "M{} {}v4", px(x), px(place.tracks - 5 * PX));
                        last = x;
                    }
                }
                let count: u64 = marks.iter().map(|mark| u64::from(mark.count)).sum();
                let more = format!(
                    " data-mark='{}' data-count='{count}' stroke='#222222' stroke-width='.7'",
                    kind.as_str()
                );
                sheet.path("k", &d, &more);
                continue;
            }
            for mark in marks {
                let place = (self.across.x(mark.at), place.tracks);
                let more = format!(
                    " class='k' data-mark='{}' data-at='{}' data-count='{}'",
                    kind.as_str(),
                    mark.at,
                    mark.count
                );
                sheet.mark(kind.as_str(), place, &more, &self.mark_tooltip(row, mark));
            }
        }
    }

    fn mark_tooltip(&self, row: &Row, mark: &Mark) -> String {
        let (word, name) = (style::mark_word(mark.kind), self.name(mark.name));
        let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
        match mark.count {
            1 => format!("{}: {word}{name}, {}", row.label, self.time(mark.at)),
            n => format!(
                "{}: {n} × {word}, {} – {}; first{name}",
                row.label,
                self.time(mark.at),
                self.time(mark.last)
            ),
        }
    }

    /// Draws a number over time; the axis covers its range, or 0 to its limit.
    fn curve(&self, curve: &Curve, place: Place, sheet: &mut Sheet) {
        let values = || curve.points.iter().flat_map(|p| [p.least, p.greatest]);
        let least = values().fold(if curve.limit.is_some() { 0.0 } else { f64::INFINITY }, f64::min);
        let most = values().fold(curve.limit.unwrap_or(f64::NEG_INFINITY), f64::max);
        let height = place.bottom - place.tracks - 2 * PX;
        let y = |value: f64| {
            let share = if most > least { (value - least) / (most - least) } else { 0.5 };
            place.bottom - PX - (share * height as f64).round() as i64
        };
        let mut d = String::new();
        let mut last: Option<f64> = None;
        for point in &curve.points {
            let (x, at) = (px(self.across.x(point.at)), |value| px(y(value)));
            if point.least.is_nan() {
                // It is not known from here on.
                if last.take().is_some() {
                    let _ = write!(d, "H{x}");
                }
                continue;
            }
            // The first of several values is unknown: taken to be the extreme farther away from the last one.
            let first = if point.value == point.greatest { point.least } else { point.greatest };
            let _ = match (last, curve.shape) {
                (None, _) => write!(d, "M{x} {}", at(first)),
                (Some(_), Shape::Steps) => write!(d, "H{x}V{}", at(first)),
                (Some(_), Shape::Lines) => write!(d, "L{x} {}", at(first)),
            };
            if point.count > 1 {
                let _ = write!(d, "V{}V{}", at(point.least), at(point.greatest));
            }
            last = Some(point.value).filter(|value| !value.is_nan());
            if let Some(value) = last.filter(|_| point.count > 1) {
                let _ = write!(d, "V{}", at(value));
            }
        }
        if curve.shape == Shape::Steps && last.is_some() {
            let _ = write!(d, "H{}", px(self.across.right()));
        }
        if curve.shape == Shape::Lines
            && let (Some(first), Some(last)) = (curve.points.first(), curve.points.last())
        {
            // The remaining budget is an area down to 0, and may be below 0.
            let base = px(y(0.0f64.clamp(least, most.max(least))));
            let area = format!("{d}V{base}H{}Z", px(self.across.x(first.at)));
            sheet.path("area", &area, " fill='#dfe4ec'");
            let end = format!("M{} {base}H{}", px(self.across.x(first.at)), px(self.across.x(last.at)));
            sheet.path("f", &end, "");
        }
        if let Some(limit) = curve.limit {
            let line = format!("M{} {}H{}", px(self.across.left), px(y(limit)), px(self.across.right()));
            sheet.path("l", &line, "");
            let words = match curve.unit == self.picture.scale.as_str() {
                true => self.length(limit.round() as i64),
                false => format!("{limit}"),
            };
            sheet.words("q", (self.across.right(), y(limit) + 9 * PX), 8 * PX, "end", &words);
        }
        let count: u64 = curve.points.iter().map(|point| u64::from(point.count)).sum();
        let more = format!(" data-count='{count}' fill='none' stroke='#2f4d70' stroke-width='1.2'");
        sheet.path("c", &d, &more);
        self.values(curve, place, &y, sheet);
    }

    /// The values on steps that have room for them.
    fn values(&self, curve: &Curve, place: Place, y: &dyn Fn(f64) -> i64, sheet: &mut Sheet) {
        let ends = curve.points.iter().skip(1).map(|p| p.at).chain([self.across.to]);
        for (point, end) in curve.points.iter().zip(ends) {
            let (x, end) = (self.across.x(point.at), self.across.x(end));
            let words =
                format!("{}{}{}", point.value, if curve.unit.is_empty() { "" } else { " " }, curve.unit);
            let known = curve.shape == Shape::Steps && !point.value.is_nan();
            if known && text::width(&words, 8 * PX) + 5 * PX <= end - x {
                let line = y(point.value);
                // Below the line if there is no room above it.
                let base = if line - place.tracks < 10 * PX { line + 9 * PX } else { line - 2 * PX };
                let at = (x + 3 * PX, base);
                sheet.words("q", at, 8 * PX, "", &words);
            }
        }
    }
}

/// Lines at one height, in relative coordinates and tenths of a pixel: the shortest notation.
fn dashes(spans: &[(i64, i64)], y: i64) -> String {
    let tenth = |length: i64| (length + 5) / 10 * 10;
    let mut d = String::new();
    let mut at = 0;
    for (n, (x, width)) in spans.iter().enumerate() {
        let (begin, end) = (tenth(*x), tenth(x + width).max(tenth(*x) + 10));
        let _ = match n {
            0 => write!(d, "M{} {}h{}", px(begin), px(y), px(end - begin)),
            // A span that touches the last one extends it.
            _ if begin <= at => match end > at {
                true => write!(d, "h{}", px(end - at)),
                false => Ok(()),
            },
            _ => write!(d, "m{} 0h{}", px(begin - at), px(end - begin)),
        };
        at = if n == 0 { end } else { at.max(end) };
    }
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_touch_are_one() {
        assert_eq!(dashes(&[(1000, 100), (1100, 200), (2000, 70), (2010, 10)], 500), "M10 5h1h2m7 0h.7");
        assert_eq!(dashes(&[], 500), "");
        assert_eq!(boxes(&[(100, 150)], 0, 200), "M1 0h1.5v2h-1.5z");
    }
}
