//! Finds cores that wait for each other and can never go on. A core that waits for a lock takes no
//! interrupts; one that waits for a call serves calls, unless its handler has a higher priority. Not what
//! becomes of them: they wait until the end, as they would on hardware.

use super::access::Recorder;
use super::effect::Observer;
use super::{Decision, Kernel, Op};

/// Cores that wait for each other from some time on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standstill {
    /// When the last of them began to wait, in ns.
    pub at: i64,
    /// Each waits for the next one, and the last for the first. One alone has the lock that it waits for.
    pub cores: Vec<usize>,
}

impl<R: Recorder, O: Observer> Kernel<'_, R, O> {
    /// To be called when a core begins to wait. A core waits for one other at most, so that those that never
    /// go on are on a circle.
    pub(super) fn look_for_standstill(&mut self, core: usize) {
        if self.counts.standstill.is_some() {
            return;
        }
        let mut cores = vec![core];
        let mut last = core;
        while let Some(next) = self.waits_for(last) {
            if let Some(first) = cores.iter().position(|core| *core == next) {
                let at = self.time(core);
                self.counts.standstill = Some(Standstill { at, cores: cores.split_off(first) });
                return;
            }
            cores.push(next);
            last = next;
        }
    }

    /// The core without which a core does not go on.
    fn waits_for(&self, core: usize) -> Option<usize> {
        match self.cores.get(core)?.ops.front()? {
            // The words of the kernel are given back without waiting for anything.
            Op::Decide(Decision::Spin(spin)) if self.locks.is_taken(spin.word) => {
                let owner = self.locks.owners.get(self.locks.place(spin.lock?))?;
                Some(self.core_of((*owner)?))
            }
            Op::Decide(Decision::Await { .. }) => {
                self.called(core).filter(|server| !self.serves_while_it_waits(*server))
            }
            _ => None,
        }
    }

    fn serves_while_it_waits(&self, core: usize) -> bool {
        let Some(state) = self.cores.get(core) else { return false };
        let level = state.frames.last().map_or(0, |frame| self.handlers.priority(frame.handler));
        matches!(state.ops.front(), Some(Op::Decide(Decision::Await { .. })))
            && self.handlers.priority(self.handlers.remote(core)) > level
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::kernel::access::Unrecorded;
    use crate::simulate::kernel::effect::Effect;
    use crate::simulate::kernel::{Counts, Handlers};
    use crate::simulate::model::Model;
    use std::path::Path;

    struct Nothing;

    impl Observer for Nothing {
        fn effect(&mut self, _: usize, _: i64, _: Effect) {}
    }

    /// Two cores, and what a task of each does, which starts with the OS; a call activates `T_0` or `T_1`.
    fn counts(access: &str, steps: [&str; 2]) -> Counts {
        let mut text = format!(
            "duration = \"2ms\"\nos = {{ access = \"{access}\" }}\n[[spinlock]]\nname = \"A\"\n[[spinlock]]\nname = \"B\"\n"
        );
        for (core, steps) in steps.into_iter().enumerate() {
            text += &format!(
                "[[core]]\nname = \"Core_{core}\"\n\
                 [[task]]\nname = \"T_{core}\"\ncore = \"Core_{core}\"\npriority = 1\nsteps = [{{ terminate = true }}]\n\
                 [[task]]\nname = \"S_{core}\"\ncore = \"Core_{core}\"\npriority = 2\nautostart = true\n\
                 steps = [{steps}, {{ terminate = true }}]\n"
            );
        }
        let (model, _) = Model::parse(&text, Path::new("model.toml")).unwrap();
        let handlers = Handlers::of(&model);
        let run = Kernel::new(&model, &handlers, Unrecorded, Nothing).run(|_| Ok::<(), ()>(()));
        run.unwrap().2
    }

    const TAKE_A: &str = "{ get_spinlock = \"A\" }, { execute = \"50us\" }";
    const FREE_A: &str = "{ execute = \"50us\" }, { release_spinlock = \"A\" }";

    #[test]
    fn a_core_that_spins_for_the_lock_of_its_caller_stands_still() {
        for access in ["10ns", "0ns"] {
            // The second core waits for A since 30 us, the first one for the second since 50 us.
            let first = format!("{TAKE_A}, {{ activate = \"T_1\" }}, {FREE_A}");
            let second = format!("{{ execute = \"30us\" }}, {TAKE_A}, {FREE_A}");
            let found = counts(access, [&first, &second]).standstill.unwrap();
            assert!(found.cores == [0, 1] && (50_000..60_000).contains(&found.at), "{access}: {found:?}");
            // The first one waits for the second, and then the second begins to wait for it.
            let second = format!("{{ execute = \"200us\" }}, {TAKE_A}, {FREE_A}");
            assert_eq!(counts(access, [&first, &second]).standstill, None, "its interrupt serves the call");
        }
    }

    #[test]
    fn cores_that_take_two_locks_in_two_orders_stand_still() {
        let pair = |one: &str, other: &str| {
            format!(
                "{{ get_spinlock = \"{one}\" }}, {{ execute = \"50us\" }}, {{ get_spinlock = \"{other}\" }}, \
                 {{ release_spinlock = \"{other}\" }}, {{ release_spinlock = \"{one}\" }}"
            )
        };
        let mut found = counts("10ns", [&pair("A", "B"), &pair("B", "A")]).standstill.unwrap();
        found.cores.sort_unstable();
        assert_eq!(found.cores, [0, 1]);
        assert_eq!(counts("10ns", [&pair("A", "B"), &pair("A", "B")]).standstill, None);
    }

    #[test]
    fn cores_that_call_each_other_go_on() {
        let found = counts("10ns", ["{ activate = \"T_1\" }", "{ activate = \"T_0\" }"]);
        assert_eq!(found, Counts::default());
    }
}
