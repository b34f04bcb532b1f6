//! Work on recordings that executors of a cluster do: the node of a plan that stands for it, how it reaches
//! them, and the processes of a cluster. The cluster is Ballista, of the version of the engine; it is given
//! plans of one shape only, and never an operator of ours but this node. Not what the work is (see
//! [`crate::cluster`]).

mod asked;
mod codec;
mod cores;
mod failure;
mod fragment;
mod framing;
mod job;
mod node;
mod processes;
mod scan;
mod statement;

pub(crate) use asked::{Asked, Fragment, RunFragment};
pub(super) use failure::of_task;
pub(crate) use job::{Cluster, SecondStep};
pub(crate) use node::{On, RunTask};
pub(crate) use processes::{ExecutorSettings, SchedulerSettings, run_executor, run_scheduler};
pub(super) use scan::FragmentNode;
pub(super) use statement::{distributed, fragment_plan};
