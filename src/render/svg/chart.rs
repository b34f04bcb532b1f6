//! A [`Chart`] as SVG, in the style of the timelines. Not for what is computed.

use std::fmt::Write as _;

use super::layout::{LABEL, SMALL};
use super::panel::{Frame, HEIGHT, height, round_up};
use super::sheet::{Across, PX, Sheet, px};
use super::{shares, text};
use crate::picture::{Axis, Bar, Chart, Column, Content, Measure, exact};
use crate::render::markup;

const MARGIN: i64 = 16 * PX;
/// Room for the labels of the values.
const LEFT: i64 = 86 * PX;

/// The chart as one SVG, `width` pixels wide.
pub fn drawn(chart: &Chart, width: u32) -> String {
    let width = i64::from(width.clamp(320, 20_000)) * PX;
    let (left, right) = (MARGIN, width - MARGIN);
    let mut sheet = Sheet::default();
    let mut y = MARGIN;
    for line in text::lines(&chart.title, right - left, 15 * PX) {
        y += 18 * PX;
        sheet.words("title", (left, y - 4 * PX), 15 * PX, "", &line);
    }
    for line in text::lines(&chart.description, right - left, LABEL) {
        y += 15 * PX;
        sheet.words("q", (left, y - 3 * PX), LABEL, "", &line);
    }
    if chart.panels.is_empty() && chart.notes.is_empty() {
        y += 30 * PX;
        sheet.words("", (left, y), LABEL, "", "There are no samples.");
    }
    // Above the panels: of many, the end is far away.
    if chart.panels.iter().any(|panel| matches!(panel.content, Content::Spread { .. })) {
        y = legend(left, y, &mut sheet);
    }
    let contents: Vec<&Content> = chart.panels.iter().map(|panel| &panel.content).collect();
    y = shares::legend(&contents, (left, right), y, &mut sheet);
    for panel in &chart.panels {
        let across = Across { left: left + LEFT, width: right - left - LEFT - 10 * PX, from: 0, to: 1 };
        sheet.open("panel", &format!(" data-panel='{}'", markup::escaped(&panel.title)));
        y += 24 * PX;
        let title = text::fitted(&panel.title, right - left, LABEL);
        sheet.words("", (left, y), LABEL, "", &title);
        let begin = left + text::width(&title, LABEL) + 10 * PX;
        let summary = text::fitted(&panel.summary, right - begin, SMALL);
        sheet.words("q", (begin, y), SMALL, "", &summary);
        let frame = Frame { panel, scale: chart.scale, across, top: y + 14 * PX };
        match &panel.content {
            Content::Histogram(bars) => frame.histogram(bars, &mut sheet),
            Content::Spread { from, to, columns } => frame.spread((*from, *to), columns, &mut sheet),
            Content::Steps { from, to, steps } => frame.steps((*from, *to), steps, &mut sheet),
            Content::Exceedance(exceedance) => frame.exceedance(exceedance, &mut sheet),
            Content::Shares(sides) => frame.shares(sides, &mut sheet),
        }
        sheet.close();
        y += height(&panel.content) + 36 * PX + shares::below(&panel.content, across.width);
    }
    y = super::frame::notes(&chart.notes, (left, right), y, &mut sheet);
    super::document((&chart.title, &chart.description), (width, y + MARGIN), (&[], &[], &[]), &sheet)
}

/// The legend of the parts of a spread.
fn legend(left: i64, y: i64, sheet: &mut Sheet) -> i64 {
    let y = y + 20 * PX;
    sheet.open("legend", "");
    let mut x = left;
    for (class, height, words) in
        [("spread", 10, "least to greatest"), ("band", 8, "5 % to 95 %"), ("middle", 2, "median")]
    {
        sheet.rect(class, [x, y - (5 + height / 2) * PX, 22 * PX, height * PX], paint(class), "");
        sheet.words("", (x + 27 * PX, y - 2 * PX), SMALL, "", words);
        x += 27 * PX + text::width(words, SMALL) + 18 * PX;
    }
    sheet.close();
    y
}

fn paint(class: &str) -> &'static str {
    match class {
        "spread" => " fill='#dfe4ec'",
        "band" => " fill='#9db6d3'",
        _ => " fill='#1d3047'",
    }
}

impl Frame<'_> {
    /// The height of a value on an axis that begins at 0.
    fn y(&self, value: f64, most: f64) -> i64 {
        let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
        self.bottom() - (share * HEIGHT as f64).round() as i64
    }

    /// Draws the lines of a vertical axis from 0; returns the value of its top.
    fn vertical_axis(&self, most: f64, words: &dyn Fn(f64) -> String, sheet: &mut Sheet) -> f64 {
        let step = round_up(most / 3.0);
        let lines = (most / step).ceil().max(1.0);
        let top = step * lines;
        for n in 0..=lines as u32 {
            let value = step * f64::from(n);
            let y = self.y(value, top);
            let line = format!("M{} {}H{}", px(self.across.left), px(y), px(self.across.right()));
            sheet.path(
                if n == 0 { "a" } else { "g" },
                &line,
                if n == 0 { " stroke='#222222' fill='none'" } else { "" },
            );
            let at = (self.across.left - 6 * PX, y + 3 * PX);
            sheet.words("q", at, SMALL, "end", &words(value));
        }
        top
    }

    fn along(&self, from: i64, to: i64, sheet: &mut Sheet) -> Across {
        let across = Across { from, to, ..self.across };
        let most = u32::try_from(across.width / (84 * PX)).unwrap_or(2).max(2);
        let axis = Axis::new(from, to, self.scale, most);
        let mut free = i64::MIN;
        for (at, label) in &axis.major {
            let x = across.x(*at);
            let line = format!("M{} {}v4", px(x), px(self.bottom()));
            sheet.path("a", &line, " stroke='#222222' fill='none'");
            let half = text::width(label, SMALL) / 2;
            if x - half >= free {
                sheet.words("w", (x, self.bottom() + 15 * PX), SMALL, "", label);
                free = x + half + 6 * PX;
            }
        }
        super::frame::axis_title(&axis, across, self.bottom() + 15 * PX, sheet);
        across
    }

    /// Bars of equal width, whatever the width of their bins; the bounds are written below.
    fn histogram(&self, bars: &[Bar], sheet: &mut Sheet) {
        let most = bars.iter().map(|bar| bar.count).max().unwrap_or(0) as f64;
        let top = self.vertical_axis(most.max(1.0), &|value| format!("{value}"), sheet);
        let count = i64::try_from(bars.len()).unwrap_or(1).max(1);
        let x = |n: i64| self.across.left + self.across.width * n / count;
        let mut free = i64::MIN;
        for (n, bar) in (0..).zip(bars) {
            let (begin, end, y) = (x(n), x(n + 1), self.y(bar.count as f64, top));
            if bar.count > 0 {
                let title = format!("{} to {}: {}", self.value(bar.from), self.value(bar.to), bar.count);
                let more = format!(" fill='#5b84b1' data-count='{}'", bar.count);
                // The smallest count is still visible.
                let height = (self.bottom() - y).max(PX);
                sheet.rect(
                    "bar-of",
                    [begin + PX / 2, self.bottom() - height, end - begin - PX, height],
                    &more,
                    &title,
                );
                let words = bar.count.to_string();
                if text::width(&words, SMALL) <= end - begin {
                    let above = (self.bottom() - height - 3 * PX).max(self.top + 4 * PX);
                    let inside = above > self.bottom() - height - 3 * PX;
                    let at = (
                        i64::midpoint(begin, end),
                        if inside { self.bottom() - height + 10 * PX } else { above },
                    );
                    sheet.words(if inside { "w v" } else { "w q" }, at, SMALL, "", &words);
                }
            }
            free = self.border(begin, bar.from, free, sheet);
        }
        if let Some(last) = bars.last() {
            self.border(x(count), last.to, free, sheet);
        }
    }

    /// The bound of two bins, with its value if there is room; returns where the next label has room.
    fn border(&self, x: i64, value: f64, free: i64, sheet: &mut Sheet) -> i64 {
        let line = format!("M{} {}v4", px(x), px(self.bottom()));
        sheet.path("a", &line, " stroke='#222222' fill='none'");
        let words = self.value(value);
        let half = text::width(&words, SMALL) / 2;
        if x - half < free {
            return free;
        }
        sheet.words("w", (x, self.bottom() + 15 * PX), SMALL, "", &words);
        x + half + 8 * PX
    }

    fn spread(&self, (from, to): (i64, i64), columns: &[Column], sheet: &mut Sheet) {
        let most = columns.iter().map(|column| column.greatest).fold(0.0, f64::max);
        let top = self.vertical_axis(most, &|value| self.value(value), sheet);
        let across = self.along(from, to, sheet);
        for column in columns {
            let (x, end) = (across.x(column.begin), across.x(column.end));
            let width = (end - x).max(PX);
            let tooltip = format!(
                "{} – {}: {} samples, {} to {}, median {}, 5 % {}, 95 % {}",
                exact(column.begin, self.scale),
                exact(column.end, self.scale),
                column.count,
                self.value(column.least),
                self.value(column.greatest),
                self.value(column.middle),
                self.value(column.low),
                self.value(column.high)
            );
            let mut bar = |class: &str, low: f64, high: f64, thin: i64, title: &str| {
                let (y, base) = (self.y(high, top), self.y(low, top));
                let height = (base - y).max(thin);
                let more = format!("{} data-count='{}'", paint(class), column.count);
                sheet.rect(class, [x, y - thin / 2, width, height], &more, title);
            };
            bar("spread", column.least, column.greatest, 2 * PX, &tooltip);
            bar("band", column.low, column.high, 2 * PX, &tooltip);
            bar("middle", column.middle, column.middle, 2 * PX, &tooltip);
        }
    }

    fn steps(&self, (from, to): (i64, i64), steps: &[(i64, i64, f64)], sheet: &mut Sheet) {
        let most = if self.panel.measure == Measure::Percent { 100.0 } else { 0.0 };
        let most = steps.iter().map(|step| step.2).fold(most, f64::max);
        let top = self.vertical_axis(most, &|value| self.value(value), sheet);
        let across = self.along(from, to, sheet);
        let (mut outline, mut before) = (String::new(), None);
        for (begin, end, value) in steps {
            let (x, end_x, y) = (across.x(*begin), across.x(*end), self.y(*value, top));
            let tooltip = format!(
                "{} – {}: {}",
                exact(*begin, self.scale),
                exact(*end, self.scale),
                self.value(*value)
            );
            let more = " fill='#9db6d3'";
            sheet.rect("step", [x, y, (end_x - x).max(PX / 2), self.bottom() - y], more, &tooltip);
            let _ = write!(
                outline,
                "{}{} {}H{}",
                // No line leads over what is not known.
                if before == Some(begin) { 'L' } else { 'M' },
                px(x),
                px(y),
                px(end_x)
            );
            before = Some(end);
        }
        sheet.path("c", &outline, " fill='none' stroke='#2f4d70' stroke-width='1.2'");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Panel;
    use crate::time::TimeScale;

    fn chart(content: Content) -> String {
        let panel = Panel { title: "A<B".into(), summary: "all".into(), measure: Measure::Time, content };
        let chart = Chart {
            title: "t".into(),
            description: "d".into(),
            scale: TimeScale::Ns,
            panels: vec![panel],
            notes: vec!["a note".into()],
        };
        drawn(&chart, 600)
    }

    #[test]
    fn every_kind_of_chart_is_xml_and_has_its_parts() {
        let bar =
            |n: u32| Bar { from: f64::from(n) * 10.0, to: f64::from(n + 1) * 10.0, count: u64::from(n) };
        let bars = chart(Content::Histogram((0..4).map(bar).collect()));
        let column = Column {
            begin: 5,
            end: 10,
            count: 3,
            least: 1.0,
            low: 1.5,
            middle: 2.0,
            high: 2.5,
            greatest: 3.0,
        };
        let spread = chart(Content::Spread { from: 0, to: 100, columns: vec![column] });
        let steps = chart(Content::Steps { from: 0, to: 100, steps: vec![(0, 50, 20.0), (50, 100, 0.0)] });
        for (svg, class, parts) in [(bars, "bar-of", 3), (spread, "middle", 2), (steps, "step", 2)] {
            let document = roxmltree::Document::parse(&svg).unwrap();
            let found = document.descendants().filter(|n| n.attribute("class") == Some(class)).count();
            assert_eq!(found, parts, "{class}");
            assert!(svg.contains("A&lt;B") && svg.contains("a note"));
        }
        assert!(chart(Content::Histogram(Vec::new())).ends_with("</svg>\n"));
    }
}
