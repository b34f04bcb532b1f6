//! JSON with a header that every version can read and a checksum of its content. Not what the content is.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{Error, ErrorKind, Result};
use crate::store::checksum::Seal;

/// The word that marks a file of a database.
const FORMAT: &str = "btfdb database";
/// Version of the layout and of the log; readers accept no other.
pub(super) const VERSION: u32 = 7;

#[derive(Serialize)]
struct Envelope<'a> {
    format: &'a str,
    version: u32,
    checksum: &'a str,
    content: &'a RawValue,
}

#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

#[derive(Deserialize)]
struct Content<'a> {
    checksum: String,
    /// As it was written: a later btfdb may have written fields that this one does not know.
    #[serde(borrow)]
    content: &'a RawValue,
}

/// `content` as one line.
pub(super) fn seal<T: Serialize>(content: &T) -> Result<Vec<u8>> {
    let content = serde_json::value::to_raw_value(content).map_err(unwritable)?;
    let checksum = Seal::of(content.get().as_bytes()).checksum;
    let envelope = Envelope { format: FORMAT, version: VERSION, checksum: &checksum, content: &content };
    let mut json = serde_json::to_vec(&envelope).map_err(unwritable)?;
    json.push(b'\n');
    Ok(json)
}

/// The content of a file that was sealed. Fails with [`ErrorKind::Database`] when it is not ours, of another
/// version, or damaged.
pub(super) fn open<T: DeserializeOwned>(json: &[u8], path: &Path) -> Result<T> {
    let header: Header = serde_json::from_slice(json).map_err(|e| damaged(path).because(e))?;
    if header.format != FORMAT {
        return Err(Error::database("the file is not of a btfdb database").at(path));
    }
    if header.version != VERSION {
        let (v, age) = (header.version, if header.version > VERSION { "newer" } else { "older" });
        let message = format!("the database has format {v}, and this btfdb reads format {VERSION}");
        return Err(Error::database(message)
            .at(path)
            .hint(format!("use the {age} btfdb that wrote it, or ingest the recordings again")));
    }
    let sealed: Content<'_> = serde_json::from_slice(json).map_err(|e| damaged(path).because(e))?;
    if Seal::of(sealed.content.get().as_bytes()).checksum != sealed.checksum {
        return Err(damaged(path));
    }
    serde_json::from_str(sealed.content.get()).map_err(|e| damaged(path).because(e))
}

pub(super) fn damaged(path: &Path) -> Error {
    Error::database("the log of the database is damaged")
        .at(path)
        .hint("restore the file from a backup, or ingest the recordings again")
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::new(ErrorKind::Bug, "the log of the database cannot be written as JSON").because(error)
}
