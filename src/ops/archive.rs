//! Archives of recordings (`.tar`, `.tar.gz`, `.tar.zst`): unpacked into a temporary folder, which is then
//! ingested as any folder. Not compressed files, which are read as they are (see `input`).

use super::Control;
use crate::description::Plan;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::FORMATS;
use crate::input::Source;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use tar::{Archive, EntryType};
use tempfile::TempDir;

/// What archives end with. What they are packed with, their first bytes tell.
const ENDINGS: [&str; 4] = [".tar", ".tar.gz", ".tgz", ".tar.zst"];
/// Most files and folders in an archive: each takes a place on the disk, however small it is.
const MOST_ENTRIES: usize = 1 << 20;

/// Inputs of a command, where archives are folders.
#[derive(Debug, Default)]
pub struct Unpacked {
    /// The inputs, in their order.
    pub inputs: Vec<PathBuf>,
    /// The folders of archives, each with its archive; removed with this value.
    folders: Vec<(TempDir, PathBuf)>,
}

impl Unpacked {
    /// Unpacks the archives among some inputs, to at most so many bytes each, copies for links among them.
    ///
    /// # Errors
    /// An archive that is damaged, too large, or names files outside of itself; the disk;
    /// [`ErrorKind::Interrupted`]. What was unpacked is removed then.
    pub fn of(inputs: &[PathBuf], max_unpacked: u64, control: &Control) -> Result<Self> {
        let mut unpacked = Self::default();
        for input in inputs {
            let input = match stem(input).filter(|_| input.is_file()) {
                Some(stem) => {
                    let stem = without_format(stem);
                    let folder =
                        TempDir::new().map_err(|e| Error::io("make a temporary folder for", input, e))?;
                    let top = folder.path().join(if stem.is_empty() { "recording" } else { stem });
                    unpack(input, &top, max_unpacked, control)?;
                    unpacked.folders.push((folder, input.clone()));
                    only_one(top)?
                }
                None => input.clone(),
            };
            unpacked.inputs.push(input);
        }
        Ok(unpacked)
    }

    /// Plans for the inputs, which call the files in archives by the archives that they are in.
    ///
    /// # Errors
    /// Those of `plan`, with the archive that a temporary folder is of.
    pub fn plans(&self, plan: impl FnOnce(&[PathBuf]) -> Result<Vec<Plan>>) -> Result<Vec<Plan>> {
        let mut plans = plan(&self.inputs).map_err(|error| {
            let mentioned = self
                .folders
                .iter()
                .find(|(folder, _)| error.to_string().contains(&*folder.path().to_string_lossy()));
            match mentioned {
                Some((_, archive)) => error.hint(format!("this is what '{}' unpacks to", archive.display())),
                None => error,
            }
        })?;
        for input in plans.iter_mut().flat_map(|plan| &mut plan.inputs) {
            let shown = self.folders.iter().find_map(|(folder, archive)| {
                let inside = input.path.strip_prefix(folder.path()).ok()?;
                let inside: PathBuf = inside.components().skip(1).collect();
                Some(archive.join(inside))
            });
            if let Some(shown) = &shown
                && Path::new(&input.name) == input.path
            {
                input.name = shown.to_string_lossy().into_owned();
            }
            input.shown = shown.or(input.shown.take());
        }
        Ok(plans)
    }
}

/// Whether a file is called as archives are.
pub fn is_archive(file: &Path) -> bool {
    stem(file).is_some()
}

/// The name of an archive without its ending.
fn stem(file: &Path) -> Option<&str> {
    let name = file.file_name()?.to_str()?;
    let without = |ending: &&str| {
        let at = name.len().checked_sub(ending.len())?;
        name.get(at..).filter(|end| end.eq_ignore_ascii_case(ending)).and_then(|_| name.get(..at))
    };
    ENDINGS.iter().find_map(without)
}

/// A name without the name of a format behind it: `zephyr.ctf` is a recording `zephyr`.
fn without_format(stem: &str) -> &str {
    let is_format = |end: &str| FORMATS.iter().any(|format| format.info().name.eq_ignore_ascii_case(end));
    stem.rsplit_once('.').filter(|(_, end)| is_format(end)).map_or(stem, |(name, _)| name)
}

/// The bytes of a source, unpacked.
struct Bytes {
    source: Source,
    chunk: Option<(crate::input::Chunk, usize)>,
    failed: Option<Error>,
}

impl Read for Bytes {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some((chunk, at)) = &mut self.chunk {
                let rest = chunk.bytes.get(*at..).unwrap_or_default();
                let count = rest.len().min(room.len());
                if let (Some(to), Some(from)) = (room.get_mut(..count), rest.get(..count)) {
                    to.copy_from_slice(from);
                }
                *at += count;
                if count > 0 {
                    return Ok(count);
                }
            }
            match self.source.next_chunk() {
                Ok(Some(chunk)) => self.chunk = Some((chunk, 0)),
                Ok(None) => return Ok(0),
                Err(error) => {
                    self.failed = Some(error);
                    return Err(io::Error::other("the archive cannot be read"));
                }
            }
        }
    }
}

/// Reads until the operation is to stop.
struct Stoppable<'c, R> {
    from: R,
    control: &'c Control,
    /// What was read last failed.
    has_failed: bool,
}

impl<'c, R: Read> Stoppable<'c, R> {
    fn new(from: R, control: &'c Control) -> Self {
        Self { from, control, has_failed: false }
    }
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let read = self.control.check().map_err(io::Error::other).and_then(|()| self.from.read(room));
        self.has_failed = read.is_err();
        read
    }
}

/// Writes the files of an archive, at most so many bytes: a few of an archive can stand for any number of
/// zeros, and a link for a file of any size.
struct Writer<'a> {
    archive: &'a Path,
    into: &'a Path,
    control: &'a Control,
    most: u64,
    left: u64,
}

#[expect(clippy::disallowed_methods, reason = "a temporary folder is no part of a database")]
impl Writer<'_> {
    fn failed(&self, path: &Path, error: io::Error) -> Error {
        Error::io("unpack", self.archive.join(path.strip_prefix(self.into).unwrap_or(path)), error)
    }

    fn make_folder(&self, path: &Path) -> Result<()> {
        fs::create_dir_all(path).map_err(|e| self.failed(path, e))
    }

    /// Writes a file of so many bytes. Of several of one name, the last one counts.
    fn write(
        &mut self,
        path: &Path,
        from: impl Read,
        bytes: u64,
        unreadable: impl FnOnce(io::Error) -> Error,
    ) -> Result<()> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| {
            Error::new(ErrorKind::Limit, format!("unpacks to more than {} bytes", self.most))
                .at(self.archive)
                .hint("if that is what it holds, permit more with --max-unpacked")
        })?;
        path.parent().map_or(Ok(()), |parent| self.make_folder(parent))?;
        let mut file = File::create(path).map_err(|e| self.failed(path, e))?;
        let mut from = Stoppable::new(from, self.control);
        let copied = io::copy(&mut from, &mut file);
        copied.map(drop).map_err(|e| match from.has_failed {
            true => unreadable(e),
            false => self.failed(path, e),
        })
    }
}

fn unpack(archive: &Path, into: &Path, max_unpacked: u64, control: &Control) -> Result<()> {
    let mut source = Source::open(archive)?;
    source.skip_digest();
    source.unpack_at_most(max_unpacked);
    let bytes = Bytes { source, chunk: None, failed: None };
    let mut entries = Archive::new(Stoppable::new(bytes, control));
    let writer = Writer { archive, into, control, most: max_unpacked, left: max_unpacked };
    let written = files_of(&mut entries, writer);
    control.check()?;
    match entries.into_inner().from.failed {
        Some(error) => Err(error),
        None => written,
    }
}

/// Writes the files of an archive, and copies of what its links stand for. Devices are passed over: a
/// recording has none.
fn files_of(entries: &mut Archive<Stoppable<'_, Bytes>>, mut writer: Writer<'_>) -> Result<()> {
    let (archive, into) = (writer.archive, writer.into);
    // What the library says can repeat what is in the file.
    let damaged = |_| Error::input("the archive is damaged").at(archive).hint("list it with tar -tf");
    let mut links = BTreeMap::new();
    writer.make_folder(into)?;
    for (n, entry) in entries.entries().map_err(damaged)?.enumerate() {
        let entry = entry.map_err(damaged)?;
        if n >= MOST_ENTRIES {
            let message = format!("the archive has more than {MOST_ENTRIES} files");
            return Err(Error::new(ErrorKind::Limit, message).at(archive));
        }
        let name = entry.path().map_err(damaged)?.into_owned();
        let outside = |name: &Path| {
            let message = format!("the archive names a file outside of it, '{}'", name.display());
            Error::input(message).at(archive).hint("unpack it where that does no harm")
        };
        let path = into.join(inside(Path::new(""), &name).ok_or_else(|| outside(&name))?);
        match entry.header().entry_type() {
            EntryType::Directory => writer.make_folder(&path)?,
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                links.remove(&path);
                let bytes = entry.size();
                writer.write(&path, entry, bytes, damaged)?;
            }
            link @ (EntryType::Link | EntryType::Symlink) => {
                let to = entry.link_name().map_err(damaged)?.unwrap_or_default().into_owned();
                // A hard link names a file from the top, any other from its own folder.
                let from = name.parent().filter(|_| link == EntryType::Symlink).unwrap_or(Path::new(""));
                let target = inside(from, &to).ok_or_else(|| outside(&to))?;
                links.insert(path, into.join(target));
            }
            _ => {}
        }
    }
    for (path, end) in ends(&links) {
        let file = end.filter(|end| end.is_file()).map(File::open);
        let Some(file) = file else {
            let target = links.get(path).map_or(path, PathBuf::as_path);
            let [path, target] = [path, target].map(|path| path.strip_prefix(into).unwrap_or(path).display());
            let message = format!("the archive has a link '{path}' to '{target}', which is no file in it");
            return Err(Error::input(message)
                .at(archive)
                .hint("pack what links stand for: tar --dereference"));
        };
        let file = file.and_then(|file| Ok((file.metadata()?.len(), file)));
        let (bytes, file) = file.map_err(|e| writer.failed(path, e))?;
        writer.write(path, file, bytes, |e| {
            Error::io("unpack", archive.join(path.strip_prefix(into).unwrap_or(path)), e)
        })?;
    }
    Ok(())
}

/// What each link stands for in the end, which is no link; `None` for links that stand for each other. A link
/// can be before what it stands for, which can be a link. Each is passed once: an archive can have many.
fn ends(links: &BTreeMap<PathBuf, PathBuf>) -> Vec<(&Path, Option<&Path>)> {
    let mut ends: HashMap<&Path, Option<&Path>> = HashMap::new();
    for first in links.keys() {
        let (mut at, mut passed) = (first.as_path(), Vec::new());
        let end = loop {
            match (ends.get(at).copied(), links.get(at)) {
                (Some(end), _) => break end,
                (None, None) => break Some(at),
                (None, Some(next)) => {
                    // It stands for itself, unless the way from here ends.
                    ends.insert(at, None);
                    passed.push(at);
                    at = next;
                }
            }
        };
        ends.extend(passed.into_iter().map(|link| (link, end)));
    }
    links.keys().map(|link| (link.as_path(), ends.get(link.as_path()).copied().flatten())).collect()
}

/// A path in an archive, from a folder in it; `None` if it leads out of the archive.
fn inside(from: &Path, name: &Path) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in from.components().chain(name.components()) {
        match part {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir if path.pop() => {}
            _ => return None,
        }
    }
    Some(path)
}

/// A folder, or the only folder or file that is in it, and so on: many archives have one folder for all, or
/// one trace.
fn only_one(mut folder: PathBuf) -> Result<PathBuf> {
    loop {
        let listing = fs::read_dir(&folder).map_err(|e| Error::io("list", &folder, e))?;
        let mut entries = listing.filter_map(std::result::Result::ok).map(|entry| entry.path());
        match (entries.next(), entries.next()) {
            (Some(only), None) if only.is_dir() => folder = only,
            (Some(only), None) => return Ok(only),
            _ => return Ok(folder),
        }
    }
}

#[cfg(test)]
mod tests;
