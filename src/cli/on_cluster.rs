//! The option --cluster: a cluster does the work of a command. In a btfdb without the feature `cluster`, an
//! error says so. Not what the cluster does (see [`crate::cluster`]).

use super::ui::Ui;
use crate::btf::spec::Version;
use crate::check::Report;
use crate::description::Description;
use crate::engine::Session;
use crate::error::{Error, Result};
use crate::metrics::{Histogram, MetricFilter};
use crate::ops::IngestOptions;
use crate::ops::findings::Found;
use crate::require::Outcome;
use crate::store::Location;
use crate::time::TimeScale;
use arrow::array::RecordBatch;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Address of the scheduler, and what interrupts the work.
pub type Address<'a> = (&'a str, Arc<AtomicBool>);

#[cfg(feature = "cluster")]
mod with {
    use super::*;
    use crate::cluster::{self, Fleet};
    use crate::metrics::in_unit;

    fn fleet<'s>(session: &'s Session, (address, interrupt): &Address<'s>) -> Result<Fleet<'s>> {
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

    /// As [`crate::ops::findings::doubts`].
    pub fn doubts(session: &Session, at: &Address<'_>) -> Result<Vec<Found>> {
        cluster::doubts(&fleet(session, at)?)
    }

    /// As [`crate::ops::check::check`].
    pub fn rules(
        session: &Session,
        at: &Address<'_>,
        version: Option<Version>,
    ) -> Result<Vec<(String, Report)>> {
        cluster::rules(&fleet(session, at)?, version)
    }

    /// Ingests inputs, each of which is a recording, and says what became of each.
    ///
    /// # Errors
    /// When one of them was not ingested, after all others were.
    pub fn ingest(
        at: &Location,
        inputs: &[PathBuf],
        what: (&Description, &IngestOptions),
        (address, interrupt): &Address<'_>,
        ui: &Ui,
    ) -> Result<()> {
        let all = cluster::ingest_all(at, inputs, what, address, Arc::clone(interrupt))?;
        for one in &all {
            let cluster::Ingested { name, events, findings: [warnings, errors], error } = one;
            match error {
                Some(why) => ui.warning(&format!("not ingested: {name}: {why}")),
                None if warnings + errors > 0 => {
                    ui.status(&format!(
                        "{name}: {events} BTF events; {warnings} warnings and {errors} errors, see \
                         `btfdb info {at} --recording {name}`"
                    ));
                }
                None => ui.status(&format!("{name}: {events} BTF events")),
            }
        }
        let failed = all.iter().filter(|one| one.error.is_some()).count() + inputs.len().abs_diff(all.len());
        if failed > 0 {
            let what = format!("{failed} of {} inputs were not ingested", inputs.len());
            return Err(Error::input(what).hint("the others were, each by a commit of its own"));
        }
        Ok(())
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

    pub fn doubts(_: &Session, _: &Address<'_>) -> Result<Vec<Found>> {
        missing()
    }

    pub fn rules(_: &Session, _: &Address<'_>, _: Option<Version>) -> Result<Vec<(String, Report)>> {
        missing()
    }

    pub fn ingest(
        _: &Location,
        _: &[PathBuf],
        _: (&Description, &IngestOptions),
        _: &Address<'_>,
        _: &Ui,
    ) -> Result<()> {
        missing()
    }

    pub fn statements(_: Session, _: &Address<'_>, _: Option<(String, String)>) -> Result<Session> {
        missing()
    }

    pub fn requirements(_: &Session, _: &Address<'_>, _: &str, _: &Path) -> Result<Vec<Outcome>> {
        missing()
    }
}

pub use with::{doubts, histograms, ingest, requirements, rules, statements, summaries};
