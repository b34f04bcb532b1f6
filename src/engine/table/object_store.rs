//! Where scans of SQL read table files: on the local disk. What another object store, such as S3, would
//! change first; files that are read without SQL are opened in `store/open`. Not which files a table has (see
//! `file`).

use std::path::{Component, Path, PathBuf};

use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::error::Result;
use datafusion::object_store::path::Path as ObjectPath;

/// The store of all files.
pub(in crate::engine) fn url() -> ObjectStoreUrl {
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
