//! `btfdb scheduler` and `btfdb executor`: the processes of a cluster. Not the option --cluster (see
//! `on_cluster`).

use super::super::args::Limits;
use super::super::location;
use super::parse;
use crate::cluster::{ExecutorSettings, SchedulerSettings, TaskRunner, run_executor, run_scheduler};
use crate::error::{Error, Result};
use clap::Args;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

/// Run the scheduler of a cluster, until it is stopped.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb scheduler
  btfdb scheduler --listen 10.0.0.5:50050 --host scheduler.internal

Nobody has to prove who he is: run a cluster in a private network only (docs/scale.md).")]
pub struct SchedulerArgs {
    /// Address and port to listen on.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
    pub listen: SocketAddr,
    /// The name under which executors reach it; the address when left out.
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
}

/// Run an executor of a cluster, until it is stopped.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb executor 127.0.0.1:50050
  btfdb executor scheduler.internal:50050 --listen 10.0.0.6 --threads 8 --memory-limit 16GiB

Settings and credentials of object stores are those of its environment, not those of who asks.")]
pub struct ExecutorArgs {
    /// Host and port of the scheduler.
    #[arg(value_name = "HOST:PORT")]
    pub scheduler: String,
    /// Address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub listen: IpAddr,
    /// The name under which others reach it; the one of its connection when left out.
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// Port for rows; the next one is for orders of the scheduler.
    #[arg(long, default_value_t = 50051)]
    pub port: u16,
    /// Folder for rows that wait to be fetched, which exists; a temporary one when left out.
    #[arg(long, value_name = "DIR")]
    pub work_dir: Option<PathBuf>,
    /// Threads: as many tasks at a time. Memory: of all of them together.
    #[command(flatten)]
    pub limits: Limits,
}

pub(super) fn scheduler(args: &SchedulerArgs) -> Result<u8> {
    log_to_stderr();
    let host = args.host.clone().unwrap_or_else(|| args.listen.ip().to_string());
    run_scheduler(&SchedulerSettings { listen: args.listen, host }).map(|()| 0)
}

pub(super) fn executor(args: &ExecutorArgs) -> Result<u8> {
    log_to_stderr();
    let address = args.scheduler.rsplit_once(':');
    let address = address.and_then(|(host, port)| Some((host.to_owned(), port.parse().ok()?)));
    let Some(scheduler) = address else {
        return Err(Error::usage(format!("'{}' is no host and port", args.scheduler))
            .hint("e.g. btfdb executor 127.0.0.1:50050"));
    };
    let Some(next) = args.port.checked_add(1) else {
        return Err(Error::usage("there is no port after that of --port"));
    };
    let cores = parse::threads(&args.limits);
    let all = parse::memory(&args.limits)?.unwrap_or((cores as u64).saturating_mul(512 << 20));
    let runner = TaskRunner { remote: location::remote(), memory_limit: Some(all / cores.max(1) as u64) };
    let folder = args.work_dir.as_ref().map(|folder| {
        if !folder.is_dir() {
            return Err(Error::usage(format!("--work-dir: there is no folder '{}'", folder.display())));
        }
        let text = folder.to_str().map(str::to_owned);
        text.ok_or_else(|| Error::usage(format!("the path '{}' is no text", folder.display())))
    });
    let settings = ExecutorSettings {
        scheduler,
        listen: args.listen,
        host: args.host.clone(),
        ports: [args.port, next],
        cores,
        folder: folder.transpose()?,
        runner: Arc::new(runner),
    };
    run_executor(&settings).map(|()| 0)
}

/// What the cluster says of itself.
struct Log;

impl log::Log for Log {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Info && metadata.target().starts_with("ballista")
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            #[expect(clippy::print_stderr, reason = "this is the log of a service")]
            {
                eprintln!("{}: {}", record.level().as_str().to_lowercase(), record.args());
            }
        }
    }

    fn flush(&self) {}
}

fn log_to_stderr() {
    // There is no other logger.
    let _ = log::set_logger(&Log);
    log::set_max_level(log::LevelFilter::Info);
}
