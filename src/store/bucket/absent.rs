//! What stands for the objects of a bucket in a btfdb without the feature `remote`: there are no buckets.

use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::Result as ParquetResult;

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
    has(name: &str) -> Result<bool>;
    tail(name: &str, most: u64) -> Result<Option<(Bytes, u64)>>;
    range(name: &str, range: Range<u64>) -> Result<Option<Bytes>>;
    list(folder: &str) -> Result<Vec<Object>>;
    some() -> Result<Vec<Object>>;
    put_new(name: &str, content: Bytes) -> Result<Put>;
    put(name: &str, content: Bytes) -> Result<()>;
    upload(files: &[(PathBuf, String)]) -> Result<()>;
    delete(names: &[String]) -> Result<()>;
}

/// No value has this type.
#[derive(Debug, Clone)]
pub enum ObjectReader {}

impl ObjectReader {
    pub(in crate::store) fn open(bucket: &Arc<Bucket>, _: &str, _: Option<u64>) -> Result<Option<Self>> {
        match **bucket {}
    }

    pub(in crate::store) fn len(&self) -> u64 {
        match *self {}
    }

    pub(in crate::store) fn ranges(&self, _: &[Range<u64>]) -> Result<Vec<Bytes>> {
        match *self {}
    }

    pub(in crate::store) fn bytes(&self, _: u64, _: usize) -> ParquetResult<Bytes> {
        match *self {}
    }

    pub(in crate::store) fn behind(&self, _: u64) -> io::Empty {
        match *self {}
    }

    pub(in crate::store) fn all(&self) -> impl Read + use<> {
        self.behind(0)
    }
}
