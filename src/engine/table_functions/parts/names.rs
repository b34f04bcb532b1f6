//! The numbers of names that the threads of an explanation share. Not what a name means (see `feed`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow::array::StringArray;

use super::words::Words;
use crate::names::Interner;

/// A number for each name of a recording, the same on all threads.
#[derive(Debug, Clone)]
pub(super) struct Names {
    interner: Arc<Mutex<Interner>>,
    words: Words,
}

impl Names {
    /// The words of rows, which all arrays of the names have, and no names yet.
    pub fn of(recording: &str) -> Self {
        let mut interner = Interner::default();
        let words = Words::of(recording, &mut interner);
        Self { interner: Arc::new(Mutex::new(interner)), words }
    }

    /// The numbers of the words of rows.
    pub fn words(&self) -> Words {
        self.words
    }

    /// The number of a name, new or not. Takes a lock: to be asked once per name of a dictionary.
    pub fn intern(&self, name: &str) -> u32 {
        self.lock().intern(name)
    }

    /// All names by number. The same array until there is a new name.
    pub fn array(&self) -> Arc<StringArray> {
        self.lock().array()
    }

    fn lock(&self) -> MutexGuard<'_, Interner> {
        // A name that was being added when its thread panicked is there or not.
        self.interner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
