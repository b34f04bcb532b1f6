//! The SQL that ships in the binary: metrics (`queries/metrics`), and the views that every session has (all other folders of
//! `queries`), each with a header that says what it is. Not for what a header says (see `header`), and not for running them.

use super::queries::{Queries, Query};

/// One file of `queries/`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    /// `metrics`, or the area of a view; `prelude` for what others are built on.
    pub folder: &'static str,
    /// Name of the view or metric: the file name without `.sql`.
    pub name: &'static str,
    /// The whole file.
    pub text: &'static str,
}

macro_rules! library {
    ($($folder:literal { $($name:literal)* })*) => {
        &[$($(Source {
            folder: $folder,
            name: $name,
            text: include_str!(concat!("../../queries/", $folder, "/", $name, ".sql")),
        },)*)*]
    };
}

/// Every file of `queries/`; views come after the views they read, metrics in the order in which they are listed.
pub(super) const LIBRARY: &[Source] = library! {
    "prelude" {
        "process_metric_base"
        "process_pair"
        "kernel_pid"
        "kernel_tid"
    }
    "cores" {
        "core_slice"
        "core_load"
        "core_peak"
    }
    "processes" {
        "interference"
        "preemption"
        "worst_response"
        "worst_interference"
        "measured_job"
    }
    "runnables" {
        "runnable_self"
    }
    "signals" {
        "signal_read"
        "signal_lost"
    }
    "semaphores" {
        "semaphore_hold"
        "semaphore_wait"
    }
    "events" {
        "event_wait"
        "event_set"
    }
    "stimuli" {
        "stimulus"
    }
    "chains" {
        "chain_instance"
    }
    "os" {
        "os_service"
    }
    "kernel" {
        "kernel_trace"
        "message_latency"
        "blocking"
        "interrupt_load"
    }
    "grasp" {
        "grasp_job"
        "grasp_message"
        "server_budget"
        "buffer_level"
        "mutex"
    }
    "metrics" {
        "ActivateToActivate"
        "StartToStart"
        "EndToEnd"
        "EndToStart"
        "StartDelay"
        "ResponseTime"
        "GrossExecutionTime"
        "NetExecutionTime"
        "ReadyTime"
        "WaitingTime"
        "PollingTime"
        "ParkingTime"
        "Activations"
        "Preemptions"
        "MtaLimitExceeding"
        "FullMigrations"
        "BoundedMigrations"
        "CPULoad"
        "RunnableNetExecutionTime"
        "RunnableGrossExecutionTime"
        "RunnableSelfExecutionTime"
        "ChainReaction"
        "ChainAge"
        "ChainLost"
        "ChainRepeated"
    }
};

/// All of them. A file that cannot be read is left out, which the tests do not let happen.
pub(super) fn queries() -> Queries {
    let mut queries = Queries::default();
    for Source { folder, name, text } in LIBRARY {
        match Query::parse(folder, name, text, None) {
            Ok(Query::Metric(metric)) => queries.metrics.push(metric),
            Ok(Query::View(view)) => queries.views.push(view),
            Err(_) => {}
        }
    }
    queries
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_file_is_in_the_list_and_the_other_way_round() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("queries");
        let mut found = BTreeSet::new();
        for folder in std::fs::read_dir(&root).unwrap() {
            let folder = folder.unwrap().file_name().into_string().unwrap();
            for file in std::fs::read_dir(root.join(&folder)).unwrap() {
                let file = file.unwrap().path();
                assert_eq!(file.extension().unwrap(), "sql");
                found.insert(format!("{folder}/{}", file.file_stem().unwrap().to_str().unwrap()));
            }
        }
        let listed: BTreeSet<_> = LIBRARY.iter().map(|s| format!("{}/{}", s.folder, s.name)).collect();
        assert_eq!(found, listed);
    }

    #[test]
    fn every_header_is_complete() {
        for Source { folder, name, text } in LIBRARY {
            let query = Query::parse(folder, name, text, None).unwrap_or_else(|e| panic!("{name}: {e:?}"));
            let (doc, is_metric) = match &query {
                Query::Metric(metric) => (&metric.doc, true),
                Query::View(view) => (&view.doc, false),
            };
            assert_eq!(is_metric, *folder == "metrics", "{name}");
            assert!(doc.ends_with('.') && doc.len() > 20, "{name}: {doc:?}");
        }
    }
}
