//! `chains`: which event chains recordings show, and why some show none. Not how they are found (see
//! [`crate::chain`]).

use crate::chain::{Found, Limits, file_text};
use crate::engine::{Session, chain_rows, discover};
use crate::error::{Error, ErrorKind, Result};
use arrow::array::RecordBatch;
use arrow::compute::concat_batches;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// Only chains that a recording shows so many times.
    pub least: u64,
    /// Most links of a chain.
    pub links: usize,
}

/// The chains of recordings.
#[derive(Debug)]
pub struct Shown {
    /// By recording.
    found: Vec<(String, Found)>,
    /// What was left out, and which recordings show no chains: sentences.
    pub remarks: Vec<String>,
}

/// The chains that the recordings of a session show.
///
/// # Errors
/// [`ErrorKind::Usage`] when no recording shows any; those of a query.
pub fn find(session: &Session, asked: Asked) -> Result<Shown> {
    let (mut found, mut remarks, mut without) = (Vec::new(), Vec::new(), Vec::new());
    for recording in session.database().recordings()?.iter() {
        let limits = Limits { links: asked.links, ..Limits::default() };
        let discovery = discover(session, &recording.name, limits)?;
        let shown = discovery.found(asked.least);
        let left_out = shown.cut.sentences(&limits);
        remarks.extend(left_out.iter().map(|what| format!("recording '{}': {what}", recording.name)));
        if shown.chains.is_empty() {
            without.push(absence(&recording.name, &discovery.found(1), asked.least));
        } else {
            found.push((recording.name.clone(), shown));
        }
    }
    if found.is_empty() {
        let hint = "`btfdb info` shows what a recording has";
        return Err(match without.as_slice() {
            [] => Error::usage("the database has no recordings"),
            [only] => Error::usage(only).hint(hint),
            all => Error::usage(format!("no recording shows chains: {}", all.join("; "))).hint(hint),
        });
    }
    remarks.append(&mut without);
    Ok(Shown { found, remarks })
}

/// Why a recording shows no chains; `all`: what was found in it, however rarely.
fn absence(recording: &str, all: &Found, least: u64) -> String {
    let why = match (all.chains.iter().map(|chain| chain.count).max(), all.links.is_empty()) {
        (Some(1), _) => format!("none was seen {least} times, each once at most"),
        (Some(most), _) => format!("none was seen {least} times, the most frequent one {most} times"),
        (None, true) => {
            "no process reads a signal that was written before, or is activated by a stimulus".to_owned()
        }
        (None, false) => "processes are activated, and nothing follows from that".to_owned(),
    };
    format!("recording '{recording}' shows no chains: {why}")
}

impl Shown {
    /// How many chains there are; the same one of several recordings counts for each of them.
    pub fn count(&self) -> usize {
        self.found.iter().map(|(_, found)| found.chains.len()).sum()
    }

    /// The text of a file with the chains.
    pub fn text(&self) -> String {
        file_text(&self.found)
    }

    /// The chains as rows, as view `discovered_chain` has them.
    ///
    /// # Errors
    /// [`ErrorKind::Bug`] only.
    pub fn rows(&self) -> Result<RecordBatch> {
        let of = |(recording, found): &(String, Found)| chain_rows(recording, &found.chains);
        let rows = self.found.iter().map(of).collect::<Result<Vec<_>>>()?;
        let schema = match rows.first() {
            Some(rows) => rows.schema(),
            None => chain_rows("", &[])?.schema(),
        };
        let all = concat_batches(&schema, &rows);
        all.map_err(|e| Error::new(ErrorKind::Bug, "rows of chains do not fit together").because(e))
    }
}
