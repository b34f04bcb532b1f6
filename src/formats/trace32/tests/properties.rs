//! What must hold for any text: no panic, no lost line, no dependence on chunks or on plans. Not for single
//! kinds of lines.

use proptest::prelude::*;

use super::parser::ReadMode;
use super::*;
use crate::names::TextList;

/// The modes with plans. On a processor without AVX2, both are the same.
const MODES: [fn() -> ReadMode; 2] = [|| ReadMode::Scalar, ReadMode::fastest];

/// One of a few names, because a line with a new name is left to the tolerant reader.
fn known_name() -> impl Strategy<Value = String> + Clone {
    // With its quotes, the first long name is just too long for a short string (see `ByteMap`).
    const LONG: [&str; 2] = ["app::Controller::step(int,char)", "app::Controller::step<Sensor>(int, char)"];
    const NAMES: [&str; 10] = [
        "a",
        "b7",
        "exactly8",
        "nine_char",
        "EE_ORTI_servicetrace",
        "f(int, a<b>)",
        "-",
        "x|",
        LONG[0],
        LONG[1],
    ];
    prop::sample::select(NAMES.as_slice()).prop_map(str::to_owned)
}

/// Mostly lines of the common form, with a share of rare and broken ones.
fn data_line() -> impl Strategy<Value = String> + Clone {
    let record = prop_oneof![
        2 => "[-+]?[0-9]{1,16}", 6 => "[-+]00000[0-9]{5}", 1 => Just(String::new()), 1 => "[-+,]?[0-9,]{10,11}"
    ];
    let time = prop_oneof![
        9 => "[0-9]{1,7}\\.[0-9]{9}0", 4 => "-?[0-9]{1,3}\\.[0-9]{10}",
        2 => "[0-9]{1,2}\\.50{9}", 2 => "[0-9]{1,12}\\.[0-9]{0,16}",
        1 => "[0-9.]{0,6}(us|s|)",
    ];
    let name = prop_oneof![9 => known_name(), 1 => "[ a\"\\[\\]é,-]{0,9}"];
    let cycle = prop_oneof![
        6 => Just("wr-data"), 6 => Just("rd-data"), 1 => Just("wr-long"), 1 => Just("read"), 1 => Just("ptrace"),
        1 => Just("FIFO OVERFLOW"), 1 => Just("")
    ];
    let value = prop_oneof![9 => "[0-9A-F]{2}|[0-9A-F]{16}", 3 => "[0-9A-F]{1,8}", 2 => "[0-9a-fA-F]{1,17}", 1 => "(0x|-)?[0-9.]{1,9}"];
    let line =
        (record, time, name, cycle, value).prop_map(|(r, t, n, c, v)| format!("{r},{t},\"{n}\",\"{c}\",{v}"));
    prop_oneof![
        9 => line,
        1 => "[-0-9.,\"a ]{0,30}",
        1 => prop_oneof![Just("# x".to_owned()), Just("record,time,var,cycle,data".to_owned())],
    ]
}

fn function_line() -> impl Strategy<Value = String> + Clone {
    let time = prop_oneof![6 => "[-+]?[0-9]{1,16}", 1 => "[-+0-9.x]{0,22}"];
    let name =
        prop_oneof![9 => known_name(), 1 => "[ a;:é]{0,8}", 1 => "(task: ){0,3}[ab]", 1 => "task::[ab]"];
    let event = prop_oneof![
        6 => "[fi](entry|exit);?", 2 => "(switch|start|stop|isrend);?;?", 1 => "fifofull|gap", 1 => "[a-z ;]{0,6}", 1 => "fexit;"
    ];
    let line = (time, name, event).prop_map(|(t, n, e)| format!("{t}; {n}; {e}"));
    prop_oneof![9 => line, 1 => "[-0-9; a]{0,20}", 1 => Just("time; name; event".to_owned())]
}

/// Lines joined with mixed line ends; the last one may have none.
fn text(line: impl Strategy<Value = String> + Clone) -> impl Strategy<Value = String> {
    let end = prop_oneof![12 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r\r\n")];
    // Sometimes more rows than a batch.
    let number = prop_oneof![9 => 0usize..40, 1 => 80usize..160];
    let lines =
        number.prop_flat_map(move |number| prop::collection::vec((line.clone(), end.clone()), number));
    (lines, any::<bool>()).prop_map(|(lines, cut)| {
        let text: String = lines.into_iter().map(|(line, end)| line + end).collect();
        if cut { text.trim_end_matches(['\r', '\n']).to_owned() } else { text }
    })
}

fn any_settings() -> impl Strategy<Value = ExportSettings> {
    let scale = prop_oneof![3 => Just(TimeScale::Ns), 2 => Just(TimeScale::Ps), 1 => Just(TimeScale::Us), 1 => Just(TimeScale::S)];
    let radix = prop_oneof![3 => Just(Radix::Hex), 1 => Just(Radix::Decimal)];
    let offset = prop_oneof![3 => Just(0), 1 => -1000i64..1000, 1 => any::<i64>()];
    (scale, radix, offset).prop_map(|(scale, radix, offset)| ExportSettings {
        scale,
        radix,
        offset,
        ..settings()
    })
}

/// All columns of the rows, with names in place of ids.
fn data_rows(rows: &ExportRows) -> Vec<(i64, Option<i64>, String, bool, u64, u32)> {
    let records = rows.record.iter().enumerate();
    records
        .map(|(n, record)| {
            let name = rows.names.get(rows.name[n]).to_owned();
            (rows.time[n], record, name, (rows.kind[n] == 1), rows.value[n], rows.lines.line(n))
        })
        .collect()
}

fn function_rows(rows: &ExportRows) -> Vec<(i64, String, u8, u32)> {
    (0..rows.time.len())
        .map(|n| (rows.time[n], rows.names.get(rows.name[n]).to_owned(), rows.kind[n], rows.lines.line(n)))
        .collect()
}

/// All modes give the same result.
fn assert_same_in_all_modes(
    text: &str,
    grammar: &Grammar,
    settings: &ExportSettings,
) -> Result<(), TestCaseError> {
    let parse = |mode| {
        let mut parser = ExportParser::new(grammar.clone(), settings.clone());
        parser.mode = mode;
        parser.chunk(text.as_bytes(), true)
    };
    let slow = parse(ReadMode::Tolerant);
    for fast in MODES.map(|mode| parse(mode())) {
        assert_complete(fast.counts);
        match grammar {
            Grammar::Data(_) => prop_assert_eq!(data_rows(&fast), data_rows(&slow)),
            Grammar::Functions => prop_assert_eq!(function_rows(&fast), function_rows(&slow)),
        }
        prop_assert_eq!(&fast.names, &slow.names);
        prop_assert_eq!(&fast.gaps, &slow.gaps);
        prop_assert_eq!(fast.counts, slow.counts);
        prop_assert_eq!(fast.log.entries(), slow.log.entries());
    }
    Ok(())
}

/// Many lines with cells that are joined in the same way, for which plans are made.
fn shaped_text() -> impl Strategy<Value = String> {
    let affix = || prop_oneof![4 => Just(("", "")), 2 => Just(("\"", "\"")), 1 => Just((" \"", "\" ")), 1 => Just((" ", " "))];
    let shape = (
        prop::collection::vec(affix(), 6),
        prop::sample::select(vec![",", ";", "\t"]),
        prop::sample::select(vec!["\n", "\r\n", ",\n", ";\n"]),
        prop::sample::select(vec!["", "us", " s", "ns"]),
        prop::sample::select(vec!["", "0x"]),
        0usize..13,
        Just(vec![0usize, 1, 2, 3, 4, 5]).prop_shuffle(),
        4usize..7,
    );
    let row = (
        prop_oneof![9 => "[-+][0-9]{8}", 1 => "[-+]?[0-9]{0,16}"],
        0u64..40_000_000_000_000_000,
        prop_oneof![9 => known_name(), 1 => "[ a\"\\[\\],;#-]{0,9}"],
        prop_oneof![4 => Just("wr-data"), 4 => Just("rd-data"), 1 => Just("wr-long"), 1 => Just("read"), 1 => Just("FIFO OVERFLOW")],
        prop_oneof![9 => "[0-9A-F]{2,8}", 1 => "[0-9a-fA-F]{0,17}"],
        prop_oneof![9 => Just("0"), 1 => Just("1"), 1 => Just("a\"b")],
    );
    (shape, prop::collection::vec(row, 0..90), any::<bool>()).prop_map(
        |((affixes, delimiter, end, unit, mark, decimals, order, width), rows, comma)| {
            let point = if comma { "," } else { "." };
            let mut text = String::new();
            for (record, time, name, cycle, value, core) in rows {
                let scale = 10u64.pow(decimals as u32);
                let fraction = format!("{:0decimals$}", time % scale);
                let time = match decimals {
                    0 => format!("{time}{unit}"),
                    _ => format!("{}{point}{fraction}{unit}", time / scale),
                };
                let cells = [time, name, cycle.to_owned(), format!("{mark}{value}"), record, core.to_owned()];
                let cells = order.iter().filter(|n| **n < width).map(|n| {
                    let (before, behind) = affixes[*n];
                    format!("{before}{}{behind}", cells[*n])
                });
                text.push_str(&cells.collect::<Vec<_>>().join(delimiter));
                text.push_str(end);
            }
            text
        },
    )
}

/// Accesses with an address, of which some have no name.
fn addressed_text() -> impl Strategy<Value = String> {
    let line = (
        0u32..9,
        prop_oneof![6 => "D:7000000[0-5]", 1 => Just("-".to_owned()), 1 => "[ D\"]{0,3}"],
        prop_oneof![3 => known_name(), 3 => Just(String::new()), 1 => Just("\"\"".to_owned()), 1 => "[ -]{1,2}"],
        prop_oneof![Just("wr-long"), Just("rd-data")],
        prop_oneof![9 => Just(""), 1 => Just(";")],
    );
    let line = line.prop_map(|(n, address, name, cycle, end)| {
        format!("{n};0;{address};{cycle};{n};{name};{n}.5us{end}")
    });
    text(line).prop_map(|text| format!("record;run;address;cycle;data;symbol;ti.zero\n{text}"))
}

/// An offset where a text can be cut into whole lines; `choice` selects one of them.
fn cut_at(text: &str, choice: usize) -> usize {
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).chain([0]).collect();
    ends[choice % ends.len()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4 * ProptestConfig::default().cases))]

    #[test]
    fn plans_for_data_change_nothing(text in text(data_line()), settings in any_settings()) {
        assert_same_in_all_modes(&text, &Grammar::Data(thesis_layout()), &settings)?;
    }

    #[test]
    fn plans_for_functions_change_nothing(text in text(function_line()), settings in any_settings()) {
        assert_same_in_all_modes(&text, &Grammar::Functions, &settings)?;
    }

    #[test]
    fn plans_for_any_layout_change_nothing(
        text in shaped_text(), settings in any_settings(), irregular in text(data_line()), at: usize,
    ) {
        let text = format!("{text}{irregular}{text}");
        let layout = detect_data_layout(text.as_bytes(), None).unwrap_or_else(|_| thesis_layout());
        assert_same_in_all_modes(&text, &Grammar::Data(layout.clone()), &settings)?;
        assert_same_in_all_modes(&text[cut_at(&text, at)..], &Grammar::Data(layout), &settings)?;
    }

    #[test]
    fn plans_for_accesses_without_names_change_nothing(text in addressed_text(), settings in any_settings()) {
        let common = b"record;run;address;cycle;data;symbol;ti.zero\n1;0;D:70001234;wr-long;1;a;1.5us\n";
        assert_same_in_all_modes(&text, &Grammar::Data(detect_data_layout(common, None).unwrap()), &settings)?;
    }

    #[test]
    fn chunks_of_data_are_independent(text in text(data_line()), choice: usize) {
        let (layout, settings) = (thesis_layout(), settings());
        let whole = parse_data(text.as_bytes(), true, &layout, &settings);
        let (head, tail) = text.as_bytes().split_at(cut_at(&text, choice));
        let mut head = parse_data(head, true, &layout, &settings);
        let mut tail = parse_data(tail, false, &layout, &settings);
        let (shift, mut rows) = (head.counts.lines, data_rows(&tail));
        rows.iter_mut().for_each(|row| row.5 += shift as u32);
        prop_assert_eq!([data_rows(&head), rows].concat(), data_rows(&whole));
        prop_assert_eq!(head.counts.rejected + tail.counts.rejected, whole.counts.rejected);
        prop_assert_eq!(head.counts.gaps + tail.counts.gaps, whole.counts.gaps);
        tail.log.shift_lines(shift);
        head.log.merge(tail.log);
        prop_assert_eq!(head.log.entries(), whole.log.entries());
    }

    #[test]
    fn chunks_of_functions_are_independent(text in text(function_line()), choice: usize) {
        let settings = settings();
        let whole = parse_functions(text.as_bytes(), &settings);
        let (head, tail) = text.as_bytes().split_at(cut_at(&text, choice));
        let (head, tail) = (parse_functions(head, &settings), parse_functions(tail, &settings));
        let mut rows = function_rows(&tail);
        rows.iter_mut().for_each(|row| row.3 += head.counts.lines as u32);
        prop_assert_eq!([function_rows(&head), rows].concat(), function_rows(&whole));
        prop_assert_eq!(head.counts.rejected + tail.counts.rejected, whole.counts.rejected);
    }

    #[test]
    fn a_parser_gives_each_name_once(
        data in text(data_line()), functions in text(function_line()), choices: [usize; 2],
    ) {
        let (layout, settings) = (thesis_layout(), settings());
        let mut parser = ExportParser::new(Grammar::Data(layout.clone()), settings.clone());
        let (head, tail) = data.as_bytes().split_at(cut_at(&data, choices[0]));
        let whole = parse_data(data.as_bytes(), true, &layout, &settings);
        let head = parser.chunk(head, true);
        let tail = parser.chunk(tail, false);
        prop_assert_eq!((head.first_name, tail.first_name), (0, head.names.len()));
        prop_assert_eq!(head.names.iter().chain(tail.names.iter()).collect::<TextList>(), whole.names);
        prop_assert_eq!([head.name, tail.name].concat(), whole.name);

        let mut parser = ExportParser::new(Grammar::Functions, settings.clone());
        let (head, tail) = functions.as_bytes().split_at(cut_at(&functions, choices[1]));
        let whole = parse_functions(functions.as_bytes(), &settings);
        let [head, tail] = [head, tail].map(|chunk| parser.chunk(chunk, false));
        prop_assert_eq!((head.first_name, tail.first_name), (0, head.names.len()));
        prop_assert_eq!(head.names.iter().chain(tail.names.iter()).collect::<TextList>(), whole.names);
        prop_assert_eq!([head.name, tail.name].concat(), whole.name);
    }

    #[test]
    fn arbitrary_bytes_never_panic(text: Vec<u8>, settings in any_settings(), names: Option<Vec<String>>) {
        probe(&text);
        assert_complete(parse_functions(&text, &settings).counts);
        let layout = detect_data_layout(&text, names.as_deref()).unwrap_or_else(|_| thesis_layout());
        assert_complete(parse_data(&text, true, &layout, &settings).counts);
    }

    #[test]
    fn arbitrary_printable_lines_never_panic(text in "[-0-9a-z,;\"|#.\t\r\n ]{0,200}", settings in any_settings()) {
        probe(text.as_bytes());
        assert_complete(functions(&text).counts);
        let layout = detect_data_layout(text.as_bytes(), None).unwrap_or_else(|_| thesis_layout());
        let rows = parse_data(text.as_bytes(), true, &layout, &settings);
        assert_complete(rows.counts);
        // Like the counts, `split_inclusive` has no empty line after a final line end.
        prop_assert_eq!(rows.counts.lines, text.split_inclusive('\n').count() as u64);
    }
}
