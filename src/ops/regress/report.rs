//! Judged comparisons → rows of a report. Not how they are printed.

use super::samples::Names;
use crate::regress::{Basis, Comparison, Effect, Figures, Gate, Hindrance, Statistic, Verdict};
use crate::time::TimeScale;
use serde::Serialize;

/// What was compared, and what it says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Something changed that matters, in the direction of the gate.
    pub fails: bool,
    /// Recordings of the build before.
    pub before: Vec<String>,
    /// Recordings of the new build.
    pub after: Vec<String>,
    /// Unit of the ticks.
    pub time_scale: &'static str,
    /// The probability that anything is called changed although nothing did.
    pub alpha: f64,
    /// Number of statistical tests, for which the p-values are corrected.
    pub tests: usize,
    /// Each statistic of each metric and entity.
    pub rows: Vec<Row>,
}

impl Report {
    pub(super) fn new(
        (before, after): (Vec<String>, Vec<String>),
        rows: Vec<Row>,
        scale: TimeScale,
        alpha: f64,
    ) -> Self {
        let fails = rows.iter().any(|row| row.fails);
        let is_test = |row: &&Row| row.p_value.is_some() && row.basis != Some("constants");
        let tests = rows.iter().filter(is_test).count();
        Self { fails, before, after, time_scale: scale.as_str(), alpha, tests, rows }
    }

    /// How many statistics have each verdict: `2 changed, 20 unchanged, 8 without enough data`.
    pub fn verdicts(&self) -> String {
        let count = |verdict| self.rows.iter().filter(|row| row.verdict == verdict).count();
        let mut text = format!(
            "{} changed, {} unchanged, {} without enough data",
            count("changed"),
            count("unchanged"),
            count("not enough data")
        );
        for side in ["only before", "only after"] {
            match count(side) {
                0 => {}
                rows => text += &format!(", {rows} {side}"),
            }
        }
        text
    }
}

/// A statistic of a metric of an entity. Values are ticks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Name of the metric.
    pub metric: String,
    /// Task, ISR or runnable.
    pub entity: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// `mean`, `p99` or `max`; `None` where one side has no samples.
    pub statistic: Option<&'static str>,
    /// Samples before.
    pub count_before: u64,
    /// Samples after.
    pub count_after: u64,
    /// Value before.
    pub before: Option<f64>,
    /// Value after.
    pub after: Option<f64>,
    /// After − before.
    pub effect: Option<f64>,
    /// The effect as a share of the value before.
    pub percent: Option<f64>,
    /// Lower limit of the interval of the effect, of 95 %.
    pub low: Option<f64>,
    /// Upper limit.
    pub high: Option<f64>,
    /// The probability of such an effect if nothing changed, corrected for the number of tests.
    pub p_value: Option<f64>,
    /// The least effect that would have been found in 95 of 100 cases.
    pub detectable: Option<f64>,
    /// How many times as many samples would tell a change that matters from none.
    pub needed: Option<f64>,
    /// `changed`, `unchanged`, `not enough data`, `only before` or `only after`.
    pub verdict: &'static str,
    /// It changed in the direction of the gate.
    pub fails: bool,
    /// What the test rests on: `recordings`, `blocks` (of instances within recordings) or `constants`.
    pub basis: Option<&'static str>,
    /// Why there is no test: `few samples`, `few events`, `unsteady` or `overloaded`.
    pub hindrance: Option<&'static str>,
    /// By how much recordings of a side differ more than the instances within them suggest, as a factor of
    /// the variance.
    pub between_runs: f64,
    /// What made a mean response or execution time change, the first cause first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<CauseRow>,
}

/// A possible cause of the change of a response or execution time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CauseRow {
    /// Whose part it is.
    pub entity: String,
    /// Kind of the part, as in view `response_part`.
    pub kind: String,
    /// What it executes, or whom it waits for; empty where nobody is known.
    pub name: String,
    /// About how many ticks of the change it accounts for.
    pub explains: f64,
    /// The part changed by more than chance.
    pub sure: bool,
    /// From the entity that is explained to that of the cause.
    pub path: Vec<String>,
}

/// The rows of a comparison: one for each of its statistics, or one that says which side has samples.
pub(super) fn rows(
    (metric, names, comparison): (&str, &Names, &Comparison),
    gate: &Gate,
    causes: &impl Fn(&str, &str) -> Vec<CauseRow>,
) -> Vec<Row> {
    let count = |figures: &Option<Figures>| figures.as_ref().map_or(0, |one| one.count);
    let verdict = match (&comparison.before, &comparison.after) {
        (None, _) => "only after",
        (_, None) => "only before",
        _ => "not enough data",
    };
    let row = Row {
        metric: metric.to_owned(),
        entity: names.entity.clone(),
        kind: names.kind.clone(),
        statistic: None,
        count_before: count(&comparison.before),
        count_after: count(&comparison.after),
        before: comparison.before.as_ref().map(|one| one.mean),
        after: comparison.after.as_ref().map(|one| one.mean),
        effect: None,
        percent: None,
        low: None,
        high: None,
        p_value: None,
        detectable: None,
        needed: None,
        verdict,
        fails: false,
        basis: None,
        hindrance: None,
        between_runs: comparison.between_runs,
        causes: Vec::new(),
    };
    if comparison.effects.is_empty() {
        return vec![row];
    }
    let with = |effect: &Effect| {
        let is_mean = effect.statistic == Statistic::Mean;
        let is_changed = effect.verdict == Verdict::Changed;
        let causes = if is_mean && is_changed { causes(metric, &names.entity) } else { Vec::new() };
        let (low, high) = effect.interval;
        Row {
            statistic: Some(statistic(effect.statistic)),
            before: Some(effect.before),
            after: Some(effect.after),
            effect: Some(effect.difference()),
            percent: effect.relative().map(|share| share * 100.0),
            low: low.is_finite().then_some(low),
            high: high.is_finite().then_some(high),
            p_value: effect.adjusted,
            detectable: effect.detectable.filter(|size| size.is_finite()),
            needed: effect.needed.filter(|times| times.is_finite()),
            verdict: match effect.verdict {
                Verdict::Changed => "changed",
                Verdict::Unchanged => "unchanged",
                Verdict::NotEnoughData => "not enough data",
            },
            fails: effect.fails(gate),
            basis: Some(match effect.basis {
                Basis::Recordings => "recordings",
                Basis::Blocks => "blocks",
                Basis::Constants => "constants",
            }),
            hindrance: effect.hindrance.map(|why| match why {
                Hindrance::FewSamples => "few samples",
                Hindrance::FewEvents => "few events",
                Hindrance::Unsteady => "unsteady",
                Hindrance::Overloaded => "overloaded",
            }),
            causes,
            ..row.clone()
        }
    };
    comparison.effects.iter().map(with).collect()
}

/// The word for a statistic.
pub(super) fn statistic(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Mean => "mean",
        Statistic::P99 => "p99",
        Statistic::Max => "max",
    }
}
