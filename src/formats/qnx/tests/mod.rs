//! The decoder as a whole: re-encoded listings with their expected tables, and any bytes in any pieces.

mod cases;

use super::buffers::Buffers;
use super::{Batch, Decoder, Listed};
use crate::neutrino::ExpectedEvent;
use crate::qnx::{Class, Event, Status};
use proptest::prelude::*;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Decodes bytes in pieces of the given lengths, repeated.
fn decode(bytes: &[u8], pieces: &[usize]) -> (Decoder, Batch, Vec<&'static str>) {
    let mut decoder = Decoder::new("test.kev", None);
    let (mut all, mut codes) = (Batch::default(), Vec::new());
    let mut keep = |batch: Batch, all: &mut Batch| {
        batch.iter().for_each(|event| all.push(&event));
        all.records += batch.records;
        codes.extend(batch.log.entries().iter().map(|d| d.code));
    };
    let (mut rest, mut lengths) = (bytes, pieces.iter().cycle());
    while !rest.is_empty() {
        let length = lengths.next().map_or(rest.len(), |l| (*l).clamp(1, rest.len()));
        let (piece, behind) = rest.split_at(length);
        keep(decoder.chunk(piece).unwrap(), &mut all);
        rest = behind;
    }
    keep(decoder.finish().unwrap(), &mut all);
    (decoder, all, codes)
}

/// The events in the form of the expected tables, in the order of the file.
fn table(batch: &Batch) -> String {
    let mut events: Vec<_> = batch.iter().collect();
    events.sort_by_key(|e| e.record);
    let mut out = "rec,t64,timeoff,cpu,flags,class,event,is64,status,words\n".to_owned();
    for e in events {
        let words: Vec<String> = e.words.iter().map(|w| format!("{w:08x}")).collect();
        writeln!(
            out,
            "{},{},{:08x},{},{},{},{},{},{},{}",
            e.record,
            e.cycles,
            e.cycles as u32,
            e.cpu,
            e.flags,
            e.class.as_str(),
            e.event,
            u8::from(e.is64),
            e.status.as_str(),
            words.join(" ")
        )
        .unwrap();
    }
    out
}

/// The kernel traces of the corpus.
fn corpus() -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os("BTFDB_CORPUS") else {
        eprintln!("BTFDB_CORPUS is not set: the re-encoded listings are not read");
        return Vec::new();
    };
    let listing = std::fs::read_dir(PathBuf::from(folder).join("qnx")).unwrap();
    let mut files: Vec<PathBuf> = listing.map(|entry| entry.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "kev"));
    files.sort();
    assert!(files.len() >= 5, "{files:?}");
    files
}

#[test]
fn the_expected_tables_come_out() {
    let mut compared = 0;
    for file in corpus() {
        let bytes = std::fs::read(&file).unwrap();
        let (decoder, all, _) = decode(&bytes, &[1 << 20]);
        assert!(decoder.preamble().is_some() && !decoder.has_tail());
        if let Ok(expected) = std::fs::read_to_string(file.with_extension("expected.csv")) {
            assert_eq!(table(&all), expected, "{}", file.display());
            compared += 1;
        }
        for pieces in [&[1][..], &[15], &[16, 17], &[1000, 1]] {
            assert_eq!(
                table(&decode(&bytes, pieces).1),
                table(&all),
                "{} in pieces {pieces:?}",
                file.display()
            );
        }
    }
    assert!(compared > 0 || std::env::var_os("BTFDB_CORPUS").is_none());
}

#[test]
fn hard_files_are_read_as_the_documents_say() {
    let cases = cases::all().into_iter().chain(cases::simulated());
    for case in cases {
        let name = &case.name;
        let mut decoder = Decoder::new("test.kev", None);
        let first = decoder.chunk(&case.bytes).and_then(|first| Ok((first, decoder.finish()?)));
        let (first, rest) = match first {
            Err(_) if case.may_refuse => continue,
            read => read.unwrap_or_else(|e| panic!("{name}: {e}")),
        };
        let mut buffers = Buffers::new(decoder.preamble().unwrap().flavour.version);
        let mut events: Vec<Event<'_>> = first.iter().chain(rest.iter()).collect();
        let lost = events.iter().filter_map(|e| buffers.event(e)).filter(|b| b.lost > 0);
        let lost: Vec<_> = lost.map(|b| (b.record, b.lost)).collect();
        let expected: Vec<_> = case.lost_buffers.iter().map(|l| (l.record, l.count)).collect();
        assert_eq!(lost, expected, "{name}: lost buffers");
        events.sort_by_key(|e| e.record);
        // Without any TIME, only differences of counts matter.
        let start = |first: Option<u64>| first.filter(|_| case.is_unanchored).unwrap_or(0);
        let (ours, theirs) =
            (start(events.first().map(|e| e.cycles)), start(case.expected.first().map(|e| e.cycles)));
        for (found, expected) in events.iter().zip(&case.expected) {
            let found = ExpectedEvent {
                record: found.record,
                cycles: found.cycles.wrapping_sub(ours),
                cpu: found.cpu,
                flags: found.flags,
                class: found.class.as_str(),
                event: found.event,
                is64: found.is64,
                status: found.status.as_str(),
                words: found.words.to_vec(),
            };
            assert_eq!(
                found,
                ExpectedEvent { cycles: expected.cycles.wrapping_sub(theirs), ..expected.clone() },
                "{name}"
            );
        }
        assert_eq!(events.len(), case.expected.len(), "{name}");
        assert_eq!(first.records + rest.records, case.records, "{name}");
        assert_eq!(decoder.has_tail(), case.tail > 0, "{name}");
        let log = [&first.log, &rest.log].map(|log| log.count_of("wrong-cpu")).iter().sum::<u64>();
        assert_eq!(log, case.wrong_cpus, "{name}: records of a wrong CPU");
        let found: Vec<_> = decoder.preamble().unwrap().header.attributes.clone();
        let wanted: Vec<_> = case.attributes.iter().map(|(k, v)| (format!("TRACE_{k}"), v.clone())).collect();
        assert_eq!(found, wanted, "{name}: attributes");
    }
}

fn with_header(attributes: &str, records: &[u8]) -> Vec<u8> {
    let header = format!("TRACE_HEADER_BEGIN::{attributes}TRACE_HEADER_END::");
    [header.as_bytes(), records].concat()
}

const LITTLE: &str = "TRACE_LITTLE_ENDIAN::TRUETRACE_SYS_RELEASE::7.1.0TRACE_CYCLES_PER_SEC::1000";

proptest! {
    /// For any records: each is counted, and the pieces of the input do not matter.
    #[test]
    fn any_records_in_any_pieces(
        headers in prop::collection::vec((0u32..4, 0u32..3, prop::sample::select(vec![0x1000u32, 0x1001, 0x1002, 0x400 | 1, 0x400 | 2, 0x80b, 0x3fff]), 0u32..6), 0..60),
        tail in 0usize..16,
        pieces in prop::collection::vec(1usize..80, 1..5),
        release in prop::sample::select(vec!["6.4.1", "7.1.0", "8.0.0"]),
    ) {
        let mut records = Vec::new();
        for (part, cpu, code, time) in &headers {
            let words = [part << 30 | cpu << 24 | code, *time, 7, *time];
            records.extend(words.iter().flat_map(|w| w.to_le_bytes()));
        }
        records.extend(std::iter::repeat_n(0u8, tail));
        let bytes = with_header(&format!("TRACE_LITTLE_ENDIAN::TRUETRACE_SYS_RELEASE::{release}TRACE_CYCLES_PER_SEC::1000"), &records);
        let (decoder, all, _) = decode(&bytes, &pieces);
        prop_assert_eq!(all.records, headers.len() as u64);
        prop_assert_eq!(decoder.has_tail(), tail > 0);
        let words: usize = all.iter().map(|e| e.words.len()).sum();
        prop_assert_eq!(words, 2 * headers.len(), "every word of every record is in one event");
        let (_, whole, _) = decode(&bytes, &[bytes.len()]);
        prop_assert_eq!(table(&whole), table(&all));
    }

    /// Bytes that are not a trace, and truncated traces, are refused or counted.
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300), keep_header: bool) {
        let bytes = if keep_header { with_header(LITTLE, &bytes) } else { bytes };
        let mut decoder = Decoder::new("test.kev", None);
        if decoder.chunk(&bytes).is_ok() && decoder.finish().is_ok() {
            prop_assert!(decoder.preamble().is_some());
        }
    }
}

/// Its low half fell, also where the record is printed.
#[test]
fn a_time_is_never_late_in_a_listing() {
    let text = b"t:0xf0000000 CPU:00 THREAD  :THREADY pid:1 tid:1\n\
        t:0xc0000000 CPU:00 CONTROL :TIME msb:0x00000006 lsb(offset):0xc0000000\n";
    let mut listed = Listed::new("test", None);
    let all = [listed.chunk(text).unwrap(), listed.finish().unwrap()];
    let cycles: Vec<u64> = all.iter().flat_map(|batch| batch.iter().map(|event| event.cycles)).collect();
    assert_eq!(cycles, [0x5_f000_0000, 0x6_c000_0000]);
}

#[test]
fn events_that_are_never_ended_are_given_up() {
    // Begins without ends, at ever new times.
    let begins: Vec<u8> =
        (0..1000u32).flat_map(|n| [1 << 30 | 0x1001, n, n, 0]).flat_map(u32::to_le_bytes).collect();
    let (_, all, codes) = decode(&with_header(LITTLE, &begins), &[4096]);
    assert_eq!(all.len(), 1000);
    assert!(all.iter().all(|e| e.status == Status::Unterminated && e.class == Class::Thread));
    assert!(codes.contains(&"unterminated"));
}

#[test]
fn a_file_that_ends_inside_header_or_syspage() {
    let mut decoder = Decoder::new("test.kev", None);
    decoder.chunk(b"TRACE_HEADER_BEGIN::TRACE_FILE").unwrap();
    assert!(decoder.finish().unwrap_err().to_string().contains("inside its header"));
    let (decoder, all, codes) =
        decode(&with_header(&format!("{LITTLE}TRACE_SYSPAGE_LEN::100"), b"short"), &[3]);
    assert!(all.is_empty() && decoder.preamble().is_some());
    assert_eq!(codes, ["truncated"]);
}
