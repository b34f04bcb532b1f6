//! Which recordings of a database a command is about: by their names and by their labels. Not what is done
//! with them.

use super::labels::label;
use crate::error::{Error, Result};
use crate::selection::pattern;
use crate::store::{Database, Recording};
use std::sync::Arc;

/// Which recordings are chosen: all, unless names or labels are given.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// The name of a recording, a list with commas, or a pattern with `*` and `?`.
    pub recording: Option<String>,
    /// `LABEL=VALUE`, all of which a recording must have; the value may be a pattern.
    pub labels: Vec<String>,
}

impl Choice {
    /// The database with the chosen recordings only.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] when there is no such recording, with a suggestion.
    pub fn of(&self, database: Database) -> Result<Database> {
        let by_name = match &self.recording {
            None => None,
            // A name is that of one recording, also if it looks like a list or a pattern.
            Some(name) => match database.recording(name)? {
                Some(recording) => Some(vec![recording]),
                None => Some(named(&database, name)?),
            },
        };
        if by_name.is_none() && self.labels.is_empty() {
            return Ok(database);
        }
        let labels = self.labels.iter().map(|text| label(text)).collect::<Result<Vec<_>>>()?;
        let mut chosen = match by_name {
            Some(chosen) => chosen,
            None => database.recordings()?.to_vec(),
        };
        chosen.retain(|recording| labels.iter().all(|label| has(recording, label)));
        if chosen.is_empty() {
            return Err(nothing(&database, &labels)?);
        }
        Ok(database.only(chosen))
    }
}

/// The recordings of a list of names and patterns, in the order in which they came.
fn named(database: &Database, list: &str) -> Result<Vec<Arc<Recording>>> {
    let words: Vec<&str> = pattern::words(list).collect();
    if !words.iter().any(|word| pattern::is_pattern(word)) {
        let found = database.named(&words)?;
        if words.iter().all(|word| found.iter().any(|r| r.name == *word)) {
            return Ok(found);
        }
    }
    if let [word] = words[..]
        && !pattern::is_pattern(word)
    {
        database.check_recording(Some(word))?;
    }
    let all = database.recordings()?;
    if let Some(word) = words.iter().find(|word| !all.iter().any(|r| pattern::fits(word, &r.name))) {
        let names = all.iter().map(|r| r.name.as_str());
        let error = Error::usage(format!("no recording is called '{word}'"));
        return Err(error.hint_near(word, names, |all| format!("the recordings are: {all}")));
    }
    Ok(all.iter().filter(|r| words.iter().any(|word| pattern::fits(word, &r.name))).cloned().collect())
}

fn has(recording: &Recording, (label, value): &(String, String)) -> bool {
    recording.labels.get(label).is_some_and(|of| pattern::fits(value, of))
}

/// Why labels choose nothing.
fn nothing(database: &Database, labels: &[(String, String)]) -> Result<Error> {
    let wanted: Vec<_> = labels.iter().map(|(label, value)| format!("{label}={value}")).collect();
    let error = Error::usage(format!("no recording has the label {}", wanted.join(" and ")));
    let mut known: Vec<String> = Vec::new();
    for recording in database.recordings()? {
        let all = recording.labels.iter().map(|(label, value)| format!("{label}={value}"));
        known.extend(all);
    }
    known.sort();
    known.dedup();
    if known.is_empty() {
        return Ok(error.hint("no recording has labels: `btfdb ingest --label LABEL=VALUE` gives them"));
    }
    let first = wanted.first().map_or("", String::as_str);
    Ok(error.hint_near(first, known.iter().map(String::as_str), |all| format!("the labels are: {all}")))
}
