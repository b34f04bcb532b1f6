//! Detection of the export and its columns from the first bytes. Not for the kinds of lines (see
//! `data_lines`).

use super::*;
use Column::{Address, Core, Cycle, Data, Record, Time, Variable};

fn layout(text: &str) -> DataLayout {
    detect_data_layout(text.as_bytes(), None).unwrap()
}

fn given_layout(text: &str, names: &str) -> crate::error::Result<DataLayout> {
    let names: Vec<String> = names.split(',').map(str::to_owned).collect();
    detect_data_layout(text.as_bytes(), Some(&names))
}

const THESIS_COLUMNS: [Column; 5] = [Record, Time, Variable, Cycle, Data];

#[test]
fn columns_are_detected_by_content() {
    for (text, columns) in [
        ("-0083448136,0.0004372600,\"EE_ORTI_servicetrace\",\"wr-data\",43\n", THESIS_COLUMNS.to_vec()),
        ("-0083448136,0.0004372600,\"FADE\",\"wr-data\",ABBA", THESIS_COLUMNS.to_vec()),
        ("-2;0,5;x;wr-data;1\n-1;0,6;x;rd-data;2\n", THESIS_COLUMNS.to_vec()),
        ("-2\t0.5\tx\twr-data\t1\n", THESIS_COLUMNS.to_vec()),
        ("0.5,x,wr-data,1\n0.6,y,wr-data,FF\n", vec![Time, Variable, Cycle, Data]),
        (
            "-2,D:70001234,wr-long,00000001,x,0.5,0.020us\n",
            vec![Record, Address, Cycle, Data, Variable, Time, Column::Ignored("column 7".to_owned())],
        ),
        ("-2,437.050us,x,snoop,\n-1,437.060us,x,wr-data,1\n", THESIS_COLUMNS.to_vec()),
        ("TARGET FIFO OVERFLOW\n-1,0.1,\"x\",\"wr-data\",1\n", THESIS_COLUMNS.to_vec()),
    ] {
        let found = layout(text);
        assert_eq!((found.columns, found.header_lines), (columns, 0), "{text}");
    }
}

#[test]
fn columns_are_detected_by_header() {
    let found =
        layout("T32 listing\nrecord,run,address,cycle,data,symbol,ti.zero\n-2,0,D:7,wr-data,1,x,0.5\n");
    assert_eq!(found.columns, [Record, Core, Address, Cycle, Data, Variable, Time]);
    assert_eq!((found.header_lines, found.delimiter), (2, b','));
    // Without the implicit record number, and with a unit.
    let text = "ti.zero(us);var;cycle;data\n-2;5;x;wr-data;1\n";
    let found = layout(text);
    assert_eq!(found.columns, THESIS_COLUMNS);
    let rows = parse_data(text.as_bytes(), true, &found, &settings());
    assert_eq!(rows.time, [5000]);
    // A header with unknown names is still a header.
    let text = "a,b,c,d,e\n-2,0.5,x,wr-data,1\n";
    let found = layout(text);
    assert_eq!((found.columns.as_slice(), found.header_lines), (THESIS_COLUMNS.as_slice(), 1));
    let rows = parse_data(text.as_bytes(), true, &found, &settings());
    assert_eq!(account(rows.counts), [2, 1, 0, 0, 1]);
    let rows = parse_data(text.as_bytes(), false, &found, &settings());
    assert_eq!(account(rows.counts), [2, 1, 0, 1, 0]);
    // Only a header: an export without accesses.
    let found = layout("record,time,var,cycle,data\n");
    assert_eq!((found.columns.as_slice(), found.header_lines), (THESIS_COLUMNS.as_slice(), 1));
}

#[test]
fn a_cut_first_line_is_no_header() {
    let text = "72600,\"EE_ORTI\",\"wr-data\",43\n-2,0.5,\"x\",\"wr-data\",1\n-1,0.6,\"x\",\"wr-data\",1\n";
    let found = layout(text);
    assert_eq!((found.columns.as_slice(), found.header_lines), (THESIS_COLUMNS.as_slice(), 0));
    let rows = parse_data(text.as_bytes(), true, &found, &settings());
    assert_eq!(findings(&rows.log), [("wrong-column-count", 1)]);
}

#[test]
fn pages_of_words_are_no_header() {
    let words = "some,words,that,mean,nothing\n".repeat(11);
    assert!(detect_data_layout(words.as_bytes(), None).is_err());
    let text = words + &"-1,0.5,x,wr-data,1\n".repeat(30);
    let found = layout(&text);
    assert_eq!((found.columns.as_slice(), found.header_lines), (THESIS_COLUMNS.as_slice(), 0));
    let rows = parse_data(text.as_bytes(), true, &found, &settings());
    assert_eq!(account(rows.counts), [41, 30, 0, 11, 0]);
}

#[test]
fn given_names_have_priority() {
    let text = "-2,0.1,0.5,x,y,wr-data,1\n";
    let found = given_layout(text, "record,-,time,variable,-,cycle,data").unwrap();
    let rows = parse_data(text.as_bytes(), true, &found, &settings());
    assert_eq!(rows.time, [500_000_000]);
    assert_eq!(rows.names, ["x"]);
    let error = given_layout(text, "record,time,variable,cycle,data").unwrap_err();
    assert!(error.to_string().contains("5 columns"), "{error}");
    assert!(given_layout("", "record,time,variable,cycle,data").is_ok());
    assert!(given_layout("", "time,variable,cycle").is_err());
}

#[test]
fn undetectable_columns_are_an_error_that_shows_the_line() {
    for (text, words) in [
        ("1,2,3\n", "time"),
        ("hello world\n", "hello world"),
        ("-1,5,x,wr-data,1\n", "which column is the time among 5 columns"),
    ] {
        let error = detect_data_layout(text.as_bytes(), None).unwrap_err().at("x.csv");
        assert!(error.to_string().starts_with("x.csv:1: "), "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(error.hints()[0].contains("recording.toml"));
    }
}

#[test]
fn columns_in_any_order_are_read() {
    let text = "cycle;data;time;var;address\nwr-data;1;0,5;x;D:70\nrd-data;FF;0.6;-;D:70001234\n";
    let rows = parse_data(text.as_bytes(), true, &layout(text), &settings());
    assert_eq!(rows.time, [500_000_000, 600_000_000]);
    assert_eq!(rows.names, ["x", "D:70001234"]);
    assert_eq!(rows.record.iter().collect::<Vec<_>>(), [None, None]);
    assert_eq!(account(rows.counts), [3, 2, 0, 0, 1]);
}

#[test]
fn an_export_may_be_nothing_but_lost() {
    for (text, time) in [
        ("-0000000002,,\"\",\"TARGET FIFO OVERFLOW\",\n", None),
        ("-0000000002,0.5,\"\",\"TARGET FIFO OVERFLOW\",\n", Some(500_000_000)),
    ] {
        let rows = parse_data(text.as_bytes(), true, &layout(text), &settings());
        assert_eq!(account(rows.counts), [1, 0, 1, 0, 0]);
        assert_eq!(rows.gaps[0].own_time, time);
        // More of them than rows do not hide the columns.
        let text = format!("{text}{text}-0000000007,0.0000000300,\"v\",\"wr-data\",33\n");
        let rows = parse_data(text.as_bytes(), true, &layout(&text), &settings());
        assert_eq!((account(rows.counts), &rows.time[..]), ([3, 1, 2, 0, 0], &[30][..]));
    }
}

#[test]
fn kinds_of_exports_are_distinguished() {
    for (text, kind) in [
        ("-0083448136,0.0004372600,\"EE_ORTI_servicetrace\",\"wr-data\",43", Some(Kind::Data)),
        ("record;time;var;cycle;data\n", Some(Kind::Data)),
        ("-2;0,5;x;wr-data;1\n", Some(Kind::Data)),
        ("+437050; EE_as_StartCore; fentry", Some(Kind::Functions)),
        ("\u{feff}+10; task: T; switch\r\n+20; f; fentry\r\n", Some(Kind::Functions)),
        ("+1; f; brandnew\n+2; f; brandnew\n", Some(Kind::Functions)),
        ("0; ; preempt;\n+478000; T; switch;\n", Some(Kind::TaskEvents)),
        ("# time(ns); task name; event;\n", Some(Kind::TaskEvents)),
        ("-0000000001,,\"\",\"TARGET FIFO OVERFLOW\",\n", Some(Kind::Data)),
        ("-0000000001,0.5,\"\",\"TARGET FIFO OVERFLOW\",\n", Some(Kind::Data)),
        ("; TARGET FIFO OVERFLOW; \n", Some(Kind::Functions)),
        ("+5; TARGET FIFO OVERFLOW; \n", Some(Kind::Functions)),
        ("TARGET FIFO OVERFLOW\n", None),
        ("", None),
        ("\n\n", None),
        ("#version 2.2.0\n#creator x\n", None),
        ("0,Core_1,0,T,Task_1,0,start\n10,Task_1,0,SIG,S,0,write,1.5\n", None),
        ("VERSION { KOIL = \"2.1\"; OSSEMANTICS = \"ORTI\", \"2.2\"; };\n", None),
        ("plot 0 jobArrived job1.1 Task_1\n", None),
        ("a,b,c\n1,2,3\n", None),
        ("-1,0.5,\"x\",\"wr-data\",1\n\0", None),
    ] {
        assert_eq!(probe(text.as_bytes()), kind, "{text}");
    }
}
