//! The result of each kind of line of a data export. Not for the detection of columns (see `layouts`).

use super::*;
use crate::formats::{Input, Output, Rows, Settings, TraceFormat};
use crate::input::{Chunk, Source};
use crate::options::OptionValues;

const THESIS: &str = "-0083448136,0.0004372600,\"EE_ORTI_servicetrace\",\"wr-data\",43\n";

#[test]
fn the_line_of_the_thesis() {
    let rows = data(THESIS);
    assert_eq!(rows.time, [437_260]);
    assert_eq!(rows.record.iter().collect::<Vec<_>>(), [Some(-83_448_136)]);
    assert_eq!(rows.name, [0]);
    assert_eq!(rows.names, ["EE_ORTI_servicetrace"]);
    assert_eq!((rows.kind, rows.value, rows.lines.line(0)), (vec![1], vec![0x43], 0));
    assert_eq!(account(rows.counts), [1, 1, 0, 0, 0]);
    assert!(rows.log.is_empty() && rows.gaps.is_empty());
}

#[test]
fn spellings_of_the_same_access() {
    for line in [
        "\u{feff}-0083448136,0.0004372600,\"EE_ORTI_servicetrace\",\"wr-data\",43",
        "-0083448136,0.0004372600,\"EE_ORTI_servicetrace\",\"wr-data\",43\r\n",
        "-0083448136,| 0.0004372600,| \"EE_ORTI_servicetrace\" ,  \"wr-data\" ,43\n",
        "-00000083448136,0.00043726,\"EE_ORTI_servicetrace\",\"wr-long\",0x00000043\n",
        "-83448136,437.260us,EE_ORTI_servicetrace,write,43,\n",
        "\"-0083448136\",\"+437260ns\",\"EE_ORTI_servicetrace\",\"WR-BYTE\",\"43\"",
    ] {
        let rows = data(line);
        assert_eq!(rows.counts.rows, 1, "{line}: {:?}", rows.log.entries());
        assert!(rows.log.is_empty(), "{line}");
        assert_eq!(
            (rows.time[0], rows.record.iter().next(), rows.kind[0], rows.value[0]),
            (437_260, Some(Some(-83_448_136)), 1, 0x43)
        );
        assert_eq!(rows.names, ["EE_ORTI_servicetrace"]);
    }
}

#[test]
fn names_may_hold_anything() {
    let rows = data(concat!(
        "+1,0.1,\"a[3].b,c\",\"rd-data\",FFFFFFFFFFFFFFFF\n",
        "+2,0.2,\"say \"\"hi\"\"\",\"rd-data\",0000000000000000\n",
        "+3,0.3,\"\\\\User\\Global\\x+0x4\",\"rd-data\",ab\n",
        "+4,0.4,\"a[3].b,c\",\"rd-data\",1\n",
    ));
    assert_eq!(rows.names, ["a[3].b,c", "say \"hi\"", "\\\\User\\Global\\x+0x4"]);
    assert_eq!(rows.name, [0, 1, 2, 0]);
    assert_eq!(rows.value, [u64::MAX, 0, 0xab, 1]);
    assert_eq!(rows.kind, [0; 4]);
}

#[test]
fn negative_times_and_offsets() {
    let shifted = ExportSettings { offset: -120, ..settings() };
    let rows = parse_data(b"-2,-0.0000004720,\"x\",\"wr-data\",1\n", true, &thesis_layout(), &shifted);
    assert_eq!(rows.time, [-592]);
}

#[test]
fn digits_below_a_tick_are_rounded_to_even_and_counted() {
    let text: String = ["0.0000000305", "0.0000000315", "0.0000000310", "-0.0000000305001"]
        .iter()
        .map(|time| format!("-2,{time},\"x\",\"wr-data\",1\n"))
        .collect();
    let rows = data(&text);
    assert_eq!(rows.time, [30, 32, 31, -31]);
    assert_eq!(rows.counts.inexact_times, 3);
    let picoseconds = ExportSettings { scale: TimeScale::Ps, ..settings() };
    let rows = parse_data(text.as_bytes(), true, &thesis_layout(), &picoseconds);
    assert_eq!((rows.time[0], rows.counts.inexact_times), (30_500, 1));
}

#[test]
fn blank_cells_are_null() {
    let rows = data(" ,0.1,\"x\",\"wr-data\",1\n-,0.2,\"x\",\"wr-data\",1\nabc,0.3,\"x\",\"wr-data\",1\n");
    assert_eq!(rows.record.iter().collect::<Vec<_>>(), [None; 3]);
    assert_eq!(findings(&rows.log), [("bad-record", 3)]);
}

/// Also when the lines before have the same form.
#[test]
fn a_record_number_with_a_point_is_none() {
    let rows = data(&"83.2,0.1,\"x\",\"wr-data\",3\n".repeat(200));
    assert_eq!(rows.record.iter().collect::<Vec<_>>(), [None; 200]);
    assert_eq!(rows.log.count_of("bad-record"), 200);
}

#[test]
fn lines_that_cannot_be_used_say_why() {
    for (line, code) in [
        ("-1,0.1,\"x\",\"wr-data\",12.5\n", "bad-value"),
        ("-1,0.1,\"x\",\"wr-data\",43.\n", "bad-value"),
        ("-1,0.1,\"x\",\"wr-data\",xyz\n", "bad-value"),
        ("-1,0.1,\"x\",\"wr-data\",12345678901234567\n", "bad-value"),
        ("-1,0.1,\"x\",\"wr-data\",\n", "bad-value"),
        ("-1,-,\"x\",\"wr-data\",1\n", "bad-time"),
        ("-1,soon,\"x\",\"wr-data\",1\n", "bad-time"),
        ("-1,99999999999.0,\"x\",\"wr-data\",1\n", "time-overflow"),
        ("-1,0.1,\"\",\"wr-data\",1\n", "missing-variable"),
        ("-1,0.1,\"x\",\"wr-data\"\n", "wrong-column-count"),
        ("-1,0.1,\"x\",\"wr-data\",1,2\n", "wrong-column-count"),
        ("-1,0.1,\"x\",\"wr-da", "truncated-line"),
        ("-1,0.1,\"x\",\"ptrace\",1\n", "not-an-access"),
        ("-1,0.1,\"overflow\",\"exec\",\n", "not-an-access"),
        ("-1,0.1,\"x\",,1\n", "not-an-access"),
    ] {
        let text = format!("{THESIS}{line}{}", if line.ends_with('\n') { THESIS } else { "" });
        let rows = data(&text);
        assert_eq!(findings(&rows.log), [(code, 2)], "{line}");
        assert_eq!(rows.counts.rejected, 1);
        assert_complete(rows.counts);
    }
    let rows = data("-1,0.1,\"x\",\"wr-data\",43.\n");
    let message = &rows.log.entries()[0].message;
    assert!(
        message.contains("decimal where hex was expected") && message.contains("data_radix"),
        "{message}"
    );
}

#[test]
fn an_offset_can_overflow() {
    let shifted = ExportSettings { offset: i64::MAX, ..settings() };
    let rows = parse_data(THESIS.as_bytes(), true, &thesis_layout(), &shifted);
    assert_eq!(findings(&rows.log), [("time-overflow", 1)]);
}

#[test]
fn decimal_values_on_request() {
    let decimal = ExportSettings { radix: Radix::Decimal, ..settings() };
    let text = "-1,0.1,\"x\",\"wr-data\",43\n-1,0.1,\"x\",\"wr-data\",43\n-1,0.1,\"x\",\"wr-data\",43.\n\
                -1,0.1,\"x\",\"wr-data\",0x2B\n-1,0.1,\"x\",\"wr-data\",FF\n";
    let rows = parse_data(text.as_bytes(), true, &thesis_layout(), &decimal);
    assert_eq!(rows.value, [43; 4]);
    assert_eq!(findings(&rows.log), [("bad-value", 5)]);
}

#[test]
fn comments_blanks_and_headers_are_skipped() {
    let header = "record,ti.zero,var,cycle,data\n";
    let text = format!("# made by hand\n\n{header}{THESIS} | \n{header}{THESIS}");
    let layout = detect_data_layout(text.as_bytes(), None).unwrap();
    assert_eq!((layout.header_lines, layout.columns.len()), (3, 5));
    let rows = parse_data(text.as_bytes(), true, &layout, &settings());
    assert_eq!(account(rows.counts), [7, 2, 0, 0, 5]);
    assert_eq!([0, 1].map(|row| rows.lines.line(row)), [3, 6]);
    assert!(rows.log.is_empty());
}

#[test]
fn gaps_lie_between_rows() {
    let access = |time: &str| format!("-1,{time},\"x\",\"wr-data\",1\n");
    let text = [
        "-4,,\"\",\"TARGET FIFO OVERFLOW\",\n".to_owned(),
        access("0.000000010"),
        "-3,0.000000012,\"\",\"\",\"*** FIFO OVERFLOW ***\"\n".to_owned(),
        access("0.000000020"),
        "FLOW  ERROR\n".to_owned(),
        "-2,0.000000025,,fifofull,-\n".to_owned(),
    ]
    .concat();
    let rows = data(&text);
    assert_eq!(account(rows.counts), [6, 2, 4, 0, 0]);
    let gap = |begin, own_time, end, reason: &str| Gap { begin, own_time, end, reason: reason.to_owned() };
    assert_eq!(
        rows.gaps,
        [
            gap(None, None, Some(10), "target fifo overflow"),
            gap(Some(10), Some(12), Some(20), "fifo overflow"),
            gap(Some(20), None, None, "flow error"),
            gap(Some(20), Some(25), None, "fifofull"),
        ]
    );
    let alone = data("TRACE GAP\n");
    assert_eq!(alone.gaps, [gap(None, None, None, "trace gap")]);
}

#[test]
fn symbols_are_no_gaps() {
    let rows = data("-1,0.1,\"can_fifo_overflow_isr\",\"ptrace\",\n-1,0.1,\"overflow\",\"wr-data\",1\n");
    assert_eq!(account(rows.counts), [2, 1, 0, 1, 0]);
}

#[test]
fn foreign_encodings_are_escaped_with_a_warning() {
    let line = b"-1,0.1,\"gr\xfc\xdfe\",\"wr-data\",1\n".repeat(3);
    let rows = parse_data(&line, true, &thesis_layout(), &settings());
    assert_eq!(rows.names, ["gr\\xfc\\xdfe"]);
    assert_eq!(rows.counts.rows, 3);
    assert_eq!(findings(&rows.log), [("not-utf8", 1)]);
}

#[test]
fn overlong_lines_are_rejected() {
    let mut text = THESIS.as_bytes().to_vec();
    text.extend(std::iter::repeat_n(b'7', crate::input::MAX_LINE));
    text.push(b'\n');
    text.extend(THESIS.as_bytes());
    let rows = parse_data(&text, true, &thesis_layout(), &settings());
    assert_eq!(findings(&rows.log), [("line-too-long", 2)]);
    assert_eq!(rows.counts.rows, 2);
}

#[test]
fn the_rest_of_an_overlong_line_is_no_line() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), THESIS).unwrap();
    let (name, options) = ("core0_data.csv".to_owned(), OptionValues::default());
    let (path, core, source) =
        (name.clone().into(), Some("A".to_owned()), Source::open(file.path()).unwrap());
    let input = Input { name, path, core, role: None, time_offset: 0, after: None, source };
    let settings = Settings { scale: TimeScale::Ns, options: &options };
    let mut reader = Trace32.open(vec![input], &settings).unwrap().remove(0).reader;
    let mut sink = |_: Rows| Ok(());
    let mut out = Output::new("core0_data.csv", &mut sink);
    let begin = [THESIS.as_bytes(), &vec![b'7'; crate::input::MAX_LINE]].concat();
    let middle = b"7,7".to_vec();
    let end = format!("{THESIS}{THESIS}").into_bytes();
    for (n, bytes) in [begin, middle, end].iter().enumerate() {
        reader.chunk(&Chunk::of(bytes, n as u64, n == 2).unwrap(), &mut out).unwrap();
    }
    assert_eq!(account(out.counts), [3, 2, 0, 1, 0], "the first line of the last chunk is a rest");
    assert_eq!(findings(&out.log), [("line-too-long", 2)]);
}

#[test]
fn the_log_is_bounded_and_its_counts_exact() {
    let rows = data(&"-1,0.1,\"x\",\"ptrace\",\n".repeat(1000));
    assert_eq!(rows.log.entries().len() as u64, Log::KEPT_PER_CODE);
    assert_eq!(rows.log.counts().map(|(.., n)| n).collect::<Vec<_>>(), [1000]);
}

#[test]
fn an_export_of_several_cores_is_reported() {
    let text = "record,run,time,var,cycle,data\n-2,0,0.1,x,wr-data,1\n-1,1,0.2,x,wr-data,1\n";
    let layout = detect_data_layout(text.as_bytes(), None).unwrap();
    let rows = parse_data(text.as_bytes(), true, &layout, &settings());
    assert_eq!(rows.counts.rows, 2);
    assert_eq!(findings(&rows.log), [("several-cores", 3)]);
}

/// Once, a quote that was closed on the next line took that line too, without a finding.
#[test]
fn a_cycle_ends_on_its_line() {
    let rows = data(
        "1,0.5,\"x\",\"wr-data\",1\n2,0.5,\"x\",\"wr-dataFF\n6,\",3\n3,0.5,\"x\",\"wr-data\",2\n4,0.5,\"x\",\"wr-data\",3\n",
    );
    assert_eq!((account(rows.counts), rows.value), ([5, 3, 0, 2, 0], vec![1, 2, 3]));
}
