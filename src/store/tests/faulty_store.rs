//! An object store in memory, whose requests can be made to fail: before they do something, after they did,
//! once, or from then on. It also does late what it was asked before.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetRange, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// What is to go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// The request of this number fails, and does nothing.
    Before(usize),
    /// The request of this number is done, and its answer is lost.
    After(usize),
    /// All requests from this number on fail: the writer is gone.
    Dead(usize),
    /// The same, but the first of them is done.
    DeadAfter(usize),
    /// An object is made, too, if there is one already.
    MakesTwice,
    /// The last bytes of an object cannot be asked for.
    NoSuffix,
}

#[derive(Debug)]
pub struct FaultyStore {
    inner: Arc<InMemory>,
    fault: Fault,
    /// Requests that change something.
    pub requests: AtomicUsize,
    /// What was put, to be put again late.
    late: Mutex<Vec<(Path, PutPayload, PutMode)>>,
    /// What is seen until a commit is made: the writer sleeps before.
    old: Mutex<Option<Arc<InMemory>>>,
    /// What others do after a commit, before its writer hears that it was made.
    meanwhile: Mutex<Option<Meanwhile>>,
}

struct Meanwhile(Box<dyn FnOnce() + Send>);

impl fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what others do")
    }
}

impl FaultyStore {
    pub fn over(inner: &Arc<InMemory>, fault: Fault) -> Arc<Self> {
        let (requests, late, old) = (AtomicUsize::new(0), Mutex::default(), Mutex::default());
        let meanwhile = Mutex::default();
        Arc::new(Self { inner: Arc::clone(inner), fault, requests, late, old, meanwhile })
    }

    /// Runs `what` after a commit, before the answer.
    pub fn after_commit(&self, what: impl FnOnce() + Send + 'static) {
        *self.meanwhile.lock().unwrap() = Some(Meanwhile(Box::new(what)));
    }

    /// Until a commit is made, what is read is what was there before.
    pub fn see(&self, old: InMemory) {
        *self.old.lock().unwrap() = Some(Arc::new(old));
    }

    fn seen(&self) -> Arc<InMemory> {
        self.old.lock().unwrap().clone().unwrap_or_else(|| Arc::clone(&self.inner))
    }

    /// Does again what was asked, as a network does that repeats a request late.
    pub fn repeat(&self) {
        for (path, payload, mode) in self.late.lock().unwrap().drain(..) {
            let options = PutOptions { mode, ..PutOptions::default() };
            let _ = futures::executor::block_on(self.inner.put_opts(&path, payload, options));
        }
    }

    /// Whether the request that begins now is done, and whether it is answered.
    fn next(&self) -> (bool, bool) {
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        match self.fault {
            Fault::Before(n) if number == n => (false, false),
            Fault::After(n) if number == n => (true, false),
            Fault::Dead(n) if number >= n => (false, false),
            Fault::DeadAfter(n) if number >= n => (number == n, false),
            _ => (true, true),
        }
    }

    /// Whether reading fails.
    fn is_dead(&self) -> bool {
        matches!(self.fault, Fault::Dead(n) | Fault::DeadAfter(n) if self.requests.load(Ordering::SeqCst) > n)
    }
}

fn lost() -> Error {
    Error::Generic { store: "faulty", source: "the answer is lost".into() }
}

impl fmt::Display for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store that fails")
    }
}

#[async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let (is_done, is_answered) = self.next();
        let mode = match self.fault {
            Fault::MakesTwice => PutMode::Overwrite,
            _ => options.mode.clone(),
        };
        self.late.lock().unwrap().push((location.clone(), payload.clone(), mode.clone()));
        let old = self.old.lock().unwrap().take();
        if let Some(old) = old.filter(|_| !location.as_ref().starts_with("log/0")) {
            let _ = old.put_opts(location, payload.clone(), PutOptions::default()).await;
            *self.old.lock().unwrap() = Some(old);
        }
        let done = match is_done {
            true => self.inner.put_opts(location, payload, PutOptions { mode, ..options }).await,
            false => Err(lost()),
        };
        if location.as_ref().starts_with("log/0")
            && let Some(Meanwhile(what)) = self.meanwhile.lock().unwrap().take()
        {
            // Not on a thread of the runtime: it waits for other requests.
            std::thread::spawn(what).join().unwrap();
        }
        if is_answered { done } else { Err(lost()) }
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if self.fault == Fault::NoSuffix && matches!(options.range, Some(GetRange::Suffix(_))) {
            return Err(Error::NotSupported { source: "no ranges from the end".into() });
        }
        if self.is_dead() { Err(lost()) } else { self.seen().get_opts(location, options).await }
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        if self.is_dead() { Err(lost()) } else { self.inner.get_ranges(location, ranges).await }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.is_dead() {
            true => stream::once(async { Err(lost()) }).boxed(),
            false => self.seen().list(prefix),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        match self.next() {
            (true, true) => self.inner.delete_stream(locations),
            _ => stream::once(async { Err(lost()) }).boxed(),
        }
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
