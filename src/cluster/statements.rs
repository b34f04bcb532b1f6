//! Statements of a session whose fragments a cluster runs. Not what a fragment is (see `engine::cluster`).

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::deal::deal;
use super::task::{Given, Task, Work};
use crate::engine::Session;
use crate::engine::cluster::{Asked, Cluster, Fragment, RunFragment};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::TABLES;
use crate::store::Database;

/// Runs the fragments of statements on a cluster.
struct Statements {
    cluster: Cluster,
    database: Database,
    given: Given,
    restrict: Option<(String, String)>,
}

impl fmt::Debug for Statements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statements").finish_non_exhaustive()
    }
}

impl RunFragment for Statements {
    fn run(
        &self,
        asked: &Asked,
        fragment: &Fragment,
        schema: &SchemaRef,
        rows: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> Result<()> {
        let work = Work::Statement {
            asked: asked.clone(),
            number: fragment.number,
            plan: fragment.plan.clone(),
            above: STANDARD.encode(&fragment.above),
            restrict: self.restrict.clone(),
        };
        let shares = deal(self.database.recordings()?, self.cluster.cores()?);
        let text = Task::on(&self.database, self.given.clone(), work)?.text()?;
        self.cluster.run((&text, schema), None, &shares, |batch| Ok(rows(batch)))
    }
}

/// The session, whose statements a cluster runs from now on; `address`: `HOST:PORT` of its scheduler.
/// `restrict`: a table that was restricted, and the condition.
///
/// # Errors
/// When threads are not available.
pub(crate) fn on_cluster(
    session: Session,
    address: &str,
    interrupt: Arc<AtomicBool>,
    restrict: Option<(String, String)>,
) -> Result<Session> {
    let cluster = Cluster::at(address, interrupt)?;
    let database = session.database().clone();
    let given = Given::of(&session);
    Ok(session.with_cluster(Arc::new(Statements { cluster, database, given, restrict })))
}

/// The table has only the rows for which a condition is true, as in the session of who asks.
pub(super) fn restrict(session: &Session, table: &str, condition: &str) -> Result<()> {
    let spec = TABLES.iter().find(|spec| spec.name == table);
    let unknown = || Error::new(ErrorKind::Bug, format!("there is no table '{table}'"));
    session.restrict(spec.ok_or_else(unknown)?, condition)
}

pub(super) fn decoded(above: &str) -> Result<Vec<u8>> {
    let bug = |e| Error::new(ErrorKind::Bug, "a part of a statement cannot be read").because(e);
    STANDARD.decode(above).map_err(bug)
}
