//! What archives unpack to: zeros that they do not hold, copies for links, and the end when it is asked for.
//! Not archives of recordings (see `tests/it`).

use super::*;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tar::{Builder, Header};

fn header(kind: EntryType, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o644);
    header
}

fn unpacked(archive: Builder<Vec<u8>>, max_unpacked: u64, control: &Control) -> Result<Unpacked> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tar");
    fs::write(&path, archive.into_inner().unwrap()).unwrap();
    Unpacked::of(&[path], max_unpacked, control)
}

/// An archive with a file of so many bytes, which it does not hold: they are zeros.
fn sparse(size: u64) -> Builder<Vec<u8>> {
    let mut archive = Builder::new(Vec::new());
    let mut header = header(EntryType::GNUSparse, 0);
    let gnu = header.as_gnu_mut().unwrap();
    gnu.name[..6].copy_from_slice(b"sparse");
    let number = |field: &mut [u8; 12], n: u64| field.copy_from_slice(format!("{n:011o}\0").as_bytes());
    number(&mut gnu.realsize, size.min(0o77_777_777_777));
    number(&mut gnu.sparse[0].offset, size.min(0o77_777_777_777));
    number(&mut gnu.sparse[0].numbytes, 0);
    header.set_cksum();
    archive.append(&header, io::empty()).unwrap();
    archive
}

#[test]
fn zeros_that_an_archive_does_not_hold_count() {
    let control = Control::default();
    let fits = unpacked(sparse(5000), 5000, &control).unwrap();
    assert_eq!(fits.inputs[0].metadata().unwrap().len(), 5000);
    let refused = unpacked(sparse(5001), 5000, &control).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Limit, "{refused}");
    assert!(refused.to_string().contains("unpacks to more than 5000 bytes"), "{refused}");
}

#[test]
fn copies_for_links_count() {
    let of = |links: usize, most: u64| {
        let mut archive = Builder::new(Vec::new());
        archive.append_data(&mut header(EntryType::Regular, 100), "file", &[7; 100][..]).unwrap();
        for n in 0..links {
            let link = &mut header(EntryType::Link, 0);
            archive.append_link(link, format!("link{n}"), "file").unwrap();
        }
        unpacked(archive, most, &Control::default())
    };
    of(3, 400).unwrap();
    assert_eq!(of(4, 400).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn long_chains_of_links_end_and_links_to_each_other_are_refused() {
    const LINKS: usize = 20_000;
    let mut links = BTreeMap::new();
    for n in 0..LINKS {
        links.insert(PathBuf::from(n.to_string()), PathBuf::from((n + 1).to_string()));
    }
    let last = LINKS.to_string();
    assert!(ends(&links).iter().all(|(_, end)| *end == Some(Path::new(&last))));
    links.insert(PathBuf::from(&last), PathBuf::from("0"));
    assert!(ends(&links).iter().all(|(_, end)| end.is_none()));
    // Looking for the end of each pair among all links would take minutes here.
    let path = |n: usize| PathBuf::from(n.to_string());
    let pairs: BTreeMap<_, _> = (0..10 * LINKS).map(|n| (path(n), path(n ^ 1))).collect();
    assert!(ends(&pairs).iter().all(|(_, end)| end.is_none()));

    let mut archive = Builder::new(Vec::new());
    archive.append_link(&mut header(EntryType::Symlink, 0), "a", "b").unwrap();
    archive.append_link(&mut header(EntryType::Symlink, 0), "b", "a").unwrap();
    let refused = unpacked(archive, 1000, &Control::default()).unwrap_err();
    assert!(refused.to_string().contains("link 'a' to 'b', which is no file in it"), "{refused}");
}

#[test]
fn the_last_file_of_a_name_counts_also_after_a_link() {
    let mut archive = Builder::new(Vec::new());
    archive.append_data(&mut header(EntryType::Regular, 3), "other", &b"one"[..]).unwrap();
    archive.append_link(&mut header(EntryType::Link, 0), "x", "other").unwrap();
    archive.append_data(&mut header(EntryType::Regular, 3), "x", &b"two"[..]).unwrap();
    let unpacked = unpacked(archive, 1000, &Control::default()).unwrap();
    assert_eq!(fs::read(unpacked.inputs[0].join("x")).unwrap(), b"two");
}

/// A file of the system that refuses what is written, as a disk does beyond a quota.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_no_damage_of_the_archive() {
    let control = Control::default();
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path();
    std::os::unix::fs::symlink("/proc/self/oom_score_adj", into.join("refuses")).unwrap();
    let mut writer = Writer { archive: Path::new("a.tar"), into, control: &control, most: 9, left: 9 };
    let damaged = |_: io::Error| Error::input("the archive is damaged");
    let refused = writer.write(&into.join("refuses"), &b"no"[..], 2, damaged).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Io, "{refused}");
    assert!(refused.to_string().contains("cannot unpack 'a.tar/refuses'"), "{refused}");
    // A folder is no file to read from.
    let unreadable = File::open(into).unwrap();
    let refused = writer.write(&into.join("file"), unreadable, 2, damaged).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Input, "{refused}");
}

/// 8 GiB of zeros take long to write.
#[test]
fn unpacking_stops_when_it_is_asked_to() {
    let control = Arc::new(Control::default());
    let asked = Arc::clone(&control);
    let asking = thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        asked.cancel();
    });
    let stopped = unpacked(sparse(8 << 30), 1 << 40, &control).unwrap_err();
    asking.join().unwrap();
    assert_eq!(stopped.kind(), ErrorKind::Interrupted, "{stopped}");
}
