//! A power cut: what was not synced is gone, or not, in any order. A disk writes down which names and
//! contents are safe at each moment; folders are made of what may be left of it, and the database in them
//! must be the old one or the new one. Not for a disk that fails while the power is on (see `faults`).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::*;
use crate::store::{Disk, DiskFile, verify};

/// What a name stands for: a folder, or the number of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    Folder,
    File(usize),
}

/// A change of names that a power cut can undo. A renaming is undone as a whole, or its old name comes back.
#[derive(Debug, Clone)]
struct Change {
    put: Option<(PathBuf, Node)>,
    /// With all that is below it.
    dropped: Option<PathBuf>,
}

type Names = BTreeMap<PathBuf, Node>;

#[derive(Debug, Default)]
struct State {
    now: Names,
    safe: Names,
    changes: Vec<Change>,
    /// The synced content of each file, and the content now if that is another one.
    contents: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    steps: usize,
    /// The power is cut before the step of this number.
    cut_at: usize,
}

#[derive(Debug, Clone)]
struct Unplugged(Arc<Mutex<State>>);

/// Numbers that look random (splitmix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}

fn parent_of(path: &Path) -> PathBuf {
    path.parent().unwrap().to_path_buf()
}

fn apply(names: &mut Names, change: &Change) {
    if let Some(dropped) = &change.dropped {
        names.retain(|path, _| !path.starts_with(dropped));
    }
    if let Some((path, node)) = &change.put {
        names.insert(path.clone(), *node);
    }
}

impl State {
    /// A step of the disk; fails when the power is gone.
    fn step(&mut self) -> io::Result<()> {
        self.steps += 1;
        if self.steps >= self.cut_at { Err(io::Error::other("the power is gone")) } else { Ok(()) }
    }

    fn change(&mut self, put: Option<(PathBuf, Node)>, dropped: Option<&Path>) {
        let change = Change { put, dropped: dropped.map(Path::to_path_buf) };
        apply(&mut self.now, &change);
        self.changes.push(change);
    }

    fn new_content(&mut self) -> usize {
        self.contents.push((Vec::new(), None));
        self.contents.len() - 1
    }

    /// A folder as it may be after the power cut.
    fn left(&self, chance: &mut Chance, from: &Path, to: &Path) {
        let mut names = self.safe.clone();
        self.changes.iter().filter(|_| chance.below(2) == 0).for_each(|change| apply(&mut names, change));
        for (path, node) in &names {
            let place = to.join(path.strip_prefix(from).unwrap());
            // Sorted: a folder comes before what is in it. What is in none is lost.
            match node {
                _ if !place.parent().unwrap().is_dir() => {}
                Node::Folder => fs::create_dir_all(place).unwrap(),
                Node::File(number) => {
                    let (safe, now) = &self.contents[*number];
                    let content = match now {
                        Some(now) => match chance.below(3) {
                            0 => &safe[..],
                            1 => &now[..],
                            _ => &now[..chance.below(now.len() + 1)],
                        },
                        None => &safe[..],
                    };
                    fs::write(place, content).unwrap();
                }
            }
        }
    }
}

impl Unplugged {
    /// A disk that holds a folder, whose names and contents are safe.
    fn new(root: &Path, cut_at: usize) -> Self {
        let mut state = State { cut_at, ..State::default() };
        state.now.insert(root.to_path_buf(), Node::Folder);
        for name in everything_in(root) {
            let path = root.join(name);
            let node = if path.is_dir() {
                Node::Folder
            } else {
                state.contents.push((fs::read(&path).unwrap(), None));
                Node::File(state.contents.len() - 1)
            };
            state.now.insert(path, node);
        }
        state.safe = state.now.clone();
        Self(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk for Unplugged {
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.step()?;
        let new: Vec<_> =
            path.ancestors().take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect();
        RealDisk.create_dir_all(path)?;
        new.into_iter().rev().for_each(|folder| state.change(Some((folder, Node::Folder)), None));
        Ok(())
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state();
        state.step()?;
        let number = state.new_content();
        state.change(Some((path.to_path_buf(), Node::File(number))), None);
        let (file, disk) = (File::create(path)?, self.clone());
        Ok(Box::new(Written { file, disk, number, all: Vec::new() }))
    }

    fn open_lock(&self, path: &Path) -> io::Result<File> {
        let mut state = self.state();
        if !path.exists() {
            let number = state.new_content();
            state.change(Some((path.to_path_buf(), Node::File(number))), None);
        }
        RealDisk.open_lock(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.step()?;
        RealDisk.rename(from, to)?;
        let node = state.now[from];
        state.change(Some((to.to_path_buf(), node)), Some(from));
        Ok(())
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.step()?;
        RealDisk.publish(from, to)?;
        let node = state.now[from];
        state.change(Some((to.to_path_buf(), node)), None);
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.state().step()?;
        RealDisk.remove_file(path)?;
        self.state().change(None, Some(path));
        Ok(())
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.state().step()?;
        RealDisk.remove_dir(path)?;
        self.state().change(None, Some(path));
        Ok(())
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.state().step()?;
        RealDisk.remove_dir_all(path)?;
        self.state().change(None, Some(path));
        Ok(())
    }

    fn check_rights(&self, folder: &Path) -> io::Result<()> {
        RealDisk.check_rights(folder)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.step()?;
        let State { safe, changes, .. } = &mut *state;
        changes.retain_mut(|change| {
            let is_in = |of: Option<&PathBuf>| of.is_some_and(|of| parent_of(of) == path);
            if is_in(change.dropped.as_ref()) {
                apply(safe, change);
                return false;
            }
            if is_in(change.put.as_ref().map(|(of, _)| of)) {
                apply(safe, &Change { put: change.put.take(), dropped: None });
            }
            change.put.is_some() || change.dropped.is_some()
        });
        Ok(())
    }
}

struct Written {
    file: File,
    disk: Unplugged,
    number: usize,
    all: Vec<u8>,
}

impl Write for Written {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let mut state = self.disk.state();
        state.step()?;
        self.file.write_all(buffer)?;
        self.all.extend_from_slice(buffer);
        state.contents[self.number].1 = Some(self.all.clone());
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl DiskFile for Written {
    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.state();
        state.step()?;
        state.contents[self.number] = (self.all.clone(), None);
        Ok(())
    }
}

/// A change that does everything at once: adds `b`, replaces a table and the blob of `a`.
fn change(disk: &Unplugged, path: &Path) -> Result<()> {
    let mut tx = Database::begin(Arc::new(disk.clone()), path, Some(TimeScale::Ns))?;
    record(&mut tx, "b", 100)?;
    derive(&mut tx, "a", 7)?;
    tx.put_blob("setup", "a", "setup.json", b"{\"start\":7}")?;
    tx.commit()
}

fn remove(disk: &Unplugged, path: &Path) -> Result<()> {
    let mut tx = Database::begin(Arc::new(disk.clone()), path, None)?;
    tx.drop_recording("a")?;
    tx.commit()
}

/// Cuts the power at every step of a change, and looks at several of the states that may be left.
fn at_every_step(work: fn(&Unplugged, &Path) -> Result<()>) {
    const STATES: usize = 6;
    let dir = tempfile::tempdir().unwrap();
    let template = dir.path().join("template");
    database_with_a(&template);
    let old = contents(&template);
    let goal = dir.path().join("goal");
    copy(&template, &goal);
    work(&Unplugged::new(&goal, usize::MAX), &goal).unwrap();
    let new = contents(&goal);
    assert_ne!(old, new);

    let (mut chance, mut found) = (Chance(1), [0, 0]);
    for cut_at in 1.. {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("db");
        copy(&template, &path);
        let disk = Unplugged::new(&path, cut_at);
        // Who loses the power says nothing.
        let done = work(&disk, &path).is_ok() && disk.state().steps < cut_at;
        for n in 0..STATES {
            let left = dir.path().join(format!("left-{n}"));
            disk.state().left(&mut chance, &path, &left);
            let case = format!("cut before step {cut_at}, state {n}");
            // The next writer tidies up.
            drop(Database::begin(Arc::new(RealDisk), &left, None).unwrap());
            let is = contents(&left);
            assert!(
                is == new || is == old && !done,
                "{case}: neither the old nor the new one, or a lost commit"
            );
            assert_eq!(verify(&left).unwrap().problems, [], "{case}");
            found[usize::from(is == new)] += 1;
        }
        if disk.state().steps < cut_at {
            break;
        }
    }
    assert!(found.iter().all(|count| *count > STATES), "{found:?}: this tests nothing");
}

#[test]
fn a_change_survives_a_power_cut_or_did_not_happen() {
    at_every_step(change);
}

#[test]
fn a_removal_survives_a_power_cut_or_did_not_happen() {
    at_every_step(remove);
}
