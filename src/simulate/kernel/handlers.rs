//! The interrupt handlers of a system: those of the model, and those of the kernel. Not their code.

use crate::simulate::model::Model;

/// What a handler does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlerKind {
    /// What the ISR of the model says.
    Isr(usize),
    /// Counts the timer of its core.
    Timer,
    /// Serves calls of other cores.
    Remote,
}

/// A handler of a core.
#[derive(Debug, Clone)]
struct Handler {
    name: String,
    core: usize,
    kind: HandlerKind,
    priority: u32,
}

/// All handlers: first the ISRs of the model, then per core its timer and its server of remote calls.
#[derive(Debug, Clone)]
pub struct Handlers {
    all: Vec<Handler>,
    isrs: usize,
}

impl Handlers {
    /// Those of a model.
    pub fn of(model: &Model) -> Self {
        let isrs = model.isrs.iter().enumerate().map(|(number, isr)| Handler {
            name: isr.name.clone(),
            core: isr.core,
            kind: HandlerKind::Isr(number),
            priority: isr.priority,
        });
        let of_core = |core: usize| {
            let timer = match core {
                0 => "EE_tc_system_timer_handler".to_owned(),
                _ => format!("EE_tc_system_timer_{core}_handler"),
            };
            let handler = |name, kind, priority| Handler { name, core, kind, priority };
            [
                handler(timer, HandlerKind::Timer, 1),
                handler("EE_TC_iirq_handler".to_owned(), HandlerKind::Remote, 2),
            ]
        };
        let all = isrs.chain((0..model.cores.len()).flat_map(of_core)).collect();
        Self { all, isrs: model.isrs.len() }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// The name of a handler; cores share the one for remote calls.
    pub fn name(&self, handler: usize) -> &str {
        self.all.get(handler).map_or("", |handler| &handler.name)
    }

    /// The name that stands for another handler on each core, if there are several.
    pub fn shared(&self) -> Option<&str> {
        let mut remote = self.all.iter().filter(|handler| handler.kind == HandlerKind::Remote);
        let first = remote.next()?;
        remote.next().map(|_| first.name.as_str())
    }

    /// What it does.
    pub fn kind(&self, handler: usize) -> HandlerKind {
        self.all.get(handler).map_or(HandlerKind::Remote, |handler| handler.kind)
    }

    /// Its core.
    pub fn core(&self, handler: usize) -> usize {
        self.all.get(handler).map_or(0, |handler| handler.core)
    }

    /// Its priority: a higher one interrupts a lower one.
    pub fn priority(&self, handler: usize) -> u32 {
        self.all.get(handler).map_or(0, |handler| handler.priority)
    }

    /// The timer of a core.
    pub fn timer(&self, core: usize) -> usize {
        self.isrs + 2 * core
    }

    /// The server of remote calls of a core.
    pub fn remote(&self, core: usize) -> usize {
        self.isrs + 2 * core + 1
    }
}
