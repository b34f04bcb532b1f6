//! The option --cluster: a cluster does the work of a command. In a btfdb without the feature `cluster`, an
//! error says so. Not what the cluster does (see [`crate::cluster`]).

use crate::btf::spec::Version;
use crate::check::Report;
use crate::engine::Session;
use crate::error::Result;
use crate::metrics::{Histogram, MetricFilter};
use crate::require::Outcome;
use crate::time::TimeScale;
use arrow::array::RecordBatch;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Address of the scheduler, and what interrupts the work.
pub type Address<'a> = (&'a str, Arc<AtomicBool>);

#[cfg(feature = "cluster")]
mod with {
    use super::*;
    use crate::cluster::{self, Fleet};
    use crate::metrics::in_unit;

    fn fleet<'s>(session: &'s Session, (address, interrupt): &Address<'_>) -> Result<Fleet<'s>> {
        Fleet::new(session, address, Arc::clone(interrupt))
    }

    /// As [`crate::ops::metrics::table`].
    pub fn summaries(
        session: &Session,
        at: &Address<'_>,
        names: &[String],
        filter: &MetricFilter,
        unit: Option<TimeScale>,
    ) -> Result<RecordBatch> {
        let rows = cluster::summaries(&fleet(session, at)?, names, filter)?;
        match unit {
            Some(unit) => in_unit(&rows, session.database().time_scale(), unit),
            None => Ok(rows),
        }
    }

    /// As [`crate::ops::metrics::histograms`].
    pub fn histograms(
        session: &Session,
        at: &Address<'_>,
        names: &[String],
        filter: &MetricFilter,
    ) -> Result<Vec<Histogram>> {
        cluster::histograms(&fleet(session, at)?, names, filter)
    }

    /// As [`crate::ops::check::check`].
    pub fn rules(
        session: &Session,
        at: &Address<'_>,
        version: Option<Version>,
    ) -> Result<Vec<(String, Report)>> {
        cluster::rules(&fleet(session, at)?, version)
    }

    /// The session, whose statements the cluster runs. `restrict`: a table that was restricted, and the
    /// condition.
    pub fn statements(
        session: Session,
        (address, interrupt): &Address<'_>,
        restrict: Option<(String, String)>,
    ) -> Result<Session> {
        cluster::on_cluster(session, address, Arc::clone(interrupt), restrict)
    }

    /// As [`crate::require::measure`], for all recordings.
    pub fn requirements(
        session: &Session,
        at: &Address<'_>,
        text: &str,
        file: &Path,
    ) -> Result<Vec<Outcome>> {
        cluster::requirements(&fleet(session, at)?, text, file)
    }
}

#[cfg(not(feature = "cluster"))]
mod with {
    use super::*;
    use crate::error::Error;

    fn missing<T>() -> Result<T> {
        Err(Error::usage("this btfdb was built without the feature cluster")
            .hint("cargo install btfdb --features cluster"))
    }

    pub fn summaries(
        _: &Session,
        _: &Address<'_>,
        _: &[String],
        _: &MetricFilter,
        _: Option<TimeScale>,
    ) -> Result<RecordBatch> {
        missing()
    }

    pub fn histograms(
        _: &Session,
        _: &Address<'_>,
        _: &[String],
        _: &MetricFilter,
    ) -> Result<Vec<Histogram>> {
        missing()
    }

    pub fn rules(_: &Session, _: &Address<'_>, _: Option<Version>) -> Result<Vec<(String, Report)>> {
        missing()
    }

    pub fn statements(_: Session, _: &Address<'_>, _: Option<(String, String)>) -> Result<Session> {
        missing()
    }

    pub fn requirements(_: &Session, _: &Address<'_>, _: &str, _: &Path) -> Result<Vec<Outcome>> {
        missing()
    }
}

pub use with::{histograms, requirements, rules, statements, summaries};
