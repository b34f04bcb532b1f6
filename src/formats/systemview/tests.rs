//! Files of SystemView, made byte by byte, against their rows.

use super::SystemView;
use crate::formats::{Confidence, Input, Output, Rows, RowsToMake, Settings, TraceFormat};
use crate::input::Source;
use crate::options::OptionValues;
use crate::schema::TraceEventView;
use crate::time::TimeScale;
use std::fmt::Write as _;
use std::path::Path;

/// A clock of 1 MHz: a tick is a microsecond.
const INIT: [u8; 9] = [24, 6, 0xc0, 0x84, 0x3d, 0, 0, 0, 5];
const HEADER: &[u8] = b";\n; Version SEGGER SystemView V3.60\n;\n";
const SYNC: [u8; 10] = [0; 10];

/// A recording: its header, the zeros, the begin, and packets.
fn file(packets: &[&[u8]]) -> Vec<u8> {
    [HEADER, &SYNC, &[10, 99], &INIT, &packets.concat()].concat()
}

/// What files become: each row in short, then gaps, counts and findings.
fn read(files: &[(&str, &[u8])], options: &[(&'static str, &str)]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let mut values = OptionValues::default();
    options.iter().for_each(|(name, value)| values.set(name, [(*value).to_owned()]));
    let settings = Settings { scale: TimeScale::Ns, options: &values };
    let input = |(name, bytes): &(&str, &[u8])| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        open(&path, name)
    };
    let inputs = files.iter().map(input).collect();
    let streams = match SystemView.open(inputs, &settings) {
        Ok(streams) => streams,
        Err(e) => return e.to_string(),
    };
    let mut text = String::new();
    for mut stream in streams {
        let mut shown = String::new();
        let mut sink = |rows: Rows| {
            let RowsToMake::Batch(batch, None) = rows.content else { panic!("other rows") };
            let core = rows.core.unwrap();
            for row in TraceEventView::of(&batch).unwrap().rows() {
                let (time, cpu, name, payload) = (row.time, row.cpu.unwrap(), row.name.text(), row.payload);
                writeln!(shown, "{core} {} {time} {cpu} {name} {payload}", row.seq).unwrap();
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
            writeln!(text, "gap {} to {end}: {}", gap.begin, gap.reason).unwrap();
        }
        for finding in log.entries() {
            writeln!(text, "{} at {:?}: {}", finding.code, finding.line, finding.message).unwrap();
        }
        let sum = counts.rows + counts.rejected + counts.skipped;
        assert_eq!(counts.lines, sum, "each record is accounted for");
        let numbers = (counts.lines, counts.rows, counts.rejected, counts.skipped);
        match ending {
            Ok(ending) => writeln!(text, "{:?} {}", numbers, ending.header.os.unwrap_or_default()).unwrap(),
            Err(e) => writeln!(text, "{e}").unwrap(),
        }
    }
    text
}

fn open(path: &Path, name: &str) -> Input {
    let source = Source::open(path).unwrap();
    Input {
        name: name.to_owned(),
        path: name.into(),
        core: None,
        role: None,
        time_offset: 0,
        after: None,
        source,
    }
}

/// The same lines behind each other.
fn lines(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn known_events_have_names_parameters_and_times() {
    let recording = file(&[
        &[14, 6, b'O', b'=', b'T', b'O', b'S', b',', 1],
        &[9, 7, 3, 1, b'a', 2],
        &[26, 7, 2, b'h', b'i', 0, 2, 1, 0x7f, 4],
        &[31, 3, 0, 9, 9, 1],
        &[0, 3],
        &[0, 0],
    ]);
    let expected = lines(&[
        "a.svdat 0 0 0 TRACE_START {}",
        r#"a.svdat 1 5000 0 INIT {"sys_freq":1000000,"cpu_freq":0,"ram_base":0,"id_shift":0}"#,
        r#"a.svdat 2 6000 0 SYSDESC {"desc":"O=TOS,"}"#,
        r#"a.svdat 3 8000 0 TASK_INFO {"tid":7,"prio":3,"name":"a"}"#,
        r#"a.svdat 4 12000 0 PRINT {"msg":"hi","lvl":0,"args":[1,127]}"#,
        r#"a.svdat 5 13000 0 MARK {"id":[9,9]}"#,
        "a.svdat 6 16000 0 NOP {}",
        "(9, 7, 0, 2) TOS",
    ]);
    assert_eq!(read(&[("a.svdat", &recording)], &[]), expected);
    assert_eq!(SystemView.probe(&recording), Confidence::Certain);
    assert_eq!(SystemView.probe(&recording[HEADER.len()..]), Confidence::Likely, "without the header");
    assert_eq!(SystemView.probe(&[0; 100]), Confidence::None);
}

#[test]
fn descriptions_next_to_the_file_and_of_modules_name_events() {
    let recording = file(&[
        &[34, 1, 30, 1],
        &[22, 0, 0x80, 4, 12, b'M', b'=', b'M', b',', b'1', b' ', b'F', b' ', b'p', b'=', b'%', b's', 1],
        &[0x81, 4, 2, 1, b'x', 1],
        &[35, 3, 1, 2, 3, 1],
        &[36, 0, 1],
        &[37, 2, 0xff, 0x7f, 1],
    ]);
    let description = b"34 vTaskDelay ticks=%u\n35 many all=%x\n36 one p=%u\nnonsense\n37x\n";
    let found = read(&[("a.svdat", &recording), ("SYSVIEW_FreeRTOS.txt", description)], &[]);
    let expected = [
        "bad-description at Some(5): no event: a number, a name, and parameters as in 'size=%u' were expected",
        "(5, 0, 1, 4) ",
        r#"a.svdat 2 6000 0 vTaskDelay {"ticks":30}"#,
        r#"a.svdat 4 8000 0 F {"p":"x"}"#,
        r#"a.svdat 5 9000 0 many {"all":[1,2,3]}"#,
        "a.svdat 6 10000 0 one {}",
        r#"a.svdat 7 11000 0 37 {"bytes":"ff7f"}"#,
        "undescribed-event at None: 1 events have number 37, which nothing describes; their parameters are kept as bytes: \
         is a SYSVIEW_OS.txt next to the file?",
        "missing-parameter at None: 1 events 'one' have fewer parameters than their description",
    ];
    for line in expected {
        assert!(found.lines().any(|l| l == line), "{line}\n{found}");
    }
}

#[test]
fn very_many_numbers_without_a_description_are_counted_together() {
    let packets: Vec<[u8; 4]> =
        (0..2000u32).map(|n| [0x80 | (n & 0x7f) as u8, 8 + (n >> 7) as u8, 0, 1]).collect();
    let all: Vec<&[u8]> = packets.iter().map(|packet| &packet[..]).collect();
    let found = read(&[("a.svdat", &file(&all))], &[]);
    assert!(found.contains("1000 events have yet other numbers that nothing describes"), "{found}");
    assert!(found.contains("(2003, 2002, 0, 1)"), "{found}");
}

#[test]
fn cores_of_one_file_and_of_several() {
    let core = |task: u8| [&SYNC[..], &[10, 99], &INIT, &[4, task, 1]].concat();
    let header = format!(";\n; Version SystemView\n; Offset Core0 0\n; Offset Core1 {}\n;\n", core(1).len());
    let both = [header.as_bytes(), &core(1), &core(2)].concat();
    let found = read(&[("a.SVDat", &both)], &[]);
    assert!(found.contains("Core0 2 6000 0 TASK_START_EXEC {\"tid\":1}"), "{found}");
    assert!(found.contains("Core1 2 6000 1 TASK_START_EXEC {\"tid\":2}"), "{found}");
    let (first, second) = (file(&[&[4, 1, 1]]), file(&[&[4, 2, 1]]));
    let found = read(&[("a.svdat", &first), ("b.svdat", &second)], &[]);
    assert!(found.contains("a.svdat 2 6000 0 ") && found.contains("b.svdat 2 6000 1 "), "{found}");
    let wrong = [b";\n; Version SystemView\n; Offset A 9\n; Offset B 3\n;\n", &core(1)[..]].concat();
    let found = read(&[("a.svdat", &wrong)], &[]);
    assert!(found.contains("do not lie behind those of the one before"), "{found}");
    let cut = &both[..header.len() + core(1).len()];
    assert!(read(&[("a.svdat", cut)], &[]).contains("missing-core"), "{}", read(&[("a.svdat", cut)], &[]));
}

#[test]
fn lost_packets_are_gaps() {
    let recording = file(&[&[17, 1], &[1, 3, 4], &[17, 1], &[1, 3, 1], &[1, 9, 2]]);
    let found = read(&[("a.svdat", &recording)], &[]);
    assert!(found.contains("gap 6000 to 10000: overflow\ngap 12000 to 14000: overflow\n"), "{found}");
    assert_eq!(found.matches("gap ").count(), 2, "{found}");
    let again = file(&[&[17, 1], &[11, 1], &[10, 50], &[17, 2], &[10, 3]]);
    let found = read(&[("a.svdat", &again)], &[]);
    assert!(found.contains("gap 7000 to 7000: restarted"), "{found}");
    assert!(found.contains("a.svdat 5 9000 0 IDLE"), "{found}");
    assert!(found.contains("a.svdat 6 12000 0 TRACE_START") && found.matches("gap ").count() == 1, "{found}");
}

/// `SEGGER_SYSVIEW_POST_MORTEM_MODE`: zeros, begin, INIT and SYSDESC come again within the events.
#[test]
fn the_begin_that_a_ring_repeats_is_no_restart() {
    let system = [14, 3, b'O', b'=', b'T', 1];
    let recording = file(&[&[17, 1], &SYNC, &[10, 50], &INIT, &system, &[17, 2]]);
    let found = read(&[("a.svdat", &recording)], &[]);
    assert!(found.contains("a.svdat 3 56000 0 TRACE_START {}"), "{found}");
    assert!(found.contains("a.svdat 4 61000 0 INIT") && found.contains("a.svdat 6 64000 0 IDLE"), "{found}");
    assert!(!found.contains("gap") && !found.contains("restarted"), "{found}");
}

#[test]
fn what_is_no_packet_is_located_and_the_rest_is_read() {
    let bad = [4, 0xff, 0xff, 0xff, 0xff, 0xff, 7, 7];
    let recording = file(&[&[17, 1], &bad, &SYNC, &[17, 2]]);
    let found = read(&[("a.svdat", &recording)], &[]);
    let at = HEADER.len() + 10 + 2 + INIT.len() + 2;
    assert!(
        found.contains(&format!("bad-packet at Some({at}): no packet: a number has more than 32 bits")),
        "{found}"
    );
    assert!(found.contains("gap 6000 to 8000: damaged"), "{found}");
    assert!(found.contains("a.svdat 3 8000 0 IDLE") && found.contains("(7, 4, 1, 2)"), "{found}");
    for end in 1..recording.len() {
        let found = read(&[("a.svdat", &recording[..end])], &[]);
        assert!(!found.is_empty(), "{end}");
    }
    let cut = file(&[&[17, 1], &[9, 1, 1, 200]]);
    let found = read(&[("a.svdat", &cut)], &[]);
    assert!(found.contains("the file, or the part of a core, ends inside of it"), "{found}");
    assert!(found.contains("gap 6000 to end: damaged"), "{found}");
}

#[test]
fn the_clock_has_to_be_known() {
    let recording = [HEADER, &SYNC, &[10, 1, 17, 5]].concat();
    let found = read(&[("a.svdat", &recording)], &[]);
    assert_eq!(found, "a.svdat: nothing tells how fast the clock of the recording is");
    let found = read(&[("a.svdat", &recording)], &[("systemview-clock", "1000")]);
    assert!(found.contains("a.svdat 1 5000000 0 IDLE"), "{found}");
    let found = read(&[("a.svdat", &recording)], &[("systemview-clock", "0")]);
    assert!(found.contains("is no number of ticks per second"), "{found}");
    assert!(read(&[("a.svdat", HEADER)], &[("systemview-clock", "1")]).contains("no packet of SystemView"));
}

#[test]
fn files_of_a_folder_belong_together() {
    let names = ["SYSVIEW_Os.txt", "b.SVDat", "deep/a.svdat", "notes.txt"].map(str::to_owned);
    assert_eq!(SystemView.files_of_folder(&names), ["b.SVDat", "SYSVIEW_Os.txt"]);
    assert!(SystemView.files_of_folder(&names[2..]).is_empty());
    let pattern = SystemView.description_of("x.SVDAT").unwrap();
    assert!(pattern.fits("SysView_FreeRTOS.TXT") && !pattern.fits("sysview_.csv") && !pattern.fits("x.txt"));
    assert!(SystemView.description_of("x.btf").is_none());
}
