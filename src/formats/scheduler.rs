//! What formats have in common whose events a scheduler wrote: the option for tasks that never terminate,
//! and what the mapper needs. Not what the events mean (see `description::SchedulerProfile`).

use super::{Settings, Setup};
use crate::options::OptionSpec;
use serde_json::json;

const ENDLESS: &str = "endless";

/// Profiles, and the events by which a trace is known to be of them.
const KNOWN_BY: &[(&str, &[&str])] = &[
    ("linux", &["sched_switch", "sched:sched_switch"]),
    ("zephyr", &["thread_switched_in"]),
    ("ros2", &["ros2:callback_start"]),
];

/// The profiles for a trace that declares these events.
pub(super) fn profiles(declares: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let fits = |known: &&(&str, &[&str])| known.1.iter().any(|event| declares(event));
    KNOWN_BY.iter().filter(fits).map(|known| known.0).collect()
}

/// The option for tasks that never terminate.
pub(super) const ENDLESS_OPTION: OptionSpec = OptionSpec::list(
    ENDLESS,
    "PATTERNS",
    "Recording of an RTOS or of Linux: tasks that never terminate; a job of theirs begins when they become ready and ends \
     when they wait, e.g. '*'; without, an instance is a task from its creation to its end",
);

/// How a recording is mapped whose events have the meanings of these profiles.
pub(super) fn setup(profiles: &[&str], settings: &Settings<'_>) -> Setup {
    let settings = json!({ "profiles": profiles, "endless": settings.options.list(ENDLESS) });
    Setup { mapper: "scheduler", settings }
}
