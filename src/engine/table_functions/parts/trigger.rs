//! The trigger of the stimulus that activated one instance: whether the rows that were read have it, or it
//! may come before them (see `earlier`). Not who triggered it (see `feed`).

use super::feed::{Event, Made, What};
use crate::explain::{Actor, Said, Source};
use crate::names::IdSet;

/// A stimulus, and which of its triggers.
pub(super) struct Stimulus {
    pub name: String,
    pub nth: i64,
}

/// Follows the events of a window up to the activation of an instance.
pub(super) struct Trigger {
    instance: Actor,
    /// Stimuli and numbers of the triggers so far.
    seen: IdSet<(u32, i64)>,
    /// What the first activation of the instance says of its source: a name, and the number of a trigger.
    source: Option<(u32, i64)>,
}

impl Trigger {
    pub fn of(instance: Actor) -> Self {
        Self { instance, seen: IdSet::default(), source: None }
    }

    /// An event happens.
    pub fn event(&mut self, event: &Event) {
        let Actor { process, instance } = self.instance;
        let target = event.target.zip(event.instance);
        match event.what {
            What::Trigger => self.seen.extend(target),
            What::Said(Said::Activate) if self.source.is_none() && target == Some((process, instance)) => {
                self.source = event.source.zip(event.number);
            }
            What::Said(_) => {}
        }
    }

    /// The stimulus that activated the instance, if no row says that it was triggered.
    pub fn missing_in(&self, made: &Made) -> Option<Stimulus> {
        let (name, nth) = self.source.filter(|source| !self.seen.contains(source))?;
        let is_it = made.explanations.iter().any(|one| one.activated_by == Some(Source::Stimulus(name)));
        is_it.then(|| Stimulus { name: made.names.value(name as usize).to_owned(), nth })
    }
}
