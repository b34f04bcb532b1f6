//! Where scans of SQL read files of the database: on the local disk, in their places or, after a commit took
//! them out, where they are kept; or in a bucket (see `bucket_files`). Not which files a table has (see
//! `file`).

use std::fmt;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::error::Result;
use datafusion::object_store::local::LocalFileSystem;
use datafusion::object_store::path::Path as ObjectPath;
use datafusion::object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result as StoreResult,
};
use futures::stream::BoxStream;

use super::read_only::read_only;
use crate::store::{Database, Place};

/// The store of the files of the database.
pub(in crate::engine) fn of_database() -> Result<ObjectStoreUrl> {
    ObjectStoreUrl::parse("btfdb://database")
}

/// The store of all other files.
pub(in crate::engine) fn of_files() -> ObjectStoreUrl {
    ObjectStoreUrl::local_filesystem()
}

/// The absolute path of a file. The engine accepts no `..`, and only the file system can resolve it.
///
/// # Errors
/// When the path cannot be resolved.
pub(in crate::engine) fn absolute(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let has_parent = path.components().any(|part| part == Component::ParentDir);
    Ok(if has_parent { path.canonicalize()? } else { path })
}

/// The place of a file in the store.
///
/// # Errors
/// When the path is not absolute.
pub(in crate::engine) fn location(path: &Path) -> Result<ObjectPath> {
    Ok(ObjectPath::from_absolute_path(path)?)
}

/// The place of a file of the database in its store.
///
/// # Errors
/// When the path cannot be resolved.
pub(super) fn of_place(place: &Place) -> Result<ObjectPath> {
    #[cfg(feature = "remote")]
    if let Some(key) = place.key() {
        return key.map_err(|e| datafusion::error::DataFusionError::External(e.into()));
    }
    location(&absolute(place.path())?)
}

/// The store of the files of a database.
///
/// # Errors
/// When the path of the database cannot be resolved.
pub(in crate::engine) fn files_of(database: &Arc<Database>) -> Result<Arc<dyn ObjectStore>> {
    #[cfg(feature = "remote")]
    if let Some(bucket) = database.location().bucket() {
        return Ok(Arc::new(super::bucket_files::BucketFiles(Arc::clone(bucket))));
    }
    Ok(Arc::new(DatabaseFiles::new(Arc::clone(database))?))
}

/// The files of a database, read only. A statement reads a file several times, and a commit may take it out
/// of its place in between.
#[derive(Debug)]
struct DatabaseFiles {
    files: LocalFileSystem,
    database: Arc<Database>,
    /// The absolute path of the database.
    root: PathBuf,
}

impl DatabaseFiles {
    fn new(database: Arc<Database>) -> Result<Self> {
        let root = absolute(database.location().path())?;
        Ok(Self { files: LocalFileSystem::new(), database, root })
    }

    /// Where the file of a location is kept that is not in its place; `None` if nowhere.
    fn kept(&self, location: &ObjectPath) -> Option<ObjectPath> {
        let path = self.files.path_to_filesystem(location).ok()?;
        let path = self.database.kept(path.strip_prefix(&self.root).ok()?)?;
        ObjectPath::from_absolute_path(absolute(&path).ok()?).ok()
    }
}

impl fmt::Display for DatabaseFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the database '{}'", self.root.display())
    }
}

#[async_trait]
impl ObjectStore for DatabaseFiles {
    async fn get_opts(&self, location: &ObjectPath, options: GetOptions) -> StoreResult<GetResult> {
        let found = self.files.get_opts(location, options.clone()).await;
        match found {
            Err(Error::NotFound { .. }) => match self.kept(location) {
                Some(kept) => self.files.get_opts(&kept, options).await,
                None => found,
            },
            found => found,
        }
    }

    async fn get_ranges(&self, location: &ObjectPath, ranges: &[Range<u64>]) -> StoreResult<Vec<Bytes>> {
        let found = self.files.get_ranges(location, ranges).await;
        match found {
            Err(Error::NotFound { .. }) => match self.kept(location) {
                Some(kept) => self.files.get_ranges(&kept, ranges).await,
                None => found,
            },
            found => found,
        }
    }

    fn list(&self, prefix: Option<&ObjectPath>) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        self.files.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&ObjectPath>) -> StoreResult<ListResult> {
        self.files.list_with_delimiter(prefix).await
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
        Box::pin(futures::stream::once(async { Err(read_only("delete")) }))
    }

    async fn copy_opts(&self, _: &ObjectPath, _: &ObjectPath, _: CopyOptions) -> StoreResult<()> {
        Err(read_only("copy"))
    }
}
