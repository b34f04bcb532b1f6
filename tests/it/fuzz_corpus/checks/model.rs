//! Promises of the files of timing models, and of the runs of those that are accepted.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

use btfdb::Error;
use btfdb::internals::model::{Model, ProbeOptions, Shape, TracedOs, simulate};

use super::is_located;

const FILE: &str = "r/model.toml";

/// A model is refused with a place, or is written as a text that is the same model. What is strange about it
/// is on lines of its text.
pub fn model_toml(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (model, log) = match Model::parse(&text, Path::new(FILE)) {
        Ok(parsed) => parsed,
        Err(error) => return is_located(&error, FILE, &text),
    };
    let lines = 1 + text.matches('\n').count() as u64;
    let outside = |line: Option<u64>| line.is_some_and(|line| !(1..=lines).contains(&line));
    assert!(!log.entries().iter().any(|entry| outside(entry.line)), "{:?}", log.entries());
    let written = model.to_toml();
    match Model::parse(&written, Path::new(FILE)) {
        Ok((again, findings)) => {
            assert_eq!(again, model, "{written}");
            assert_eq!(count(&findings), count(&log), "{written}");
        }
        Err(error) => panic!("{error}\n{written}"),
    }
}

fn count(log: &btfdb::Log) -> u64 {
    log.counts().map(|(_, _, _, count)| count).sum()
}

/// A model that is accepted runs, as far as there is time: its events are in the order of their times, and
/// within its duration. Its first byte chooses the recording.
pub fn simulation(data: &[u8]) {
    let (choice, text) = data.split_first().map_or((0, data), |(first, rest)| (usize::from(*first), rest));
    let Ok((model, _)) = Model::parse(&String::from_utf8_lossy(text), Path::new(FILE)) else { return };
    let shapes = [Shape::Thesis, Shape::Header, Shape::Bare, Shape::Quoted].into_iter().chain([
        Shape::Units,
        Shape::Spreadsheet,
        Shape::Listing,
        Shape::Decimal,
    ]);
    let options = ProbeOptions {
        os: if choice & 8 == 0 { TracedOs::Erika2 } else { TracedOs::Osek },
        shape: shapes.cycle().nth(choice & 7).unwrap_or_default(),
        overflows: if choice & 16 == 0 { 0 } else { 3 },
        jitter: if choice & 32 == 0 { 0 } else { 100 },
        drift: if choice & 64 == 0 { 0 } else { 50 },
        begin: if choice & 128 == 0 { 0 } else { model.duration / 2 },
    };
    let reference = Shared::default();
    let open = |path: &Path| {
        let is_reference = path == Path::new("reference.btf");
        Ok(if is_reference { reference.clone() } else { Shared::default() })
    };
    // It is asked after 65536 steps for the first time.
    let result = simulate(&model, &options, true, open, |_| Err(Error::interrupted()));
    let bytes = reference.0.borrow();
    let lines = std::str::from_utf8(&bytes).expect("BTF is UTF-8").lines();
    let times: Vec<i64> = lines
        .filter(|line| !line.starts_with('#'))
        // The last line is torn when the run was ended.
        .map_while(|line| line.split_once(',')?.0.parse().ok())
        .collect();
    assert!(times.is_sorted(), "the events are not in the order of their times");
    assert!(times.iter().all(|time| (0..=model.duration).contains(time)), "an event is outside of the run");
    if let Ok(simulated) = result {
        assert_eq!(simulated.events, times.len() as u64);
    }
}

/// The content of a file that several have.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
