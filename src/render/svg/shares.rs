//! Shares of samples as panels of a chart: exceedance plots, whose vertical axis is logarithmic, and
//! distribution functions before and after a change. Not what is computed, nor other panels (see `chart`).

use std::fmt::Write as _;

use super::layout::SMALL;
use super::panel::{Frame, SHARES as HEIGHT, round_up};
use super::sheet::{Across, PX, Sheet, px};
use super::{frame, text};
use crate::picture::{Axis, Content, Exceedance, Measure, Rare, Shares};

/// Height of a line of remarks.
const LINE: i64 = 14 * PX;
/// Minimum room for a label of the horizontal axis.
const TICK: i64 = 84 * PX;
/// Colours of the two sides: they differ in lightness, and the first is dashed.
const SIDES: [(&str, &str); 2] = [("before", "#4f7cac"), ("after", "#b3470b")];
const CURVE: &str = "#2f4d70";
const BAND: &str = "#9db6d3";
const LEVEL: &str = "#b3470b";

/// The height of what is below a panel, in addition to its axis.
pub(super) fn below(content: &Content, room: i64) -> i64 {
    let Content::Exceedance(exceedance) = content else { return 0 };
    let lines: usize = exceedance.remarks.iter().map(|words| text::lines(words, room, SMALL).len()).sum();
    i64::try_from(lines).unwrap_or(0) * LINE + if lines > 0 { 16 * PX } else { 0 }
}

/// A horizontal axis of values.
struct Values {
    left: i64,
    width: i64,
    from: f64,
    to: f64,
}

impl Values {
    /// The place of a value; that of the edge for one outside.
    fn x(&self, value: f64) -> i64 {
        let share = (value - self.from) / (self.to - self.from);
        let share = if share.is_nan() { 0.5 } else { share.clamp(0.0, 1.0) };
        self.left + (share * self.width as f64).round() as i64
    }
}

/// A range of values that is not empty, with a little room on both sides.
fn range(from: f64, to: f64) -> (f64, f64) {
    let (from, to) = if from.is_finite() && to.is_finite() { (from, to) } else { (0.0, 1.0) };
    let room = ((to - from) * 0.03).max(from.abs().max(to.abs()) * 1e-6).max(1.0);
    (from - room, to + room)
}

/// `1 in 1000`; from 10⁵ on as a power of ten, or rounded.
fn one_in(instances: f64) -> String {
    let exponent = instances.log10().round();
    if instances < 99_999.5 || (10f64.powf(exponent) - instances).abs() > instances * 1e-9 {
        return if instances < 1.5 { "all".to_owned() } else { format!("1 in {}", instances.round()) };
    }
    let digit = |c: char| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(c.to_digit(10).unwrap_or(0) as usize).unwrap_or('?');
    format!("1 in 10{}", format!("{exponent}").chars().map(digit).collect::<String>())
}

impl Frame<'_> {
    /// The lines and labels of a horizontal axis of values.
    fn values(&self, from: f64, to: f64, sheet: &mut Sheet) -> Values {
        let (from, to) = range(from, to);
        let values = Values { left: self.across.left, width: self.across.width, from, to };
        let most = (self.across.width / TICK).max(2);
        let ticks: Vec<(f64, String)> = match self.panel.measure {
            Measure::Time => {
                let across = Across { from: from.ceil() as i64, to: to.floor() as i64, ..self.across };
                let axis = Axis::new(across.from, across.to, self.scale, u32::try_from(most).unwrap_or(2));
                frame::axis_title(&axis, across, self.bottom() + 15 * PX, sheet);
                axis.major.into_iter().map(|(at, label)| (at as f64, label)).collect()
            }
            measure => {
                let step = round_up((to - from) / most as f64).max(1.0);
                let first = (from / step).ceil();
                let count = ((to / step).floor() - first).clamp(0.0, 1000.0) as u32;
                let tick = |n: u32| (first + f64::from(n)) * step;
                (0..=count).map(|n| (tick(n), measure.shown(tick(n), self.scale))).collect()
            }
        };
        let mut free = i64::MIN;
        for (value, label) in &ticks {
            let x = values.x(*value);
            let line = format!("M{} {}V{}", px(x), px(self.top), px(self.bottom()));
            sheet.path("f", &line, "");
            sheet.path("a", &format!("M{} {}v4", px(x), px(self.bottom())), " stroke='#222222' fill='none'");
            let half = text::width(label, SMALL) / 2;
            if x - half >= free {
                sheet.words("w", (x, self.bottom() + 15 * PX), SMALL, "", label);
                free = x + half + 6 * PX;
            }
        }
        values
    }

    /// A line across, with its label.
    fn level_line(&self, y: i64, is_axis: bool, label: &str, sheet: &mut Sheet) {
        let line = format!("M{} {}H{}", px(self.across.left), px(y), px(self.across.right()));
        let (class, more) = if is_axis { ("a", " stroke='#222222' fill='none'") } else { ("g", "") };
        sheet.path(class, &line, more);
        sheet.words("q", (self.across.left - 6 * PX, y + 3 * PX), SMALL, "end", label);
    }

    /// Samples by rarity, the fitted curve with its band, and levels.
    pub(super) fn exceedance(&self, exceedance: &Exceedance, sheet: &mut Sheet) {
        let Exceedance { measured, curve, levels, remarks } = exceedance;
        let rarest = measured.iter().map(|(_, share)| 1.0 / share.max(1e-18));
        let rarest = rarest.chain(curve.iter().chain(levels).map(|rare| rare.instances)).fold(10.0, f64::max);
        let decades = rarest.log10().ceil().clamp(1.0, 18.0);
        let y = |instances: f64| {
            let share = (instances.max(1.0).log10() / decades).min(1.0);
            self.top + (share * HEIGHT as f64).round() as i64
        };
        let (from, to) = extent(exceedance);
        let values = self.values(from, to, sheet);
        for decade in 0..=decades as i32 {
            let instances = 10f64.powi(decade);
            self.level_line(y(instances), decade == decades as i32, &one_in(instances), sheet);
        }
        let at = |value: f64, instances: f64| format!("{} {}", px(values.x(value)), px(y(instances)));
        let line = |of: &dyn Fn(&Rare) -> f64, rares: &mut dyn Iterator<Item = &Rare>| {
            let points: Vec<String> = rares.map(|rare| at(of(rare), rare.instances)).collect();
            points.join("L")
        };
        if curve.len() > 1 {
            let low = line(&|rare| rare.low, &mut curve.iter());
            let high = line(&|rare| rare.high, &mut curve.iter().rev());
            let more = format!(" fill='{BAND}' opacity='.45'");
            sheet.path("confidence", &format!("M{low}L{high}Z"), &more);
            let fitted = line(&|rare| rare.value, &mut curve.iter());
            let more = format!(" fill='none' stroke='{CURVE}' stroke-width='1.6'");
            sheet.path("fitted", &format!("M{fitted}"), &more);
        }
        let mut dots = String::new();
        for (value, share) in measured {
            let _ = write!(dots, "M{}h0", at(*value, 1.0 / share.max(1e-18)));
        }
        let more = format!(
            " data-count='{}' fill='none' stroke='#222222' stroke-width='3.6' stroke-linecap='round'",
            measured.len()
        );
        sheet.path("measured", &dots, &more);
        for level in levels {
            self.level(level, &values, y(level.instances), sheet);
        }
        let mut below = self.bottom() + 46 * PX;
        for remark in remarks {
            for line in text::lines(remark, self.across.width, SMALL) {
                sheet.words("q", (self.across.left, below), SMALL, "", &line);
                below += LINE;
            }
        }
    }

    /// A mark on the curve with its interval, and its value on the right of that, or without room there on
    /// the left.
    fn level(&self, level: &Rare, values: &Values, y: i64, sheet: &mut Sheet) {
        let [value, low, high] = [level.value, level.low, level.high].map(|value| self.value(value));
        let title = format!("{}: {value}, 95 %: {low} to {high}", one_in(level.instances));
        // No more digits than the interval lets have a meaning.
        let step = 10f64.powf(((level.high - level.low) / 2.0).max(1.0).log10().floor() - 1.0).max(1.0);
        let [value, low, high] =
            [level.value, level.low, level.high].map(|value| self.value((value / step).round() * step));
        let words = format!("{}: {value} ({low} to {high})", one_in(level.instances));
        let x = values.x(level.value);
        let mark = format!(" data-level='{}' data-value='{}'", level.instances, level.value);
        sheet.open("level", &mark);
        let (low, high) = (values.x(level.low), values.x(level.high));
        let whisker = format!(
            "M{} {y}H{}M{} {}v6M{} {}v6",
            px(low),
            px(high),
            px(low),
            px(y - 3 * PX),
            px(high),
            px(y - 3 * PX),
            y = px(y)
        );
        sheet.path("interval", &whisker, &format!(" fill='none' stroke='{LEVEL}'"));
        let diamond = format!("M{} {}l4 4l-4 4l-4-4Z", px(x), px(y - 4 * PX));
        sheet.titled_path(
            "mark",
            &diamond,
            &format!(" fill='{LEVEL}' stroke='#ffffff' stroke-width='.8'"),
            &title,
        );
        let wide = text::width(&words, SMALL);
        let right = high.max(x) + 7 * PX;
        let begin = match right + wide <= self.across.right() {
            true => right,
            false => (low.min(x) - 7 * PX - wide).max(self.across.left + 2 * PX),
        };
        let base = y + SMALL * 36 / 100;
        let ground = [begin - 2 * PX, base - SMALL * 85 / 100, wide + 4 * PX, SMALL * 105 / 100];
        sheet.rect("n", ground, " fill='#ffffff' opacity='.85'", "");
        sheet.words("", (begin, base), SMALL, "", &words);
        sheet.close();
    }

    /// The distribution functions of two sides, with their medians.
    pub(super) fn shares(&self, sides: &[Shares; 2], sheet: &mut Sheet) {
        let all = || sides.iter().flat_map(|side| side.points.iter().map(|(value, _)| *value));
        let (from, to) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        let values = self.values(from, far(sides).min(to), sheet);
        let y = |share: f64| self.bottom() - (share.clamp(0.0, 1.0) * HEIGHT as f64).round() as i64;
        for percent in [0, 25, 50, 75, 100] {
            let label = format!("{percent} %");
            self.level_line(y(f64::from(percent) / 100.0), percent == 0, &label, sheet);
        }
        for (side, (name, colour)) in sides.iter().zip(SIDES) {
            let Some((first, _)) = side.points.first() else { continue };
            let mut d = format!("M{} {}", px(values.x(*first)), px(self.bottom()));
            for (value, share) in &side.points {
                let _ = write!(d, "H{}V{}", px(values.x(*value)), px(y(*share)));
            }
            let _ = write!(d, "H{}", px(self.across.right()));
            let dash = if name == "before" { " stroke-dasharray='5 3'" } else { "" };
            let more = format!(" data-side='{name}' fill='none' stroke='{colour}' stroke-width='1.8'{dash}");
            sheet.path("shares", &d, &more);
        }
        for (side, (name, colour)) in sides.iter().zip(SIDES).filter(|(side, _)| !side.points.is_empty()) {
            let x = values.x(side.median);
            let drop = format!("M{} {}V{}", px(x), px(y(0.5)), px(self.bottom()));
            sheet.path("l", &drop, &format!(" style='stroke:{colour}'"));
            let dot = format!("M{} {}h0", px(x), px(y(0.5)));
            let title = format!("median {name}: {}", self.value(side.median));
            let more = format!(
                " data-median='{}' fill='none' stroke='{colour}' stroke-width='8' stroke-linecap='round'",
                side.median
            );
            sheet.titled_path("median", &dot, &more, &title);
        }
    }
}

/// Least and greatest value of an exceedance plot. A very wide band is cut off.
fn extent(exceedance: &Exceedance) -> (f64, f64) {
    let Exceedance { measured, curve, levels, .. } = exceedance;
    let rares = || curve.iter().chain(levels);
    let measured = || measured.iter().map(|(value, _)| *value);
    let from = measured().chain(rares().map(|rare| rare.low)).fold(f64::INFINITY, f64::min);
    let seen = measured().chain(rares().map(|rare| rare.value)).fold(f64::NEG_INFINITY, f64::max);
    let high = rares().map(|rare| rare.high).fold(seen, f64::max);
    // Room for the labels beside the band.
    let room = if levels.is_empty() { 0.0 } else { (seen - from) * 0.15 };
    (from, high.min(seen + (seen - from) * 0.5) + room)
}

/// The value up to which two distributions are drawn: few samples far away would make the rest narrow.
fn far(sides: &[Shares; 2]) -> f64 {
    let at = |share: f64| {
        let first = |side: &Shares| side.points.iter().find(|point| point.1 >= share).map(|point| point.0);
        sides.iter().filter_map(first).fold(f64::NEG_INFINITY, f64::max)
    };
    let least = sides.iter().filter_map(|side| side.points.first()).map(|point| point.0);
    let least = least.fold(f64::INFINITY, f64::min);
    let (most, nearly) = (at(1.0), at(0.99));
    if most - least > 3.0 * (nearly - least) { nearly + (nearly - least) * 0.5 } else { most }
}

/// The legend of panels of shares: what occurs in them; returns where it ends.
pub(super) fn legend(contents: &[&Content], (left, right): (i64, i64), y: i64, sheet: &mut Sheet) -> i64 {
    let of_exceedance = |content: &&Content| match content {
        Content::Exceedance(exceedance) => {
            Some((!exceedance.curve.is_empty(), !exceedance.levels.is_empty()))
        }
        _ => None,
    };
    let exceedances: Vec<(bool, bool)> = contents.iter().filter_map(of_exceedance).collect();
    // Words, path, and how that is painted.
    let mut items: Vec<(&str, &str, String)> = Vec::new();
    if !exceedances.is_empty() {
        let dots = "fill='none' stroke='#222222' stroke-width='3.6' stroke-linecap='round'".to_owned();
        items.push(("samples that are at least as great", "M4-4h0M11-4h0M18-4h0", dots));
    }
    if exceedances.iter().any(|(has_curve, _)| *has_curve) {
        let fitted = format!("fill='none' stroke='{CURVE}' stroke-width='1.6'");
        items.push(("fitted distribution", "M0-4h22", fitted));
        items.push(("interval of 95 %", "M0-10h22v11h-22Z", format!("fill='{BAND}' opacity='.45'")));
    }
    if exceedances.iter().any(|(_, has_levels)| *has_levels) {
        let mark = format!("fill='{LEVEL}' stroke='#ffffff' stroke-width='.8'");
        items.push(("value that one instance in so many exceeds", "M11-8l4 4l-4 4l-4-4Z", mark));
    }
    if contents.iter().any(|content| matches!(content, Content::Shares(_))) {
        for (name, colour) in SIDES {
            let dash = if name == "before" { " stroke-dasharray='5 3'" } else { "" };
            let line = format!("fill='none' stroke='{colour}' stroke-width='1.8'{dash}");
            items.push((name, "M0-4h22", line));
        }
        let dot = "fill='none' stroke='#555555' stroke-width='8' stroke-linecap='round'".to_owned();
        items.push(("median", "M11-4h0", dot));
    }
    if items.is_empty() {
        return y;
    }
    let (mut x, mut y) = (left, y + 20 * PX);
    sheet.open("legend", "");
    for (words, d, paint) in items {
        let wide = 27 * PX + text::width(words, SMALL);
        if x > left && x + wide > right {
            (x, y) = (left, y + 18 * PX);
        }
        sheet.path("sample", d, &format!(" {paint} transform='translate({} {})'", px(x), px(y)));
        sheet.words("", (x + 27 * PX, y), SMALL, "", words);
        x += wide + 18 * PX;
    }
    sheet.close();
    y
}

#[cfg(test)]
mod tests {
    use super::super::chart::drawn;
    use super::super::tests::{are_apart, texts};
    use super::*;
    use crate::picture::{Chart, Panel};
    use crate::time::TimeScale;

    const NASTY: &str = "a<b>&\"'\u{1}]]>";

    fn chart(content: Content, measure: Measure, width: u32) -> String {
        let panel = Panel { title: NASTY.into(), summary: NASTY.into(), measure, content };
        let notes = vec![NASTY.to_owned()];
        let (title, description, scale) = (NASTY.into(), NASTY.into(), TimeScale::Ns);
        drawn(&Chart { title, description, scale, panels: vec![panel], notes }, width)
    }

    fn exceedance(count: u32) -> Exceedance {
        let measured =
            (0..count).map(|n| (20_000.0 - f64::from(n) * 7.0, f64::from(n + 1) / f64::from(count)));
        let rare = |decades: f64| {
            let value = 16_000.0 + 2_000.0 * decades;
            Rare {
                instances: 10f64.powf(decades),
                value,
                low: value - 300.0,
                high: value + 150.0 * decades.powi(2),
            }
        };
        Exceedance {
            measured: measured.collect(),
            curve: (0..30).map(|n| rare(1.5 + f64::from(n) / 8.0)).collect(),
            levels: [3.0, 4.0, 5.0].map(rare).to_vec(),
            remarks: vec![NASTY.repeat(40)],
        }
    }

    fn count(svg: &str, class: &str) -> usize {
        let document = roxmltree::Document::parse(svg).unwrap();
        document.descendants().filter(|n| n.attribute("class") == Some(class)).count()
    }

    #[test]
    fn an_exceedance_plot_has_its_parts_and_texts_do_not_touch() {
        for (width, measure) in [(1000, Measure::Time), (500, Measure::Time), (1000, Measure::Number)] {
            let svg = chart(Content::Exceedance(exceedance(500)), measure, width);
            for (class, number) in [("measured", 1), ("fitted", 1), ("confidence", 1), ("level", 3)] {
                assert_eq!(count(&svg, class), number, "{class}");
            }
            assert!(svg.contains("1 in 1000: ") && svg.contains(">1 in 10⁵<"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
            let texts = texts(&svg);
            assert!(texts.iter().all(|t| t.1 >= 0.0 && t.2 <= f64::from(width)), "{texts:?}");
            are_apart(&texts);
        }
    }

    #[test]
    fn without_a_fit_there_are_samples_and_the_reason() {
        let why = "No distribution is fitted: 3 values are too few.";
        let of = |measured: &[(f64, f64)]| {
            let remarks = vec![why.to_owned()];
            let content = Exceedance { measured: measured.to_vec(), remarks, ..Exceedance::default() };
            chart(Content::Exceedance(content), Measure::Time, 800)
        };
        for measured in [&[(9.0, 0.5), (5.0, 1.0)][..], &[(5.0, 1.0)], &[], &[(i64::MAX as f64, 1.0)]] {
            let svg = of(measured);
            assert_eq!((count(&svg, "measured"), count(&svg, "fitted"), count(&svg, "level")), (1, 0, 0));
            assert!(svg.contains(why) && !svg.contains("fitted distribution"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn distributions_before_and_after_have_their_medians() {
        let side = |shift: f64| {
            let points = (1..=100).map(|n| (shift + f64::from(n), f64::from(n) / 100.0)).collect();
            Shares { points, median: shift + 50.0 }
        };
        for width in [1000, 400] {
            let svg = chart(Content::Shares([side(1000.0), side(1020.0)]), Measure::Time, width);
            let document = roxmltree::Document::parse(&svg).unwrap();
            let of =
                |name: &str| document.descendants().filter_map(|n| n.attribute(name)).collect::<Vec<_>>();
            assert_eq!(of("data-side"), ["before", "after"]);
            assert_eq!(of("data-median"), ["1050", "1070"]);
            are_apart(&texts(&svg));
        }
        let svg = chart(Content::Shares([side(5.0), Shares::default()]), Measure::Time, 600);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn few_samples_far_away_do_not_make_the_rest_narrow() {
        let mut points: Vec<(f64, f64)> = (1..=995).map(|n| (f64::from(n), f64::from(n) / 1000.0)).collect();
        points.push((1e9, 1.0));
        let side = Shares { points, median: 500.0 };
        assert!(far(&[side.clone(), side]) < 2000.0);
        assert_eq!(far(&[Shares::default(), Shares::default()]), f64::NEG_INFINITY);
    }

    #[test]
    fn rarities_are_short() {
        let of = [1.0, 10.0, 1000.0, 25.0, 1e5, 1e6, 1e12, 250_000.0].map(one_in);
        let expected =
            ["all", "1 in 10", "1 in 1000", "1 in 25", "1 in 10⁵", "1 in 10⁶", "1 in 10¹²", "1 in 250000"];
        assert_eq!(of, expected);
    }
}
