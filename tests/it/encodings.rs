//! Inputs in other encodings, line ends and packings: read as what they are, or refused with the next step.

use crate::support::{Bench, copy_dir, root};
use std::io::Write as _;

const BTF: &str = "#version 2.1.5\n#creator Müller\n#timeScale ns\n100,STI_A,0,T,Öl,0,activate\n\
                   110,Core_0,0,T,Öl,0,start\n160,Core_0,0,T,Öl,0,terminate\n";
const LISTING: &str = "TRACEPRINTER version 1.02\n -- HEADER FILE INFORMATION -- \n  TRACE_CYCLES_PER_SEC:: 1000000000\n\
     TRACE_SYS_RELEASE:: 6.5.0\n -- KERNEL EVENTS -- \nt:0x00000001 CPU:00 THREAD  :THRUNNING     pid:4099 tid:1 \n";
const CSV: &str = "-0000000004,0.0000000300,\"SIG_1\",\"wr-data\",00000002\n\
                   -0000000003,0.0000000400,\"SIG_1\",\"rd-data\",0000000A\n";
const GRASP: &str =
    "newTask t1 -priority 1\nplot 0 jobArrived j1 t1\nplot 10 jobResumed j1\nplot 20 jobCompleted j1\n";

/// One value of a query.
fn value(bench: &Bench, sql: &str) -> String {
    let run = bench.ok(&["query", "t.db", sql, "--format", "csv"]);
    run.stdout.lines().skip(1).collect::<Vec<_>>().join(";")
}

fn utf16(text: &str, mark: bool, big: bool) -> Vec<u8> {
    let text = if mark { format!("\u{feff}{text}") } else { text.to_owned() };
    text.encode_utf16().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
}

/// Single bytes of Latin-1.
fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(c).unwrap()).collect()
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn utf16_is_read_in_every_format() {
    let formats = [
        ("t.btf", BTF, "SELECT DISTINCT process FROM process_instance", "Öl"),
        ("t.txt", LISTING, "SELECT pid, event_name FROM kernel_event", "4099,RUNNING"),
        (
            "core0_data.csv",
            CSV,
            "SELECT time, variable, value FROM data_event ORDER BY time",
            "30,SIG_1,2;40,SIG_1,10",
        ),
        ("t.grasp", GRASP, "SELECT DISTINCT process FROM process_instance", "t1"),
    ];
    for (name, text, sql, expected) in formats {
        for (mark, big) in [(true, false), (true, true), (false, false), (false, true)] {
            let windows = text.replace('\n', "\r\n");
            for bytes in
                [utf16(text, mark, big), utf16(&windows, mark, big), zipped(&utf16(&windows, mark, big))]
            {
                let bench = Bench::new();
                bench.write(name, bytes);
                bench.ok(&["ingest", "t.db", name, "-q", "--name", "n"]);
                assert_eq!(value(&bench, sql), expected, "{name} {mark} {big}");
                let found = "SELECT count(*) FROM diagnostic WHERE code = 'transcoded'";
                assert_eq!(value(&bench, found), "1", "{name}");
            }
        }
    }
}

#[test]
fn descriptions_may_be_utf16() {
    let bench = Bench::new();
    let toml = "name = \"ä\"\n[[core]]\nname = \"Core_0\"\ndata = \"core0_data.csv\"\n";
    bench.write("r/recording.toml", utf16(toml, true, false));
    bench.write("r/core0_data.csv", CSV);
    bench.ok(&["ingest", "t.db", "r", "-q"]);
    assert_eq!(value(&bench, "SELECT recording FROM recording"), "ä");
    bench.write("r/recording.toml", latin1(toml));
    let run = bench.run(&["ingest", "u.db", "r"]);
    assert!(
        run.code == Some(1) && run.stderr.contains("recording.toml") && run.stderr.contains("iconv"),
        "{}",
        run.stderr
    );
}

#[test]
fn names_in_other_encodings_are_read_on_request_and_never_one() {
    let text = "#version 2.1.5\n#timeScale us\n100,S,0,T,Öl,0,activate\n110,C,0,T,Öl,0,start\n120,C,0,T,Öl,0,terminate\n\
                200,S,1,T,Äl,0,activate\n215,C,0,T,Äl,0,start\n290,C,0,T,Äl,0,terminate\n";
    let names = "SELECT process, count(*) FROM process_instance GROUP BY process ORDER BY process";
    let bench = Bench::new();
    bench.write("t.btf", latin1(text));
    let run = bench.ok(&["ingest", "t.db", "t.btf"]);
    assert!(run.stderr.contains("[not-utf8]") && run.stderr.contains("--encoding"), "{}", run.stderr);
    assert_eq!(value(&bench, names), "\\xc4l,1;\\xd6l,1");
    for encoding in ["latin-1", "windows-1252"] {
        std::fs::remove_dir_all(bench.path().join("t.db")).unwrap();
        let run = bench.ok(&["ingest", "t.db", "t.btf", "--encoding", encoding]);
        assert!(!run.stderr.contains("not-utf8"), "{}", run.stderr);
        assert_eq!(value(&bench, names), "Äl,1;Öl,1");
    }
    let run = bench.run(&["ingest", "u.db", "t.btf", "--encoding", "ebcdic"]);
    assert_eq!(run.code, Some(2), "{}", run.all());
    // The same names in an export of TRACE32.
    let bench = Bench::new();
    bench.write(
        "core0_data.csv",
        latin1(&format!("{}{}", CSV.replace("SIG_1", "Öl"), CSV.replace("SIG_1", "Äl"))),
    );
    bench.ok(&["ingest", "t.db", "core0_data.csv", "--name", "n", "-q"]);
    assert_eq!(value(&bench, "SELECT DISTINCT variable FROM data_event ORDER BY 1"), "\\xc4l;\\xd6l");
}

/// In an ORTI file, too, so that a task is the one that its events name; with its own characters on request.
#[test]
fn names_of_a_description_in_another_encoding_are_those_of_the_trace() {
    let bench = Bench::new();
    let folder = root().join("tests/data/erika2/events");
    copy_dir(&folder, &bench.path().join("r"));
    for file in ["core0_data.csv", "core0_func.csv", "system_cpu0.orti", "eecfg_cpu0.h"] {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        bench.write(&format!("r/{file}"), latin1(&text.replace("T_E", "T_Öl")));
    }
    let tasks = "SELECT DISTINCT process FROM process_state WHERE process LIKE 'T\\_%l'";
    bench.ok(&["ingest", "t.db", "r", "-q"]);
    assert_eq!(value(&bench, tasks), "T_\\xd6l");
    for encoding in ["latin-1", "windows-1252"] {
        let bench = Bench::new();
        copy_dir(&folder, &bench.path().join("r"));
        for file in ["core0_data.csv", "core0_func.csv", "system_cpu0.orti", "eecfg_cpu0.h"] {
            let text = std::fs::read_to_string(folder.join(file)).unwrap();
            bench.write(&format!("r/{file}"), latin1(&text.replace("T_E", "T_Öl")));
        }
        bench.ok(&["ingest", "t.db", "r", "-q", "--encoding", encoding]);
        assert_eq!(value(&bench, tasks), "T_Öl");
    }
}

#[test]
fn lines_may_end_with_carriage_returns() {
    for (name, text, sql, expected) in [
        ("t.btf", BTF, "SELECT count(*) FROM btf_event", "3"),
        ("t.txt", LISTING, "SELECT count(*) FROM kernel_event", "1"),
        ("core0_data.csv", CSV, "SELECT count(*) FROM data_event", "2"),
    ] {
        let bench = Bench::new();
        bench.write(name, text.replace('\n', "\r"));
        bench.ok(&["ingest", "t.db", name, "-q", "--name", "n"]);
        assert_eq!(value(&bench, sql), expected, "{name}");
        assert_eq!(value(&bench, "SELECT records FROM source"), text.lines().count().to_string(), "{name}");
    }
    // Some of the lines, where texts were put together.
    let bench = Bench::new();
    let head = BTF.lines().count() - 2;
    let ends = |(n, line): (usize, &str)| format!("{line}{}", if n < head { "\r" } else { "\r\n" });
    bench.write("t.btf", BTF.lines().enumerate().map(ends).collect::<String>());
    bench.ok(&["ingest", "t.db", "t.btf", "-q"]);
    assert_eq!(value(&bench, "SELECT count(*) FROM btf_event"), "3");
    assert_eq!(value(&bench, "SELECT records FROM source"), BTF.lines().count().to_string());
}

#[test]
fn zeros_behind_gzip_are_no_damage() {
    let parts = [zipped(BTF.as_bytes()), zipped("500,S,1,T,B,0,activate\n".as_bytes())];
    let padded = [&parts[0][..], &[0; 700], &parts[1], &[0; 70_000]].concat();
    let bench = Bench::new();
    bench.write("t.btf.gz", padded);
    bench.ok(&["ingest", "t.db", "t.btf.gz", "-q"]);
    assert_eq!(value(&bench, "SELECT count(*) FROM btf_event"), "4");
    bench.write("u.btf.gz", [&parts[0][..], b"\0\0garbage"].concat());
    let run = bench.run(&["ingest", "u.db", "u.btf.gz"]);
    assert!(run.code == Some(1) && run.stderr.contains("damaged"), "{}", run.all());
}

#[test]
fn other_packings_are_named_with_the_next_step() {
    for (name, head, program) in [
        ("t.btf.xz", &b"\xfd7zXZ\0\0"[..], "xz -dc"),
        ("t.zip", b"PK\x03\x04\x14\0", "unzip -p"),
        ("t.btf.bz2", b"BZh91AY", "bzip2 -dc"),
        ("t.7z", b"7z\xbc\xaf\x27\x1c", "7z x -so"),
    ] {
        let bench = Bench::new();
        bench.write(name, head);
        let run = bench.run(&["ingest", "t.db", name]);
        assert_eq!(run.code, Some(1), "{}", run.all());
        for word in [name, "is packed with", program, "hint:"] {
            assert!(run.stderr.contains(word), "no '{word}' in {}", run.stderr);
        }
    }
}

#[test]
fn a_time_that_counts_from_the_record_before_is_no_time() {
    let bench = Bench::new();
    let rows =
        "-0000000002,0.0000000300,\"x\",\"wr-data\",01\n-0000000001,0.0000000400,\"x\",\"wr-data\",02\n";
    for name in ["ti.back", "TI.BACK", "ti.fore", "time.back(us)"] {
        bench.write("core0_data.csv", format!("record,{name},var,cycle,data\n{rows}"));
        let run = bench.run(&["ingest", "t.db", "core0_data.csv", "--name", "n"]);
        assert_eq!(run.code, Some(1), "{}", run.all());
        assert!(
            run.stderr.contains("ti.zero") && run.stderr.contains("counts from the record before"),
            "{}",
            run.stderr
        );
    }
    // With both, and a column that nobody knows.
    bench.write(
        "core0_data.csv",
        "record,ti.back,ti.zero,var,cycle,data,speed\n-2,0.00001,0.5,\"x\",\"wr-data\",1,7\n",
    );
    let run = bench.ok(&["ingest", "t.db", "core0_data.csv", "--name", "n"]);
    assert!(
        run.stderr.contains("the column 'speed' is not known; it is not read [unknown-column]"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("'ti.back'"), "{}", run.stderr);
    assert_eq!(value(&bench, "SELECT time FROM data_event"), "500000000");
    bench.write("core1_data.csv", "record,Zeit,var,cycle,data\n-2,0.5,\"x\",\"wr-data\",1\n");
    let run = bench.ok(&["ingest", "t.db", "core1_data.csv", "--name", "other"]);
    assert!(
        run.stderr.contains("the column 'Zeit' is not known; by its cells, it is the time"),
        "{}",
        run.stderr
    );
}

#[test]
fn scientific_notation_is_explained() {
    let bench = Bench::new();
    for (header, time) in [("", "3.0000E-08"), ("record,time,var,cycle,data\n", "3.00E-08"), ("", "3e-8")] {
        bench.write(
            "core0_data.csv",
            format!("{header}-2,{time},\"x\",\"wr-data\",01\n-1,4.0000E-08,\"x\",\"wr-data\",02\n"),
        );
        let run = bench.run(&["ingest", "t.db", "core0_data.csv", "--name", "n"]);
        assert_eq!(run.code, Some(1), "{}", run.all());
        for word in ["scientific notation", time, "spreadsheet", "hint: export the trace again"] {
            assert!(run.stderr.contains(word), "no '{word}' in {}", run.stderr);
        }
    }
    // The first times only, so that no column looks like the time.
    bench.write(
        "core0_data.csv",
        "-4,3.0E-08,\"x\",\"wr-data\",01\n-3,4.0E-08,\"x\",\"wr-data\",01\n-2,0.5,\"x\",\"wr-data\",02\n",
    );
    let run = bench.run(&["ingest", "t.db", "core0_data.csv", "--name", "n"]);
    assert!(run.code == Some(1) && run.stderr.contains("scientific notation"), "{}", run.all());
    // One such cell costs one row.
    bench.write(
        "core0_data.csv",
        "-4,0.4,\"x\",\"wr-data\",01\n-3,0.5,\"x\",\"wr-data\",01\n-2,3.0E-08,\"x\",\"wr-data\",02\n",
    );
    let run = bench.ok(&["ingest", "t.db", "core0_data.csv", "--name", "n"]);
    assert!(
        run.stderr.contains("scientific notation") && run.stderr.contains("[bad-time]"),
        "{}",
        run.stderr
    );
}
