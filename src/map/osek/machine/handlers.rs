//! Which process an ISR is (rule I9; docs/mapping.md): handlers of one name on several OS images are several
//! processes, although BTF knows them by one name. Not when they run (see `isrs`).

use super::Machine;
use super::state::Actor;
use crate::btf::NameId;
use crate::map::Output;
use crate::map::state::pairs;
use crate::names::IdMap;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Handlers {
    /// The image that has used a name first, unless several are known to have a handler of that name.
    #[serde(with = "pairs")]
    first: IdMap<NameId, usize>,
    /// The next instance of each process.
    #[serde(with = "pairs")]
    next: IdMap<NameId, i64>,
}

impl Machine {
    /// Rule I9: the number of a new instance of an ISR in BTF, and the process that it is; says so if that
    /// differs.
    pub(super) fn isr_instance(&mut self, core: usize, name: NameId) -> (i64, Actor) {
        let number = self.next_instance(name);
        let process = self.handler(core, name);
        let next = self.handlers.next.entry(process).or_insert(0);
        let own = (process, *next);
        *next += 1;
        if own != (name, number) {
            self.out.push(Output::Handler { isr: (name, number), process: own });
        }
        (number, own)
    }

    /// The process that an ISR is on a core: the name itself, or with the core before it. All images of a
    /// name that several are known to have get the core; of others, all but the first.
    fn handler(&mut self, core: usize, name: NameId) -> NameId {
        let image = self.model.cores[core].image;
        let is_shared = self.model.shared_handlers.contains(self.model.names.text(name));
        if !is_shared && *self.handlers.first.entry(name).or_insert(image) == image {
            return name;
        }
        let process = format!("{}.{}", self.model.core_name(image), self.model.names.text(name));
        self.model.names.intern(&process)
    }
}
