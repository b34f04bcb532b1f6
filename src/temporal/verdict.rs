//! What is said of a template: the verdict, the counts, the violations. Not for finding them.

use std::fmt;

/// Whether a template is kept; see the [module](super) for what exactly that means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// In every completion of the recording.
    Kept,
    /// In no completion of the recording.
    Violated,
    /// The records alone do not keep it; what is hidden, or comes later, may.
    MayStillBeKept,
    /// The records alone keep it; what is hidden, or comes later, may violate it.
    MayStillBeViolated,
}

impl Verdict {
    /// What reports say.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Violated => "violated",
            Self::MayStillBeKept => "may still be kept",
            Self::MayStillBeViolated => "may still be violated",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Numbers of obligations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// In every completion.
    pub kept: u64,
    /// In no completion. Each is a violation.
    pub violated: u64,
    /// Not decided at the end of the recording.
    pub open: u64,
    /// Never decided, as a gap or an edge hides something.
    pub unknown: u64,
    /// How many of the open and unknown ones the records alone do not keep.
    pub missing: u64,
    /// Stretches in which a hidden record may begin an obligation that is violated; at least 1 if there is
    /// any.
    pub blind: u64,
}

impl Counts {
    /// The verdict that follows.
    pub const fn verdict(&self) -> Verdict {
        match self {
            Self { violated: 1.., .. } => Verdict::Violated,
            Self { missing: 1.., .. } => Verdict::MayStillBeKept,
            Self { open: 1.., .. } | Self { unknown: 1.., .. } | Self { blind: 1.., .. } => {
                Verdict::MayStillBeViolated
            }
            _ => Verdict::Kept,
        }
    }

    /// All obligations. With none, `Kept` says nothing.
    pub const fn obligations(&self) -> u64 {
        self.kept.saturating_add(self.violated).saturating_add(self.open).saturating_add(self.unknown)
    }
}

/// A record that shows a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Witness {
    /// In ticks.
    pub time: i64,
    /// How many records, of events and states, the monitor got before it.
    pub index: u64,
}

/// A violated obligation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// When it began, in ticks.
    pub begin: i64,
    /// Its last tick, included; [`Template`](super::Template) says which.
    pub end: i64,
    /// The records that show it, in order; see [`Template`](super::Template).
    pub witnesses: Vec<Witness>,
}

/// What is said of one template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The counts that it follows from.
    pub counts: Counts,
    /// The first violations, in the order in which they were found; see
    /// [`Monitor::keep`](super::Monitor::keep).
    pub violations: Vec<Violation>,
}

/// The counts and violations of a template so far.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    pub counts: Counts,
    pub violations: Vec<Violation>,
    /// Most violations in the list.
    pub most: usize,
}

impl Tally {
    pub fn new(most: usize) -> Self {
        Self { counts: Counts::default(), violations: Vec::new(), most }
    }

    pub fn violated(&mut self, begin: i64, end: i64, witnesses: impl IntoIterator<Item = Witness>) {
        self.counts.violated += 1;
        if self.violations.len() < self.most {
            self.violations.push(Violation { begin, end, witnesses: witnesses.into_iter().collect() });
        }
    }

    pub fn unknown(&mut self, is_missing: bool) {
        self.counts.unknown += 1;
        self.counts.missing += u64::from(is_missing);
    }

    pub fn open(&mut self, is_missing: bool) {
        self.counts.open += 1;
        self.counts.missing += u64::from(is_missing);
    }

    pub fn judgement(self) -> Judgement {
        Judgement { verdict: self.counts.verdict(), counts: self.counts, violations: self.violations }
    }
}
