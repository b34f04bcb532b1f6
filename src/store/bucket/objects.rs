//! The objects of a database in a bucket: reading, making, listing and deleting them. Each function is one
//! request, or as many as the size needs, and waits for its end. Not the client (see `client`).

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path as Key;
use object_store::{
    Error as StoreError, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt as _, PutMode,
    PutOptions, PutPayload, WriteMultipart, coalesce_ranges,
};

use super::io::Io;
use super::pieces::Pieces;
use super::{Object, Put, Remote, client};
use crate::error::{Error, ErrorKind, Result};

/// Files up to this size are put in one request; others in parts of this size.
const PART: usize = 8 << 20;
/// Parts of a file that are on their way at once.
const PARTS: usize = 4;
/// Pieces of an object are read together if not more than this is between them. A longer one costs more time
/// than the request.
const GAP: u64 = 256 << 10;
/// Files that are on their way at once.
const FILES: usize = 4;
/// Objects that one request of a listing tells.
const PAGE: usize = 1000;
/// Objects that are deleted at once.
const DELETES: usize = 16;

/// A bucket, or a part of one, that holds one database.
pub struct Bucket {
    url: String,
    store: Arc<dyn ObjectStore>,
    prefix: Key,
    io: Io,
    /// A folder for what is not in the bucket yet.
    scratch: PathBuf,
    /// What was read of objects, and is what was written.
    pieces: Pieces,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Bucket").field(&self.url).finish()
    }
}

impl Bucket {
    /// The bucket of a URL; nothing is asked of it yet.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when it is no URL of an object store, or a setting is wrong.
    pub fn open(url: &str, remote: &Remote) -> Result<Self> {
        let (store, prefix, url) = client::connect(url.trim_end_matches('/'), &remote.settings)?;
        let scratch = remote.scratch.clone();
        Ok(Self { url, store, prefix, io: Io::start()?, scratch, pieces: Pieces::default() })
    }

    /// A bucket over another client.
    #[cfg(test)]
    pub fn over(store: Arc<dyn ObjectStore>, scratch: PathBuf) -> Self {
        let io = Io::start().unwrap();
        Self {
            url: "memory://bucket".into(),
            store,
            prefix: Key::default(),
            io,
            scratch,
            pieces: Pieces::default(),
        }
    }

    /// The URL, without `/` at its end.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub(in crate::store) fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// The key of an object, by its name in the database.
    pub(in crate::store) fn key(&self, name: &str) -> Result<Key> {
        let key = Key::parse(format!("{}/{name}", self.prefix)).map_err(StoreError::from);
        key.map_err(|e| self.failed("name", name, &e))
    }

    /// The content; `None` when there is no such object.
    pub(in crate::store) fn content(&self, name: &str) -> Result<Option<Bytes>> {
        let (key, store) = (self.key(name)?, Arc::clone(&self.store));
        let found = self.io.run(async move { store.get(&key).await?.bytes().await })?;
        self.unless_missing("read", name, found)
    }

    /// The size of an object in bytes; `None` when there is none.
    pub(in crate::store) fn size(&self, name: &str) -> Result<Option<u64>> {
        let (key, store) = (self.key(name)?, Arc::clone(&self.store));
        let found = self.io.run(async move { store.head(&key).await })?;
        Ok(self.unless_missing("look at", name, found)?.map(|found| found.size))
    }

    /// The last bytes of an object, at most so many, and its size; `None` when there is none.
    pub(in crate::store) fn tail(&self, name: &str, most: u64) -> Result<Option<(Bytes, u64)>> {
        let (key, store) = (self.key(name)?, Arc::clone(&self.store));
        let found = self.io.run(async move {
            let options = GetOptions { range: Some(GetRange::Suffix(most)), ..GetOptions::default() };
            match store.get_opts(&key, options).await {
                Ok(found) => {
                    let size = found.meta.size;
                    Ok((found.bytes().await?, size))
                }
                // Azure does not know such ranges; the request was not sent.
                Err(StoreError::NotSupported { .. }) => {
                    let size = store.head(&key).await?.size;
                    match size {
                        0 => Ok((Bytes::new(), 0)),
                        _ => Ok((piece(&*store, &key, size.saturating_sub(most)..size).await?, size)),
                    }
                }
                Err(e) => Err(e),
            }
        })?;
        self.unless_missing("read", name, found)
    }

    /// A piece of an object; `None` when there is none.
    pub(in crate::store) fn range(&self, name: &str, range: Range<u64>) -> Result<Option<Bytes>> {
        let (key, store) = (self.key(name)?, Arc::clone(&self.store));
        if let Some(known) = self.pieces.get(key.as_ref(), &range) {
            return Ok(Some(known));
        }
        let found = self.io.run(async move { piece(&*store, &key, range).await })?;
        self.unless_missing("read", name, found)
    }

    /// Pieces of an object, in as few requests as are good; near ones are one. `None` when there is none.
    pub(in crate::store) fn ranges(&self, name: &str, ranges: &[Range<u64>]) -> Result<Option<Vec<Bytes>>> {
        let (key, store, wanted) = (self.key(name)?, Arc::clone(&self.store), ranges.to_vec());
        if let Some(known) = self.known(&key, ranges) {
            return Ok(Some(known));
        }
        let object = key.clone();
        let found = self.io.run(async move { fetch(&*store, &object, &wanted).await })?;
        self.unless_missing("read", name, found)
    }

    /// Keeps a piece of an object for the next one who asks for it: of one that is never made again, and
    /// whose bytes are what was written, as a sum says that is somewhere else.
    pub(in crate::store) fn keep(&self, name: &str, begin: u64, bytes: &Bytes) -> Result<()> {
        self.pieces.keep(self.key(name)?.as_ref(), begin, bytes);
        Ok(())
    }

    /// Forgets what is kept, so that all is read from the store.
    pub(in crate::store) fn forget(&self) {
        self.pieces.forget();
    }

    fn known(&self, key: &Key, ranges: &[Range<u64>]) -> Option<Vec<Bytes>> {
        ranges.iter().map(|range| self.pieces.get(key.as_ref(), range)).collect()
    }

    /// The objects below a folder of the database, `""` for all, in no order.
    pub(in crate::store) fn list(&self, folder: &str) -> Result<Vec<Object>> {
        self.list_some(folder, None, usize::MAX)
    }

    /// As many objects as one request tells.
    pub(in crate::store) fn some(&self) -> Result<Vec<Object>> {
        self.list_some("", None, PAGE)
    }

    /// The objects below a folder whose names come after that of an object.
    pub(in crate::store) fn list_behind(&self, folder: &str, name: &str) -> Result<Vec<Object>> {
        self.list_some(folder, Some(self.key(name)?), usize::MAX)
    }

    fn list_some(&self, folder: &str, behind: Option<Key>, most: usize) -> Result<Vec<Object>> {
        let prefix = match folder {
            "" => self.prefix.clone(),
            folder => self.key(folder)?,
        };
        let store = Arc::clone(&self.store);
        let found = self.io.run(async move {
            let prefix = Some(&prefix).filter(|prefix| !prefix.as_ref().is_empty());
            let all = match &behind {
                Some(behind) => store.list_with_offset(prefix, behind),
                None => store.list(prefix),
            };
            all.take(most).try_collect::<Vec<_>>().await
        })?;
        let found = found.map_err(|e| self.failed("list", folder, &e))?;
        let of = |meta: ObjectMeta| {
            let name = meta.location.as_ref().strip_prefix(self.prefix.as_ref())?.trim_start_matches('/');
            Some(Object { name: name.to_owned(), bytes: meta.size, made_at: meta.last_modified.into() })
        };
        Ok(found.into_iter().filter_map(of).collect())
    }

    /// Makes an object if there is none of its name.
    ///
    /// # Errors
    /// Then it is not known whether it was made.
    pub(in crate::store) fn put_new(&self, name: &str, content: Bytes) -> Result<Put> {
        let (key, store) = (self.key(name)?, Arc::clone(&self.store));
        self.pieces.forget_of(key.as_ref());
        let made = self.io.run(async move {
            let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
            store.put_opts(&key, content.into(), options).await
        })?;
        match made {
            Ok(_) => Ok(Put::Made),
            Err(StoreError::AlreadyExists { .. } | StoreError::Precondition { .. }) => Ok(Put::Taken),
            Err(e) => Err(self.failed("make", name, &e)),
        }
    }

    /// Makes an object, or another one in its place.
    pub(in crate::store) fn put(&self, name: &str, content: Bytes) -> Result<()> {
        let (key, store) = (self.key(name)?, Arc::clone(&self.store));
        self.pieces.forget_of(key.as_ref());
        let made = self.io.run(async move { store.put(&key, content.into()).await })?;
        made.map(drop).map_err(|e| self.failed("make", name, &e))
    }

    /// Makes objects of files, several at a time. Nobody else makes objects of these names.
    pub(in crate::store) fn upload(&self, files: &[(PathBuf, String)]) -> Result<()> {
        let mut jobs = Vec::with_capacity(files.len());
        for (path, name) in files {
            let key = self.key(name)?;
            self.pieces.forget_of(key.as_ref());
            jobs.push((path.clone(), key, name.clone()));
        }
        let store = Arc::clone(&self.store);
        let done = self.io.run(async move {
            let each = jobs.into_iter().map(|(path, key, name)| {
                let store = Arc::clone(&store);
                async move { put_file(&*store, &path, &key).await.map_err(|e| (name, e)) }
            });
            futures::stream::iter(each).buffer_unordered(FILES).try_collect::<()>().await
        })?;
        done.map_err(|(name, e)| self.failed("make", &name, &e))
    }

    /// Deletes objects; fine when they are gone already.
    pub(in crate::store) fn delete(&self, names: &[String]) -> Result<()> {
        let keys = names.iter().map(|name| self.key(name)).collect::<Result<Vec<_>>>()?;
        keys.iter().for_each(|key| self.pieces.forget_of(key.as_ref()));
        let store = Arc::clone(&self.store);
        let done = self.io.run(async move {
            let each = keys.into_iter().map(|key| {
                let store = Arc::clone(&store);
                async move {
                    match store.delete(&key).await {
                        Err(StoreError::NotFound { .. }) => Ok(()),
                        done => done,
                    }
                }
            });
            futures::stream::iter(each).buffer_unordered(DELETES).try_collect::<()>().await
        })?;
        done.map_err(|e| self.failed("delete", "", &e))
    }

    fn unless_missing<T>(
        &self,
        doing: &str,
        name: &str,
        found: object_store::Result<T>,
    ) -> Result<Option<T>> {
        match found {
            Ok(found) => Ok(Some(found)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(e) => Err(self.failed(doing, name, &e)),
        }
    }

    pub(in crate::store) fn failed(&self, doing: &str, name: &str, error: &StoreError) -> Error {
        let failed = Error::new(ErrorKind::Io, format!("cannot {doing} '{}/{name}'", self.url))
            .because(client::reason(error));
        match client::is_refused(error) {
            true => failed.hint(client::CREDENTIALS),
            false => failed,
        }
    }
}

async fn piece(store: &dyn ObjectStore, key: &Key, range: Range<u64>) -> object_store::Result<Bytes> {
    let options = GetOptions { range: Some(GetRange::Bounded(range)), ..GetOptions::default() };
    store.get_opts(key, options).await?.bytes().await
}

async fn fetch(
    store: &dyn ObjectStore,
    key: &Key,
    ranges: &[Range<u64>],
) -> object_store::Result<Vec<Bytes>> {
    let found = coalesce_ranges(ranges, |range| store.get_range(key, range), GAP).await?;
    // The engine takes it for granted that it gets what it asks for.
    let is_whole = |(range, bytes): (&Range<u64>, &Bytes)| bytes.len() as u64 == range.end - range.start;
    match ranges.iter().zip(&found).all(is_whole) {
        true => Ok(found),
        false => Err(too_short(key)),
    }
}

fn too_short(key: &Key) -> StoreError {
    let source = format!("'{key}' is shorter than the log of the database says, or an answer was cut off");
    StoreError::Generic { store: "bucket", source: source.into() }
}

async fn put_file(store: &dyn ObjectStore, path: &Path, key: &Key) -> object_store::Result<()> {
    let unreadable = |e: std::io::Error| StoreError::Generic { store: "staging", source: Box::new(e) };
    let mut file = File::open(path).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    if size <= PART as u64 {
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(unreadable)?;
        store.put(key, PutPayload::from(content)).await?;
        return Ok(());
    }
    let mut upload = WriteMultipart::new_with_chunk_size(store.put_multipart(key).await?, PART);
    loop {
        let mut part = vec![0; PART];
        let mut length = 0;
        while length < PART {
            match file.read(part.get_mut(length..).unwrap_or_default()).map_err(unreadable)? {
                0 => break,
                read => length += read,
            }
        }
        part.truncate(length);
        if part.is_empty() {
            break;
        }
        upload.wait_for_capacity(PARTS).await?;
        upload.put(part.into());
    }
    upload.finish().await?;
    Ok(())
}
