//! A database in an object store: a bucket of S3, Google Cloud, Azure or WebDAV, or a part of one. Objects
//! are written whole and never changed; that one is made only if it is not there is the one promise that a
//! database needs of the store. Not which objects a database has.

#[cfg(feature = "remote")]
mod client;
#[cfg(feature = "remote")]
mod io;
#[cfg(not(feature = "remote"))]
#[path = "absent.rs"]
mod objects;
#[cfg(feature = "remote")]
mod objects;
#[cfg(feature = "remote")]
mod pieces;

use std::path::PathBuf;
use std::time::SystemTime;

pub use objects::Bucket;

/// The schemes of URLs of object stores, in the order of the documentation.
pub(super) const SCHEMES: [&str; 9] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "http", "https"];

/// How object stores are reached.
#[derive(Debug, Clone, Default)]
pub struct Remote {
    /// Settings and credentials, by the names of the usual environment variables: `AWS_ACCESS_KEY_ID`,
    /// `AWS_ENDPOINT_URL`, …; those that a store does not know are ignored.
    pub settings: Vec<(String, String)>,
    /// A folder for what writers have not put there yet.
    pub scratch: PathBuf,
}

impl Remote {
    /// How the names of settings begin.
    pub const PREFIXES: [&'static str; 3] = ["AWS_", "GOOGLE_", "AZURE_"];
}

/// Whether a text is the URL of something in an object store.
pub fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| SCHEMES.contains(&scheme))
}

/// An object of a bucket.
#[derive(Debug, Clone)]
pub(super) struct Object {
    /// Relative to the database, with `/`.
    pub name: String,
    pub bytes: u64,
    /// When it was made, by the clock of the store.
    pub made_at: SystemTime,
}

/// What became of an object that was to be made if there is none of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Put {
    Made,
    /// There is one already, which is as it was.
    Taken,
}
