//! Which cores of executors are free. Not what runs on them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use ballista_core::JobId;
use ballista_core::error::Result;
use ballista_core::serde::protobuf::{ExecutorHeartbeat, task_status};
use ballista_core::serde::scheduler::{ExecutorData, ExecutorMetadata};
use ballista_scheduler::cluster::{BoundTask, ClusterState, ClusterStateEventStream, ExecutorSlot};
use ballista_scheduler::config::TaskDistributionPolicy;
use ballista_scheduler::state::execution_stage::ExecutionStage;
use ballista_scheduler::state::task_manager::JobInfoCache;

/// The state of a cluster that loses no core. A task gives back what its stage says that it took (Ballista
/// 55). When an executor is lost, stages that need its rows are taken back; their tasks on other executors
/// are then not found, and what they took would stay taken. With one core each, that is the last one: jobs
/// would wait for ever.
pub(super) struct CountedCores {
    inner: Arc<dyn ClusterState>,
    executors: Mutex<HashMap<String, Cores>>,
}

/// Those of an executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cores {
    total: u32,
    /// As `inner` counts them.
    free: u32,
}

impl CountedCores {
    pub fn new(inner: Arc<dyn ClusterState>) -> Self {
        Self { inner, executors: Mutex::default() }
    }

    fn executors(&self) -> MutexGuard<'_, HashMap<String, Cores>> {
        self.executors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many cores the tasks of all jobs use, by executor.
async fn used(jobs: &HashMap<JobId, JobInfoCache>) -> HashMap<String, u32> {
    let mut used = HashMap::new();
    for job in jobs.values() {
        let graph = job.execution_graph.read().await;
        for stage in graph.stages().values() {
            let ExecutionStage::Running(stage) = stage else { continue };
            for task in &stage.task_infos {
                if let task_status::Status::Running(running) = &task.task_status {
                    *used.entry(running.executor_id.clone()).or_default() += task.vcores_consumed;
                }
            }
        }
    }
    used
}

/// The cores that count as taken and that no task uses. They are free from now on.
fn found(executors: &mut HashMap<String, Cores>, used: &HashMap<String, u32>) -> Vec<ExecutorSlot> {
    let mut found = Vec::new();
    for (executor, cores) in executors {
        let free = cores.total.saturating_sub(used.get(executor).copied().unwrap_or(0));
        if free > cores.free {
            found.push((executor.clone(), free - cores.free));
            cores.free = free;
        }
    }
    found
}

/// What is given back, but not more than was taken: it may have been found before.
fn given_back(executors: &mut HashMap<String, Cores>, slots: Vec<ExecutorSlot>) -> Vec<ExecutorSlot> {
    let mut given = Vec::new();
    for (executor, count) in slots {
        let Some(cores) = executors.get_mut(&executor) else { continue };
        let count = count.min(cores.total.saturating_sub(cores.free));
        cores.free += count;
        given.push((executor, count));
    }
    given
}

#[async_trait]
impl ClusterState for CountedCores {
    async fn init(&self) -> Result<()> {
        self.inner.init().await
    }

    async fn bind_schedulable_tasks(
        &self,
        distribution: TaskDistributionPolicy,
        active_jobs: Arc<HashMap<JobId, JobInfoCache>>,
        executors: Option<HashSet<String>>,
    ) -> Result<Vec<BoundTask>> {
        let used = used(&active_jobs).await;
        let found = found(&mut self.executors(), &used);
        self.inner.unbind_tasks(found).await?;
        let bound = self.inner.bind_schedulable_tasks(distribution, active_jobs, executors).await?;
        let mut executors = self.executors();
        for (executor, task) in &bound {
            if let Some(cores) = executors.get_mut(executor) {
                cores.free = cores.free.saturating_sub(task.vcores_consumed);
            }
        }
        drop(executors);
        Ok(bound)
    }

    async fn unbind_tasks(&self, executor_slots: Vec<ExecutorSlot>) -> Result<()> {
        let given = given_back(&mut self.executors(), executor_slots);
        self.inner.unbind_tasks(given).await
    }

    async fn register_executor(&self, metadata: ExecutorMetadata, spec: ExecutorData) -> Result<()> {
        let executor = metadata.id.clone();
        let cores = Cores { total: spec.total_vcores, free: spec.available_vcores };
        self.inner.register_executor(metadata, spec).await?;
        self.executors().insert(executor, cores);
        Ok(())
    }

    async fn save_executor_metadata(&self, metadata: ExecutorMetadata) -> Result<()> {
        self.inner.save_executor_metadata(metadata).await
    }

    async fn get_executor_metadata(&self, executor_id: &str) -> Result<ExecutorMetadata> {
        self.inner.get_executor_metadata(executor_id).await
    }

    async fn registered_executor_metadata(&self) -> Vec<ExecutorMetadata> {
        self.inner.registered_executor_metadata().await
    }

    async fn save_executor_heartbeat(&self, heartbeat: ExecutorHeartbeat) -> Result<()> {
        self.inner.save_executor_heartbeat(heartbeat).await
    }

    async fn remove_executor(&self, executor_id: &str) -> Result<()> {
        self.executors().remove(executor_id);
        self.inner.remove_executor(executor_id).await
    }

    fn executor_heartbeats(&self) -> HashMap<String, ExecutorHeartbeat> {
        self.inner.executor_heartbeats()
    }

    fn get_executor_heartbeat(&self, executor_id: &str) -> Option<ExecutorHeartbeat> {
        self.inner.get_executor_heartbeat(executor_id)
    }

    async fn cluster_state_events(&self) -> Result<ClusterStateEventStream> {
        self.inner.cluster_state_events().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_that_no_task_uses_is_free_once() {
        let cores = |free| Cores { total: 4, free };
        let mut executors = HashMap::from([("a".to_owned(), cores(0)), ("b".to_owned(), cores(4))]);
        // Three tasks run, and the fourth, whose stage was taken back, is not known any more.
        let used = HashMap::from([("a".to_owned(), 3)]);
        assert_eq!(found(&mut executors, &used), [("a".to_owned(), 1)]);
        assert_eq!(found(&mut executors, &used), []);
        // A task that gives back more than is taken, and one of an executor that is lost.
        let slots = vec![("a".to_owned(), 5), ("b".to_owned(), 1), ("gone".to_owned(), 1)];
        assert_eq!(given_back(&mut executors, slots), [("a".to_owned(), 3), ("b".to_owned(), 0)]);
        assert_eq!(executors, HashMap::from([("a".to_owned(), cores(4)), ("b".to_owned(), cores(4))]));
    }
}
