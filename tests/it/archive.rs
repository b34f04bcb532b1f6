//! Recordings in archives: the same as their folders, and archives that are damaged or would write elsewhere.
//! Not compressed files, which `bad_input` and `cli` have.

use crate::ctf::zephyr;
use crate::support::Bench;
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

/// The trace of Zephyr, in a folder, and in an archive of that folder in another one.
pub fn packed(bench: &Bench, name: &str) {
    zephyr(bench);
    let to = bench.path().join(name);
    let gz = GzEncoder::new(std::fs::File::create(to).unwrap(), Compression::fast());
    let mut archive = Builder::new(gz);
    archive.append_dir_all("session/zephyr", bench.path().join("zephyr")).unwrap();
    archive.into_inner().unwrap().finish().unwrap();
}

#[test]
fn an_archive_is_the_folder_that_is_in_it() {
    let bench = Bench::new();
    packed(&bench, "board.ctf.tar.gz");
    bench.ok(&["ingest", "folder.db", "zephyr", "-q"]);
    let run = bench.ok(&["ingest", "archive.db", "board.ctf.tar.gz"]);
    assert!(!run.stderr.contains("/tmp"), "{}", run.all());
    let same = bench.ok(&["compare", "folder.db", "archive.db", "--level", "exact"]);
    assert!(same.stdout.contains("0 only in A, 0 only in B"), "{}", same.all());
    let sources = "SELECT recording, source, path FROM source ORDER BY source";
    let found = bench.ok(&["query", "archive.db", sources, "--format", "csv"]).stdout;
    let lines: Vec<&str> = found.lines().skip(1).collect();
    assert!(!lines.is_empty());
    assert!(
        lines
            .iter()
            .all(|line| line.starts_with("zephyr,") && line.contains(",board.ctf.tar.gz/session/zephyr/")),
        "{found}"
    );
    // Every command that reads a trace file does.
    assert!(bench.ok(&["check", "board.ctf.tar.gz"]).stdout.contains("0 errors"));
    assert_eq!(std::fs::read_dir(bench.path()).unwrap().count(), 4, "nothing is left behind");
}

/// An entry that is a link.
fn link(archive: &mut Builder<Vec<u8>>, kind: EntryType, name: &str, to: &str) {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(0);
    header.set_mode(0o644);
    archive.append_link(&mut header, name, to).unwrap();
}

#[test]
fn links_stand_for_files_of_the_archive() {
    let bench = Bench::new();
    zephyr(&bench);
    bench.ok(&["ingest", "folder.db", "zephyr", "-q"]);
    let at = |name: &str| bench.path().join(name);
    let mut archive = Builder::new(Vec::new());
    // Links before what they stand for, and a link to a link.
    link(&mut archive, EntryType::Symlink, "zephyr/metadata", "../data/meta");
    link(&mut archive, EntryType::Symlink, "data/meta", "more/m");
    link(&mut archive, EntryType::Link, "zephyr/channel0_0", "data/stream");
    archive.append_path_with_name(at("zephyr/metadata"), "data/more/m").unwrap();
    archive.append_path_with_name(at("zephyr/channel0_0"), "data/stream").unwrap();
    bench.write("linked.tar", archive.into_inner().unwrap());
    bench.write("recording.tar", {
        let mut archive = Builder::new(Vec::new());
        archive.append_dir_all("zephyr", at("zephyr")).unwrap();
        link(&mut archive, EntryType::Symlink, "zephyr/gone", "nowhere");
        archive.into_inner().unwrap()
    });
    let run = bench.run(&["ingest", "x.db", "recording.tar"]);
    assert!(
        run.code == Some(1) && run.stderr.contains("link 'zephyr/gone' to 'zephyr/nowhere'"),
        "{}",
        run.all()
    );
    bench.ok(&["ingest", "x.db", "linked.tar", "--name", "zephyr", "-q"]);
    let same = bench.ok(&["compare", "folder.db", "x.db", "--level", "exact"]);
    assert!(same.stdout.contains("0 only in A, 0 only in B"), "{}", same.all());
    let mut outside = Builder::new(Vec::new());
    link(&mut outside, EntryType::Symlink, "zephyr/metadata", "../../metadata");
    bench.write("outside.tar", outside.into_inner().unwrap());
    let run = bench.run(&["ingest", "x.db", "outside.tar"]);
    assert!(run.stderr.contains("names a file outside of it, '../../metadata'"), "{}", run.all());
}

#[test]
fn a_trace_alone_in_an_archive_is_that_trace() {
    let bench = Bench::new();
    let trace = std::fs::read(crate::support::root().join("tests/data/clocks/ecu_a.btf")).unwrap();
    bench.write("ecu_a.btf", trace);
    let mut archive = Builder::new(Vec::new());
    archive.append_path_with_name(bench.path().join("ecu_a.btf"), "x/ecu_a.btf").unwrap();
    bench.write("one.tar", archive.into_inner().unwrap());
    let run = bench.ok(&["ingest", "x.db", "one.tar"]);
    assert!(run.stderr.starts_with("ecu_a: one.tar/x/ecu_a.btf: "), "{}", run.all());
    let same = bench.ok(&["compare", "one.tar", "ecu_a.btf"]);
    assert!(same.stdout.contains("0 only in A, 0 only in B"), "{}", same.all());
}

#[test]
fn archives_that_are_damaged_or_name_files_elsewhere_are_refused() {
    let bench = Bench::new();
    packed(&bench, "good.tar.gz");
    let good = std::fs::read(bench.path().join("good.tar.gz")).unwrap();
    bench.write("cut.tar.gz", &good[..good.len() / 2]);
    bench.write("none.tar", "no archive, but long enough to be taken for one\n".repeat(40));
    let mut outside = Builder::new(Vec::new());
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(4);
    header.set_mode(0o644);
    // The library refuses such a name, too.
    header.as_gnu_mut().unwrap().name[..11].copy_from_slice(b"../gone.txt");
    header.set_cksum();
    outside.append(&header, &b"gone"[..]).unwrap();
    bench.write("outside.tar", outside.into_inner().unwrap());
    bench.write("empty.tar", Builder::new(Vec::new()).into_inner().unwrap());
    let mut all = String::new();
    for args in [
        &["ingest", "x.db", "cut.tar.gz"][..],
        &["ingest", "x.db", "none.tar"],
        &["ingest", "x.db", "outside.tar"],
        &["ingest", "x.db", "empty.tar"],
        &["ingest", "x.db", "good.tar.gz", "--max-unpacked", "1KiB"],
    ] {
        let run = bench.run(args);
        // The temporary folder has a random name.
        let lines = run.stderr.lines().map(|line| match line.find("$DIR/.tmp") {
            Some(at) => format!(
                "{}$TEMPORARY{}",
                &line[..at],
                line[at..]
                    .split_once("/.tmp")
                    .map_or("", |(_, rest)| rest.split_once('/').map_or("", |(_, rest)| rest))
            ),
            None => line.to_owned(),
        });
        all.push_str(&format!(
            "{args:?}: exit {}\n{}\n\n",
            run.code.unwrap(),
            lines.collect::<Vec<_>>().join("\n")
        ));
    }
    insta::assert_snapshot!("refused", all);
    assert!(!bench.path().parent().unwrap().join("gone.txt").exists());
}
