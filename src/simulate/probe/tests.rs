//! Whole recordings in memory: each shape, and what is not perfect. Not single cells (see `digits`), nor
//! what becomes of single records (see `tap`).

use super::form::Access;
use super::{ProbeOptions, Recorded, Shape};
use crate::error::Result;
use crate::simulate::model::Model;
use crate::simulate::{Simulated, random, simulate};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

/// The files of a simulation, by their names.
type Files = BTreeMap<String, String>;

/// A file in memory.
struct File {
    name: String,
    files: Rc<RefCell<Files>>,
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut files = self.files.borrow_mut();
        files.entry(self.name.clone()).or_default().push_str(std::str::from_utf8(bytes).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn model() -> Model {
    let options = random::Options { cores: Some(2), duration: Some(5_000_000), ..random::Options::default() };
    random::model(11, &options)
}

fn simulated(options: &ProbeOptions) -> (Files, Simulated) {
    let files = Rc::new(RefCell::new(Files::new()));
    let open = |name: &Path| -> Result<File> {
        Ok(File { name: name.to_str().unwrap().to_owned(), files: Rc::clone(&files) })
    };
    let simulated = simulate(&model(), options, false, open, |_| Ok(())).unwrap();
    (Rc::try_unwrap(files).unwrap().into_inner(), simulated)
}

fn recorded(simulated: &Simulated) -> Recorded {
    simulated.recorded.unwrap()
}

/// The number of lines in all exports that have `word`.
fn lines_with(files: &Files, word: &str) -> u64 {
    let exports = files.iter().filter(|(name, _)| name.ends_with(".csv"));
    exports.flat_map(|(_, text)| text.lines()).filter(|line| line.contains(word)).count() as u64
}

/// The times of a function export, without rows of lost records.
fn times(files: &Files, name: &str) -> Vec<i64> {
    let rows = files[name].lines().filter(|line| !line.contains("OVERFLOW"));
    rows.map(|line| line.split_once(';').unwrap().0.parse().unwrap()).collect()
}

/// Two accesses, two function events and the rows of lost records, in each shape.
#[test]
fn lines_of_every_shape() {
    let expected = [
        (
            Shape::Thesis,
            "-0000000009,0.0004372600,\"x[3]\",\"wr-data\",0000002B|\
             -0000000008,1.0000000200,\"x[3]\",\"rd-data\",07|\
             -0000000007,0.0004372600,\"\",\"TARGET FIFO OVERFLOW\",|",
            "+437260; f; fentry|+1000000020; f; fexit|+437260; TARGET FIFO OVERFLOW; |",
        ),
        (
            Shape::Header,
            "+00000000000001,0.000437260,\"x[3]\",\"wr-data\",0000002B~|\
             +00000000000002,1.000000020,\"x[3]\",\"rd-data\",07~|\
             +00000000000003,,\"\",\"TARGET FIFO OVERFLOW\",~|",
            "+437260; f; fentry;~|+1000000020; f; fexit;~|; TARGET FIFO OVERFLOW; ~|",
        ),
        (
            Shape::Bare,
            "0.0004372600,x[3],wr-data,0x0000002B|1.0000000200,x[3],rd-data,0x07|\
             0.0004372600,,TARGET FIFO OVERFLOW,|",
            "437260;f;fentry|1000000020;f;fexit|437260;TARGET FIFO OVERFLOW;|",
        ),
        (
            Shape::Quoted,
            "\"-0000000009\",\"0.000437260000\",\"x[3]\",\"wr-data\",\"0000002B\"|\
             \"-0000000008\",\"1.000000020000\",\"x[3]\",\"rd-data\",\"07\"|\
             \"-0000000007\",\"0.000437260000\",\"\",\"TARGET FIFO OVERFLOW\",\"\"|",
            "+437260; f; fentry|+1000000020; f; fexit|+437260; TARGET FIFO OVERFLOW; |",
        ),
        (
            Shape::Units,
            "-0000000009,437.260us,\"x[3]\",\"wr-data\",0000002B|\
             -0000000008,1.000000020s,\"x[3]\",\"rd-data\",07|\
             -0000000007,,\"\",\"TARGET FIFO OVERFLOW\",|",
            "+437260; f; fentry|+1000000020; f; fexit|; TARGET FIFO OVERFLOW; |",
        ),
        (
            Shape::Spreadsheet,
            "-9;0,000437260;x[3];wr-data;0000002B~|-8;1,000000020;x[3];rd-data;07~|\
             -7;0,000437260;;TARGET FIFO OVERFLOW;~|",
            "+437260; f; fentry~|+1000000020; f; fexit~|+437260; TARGET FIFO OVERFLOW; ~|",
        ),
        (
            Shape::Listing,
            "-0000000009,1,D:70000004,wr-long,0000002B,x[3],0.040us,437.260|\
             -0000000008,1,D:70000004,rd-byte,07,x[3],999.562760ms,1000000.020|\
             -0000000007,,,TARGET FIFO OVERFLOW,,,,437.260|",
            "+437260; f; fentry; -0000000009|+1000000020; f; fexit; -0000000008|\
             +437260; TARGET FIFO OVERFLOW; |",
        ),
        (
            Shape::Decimal,
            "wr-data\t43.\tx[3]\t0.0004372600\t-0000000009|rd-data\t7.\tx[3]\t1.0000000200\t-0000000008|\
             TARGET FIFO OVERFLOW\t\t\t\t-0000000007|",
            "+437260; f; fentry|+1000000020; f; fexit|; TARGET FIFO OVERFLOW; |",
        ),
    ];
    assert_eq!(expected.map(|(shape, ..)| shape), Shape::ALL);
    for (shape, data, functions) in expected {
        let form = shape.form();
        let (name, function) = (form.name(b"x[3]"), form.function_name(b"f"));
        let row = Access {
            record: 0,
            core: 1,
            time: 437_260,
            before: 437_220,
            name: &name,
            address: 0x7000_0004,
            write: true,
            value: 43,
            digits: 8,
        };
        let mut out = Vec::new();
        form.access(&mut out, 9, &row);
        let later = Access { record: 1, time: 1_000_000_020, before: 437_260, write: false, ..row };
        form.access(&mut out, 9, &Access { value: 7, digits: 2, ..later });
        form.lost_accesses(&mut out, 9, 2, 437_260);
        let shown = |out: Vec<u8>| String::from_utf8(out).unwrap().replace('\n', "|").replace('\r', "~");
        assert_eq!(shown(out), data, "{shape:?}");
        let mut out = Vec::new();
        form.function(&mut out, (9, 0), 437_260, &function, true);
        form.function(&mut out, (9, 1), 1_000_000_020, &function, false);
        form.lost_functions(&mut out, 437_260);
        assert_eq!(shown(out), functions, "{shape:?}");
    }
}

#[test]
fn a_recording_has_the_same_records_in_every_shape() {
    let (thesis, all) = simulated(&ProbeOptions::default());
    let records = recorded(&all);
    assert_eq!((records.overflows, records.lost), (0, 0));
    assert_eq!(lines_with(&thesis, ","), lines_with(&thesis, "-data\""));
    assert_eq!(lines_with(&thesis, "-data\"") + lines_with(&thesis, "; f"), records.records);
    for shape in Shape::ALL {
        let (files, of_shape) = simulated(&ProbeOptions { shape, ..ProbeOptions::default() });
        assert_eq!(of_shape, all, "{shape:?}");
        assert_eq!(files["reference.btf"], thesis["reference.btf"]);
        let description = &files["recording/recording.toml"];
        assert!(description.contains(shape.form().description) && description.contains("data_radix"));
        let count = |files: &Files, name: &str| files[name].lines().count();
        let name = "recording/core1_data.csv";
        let headers = usize::from(!shape.form().data_header.is_empty());
        assert_eq!(count(&files, name), count(&thesis, name) + headers, "{shape:?}");
    }
}

#[test]
fn records_are_numbered_towards_the_trigger() {
    let (files, _) = simulated(&ProbeOptions::default());
    let number = |line: &str| line.split(',').next().unwrap().parse::<i64>().unwrap();
    let numbers: Vec<i64> = files["recording/core0_data.csv"].lines().map(number).collect();
    assert!(numbers.is_sorted() && numbers.iter().all(|number| *number < 0), "{:?}", numbers.last());
}

#[test]
fn both_exports_say_that_records_are_lost() {
    let (whole, all) = simulated(&ProbeOptions::default());
    for shape in Shape::ALL {
        let options = ProbeOptions { shape, overflows: 3, ..ProbeOptions::default() };
        let (files, now) = simulated(&options);
        let (records, lost) = (recorded(&now).records, recorded(&now).lost);
        assert!(lost > 100, "{lost}");
        assert_eq!((recorded(&now).overflows, records + lost), (6, recorded(&all).records));
        for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".csv")) {
            assert_eq!(text.matches("TARGET FIFO OVERFLOW").count(), 3, "{shape:?} {name}");
        }
        assert_eq!(files["reference.btf"], whole["reference.btf"]);
    }
    // What is there is what was there.
    let (files, _) = simulated(&ProbeOptions { overflows: 3, ..ProbeOptions::default() });
    let name = "recording/core1_func.csv";
    let mut before = whole[name].lines();
    let mut rows = files[name].lines().filter(|line| !line.contains("OVERFLOW"));
    assert!(rows.all(|row| before.any(|other| other == row)));
}

#[test]
fn a_start_in_the_middle_leaves_the_end() {
    let (whole, all) = simulated(&ProbeOptions::default());
    let (files, now) = simulated(&ProbeOptions { begin: 2_000_000, ..ProbeOptions::default() });
    let rows =
        |text: &str| text.lines().map(|line| line.split_once(',').unwrap().1.to_owned()).collect::<Vec<_>>();
    let name = "recording/core0_data.csv";
    let (whole_rows, rows) = (rows(&whole[name]), rows(&files[name]));
    assert!(whole_rows.ends_with(&rows) && (10..whole_rows.len()).contains(&rows.len()));
    assert!(rows[0].starts_with("0.002"));
    assert!(recorded(&now).records < recorded(&all).records && recorded(&now).lost == 0);
    assert_eq!(files["reference.btf"], whole["reference.btf"]);
}

#[test]
fn clocks_of_cores_differ_and_jitter() {
    let (whole, all) = simulated(&ProbeOptions::default());
    let (files, now) = simulated(&ProbeOptions { drift: 1_000, ..ProbeOptions::default() });
    assert_eq!(now, all);
    assert_eq!(files["recording/core0_data.csv"], whole["recording/core0_data.csv"]);
    let name = "recording/core1_func.csv";
    let fast: Vec<i64> = times(&whole, name).iter().map(|time| time + time / 1_000).collect();
    assert_eq!(times(&files, name), fast);
    let (files, now) = simulated(&ProbeOptions { jitter: 50, ..ProbeOptions::default() });
    assert_eq!(now, all);
    for name in [name, "recording/core0_func.csv"] {
        let (right, shown) = (times(&whole, name), times(&files, name));
        assert!(right.iter().zip(&shown).all(|(right, shown)| (0..60).contains(&(shown - right))));
        assert!(right != shown && shown.is_sorted());
    }
}

#[test]
fn an_output_that_fails_ends_the_simulation_with_an_error() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let open = |name: &Path| -> Result<Box<dyn Write>> {
        Ok(if name.ends_with("core1_func.csv") { Box::new(Full) } else { Box::new(std::io::sink()) })
    };
    let error = simulate(&model(), &ProbeOptions::default(), false, open, |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("recording"), "{error}");
}
