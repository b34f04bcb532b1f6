//! Prefetch of the pieces of a file that are not in the page cache: they are read from the disk into the
//! memory of their chunks. Through the cache, the kernel would find memory for every page, copy it, and evict
//! pages of other programs, which costs processor time (benches/NOTES.md, finding 14). Three threads wait for
//! the disk, whatever the number of workers. Only for whole pieces: the rest of a file, and everything after
//! a failure, is read through the cache.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;

use super::CHUNK_BYTES;
use super::buffer::Buffer;
use super::file::WholeFile;
use crate::threads::Thread;

/// How many pieces are read at a time, so that the disk is busy while read pieces wait for a worker.
const CONCURRENT_READS: usize = 3;
/// With fewer bytes to read, threads do not pay off.
const MIN_BYTES: u64 = 4 * PIECE;
const PIECE: u64 = CHUNK_BYTES as u64;
/// The smallest pages of a system, in bytes.
const SMALL_PAGE: u64 = 4096;
/// With this many cached pages, a piece is read through the cache: all pages of 64 KiB, 1/16 of 4 KiB.
const CACHED_PAGES: u64 = PIECE / (64 << 10);

/// The pieces of a file from an offset on.
pub(super) struct Direct {
    /// Its position is that of the reads through the cache, see [`Direct::leave`].
    file: Arc<File>,
    offset: u64,
    /// Offset of the next piece to request.
    next_request: u64,
    /// End of the last whole piece.
    end: u64,
    readers: Vec<Reader>,
    /// Requested pieces, in the order of the file.
    requests: VecDeque<Request>,
    is_cached: fn(&File, u64) -> bool,
}

/// A thread that reads. It ends when its channel is closed.
struct Reader {
    requests: Sender<(Buffer, u64)>,
    results: Receiver<io::Result<Buffer>>,
}

/// A piece that was requested.
enum Request {
    /// It is in the cache, and is copied from there when it is needed.
    Cached(Buffer),
    /// The reader of this number reads it.
    Reader(usize),
}

impl Direct {
    /// Starts to read a file at `offset`; the part before was read through the cache. `None` if that is
    /// inside a piece, if little is left, if all of it is in the cache, and if the system has no such reads
    /// or does not say what is cached.
    pub(super) fn open(file: &WholeFile, offset: u64) -> Option<Self> {
        let (file, length) = (file.shared(), file.length());
        let left = length.checked_sub(offset)?;
        let cached = |offset, length| system::pages_in_cache(&file, offset, length);
        // Some file systems (overlayfs) have their cache elsewhere. Then even the part that was just read
        // does not show up as cached.
        let worth_it = offset.is_multiple_of(PIECE)
            && left >= MIN_BYTES
            && cached(0, offset)? > 0
            && cached(offset, left)? < left / SMALL_PAGE;
        let is_cached = |file: &File, offset| {
            system::pages_in_cache(file, offset, PIECE).is_none_or(|pages| pages >= CACHED_PAGES)
        };
        worth_it.then(|| Self::begin(file, (offset, length), is_cached).ok()).flatten()
    }

    /// The same, without these conditions. `is_cached` says whether the piece at an offset is in the cache.
    pub(super) fn begin(
        file: Arc<File>,
        (offset, length): (u64, u64),
        is_cached: fn(&File, u64) -> bool,
    ) -> io::Result<Self> {
        let end = length / PIECE * PIECE;
        let readers = (0..CONCURRENT_READS).map(|_| Reader::begin(system::past_the_cache(&file)?));
        let readers = readers.collect::<io::Result<_>>()?;
        let mut direct =
            Self { file, offset, next_request: offset, end, readers, requests: VecDeque::new(), is_cached };
        for _ in 0..CONCURRENT_READS {
            direct.request(Buffer::huge()?);
        }
        Ok(direct)
    }

    /// Requests the next piece, into this buffer.
    fn request(&mut self, mut buffer: Buffer) {
        let offset = self.next_request;
        if offset >= self.end {
            return;
        }
        self.next_request += PIECE;
        buffer.clear();
        if (self.is_cached)(&self.file, offset) {
            self.requests.push_back(Request::Cached(buffer));
            return;
        }
        let number = (offset / PIECE) as usize % self.readers.len();
        if let Some(reader) = self.readers.get(number) {
            // If the thread is gone, receiving from it fails later.
            let _ = reader.requests.send((buffer, offset));
            self.requests.push_back(Request::Reader(number));
        }
    }

    /// The next piece. `spare` is for a later one; it comes back as the error if the rest of the file has to
    /// be read through the cache, for any reason.
    pub(super) fn next(&mut self, spare: Buffer) -> Result<Buffer, Buffer> {
        let piece = self.requests.pop_front().and_then(|request| match request {
            Request::Cached(mut buffer) => {
                fill(&self.file, self.offset, &mut buffer).ok()?;
                Some(buffer)
            }
            Request::Reader(number) => self.readers.get(number)?.results.recv().ok()?.ok(),
        });
        let Some(piece) = piece else { return Err(spare) };
        self.offset += PIECE;
        self.request(spare);
        Ok(piece)
    }

    /// Sets the position of the file to the first byte that was not returned, for reading through the cache.
    pub(super) fn leave(self) -> io::Result<()> {
        (&*self.file).seek(SeekFrom::Start(self.offset)).map(drop)
    }
}

impl Reader {
    fn begin(file: File) -> io::Result<Self> {
        let (requests, to_read) = channel::<(Buffer, u64)>();
        let (done, results) = channel();
        // The thread ends when the requests do.
        Thread::start(Builder::new().name("reader".into()), move || {
            for (mut buffer, offset) in to_read {
                let read = fill(&file, offset, &mut buffer).map(|()| buffer);
                if done.send(read).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { requests, results })
    }
}

/// Reads a whole piece.
fn fill(mut file: &File, offset: u64, buffer: &mut Buffer) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(buffer.room(CHUNK_BYTES))?;
    buffer.add(CHUNK_BYTES);
    Ok(())
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;

    /// The same file, opened once more for reads that do not use the cache.
    #[expect(clippy::disallowed_methods, reason = "to read: nothing is created")]
    pub(super) fn past_the_cache(file: &File) -> io::Result<File> {
        // Some disks of virtual machines get a request for every small page of a piece: three times as slow
        // as through the cache.
        if std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled")?.contains("[never]") {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // By its descriptor, because another file may have its name by now.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path)
    }

    /// The number of cachestat(2). Linux gives a call the same number on every kind of processor for which
    /// there is Rust, but for MIPS, where it stands for no call.
    const CACHESTAT: libc::c_long = 451;

    /// How many pages of a range of a file are in the page cache. `None` if the system does not say: before
    /// Linux 6.5, and later for a user who neither owns the file nor may write it.
    pub(super) fn pages_in_cache(file: &File, offset: u64, length: u64) -> Option<u64> {
        let range = [offset, length];
        // Pages cached, dirty, under write-back, evicted, and evicted lately.
        let mut pages = [0u64; 5];
        // Arguments of syscall(2) are of this type or pointers.
        let (descriptor, no_flags): (libc::c_long, libc::c_long) = (file.as_raw_fd().into(), 0);
        #[expect(
            unsafe_code,
            reason = "no library has this call; without it, a cold ingest takes a fifth longer"
        )]
        // SAFETY: cachestat(2) reads the two numbers of `struct cachestat_range` and writes the five of
        // `struct cachestat`, all of 64 bits (<linux/mman.h>). That is what the arrays have room for, and
        // they outlive the call, which keeps no address. `file` keeps the descriptor open. A system that does
        // not know the call writes nothing.
        let done =
            unsafe { libc::syscall(CACHESTAT, descriptor, range.as_ptr(), pages.as_mut_ptr(), no_flags) };
        let [cached, ..] = pages;
        (done == 0).then_some(cached)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::fs::File;
    use std::io;

    pub(super) fn past_the_cache(_: &File) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn pages_in_cache(_: &File, _: u64, _: u64) -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn what_was_read_through_the_cache_is_there() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock");
        let file = File::open(&path).unwrap();
        let mut text = Vec::new();
        (&file).read_to_end(&mut text).unwrap();
        let most = (text.len() as u64).div_ceil(SMALL_PAGE);
        let pages = system::pages_in_cache(&file, 0, PIECE).unwrap_or(0);
        // None if the system does not say, or has them elsewhere; pages may be larger.
        assert!(pages == 0 || (most / 16..=most).contains(&pages), "{pages} of {most}");
        assert!(Direct::open(&WholeFile::open(&path).unwrap(), 0).is_none(), "short");
    }
}
