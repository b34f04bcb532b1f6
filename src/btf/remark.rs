//! Comments that mean something to btfdb, because BTF has no words for it: gaps, in which the recorder lost
//! events, handlers of one name on several cores, and names without an event. Not other comments.

const GAP: &str = "# gap of ";
const EVERYTHING: &str = "all cores";
const HANDLERS: &str = "# on each core another handler: ";
/// How a comment for an entity of the recording begins.
pub const KNOWN: &str = "# the recording has: ";
const PART: &str = "# a part of a trace, with the events of ";

/// What a comment says about the events that follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark<'a> {
    /// The recorder lost events.
    Gap {
        /// `None`: of all cores.
        core: Option<&'a str>,
        /// Why.
        reason: &'a str,
        /// The last instant before it and the first one after it.
        span: (i64, i64),
        /// What they count in, as written; the unit of the file if that is missing or none.
        unit: Option<&'a str>,
    },
    /// ISRs of this name are another process on each core (rule I9 of docs/mapping.md).
    Handlers(&'a str),
    /// The recording has an entity of this name, which may have no event here.
    Known(&'a str),
    /// Only events of some entities follow; what else happened is not in the file.
    Part,
}

/// The comment for a gap of a core, or of all of them.
pub fn gap(core: Option<&str>, reason: &str, (begin, end): (i64, i64), unit: &str) -> String {
    format!("{GAP}{}: {reason}, from {begin} to {end} {unit}", core.unwrap_or(EVERYTHING))
}

/// The comment, without its `# `, for ISRs of one name that are another process on each core.
pub fn handlers(name: &str) -> String {
    format!("{}{name}", HANDLERS.trim_start_matches("# "))
}

/// The comment, without its `# `, for an entity of the recording that a file is a slice of.
pub fn known(name: &str) -> String {
    format!("{}{name}", KNOWN.trim_start_matches("# "))
}

/// The comment, without its `# `, for a file that only has the events of some entities.
pub fn part(entities: &[String]) -> String {
    format!("{}{}", PART.trim_start_matches("# "), entities.join(", "))
}

/// What a line says.
pub fn read(line: &str) -> Option<Remark<'_>> {
    if let Some(name) = line.strip_prefix(HANDLERS) {
        return Some(Remark::Handlers(name.trim()));
    }
    if let Some(name) = line.strip_prefix(KNOWN) {
        return Some(Remark::Known(name.trim()));
    }
    if line.starts_with(PART) {
        return Some(Remark::Part);
    }
    let (what, span) = line.strip_prefix(GAP)?.rsplit_once(", from ")?;
    let (core, reason) = what.rsplit_once(": ")?;
    let (begin, end) = span.split_once(" to ")?;
    let mut words = end.split_whitespace();
    let span = (begin.parse().ok()?, words.next()?.parse().ok()?);
    Some(Remark::Gap { core: (core != EVERYTHING).then_some(core), reason, span, unit: words.next() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_are_written_and_read() {
        let line = gap(Some("Core: 1"), "fifo_overflow", (5, 9), "ns");
        assert_eq!(line, "# gap of Core: 1: fifo_overflow, from 5 to 9 ns");
        let on_core = |unit| {
            let (core, reason, span) = (Some("Core: 1"), "fifo_overflow", (5, 9));
            Some(Remark::Gap { core, reason, span, unit })
        };
        assert_eq!(read(&line), on_core(Some("ns")));
        assert_eq!(read(line.trim_end_matches(" ns")), on_core(None));
        let everywhere = Remark::Gap { core: None, reason: "lost_buffer", span: (-5, 9), unit: Some("ps") };
        assert_eq!(read(&gap(None, "lost_buffer", (-5, 9), "ps")), Some(everywhere));
        let line = format!("# {}", known("my task"));
        assert_eq!(read(&line), Some(Remark::Known("my task")));
        let line = format!("# {}", handlers("I_1"));
        assert_eq!(read(&line), Some(Remark::Handlers("I_1")));
        assert_eq!(read(&format!("# {}", part(&["T_1".into(), "T_2".into()]))), Some(Remark::Part));
        for other in ["# gap of time", "# a gap", "#gap of C: 1", "# gap of C: r, from x to 5 ns"] {
            assert_eq!(read(other), None);
        }
    }
}
