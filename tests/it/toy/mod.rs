//! CONTRIBUTING.md says how a trace format is added: a folder and one line in the list. This is that, with a
//! list of its own.

mod format;

use btfdb::internals::{ProcessInstanceView, btf, qnx};
use btfdb::{
    Control, Database, Description, FORMATS, IngestOptions as Options, RealDisk, Report, Result, TraceFormat,
    ingest, plan, read_batches, tables,
};
use format::Spans;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// The one line.
static WITH_SPANS: [&dyn TraceFormat; 3] = [&btf::Btf, &qnx::Qnx, &Spans];

const TEN_LINES: &str =
    "task,begin,end\nA,10,25\nB,30,45\nA,50,65\nC,70,75\nB,80,95\nA,100,115\nC,120,x\nA,130\nB,140,155\n";

fn read(dir: &Path, name: &str, text: &str, options: &Options) -> Result<Report> {
    let file = dir.join(name);
    std::fs::write(&file, text).unwrap();
    let plans = plan(&[file], &Description::default(), FORMATS).unwrap();
    let (disk, control) = (Arc::new(RealDisk), Arc::new(Control::default()));
    Ok(ingest(disk, dir.join("t.db"), &plans, options, &control)?.remove(0))
}

fn with_spans() -> Options {
    Options { formats: &WITH_SPANS, ..Options::default() }
}

#[test]
fn a_format_is_a_folder_and_a_line() {
    let dir = TempDir::new().unwrap();
    let report = read(dir.path(), "spans.csv", TEN_LINES, &with_spans()).unwrap();
    let (_, counts) = &report.sources[0];
    assert_eq!((counts.lines, counts.rows, counts.rejected, counts.skipped), (10, 7, 2, 1));
    assert_eq!((report.log.count_of("bad-time"), report.log.count_of("wrong-column-count")), (1, 1));
    let db = Database::open(dir.path().join("t.db")).unwrap();
    let mut running = Vec::new();
    for file in db.files(tables::PROCESS_INSTANCE, None).unwrap() {
        for batch in read_batches(&db.place_of(&file), tables::PROCESS_INSTANCE, None, 1024).unwrap() {
            let batch = batch.unwrap();
            let view = ProcessInstanceView::of(&batch).unwrap();
            running.extend((0..batch.num_rows()).filter_map(|row| view.row(row)).map(|row| row.running));
        }
    }
    running.sort_unstable();
    assert_eq!(running, [5, 15, 15, 15, 15, 15, 15].map(Some).map(Option::unwrap));
}

#[test]
fn what_is_said_of_all_formats_holds_for_it() {
    let dir = TempDir::new().unwrap();
    let mut options = with_spans();
    options.of_formats.set("spans-core", ["Core_1".to_owned()]);
    // Its option is not for others, and what is certainly its own is not read as another format.
    let e = read(dir.path(), "t.btf", "#version 2.1.5\n1,C,0,T,A,0,start\n", &options).unwrap_err();
    assert!(e.to_string().contains("is no list of spans") && e.hints()[0].contains("--spans-core"), "{e}");
    let as_btf = Options { format: Some(&btf::Btf), ..with_spans() };
    let e = read(dir.path(), "spans.csv", TEN_LINES, &as_btf).unwrap_err();
    assert!(
        e.to_string().contains("this is a list of spans") && e.hints()[0].contains("--format spans"),
        "{e}"
    );
    // A file of no format is told what there is.
    let e = read(dir.path(), "text.csv", "hello\n", &options).unwrap_err();
    assert!(e.to_string().contains("BTF trace, kernel trace of QNX or list of spans"), "{e}");
    assert!(e.hints()[0].contains("lists of spans begin with"), "{e}");
}
