//! Ends a command that takes more memory than it may, before the system ends it or other programs suffer. The
//! engine keeps its own limit and spills; this is for what it does not count: the making of plans, values
//! that a function makes, names of an input. Nothing is visible in a database before its commit, so that it
//! stays as it was. On Linux only.

use super::exit;
use super::ui::Ui;
use crate::threads::Thread;
use std::thread::Builder;

/// Memory that a command has in addition to its limit, in bytes: what it reads and writes, its code, stacks.
const ALLOWANCE: u64 = 256 << 20;

/// Half of the memory of the machine, or of the container; `None` where the system does not say.
pub(super) fn half_of_machine() -> Option<u64> {
    let first = |path: &str, line: &str| {
        let text = std::fs::read_to_string(path).ok()?;
        let found = text.lines().find_map(|l| l.strip_prefix(line))?;
        found.split_whitespace().next()?.parse::<u64>().ok()
    };
    let machine = first("/proc/meminfo", "MemTotal:")?.saturating_mul(1024);
    let container = first("/sys/fs/cgroup/memory.max", "").unwrap_or(machine);
    Some(machine.min(container) / 2)
}

/// Watches the memory of this process until its end. `limit` in bytes.
pub(super) fn start(limit: u64, ui: Ui) {
    let Some(first) = anonymous() else { return };
    let most = limit.saturating_add(ALLOWANCE).max(first.saturating_add(ALLOWANCE));
    // Without the thread, nothing is watched, and all else works.
    let _ = Thread::start(Builder::new().name("btfdb-memory".into()), move || {
        loop {
            std::thread::sleep(std::time::Duration::from_millis(25));
            if anonymous().is_some_and(|bytes| bytes > most) {
                ui.error(&exceeded(limit));
                exit::now(1);
            }
        }
    });
}

fn exceeded(limit: u64) -> crate::error::Error {
    let mib = limit >> 20;
    crate::error::Error::new(
        crate::error::ErrorKind::Limit,
        format!(
            "the command needs more memory than it may use: {mib} MiB, and {} MiB for itself",
            ALLOWANCE >> 20
        ),
    )
    .hint("raise --memory-limit, or ask for less at once")
}

/// Bytes of memory that are of this process alone, and not of a file.
fn anonymous() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()?.saturating_mul(1024))
}
