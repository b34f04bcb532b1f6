//! The kinds of rows of a picture: the requested ones, or those that the window has room for.

use std::collections::BTreeSet;

use crate::btf::EntityType;
use crate::error::{Error, Result};
use crate::picture::RowKind;
use crate::words::words;

/// With at most this many events, a picture shows all kinds of rows.
const SHOW_ALL: u64 = 100_000;
/// With at most this many events, it shows the kinds that are computed quickly.
const MANY: u64 = 5_000_000;

words! {
    /// Rows of what runs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Rows {
        /// One per task and ISR: its states.
        Task = "task",
        /// One per core: what runs on it.
        Core = "core",
        /// Both.
        #[default]
        Both = "both",
    }
}

/// The kinds of rows to show, and those that are left out because there is too much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Show {
    kinds: BTreeSet<RowKind>,
    pub left_out: Vec<RowKind>,
}

/// Kinds other than tasks, ISRs and cores; the cheapest first.
const OTHERS: [RowKind; 7] = [
    RowKind::Semaphore,
    RowKind::Signal,
    RowKind::Server,
    RowKind::Buffer,
    RowKind::Runnable,
    RowKind::Event,
    RowKind::Stimulus,
];

impl Show {
    /// # Errors
    /// A type that no picture has rows for.
    pub fn new(rows: Rows, types: &[String], events: u64) -> Result<Self> {
        let mut kinds = BTreeSet::from([RowKind::Trace]);
        if types.is_empty() {
            if rows != Rows::Task {
                kinds.insert(RowKind::Core);
            }
            if rows != Rows::Core {
                kinds.extend([RowKind::Task, RowKind::Isr]);
            }
            let room = match events {
                n if n <= SHOW_ALL => OTHERS.len(),
                n if n <= MANY => 4,
                _ => 0,
            };
            let (shown, left_out) = OTHERS.split_at(room);
            kinds.extend(shown);
            return Ok(Self { kinds, left_out: left_out.to_vec() });
        }
        for word in types {
            kinds.insert(row_kind(word)?);
        }
        Ok(Self { kinds, left_out: Vec::new() })
    }

    /// Leaves the others out, as they are no subject of the picture.
    pub fn only(&mut self, kinds: &[RowKind]) {
        self.kinds.retain(|kind| kinds.contains(kind));
        self.left_out.retain(|kind| kinds.contains(kind));
    }

    pub fn has(&self, kind: RowKind) -> bool {
        self.kinds.contains(&kind)
    }
}

fn row_kind(word: &str) -> Result<RowKind> {
    let kind = match EntityType::parse_tolerant(word) {
        Some(EntityType::Task) => Some(RowKind::Task),
        Some(EntityType::Isr) => Some(RowKind::Isr),
        Some(EntityType::Runnable) => Some(RowKind::Runnable),
        Some(EntityType::Core) => Some(RowKind::Core),
        Some(EntityType::Signal) => Some(RowKind::Signal),
        Some(EntityType::Semaphore) => Some(RowKind::Semaphore),
        Some(EntityType::OsEvent) => Some(RowKind::Event),
        Some(EntityType::Stimulus) => Some(RowKind::Stimulus),
        _ => RowKind::ALL.into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(word)),
    };
    kind.ok_or_else(|| {
        Error::usage(format!("--type: there are no rows of '{word}'"))
            .hint("use T, I, C, R, SEM, SIG, EVENT, STI, SERVER or BUFFER")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_window_shows_less() {
        let of = |events| Show::new(Rows::Both, &[], events).unwrap();
        assert!(of(10).has(RowKind::Runnable) && of(10).left_out.is_empty());
        assert!(!of(1_000_000).has(RowKind::Runnable) && of(1_000_000).has(RowKind::Semaphore));
        assert_eq!(of(1 << 40).left_out, OTHERS);
        assert!(of(1 << 40).has(RowKind::Task) && of(1 << 40).has(RowKind::Core));
    }

    #[test]
    fn what_is_asked_for_is_shown() {
        let show = Show::new(Rows::Both, &["isr".into(), "SEM".into(), "buffer".into()], 1 << 40).unwrap();
        assert!(show.has(RowKind::Isr) && show.has(RowKind::Semaphore) && show.has(RowKind::Buffer));
        assert!(!show.has(RowKind::Task) && !show.has(RowKind::Core) && show.left_out.is_empty());
        assert_eq!(Show::new(Rows::Both, &["X".into()], 0).unwrap_err().hints().len(), 1);
        assert!(!Show::new(Rows::Task, &[], 0).unwrap().has(RowKind::Core));
        assert!(!Show::new(Rows::Core, &[], 0).unwrap().has(RowKind::Task));
    }
}
