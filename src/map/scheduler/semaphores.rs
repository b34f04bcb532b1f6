//! Whether a semaphore is a lock, which is given back by who has got it, or a signal, which one gives to
//! another. Not the steps of its use (see `rules`).

use crate::btf::{Action, NameId};
use std::collections::BTreeSet;

/// A process and a semaphore.
type Use = (usize, NameId);

/// Who has which semaphores.
#[derive(Debug, Default)]
pub(super) struct Uses {
    held: BTreeSet<Use>,
    /// Those that have been seen to use it.
    seen: BTreeSet<Use>,
}

impl Uses {
    /// Behind a gap, who has what is not known.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Whether a step shows that the semaphore is a signal: who has it gets it once more, or gives it who has
    /// it not. The first that is seen of a process may be that it gives back what it got before the
    /// recording.
    pub fn is_signal(&mut self, action: Action, of: Use) -> bool {
        let is_first = self.seen.insert(of);
        match action {
            Action::Assigned => !self.held.insert(of),
            Action::Released => !self.held.remove(&of) && !is_first,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::btf::Names;

    #[test]
    fn who_gives_what_it_has_not_gives_a_signal() {
        use Action::{Assigned, Released};
        let name = Names::default().intern("s");
        let verdict = |steps: &[(usize, Action)]| {
            let mut uses = Uses::default();
            steps.iter().filter(|(p, action)| uses.is_signal(*action, (*p, name))).count()
        };
        assert_eq!(verdict(&[(1, Released), (1, Assigned), (1, Released), (2, Assigned), (2, Released)]), 0);
        assert_eq!(verdict(&[(1, Assigned), (2, Released), (1, Assigned), (2, Released)]), 2);
    }
}
