//! The result of each kind of line of a function or task-event export. Not for data exports (see
//! `data_lines`).

use super::*;
use crate::names::TextList;

fn events(rows: &ExportRows) -> Vec<(i64, &str, &str)> {
    let names = rows.name.iter().map(|f| rows.names.get(*f));
    let kinds = rows.kind.iter().map(|k| FUNCTION_KINDS[usize::from(*k)]);
    rows.time.iter().copied().zip(names).zip(kinds).map(|((t, n), k)| (t, n, k)).collect()
}

#[test]
fn the_line_of_the_thesis() {
    let rows = functions("+437050; EE_as_StartCore; fentry\n");
    assert_eq!(events(&rows), [(437_050, "EE_as_StartCore", "entry")]);
    assert_eq!(account(rows.counts), [1, 1, 0, 0, 0]);
}

#[test]
fn every_variant_of_a_line() {
    let rows = functions(concat!(
        "\u{feff}0; f; fentry\r\n",
        "-10;f;FEXIT;\r\n",
        "+20; isr; ientry\r\n",
        "+30; isr; iexit\r\n",
        "+40; task: T_1; switch\r\n",
        "+50; std::map<int, a>::at(int) const; fentry\r\n",
        "+60; operator;weird; fexit\r\n",
        "+70; task::run; fentry\r\n",
        "+1.5us; f; fexit\r\n",
        "+80; g; fentry; -0000123; +0.5\r\n",
        "+90; f; fentry",
    ));
    assert_eq!(
        events(&rows),
        [
            (0, "f", "entry"),
            (-10, "f", "exit"),
            (20, "isr", "isr_entry"),
            (30, "isr", "isr_exit"),
            (40, "T_1", "switch"),
            (50, "std::map<int, a>::at(int) const", "entry"),
            (60, "operator;weird", "exit"),
            (70, "task::run", "entry"),
            (1500, "f", "exit"),
            (80, "g", "entry"),
            (90, "f", "entry"),
        ]
    );
    assert!(rows.log.is_empty(), "{:?}", rows.log.entries());
}

/// The sample of the research notes, section 1.4, with a first record that was seen elsewhere.
#[test]
fn task_events() {
    let text = "#######\n# Task events trace file\n# time(ns); task name; event;\n#######\n\
                0; ; preempt;\n+478000; Trace_1MS_0; switch;\n+478330; Trace_1MS_0; start;\n\
                +554330; Trace_1MS_0; stop;\n+554330; Trace_1MS_0; terminate;\n+554990; NO_TASK; switch;\n\
                +554991; ISR_1; isrstart;\n+554992; ISR_1; isrend;\n+554993; R_1; runnablestart;\n";
    assert_eq!(probe(text.as_bytes()), Some(Kind::TaskEvents));
    let rows = functions(text);
    assert_eq!(account(rows.counts), [13, 9, 0, 0, 4]);
    let expected = [
        (0, "", "preempt"),
        (478_000, "Trace_1MS_0", "switch"),
        (478_330, "Trace_1MS_0", "start"),
        (554_330, "Trace_1MS_0", "stop"),
        (554_330, "Trace_1MS_0", "terminate"),
        (554_990, "NO_TASK", "switch"),
        (554_991, "ISR_1", "isr_entry"),
        (554_992, "ISR_1", "isr_exit"),
        (554_993, "R_1", "runnable_start"),
    ];
    assert_eq!(events(&rows), expected);
    assert!((0..9).all(|row| rows.lines.line(row) == 4 + row as u32));
}

#[test]
fn unknown_events_are_kept_and_reported_once_per_spelling() {
    let rows = functions("+1; f; fentry-tail\n+2; g; fentry-tail\n+3; f; kentry\n+4; f; fexit\n");
    assert_eq!(rows.kind, [16, 16, 16, 1]);
    assert_eq!(findings(&rows.log), [("unknown-function-event", 1), ("unknown-function-event", 3)]);
    assert!(rows.log.entries()[0].message.contains("fentry-tail"));
}

#[test]
fn lines_that_cannot_be_used_say_why() {
    for (line, code) in [
        ("+4x2; f; fentry\n", "bad-time"),
        ("f; g; fentry\n", "bad-time"),
        ("+99999999999999999999; f; fentry\n", "time-overflow"),
        ("+437050; EE_as_StartCore\n", "wrong-column-count"),
        ("fentry\n", "wrong-column-count"),
        ("+437050; EE_as", "truncated-line"),
        ("+437050; EE_as_StartCore; fent", "truncated-line"),
    ] {
        let rows = functions(&format!("+1; f; fentry\n{line}"));
        assert_eq!(findings(&rows.log), [(code, 2)], "{line}");
        assert_eq!(account(rows.counts), [2, 1, 0, 1, 0]);
    }
}

#[test]
fn headers_are_skipped() {
    let rows = functions("Function nesting\ntime; name; event\n# comment\n\n+1; f; fentry\n");
    assert_eq!(account(rows.counts), [5, 1, 0, 0, 4]);
    assert_eq!(findings(&rows.log), [("unknown-text", 1)]);
    assert_eq!(rows.log.count_at_least(crate::diagnostics::Severity::Warning), 0);
}

#[test]
fn gaps_are_kept() {
    let rows = functions(concat!(
        "+10; f; fentry\n",
        "+15; TARGET FIFO OVERFLOW; \n",
        "+20; fifo_overflow; fexit\n",
        "FLOW ERROR\n",
        "+30; ; fifofull\n",
        "+40; f; fexit\n",
    ));
    assert_eq!(account(rows.counts), [6, 3, 3, 0, 0]);
    let spans: Vec<_> = rows.gaps.iter().map(|g| (g.begin, g.end, g.reason.as_str())).collect();
    assert_eq!(
        spans,
        [
            (Some(10), Some(20), "target fifo overflow"),
            (Some(20), Some(40), "flow error"),
            (Some(20), Some(40), "fifofull")
        ]
    );
}

#[test]
fn other_scales_and_offsets() {
    for (scale, offset, expected) in
        [(TimeScale::Ps, 0, 1_500_000), (TimeScale::Ns, -500, 1000), (TimeScale::Us, 0, 2)]
    {
        let settings = ExportSettings { scale, offset, ..settings() };
        let rows = parse_functions(b"+1500; f; fentry\n+1500; f; fexit\n", &settings);
        assert_eq!(rows.time, [expected; 2]);
        assert_eq!(rows.counts.inexact_times, if scale == TimeScale::Us { 2 } else { 0 });
    }
}

#[test]
fn too_many_names_are_dropped_between_chunks() {
    let settings = settings();
    let mut parser = ExportParser::new(Grammar::Functions, settings);
    let many: String = (0..70_000).map(|n| format!("{n}; f{n}; fentry\n")).collect();
    let first = parser.chunk(many.as_bytes(), true);
    assert_eq!((first.first_name, first.names.len(), first.name[69_999]), (0, 70_000, 69_999));
    let second = parser.chunk(b"70000; f69999; fexit\n", false);
    assert_eq!((second.first_name, second.names, second.name), (0, TextList::from_iter(["f69999"]), vec![0]));
}
