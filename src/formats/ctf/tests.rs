//! Traces, made byte by byte, against their rows.

use super::Ctf;
use super::model::{ByteOrder, Encoding, Length, Type};
use super::{json, tsdl};
use crate::formats::{Confidence, Input, Output, Rows, RowsToMake, Settings, TraceFormat};
use crate::input::Source;
use crate::options::OptionValues;
use crate::schema::TraceEventView;
use crate::time::TimeScale;
use std::fmt::Write as _;

/// Two kinds of events in packets, with a clock of 1 kHz whose lowest 8 bits are in the header of an event.
const METADATA: &str = r#"/* CTF 1.8 */
typealias integer { size = 8; signed = false; } := uint8_t;
typealias integer { size = 32; signed = false; } := uint32_t;
typealias integer { size = 8; map = clock.c.value; } := tick_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; uint8_t stream_id; }; };
env { domain = "bare"; tracer_name = "hand"; };
clock { name = c; freq = 1000; offset_s = 5; offset = 500; };
stream {
    id = 3;
    packet.context := struct {
        uint32_t content_size; uint32_t packet_size; integer { size = 8; map = clock.c.value; } timestamp_begin;
        uint8_t events_discarded; uint8_t cpu_id;
    };
    event.header := struct { uint8_t id; tick_t timestamp; };
    event.context := struct { uint8_t _vtid; };
};
event { id = 1; stream_id = 3; name = "numbers"; fields := struct {
    integer { size = 3; align = 1; signed = true; } _a;
    integer { size = 13; align = 1; byte_order = le; } b;
    enum : uint8_t { OFF, ON = 2 ... 4, "ON AGAIN" = 4 } state;
    uint8_t _n; integer { size = 16; byte_order = be; } list[_n];
}; };
event { id = 2; stream_id = 3; name = "texts"; context := struct { uint8_t __depth; }; fields := struct {
    string s; integer { size = 8; encoding = UTF8; } fixed[4];
    enum : uint8_t { A = 1, B } tag; variant <tag> { uint8_t A; struct { string x; } B; } v;
}; };
"#;

/// A packet with these events, of so many bytes.
fn packet(begin: u8, discarded: u8, events: &[&[u8]], size: u32) -> Vec<u8> {
    let content = 16 + events.concat().len() as u32;
    let mut bytes = 0xC1FC_1FC1u32.to_le_bytes().to_vec();
    bytes.push(3);
    bytes.extend((content * 8).to_le_bytes());
    bytes.extend((size * 8).to_le_bytes());
    bytes.extend([begin, discarded, 7]);
    bytes.extend(events.concat());
    bytes.resize(size as usize, 0);
    bytes
}

const NUMBERS: &[u8] = &[1, 10, 42, 0b1010_1101, 0x10, 4, 2, 1, 0, 0xff, 0xfe];
const TEXTS: &[u8] = &[2, 5, 43, 9, b'h', b'i', 0, b'a', 0, b'b', b'c', 2, b'"', 0];

/// What files become: each row in short, then gaps, counts and findings.
fn read(files: &[(&str, &[u8])]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let options = OptionValues::default();
    let settings = Settings { scale: TimeScale::Ms, options: &options };
    let input = |(name, bytes): &(&str, &[u8])| {
        let path = dir.path().join(name.replace('/', "_"));
        std::fs::write(&path, bytes).unwrap();
        let (name, source) = ((*name).to_owned(), Source::open(&path).unwrap());
        Input { path: name.clone().into(), name, core: None, role: None, time_offset: 0, after: None, source }
    };
    let streams = match Ctf.open(files.iter().map(input).collect(), &settings) {
        Ok(streams) => streams,
        Err(e) => return e.to_string(),
    };
    let mut text = String::new();
    for mut stream in streams {
        let mut shown = String::new();
        let mut sink = |rows: Rows| {
            let RowsToMake::Batch(batch, None) = rows.content else { panic!("other rows") };
            for row in TraceEventView::of(&batch).unwrap().rows() {
                let cpu = row.cpu.map_or("-".to_owned(), |cpu| cpu.to_string());
                let core = rows.core.as_deref().unwrap();
                writeln!(shown, "{core} {} {} {cpu} {} {}", row.seq, row.time, row.name.text(), row.payload)
                    .unwrap();
            }
            Ok(())
        };
        let mut out = Output::new(&stream.input.name, &mut sink);
        while let Some(chunk) = stream.input.source.next_chunk().unwrap() {
            stream.reader.chunk(&chunk, &mut out).unwrap();
        }
        let ending = stream.reader.finish(&mut out);
        let (counts, gaps, log) = (out.counts, std::mem::take(&mut out.gaps), std::mem::take(&mut out.log));
        text.push_str(&shown);
        for gap in gaps {
            let end = gap.end.map_or("end".to_owned(), |end| end.to_string());
            writeln!(text, "gap {} to {end} {:?}: {}", gap.begin, gap.core, gap.reason).unwrap();
        }
        for finding in log.entries() {
            writeln!(text, "{} at {:?}: {}", finding.code, finding.line, finding.message).unwrap();
        }
        assert_eq!(
            counts.lines,
            counts.rows + counts.rejected + counts.skipped,
            "each record is accounted for"
        );
        match ending {
            Ok(ending) => {
                writeln!(text, "{:?} {:?}", (counts.rows, counts.rejected), ending.header.creator).unwrap()
            }
            Err(e) => writeln!(text, "{e}").unwrap(),
        }
    }
    text
}

fn lines(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn fields_of_all_kinds_have_names_and_values() {
    let stream = [packet(200, 0, &[NUMBERS, TEXTS], 64), packet(250, 0, &[NUMBERS], 40)].concat();
    let found = read(&[("metadata", METADATA.as_bytes()), ("s", &stream)]);
    let expected = lines(&[
        "(0, 0) None",
        r#"s 0 5766 7 numbers {"stream_context":{"vtid":42},"a":-3,"b":533,"state":"ON|ON AGAIN","state.value":4,"n":2,"list":[256,65534]}"#,
        r#"s 1 6017 7 texts {"stream_context":{"vtid":43},"context":{"_depth":9},"s":"hi","fixed":"a","tag":"B","tag.value":2,"v":{"x":"\""}}"#,
        r#"s 2 6278 7 numbers {"stream_context":{"vtid":42},"a":-3,"b":533,"state":"ON|ON AGAIN","state.value":4,"n":2,"list":[256,65534]}"#,
        r#"(3, 0) Some("hand")"#,
    ]);
    assert_eq!(found, expected);
    assert_eq!(
        (Ctf.probe(&stream), Ctf.probe(METADATA.as_bytes())),
        (Confidence::Certain, Confidence::Certain)
    );
    assert_eq!(Ctf.probe(b"time,x\n"), Confidence::None);
}

#[test]
fn discarded_events_are_gaps_and_counted() {
    let stream =
        [packet(10, 2, &[NUMBERS], 40), packet(20, 2, &[NUMBERS], 40), packet(30, 1, &[NUMBERS], 40)]
            .concat();
    let found = read(&[("metadata", METADATA.as_bytes()), ("s", &stream)]);
    assert!(found.contains("the tracer discarded 257 events"), "the count has eight bits: {found}");
    assert!(found.contains("to 5510 Some(\"Core_7\"): discarded_events"), "{found}");
    assert!(found.contains("gap 5766 to 5786 Some(\"Core_7\"): discarded_events"), "{found}");
}

#[test]
fn what_cannot_be_read_is_located_and_the_next_packet_is_read() {
    let unknown: &[u8] = &[9, 1, 1];
    let stream = [packet(1, 0, &[NUMBERS, unknown], 64), packet(9, 0, &[TEXTS], 64)].concat();
    let found = read(&[("metadata", METADATA.as_bytes()), ("s", &stream)]);
    assert!(
        found.contains("bad-packet at Some(27): the metadata declare no event 9 of its stream"),
        "{found}"
    );
    assert!(found.contains("texts") && found.contains("(2, 1)"), "{found}");
    let cut = read(&[("metadata", METADATA.as_bytes()), ("s", &stream[..100])]);
    assert!(cut.contains("the stream ends within a packet") && cut.contains("(2, 2)"), "{cut}");
    for end in 0..stream.len() {
        read(&[("metadata", METADATA.as_bytes()), ("s", &stream[..end])]);
    }
    let mut swapped = stream.clone();
    swapped[..4].reverse();
    let found = read(&[("metadata", METADATA.as_bytes()), ("s", &swapped)]);
    assert!(
        found.contains("the bytes of a packet are in another order than its metadata say (byte 0)"),
        "{found}"
    );
    let mut other = stream;
    other[4] = 8;
    let found = read(&[("metadata", METADATA.as_bytes()), ("s", &other)]);
    assert!(found.contains("a packet is of stream 8, which the metadata do not declare"), "{found}");
}

#[test]
fn streams_without_packets_and_without_a_clock() {
    let metadata = "/* CTF 1.8 */ typealias integer { size = 16; } := u16; trace { byte_order = be; };
        stream { event.header := struct { u16 timestamp; }; }; event { name = tick; id = 0; fields := struct { u16 n; }; };";
    let stream = [0xff, 0xff, 0, 1, 0, 5, 0, 2, 0];
    let found = read(&[("metadata", metadata.as_bytes()), ("s", &stream)]);
    let expected = [
        r#"s 0 0 - tick {"n":1}"#,
        r#"s 1 0 - tick {"n":2}"#,
        "bad-packet at Some(8): the stream ends within a packet; the rest of the packet, or of the stream, is lost",
        "no-clock at None: the metadata declare no clock: times are taken as nanoseconds",
        "(2, 1) None",
    ];
    for line in expected {
        assert!(found.lines().any(|l| l == line), "{line}\n{found}");
    }
}

/// Two streams, each with a clock of its own: `a` counts milliseconds, `b` microseconds.
#[test]
fn streams_have_clocks_of_their_own() {
    let metadata =
        "/* CTF 1.8 */ typealias integer { size = 8; } := u8; typealias integer { size = 16; } := u16;
        trace { byte_order = le; packet.header := struct { u8 stream_id; }; };
        clock { name = a; freq = 1000; }; clock { name = b; freq = 1000000; };
        stream { id = 0; packet.context := struct { u8 packet_size; };
            event.header := struct { integer { size = 16; map = clock.a.value; } timestamp; }; };
        stream { id = 1; packet.context := struct { u8 packet_size; };
            event.header := struct { integer { size = 16; map = clock.b.value; } timestamp; }; };
        event { name = e; stream_id = 0; }; event { name = f; stream_id = 1; };";
    // 10000 cycles each, and again.
    let (of_a, of_b) = ([0, 32, 0x10, 0x27], [1, 32, 0x10, 0x27]);
    let found = read(&[("metadata", metadata.as_bytes()), ("s", &of_a), ("t", &of_b)]);
    assert!(found.contains("s 0 10000 - e") && found.contains("t 0 10 - f"), "{found}");
    let both = [of_a, of_b, of_a, of_b].concat();
    let found = read(&[("metadata", metadata.as_bytes()), ("s", &both)]);
    assert!(found.contains("s 2 10000 - e") && found.contains("s 3 10 - f"), "{found}");
    let unsigned = |bits: u8, role: &str| {
        format!(r#"{{"type": "fixed-length-unsigned-integer", "length": {bits}, "roles": ["{role}"]}}"#)
    };
    let part = |field: String| {
        format!(r#"{{"type": "structure", "member-classes": [{{"name": "x", "field-class": {field}}}]}}"#)
    };
    let stream = |id: u8, clock: &str| {
        let header = part(unsigned(16, "default-clock-timestamp"));
        let context = part(unsigned(8, "packet-total-length"));
        format!(
            r#"{{"type": "data-stream-class", "id": {id}, "default-clock-class-id": "{clock}", "event-record-header-field-class": {header},
            "packet-context-field-class": {context}}} {{"type": "event-record-class", "name": "e{id}", "data-stream-class-id": {id}}}"#
        )
    };
    let header = part(unsigned(8, "data-stream-class-id"));
    let metadata = format!(
        r#"{{"type": "preamble", "version": 2}} {{"type": "trace-class", "packet-header-field-class": {header}}}
        {{"type": "clock-class", "id": "a", "frequency": 1000}} {{"type": "clock-class", "id": "b", "frequency": 1000000}}
        {} {}"#,
        stream(0, "a"),
        stream(1, "b")
    );
    let found = read(&[("metadata", metadata.as_bytes()), ("s", &both)]);
    assert!(found.contains("s 2 10000 - e0") && found.contains("s 3 10 - e1"), "{found}");
}

/// Two streams in one file, whose packets take turns.
#[test]
fn streams_have_counts_of_their_own() {
    let stream = |id: u8| {
        format!(
            "stream {{ id = {id}; packet.context := struct {{
                u8 packet_size; time timestamp_begin; u8 packet_seq_num; u8 events_discarded; }};
                event.header := struct {{ time timestamp; }}; }}; event {{ name = e; stream_id = {id}; }};"
        )
    };
    let metadata = format!(
        "/* CTF 1.8 */ typealias integer {{ size = 8; }} := u8; clock {{ name = a; freq = 1000; }};
        typealias integer {{ size = 8; map = clock.a.value; }} := time;
        trace {{ byte_order = le; packet.header := struct {{ u8 stream_id; }}; }}; {} {}",
        stream(0),
        stream(1)
    );
    let packet = |id: u8, begin: u8, number: u8, discarded: u8| [id, 48, begin, number, discarded, begin + 1];
    let both = [packet(0, 10, 5, 3), packet(1, 70, 0, 0), packet(0, 20, 6, 3), packet(1, 80, 1, 0)].concat();
    let found = read(&[("metadata", metadata.as_bytes()), ("s", &both)]);
    assert!(found.contains("the tracer discarded 3 events") && found.contains("(4, 0)"), "{found}");
    assert!(!found.contains("discarded-packets"), "{found}");
    assert_eq!(found.matches("gap ").count(), 1, "before the first packet: {found}");
    let lost = [both, packet(0, 30, 8, 3).to_vec()].concat();
    let found = read(&[("metadata", metadata.as_bytes()), ("s", &lost)]);
    assert!(found.contains("gap 21 to 30 None: discarded_packets"), "since its own last packet: {found}");
    assert!(found.contains("the tracer discarded 1 packets"), "{found}");
}

#[test]
fn short_times_of_packets_go_on_from_those_before() {
    let metadata =
        "/* CTF 1.8 */ typealias integer { size = 8; } := u8; typealias integer { size = 32; } := u32;
        trace { byte_order = le; }; clock { name = c; freq = 1000; };
        stream { event.header := struct { u32 timestamp; }; packet.context := struct {
            u8 packet_size; u32 timestamp_begin; u32 timestamp_end; u8 events_discarded; }; };
        event { name = e; };";
    let packet = |begin: u32, end: u32, discarded: u8, event: u32| {
        let [begin, end, event] = [begin, end, event].map(u32::to_le_bytes);
        [&[14 * 8][..], &begin, &end, &[discarded], &event].concat()
    };
    let stream = [packet(0xffff_ff00, 0x18, 0, 0x10), packet(0x20, 0x40, 1, 0x30)].concat();
    let found = read(&[("metadata", metadata.as_bytes()), ("s", &stream)]);
    assert!(found.contains("s 0 4294967312 - e") && found.contains("s 1 4294967344 - e"), "{found}");
    assert!(found.contains("gap 4294967320 to 4294967328"), "{found}");
}

#[test]
fn each_stream_may_depend_on_the_header_of_its_packets() {
    let metadata = "/* CTF 1.8 */ typealias integer { size = 8; } := u8;
        trace { byte_order = le; packet.header := struct { u8 stream_id; u8 n; }; }; stream { id = 0; }; stream { id = 1; };
        event { name = e; stream_id = 0; fields := struct { u8 list[trace.packet.header.n]; }; };
        event { name = f; stream_id = 1; fields := struct { u8 a; }; };";
    let found = read(&[("metadata", metadata.as_bytes()), ("s", &[0, 2, 5, 6]), ("t", &[1, 9, 7])]);
    assert!(found.contains(r#"s 0 0 - e {"list":[5,6]}"#), "{found}");
    assert!(found.contains(r#"t 0 0 - f {"a":7}"#), "{found}");
}

#[test]
fn tracers_with_one_stream_for_all_cpus_say_the_cpu_in_each_event() {
    let integer = "integer { size = 8; }";
    let metadata = format!(
        "stream {{ event.header := struct {{ {integer} id; }}; }}; event {{ name = e; id = 0; fields := struct {{ {integer} core_id; }}; }};
         event {{ name = f; id = 1; }};"
    );
    let found = read(&[("metadata", metadata.as_bytes()), ("s", &[0, 3, 0, 1, 1])]);
    assert!(
        found.contains("s 0 0 3 e") && found.contains("s 1 0 1 e") && found.contains("s 2 0 - f"),
        "{found}"
    );
}

#[test]
fn times_that_do_not_fit_are_no_trace() {
    let metadata = METADATA.replace("offset_s = 5", "offset_s = 9223372036854776");
    let stream = packet(200, 0, &[NUMBERS], 64);
    let found = read(&[("metadata", metadata.as_bytes()), ("s", &stream)]);
    assert!(found.contains("most times do not fit 64 bits in the time scale of the database"), "{found}");
}

#[test]
fn events_of_no_bits_cannot_be_counted() {
    let metadata = "stream {}; event { name = e; };";
    let found = read(&[("metadata", metadata.as_bytes()), ("s", &[0, 1])]);
    assert!(found.contains("no event of the stream can be read: an event has no bits (byte 0)"), "{found}");
}

#[test]
fn metadata_that_are_wrong_say_where() {
    let of = |text: &str| tsdl::parse(text, ByteOrder::Little).unwrap_err().to_string();
    assert_eq!(of("trace {\n  a = ;\n};"), "line 2 of the metadata: a name was expected, not ';'");
    assert_eq!(
        of("stream { event.header := nothing; };"),
        "line 1 of the metadata: nothing declares the type 'nothing'"
    );
    assert_eq!(of("/* open"), "line 1 of the metadata: a comment does not end");
    assert_eq!(of("clock { freq = 0; };"), "line 1 of the metadata: clock '' has no frequency above 0");
    assert_eq!(of("env { a = \"b };"), "line 1 of the metadata: a text does not end");
    assert_eq!(
        of("typealias integer { size = 65; } := x;"),
        "line 1 of the metadata: 'size' is a number from 1 to 64, not 65"
    );
    assert_eq!(
        of("stream { id = 1; }; stream {\n id = 1; };"),
        "line 1 of the metadata: stream 1 is declared twice"
    );
    assert!(of(&"struct { ".repeat(100)).contains("deep in each other"));
    let doubling = (0..60).map(|n| format!("struct s{} {{ struct s{n} a; struct s{n} b; }};", n + 1));
    let text = format!("struct s0 {{ string x; }};{}", doubling.collect::<String>());
    assert!(of(&text).contains("too often"));
    let no_field = "stream {}; event { name = e; fields := struct { string a[n]; }; };";
    let found = read(&[("metadata", no_field.as_bytes()), ("s", b"x")]);
    assert!(
        found.contains("event 'e': a field depends on 'n', which is no integer in front of it"),
        "{found}"
    );
    let found = read(&[("s", b"x")]);
    assert!(found.contains("the metadata of this CTF stream are missing"), "{found}");
    let json = |text: &str| json::parse(text).unwrap_err().to_string();
    assert_eq!(
        json("{\"type\": \"preamble\", \"version\": 3}"),
        "line 1 of the metadata: the metadata are of another version than 2"
    );
    assert!(json("{\"type\": \"preamble\", \"version\": 2}\n{\n,").starts_with("line 3 of the metadata"));
    // The lines before are counted once, not for each fragment.
    let many = format!("{}{{}} x", "{\"type\": \"of an extension\"}\n".repeat(20_000));
    assert!(json(&many).starts_with("line 20001 of the metadata"), "{}", json(&many));
    let unknown = "{\"type\": \"data-stream-class\", \"packet-context-field-class\": {\"type\": \"x\"}}";
    assert_eq!(json(unknown), "line 1 of the metadata: 'x' is no type of CTF 2");
}

#[test]
fn types_of_the_second_version() {
    let metadata = r#"{"type": "preamble", "version": 2}
        {"type": "field-class-alias", "name": "u8", "field-class": {"type": "fixed-length-unsigned-integer", "length": 8}}
        {"type": "data-stream-class"}
        {"type": "event-record-class", "name": "e", "payload-field-class": {"type": "structure", "member-classes": [
          {"name": "n", "field-class": "u8"},
          {"name": "text", "field-class": {"type": "dynamic-length-string", "length-field-location": {"origin": "event-record-payload", "path": ["n"]}}},
          {"name": "blob", "field-class": {"type": "static-length-blob", "length": 2}},
          {"name": "there", "field-class": {"type": "optional", "field-class": "u8", "selector-field-location": ["event-record-payload", "n"], "selector-field-ranges": [[3, 3]]}},
          {"name": "gone", "field-class": {"type": "optional", "field-class": "u8", "selector-field-location": {"path": ["n"]}, "selector-field-ranges": [9]}},
          {"name": "flag", "field-class": {"type": "fixed-length-boolean", "length": 8}},
          {"name": "wide", "field-class": {"type": "null-terminated-string", "encoding": "utf-16be"}},
          {"name": "half", "field-class": {"type": "fixed-length-floating-point-number", "length": 16}},
          {"name": "v", "field-class": {"type": "variant", "selector-field-location": {"path": ["n"]}, "options": [
            {"name": "one", "selector-field-ranges": [1], "field-class": "u8"},
            {"name": "three", "selector-field-ranges": [[2, 4]], "field-class": {"type": "variable-length-signed-integer"}}]}}]}}"#;
    let event = [3, b'a', b'b', b'c', 0xab, 1, 77, 5, 0, b'Z', 0, 0, 0x00, 0x3c, 0x7f];
    let found = read(&[("metadata", metadata.as_bytes()), ("s", &event)]);
    let row = r#"s 0 0 - e {"n":3,"text":"abc","blob":"ab01","there":77,"gone":null,"flag":true,"wide":"Z","half":1.0,"v":-1}"#;
    assert!(found.lines().any(|line| line == row), "{found}");
}

#[test]
fn a_text_is_an_array_of_characters() {
    let text = "typealias integer { size = 8; align = 8; encoding = ASCII; } := c;
        event { name = e; fields := struct { c name[20]; c grid[2][3]; }; };";
    let trace = tsdl::parse(text, ByteOrder::Little).unwrap();
    let Some(Type::Struct(fields)) = &trace.streams[0].events[0].fields else { panic!("{trace:?}") };
    assert_eq!(fields.fields[0].1, Type::TextOf(Encoding::Utf8, Length::Fixed(20)));
    let Type::Array(grid) = &fields.fields[1].1 else { panic!("{trace:?}") };
    assert_eq!(
        (&grid.element, &grid.length),
        (&Type::TextOf(Encoding::Utf8, Length::Fixed(3)), &Length::Fixed(2))
    );
}

#[test]
fn a_folder_of_folders_is_one_recording() {
    let names =
        ["kernel/ch0", "kernel/index/ch0.idx", "kernel/metadata", "notes", "ust/64/a", "ust/64/metadata"];
    let names = names.map(str::to_owned);
    assert_eq!(Ctf.files_of_folder(&names), ["kernel/ch0", "ust/64/a", "kernel/metadata", "ust/64/metadata"]);
    assert!(Ctf.files_of_folder(&["a".to_owned(), "xmetadata".to_owned()]).is_empty());
    assert!(Ctf.description_of("ch0_0").is_some() && Ctf.description_of("a.btf").is_none());
    let event = "stream {}; event { name = e; fields := struct { string a; }; };".as_bytes();
    let found =
        read(&[("x/k/s", b"a\0"), ("x/u/s", b"b\0"), ("x/k/metadata", event), ("x/u/metadata", event)]);
    assert!(found.contains("k/s 0 0 - e") && found.contains("u/s 0 0 - e"), "{found}");
}
