//! Which names of a recording are processes. Not what is known of them (see [`crate::explain`]).

/// Which names are processes, by number.
#[derive(Debug, Clone, Default)]
pub(super) struct Processes(Vec<Option<IsIsr>>);

/// Whether a process is an interrupt service routine.
type IsIsr = bool;

impl Processes {
    /// Whether a name is that of a process.
    pub fn is_process(&self, name: u32) -> bool {
        self.0.get(name as usize).is_some_and(Option::is_some)
    }

    /// Whether it is an ISR.
    pub fn is_isr(&self, process: u32) -> bool {
        self.0.get(process as usize).is_some_and(|known| *known == Some(true))
    }

    /// A name is that of a process.
    pub fn add(&mut self, process: u32, is_isr: IsIsr) {
        let place = process as usize;
        if self.0.len() <= place {
            self.0.resize(place + 1, None);
        }
        if let Some(known) = self.0.get_mut(place) {
            *known = Some(is_isr);
        }
    }
}
