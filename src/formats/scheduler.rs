//! What formats have in common whose events a scheduler wrote: files that say what events mean, the option
//! for tasks that never terminate, and what the mapper needs. Not what follows from a meaning (see
//! `map::scheduler`).

use super::{ProfileFile, Settings, Setup};
use crate::options::OptionSpec;
use serde_json::json;

/// The events of a Linux kernel, which several tools record.
pub(super) static LINUX: ProfileFile = ProfileFile {
    name: "linux",
    known_by: &["sched_switch", "sched:sched_switch"],
    text: include_str!("linux.toml"),
};

const ENDLESS: &str = "endless";

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
