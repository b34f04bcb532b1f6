//! What the engine takes for the object store of the database, and the places of other files. Not which files
//! a table has (see `file`), and not the reading (see `store::open_files`).

use std::error::Error as _;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::{fmt, io};

use async_trait::async_trait;
use bytes::Bytes;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::error::Result;
use datafusion::object_store::path::Path as ObjectPath;
use datafusion::object_store::{
    Attributes, CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result as StoreResult,
};
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};

use crate::error::ErrorKind;
use crate::store::{Database, OpenFile};

/// The store of the files of the database.
pub(in crate::engine) fn of_database() -> Result<ObjectStoreUrl> {
    ObjectStoreUrl::parse("btfdb://database")
}

/// The store of all other files.
pub(in crate::engine) fn of_files() -> ObjectStoreUrl {
    ObjectStoreUrl::local_filesystem()
}

/// The place of a file in the store.
///
/// # Errors
/// When the path is not absolute.
pub(in crate::engine) fn location(path: &Path) -> Result<ObjectPath> {
    Ok(ObjectPath::from_absolute_path(path)?)
}

/// The files of a database, read only. Scans read those that were told to [`OpenFiles`](crate::store), by
/// their paths in the database; nothing is read that is not as it was written.
#[derive(Debug)]
pub(in crate::engine) struct DatabaseFiles(pub Arc<Database>);

/// How the text of an error begins that says nothing of the file: it was not read.
pub(in crate::engine) const UNREADABLE: &str = "unreadable";
/// The same, of a file that is not there: a vacuum has deleted it.
pub(in crate::engine) const GONE: &str = "gone";

impl DatabaseFiles {
    fn file(&self, location: &ObjectPath) -> StoreResult<Arc<OpenFile>> {
        let path = location.as_ref();
        self.0.open_files().get(path).ok_or_else(|| Error::NotFound {
            path: path.to_owned(),
            source: "no scan was told of the file".into(),
        })
    }

    async fn read(&self, file: Arc<OpenFile>, ranges: Vec<Range<u64>>) -> StoreResult<Vec<Bytes>> {
        let database = Arc::clone(&self.0);
        let read = tokio::task::spawn_blocking(move || database.open_files().read(&file, &ranges)).await?;
        read.map_err(|error| of_store(&error))
    }
}

/// The engine keeps no more than the text of an error.
fn of_store(error: &crate::error::Error) -> Error {
    let is_missing = |cause: &io::Error| cause.kind() == io::ErrorKind::NotFound;
    let cause = error.source();
    if cause.and_then(|cause| cause.downcast_ref()).is_some_and(is_missing) {
        return Error::Generic { store: GONE, source: error.to_string().into() };
    }
    let store = if error.kind() == ErrorKind::Database { "damaged" } else { UNREADABLE };
    let text = cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"));
    Error::Generic { store, source: text.into() }
}

impl fmt::Display for DatabaseFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the database '{}'", self.0.location())
    }
}

#[async_trait]
impl ObjectStore for DatabaseFiles {
    async fn get_opts(&self, location: &ObjectPath, options: GetOptions) -> StoreResult<GetResult> {
        let file = self.file(location)?;
        let size = file.bytes();
        let range = match options.range {
            _ if options.head => 0..0,
            Some(range) => {
                range.as_range(size).map_err(|e| Error::Generic { store: "btfdb", source: e.into() })?
            }
            None => 0..size,
        };
        let bytes = self.read(file, vec![range.clone()]).await?.concat();
        let meta = ObjectMeta {
            location: location.clone(),
            last_modified: Default::default(),
            size,
            e_tag: None,
            version: None,
        };
        let payload = GetResultPayload::Stream(stream::once(async { Ok(bytes.into()) }).boxed());
        Ok(GetResult { payload, meta, range, attributes: Attributes::default() })
    }

    async fn get_ranges(&self, location: &ObjectPath, ranges: &[Range<u64>]) -> StoreResult<Vec<Bytes>> {
        self.read(self.file(location)?, ranges.to_vec()).await
    }

    fn list(&self, _: Option<&ObjectPath>) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        stream::once(async { Err(read_only("list")) }).boxed()
    }

    async fn list_with_delimiter(&self, _: Option<&ObjectPath>) -> StoreResult<ListResult> {
        Err(read_only("list"))
    }

    async fn put_opts(&self, _: &ObjectPath, _: PutPayload, _: PutOptions) -> StoreResult<PutResult> {
        Err(read_only("put"))
    }

    async fn put_multipart_opts(
        &self,
        _: &ObjectPath,
        _: PutMultipartOptions,
    ) -> StoreResult<Box<dyn MultipartUpload>> {
        Err(read_only("put"))
    }

    fn delete_stream(
        &self,
        _: BoxStream<'static, StoreResult<ObjectPath>>,
    ) -> BoxStream<'static, StoreResult<ObjectPath>> {
        stream::once(async { Err(read_only("delete")) }).boxed()
    }

    async fn copy_opts(&self, _: &ObjectPath, _: &ObjectPath, _: CopyOptions) -> StoreResult<()> {
        Err(read_only("copy"))
    }
}

fn read_only(operation: &str) -> Error {
    Error::NotSupported { source: format!("{operation}: the database is read-only").into() }
}
