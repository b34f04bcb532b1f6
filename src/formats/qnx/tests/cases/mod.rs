//! Hard files, one for each rule of the layout, with the expected result. For the tests of readers; the
//! expectations are worked out from the documents, not with a reader.
//!
//! ```ignore
//! for case in cases::all().into_iter().chain(cases::simulated()) {
//!     let found = read(&case.bytes);            // sort by record
//!     assert_eq!(found, case.expected, "{}", case.name);
//! }
//! ```

mod headers;
mod layouts;
mod records;
mod times;

use crate::qnx::{Class, Status, Version};

use crate::neutrino::machine::{Options, simulate};
use crate::neutrino::{
    Attributes, ByteOrder, Code, ExpectedEvent, Faults, KevWriter, LostBuffer, Part, Parts, Record, Release,
    Target,
};

/// A file and its expected content.
#[derive(Debug, Clone)]
pub struct Case {
    /// What is hard about it.
    pub name: String,
    /// The file.
    pub bytes: Vec<u8>,
    /// Its events, by the number of their first record.
    pub expected: Vec<ExpectedEvent>,
    /// Buffers that are missing between others.
    pub lost_buffers: Vec<LostBuffer>,
    /// Keys of the header without `TRACE_`, and their values, in the order of the file.
    pub attributes: Vec<(String, String)>,
    /// Number of whole records after the header.
    pub records: u64,
    /// Number of bytes after the last whole record.
    pub tail: u64,
    /// Number of records with a wrong CPU.
    pub wrong_cpus: u64,
    /// The times of all CPUs count from an unknown start: there is no TIME at all.
    pub is_unanchored: bool,
    /// The file is damaged so that a reader may refuse it as well; if it does not, the rest holds.
    pub may_refuse: bool,
}

/// Every case that is made by hand.
pub fn all() -> Vec<Case> {
    [headers::all(), records::all(), times::all(), layouts::all()].concat()
}

/// Traces of simulated machines of all releases and both byte orders, some with faults.
pub fn simulated() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, release) in [Release::R6, Release::R7, Release::R8].into_iter().cycle().take(12).enumerate() {
        let cpus = [1, 2, 4, 7][n % 4];
        let order = if n % 5 == 4 { ByteOrder::Big } else { ByteOrder::Little };
        let target = Target { release, cpus, order, syspage_length: 700 + n as u16, ..Target::default() };
        let lost_buffer = if n > 5 { 12 } else { 0 };
        let wrong_cpu = if n % 2 == 1 { 40 } else { 0 };
        let faults = Faults { lost_buffer, wrong_cpu, interlace: 2, ..Faults::default() };
        let attributes = target.attributes().0;
        let wide = n % 2 == 0;
        let options = Options { target, seed: n as u64, wide, faults, bytes: 400_000, ..Options::default() };
        let (bytes, truth) = simulate(Vec::new(), &options).unwrap();
        let behind_header = bytes.len() - Attributes(attributes.clone()).text().len();
        let records = (behind_header - usize::from(options.target.syspage_length)) / 16;
        cases.push(Case {
            name: format!(
                "simulated {} with {cpus} CPUs, wide {wide}, {order:?}, {faults:?}",
                release.number()
            ),
            bytes,
            wrong_cpus: truth.written.wrong_cpus,
            expected: truth.written.events,
            lost_buffers: truth.written.lost_buffers,
            attributes,
            records: records as u64,
            tail: 0,
            is_unanchored: false,
            may_refuse: false,
        });
    }
    cases
}

/// Writes a file and records its expected content.
struct Builder {
    writer: KevWriter<Vec<u8>>,
    case: Case,
}

/// An event whose later parts are still to be written.
struct Open {
    event: usize,
    rest: Vec<Record>,
}

impl Builder {
    /// A file of a target with the standard header.
    fn new(name: impl Into<String>, target: &Target) -> Self {
        Self::with_header(name, target.order, target.attributes(), &target.syspage())
    }

    /// A file of 7.1 with two CPUs.
    fn standard(name: &str) -> Self {
        Self::new(name, &Target { syspage_length: 640, ..Target::default() })
    }

    fn with_header(
        name: impl Into<String>,
        order: ByteOrder,
        attributes: Attributes,
        syspage: &[u8],
    ) -> Self {
        let writer = KevWriter::new(Vec::new(), order, &attributes, syspage).unwrap();
        let case = Case {
            name: name.into(),
            bytes: Vec::new(),
            expected: Vec::new(),
            lost_buffers: Vec::new(),
            attributes: attributes.0,
            records: 0,
            tail: 0,
            wrong_cpus: 0,
            is_unanchored: false,
            may_refuse: false,
        };
        Self { writer, case }
    }

    /// A record without an expected event.
    fn raw(&mut self, record: &Record) -> u64 {
        self.writer.record(record).unwrap()
    }

    /// Begins an event: writes its first record, and expects all of it. The file has the low half of
    /// `cycles`.
    fn begin(&mut self, cpu: u8, cycles: u64, code: Code, words: &[u32]) -> Open {
        let mut parts = Parts::new(cpu, 0, code, cycles as u32, words);
        let record = self.raw(&parts.next().unwrap());
        let mut padded = words.to_vec();
        padded.resize(words.len().next_multiple_of(2).max(2), 0);
        self.case.expected.push(ExpectedEvent::new(record, cycles, cpu, code, &padded));
        Open { event: self.case.expected.len() - 1, rest: parts.collect() }
    }

    /// The next part of an event.
    fn part(&mut self, open: &mut Open) {
        let record = open.rest.remove(0);
        self.raw(&record);
    }

    /// Writes the rest of an event.
    fn end(&mut self, mut open: Open) {
        while !open.rest.is_empty() {
            self.part(&mut open);
        }
    }

    /// The rest of an event is missing.
    fn abandon(&mut self, open: &Open) {
        let event = &mut self.case.expected[open.event];
        event.words.truncate(event.words.len() - 2 * open.rest.len());
        event.status = ExpectedEvent::UNTERMINATED;
    }

    /// A whole event.
    fn event(&mut self, cpu: u8, cycles: u64, code: Code, words: &[u32]) {
        let open = self.begin(cpu, cycles, code, words);
        self.end(open);
    }

    /// A later part of an event whose beginning is not in the file.
    fn orphan(&mut self, part: Part, cpu: u8, cycles: u64, code: Code, data: [u32; 2]) {
        let record = self.raw(&Record::new(part, cpu, 0, code, cycles as u32, data));
        let event = ExpectedEvent::new(record, cycles, cpu, code, &data);
        self.case.expected.push(ExpectedEvent { status: ExpectedEvent::ORPHAN, ..event });
    }

    /// A TIME record of `cycles`, for which the clock was read six counts earlier.
    fn time(&mut self, cpu: u8, cycles: u64) {
        let read = cycles - 6;
        self.event(cpu, cycles, Code::TIME, &[(read >> 32) as u32, read as u32]);
    }

    fn buffer(&mut self, cpu: u8, cycles: u64, sequence: u32, count: u32) {
        self.event(cpu, cycles, Code::BUFFER, &[sequence, count]);
    }

    /// The start of a buffer up to 7.x: BUFFER and a TIME for the CPU that opens it.
    fn open_buffer(&mut self, cpu: u8, cycles: u64, sequence: u32) {
        self.buffer(cpu, cycles, sequence, 714);
        self.time(cpu, cycles);
    }

    /// The end of the file: bytes that are not a whole record.
    fn tail(&mut self, bytes: &[u8]) {
        self.writer.garbage(bytes).unwrap();
        self.case.tail = bytes.len() as u64;
    }

    fn done(mut self) -> Case {
        self.case.records = self.writer.records();
        self.case.bytes = self.writer.finish().unwrap();
        self.case
    }
}

/// A count of the clock in the middle of its 32 lower bits.
const START: u64 = 0x0005_2000_0000;

#[test]
fn the_expectations_agree_with_the_files() {
    let cases: Vec<Case> = all().into_iter().chain(simulated()).collect();
    let names: std::collections::HashSet<_> = cases.iter().map(|c| &c.name).collect();
    assert_eq!(names.len(), cases.len());
    for case in cases {
        let name = &case.name;
        let order = if case.attributes.iter().any(|(k, _)| k == "BIG_ENDIAN") {
            ByteOrder::Big
        } else {
            ByteOrder::Little
        };
        let begin = case.bytes.len() - case.tail as usize - 16 * case.records as usize;
        let word = |record: u64, n: usize| {
            let at = begin + 16 * record as usize + 4 * n;
            let bytes: [u8; 4] = case.bytes[at..at + 4].try_into().unwrap();
            if order == ByteOrder::Big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
        };
        assert!(case.expected.is_sorted_by(|a, b| a.record < b.record), "{name}");
        let release = case.attributes.iter().find(|(k, _)| k == "SYS_RELEASE").unwrap();
        let version = Version::of_release(&release.1).unwrap();
        let mut words = 0;
        for event in &case.expected {
            assert_eq!(word(event.record, 1), event.cycles as u32, "{name}: {event:?}");
            assert_eq!([word(event.record, 2), word(event.record, 3)], event.words[..2], "{name}: {event:?}");
            // The vocabulary must decode the bits as the writer meant them.
            let header = word(event.record, 0);
            let (class, number, is64) = Class::of_header(header as u16 & 0x7fff, version);
            assert_eq!((class.as_str(), number, is64), (event.class, event.event, event.is64), "{name}");
            assert!(Status::parse(event.status).is_some());
            let begins = header >> 30 < 2;
            assert_eq!(begins, event.status != ExpectedEvent::ORPHAN, "{name}: {event:?}");
            words += event.words.len() as u64;
        }
        assert_eq!(words, 2 * case.records, "{name}: every record is in one event");
        assert!(case.lost_buffers.iter().all(|l| l.record < case.records), "{name}");
        assert!(
            case.bytes.starts_with(Attributes(case.attributes.clone()).text().as_bytes()) || case.may_refuse
        );
    }
}
