//! The processes of a cluster: the scheduler, and executors. Each runs until it is told to end. Not what
//! executors do (see `node`).

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use ballista_core::error::BallistaError;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use tokio::runtime::Builder;

use super::codec::Codec;
use super::cores::CountedCores;
use super::node::RunTask;
use crate::engine::runtime::STACK;
use crate::error::{Error, ErrorKind, Result};

/// An executor says this often that it is alive, in seconds.
const HEARTBEAT: u64 = 2;
/// An executor that is silent for so many seconds is lost: others do its tasks again.
const SILENCE: u64 = 8;
/// So long a job waits for an executor when all are lost, in seconds.
const WITHOUT_EXECUTORS: u64 = 12;
/// Seconds after which an executor deletes the rows of a job that ended.
const KEPT: u64 = 3600;

/// Where a scheduler listens.
#[derive(Debug, Clone)]
pub(crate) struct SchedulerSettings {
    pub listen: SocketAddr,
    /// The name under which executors reach it.
    pub host: String,
}

/// Where an executor listens, and what it may use.
#[derive(Debug)]
pub(crate) struct ExecutorSettings {
    /// Host and port of the scheduler.
    pub scheduler: (String, u16),
    pub listen: IpAddr,
    /// The name under which scheduler, executors and clients reach it; `None`: that of its connection.
    pub host: Option<String>,
    /// For rows, and for orders of the scheduler.
    pub ports: [u16; 2],
    /// Tasks at the same time.
    pub cores: usize,
    /// For rows that wait to be fetched; `None`: a temporary folder.
    pub folder: Option<String>,
    /// Does the tasks.
    pub runner: Arc<dyn RunTask>,
}

/// Runs a scheduler.
///
/// # Errors
/// When it cannot listen.
pub(crate) fn run_scheduler(settings: &SchedulerSettings) -> Result<()> {
    let config = SchedulerConfig {
        external_host: settings.host.clone(),
        bind_host: settings.listen.ip().to_string(),
        bind_port: settings.listen.port(),
        executor_timeout_seconds: SILENCE,
        expire_dead_executor_interval_seconds: HEARTBEAT,
        no_executors_grace_period_seconds: WITHOUT_EXECUTORS,
        override_physical_codec: Some(Arc::new(Codec::default())),
        ..SchedulerConfig::default()
    };
    let listen = settings.listen;
    let serve = async move {
        let cluster = BallistaCluster::new_from_config(&config).await?;
        let cores = Arc::new(CountedCores::new(cluster.cluster_state()));
        let cluster = BallistaCluster::new(cores, cluster.job_state());
        start_server(cluster, listen, Arc::new(config)).await
    };
    run("scheduler", serve)
}

/// Runs an executor.
///
/// # Errors
/// When it cannot listen, or the scheduler is not there.
pub(crate) fn run_executor(settings: &ExecutorSettings) -> Result<()> {
    let [port, grpc_port] = settings.ports;
    let (scheduler_host, scheduler_port) = settings.scheduler.clone();
    let config = ExecutorProcessConfig {
        bind_host: settings.listen.to_string(),
        external_host: settings.host.clone(),
        port,
        grpc_port,
        scheduler_host,
        scheduler_port,
        vcores: settings.cores,
        work_dir: settings.folder.clone(),
        executor_heartbeat_interval_seconds: HEARTBEAT,
        job_data_ttl_seconds: KEPT,
        job_data_clean_up_interval_seconds: KEPT / 6,
        override_physical_codec: Some(Arc::new(Codec::of_executor(Arc::clone(&settings.runner)))),
        ..ExecutorProcessConfig::default()
    };
    run("executor", start_executor_process(Arc::new(config)))
}

fn run(what: &str, work: impl Future<Output = Result<(), BallistaError>>) -> Result<()> {
    let runtime = Builder::new_multi_thread().thread_stack_size(STACK).enable_all().build();
    let runtime = runtime.map_err(|e| Error::new(ErrorKind::Io, "cannot start threads").because(e))?;
    let failed = |e: BallistaError| Error::new(ErrorKind::Io, format!("the {what} ended")).because(e);
    runtime.block_on(work).map_err(failed)
}
