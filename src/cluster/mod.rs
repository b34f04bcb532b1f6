//! Commands on many recordings, done by a cluster: what executors are told and do, how recordings are dealt
//! to them, and how their results become those of one process, byte for byte. Not how tasks reach executors
//! (see `engine::cluster`).

mod ask;
mod deal;
mod doubts;
mod executor;
mod ingest;
mod inputs;
mod metrics;
mod requirements;
mod rules;
mod statements;
mod task;
mod texts;

pub(crate) use crate::engine::cluster::{ExecutorSettings, SchedulerSettings, run_executor, run_scheduler};
pub(crate) use ask::Fleet;
pub(crate) use doubts::doubts;
pub(crate) use executor::TaskRunner;
pub(crate) use ingest::{Ingested, ingest_all};
pub(crate) use metrics::{histograms, summaries};
pub(crate) use requirements::requirements;
pub(crate) use rules::rules;
pub(crate) use statements::on_cluster;
