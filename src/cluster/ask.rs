//! A database whose recordings a cluster works on, as a command sees it. Not what it is asked.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::deal::deal;
use super::statements::on_cluster;
use super::task::{Given, Task, Work};
use crate::engine::cluster::Cluster;
use crate::engine::{Session, SessionOptions};
use crate::error::Result;
use crate::schema::result::{Texts, column};

/// The recordings of a session, and the cluster that works on them.
pub(crate) struct Fleet<'a> {
    pub session: &'a Session,
    cluster: Cluster,
    address: &'a str,
    interrupt: Arc<AtomicBool>,
}

impl<'a> Fleet<'a> {
    /// `address`: `HOST:PORT` of the scheduler.
    ///
    /// # Errors
    /// When threads are not available.
    pub fn new(session: &'a Session, address: &'a str, interrupt: Arc<AtomicBool>) -> Result<Self> {
        Ok(Self { session, cluster: Cluster::at(address, Arc::clone(&interrupt))?, address, interrupt })
    }

    /// A session of the same recordings, whose statements the cluster runs.
    pub(super) fn statements(&self) -> Result<Session> {
        let options = SessionOptions { threads: Some(self.session.threads()), memory_limit: None };
        let session = self.session.renewed(options)?.with_interrupt(Arc::clone(&self.interrupt));
        let session = session.with_chains(self.session.given_chains())?;
        on_cluster(session, self.address, Arc::clone(&self.interrupt), None)
    }

    /// Has work done on all recordings of the session, and gives `rows` the batches, in any order; `schema`
    /// has their columns.
    ///
    /// # Errors
    /// Those of the work; when the cluster is not there, or fails.
    pub(super) fn run(
        &self,
        work: Work,
        schema: &SchemaRef,
        mut rows: impl FnMut(RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let database = self.session.database();
        let shares = deal(database.recordings()?, self.cluster.cores()?);
        let task = Task::on(database, Given::of(self.session), work)?;
        self.cluster.run(&task.text()?, schema, &shares, |batch| rows(batch).map(|()| true))
    }

    /// As [`Fleet::run`], for work whose rows name their recording in a column: the batches, cut by
    /// recording, in the order of the database.
    ///
    /// # Errors
    /// As [`Fleet::run`].
    pub(super) fn run_in_order(&self, work: Work, schema: &SchemaRef) -> Result<Vec<RecordBatch>> {
        let recordings = self.session.database().recordings()?;
        let places: HashMap<&str, usize> = recordings.iter().map(|r| r.name.as_str()).zip(0..).collect();
        let mut found: Vec<(Option<usize>, usize, RecordBatch)> = Vec::new();
        self.run(work, schema, |batch| {
            let names: Texts = column(&batch, "recording")?;
            let mut begin = 0;
            for row in 1..=batch.num_rows() {
                if row == batch.num_rows() || names.value(row) != names.value(begin) {
                    let place = places.get(names.value(begin)).copied();
                    found.push((place, found.len(), batch.slice(begin, row - begin)));
                    begin = row;
                }
            }
            Ok(())
        })?;
        found.sort_by_key(|(place, came, _)| (*place, *came));
        Ok(found.into_iter().map(|(_, _, batch)| batch).collect())
    }
}
