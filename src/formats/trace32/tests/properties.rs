//! What must hold for any text: no panic, no lost line, no dependence on chunks or on the fast path.

use proptest::prelude::*;

use super::*;
use crate::schema::TextList;

/// Both fast paths, on a processor that has both.
const WAYS: [fn() -> Way; 2] = [|| Way::Words, Way::best];

/// A name of a few, because only a name that was seen before takes the fast path.
fn known_name() -> impl Strategy<Value = String> + Clone {
    // The first of the long ones is the longest that is short (see `Names`).
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

/// Lines near the common shape, with a share of unusual and broken ones.
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
    let usual =
        (record, time, name, cycle, value).prop_map(|(r, t, n, c, v)| format!("{r},{t},\"{n}\",\"{c}\",{v}"));
    prop_oneof![
        9 => usual,
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
    let usual = (time, name, event).prop_map(|(t, n, e)| format!("{t}; {n}; {e}"));
    prop_oneof![9 => usual, 1 => "[-0-9; a]{0,20}", 1 => Just("time; name; event".to_owned())]
}

/// Lines joined with mixed line ends, the last maybe without one.
fn text(line: impl Strategy<Value = String> + Clone) -> impl Strategy<Value = String> {
    let end = prop_oneof![12 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r\r\n")];
    // More rows than are appended together, now and then.
    let number = prop_oneof![9 => 0usize..40, 1 => 80usize..160];
    let lines =
        number.prop_flat_map(move |number| prop::collection::vec((line.clone(), end.clone()), number));
    (lines, any::<bool>()).prop_map(|(lines, cut)| {
        let text: String = lines.into_iter().map(|(line, end)| line + end).collect();
        if cut { text.trim_end_matches(['\r', '\n']).to_owned() } else { text }
    })
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let scale = prop_oneof![3 => Just(TimeScale::Ns), 2 => Just(TimeScale::Ps), 1 => Just(TimeScale::Us), 1 => Just(TimeScale::S)];
    let radix = prop_oneof![3 => Just(Radix::Hex), 1 => Just(Radix::Decimal)];
    let offset = prop_oneof![3 => Just(0), 1 => -1000i64..1000, 1 => any::<i64>()];
    (scale, radix, offset).prop_map(|(scale, radix, offset)| Settings { scale, radix, offset, ..settings() })
}

/// Everything but the gaps, with names in place of their numbers.
fn data_rows(rows: &DataRows) -> Vec<(i64, Option<i64>, String, bool, u64, u32)> {
    let records = rows.record.iter().enumerate();
    records
        .map(|(n, record)| {
            let name = rows.variables.get(rows.variable[n]).to_owned();
            (rows.time[n], record, name, rows.is_write[n], rows.value[n], rows.lines.line(n))
        })
        .collect()
}

fn function_rows(rows: &FunctionRows) -> Vec<(i64, String, u8, u32)> {
    (0..rows.time.len())
        .map(|n| {
            (rows.time[n], rows.functions.get(rows.function[n]).to_owned(), rows.kind[n], rows.lines.line(n))
        })
        .collect()
}

/// Where a text can be cut into whole lines, for a number that chooses.
fn cut_at(text: &str, choice: usize) -> usize {
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).chain([0]).collect();
    ends[choice % ends.len()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_fast_path_of_data_changes_nothing(text in text(data_line()), settings in any_settings()) {
        let layout = usual();
        let parser = || DataParser::new(&layout, &settings);
        let parse = |fast| parser().parse(text.as_bytes(), true, fast);
        let slow = parse(None);
        for fast in WAYS.map(|way| parse(Some(way()))) {
            assert_complete(fast.counts);
            prop_assert_eq!(data_rows(&fast), data_rows(&slow));
            prop_assert_eq!(&fast.variables, &slow.variables);
            prop_assert_eq!(&fast.gaps, &slow.gaps);
            prop_assert_eq!(fast.counts, slow.counts);
            prop_assert_eq!(fast.log.entries(), slow.log.entries());
        }
    }

    #[test]
    fn the_fast_path_of_functions_changes_nothing(text in text(function_line()), settings in any_settings()) {
        let parser = || FunctionParser::new(&settings);
        let parse = |fast| parser().parse(text.as_bytes(), fast);
        let slow = parse(None);
        for fast in WAYS.map(|way| parse(Some(way()))) {
            assert_complete(fast.counts);
            prop_assert_eq!(function_rows(&fast), function_rows(&slow));
            prop_assert_eq!(&fast.functions, &slow.functions);
            prop_assert_eq!(&fast.gaps, &slow.gaps);
            prop_assert_eq!(fast.counts, slow.counts);
            prop_assert_eq!(fast.log.entries(), slow.log.entries());
        }
    }

    #[test]
    fn chunks_of_data_are_independent(text in text(data_line()), choice: usize) {
        let (layout, settings) = (usual(), settings());
        let whole = parse_data(text.as_bytes(), true, &layout, &settings);
        let (head, tail) = text.as_bytes().split_at(cut_at(&text, choice));
        let mut head = parse_data(head, true, &layout, &settings);
        let mut tail = parse_data(tail, false, &layout, &settings);
        let (by, mut rows) = (head.counts.lines, data_rows(&tail));
        rows.iter_mut().for_each(|row| row.5 += by as u32);
        prop_assert_eq!([data_rows(&head), rows].concat(), data_rows(&whole));
        prop_assert_eq!(head.counts.rejected + tail.counts.rejected, whole.counts.rejected);
        prop_assert_eq!(head.counts.gaps + tail.counts.gaps, whole.counts.gaps);
        tail.log.shift_lines(by);
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
    fn a_parser_tells_each_name_once(
        data in text(data_line()), functions in text(function_line()), choices: [usize; 2],
    ) {
        let (layout, settings) = (usual(), settings());
        let mut parser = DataParser::new(&layout, &settings);
        let (head, tail) = data.as_bytes().split_at(cut_at(&data, choices[0]));
        let whole = parse_data(data.as_bytes(), true, &layout, &settings);
        let head = parser.chunk(head, true);
        let tail = parser.chunk(tail, false);
        prop_assert_eq!((head.told, tail.told), (0, head.variables.len()));
        prop_assert_eq!(head.variables.iter().chain(tail.variables.iter()).collect::<TextList>(), whole.variables);
        prop_assert_eq!([head.variable, tail.variable].concat(), whole.variable);

        let mut parser = FunctionParser::new(&settings);
        let (head, tail) = functions.as_bytes().split_at(cut_at(&functions, choices[1]));
        let whole = parse_functions(functions.as_bytes(), &settings);
        let [head, tail] = [head, tail].map(|chunk| parser.chunk(chunk));
        prop_assert_eq!((head.told, tail.told), (0, head.functions.len()));
        prop_assert_eq!(head.functions.iter().chain(tail.functions.iter()).collect::<TextList>(), whole.functions);
        prop_assert_eq!([head.function, tail.function].concat(), whole.function);
    }

    #[test]
    fn arbitrary_bytes_never_panic(text: Vec<u8>, settings in any_settings(), names: Option<Vec<String>>) {
        probe(&text);
        assert_complete(parse_functions(&text, &settings).counts);
        let layout = detect_data_layout(&text, names.as_deref()).unwrap_or_else(|_| usual());
        assert_complete(parse_data(&text, true, &layout, &settings).counts);
    }

    #[test]
    fn arbitrary_printable_lines_never_panic(text in "[-0-9a-z,;\"|#.\t\r\n ]{0,200}", settings in any_settings()) {
        probe(text.as_bytes());
        assert_complete(functions(&text).counts);
        let layout = detect_data_layout(text.as_bytes(), None).unwrap_or_else(|_| usual());
        let rows = parse_data(text.as_bytes(), true, &layout, &settings);
        assert_complete(rows.counts);
        // `str::lines` leaves out nothing but a final line end, as the account does.
        prop_assert_eq!(rows.counts.lines, text.split_inclusive('\n').count() as u64);
    }
}
