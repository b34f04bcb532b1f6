//! What the instances of one process poll for, wanted or not. Not what a wanted one waits for, also for OS
//! events (see `waits`).

use super::types::{Object, Said, StateSpan};
use super::waits::Waits;

/// So many instances of a process can ask at once; of more, the first ones are forgotten. The end of one may
/// not be told.
const MOST: usize = 64;

/// Instances that have asked, with their questions.
#[derive(Debug, Default)]
pub(super) struct Asks(Vec<(i64, Waits)>);

impl Asks {
    /// An instance does something with an object.
    pub fn happened(&mut self, instance: i64, said: Said, object: Object, time: i64) {
        let place = self.0.iter().position(|(of, _)| *of == instance);
        if place.is_none() && matches!(said, Said::Request | Said::Awaits) {
            if self.0.len() == MOST {
                self.0.remove(0);
            }
            let mut waits = Waits::default();
            waits.asks_lock(object, time);
            return self.0.push((instance, waits));
        }
        let Some((_, waits)) = place.and_then(|place| self.0.get_mut(place)) else { return };
        match said {
            Said::Request | Said::Awaits => waits.asks_lock(object, time),
            Said::Assigned => waits.gets(object, time),
            Said::WaitEvent => waits.goes_on(time),
            _ => {}
        }
    }

    /// What an instance polls for in the span that comes next, if it polls, and since when it has asked for
    /// that.
    pub fn of(&mut self, span: &StateSpan) -> Option<(Object, i64)> {
        let place = self.0.iter().position(|(of, _)| *of == span.actor.instance)?;
        let (_, waits) = self.0.get_mut(place)?;
        let asked = waits.polls_for(span.begin);
        let _ = waits.of(span.state, span.begin, span.end);
        if waits.is_empty() {
            self.0.remove(place);
        }
        asked
    }

    /// An instance ends.
    pub fn ended(&mut self, instance: i64) {
        self.0.retain(|(of, _)| *of != instance);
    }

    /// How many instances are known to ask.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
