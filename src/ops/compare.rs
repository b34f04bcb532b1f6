//! `compare`: compares two traces, or their metrics. Not how events are compared (see [`crate::compare`]).

use super::Control;
use super::findings::{Errors, errors};
use super::open::{OpenOptions, Trace};
use crate::btf::spec::Version;
use crate::btf::{Place, Record, Records};
use crate::compare::{CompareOptions, Comparison, compare};
use crate::engine::{Param, StoredRecords};
use crate::error::{Error, Result};
use crate::export::{Translation, Translator};
use crate::metrics::{MetricComparison, compare_metrics};
use crate::schema::result::{self, Texts};
use crate::time::TimeScale;
use std::sync::Arc;

/// Two recordings with the same unit of time.
pub struct Pair {
    a: Trace,
    b: Trace,
}

impl Pair {
    /// Opens two traces of one recording each.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] when one has several recordings, or none, or when they are
    /// databases with different units of time; those of [`Trace::open`].
    pub fn open(a: &str, b: &str, options: &OpenOptions, control: &Arc<Control>) -> Result<Self> {
        let (a, b) = Trace::open_two(a, b, options, control)?;
        a.one()?;
        b.one()?;
        if a.time_scale() != b.time_scale() {
            return Err(Error::usage("the two databases count time in different units")
                .hint("make one of them anew with the --time-scale of the other"));
        }
        Ok(Self { a, b })
    }

    /// The unit of all ticks.
    pub fn time_scale(&self) -> TimeScale {
        self.a.time_scale()
    }

    /// The errors of both recordings. Where an input has some, the recordings are never equal: lines that
    /// were rejected are not there to be compared.
    ///
    /// # Errors
    /// Those of reading the tables.
    pub fn errors(&self) -> Result<[Errors; 2]> {
        let of = |trace: &Trace| errors(trace.session.database(), trace.one()?);
        Ok([of(&self.a)?, of(&self.b)?])
    }

    fn is_whole(&self) -> Result<bool> {
        Ok(self.errors()?.iter().all(|errors| errors.of_inputs.is_empty()))
    }

    /// Compares the events. A mapped recording has no version of BTF of its own: its events are compared in
    /// the terms of the other trace.
    ///
    /// # Errors
    /// Those of a query.
    pub fn compare(&self, options: &CompareOptions) -> Result<Comparison> {
        let mut left = records(&self.a, &self.b)?;
        let mut right = records(&self.b, &self.a)?;
        let mut comparison = compare(&mut *left, &mut *right, options)?;
        comparison.undecided = comparison.equal && !self.is_whole()?;
        comparison.equal = comparison.equal && !comparison.undecided;
        Ok(comparison)
    }

    /// Compares metrics, all of them if `names` is empty: see [`compare_metrics`].
    ///
    /// # Errors
    /// When there is no such metric; those of a query.
    pub fn compare_metrics(&self, names: &[String], threshold: f64) -> Result<MetricComparison> {
        let (left, right) = ((&self.a.session, self.a.one()?), (&self.b.session, self.b.one()?));
        let mut comparison = compare_metrics(left, right, names, threshold)?;
        let is_decided = comparison.compared > 0 && self.is_whole()?;
        comparison.undecided = comparison.equal && !is_decided;
        comparison.equal = comparison.equal && is_decided;
        Ok(comparison)
    }
}

/// The events of a trace, in the terms of the version of another one.
fn records(trace: &Trace, other: &Trace) -> Result<Box<dyn Records>> {
    let records = StoredRecords::open(&trace.session, trace.one()?)?;
    // Mapped events are in the terms of 2.1.5, and tell more than it allows.
    let version = version_of(other)?.filter(|version| !records.has_lines() && *version != Version::V2_1_5);
    Ok(match version {
        Some(version) => {
            let translator = Translator::for_version(&trace.session, trace.one()?, Some(version))?;
            Box::new(Translated { records, translator })
        }
        None => Box::new(records),
    })
}

/// The version of BTF that a trace was imported with, if it says so.
fn version_of(trace: &Trace) -> Result<Option<Version>> {
    let sql = "SELECT text FROM btf_line WHERE recording = $recording AND lower(text) LIKE '#version%' \
               ORDER BY line LIMIT 1";
    let mut lines = trace.session.sql(sql, &[("recording", Param::from(trace.one()?))])?;
    let Some(batch) = lines.next() else { return Ok(None) };
    let [text] = result::columns::<[Texts; 1]>(&batch?)?;
    Ok(text.get(0).and_then(|line| line.split_whitespace().nth(1)).and_then(Version::parse))
}

/// Events in the terms of a version; what it cannot express stays as it is.
struct Translated {
    records: StoredRecords,
    translator: Translator,
}

impl Records for Translated {
    fn next(&mut self) -> Result<Option<(Place, Record<'_>)>> {
        let Some((place, record)) = self.records.next()? else { return Ok(None) };
        let translated = match self.translator.translate(&record) {
            Translation::Whole(record) | Translation::Partly(record) => record,
            Translation::None => record,
        };
        Ok(Some((place, translated)))
    }
}
