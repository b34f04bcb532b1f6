//! The output is that of the vendor's tool, and can be read again. The listings of the corpus come from the
//! vendor's documents; the events of the property test come from the tables.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::formats::qnx::listing::{ListingReader, OwnedEvent, probe};
use crate::qnx::layout::Kind;
use crate::qnx::{Version, entry, event_names};

fn read(text: &[u8]) -> (ListingReader<'static>, Vec<OwnedEvent>) {
    let (mut reader, mut events) = (ListingReader::new("test", None), Vec::new());
    reader.chunk(text, false, &mut events);
    reader.finish(&mut events);
    (reader, events)
}

fn print(
    style: Style,
    one_line: bool,
    flavour: Flavour,
    head: &[(String, String)],
    events: &[OwnedEvent],
) -> String {
    let printer = Printer::new(style, one_line, None, flavour, 0).unwrap();
    let mut out = Vec::new();
    printer.header(head, &mut out);
    for (n, event) in events.iter().enumerate() {
        let cycles = u64::from(event.high.unwrap_or(0)) << 32 | u64::from(event.timeoff);
        printer.event(&event.view(n as u64, cycles), &mut out);
    }
    String::from_utf8(out).unwrap()
}

/// Listings of the corpus; empty, with a note, when there is no corpus.
fn listings() -> Vec<PathBuf> {
    let Some(root) = std::env::var_os("BTFDB_CORPUS") else {
        eprintln!("skipped: BTFDB_CORPUS is not set");
        return Vec::new();
    };
    let files = std::fs::read_dir(Path::new(&root).join("qnx")).unwrap().map(|entry| entry.unwrap().path());
    let is_listing = |path: &PathBuf| path.to_string_lossy().contains(".expected_print");
    let mut files: Vec<_> = files.filter(is_listing).collect();
    files.sort();
    assert!(files.len() >= 5, "the corpus has listings");
    files
}

#[test]
fn listings_of_the_corpus_are_read_and_printed_again() {
    for path in listings() {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(probe(text.as_bytes()));
        let (reader, events) = read(text.as_bytes());
        let (flavour, head, counts) = (reader.flavour(), reader.attributes().to_vec(), reader.counts());
        assert!(events.len() > 10, "{}", path.display());
        assert_eq!(counts.lines, text.lines().count() as u64);
        assert_eq!(counts.lines, counts.rows + counts.skipped, "{}", path.display());
        let missing: Vec<_> = events.iter().filter(|e| e.words.len() < 2).map(|e| e.line).collect();
        let log = reader.into_log();
        assert_eq!(log.count_at_least(crate::diagnostics::Severity::Info), missing.len() as u64, "{log:?}");
        // If the words of a string were not printed, they cannot be restored.
        let printed = print(Style::V6, false, flavour, &head, &events);
        for (n, (expected, line)) in text.lines().zip(printed.lines()).enumerate() {
            if !missing.contains(&(n as u64 + 1)) {
                assert_eq!(expected, line, "{}:{}", path.display(), n + 1);
            }
        }
        assert_eq!(text.lines().count(), printed.lines().count());
        // The other styles show the same.
        for (style, one_line) in [(Style::V6, true), (Style::V7, false), (Style::V7, true)] {
            let printed = print(style, one_line, flavour, &head, &events);
            let (reader, again) = read(printed.as_bytes());
            assert_eq!(reader.attributes(), head);
            assert_eq!(events.len(), again.len());
            // Events without words are printed as if they were 0.
            for (event, again) in events.iter().zip(again).filter(|(event, _)| !event.words.is_empty()) {
                // What could not be printed the first time is missing the second time.
                if again.words.len() > 1 {
                    assert_eq!(OwnedEvent { line: again.line, ..event.clone() }, again);
                }
            }
        }
    }
}

fn event(class: Class, event: u16, words: &[u32]) -> OwnedEvent {
    let (line, cpu, is64, timeoff, high) = (1, 1, false, 0x10, None);
    OwnedEvent { line, cpu, class, event, is64, timeoff, high, words: words.to_vec(), printed: None }
}

fn line(style: Style, version: Version, event: &OwnedEvent) -> String {
    let text = print(style, false, Flavour { version, big_endian: false }, &[], std::slice::from_ref(event));
    text.split_once(" -- KERNEL EVENTS -- \n").unwrap().1.to_owned()
}

#[test]
fn style_6_is_that_of_traceprinter_1_02() {
    let v6 = |class, number, words: &[u32]| line(Style::V6, Version::V6_5, &event(class, number, words));
    let start = "t:0x00000010 CPU:01 ";
    for (class, number, words, expected) in [
        (Class::Control, 2, &[0x821, 7][..], "CONTROL: BUFFER sequence = 33, num_events = 7\n"),
        (Class::Thread, 1, &[1, 2], "THREAD  :THRUNNING     pid:1 tid:2 \n"),
        (
            Class::Thread,
            16,
            &[1, 2, 10, 2, 1, 3],
            "THREAD  :THINTR        pid:1 tid:2 priority:10 policy:2 partition:1 sched_flags:0x00000003\n",
        ),
        (Class::Thread, 25, &[1, 2], "THREAD  :THDESTROY     pid:1 tid:2\n"),
        (Class::VThread, 5, &[1, 2], "VTHREAD :THRECEIVE     pid:1 tid:2\n"),
        (Class::Comm, 11, &[1, 2], "COMM    :MSG_ERROR tid:1 pid:2\n"),
        (Class::System, 9, &[0x1000, 0], "SYSTEM  :ADDRESS addr:0x00001000\n"),
        (
            Class::System,
            3,
            &[1, 0x0062_6161],
            "SYSTEM  :APS_NAME       \n              partition_id:1\n                      name:aab\n",
        ),
        (Class::KerExit, 83, &[0, 0], "KER_EXIT:SYNC_CONDVAR_SIG/83 ret_val:0 empty:0x00000000\n"),
        (Class::KerExit, 11, &[u32::MAX, 4], "KER_EXIT:MSG_SENDV/11 ret_val:-1, errno:4\n"),
        (Class::IntCall, 7, &[0, 0], "INT_CALL:KER_SYS_CPUPAGE_GET/7\n"),
        (
            Class::HandlerExit,
            4,
            &[0x8000_0000, 6, 0, 0, 0, 0],
            "INT_HANDLER_EXIT:0x80000000 (-2147483648) SIGEVENT:INTR\n",
        ),
        (Class::User, 9, &[1, 2], "USREVENT:EVENT:9, d0:0x00000001 d1:0x00000002\n"),
        (
            Class::User,
            9,
            &[0x6161_6161, 0x6161_6161, 0x6161_6161, 0x6161_6161],
            "USREVENT:EVENT:9 STR:\"aaaaaaaaaaaaaaa\"\n",
        ),
        (Class::System, 300, &[1, 2], "SYSTEM  :UNKNOWN/300 d0:0x00000001 d1:0x00000002\n"),
    ] {
        assert_eq!(v6(class, number, words), format!("{start}{expected}"));
    }
}

#[test]
fn style_7_has_wider_columns_and_numbers() {
    let v7 = |class, number, words: &[u32]| line(Style::V7, Version::V7_1, &event(class, number, words));
    let start = "t:0x00000010 CPU:01 ";
    for (class, number, words, expected) in [
        (
            Class::Thread,
            1,
            &[1, 2, 10, 2][..],
            "THREAD          :THRUNNING          pid:1 tid:2 priority:10 policy:2\n",
        ),
        (
            Class::System,
            7,
            &[5, 0x1000, 0, 0x2000, 1, 0],
            "SYSTEM          :MUNMAP            \n                       pid:5\n                     vaddr:0x0000000000001000\n                       len:0x0000000100002000\n",
        ),
        (Class::IntEnter, 1, &[27, 0x1000], "INT_ENTR        :0x0000001b (27)    IP:0x00001000\n"),
        (Class::IntCall, 7, &[0, 0], "INT_CALL        :KER_SYS_CPUPAGE_GET/7\n"),
        (Class::User, 9, &[1, 2], "USREVENT        :EVENT:9            d0:0x00000001 d1:0x00000002\n"),
    ] {
        assert_eq!(v7(class, number, words), format!("{start}{expected}"));
    }
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let new = |style, format, clock| Printer::new(style, false, format, Flavour::default(), clock);
    assert!(new(Style::V6, Some("%c"), 1).is_err());
    assert!(new(Style::V7, Some("%t"), 0).is_err());
    assert!(new(Style::V7, Some("%t"), 1).is_ok());
    assert!(new(Style::V7, Some("%q"), 1).is_err());
}

#[test]
fn events_with_missing_parts_are_not_printed() {
    let owned = event(Class::Thread, 1, &[1, 2]);
    let printer = Printer::new(Style::V6, false, None, Flavour::default(), 0).unwrap();
    let mut out = Vec::new();
    for status in [Status::Orphan, Status::Unterminated] {
        printer.event(&Event { status, ..owned.view(0, 0) }, &mut out);
    }
    assert!(out.is_empty());
}

/// Words for a layout, so that all of them are printed.
fn fill(fields: &[Field], mut random: impl FnMut() -> u32, big_endian: bool) -> Vec<u32> {
    let mut words = Vec::new();
    for field in fields {
        match field.kind {
            _ if field.name() == "pad" => words.push(0),
            Kind::Hex | Kind::Dec | Kind::Pointer => words.push(random()),
            Kind::Hex64 | Kind::Dec64 | Kind::Pointer64 => {
                // With a small number, the output would not distinguish 64 bits from 32.
                let (low, high) = (random(), random() % 0x7fff_fffe + 1);
                words.extend(if big_endian { [high, low] } else { [low, high] });
            }
            Kind::Text(n) => words.extend((0..n).map(|_| random())),
            Kind::Name => {
                let length = random() as usize % 20;
                let mut bytes: Vec<u8> = (0..length).map(|_| b' ' + 1 + (random() % 94) as u8).collect();
                bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
                for four in bytes.chunks(4) {
                    let four = <[u8; 4]>::try_from(four).unwrap();
                    words.push(if big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) });
                }
            }
            Kind::SigEvent => words.extend([4, random(), random(), random()]),
        }
    }
    words.resize(words.len().next_multiple_of(2), 0);
    words
}

/// Every event with arguments, in every layout in which all of its words are printed.
fn printable(flavour: Flavour, style: Style, seed: u32) -> Vec<OwnedEvent> {
    let mut state = seed | 1;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    let mut events = Vec::new();
    for class in Class::ALL {
        for (number, _) in event_names(flavour.version, *class) {
            let known = entry(flavour.version, *class, number).unwrap();
            for (is64, layout) in [(false, &known.layout), (true, &known.layout64)] {
                for (fast, fields) in [(true, &layout.fast), (false, &layout.wide)] {
                    let words = fill(fields, &mut random, flavour.big_endian);
                    // Without a number of 64 bits, the output does not distinguish the layouts.
                    let tells = |f: &Field| matches!(f.kind, Kind::Hex64 | Kind::Dec64 | Kind::Pointer64);
                    if is64 && !fields.iter().any(tells) {
                        continue;
                    }
                    // More than two words of a fast event are not printed, and a wide one has more.
                    if fields.is_empty() || (words.len() <= 2) != fast {
                        continue;
                    }
                    // 1.02 does not print all words of these.
                    let wide_thread = style == Style::V6 && !fast;
                    if wide_thread
                        && (*class == Class::VThread || *class == Class::Thread && (24..26).contains(&number))
                    {
                        continue;
                    }
                    events.push(OwnedEvent { is64, ..event(*class, number, &words) });
                }
            }
        }
    }
    for number in [0, 111, 1023] {
        events.push(event(Class::User, number, &[random(), random()]));
        let text = fill(&[Field { label: ":", kind: Kind::Name }], &mut random, flavour.big_endian);
        if text.first() != Some(&0) && text.len() >= 4 {
            events.push(event(Class::User, number, &text));
        }
    }
    for (n, event) in events.iter_mut().enumerate() {
        (event.cpu, event.timeoff) = ((n % 64) as u8, random());
        match event.class {
            Class::Control if event.event == 2 && style == Style::V6 => event.words[0] &= 0x7ff,
            Class::KerExit if event.words[0] == u32::MAX => event.words[0] = 0,
            _ => {}
        }
    }
    events
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_printed_is_read_again(
        seed: u32,
        version in prop::sample::select(Version::ALL.to_vec()),
        big_endian: bool,
        v6: bool,
        one_line: bool,
        cut in 0_usize..4000,
    ) {
        let style = if v6 { Style::V6 } else { Style::V7 };
        let flavour = Flavour { version, big_endian };
        let events = printable(flavour, style, seed);
        prop_assert!(events.len() > 250);
        let order = if big_endian { "BIG_ENDIAN" } else { "LITTLE_ENDIAN" };
        let head = [("SYS_RELEASE", version.as_str()), (order, "TRUE")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        let text = print(style, one_line, flavour, &head, &events);
        let (mut reader, mut again) = (ListingReader::new("test", None), Vec::new());
        // Chunks end after any line.
        let cut = text.match_indices('\n').nth(cut).map_or(text.len(), |(at, _)| at + 1);
        reader.chunk(&text.as_bytes()[..cut], false, &mut again);
        reader.chunk(&text.as_bytes()[cut..], false, &mut again);
        reader.finish(&mut again);
        prop_assert_eq!(reader.flavour(), flavour);
        let counts = reader.counts();
        prop_assert_eq!((counts.rows, counts.rejected), (events.len() as u64, 0), "{:?}", reader.into_log().entries());
        prop_assert_eq!(counts.lines, counts.rows + counts.skipped);
        for (event, again) in events.iter().zip(&again) {
            let expected = OwnedEvent { line: again.line, ..event.clone() };
            prop_assert_eq!(&expected, again, "{}", line(style, version, event));
        }
    }
}
