//! Lines that are wrong, and lines with incomplete information.

use super::*;

fn read(text: &[u8]) -> (Vec<OwnedEvent>, Counts, Log) {
    let (mut reader, mut events) = (ListingReader::new("test", None), Vec::new());
    reader.chunk(text, false, &mut events);
    reader.finish(&mut events);
    let counts = reader.counts();
    assert_eq!(counts.lines, counts.rows + counts.rejected + counts.skipped);
    assert_eq!(counts.rows, events.len() as u64);
    (events, counts, reader.into_log())
}

fn one(text: &str) -> OwnedEvent {
    let (mut events, _, log) = read(text.as_bytes());
    assert!(log.is_empty(), "{log:?}");
    assert_eq!(events.len(), 1, "{text}");
    events.remove(0)
}

#[test]
fn headers_become_attributes() {
    let text = b"TRACEPRINTER version 1.02\n -- HEADER FILE INFORMATION -- \n       TRACE_FILE_NAME:: a::b.kev\n\
        \x20  TRACE_BIG_ENDIAN:: TRUE\n TRACE_SYS_RELEASE:: 8.0.0\nTRACE_TRACELOGGER_ARGS:: x\n -- KERNEL EVENTS -- \n";
    let mut reader = ListingReader::new("test", None);
    reader.chunk(text, false, &mut Vec::new());
    assert_eq!(reader.flavour(), Flavour { version: Version::V8_0, big_endian: true });
    assert_eq!(reader.attributes()[0], ("FILE_NAME".to_owned(), "a::b.kev".to_owned()));
    assert_eq!((reader.attributes().len(), reader.counts().skipped), (4, 7));
    // The version given by the user overrides the header.
    let mut reader = ListingReader::new("test", Some(Version::V6_6));
    reader.chunk(text, false, &mut Vec::new());
    assert_eq!(reader.flavour().version, Version::V6_6);
}

#[test]
fn styles_blanks_and_line_ends_do_not_matter() {
    let expected = one(
        "t:0x00000010 CPU:01 KER_CALL:THREAD_DESTROY/47\n                       tid:-1\n                  priority:2\n                  status_p:f0\n",
    );
    assert_eq!(
        (expected.class, expected.event, expected.timeoff, expected.cpu),
        (Class::KerCall, 47, 0x10, 1)
    );
    assert_eq!(expected.words, [u32::MAX, 2, 0xf0, 0]);
    for other in [
        "t:0x00000010 CPU:01 KER_CALL:THREAD_DESTROY/47 tid:-1 priority:2 status_p:f0",
        "t:0x00000010 CPU:01 KER_CALL        :THREAD_DESTROY/47  tid:-1 priority:2 status_p:f0\r\n",
        "t:0x00000010 CPU:01 KER_CALL        :THREAD_DESTROY/47 \r\n tid:-1\r\n priority:2\r\n\tstatus_p:0xf0\r\n\r\n",
    ] {
        assert_eq!(one(other), expected, "{other}");
    }
    assert_eq!(one("t:0x12345678abcdef01 CPU:00 THREAD :RUNNING pid:1 tid:2").high, Some(0x1234_5678));
}

#[test]
fn a_missing_line_end_behind_a_failure_costs_no_event() {
    let text = b"t:0x1 CPU:00 KER_EXIT:MSG_SENDV/11 ret_val:-1, errno:4t:0x2 CPU:00 KER_EXIT:MSG_SENDV/11 ret_val:-1, errno:5t:0x3 CPU:00 PROCESS :PROCCREATE_NAME\n ppid:0\n pid:1\n name:a b\n";
    let (events, counts, log) = read(text);
    assert!(log.is_empty(), "{log:?}");
    assert_eq!((counts.lines, counts.joined, counts.rows, counts.skipped), (6, 2, 3, 3));
    assert_eq!(events[1].words, [u32::MAX, 5]);
    assert_eq!(
        events[2].words,
        [0, 1, u32::from_le_bytes(*b"a b\0")].iter().copied().chain([0]).collect::<Vec<_>>()
    );
    assert!(events.iter().all(|event| event.line == 1));
}

#[test]
fn strings_with_line_ends_are_put_together() {
    let (events, counts, log) = read(b"t:0x1 CPU:00 SYSTEM  :SLOG\n opcode:1\n severity:2\n message:one\ntwo\nt:0x2 CPU:00 USREVENT:EVENT:5 STR:\"a\nb\"\n");
    assert!(log.is_empty(), "{log:?}");
    assert_eq!((counts.rows, counts.skipped, counts.rejected), (2, 5, 0));
    let bytes = |event: &OwnedEvent| event.words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>();
    assert!(bytes(&events[0]).ends_with(b"one\ntwo\0"));
    assert!(bytes(&events[1]).starts_with(b"a\nb\0") && events[1].words.len() == 4);
}

/// `cat a.txt b.txt`: what begins is a listing of its own, even if the last event of the one before is open.
#[test]
fn the_header_of_a_second_listing_is_no_part_of_the_last_event() {
    let header = "\nTRACEPRINTER version 1.02\nTRACEPARSER LIBRARY version 1.02\n -- HEADER FILE INFORMATION -- \n\
        \x20   TRACE_BIG_ENDIAN:: TRUE\n -- KERNEL EVENTS -- \n\n";
    let next = "t:0x2 CPU:00 THREAD  :THREADY pid:1 tid:1\n";
    for (last, bytes, unread) in [
        ("t:0x1 CPU:00 SYSTEM  :SLOG opcode:1 severity:2 message:one\n\ntwo\n\n", &b"one\n\ntwo"[..], 0),
        ("t:0x1 CPU:00 THREAD  :THREADY pid:x tid:1\n\n\n", b"", 1),
    ] {
        let (mut reader, mut events) = (ListingReader::new("test", None), Vec::new());
        reader.chunk(format!("{last}{header}{next}").as_bytes(), false, &mut events);
        reader.finish(&mut events);
        let words: Vec<u8> = events[0].words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let text = words.iter().rposition(|byte| *byte != 0).map_or(&[][..], |last| &words[..=last]);
        assert!(text.ends_with(bytes), "{text:?}");
        assert_eq!(reader.attributes(), [("BIG_ENDIAN".to_owned(), "TRUE".to_owned())]);
        let (counts, log) = (reader.counts(), reader.into_log());
        assert_eq!((counts.rows, counts.rejected, counts.lines - counts.skipped), (2, 0, 2), "{last}");
        assert_eq!((log.count_of("unreadable-arguments"), log.entries().len() as u64), (unread, unread));
    }
}

/// Its lines can look like those of a header, which begins with a title.
#[test]
fn a_message_to_the_system_log_can_have_any_lines() {
    for line in
        ["-- idle --", "-- idle", "TRACEPARSER", "TRACE_BIG_ENDIAN:: TRUE", "TRACE_SYS_RELEASE:: 8.0.0"]
    {
        let text = format!(
            "t:0x1 CPU:00 SYSTEM  :SLOG opcode:1 severity:2 message:state\n{line}\nend\n\
             t:0x2 CPU:00 THREAD  :THREADY pid:1 tid:1\n"
        );
        let (mut reader, mut events) = (ListingReader::new("test", None), Vec::new());
        reader.chunk(text.as_bytes(), false, &mut events);
        reader.finish(&mut events);
        assert_eq!((reader.flavour(), reader.attributes().len()), (Flavour::default(), 0), "{line}");
        let counts = reader.counts();
        assert_eq!((counts.rows, counts.skipped, counts.rejected), (2, 2, 0), "{line}");
        let bytes: Vec<u8> = events[0].words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let message = format!("state\n{line}\nend\0");
        assert!(bytes.windows(message.len()).any(|part| part == message.as_bytes()), "{line}: {bytes:?}");
    }
}

/// Without looking at the event again for each of them, which would take minutes here.
#[test]
fn many_blank_lines_behind_a_long_event_are_passed_over() {
    let long = format!("t:0x1 CPU:00 USREVENT:EVENT:600 STR:\"{}\"\n", "x".repeat(4 * MAX_WORDS - 16));
    let (events, counts, log) = read(format!("{long}{}", "\n".repeat(300_000)).as_bytes());
    assert_eq!((events.len(), counts.rejected, counts.skipped, log.is_empty()), (1, 0, 300_000, true));
}

#[test]
fn addresses_of_64_bits_are_known_by_their_digits() {
    let event = one("t:0x1 CPU:00 INT_ENTR:0x0000001b (27) IP:0xffffff8060001000");
    assert_eq!((event.is64, &event.words[..]), (true, &[27, 0, 0x6000_1000, 0xffff_ff80][..]));
    let event = one("t:0x1 CPU:00 KER_CALL:SYNC_SEM_WAIT/85 sync_p:4000001000");
    assert_eq!((event.is64, &event.words[..]), (true, &[0x1000, 0x40][..]));
    let event = one("t:0x1 CPU:00 KER_CALL:SYNC_SEM_WAIT/85 sync_p:1000 count:1");
    assert_eq!((event.is64, &event.words[..]), (false, &[0x1000, 1][..]));
}

#[test]
fn states_of_other_versions_are_known() {
    assert_eq!(one("t:0x1 CPU:00 THREAD          :THBARRIER          pid:1 tid:2").event, 21);
    let nameless = one("t:0x1 CPU:00 THREAD  :THUNKNOWN/23  pid:1 tid:2 priority:3 policy:4");
    assert_eq!((nameless.event, &nameless.words[..]), (23, &[1, 2, 3, 4][..]));
    assert_eq!(one("t:0x1 CPU:00 VTHREAD :VTHDEAD      pid:1 tid:2").class, Class::VThread);
}

#[test]
fn what_is_not_printed_is_missing_and_reported() {
    let (events, _, log) = read(b"t:0x1 CPU:00 USREVENT:EVENT:600 STR:\"\"\nt:0x2 CPU:00 INT_HANDLER_EXIT:0x0000001b (27) SIGEVENT:INTR EVENT\n");
    assert_eq!(log.count_of("words-not-printed"), 2);
    assert_eq!((events[0].words.len(), &events[1].words[..]), (0, &[27][..]));
}

#[test]
fn what_cannot_be_read_is_rejected_with_its_line() {
    for (text, code) in [
        ("noise", "not-an-event"),
        ("t:0x1 CPU:00 THREAD", "not-an-event"),
        ("t:0x1 CPU:999 THREAD  :THREADY pid:1 tid:1", "not-an-event"),
        ("t:0x1 CPU:64 THREAD  :THREADY pid:1 tid:1", "not-an-event"),
        ("t:0x1 CPU:00 NONE    :A", "unknown-class"),
        ("t:0x1 CPU:00 SYSTEM          :", "unknown-event"),
        ("t:0x1 CPU:00 KER_CALL:/ coid:0x1", "unknown-event"),
        ("t:0x1 CPU:00 USREVENT:EVENT:x, d0:0x1", "unknown-event"),
    ] {
        let (events, counts, log) =
            read(format!("\n{text}\nt:0x2 CPU:00 THREAD  :THREADY pid:1 tid:1\n").as_bytes());
        assert_eq!((events.len(), counts.rejected, counts.skipped), (1, 1, 1), "{text}");
        assert_eq!((log.count_of(code), log.entries()[0].line), (1, Some(2)), "{text}: {log:?}");
        assert_eq!(events[0].line, 3);
    }
    // Lines after a broken one are not hidden by it.
    let (_, counts, log) =
        read(b"t:0x1 CPU:00 THREAD  :THREADY pid:x\nnoise\nnoise\nt:0x1 CPU:00 INT_CALL:KER_NOP/0\n");
    assert_eq!((counts.rejected, counts.rows), (2, 2));
    assert_eq!((log.count_of("not-an-event"), log.count_of("unreadable-arguments")), (2, 1));
}

/// Class, event, CPU and time are known: the row is kept, with the text and the words before it.
#[test]
fn an_event_with_unknown_arguments_or_name_is_kept_as_text() {
    const NAMELESS: u16 = 0x3ff;
    let (name, arguments) = ("unknown-event", "unreadable-arguments");
    for (text, code, event, words, printed) in [
        ("KER_CALL:MSG_SENDV/11 coid:0x1   foo:0x5", arguments, 11, &[][..], "coid:0x1 foo:0x5"),
        (
            "KER_CALL:MSG_SENDV/11 coid:0x1 msg[0]:\"\" (0x7) foo:0x5",
            arguments,
            11,
            &[1, 7],
            "coid:0x1 msg[0]:\"\" (0x7) foo:0x5",
        ),
        ("KER_CALL:SYNC_RWLOCK/77\n  syncp:0x1000\n   op:3", arguments, 77, &[], "syncp:0x1000 op:3"),
        ("KER_EXIT:MSG_SENDV/11 ret_val:-1, errno:x", arguments, 11, &[], "ret_val:-1, errno:x"),
        ("KER_CALL:NEW_CALL/108 a:1", name, 108, &[], "NEW_CALL/108 a:1"),
        // A later system may have other calls of these numbers.
        ("KER_CALL:NEW_CALL/77 a:1", name, 256 + 77, &[], "NEW_CALL/77 a:1"),
        ("KER_EXIT:NEW_CALL/78 a:1", name, 256 + 78, &[], "NEW_CALL/78 a:1"),
        ("KER_CALL:NEW_CALL/300 a:1", name, NAMELESS, &[], "NEW_CALL/300 a:1"),
        ("KER_CALL:NEW_CALL a:1", name, 542, &[], "NEW_CALL a:1"),
        ("INT_CALL:KER_NOP/0 a:1", arguments, 0, &[], "a:1"),
        ("THREAD  :THREADY pid:x tid:1", arguments, 2, &[], "pid:x tid:1"),
        ("THREAD  :THREADY pid:1 tid:99999999999", arguments, 2, &[], "pid:1 tid:99999999999"),
        ("THREAD  :THREADY pid:1 tid:2 more:3", arguments, 2, &[1, 2], "pid:1 tid:2 more:3"),
        (
            "THREAD  :THREADY pid:1 tid:2 priority:3 policy:4 more:5",
            arguments,
            2,
            &[1, 2, 3, 4],
            "pid:1 tid:2 priority:3 policy:4 more:5",
        ),
        ("THREAD  :THNEWSTATE pid:1 tid:2", name, NAMELESS, &[1, 2], "THNEWSTATE pid:1 tid:2"),
        ("COMM    :NEW_MESSAGE d0:0x1 d1:0x2", name, NAMELESS, &[1, 2], "NEW_MESSAGE d0:0x1 d1:0x2"),
        ("INT_ENTR:0x1 (1) IP:", arguments, 1, &[], "0x1 (1) IP:"),
        ("INT_HANDLER_EXIT:what", arguments, 4, &[], "what"),
        ("CONTROL: BUFFER sequence = 1", arguments, 2, &[], "sequence = 1"),
        (
            "CONTROL :BUFFER sequence = 34, num_events = 10, flags = 0x1",
            arguments,
            2,
            &[34, 10],
            "sequence = 34, num_events = 10, flags = 0x1",
        ),
        ("USREVENT:EVENT:7, what", arguments, 7, &[], "what"),
        ("USREVENT:EVENT:7 STR:\"open", arguments, 7, &[], "STR:\"open"),
    ] {
        let text = format!("\nt:0x1 CPU:03 {text}\nt:0x2 CPU:00 THREAD  :THREADY pid:1 tid:1\n");
        let (events, counts, log) = read(text.as_bytes());
        assert_eq!((counts.rows, counts.rejected), (2, 0), "{text}");
        let kept = &events[0];
        assert_eq!((kept.event, kept.cpu, kept.timeoff), (event, 3, 1), "{text}");
        assert_eq!((&kept.words[..], kept.printed.as_deref()), (words, Some(printed)), "{text}");
        assert_eq!(kept.view(0, 0).status == Status::Unread, words.is_empty(), "{text}");
        let found: Vec<_> = log.entries().iter().map(|d| (d.code, d.severity, d.line)).collect();
        assert_eq!(found, [(code, Severity::Warning, Some(2))], "{text}");
    }
}

#[test]
fn results_and_messages_are_read_as_8_0_prints_them() {
    let sent =
        one("t:0x1 CPU:00 KER_CALL        :MSG_SENDV/11       coid:0x40000003 msg[0]:\"\" (0x00000101)");
    assert_eq!((&sent.words[..], sent.printed), (&[0x4000_0003, 0x101][..], None));
    let received = one("t:0x1 CPU:00 KER_EXIT :MSG_RECEIVEV/14 rcvid:0x00000011 rmsg[0]:\"\" (0x00000101)");
    assert_eq!((&received.words[..], received.printed), (&[0x11, 0x101][..], None));
    let result = one("t:0x1 CPU:00 KER_EXIT :MSG_SENDV/11\n     ret_val:0x0000000000000020\n");
    assert_eq!((result.is64, &result.words[..]), (true, &[0x20, 0][..]));
    let result = one("t:0x1 CPU:00 KER_EXIT :SYNC_RWLOCK/77 ret_val:0 empty:0x00000000");
    assert_eq!(
        (&result.words[..], result.printed.as_deref()),
        (&[0, 0][..], Some("ret_val:0 empty:0x00000000"))
    );
    // A call without its number is known by its name.
    assert_eq!(one("t:0x1 CPU:00 KER_CALL:MSG_SENDV coid:0x1 msg[0]:\"\" (0x1)").event, 11);
}

#[test]
fn long_lines_and_many_words_are_refused() {
    let mut text = b"t:0x1 CPU:00 THREAD  :THREADY pid:1 tid:1\n".to_vec();
    text.extend(std::iter::repeat_n(b'x', crate::input::MAX_LINE));
    let (events, counts, log) = read(&text);
    assert_eq!((events.len(), counts.rejected, log.count_of("line-too-long")), (1, 1, 1));
    let mut text = b"t:0x1 CPU:00 PROCESS :PROCCREATE_NAME ppid:1 pid:2 name:".to_vec();
    text.extend(std::iter::repeat_n(b'x', 4 * MAX_WORDS));
    let (events, _, log) = read(&text);
    assert_eq!((&events[0].words[..], log.count_of("unreadable-arguments")), (&[1, 2][..], 1));
}

#[test]
fn listings_are_distinguished_from_other_texts() {
    assert!(probe(b"TRACEPRINTER version 1.02\nTRACEPARSER LIBRARY version 1.02\n"));
    assert!(probe(b"t:0x463d8e65 CPU:00 KER_CALL:THREAD_DESTROY/47\n                       tid:-1\n"));
    assert!(probe(b"\nt:0x463d8e65 CPU:00 SYSTEM          :"));
    assert!(!probe(b""));
    assert!(!probe(b"#version 2.1.5\n0,Core_0,0,T,T_1,0,start\n"));
    assert!(!probe(b"noise\nTRACEPRINTER version 1.02\n"));
    assert!(!probe(b"TRACE_HEADER_BEGIN::TRACE_FILE_NAME::a.kev"));
}
