//! A trace in pieces: a recording that is continued, piece by piece, has the tables of the whole, wherever
//! the trace was cut; a piece that does not fit is refused and changes nothing.

use crate::support::{Bench, copy_dir, relative, root, tree};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use btfdb::{
    Control, Database, Description, ErrorKind, FORMATS, IngestOptions, RealDisk, Result, TABLES, ingest,
    plan, read_batches, tables, verify,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Ingests a recording, or the next piece of one.
pub fn add(db: &Path, folder: &Path, continues: Option<&str>) -> Result<()> {
    let plans = plan(&[folder.to_path_buf()], &Description::default(), FORMATS)?;
    let options = IngestOptions { continues: continues.map(str::to_owned), ..IngestOptions::default() };
    ingest(Arc::new(RealDisk), db, &plans, &options, &Arc::new(Control::default())).map(|_| ())
}

/// The exports of a recording.
fn exports(folder: &Path) -> Vec<String> {
    let plan = plan(&[folder.to_path_buf()], &Description::default(), FORMATS).unwrap().remove(0);
    plan.inputs.into_iter().map(|input| input.name).collect()
}

/// Time of a line of an export, in ticks of 10 ps; `None` for a line without one.
pub fn time_of(line: &str) -> Option<i64> {
    let field = if line.contains(';') { line.split(';').next()? } else { line.split(',').nth(1)? };
    let seconds = field.trim().trim_matches('"');
    match seconds.split_once('.') {
        Some((whole, digits)) if digits.bytes().all(|b| b.is_ascii_digit()) => {
            let digits = format!("{digits:0<11}");
            Some(whole.parse::<i64>().ok()? * 100_000_000_000 + digits[..11].parse::<i64>().ok()?)
        }
        _ => Some(seconds.trim_start_matches('+').parse::<i64>().ok()? * 100),
    }
}

/// The text of an export.
pub fn read(path: &Path) -> String {
    let bytes = fs::read(path).unwrap();
    if path.extension().is_none_or(|extension| extension != "gz") {
        return String::from_utf8(bytes).unwrap();
    }
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(&*bytes), &mut text).unwrap();
    text
}

/// The lines of all exports in the order of time: for each its export. A line without a time goes with the
/// one before it, and lines at the head of a file with its first record.
fn order_of_lines(folder: &Path, exports: &[String]) -> Vec<usize> {
    let mut lines = Vec::new();
    for (export, file) in exports.iter().enumerate() {
        let text = read(&folder.join(file));
        let times: Vec<Option<i64>> = text.lines().map(time_of).collect();
        let mut time = times.iter().flatten().next().copied().unwrap_or_default();
        for (n, own) in times.into_iter().enumerate() {
            time = own.unwrap_or(time).max(time);
            lines.push((time, export, n));
        }
    }
    lines.sort_unstable();
    lines.into_iter().map(|(_, export, _)| export).collect()
}

/// The number of lines at which a recording can be cut.
pub fn records(folder: &Path) -> usize {
    order_of_lines(folder, &exports(folder)).len()
}

/// The recording in pieces, cut before the lines with these numbers in the order of time. A core that does
/// nothing in a piece has no export there.
pub fn pieces(folder: &Path, cuts: &[usize]) -> Vec<TempDir> {
    let exports = exports(folder);
    let order = order_of_lines(folder, &exports);
    let mut done = vec![0; exports.len()];
    let (mut from, mut out) = (0, Vec::new());
    for to in cuts.iter().copied().chain([order.len()]) {
        let piece = TempDir::new().unwrap();
        copy_dir(folder, piece.path());
        let path = piece.path().join("recording.toml");
        let (mut description, mut is_empty) = (fs::read_to_string(&path).unwrap(), true);
        for (n, file) in exports.iter().enumerate() {
            let text = read(&folder.join(file));
            fs::remove_file(piece.path().join(file)).unwrap();
            let plain = file.trim_end_matches(".gz");
            description = description.replace(file, plain);
            let count = order[from..to].iter().filter(|export| **export == n).count();
            let lines: String = text.split_inclusive('\n').skip(done[n]).take(count).collect();
            done[n] += count;
            if lines.lines().all(|line| line.is_empty() || line.starts_with('#')) {
                let without = description.lines().filter(|line| !line.ends_with(&format!("= \"{plain}\"")));
                description = without.flat_map(|line| [line, "\n"]).collect();
            } else {
                is_empty = false;
                fs::write(piece.path().join(plain), lines).unwrap();
            }
        }
        fs::write(path, description).unwrap();
        // Nothing but comments is no piece.
        if !is_empty {
            out.push(piece);
        }
        from = to;
    }
    out
}

/// The lines of a JSON text without their order: maps with names as keys are lists in the order of ids, which
/// depends on where blocks of rows end.
fn unordered(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(|line| line.trim_end_matches(',').to_owned()).collect();
    lines.sort();
    lines
}

/// The rows of every table by table and core, as text, and the state at the end. The names of sources, and
/// how many there are, differ between a whole and its pieces.
fn content(db: &Path) -> BTreeMap<String, Vec<String>> {
    let open = Database::open(db).unwrap();
    let mut content: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for table in
        TABLES.iter().filter(|table| ![tables::SOURCE.name, tables::RECORDING.name].contains(&table.name))
    {
        for file in open.files(table, None).unwrap() {
            let key = format!("{} {}", table.name, file.core.clone().unwrap_or_default());
            let rows = content.entry(key).or_default();
            for batch in read_batches(&open.place_of(&file), table, None, 1000).unwrap() {
                lines(&batch.unwrap(), &mut |line| rows.push(line));
            }
        }
    }
    // Findings come in the order of the pieces, and refer to lines of each. An export may have no event in a
    // piece.
    let findings = content.entry(format!("{} ", tables::DIAGNOSTIC.name)).or_default();
    findings.retain(|line| !line.contains(" no-events "));
    findings.sort();
    let name = &open.recordings().unwrap()[0].name;
    let states = fs::read_dir(db.join(format!("state/recording={name}"))).unwrap();
    let mut states: Vec<_> = states.map(|entry| entry.unwrap().path()).collect();
    states.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with("state-"));
    assert_eq!(states.len(), 1);
    content.insert("state".into(), unordered(&fs::read_to_string(&states[0]).unwrap()));
    let entry = &open.recordings().unwrap()[0];
    content.insert("range".into(), vec![format!("{:?} {:?}", entry.begin_at, entry.end_at)]);
    content
}

fn lines(batch: &RecordBatch, take: &mut impl FnMut(String)) {
    let schema = batch.schema();
    let of_source = schema.column_with_name("severity").is_some();
    let wanted = |name: &str| !(of_source && ["source", "line"].contains(&name));
    let columns: Vec<_> =
        schema.fields().iter().zip(batch.columns()).filter(|(f, _)| wanted(f.name())).collect();
    let texts: Vec<_> = columns.iter().map(|(_, column)| cast(column, &DataType::Utf8).unwrap()).collect();
    for row in 0..batch.num_rows() {
        let cell = |text: &ArrayRef| {
            let text = text.as_string::<i32>();
            if text.is_valid(row) { text.value(row).to_owned() } else { "-".to_owned() }
        };
        take(texts.iter().map(cell).collect::<Vec<_>>().join(" "));
    }
}

/// What differs between the whole and the recording put together from pieces, cut at `cuts`.
pub fn differences(folder: &Path, whole: &Whole, cuts: &[usize]) -> Vec<String> {
    let pieces = pieces(folder, cuts);
    let dir = TempDir::new().unwrap();
    let db = dir.path().join("t.db");
    for (n, piece) in pieces.iter().enumerate() {
        if let Err(e) = add(&db, piece.path(), (n > 0).then_some(&*whole.name)) {
            return vec![format!("piece {n}: {e} {:?}", e.hints())];
        }
    }
    let content = content(&db);
    let mut found = Vec::new();
    for key in whole.content.keys().chain(content.keys()) {
        let [expected, got] = [&whole.content, &content].map(|c| c.get(key).cloned().unwrap_or_default());
        if expected != got {
            let n = expected.iter().zip(&got).take_while(|(a, b)| a == b).count();
            found.push(format!(
                "{key}: {} and {} rows; row {n}: {:?} and {:?}",
                expected.len(),
                got.len(),
                expected.get(n),
                got.get(n)
            ));
        }
    }
    found
}

/// A recording that was ingested as a whole.
pub struct Whole {
    name: String,
    content: BTreeMap<String, Vec<String>>,
}

impl Whole {
    pub fn of(folder: &Path) -> Self {
        let dir = TempDir::new().unwrap();
        let db = dir.path().join("t.db");
        add(&db, folder, None).unwrap();
        Self {
            name: Database::open(&db).unwrap().recordings().unwrap()[0].name.clone(),
            content: content(&db),
        }
    }
}

/// The small recordings: those of the rules, and the one that ships with the project.
fn small() -> Vec<PathBuf> {
    let mut folders = vec![root().join("demo/recording")];
    for set in ["erika2", "hooks", "osek"] {
        folders.extend(fs::read_dir(root().join("tests/data").join(set)).unwrap().map(|e| e.unwrap().path()));
    }
    folders.sort();
    folders
}

/// Numbers that look random and are the same in every run.
pub fn random(seed: &mut u64, below: usize) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize % below
}

#[test]
fn pieces_are_the_whole_wherever_the_trace_was_cut() {
    let mut seed = 29;
    for folder in small() {
        let (whole, records) = (Whole::of(&folder), records(&folder));
        for count in [1, 2] {
            let mut cuts: Vec<_> = (0..count).map(|_| 1 + random(&mut seed, records - 1)).collect();
            cuts.sort_unstable();
            cuts.dedup();
            let found = differences(&folder, &whole, &cuts);
            assert!(found.is_empty(), "{} cut before {cuts:?}\n{}", relative(&folder), found.join("\n"));
        }
    }
}

#[test]
fn every_cut_of_recordings_that_begin_in_the_middle_or_have_gaps() {
    for name in ["erika2/gap", "erika2/middle", "osek/middle", "osek/smp"] {
        let folder = root().join("tests/data").join(name);
        let whole = Whole::of(&folder);
        let records = records(&folder);
        for cut in (1..records).step_by(records.div_ceil(9)) {
            let found = differences(&folder, &whole, &[cut]);
            assert!(found.is_empty(), "{name} cut before {cut}\n{}", found.join("\n"));
        }
    }
}

/// A part of the demo that ends in the middle, in `t.db`, and the rest.
fn begun() -> (Bench, Vec<TempDir>) {
    let bench = Bench::new();
    let folder = bench.demo();
    let pieces = pieces(&folder, &[records(&folder) / 2]);
    add(&bench.path().join("t.db"), pieces[0].path(), None).unwrap();
    (bench, pieces)
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let (bench, pieces) = begun();
    let second = pieces[1].path().display().to_string();
    let name = Database::open(bench.path().join("t.db")).unwrap().recordings().unwrap()[0].name.clone();
    let near = format!("{name}x");
    bench.write("trace.btf", "#version 2.1.5\n10,Core_0,0,T,A,0,start\n");
    bench.ok(&["ingest", "t.db", "trace.btf", "-q"]);
    let other = |what: &str, change: &dyn Fn(&str) -> String, file: &str| {
        let folder = bench.path().join(what);
        copy_dir(pieces[1].path(), &folder);
        let text = fs::read_to_string(folder.join(file)).unwrap();
        fs::write(folder.join(file), change(&text)).unwrap();
        what.to_owned()
    };
    let orti = exports_of_cores(pieces[1].path());
    let before = tree(&bench.path().join("t.db"));
    for (args, expected) in [
        (vec![second.clone(), "--continue".into(), near], "there is no recording"),
        (vec![pieces[0].path().display().to_string(), "--continue".into(), name.clone()], "before that of"),
        (vec!["trace.btf".into(), "--continue".into(), name.clone()], "a BTF trace cannot continue"),
        (
            vec![second.clone(), "--continue".into(), "trace".into()],
            "is a BTF trace, which cannot be continued",
        ),
        (
            vec![
                other(
                    "o1",
                    &|t| t.replace("data_radix = \"hex\"", "data_radix = \"decimal\""),
                    "recording.toml",
                ),
                "--continue".into(),
                name.clone(),
            ],
            "option data-radix of the piece is decimal",
        ),
        (
            vec![
                other("o2", &|t| t.replace("runnables = [", "runnables = [\"other\", "), "recording.toml"),
                "--continue".into(),
                name.clone(),
            ],
            "'runnables' of the piece is not that of",
        ),
        (
            vec![
                other("o3", &|t| format!("{t}\n// another build\n"), &orti),
                "--continue".into(),
                name.clone(),
            ],
            "the ORTI file of core",
        ),
        (
            vec![
                other("o4", &|t| t.replacen("name = \"Core_0\"", "name = \"Core_9\"", 1), "recording.toml"),
                "--continue".into(),
                name.clone(),
            ],
            "the list of cores",
        ),
        (
            vec![second.clone(), "--continue".into(), name.clone(), "--name".into(), "x".into()],
            "cannot be used with",
        ),
        (
            vec![second.clone(), "--continue".into(), name.clone(), "--time-scale".into(), "ps".into()],
            "counts time in ns",
        ),
    ] {
        let args: Vec<&str> = ["ingest", "t.db"].into_iter().chain(args.iter().map(String::as_str)).collect();
        let run = bench.run(&args);
        assert!(run.code != Some(0) && run.stderr.contains(expected), "{args:?}\n{}", run.stderr);
        assert_eq!(tree(&bench.path().join("t.db")), before, "{args:?}");
    }
    let control = Arc::new(Control::default());
    control.cancel();
    let plans = plan(&[pieces[1].path().to_path_buf()], &Description::default(), FORMATS).unwrap();
    let options = IngestOptions { continues: Some(name.clone()), ..IngestOptions::default() };
    let e = ingest(Arc::new(RealDisk), bench.path().join("t.db"), &plans, &options, &control).unwrap_err();
    assert_eq!((e.kind(), tree(&bench.path().join("t.db"))), (ErrorKind::Interrupted, before));
    let run = bench.run(&["ingest", "none.db", &second, "--continue", &name]);
    assert!(run.code != Some(0) && !bench.path().join("none.db").exists(), "{}", run.stderr);
    bench.ok(&["ingest", "t.db", &second, "--continue", &name, "-q"]);
    let run = bench.run(&["ingest", "t.db", &second, "--continue", &name]);
    assert!(run.stderr.contains("before that of"), "the same piece again\n{}", run.stderr);
    assert!(verify(bench.path().join("t.db")).unwrap().problems.is_empty());
}

/// The ORTI file of the first core.
fn exports_of_cores(folder: &Path) -> String {
    let plan = plan(&[folder.to_path_buf()], &Description::default(), FORMATS).unwrap().remove(0);
    plan.description.core[0].orti.clone().unwrap()
}

#[test]
fn a_piece_needs_no_description_and_many_pieces_are_mapped_once() {
    let bench = Bench::new();
    let folder = bench.demo();
    let n = records(&folder);
    let whole = Whole::of(&folder);
    let pieces = pieces(&folder, &[n / 3, n / 2]);
    let names: Vec<(String, String)> = [("core0", "Core_0"), ("core1", "Core_1")]
        .iter()
        .flat_map(|(file, core)| {
            ["data", "func"].map(|kind| (format!("{file}_{kind}.csv"), format!("{core}_{kind}.csv")))
        })
        .collect();
    for (n, piece) in pieces.iter().enumerate().skip(1) {
        for (from, to) in &names {
            bench.write(&format!("piece{n}/{to}"), fs::read(piece.path().join(from)).unwrap());
        }
    }
    add(&bench.path().join("t.db"), pieces[0].path(), None).unwrap();
    let name = whole.name.clone();
    bench.ok(&["ingest", "t.db", "piece1", "piece2", "--continue", &name, "--no-map", "-q"]);
    let events = "SELECT count(*) AS n FROM btf_event";
    assert_eq!(bench.ok(&["query", "t.db", events, "--format", "csv"]).stdout, "n\n0");
    bench.ok(&["map", "t.db", "-q"]);
    let got = content(&bench.path().join("t.db"));
    for (key, rows) in &whole.content {
        assert_eq!(Some(rows), got.get(key), "{key}");
    }
    let sources = "SELECT count(*) AS n, count(DISTINCT source) AS d FROM source";
    assert_eq!(bench.ok(&["query", "t.db", sources, "--format", "csv"]).stdout, "n,d\n12,12");
}
