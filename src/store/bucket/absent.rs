//! What stands for the objects of a bucket in a btfdb without the feature `remote`: there are no buckets.

use std::ops::Range;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::{Object, Put, Remote};
use crate::error::{Error, Result};

/// No value has this type.
#[derive(Debug)]
pub enum Bucket {}

impl Bucket {
    /// Says that there are none.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`], always.
    pub fn open(url: &str, _: &Remote) -> Result<Self> {
        Err(Error::usage(format!("'{url}' is in an object store, for which this btfdb was not built"))
            .hint("build it with the feature `remote`: cargo install --path . --features remote"))
    }
}

macro_rules! absent {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        impl Bucket {
            $(pub(in crate::store) fn $name(&self, $($argument: $type),*) -> $result {
                $(let _ = $argument;)*
                match *self {}
            })*
        }
    };
}

absent! {
    url() -> &str;
    scratch() -> &Path;
    content(name: &str) -> Result<Option<Bytes>>;
    size(name: &str) -> Result<Option<u64>>;
    tail(name: &str, most: u64) -> Result<Option<(Bytes, u64)>>;
    range(name: &str, range: Range<u64>) -> Result<Option<Bytes>>;
    ranges(name: &str, ranges: &[Range<u64>]) -> Result<Option<Vec<Bytes>>>;
    keep(name: &str, begin: u64, bytes: &Bytes) -> Result<()>;
    forget() -> ();
    list(folder: &str) -> Result<Vec<Object>>;
    list_behind(folder: &str, name: &str) -> Result<Vec<Object>>;
    some() -> Result<Vec<Object>>;
    put_new(name: &str, content: Bytes) -> Result<Put>;
    put(name: &str, content: Bytes) -> Result<()>;
    upload(files: &[(PathBuf, String)]) -> Result<()>;
    delete(names: &[String]) -> Result<()>;
}
