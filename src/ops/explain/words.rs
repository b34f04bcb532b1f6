//! What the rows of view `response_part` say of a response: its parts, who activated it, its sample of a
//! metric. Not why a part is (see `causes`), nor how sentences are arranged.

use super::causes::{Causes, named};
use super::{Sample, Which};
use crate::error::Result;
use crate::library::Unit;
use crate::picture;
use crate::schema::result::{Integers, Texts, column};
use crate::time::TimeScale;
use arrow::array::RecordBatch;

/// A sample, how it was chosen if that is by a percentile, and its place among the others: a sentence.
pub(crate) fn ranked(sample: &Sample, which: Which, scale: TimeScale) -> String {
    let Sample { metric, value, unit, count, rank } = sample;
    let value = match unit {
        Unit::Duration => picture::exact(value.round() as i64, scale),
        Unit::Count => format!("{value}"),
        Unit::Percent => format!("{value} %"),
    };
    let how = match which {
        // `btfdb metrics` interpolates: its percentile may be no sample.
        Which::Percentile(hundredths) => {
            format!("p{} by nearest rank: ", f64::from(hundredths) / 100.0)
        }
        Which::Greatest | Which::Least | Which::Number(_) => String::new(),
    };
    let place = match (*rank, *count) {
        (_, 1) => "the only sample".to_owned(),
        (rank, count) if rank == count => format!("the greatest of {count} samples"),
        (1, count) => format!("the least of {count} samples"),
        (rank, count) => format!("number {rank} of {count} samples from the least"),
    };
    format!("{metric}: {value}, {how}{place}.")
}

/// The columns of view `response_part`.
pub(crate) struct Parts {
    /// Why they are.
    pub causes: Causes,
    ty: Texts,
    begin: Integers,
    end: Integers,
    activated_by: Texts,
    activated_by_instance: Integers,
    triggered_by: Texts,
    triggered_by_instance: Integers,
}

impl Parts {
    /// Those of a batch.
    ///
    /// # Errors
    /// When a column is missing.
    pub fn of(batch: &RecordBatch) -> Result<Self> {
        Ok(Self {
            causes: Causes::of(batch)?,
            ty: column(batch, "type")?,
            begin: column(batch, "begin_at")?,
            end: column(batch, "end_at")?,
            activated_by: column(batch, "activated_by")?,
            activated_by_instance: column(batch, "activated_by_instance")?,
            triggered_by: column(batch, "triggered_by")?,
            triggered_by_instance: column(batch, "triggered_by_instance")?,
        })
    }

    /// Begin and end, in ticks.
    pub fn span(&self, row: usize) -> (i64, i64) {
        (self.begin.value(row), self.end.value(row))
    }

    /// Who activated the instance, and who triggered that; in words.
    pub fn activator(&self) -> Option<String> {
        let by = named(self.activated_by.get(0)?, self.activated_by_instance.get(0));
        Some(match self.triggered_by.get(0) {
            Some(who) => format!("{by}, which {} triggered", named(who, self.triggered_by_instance.get(0))),
            None => by,
        })
    }

    /// Who activated the instance, and who triggered that: names of tasks, ISRs or stimuli.
    pub fn activators(&self) -> Vec<String> {
        let by = [&self.activated_by, &self.triggered_by];
        by.into_iter().filter_map(|by| by.get(0)).map(str::to_owned).collect()
    }

    /// True if the response is that of an ISR.
    pub fn is_isr(&self, row: usize) -> bool {
        self.ty.get(row) == Some("I")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_says_its_percentile_and_its_place() {
        let of = |rank, which| {
            let sample =
                Sample { metric: "M".to_owned(), value: 250.0, unit: Unit::Duration, count: 13, rank };
            ranked(&sample, which, TimeScale::Ns)
        };
        assert_eq!(of(13, Which::Greatest), "M: 250 ns, the greatest of 13 samples.");
        assert_eq!(
            of(13, Which::Percentile(9_500)),
            "M: 250 ns, p95 by nearest rank: the greatest of 13 samples."
        );
        assert_eq!(
            of(7, Which::Percentile(5_025)),
            "M: 250 ns, p50.25 by nearest rank: number 7 of 13 samples from the least."
        );
    }
}
