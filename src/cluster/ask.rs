//! A database whose recordings a cluster works on, as a command sees it. Not what it is asked.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::deal::deal;
use super::statements::on_cluster;
use super::task::{Given, Task, Work};
use crate::engine::cluster::{Cluster, SecondStep};
use crate::engine::{Session, SessionOptions};
use crate::error::Result;
use crate::schema::result::{Texts, column};

/// Most tasks of a second step: each reads a file of each task of the first.
const PARTS: usize = 32;

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
        let options = SessionOptions { threads: Some(self.session.threads()), ..SessionOptions::default() };
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
        rows: impl FnMut(RecordBatch) -> Result<()>,
    ) -> Result<()> {
        self.run_in_steps((work, schema), None, rows)
    }

    /// As [`Fleet::run`]; then work on its rows, all those with the same keys, which are the columns at some
    /// places, by one task. `rows` gets the batches of that, with the columns of another schema.
    ///
    /// # Errors
    /// As [`Fleet::run`].
    pub(super) fn run_in_steps(
        &self,
        (work, schema): (Work, &SchemaRef),
        then: Option<(Work, &[usize], &SchemaRef)>,
        mut rows: impl FnMut(RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let database = self.session.database();
        let cores = self.cluster.cores()?;
        let shares = deal(database.recordings()?, cores);
        let given = Given::of(self.session);
        let text = |work| Task::on(database, given.clone(), work)?.text();
        let then = match then {
            None => None,
            Some((work, keys, schema)) => Some(SecondStep {
                task: text(work)?,
                keys: keys.to_vec(),
                parts: cores.min(PARTS),
                schema: Arc::clone(schema),
            }),
        };
        let first = text(work)?;
        self.cluster.run((&first, schema), then.as_ref(), &shares, |batch| rows(batch).map(|()| true))
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
