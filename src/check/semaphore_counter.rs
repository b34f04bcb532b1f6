//! The counter of a semaphore: how many accesses there are, by its increments and decrements and by the notes
//! of its events, and its maximum. Not who has an access (see `semaphores`).

use crate::btf::spec::Action;

/// What the trace tells of the counter.
#[derive(Debug, Default)]
pub(super) struct Counter {
    value: Option<i64>,
    /// The most users at once; `lock` tells that it is one (2.3 table 2-43: it had no user before).
    maximum: Option<i64>,
    /// True once an increment or a decrement was seen: then the value is that of the counter.
    counts: bool,
}

impl Counter {
    pub(super) fn maximum(&self) -> Option<i64> {
        self.maximum
    }

    /// How many accesses are counted; `None` if the trace does not count.
    pub(super) fn value(&self) -> Option<i64> {
        self.value.filter(|_| self.counts)
    }

    /// The next event; fails with what is wrong with its number, which is believed from then on.
    pub(super) fn event(&mut self, action: Action, note: Option<&str>) -> Result<(), String> {
        let note = note.and_then(|note| note.trim().parse::<i64>().ok());
        match action {
            Action::Increment => self.step(1, note),
            Action::Decrement => self.step(-1, note),
            // 2.3 table 2-48: the accesses before the request. In 2.1.5 it may follow the increment.
            Action::RequestSemaphore | Action::ExclusiveSemaphore if !self.counts => {
                self.value = note.or(self.value);
                Ok(())
            }
            Action::Ready | Action::Free | Action::Unlock => {
                if action == Action::Unlock {
                    self.maximum.get_or_insert(1);
                }
                let was = self.value().filter(|_| action != Action::Ready);
                self.value = Some(0);
                agree(note.or(was), |n| n == 0, "nobody has it, the counter is 0")
            }
            Action::Lock => {
                if note.is_none_or(|n| n == 1) {
                    self.maximum = Some(1);
                }
                self.state(note, |n| n == 1, "its only user has it, the counter is 1")
            }
            Action::Used => {
                let maximum = self.maximum.unwrap_or(i64::MAX);
                self.state(note, |n| (1..maximum).contains(&n), "it has users, and room for more")
            }
            Action::UnlockFull => {
                let maximum = self.maximum.unwrap_or(i64::MAX);
                self.state(note, |n| (1..maximum).contains(&n), "it has users, and room again")
            }
            Action::LockUsed | Action::Full => {
                let reached = note.or(self.value());
                let maximum = *self.maximum.get_or_insert_with(|| reached.unwrap_or(i64::MAX));
                if maximum == i64::MAX {
                    self.maximum = None;
                    return Ok(());
                }
                self.state(note, |n| n == maximum, "it is full")
            }
            Action::Overfull => {
                let maximum = self.maximum.unwrap_or(0);
                self.state(note, |n| n > maximum, "it has more requests than room")
            }
            _ => Ok(()),
        }
    }

    /// 2.3 tables 2-39 and 2-42, the thesis, section 2.2.3: the counter goes up and down by one, from zero.
    fn step(&mut self, by: i64, note: Option<i64>) -> Result<(), String> {
        self.counts = true;
        let expected = self.value.map(|value| value.saturating_add(by));
        self.value = note.or(expected);
        match (expected, note) {
            (Some(expected), Some(note)) if note != expected => Err(format!("the counter is {expected} now")),
            (_, Some(value)) | (Some(value), None) if value < 0 => {
                self.value = Some(0);
                Err("the counter is below 0".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// A change of the state, whose note or counter has to fit it (2.3 tables 2-40 to 2-51).
    fn state(&mut self, note: Option<i64>, fits: impl Fn(i64) -> bool, why: &str) -> Result<(), String> {
        let was = self.value();
        self.value = note.or(self.value);
        agree(note.or(was), fits, why)
    }
}

fn agree(number: Option<i64>, fits: impl Fn(i64) -> bool, why: &str) -> Result<(), String> {
    match number.filter(|n| !fits(*n)) {
        Some(number) => Err(format!("{why}, not {number}")),
        None => Ok(()),
    }
}
