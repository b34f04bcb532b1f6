//! Who is on each core, for traces of writers that leave out preemptions: a process that runs on a core on
//! which another one is running has taken its place. Not the states (see `processes`).

use crate::btf::{Actor, NameId};
use crate::names::IdMap;

/// The instances on each core; the last one runs, and those before it wait for the core.
#[derive(Debug, Default)]
pub(super) struct Occupants(IdMap<NameId, Vec<Actor>>);

impl Occupants {
    /// An instance runs on `core`; returns the one whose place it takes.
    pub fn enter(&mut self, core: NameId, actor: Actor) -> Option<Actor> {
        let all = self.0.entry(core).or_default();
        let before = all.last().copied().filter(|before| *before != actor);
        if all.last() != Some(&actor) {
            all.retain(|other| *other != actor);
            all.push(actor);
        }
        before
    }

    /// An instance leaves `core`; returns the one that runs again.
    pub fn leave(&mut self, core: NameId, actor: Actor) -> Option<Actor> {
        let all = self.0.get_mut(&core)?;
        let was_running = all.last() == Some(&actor);
        all.retain(|other| *other != actor);
        all.last().copied().filter(|_| was_running)
    }

    /// Nothing is known of `core` any more; of no core without one.
    pub fn forget(&mut self, core: Option<NameId>) {
        match core {
            Some(core) => drop(self.0.remove(&core)),
            None => self.0.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::btf::Names;

    #[test]
    fn the_one_below_runs_again() {
        let mut names = Names::default();
        let [core, a, b, c] = ["Core_0", "A", "B", "C"].map(|name| names.intern(name));
        let mut occupants = Occupants::default();
        assert_eq!(occupants.enter(core, (a, 0)), None);
        assert_eq!(occupants.enter(core, (a, 0)), None, "it goes on");
        assert_eq!(occupants.enter(core, (b, 0)), Some((a, 0)));
        assert_eq!(occupants.enter(core, (c, 0)), Some((b, 0)));
        assert_eq!(occupants.leave(core, (b, 0)), None, "it did not run");
        assert_eq!(occupants.leave(core, (c, 0)), Some((a, 0)));
        assert_eq!(occupants.leave(core, (a, 0)), None);
    }
}
