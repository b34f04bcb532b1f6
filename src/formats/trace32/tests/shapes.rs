//! Exports as users have them: the same rows in many forms. Plans read nearly all lines of each form, with
//! the same result. Not for single kinds of lines.

use super::rows::ACCESS_KINDS;
use super::*;

/// The number of rows of each export.
const ROWS: u64 = 400;

/// A row: record, time in units of 10⁻¹² s, name, cycle, value.
type Access = (i64, u64, &'static str, &'static str, u64);

fn row(n: u64) -> Access {
    const NAMES: [&str; 3] = ["EE_ORTI_servicetrace", "x", "app::Controller<Sensor, 3>::step(int, char)"];
    let cycle = if n.is_multiple_of(3) { "wr-data" } else { "rd-data" };
    (n as i64 - 4_788, n * 437_000, NAMES[n as usize % 2], cycle, n * n)
}

fn decimals(time: u64, digits: usize) -> String {
    let per_second = 10u64.pow(12);
    let fraction = format!("{:012}", time % per_second);
    format!("{}.{}", time / per_second, &fraction[..digits])
}

/// Writes an access in one form.
type AccessLine = fn(Access) -> String;

/// Writes the time, the name and the event of a function in one form.
type FunctionLine = fn(u64, &str, &str) -> String;

/// A line of each form; the first is that of the thesis (5.1.2).
const SHAPES: [(&str, AccessLine); 19] = [
    ("thesis", |(r, t, n, c, v)| format!("{r:+011},{},\"{n}\",\"{c}\",{v:02X}", decimals(t, 10))),
    ("blanks around the cycle", |(r, t, n, c, v)| {
        format!("{r:+011},{},\"{n}\", \"{c}\" ,{v:02X}", decimals(t, 10))
    }),
    ("no quotes", |(r, t, n, c, v)| format!("{r:+011},{},{n},{c},{v:02X}", decimals(t, 10))),
    ("0x", |(r, t, n, c, v)| format!("{r:+011},{},\"{n}\",\"{c}\",0x{v:02X}", decimals(t, 10))),
    ("all quoted", |(r, t, n, c, v)| {
        format!("\"{r:+011}\",\"{}\",\"{n}\",\"{c}\",\"{v:02X}\"", decimals(t, 10))
    }),
    ("unit", |(r, t, n, c, v)| format!("{r:+011},{}us,\"{n}\",\"{c}\",{v:02X}", decimals(t * 1_000_000, 3))),
    ("semicolons", |(r, t, n, c, v)| format!("{r:+011};{};\"{n}\";\"{c}\";{v:02X}", decimals(t, 10))),
    ("no record", |(_, t, n, c, v)| format!("{},\"{n}\",\"{c}\",{v:02X}", decimals(t, 10))),
    ("CRLF", |(r, t, n, c, v)| format!("{r:+011},{},\"{n}\",\"{c}\",{v:02X}\r", decimals(t, 10))),
    ("6 decimals", |(r, t, n, c, v)| format!("{r:+011},{},\"{n}\",\"{c}\",{v:02X}", decimals(t * 1_000, 6))),
    ("9 decimals", |(r, t, n, c, v)| format!("{r:+011},{},\"{n}\",\"{c}\",{v:02X}", decimals(t, 9))),
    ("12 decimals", |(r, t, n, c, v)| format!("{r:+011},{},\"{n}\",\"{c}\",{v:02X}", decimals(t, 12))),
    ("8 digits of records", |(r, t, n, c, v)| format!("{r:+09},{},\"{n}\",\"{c}\",{v:02X}", decimals(t, 10))),
    ("14 digits of records", |(r, t, n, c, v)| {
        format!("{r:+015},{},\"{n}\",\"{c}\",{v:02X}", decimals(t, 10))
    }),
    ("8 digits of values", |(r, t, n, c, v)| format!("{r:+011},{},\"{n}\",\"{c}\",{v:08X}", decimals(t, 10))),
    ("16 digits of values", |(r, t, n, c, v)| {
        format!("{r:+011},{},\"{n}\",\"{c}\",{v:016X}", decimals(t, 10))
    }),
    ("long names", |(r, t, n, c, v)| {
        format!("{r:+011},{},\"vehicle::control<{n}, 3>::step(int, char)\",\"{c}\",{v:02X}", decimals(t, 10))
    }),
    ("above 1,000 s", |(r, t, n, c, v)| {
        format!("{r:+011},{},\"{n}\",\"{c}\",{v:02X}", decimals(t + 23_456_000_000_000_000, 10))
    }),
    ("European Excel", |(r, t, n, c, v)| {
        format!("{r};{};{n};{c};{v:02X}", decimals(t, 10).replace('.', ","))
    }),
];

#[test]
fn lines_of_every_shape_are_read_by_plans() {
    for (name, line) in SHAPES {
        let text: String = (0..ROWS).map(|n| line(row(n)) + "\n").collect();
        let layout = detect_data_layout(text.as_bytes(), None).unwrap();
        let mut parser = ExportParser::new(Grammar::Data(layout), settings());
        let rows = parser.chunk(text.as_bytes(), true);
        assert_eq!(account(rows.counts), [ROWS, ROWS, 0, 0, 0], "{name}: {:?}", rows.log.entries());
        let shift = match name {
            "above 1,000 s" => 23_456_000_000_000,
            _ => 0,
        };
        let factor = match name {
            "unit" => 1,
            "6 decimals" => 1_000,
            _ => 1,
        };
        for (n, index) in (0..ROWS).zip(0..) {
            let (record, time, variable, cycle, value) = row(n);
            assert_eq!(rows.time[index], (time * factor / 1_000) as i64 + shift, "{name}, row {n}");
            assert_eq!(rows.record.get(index), Some(record).filter(|_| name != "no record"), "{name}");
            let found = rows.names.get(rows.name[index]);
            assert!(found == variable || name == "long names" && found.contains(variable), "{name}: {found}");
            assert_eq!(
                ACCESS_KINDS[usize::from(rows.kind[index])],
                if cycle == "wr-data" { "write" } else { "read" }
            );
            assert_eq!(rows.value[index], value, "{name}");
        }
        // The first line of each name and of each cycle, and the first and last lines of the chunk, where
        // there are not enough bytes for vectors.
        assert!(parser.tolerant_lines <= 12, "{name}: {}", parser.tolerant_lines);
    }
}

/// An access to an address without a symbol has the address for a name: its own, and not that of the first
/// one.
#[test]
fn accesses_without_names_are_read_by_plans() {
    let name =
        |n: u64| if n.is_multiple_of(3) { "x".to_owned() } else { format!("D:{:08X}", 0x7000_0000 + n % 7) };
    let line = |n: u64| {
        let (address, symbol) =
            (format!("D:{:08X}", 0x7000_0000 + n % 7), if n.is_multiple_of(3) { "x" } else { "" });
        format!("{n};0;{address};wr-long;{n:X};{symbol};{n}.000us\n")
    };
    let text =
        format!("record;run;address;cycle;data;symbol;ti.zero\n{}", (0..ROWS).map(line).collect::<String>());
    let layout = detect_data_layout(text.as_bytes(), None).unwrap();
    let mut parser = ExportParser::new(Grammar::Data(layout), settings());
    let rows = parser.chunk(text.as_bytes(), true);
    assert_eq!(account(rows.counts), [ROWS + 1, ROWS, 0, 0, 1]);
    let names: Vec<_> = rows.name.iter().map(|name| rows.names.get(*name).to_owned()).collect();
    assert_eq!(names, (0..ROWS).map(name).collect::<Vec<_>>());
    assert!(parser.tolerant_lines <= 20, "{}", parser.tolerant_lines);
}

#[test]
fn function_events_of_every_shape_are_read_by_plans() {
    let shapes: [(&str, FunctionLine); 6] = [
        ("CSVFunc", |t, n, e| format!("+{t}; {n}; {e}")),
        ("a delimiter behind the event", |t, n, e| format!("+{t}; {n}; {e};")),
        ("CRLF", |t, n, e| format!("+{t}; {n}; {e}\r")),
        ("no blanks", |t, n, e| format!("{t};{n};{e}")),
        ("tasks", |t, n, e| format!("+{t}; task: {n}; {e}")),
        ("records behind the event", |t, n, e| format!("+{t}; {n}; {e}; -0000012")),
    ];
    for (name, line) in shapes {
        let text: String = (0..ROWS)
            .map(|n| {
                line(
                    1_000_000 + n * 20,
                    ["f", "Controller::step(int)"][n as usize % 2],
                    ["fentry", "fexit"][n as usize / 2 % 2],
                ) + "\n"
            })
            .collect();
        let mut parser = ExportParser::new(Grammar::Functions, settings());
        let rows = parser.chunk(text.as_bytes(), true);
        assert_eq!(account(rows.counts), [ROWS, ROWS, 0, 0, 0], "{name}: {:?}", rows.log.entries());
        assert!(rows.time.iter().zip(0..).all(|(time, n)| *time == 1_000_000 + n * 20), "{name}");
        assert_eq!(rows.names, ["f", "Controller::step(int)"], "{name}");
        assert!(rows.kind.iter().zip(0..).all(|(kind, n)| u64::from(*kind) == n / 2 % 2), "{name}");
        assert!(parser.tolerant_lines <= 8, "{name}: {}", parser.tolerant_lines);
    }
}

#[test]
fn units_and_layouts_that_alternate_have_a_plan_each() {
    let line = |n: u64| match n % 4 {
        0 => format!("{n},{n}.5us,\"x\",\"wr-data\",1\n"),
        1 => format!("{n},  {n}.25ms, \"x\" ,\"rd-data\",0x1\n"),
        2 => format!("{n},{n}.125s,x,wr-long,1\n"),
        _ => format!("{n},{n}ns,\"x\",\"wr-data\",1\n"),
    };
    let text: String = (0..ROWS).map(line).collect();
    let mut parser = ExportParser::new(Grammar::Data(thesis_layout()), settings());
    let rows = parser.chunk(text.as_bytes(), true);
    assert_eq!(rows.time[..4], [500, 1_250_000, 2_125_000_000, 3]);
    assert!(parser.tolerant_lines <= 16, "{}", parser.tolerant_lines);
}
