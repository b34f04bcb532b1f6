//! The style of states and marks: colour, pattern and shape, so that they differ on black-and-white paper and
//! for colour-blind readers. Not for where they are.

use crate::picture::{MarkKind, RowKind, State};

/// The pattern within a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    Plain,
    Dots,
    Rising,
    Falling,
    Upright,
    Level,
    Crossed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StateStyle {
    pub fill: &'static str,
    pub ink: &'static str,
    pub edge: &'static str,
    pub pattern: Pattern,
    /// Share of the track's height, in percent.
    pub height: i64,
    /// Colour of text in it.
    pub words: &'static str,
}

/// As in Grasp, running is filled and preempted is white; the others are in between.
pub(super) fn style_of(state: State) -> StateStyle {
    use Pattern::{Crossed, Dots, Falling, Level, Plain, Rising, Upright};
    let (fill, ink, edge, pattern, height, words) = match state {
        State::Running => ("#5b84b1", "#5b84b1", "#2f4d70", Plain, 100, "#ffffff"),
        State::Critical => ("#2f4d70", "#a9bfd8", "#1d3047", Rising, 100, "#ffffff"),
        State::Ready => ("#ffffff", "#ffffff", "#555555", Plain, 100, "#333333"),
        State::Active => ("#fdf3d0", "#a58a2e", "#8a7430", Dots, 55, "#333333"),
        State::Waiting => ("#e3eee0", "#6d9565", "#6d8a66", Level, 35, "#333333"),
        State::Polling => ("#f2b66d", "#8a4b08", "#8a4b08", Falling, 100, "#222222"),
        State::Parking => ("#fbe6cc", "#b36a1e", "#8a4b08", Upright, 100, "#222222"),
        State::Held => ("#7a7a7a", "#7a7a7a", "#404040", Plain, 100, "#ffffff"),
        State::Wanted => ("#ffffff", "#b04a4a", "#8c3a3a", Rising, 100, "#333333"),
        State::Gap => ("#eeeeee", "#999999", "#999999", Crossed, 100, "#333333"),
        State::Suspended => ("#ffffff", "#ffffff", "#555555", Plain, 55, "#333333"),
        State::Executes => ("#5b84b1", "#5b84b1", "#2f4d70", Plain, 100, "#ffffff"),
        State::Delayed => ("#efe6cf", "#efe6cf", "#8a7430", Plain, 100, "#222222"),
        State::Kernel => ("#c4c4c4", "#5e5e5e", "#5e5e5e", Upright, 100, "#222222"),
        State::Blocked => ("#8c2d3f", "#dfa0ab", "#5a1724", Rising, 100, "#ffffff"),
        State::Awaits => ("#bfe3c0", "#3f8f5a", "#2f6b43", Level, 100, "#222222"),
        State::Unknown => ("#eeeeee", "#999999", "#999999", Crossed, 100, "#333333"),
    };
    StateStyle { fill, ink, edge, pattern, height, words }
}

/// Colours of processes, and of words on them: neighbours differ in lightness, so that no two are alike for
/// colour-blind readers either.
const PROCESSES: [(&str, &str); 12] = [
    ("#3a63b0", "#ffffff"),
    ("#f6e27a", "#222222"),
    ("#1f8452", "#ffffff"),
    ("#f3b4a4", "#222222"),
    ("#4a1f78", "#ffffff"),
    ("#86e3cf", "#222222"),
    ("#7a5a18", "#ffffff"),
    ("#a9cdf2", "#222222"),
    ("#0c4048", "#ffffff"),
    ("#c79be6", "#222222"),
    ("#80184c", "#ffffff"),
    ("#a8cf6e", "#222222"),
];

/// With more processes than colours, the colours come again, with the next pattern.
const PATTERNS: [Pattern; 7] = [
    Pattern::Plain,
    Pattern::Rising,
    Pattern::Level,
    Pattern::Falling,
    Pattern::Upright,
    Pattern::Crossed,
    Pattern::Dots,
];

/// The look of the process with a number in [`crate::picture::Picture::colours`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessStyle {
    pub fill: &'static str,
    pub words: &'static str,
    pub pattern: Pattern,
}

pub(super) fn style_of_process(colour: u16) -> ProcessStyle {
    let colour = usize::from(colour);
    let (fill, words) = PROCESSES[colour % PROCESSES.len()];
    ProcessStyle { fill, words, pattern: PATTERNS[colour / PROCESSES.len() % PATTERNS.len()] }
}

/// The name of a state in the legend, by kind of row.
pub(super) fn word(state: State, kind: RowKind) -> &'static str {
    match (state, kind) {
        (State::Running, _) => "running",
        (State::Critical, _) => "critical section",
        (State::Ready, _) => "ready, preempted",
        (State::Active, _) => "activated, not started",
        (State::Waiting, _) => "waiting",
        (State::Polling, _) => "polling",
        (State::Parking, _) => "parking",
        (State::Held, RowKind::Event) => "event set",
        (State::Held, _) => "held",
        (State::Wanted, RowKind::Event) => "event waited for",
        (State::Wanted, _) => "waited for",
        (State::Gap, _) => "not recorded",
        (State::Suspended, _) => "suspended",
        (State::Executes, _) => "executes",
        (State::Delayed, _) => "behind another one",
        (State::Kernel, _) => "the kernel is at work",
        (State::Blocked, _) => "waits for a lock",
        (State::Awaits, _) => "waits for an event",
        (State::Unknown, _) => "not known",
    }
}

/// The name of a mark in the legend.
pub(super) fn mark_word(kind: MarkKind) -> &'static str {
    match kind {
        MarkKind::Activation => "activation",
        MarkKind::Deadline => "deadline",
        MarkKind::Termination => "end",
        MarkKind::Migration => "migration",
        MarkKind::ActivationLost => "activation lost",
        MarkKind::Violation => "violation",
        MarkKind::Write => "write",
        MarkKind::Read => "read",
        MarkKind::Set => "event set",
        MarkKind::Wait => "wait for event",
        MarkKind::Clear => "event cleared",
        MarkKind::Trigger => "stimulus",
        MarkKind::Replenished => "budget replenished",
        MarkKind::Depleted => "budget depleted",
        MarkKind::Message => "message",
    }
}

/// The shape of a mark, relative to its point: a path, and how it is painted.
pub(super) fn shape(kind: MarkKind) -> (&'static str, &'static str) {
    const LINE: &str = "fill='none' stroke='#222222'";
    const FILLED: &str = "fill='#222222'";
    const ALARM: &str = "fill='#c22525' stroke='#c22525'";
    match kind {
        MarkKind::Activation => ("M0-10V0M-2.5-4L0 0L2.5-4", LINE),
        MarkKind::Deadline => ("M0 0V-10M-2.5-6L0-10L2.5-6", LINE),
        MarkKind::Termination => ("M0-10V0M-2 0H2", LINE),
        MarkKind::Migration => ("M-3-7L2-4L-3-1Z", FILLED),
        MarkKind::ActivationLost => (
            "M0-11V0M-3-4L0 0L3-4M-3.5-11L3.5-5M3.5-11L-3.5-5",
            "fill='none' stroke='#c22525' stroke-width='1.4'",
        ),
        MarkKind::Violation => ("M0-11L4.5-2.5H-4.5Z", ALARM),
        MarkKind::Write => ("M-2.5-5H2.5L0 0Z", FILLED),
        MarkKind::Read => ("M-2.5-5H2.5L0 0Z", LINE),
        MarkKind::Set => ("M0-9V0M0-9L5-6.5L0-4", "fill='#222222' stroke='#222222'"),
        MarkKind::Wait => ("M-2.5-6V0M2.5-6V0", LINE),
        MarkKind::Clear => ("M-2.5-5L2.5 0M2.5-5L-2.5 0", LINE),
        MarkKind::Trigger => ("M0-9L3-4.5L0 0L-3-4.5Z", FILLED),
        MarkKind::Replenished => ("M0 0L3-5H-3Z", LINE),
        MarkKind::Depleted => ("M0 0L3-5H-3Z", FILLED),
        MarkKind::Message => ("M0 0L2.5-2.5H4.5V-8H-4.5V-2.5H-2.5Z", "fill='#fff6c9' stroke='#222222'"),
    }
}

pub(super) fn heading(kind: RowKind) -> &'static str {
    match kind {
        RowKind::Core => "Cores",
        RowKind::Task | RowKind::Isr | RowKind::Response => "Tasks and ISRs",
        RowKind::Runnable => "Runnables",
        RowKind::Semaphore => "Semaphores",
        RowKind::Event => "OS events",
        RowKind::Signal => "Signals",
        RowKind::Stimulus => "Stimuli",
        RowKind::Server => "Servers",
        RowKind::Buffer => "Buffers",
        RowKind::Trace | RowKind::Recording => "Recording",
    }
}

/// The lines of a pattern in a tile of 6 by 6 pixels; `None` for plain ones.
pub(super) fn lines(pattern: Pattern) -> Option<&'static str> {
    match pattern {
        Pattern::Plain => None,
        Pattern::Dots => Some("M1.5 1.5h.01M4.5 4.5h.01"),
        Pattern::Rising => Some("M-1 1L1-1M0 6L6 0M5 7L7 5"),
        Pattern::Falling => Some("M-1 5L1 7M0 0L6 6M5-1L7 1"),
        Pattern::Upright => Some("M1.5 0V6M4.5 0V6"),
        Pattern::Level => Some("M0 1.5H6M0 4.5H6"),
        Pattern::Crossed => Some("M0 6L6 0M0 0L6 6"),
    }
}

/// A tile of a pattern.
fn tile(id: &str, pattern: Pattern, (fill, ink): (&str, &str), out: &mut String) {
    let Some(path) = lines(pattern) else { return };
    let cap = if pattern == Pattern::Dots { " stroke-width='1.4' stroke-linecap='round'" } else { "" };
    out.push_str(&format!(
        "<pattern id='{id}' width='6' height='6' patternUnits='userSpaceOnUse'>\
         <path d='M0 0H6V6H0Z' fill='{fill}'/><path d='{path}' fill='none' stroke='{ink}'{cap}/></pattern>"
    ));
}

/// The style rules of the drawing, and its tiles and shapes for the states, marks and colours of processes
/// that occur.
pub(super) fn definitions(states: &[State], marks: &[MarkKind], colours: &[u16], out: &mut String) {
    out.push_str("<style>");
    out.push_str("text{font-family:");
    out.push_str(super::text::FAMILY);
    out.push_str(";fill:#222222}.s{stroke-width:.6}.g{stroke:#e4e4e4;stroke-width:1;fill:none}");
    out.push_str(".f{stroke:#f2f2f2;stroke-width:1;fill:none}.q{fill:#666666}.w{text-anchor:middle;pointer-events:none}");
    out.push_str(".l{stroke:#555555;stroke-width:.8;stroke-dasharray:3 2;fill:none}.b{fill:#dfe4ec}.bar{fill:none;stroke:#5b84b1}.behind{fill:none;stroke:#dfe4ec}");
    let paint = |plain: &str, pattern: Pattern, id: &str| match pattern {
        Pattern::Plain => plain.to_owned(),
        _ => format!("url(#{id})"),
    };
    for state in states {
        let (name, style_of) = (state.as_str(), style_of(*state));
        let fill = paint(style_of.fill, style_of.pattern, &format!("t-{name}"));
        out.push_str(&format!(".{name}{{fill:{fill};stroke:{}}}", style_of.edge));
        if State::of_responses().contains(state) {
            out.push_str(&format!(".i-{name}{{fill:{}}}", style_of.words));
        }
    }
    for n in colours {
        let style_of = style_of_process(*n);
        let fill = paint(style_of.fill, style_of.pattern, &format!("q-{n}"));
        out.push_str(&format!(".p{n}{{fill:{fill};stroke:#333333}}"));
    }
    out.push_str(".v{fill:#ffffff}</style><defs>");
    for state in states {
        let style_of = style_of(*state);
        tile(&format!("t-{}", state.as_str()), style_of.pattern, (style_of.fill, style_of.ink), out);
    }
    for n in colours {
        let style_of = style_of_process(*n);
        tile(&format!("q-{n}"), style_of.pattern, (style_of.fill, style_of.words), out);
    }
    for kind in marks {
        let (path, paint) = shape(*kind);
        out.push_str(&format!("<path id='k-{}' d='{path}' {paint}/>", kind.as_str()));
    }
    out.push_str("</defs>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// 0 to 255, weighted as the eye does.
    fn lightness(colour: &str) -> u32 {
        let part = |at: usize| u32::from_str_radix(&colour[at..at + 2], 16).unwrap();
        (299 * part(1) + 587 * part(3) + 114 * part(5)) / 1000
    }

    #[test]
    fn states_differ_without_colour() {
        let of_rows = [
            State::Active,
            State::Running,
            State::Ready,
            State::Waiting,
            State::Polling,
            State::Parking,
            State::Critical,
        ];
        let all = of_rows.iter().enumerate().map(|(n, one)| (*one, &of_rows[n + 1..]));
        let of_paths = State::of_responses();
        for (one, others) in all.chain(of_paths.iter().enumerate().map(|(n, one)| (*one, &of_paths[n + 1..])))
        {
            for other in others.iter().copied() {
                let (a, b) = (style_of(one), style_of(other));
                let shade = lightness(a.fill).abs_diff(lightness(b.fill));
                assert!(a.pattern != b.pattern || shade > 100, "{one:?} and {other:?} look alike on paper");
            }
        }
    }

    #[test]
    fn words_can_be_read_on_what_they_stand_on() {
        for state in State::ALL {
            let style_of = style_of(state);
            assert!(lightness(style_of.words).abs_diff(lightness(style_of.fill)) > 110, "{state:?}");
            assert!(
                lightness(style_of.ink).abs_diff(lightness(style_of.fill)) > 60
                    || style_of.pattern == Pattern::Plain,
                "{state:?}"
            );
        }
    }

    #[test]
    fn processes_have_looks_of_their_own() {
        let looks: Vec<_> = (0..84).map(style_of_process).collect();
        assert!(looks.iter().take(12).all(|look| look.pattern == Pattern::Plain));
        for (n, one) in looks.iter().enumerate() {
            assert!(looks.iter().skip(n + 1).all(|other| other != one), "{n}");
            assert!(lightness(one.words).abs_diff(lightness(one.fill)) > 110, "{n}");
        }
        assert_eq!(style_of_process(84), style_of_process(0));
        let _ = style_of_process(u16::MAX);
    }

    #[test]
    fn a_page_has_the_same_colours() {
        let page = include_str!("../html/page/style.css");
        let (light, _) = page.split_once("@media").unwrap();
        let has = |name: &str, colour: &str| light.contains(&format!(" --{name}: {colour};"));
        for state in State::ALL {
            assert!(has(state.as_str(), style_of(state).fill), "{state:?}");
        }
        for (n, (colour, _)) in PROCESSES.iter().enumerate() {
            assert!(has(&format!("name-{n}"), colour), "{n}");
        }
        assert_eq!(page.matches("--name-0:").count(), 1, "the same in the dark");
        let script = include_str!("../html/page/colours.js");
        let names = PATTERNS.map(|pattern| match pattern {
            Pattern::Plain => "null".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        });
        let patterns = names.map(|name| if name == "null" { name } else { format!("\"{name}\"") }).join(", ");
        assert!(script.contains(&format!("NAME_PATTERNS = [{patterns}]")), "{patterns}");
        assert!(script.contains(&format!("NAME_COLOURS = {};", PROCESSES.len())));
    }

    #[test]
    fn every_mark_has_a_shape_of_its_own() {
        let shapes: BTreeSet<_> = MarkKind::ALL.map(shape).into_iter().collect();
        assert_eq!(shapes.len(), MarkKind::COUNT);
        let words: BTreeSet<_> = MarkKind::ALL.map(mark_word).into_iter().collect();
        assert!(
            words.len() >= MarkKind::COUNT - 1,
            "an event that is set looks and reads the same in both rows"
        );
    }
}
