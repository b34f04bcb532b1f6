//! A cluster as its client sees it: sends tasks on recordings, and gets the rows. Not the processes of the
//! cluster (see `processes`).

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, RecordBatch, StringArray, UInt32Array};
use arrow::datatypes::SchemaRef;
use ballista_core::execution_plans::execute_physical_plan;
use ballista_core::extension::SessionConfigExt as _;
use datafusion::common::{DataFusionError, Result as EngineResult};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::protobuf::PhysicalPlanNode;
use futures::StreamExt;
use serde::Deserialize;
use tokio::runtime::{Builder, Runtime};

use super::codec::Codec;
use super::failure::of_task;
use super::framing::{Tally, framed};
use super::node::{RecordingsExec, Step, names_schema};
use crate::engine::failure::failed;
use crate::engine::runtime::STACK;
use crate::error::{Error, ErrorKind, Result};

/// How long the scheduler may take to say which executors it has.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// How often a waiting caller asks whether there are executors.
const WATCH_INTERVAL: Duration = Duration::from_secs(3);
/// How long there may be none.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long the scheduler may take to find a job, and again to end it.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);
/// How often a job is sent whose executors die or lose rows.
const ATTEMPTS: u32 = 3;
/// Bytes of rows that are held until the last one came, so that the job can be sent again.
const HELD: usize = 16 << 20;
/// How often a waiting caller looks at the interrupt flag.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A cluster that can be reached.
pub(crate) struct Cluster {
    /// `HOST:PORT` of the scheduler.
    address: String,
    runtime: Runtime,
    interrupt: Arc<AtomicBool>,
}

/// What the scheduler says of an executor.
#[derive(Deserialize)]
struct Executor {
    specification: Specification,
}

#[derive(Deserialize)]
struct Specification {
    vcores: usize,
}

/// What the scheduler says of a job.
#[derive(Deserialize)]
struct Running {
    job_id: String,
    job_name: String,
}

/// A task on recordings, as the cluster does it.
struct Job<'s> {
    plan: Arc<dyn ExecutionPlan>,
    /// The columns of the result.
    schema: &'s SchemaRef,
    shares: usize,
    /// Tasks of the second step.
    made: Option<usize>,
}

/// What is done with the rows of tasks on recordings: tasks, each of which gets all rows with the same keys.
pub(crate) struct SecondStep {
    pub task: String,
    /// The places of the columns that are keys.
    pub keys: Vec<usize>,
    /// How many tasks.
    pub parts: usize,
    /// The columns of the result.
    pub schema: SchemaRef,
}

impl Cluster {
    /// The cluster whose scheduler is at `HOST:PORT`. Calls end soon after `interrupt` becomes true.
    ///
    /// # Errors
    /// When threads are not available.
    pub fn at(address: &str, interrupt: Arc<AtomicBool>) -> Result<Self> {
        let runtime =
            Builder::new_multi_thread().worker_threads(2).thread_stack_size(STACK).enable_all().build();
        let runtime = runtime.map_err(|e| Error::new(ErrorKind::Io, "cannot start threads").because(e))?;
        Ok(Self { address: address.to_owned(), runtime, interrupt })
    }

    /// How many tasks its executors do at the same time.
    ///
    /// # Errors
    /// When the scheduler does not answer, or has no executor.
    pub fn cores(&self) -> Result<usize> {
        let text = self.wait(self.executors())?.map_err(|e| self.unreachable().because(e))?;
        let executors: Vec<Executor> = serde_json::from_str(&text).map_err(|e| {
            Error::new(ErrorKind::Io, format!("'{}' does not answer as a scheduler does", self.address))
                .because(e)
                .hint("a cluster is started with `btfdb scheduler` and `btfdb executor`")
        })?;
        match executors.iter().map(|executor| executor.specification.vcores).sum() {
            0 => Err(self.without_executors()),
            cores => Ok(cores),
        }
    }

    /// What the scheduler says of its executors.
    async fn executors(&self) -> Result<String, reqwest::Error> {
        let client = reqwest::Client::builder().timeout(ANSWER_TIMEOUT).build()?;
        let url = format!("http://{}/api/executors", self.address);
        client.get(url).send().await?.error_for_status()?.text().await
    }

    fn without_executors(&self) -> Error {
        Error::new(ErrorKind::Io, format!("the cluster at '{}' has no executor", self.address))
            .hint(format!("start some: btfdb executor {}", self.address))
    }

    /// Ends when the scheduler has been without an executor, or has not answered, for a while: it keeps a job
    /// until there is one.
    async fn abandoned(&self) -> Error {
        let mut since: Option<Instant> = None;
        loop {
            tokio::time::sleep(WATCH_INTERVAL).await;
            let error = match self.executors().await {
                Ok(text) if text.trim() == "[]" => self.without_executors(),
                Ok(_) => {
                    since = None;
                    continue;
                }
                Err(e) => self.unreachable().because(e),
            };
            if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                return error;
            }
        }
    }

    fn unreachable(&self) -> Error {
        Error::new(ErrorKind::Io, format!("cannot reach a scheduler at '{}'", self.address))
            .hint("a cluster is started with `btfdb scheduler` and `btfdb executor`")
    }

    /// Waits for `work`, unless the user stops it, or the cluster is gone.
    fn wait<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        let interrupted = async {
            while !self.interrupt.load(Ordering::Relaxed) {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        };
        self.runtime.block_on(async {
            tokio::select! {
                result = work => Ok(result),
                () = interrupted => Err(Error::interrupted()),
                error = self.abandoned() => Err(error),
            }
        })
    }

    /// Does a task on recordings, each share in a task of the cluster, and a second step with its rows, if
    /// there is one. Gives `rows` each batch of the result, in any order, until that returns false; `schema`
    /// has the columns of the rows of the task. What fails for a reason outside of the task, before rows were
    /// given, is tried again: they are held until all have come, or until they are many.
    ///
    /// # Errors
    /// Those of the task; when the cluster is not there, or fails.
    pub fn run(
        &self,
        (task, schema): (&str, &SchemaRef),
        then: Option<&SecondStep>,
        shares: &[Vec<String>],
        mut rows: impl FnMut(RecordBatch) -> Result<bool>,
    ) -> Result<()> {
        let shares: Vec<_> = shares.iter().filter(|share| !share.is_empty()).collect();
        if shares.is_empty() {
            return Ok(());
        }
        let plan = plan((task, schema), then, &shares).map_err(failed)?;
        let schema = then.map_or(schema, |then| &then.schema);
        let job = Job { plan, schema, shares: shares.len(), made: then.map(|then| then.parts) };
        let mut held = Held { batches: Vec::new(), bytes: 0, are_given: false, rows: &mut rows };
        for attempt in 1.. {
            let Err(error) = self.attempt(&job, &mut held)? else { break };
            let is_final = attempt == ATTEMPTS || held.are_given || of_task(&error.to_string()).is_some();
            if is_final || self.cores().is_err() {
                return Err(self.error(&error));
            }
            held.forget();
        }
        held.give().map(drop)
    }

    /// The inner error: the cluster's.
    fn attempt(&self, job: &Job<'_>, rows: &mut Held<'_>) -> Result<EngineResult<()>> {
        // The name of the job, by which it is found again.
        let name = SessionContext::new().session_id();
        let ended = self.receive(job, &name, rows);
        if !matches!(ended, Ok(Ok(true))) {
            self.runtime.block_on(self.cancel(&name));
        }
        ended.map(|ended| ended.map(|_| ()))
    }

    /// False when the rows that came were enough.
    fn receive(&self, job: &Job<'_>, name: &str, rows: &mut Held<'_>) -> Result<EngineResult<bool>> {
        let mut tally = Tally::new(job.shares, job.made);
        let mut stream = match self.wait(self.send(Arc::clone(&job.plan), name))? {
            Ok(stream) => stream,
            Err(e) => return Ok(Err(e)),
        };
        while let Some(batch) = self.wait(stream.next())? {
            match batch.and_then(|batch| tally.take(batch, job.schema)) {
                Ok(batch) if batch.num_rows() == 0 => {}
                Ok(batch) => {
                    if !rows.take(batch)? {
                        return Ok(Ok(false));
                    }
                }
                Err(e) => return Ok(Err(e)),
            }
        }
        Ok(tally.check().map(|()| true))
    }

    /// Ends a job whose rows nobody waits for. If that fails, executors do it to its end for nothing.
    async fn cancel(&self, name: &str) {
        let cancelled = async {
            let client = reqwest::Client::builder().timeout(CANCEL_TIMEOUT).build()?;
            let url = format!("http://{}/api", self.address);
            let text = client.get(format!("{url}/jobs")).send().await?.text().await?;
            let jobs: Vec<Running> = serde_json::from_str(&text).unwrap_or_default();
            for job in jobs.iter().filter(|job| job.job_name == name) {
                client.patch(format!("{url}/job/{}", job.job_id)).send().await?;
            }
            Ok::<_, reqwest::Error>(())
        };
        drop(cancelled.await);
    }

    async fn send(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        name: &str,
    ) -> EngineResult<SendableRecordBatchStream> {
        let config = SessionConfig::new_with_ballista().with_ballista_job_name(name);
        let session = name.to_owned();
        let url = format!("http://{}", self.address);
        let ballista = config.ballista_config();
        let codec = Codec::default();
        execute_physical_plan::<PhysicalPlanNode>(url, &ballista, plan, &codec, session, config).await
    }

    fn error(&self, error: &DataFusionError) -> Error {
        let text = error.strip_backtrace();
        if let Some(error) = of_task(&text) {
            return error;
        }
        if text.contains("transport error") && text.contains("Connect") {
            return self.unreachable().because(text);
        }
        Error::new(ErrorKind::Io, format!("the cluster at '{}' failed", self.address))
            .because(text)
            .hint("scheduler and executors say more on their standard error")
    }
}

/// Rows of a job that may have to be sent again.
struct Held<'r> {
    batches: Vec<RecordBatch>,
    bytes: usize,
    /// Whether the caller has got rows.
    are_given: bool,
    rows: &'r mut dyn FnMut(RecordBatch) -> Result<bool>,
}

impl Held<'_> {
    /// Takes rows that came; false when the caller wants no more.
    fn take(&mut self, batch: RecordBatch) -> Result<bool> {
        self.bytes += batch.get_array_memory_size();
        self.batches.push(batch);
        if self.are_given || self.bytes > HELD { self.give() } else { Ok(true) }
    }

    /// Gives the caller what came so far.
    fn give(&mut self) -> Result<bool> {
        for batch in self.batches.drain(..) {
            self.are_given = true;
            if !(self.rows)(batch)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What came is of a job that failed.
    fn forget(&mut self) {
        (self.batches, self.bytes) = (Vec::new(), 0);
    }
}

/// The plan of a task. It ends with one partition: an executor that is lost after it finished a task of the
/// last stage would leave places behind where no result is (Ballista 55).
fn plan(
    (task, schema): (&str, &SchemaRef),
    then: Option<&SecondStep>,
    shares: &[&Vec<String>],
) -> EngineResult<Arc<dyn ExecutionPlan>> {
    let columns = names_schema();
    let partition = |(number, share): (u32, &&Vec<String>)| {
        let numbers: ArrayRef = Arc::new(UInt32Array::from_value(number, share.len()));
        let names: ArrayRef = Arc::new(StringArray::from_iter_values(*share));
        Ok(vec![RecordBatch::try_new(Arc::clone(&columns), vec![numbers, names])?])
    };
    let partitions = (0..).zip(shares).map(partition).collect::<EngineResult<Vec<_>>>()?;
    let names = MemorySourceConfig::try_new_exec(&partitions, Arc::clone(&columns), None)?;
    let work = RecordingsExec::new((task.into(), Step::First), framed(schema), names, None);
    let mut work: Arc<dyn ExecutionPlan> = Arc::new(work);
    if let Some(SecondStep { task, keys, parts, schema: made }) = then {
        let key = |at: &usize| Arc::new(Column::new(schema.field(*at).name(), *at)) as Arc<dyn PhysicalExpr>;
        let by_keys = Partitioning::Hash(keys.iter().map(key).collect(), *parts);
        let dealt = Arc::new(RepartitionExec::try_new(work, by_keys)?);
        let step = Step::Second { shares: u32::try_from(shares.len()).unwrap_or(u32::MAX) };
        work = Arc::new(RecordingsExec::new((task.as_str().into(), step), framed(made), dealt, None));
    }
    Ok(Arc::new(CoalescePartitionsExec::new(work)))
}

#[cfg(test)]
mod tests {
    use arrow::array::Int64Array;
    use arrow::datatypes::{DataType, Field, Schema};

    use super::*;

    /// A batch with so many rows of eight bytes.
    fn batch(rows: usize) -> RecordBatch {
        let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
        RecordBatch::try_new(schema, vec![Arc::new(Int64Array::from(vec![7; rows]))]).unwrap()
    }

    #[test]
    fn few_rows_are_given_when_all_have_come() {
        let mut given = Vec::new();
        let mut rows = |batch: RecordBatch| {
            given.push(batch.num_rows());
            Ok(true)
        };
        let mut held = Held { batches: Vec::new(), bytes: 0, are_given: false, rows: &mut rows };
        assert!(held.take(batch(1)).unwrap() && !held.are_given);
        // The job failed, and was sent again.
        held.forget();
        assert!(held.take(batch(2)).unwrap() && held.take(batch(3)).unwrap() && !held.are_given);
        assert!(held.give().unwrap() && held.are_given);
        assert_eq!(given, [2, 3]);
    }

    #[test]
    fn many_rows_are_given_as_they_come() {
        let mut given = Vec::new();
        let mut rows = |batch: RecordBatch| {
            given.push(batch.num_rows());
            Ok(given.len() < 3)
        };
        let mut held = Held { batches: Vec::new(), bytes: 0, are_given: false, rows: &mut rows };
        assert!(held.take(batch(1)).unwrap() && !held.are_given);
        assert!(held.take(batch(HELD / 8)).unwrap() && held.are_given);
        assert!(!held.take(batch(5)).unwrap(), "the caller has enough");
        assert_eq!(given, [1, HELD / 8, 5]);
    }
}
