//! `a` and `b` alternate. Not for other templates.

use super::{Hidden, Role, Tally, Witness};

/// See [`Template::Alternation`](super::Template::Alternation).
#[derive(Debug, Clone, Default)]
pub(super) struct Alternation {
    /// The latest `a` or `b`.
    latest: Option<(Role, Witness)>,
    /// What gaps may hide since then.
    since: Hidden,
    /// What gaps may hide now.
    hidden: Hidden,
}

impl Alternation {
    pub fn record(&mut self, role: Role, at: Witness, tally: &mut Tally) {
        let other = match role {
            Role::A => Role::B,
            Role::B => Role::A,
            Role::From | Role::To => return,
        };
        if let Some((before, witness)) = self.latest {
            match before == role {
                true if self.since.has(other) => tally.unknown(true),
                true => tally.violated(witness.time, at.time, [witness, at]),
                false if self.since.is_empty() => tally.counts.kept += 1,
                false => tally.unknown(false),
            }
        }
        (self.latest, self.since) = (Some((role, at)), self.hidden);
    }

    pub fn hide(&mut self, hidden: Hidden, tally: &mut Tally) {
        // Two in a row may be hidden.
        tally.counts.blind += u64::from(self.hidden.is_empty() && !hidden.is_empty());
        (self.since, self.hidden) = (self.since.union(hidden), hidden);
    }

    pub fn finish(&mut self, tally: &mut Tally) {
        if self.latest.take().is_some() {
            tally.open(false);
        }
    }
}
