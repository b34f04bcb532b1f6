//! Tails as a picture: panels of an exceedance plot for each entity. Not the statistics (see
//! [`crate::tail`]), nor how panels are drawn.

use crate::library::{Metric, Unit};
use crate::picture::{Chart, Content, Exceedance, Measure, Panel, Rare};
use crate::tail::{Fit, Level, Model, Outcome, Report, WHAT_IT_IS_NOT, exceedance};
use crate::time::TimeScale;

/// So many entities are drawn.
const MOST_LINES: usize = 24;
/// Points of a curve per factor of ten of the probability.
const CURVE: u32 = 8;

/// The panels so far.
pub(super) struct Panels {
    made: Vec<Panel>,
    /// How many entities are drawn, and how many not.
    lines: usize,
    left_out: usize,
    /// There are several recordings, which panels name.
    several: bool,
    has_fit: bool,
}

impl Panels {
    pub fn new(several: bool) -> Self {
        Self { made: Vec::new(), lines: 0, left_out: 0, several, has_fit: false }
    }

    /// For the next entity, the points of a curve per factor of ten of the probability.
    pub fn curve(&self) -> u32 {
        if self.lines < MOST_LINES { CURVE } else { 0 }
    }

    /// Adds those of an entity: one for each method that fitted a distribution, or one without a curve.
    pub fn add(
        &mut self,
        metric: &Metric,
        (recording, entity): (&str, &str),
        samples: &[i64],
        report: &Report,
    ) {
        if self.lines == MOST_LINES {
            self.left_out += 1;
            return;
        }
        self.lines += 1;
        let measure = if metric.unit == Unit::Duration { Measure::Time } else { Measure::Number };
        let prefix = if self.several { format!("{recording}: ") } else { String::new() };
        let title = format!("{prefix}{} of {entity}", metric.name);
        let points = exceedance(samples);
        let measured: Vec<(f64, f64)> =
            points.iter().map(|point| (point.value as f64, point.share)).collect();
        let outcomes = [("block maxima", &report.maxima), ("peaks over a threshold", &report.peaks)];
        let mut remarks = refusals(outcomes);
        let mut panel = |title: String, summary: String, exceedance: Exceedance| {
            let content = Content::Exceedance(Exceedance { measured: measured.clone(), ..exceedance });
            self.made.push(Panel { title, summary, measure, content });
        };
        let count = format!("{} samples", report.samples);
        let mut is_fitted = false;
        for (method, outcome) in outcomes {
            let Outcome::Fitted(fit) = outcome else { continue };
            is_fitted = true;
            let levels = fit.levels.iter().filter_map(|(_, level)| level.as_ref().ok()).map(rare).collect();
            let curve = fit.curve.iter().map(rare).collect();
            let remarks = std::mem::take(&mut remarks);
            let exceedance = Exceedance { curve, levels, remarks, ..Exceedance::default() };
            panel(format!("{title}: {method}"), format!("{count}, {}", fitted(fit)), exceedance);
        }
        if !is_fitted {
            panel(title, count, Exceedance { remarks, ..Exceedance::default() });
        }
        self.has_fit |= is_fitted;
    }

    pub fn chart(self, scale: TimeScale) -> Chart {
        let mut notes = Vec::new();
        if self.left_out > 0 {
            notes.push(format!(
                "{} of {} entities are drawn; choose others with --entity.",
                self.lines,
                self.lines + self.left_out
            ));
        }
        if self.has_fit {
            notes.push(WHAT_IT_IS_NOT.to_owned());
        }
        Chart {
            title: "How rare greater samples are".to_owned(),
            description: "Which share of the samples is at least as great as a value, and the distribution \
                          that is fitted to the greatest ones."
                .to_owned(),
            scale,
            panels: self.made,
            notes,
        }
    }
}

/// Why there is no fit, a sentence for each reason.
fn refusals(outcomes: [(&str, &Outcome); 2]) -> Vec<String> {
    let reason = |outcome: &Outcome| match outcome {
        Outcome::Refused(refusal) => Some(refusal.failed.to_string()),
        Outcome::Fitted(_) => None,
    };
    let [(first, maxima), (second, peaks)] = outcomes.map(|(method, outcome)| (method, reason(outcome)));
    match (maxima, peaks) {
        (Some(one), Some(other)) if one == other => vec![format!("No distribution is fitted: {one}.")],
        (maxima, peaks) => {
            let all = [(first, maxima), (second, peaks)].into_iter();
            let said = all.filter_map(|(method, why)| Some((method, why?)));
            said.map(|(method, why)| format!("No distribution is fitted to {method}: {why}.")).collect()
        }
    }
}

fn rare(level: &Level) -> Rare {
    let Level { instances, value, low, high } = *level;
    Rare { instances, value, low, high }
}

/// `158 peaks, shape -0.05`
fn fitted(fit: &Fit) -> String {
    match &fit.model {
        Model::Maxima { gev, block } => {
            format!("{} blocks of {block} samples, shape {:.2}", fit.used, gev.shape)
        }
        Model::Peaks { gpd, .. } => format!("{} peaks, shape {:.2}", fit.used, gpd.shape),
    }
}
