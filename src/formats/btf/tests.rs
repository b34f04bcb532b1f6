//! Tests of the BTF reader: what a line is, what a header means, and that the fast path changes nothing.

use super::*;
use crate::diagnostics::Severity;
use crate::schema::Optional;
use crate::time::TimeScale;
use proptest::prelude::*;

fn read(text: &str) -> EventRows {
    parse_chunk(text.as_bytes(), false, "t.btf")
}

/// The events as text again.
fn lines(rows: &EventRows) -> Vec<String> {
    let instances = |column: &Optional<i64>| -> Vec<String> {
        column.iter().map(|i| i.map(|i| i.to_string()).unwrap_or_default()).collect()
    };
    let (sources, targets) = (instances(&rows.source_instance), instances(&rows.target_instance));
    (0..rows.time.len())
        .map(|n| {
            let mut fields = vec![
                rows.time[n].to_string(),
                rows.names.get(rows.source[n]).to_owned(),
                sources[n].clone(),
                rows.words.get(rows.target_type[n]).to_owned(),
                rows.names.get(rows.target[n]).to_owned(),
                targets[n].clone(),
                rows.words.get(rows.action[n]).to_owned(),
            ];
            let note = Some(rows.note[n]).filter(|note| *note != EventRows::NO_NOTE);
            fields.extend(note.map(|note| rows.notes.get(note).to_owned()));
            fields.join(",")
        })
        .collect()
}

fn codes(rows: &EventRows) -> Vec<(&'static str, Option<u64>)> {
    rows.log.entries().iter().map(|d| (d.code, d.line)).collect()
}

#[test]
fn events_of_every_shape_are_read() {
    for (text, expected) in [
        ("0, Sim, 0, STI, S_1MS, 0, trigger", "0,Sim,0,STI,S_1MS,0,trigger"),
        ("100,Core_1,,T,TASK_A,,start\r", "100,Core_1,,T,TASK_A,,start"),
        ("5,SIM,-1,STI,S,3,trigger", "5,SIM,-1,STI,S,3,trigger"),
        ("7,A,0,T,A,0,resume,", "7,A,0,T,A,0,resume,"),
        ("7,A,0,SIM,SIM,-1,tag,SIG_INIT_VALUE,0, x ", "7,A,0,SIM,SIM,-1,tag,SIG_INIT_VALUE,0, x"),
        ("-3,A,0,C,A,0,idle", "-3,A,0,C,A,0,idle"),
        ("\u{feff}1,Ä,0,VENDOR,ß,0,x\0y", "1,Ä,0,VENDOR,ß,0,x\0y"),
    ] {
        let rows = read(text);
        assert_eq!(lines(&rows), [expected], "{text}");
        assert_eq!((rows.counts.lines, rows.counts.rows, rows.others.len()), (1, 1, 0), "{text}");
    }
}

#[test]
fn lines_that_are_no_events_stay_in_place() {
    let rows = read("#version 2.1\n#-0 T\n# a, b\n#\n\n1,A,0,T,B,0,start\n  \n#x\n2,A,0,T,B,0,stop");
    let kinds: Vec<_> = rows.others.iter().map(|o| (o.line, o.before, o.kind, o.text.as_str())).collect();
    use LineKind::{Blank, Comment, Parameter, TableRow};
    assert_eq!(
        kinds,
        [
            (0, 0, Parameter, "#version 2.1"),
            (1, 0, TableRow, "#-0 T"),
            (2, 0, Comment, "# a, b"),
            (3, 0, Comment, "#"),
            (4, 0, Blank, ""),
            (6, 1, Blank, "  "),
            (7, 1, Parameter, "#x"),
        ]
    );
    assert_eq!([0, 1].map(|row| rows.lines.line(row)), [5, 8]);
}

#[test]
fn bad_lines_are_rejected_with_their_reason() {
    let rows = read("1,A,0,T,B,0\n1.5,A,0,T,B,0,x\n99999999999999999999,A,0,T,B,0,x\n1,A,x,T,B,0,x\nhello\n");
    let expected = ["wrong-field-count", "bad-time", "bad-time", "bad-instance", "wrong-field-count"];
    assert_eq!(codes(&rows), (1..).map(Some).zip(expected).map(|(l, c)| (c, l)).collect::<Vec<_>>());
    assert_eq!((rows.counts.rejected, rows.others.len(), rows.counts.lines), (5, 5, 5));
    assert!(rows.others.iter().all(|o| o.kind == LineKind::Rejected));
}

#[test]
fn the_rest_of_a_line_that_was_cut_is_not_a_line() {
    let long = "x".repeat(crate::input::MAX_LINE);
    let rows = read(&long);
    assert_eq!(codes(&rows), [("line-too-long", Some(1))]);
    let rest = parse_chunk(b"0,1,A,0,T,B,0,x\n2,A,0,T,B,0,x\n", true, "t.btf");
    assert_eq!((rest.counts.lines, lines(&rest)), (1, vec!["2,A,0,T,B,0,x".to_owned()]));
}

#[test]
fn bytes_that_are_no_text_are_escaped_and_reported() {
    let rows = parse_chunk(b"1,A\xff,0,T,B,0,x\n# \xfe\n", false, "t.btf");
    assert_eq!(lines(&rows), ["1,A\\xff,0,T,B,0,x"]);
    assert_eq!(codes(&rows), [("not-utf8", Some(1)), ("not-utf8", Some(2))]);
    // Each line counts, also where the name is known.
    let rows = parse_chunk(&b"1,A\xff,0,T,B,0,x\n".repeat(3), false, "t.btf");
    assert_eq!(codes(&rows), [1, 2, 3].map(|line| ("not-utf8", Some(line))));
}

#[test]
fn keywords_have_many_spellings() {
    for (text, expected) in [
        ("#timescale us", Some((Keyword::TimeScale, "us"))),
        ("#timeScale  ps ", Some((Keyword::TimeScale, "ps"))),
        ("#entityType", Some((Keyword::TypeTable, ""))),
        ("#creationdate 2014", Some((Keyword::CreationDate, "2014"))),
        ("#creator", Some((Keyword::Creator, ""))),
        ("#inputFile x", None),
    ] {
        assert_eq!(Keyword::split(text), expected, "{text}");
    }
}

fn header(text: &str) -> (Header, Vec<&'static str>) {
    let mut header = Header::default();
    let found = read(text).others.iter().filter_map(|o| header.line(o.kind, &o.text)).map(|f| f.1).collect();
    (header, found)
}

#[test]
fn a_header_gives_scale_facts_and_names_of_numbers() {
    let (h, found) = header(
        "#version 2.1.5\n#creator  X 1 \n#timeScale us\n#typeTable\n#-0 T\n#entityTable\n#-7 Task A\n",
    );
    assert_eq!(found, [""; 0]);
    assert_eq!((h.scale(), h.creator.as_deref()), (TimeScale::Us, Some("X 1")));
    assert_eq!((h.type_of("0"), h.entity("7"), h.entity("0")), (Some("T"), Some("Task A"), None));
    let (h, _) = header("#typeMapping 3 I\n#entityMapping 4 ISR_1\n#entityTypeMapping I ISR_1");
    assert_eq!((h.type_of("3"), h.entity("4")), (Some("I"), Some("ISR_1")));
}

#[test]
fn contradictions_of_headers_are_found() {
    let (h, found) =
        header("#version 2.2.0\n#version 2.1.0\n#timeScale ns\n#timeScale us\n#timescale lightyears\n#-0 T");
    assert_eq!(found, ["another-version", "another-time-scale", "unknown-time-scale", "row-without-table"]);
    assert_eq!((h.version.as_deref(), h.scale()), (Some("2.2.0"), TimeScale::Us));
    let (_, found) = header("#typeTable\n#-0 T\n#-0 I\n#-1");
    assert_eq!(found, ["id-given-twice", "row-without-id"]);
}

#[test]
fn traces_are_distinguished_from_other_texts() {
    assert!(probe(b"# hello\n#version 1.0\n") && probe(b"#Creator x\n") && probe(b"1,A,0,T,B,0,start\n"));
    assert!(
        !probe(b"-0000004788,0.0000000300,\"X\",\"wr-data\",33\n")
            && !probe(b"")
            && !probe(b"#include <x>\nint a;\n")
    );
    assert!(!probe(b"+10; f; fentry\n") && !probe(b"a,b,c,d,e,f,g\n"));
}

#[test]
fn freertos_is_recognised_by_its_creator_or_its_names() {
    assert!(speaks_freertos(b"#creator FreeRTOS trace logger\n"));
    assert!(
        speaks_freertos(b"1,A,0,T,[0/0001]Main,0,resume,\n")
            && speaks_freertos(b"1,A,0,T,(0001)Main,0,resume,\n")
    );
    assert!(!speaks_freertos(b"#creator libBtf\n1,A,0,T,[idle],0,start\n1,A,0,T,(x),0,start\n"));
}

#[test]
fn each_name_is_in_one_delta_until_there_are_too_many() {
    let mut parser = Parser::new("t");
    let mut read = |text: &str| parser.chunk(text.as_bytes(), false);
    let one = read("1,A,0,T,B,0,x,n\n");
    assert_eq!(one.delta_start, DeltaStart::default());
    assert_eq!(one.names, ["A", "B"]);
    let two = read("2,B,0,T,C,0,y,n\n");
    assert_eq!(two.delta_start, DeltaStart { names: 2, words: 2, notes: 1 });
    assert_eq!((two.names.iter().collect(), two.words.iter().collect()), (vec!["C"], vec!["y"]));
    assert!(two.notes.is_empty());
    assert_eq!((two.source, two.target), (vec![1], vec![2]));
    let many: String = (0..70_000).map(|n| format!("{n},A,0,T,T_{n},0,x,n\n")).collect();
    assert_eq!(read(&many).delta_start, DeltaStart { names: 3, words: 3, notes: 1 });
    let anew = read("3,A,0,T,B,0,x,n\n");
    assert_eq!((anew.delta_start, anew.source), (DeltaStart { names: 0, words: 3, notes: 1 }, vec![0]));
}

#[test]
fn findings_of_the_reader_lose_nothing_silently() {
    let rows = read("garbage\n");
    assert_eq!(rows.log.count_at_least(Severity::Error), 1);
}

proptest! {
    #[test]
    fn the_fast_path_changes_nothing(
        picks in prop::collection::vec((0usize..90, 0usize..40, 0usize..60, 0u8..40), 0..90),
    ) {
        // Most lines are common ones with repeated names: the fast path reads no others.
        let pick = |of: &[&'static str], n: usize| *of.get(n).unwrap_or(&of[n % 2]);
        let mut text = String::new();
        for (time, name, number, end) in picks {
            let times = ["41", "8322486189", "7", "-3", "+3", "123456789012345", "1234567890123456", "12345678901234567",
                "", " 7", "7 ", "7x", "#7"];
            let names = ["Core_0", "STI_EE_tc_system_timer_handler", "a name with blanks", "", " x", "y\t", "\u{feff}z",
                "EE_oo_a_name_of_31_bytes_to_fit", "EE_oo_a_name_of_32_bytes_in_all_",
                "a_name_that_is_longer_than_any_window_is_and_with_the_rest_of_the_line_too", "n\0"];
            let instances = ["0", "8298", "", "-1", "-", "+1", "--1", "1234567890123456", "12345678901234567", "1x", "-0"];
            let kinds = ["T", "R", "VENDOR_TYPE_OF_SOME_LENGTH", "I", ""];
            let rests = ["start", "read,5", "start,", "write,a,b", "tag, z ", "start,\t", "x,t\tt", "resume\r", "y,-12", "",
                "tag,a note that is so long that it does not fit into any window with the rest of the line"];
            let (time, source, target) = (pick(&times, time), pick(&names, name), pick(&names, number / 2));
            let (instance, kind) = (pick(&instances, number), pick(&kinds, name));
            let (rest, end) = (pick(&rests, usize::from(end)), pick(&["\n", "\r\n", "\r\r\n", ",,\n"], number / 3));
            text += &format!("{time},{source},{instance},{kind},{target},{name},{rest}{end}");
        }
        let text = text.as_bytes();
        let fast = Parser::new("t").parse_with(text, false, true);
        let slow = Parser::new("t").parse_with(text, false, false);
        prop_assert_eq!(lines(&fast), lines(&slow));
        let places = |rows: &EventRows| (0..rows.time.len()).map(|n| rows.lines.line(n)).collect::<Vec<_>>();
        prop_assert_eq!(places(&fast), places(&slow));
        prop_assert_eq!(fast.counts, slow.counts);
        prop_assert_eq!(fast.others, slow.others);
    }

    #[test]
    fn any_bytes_are_accounted_for(bytes: Vec<u8>, inside: bool) {
        let rows = parse_chunk(&bytes, inside, "t");
        prop_assert_eq!(rows.counts.lines, rows.counts.rows + rows.others.len() as u64);
    }
}
