//! Comments that mean something to btfdb: BTF has no word for a gap, in which the recorder lost events. Not
//! other comments.

const GAP: &str = "# gap of ";
const EVERYTHING: &str = "all cores";

/// The comment for a gap of a core, or of all of them.
pub fn gap(core: Option<&str>, reason: &str, (begin, end): (i64, i64), unit: &str) -> String {
    format!("{GAP}{}: {reason}, from {begin} to {end} {unit}", core.unwrap_or(EVERYTHING))
}

/// The core of the gap that a line tells of; `Some(None)` for a gap of all cores.
pub fn gap_in(line: &str) -> Option<Option<&str>> {
    let (core, _) = line.strip_prefix(GAP)?.rsplit_once(": ")?;
    Some((core != EVERYTHING).then_some(core))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_written_and_read() {
        let line = gap(Some("Core: 1"), "fifo_overflow", (5, 9), "ns");
        assert_eq!(line, "# gap of Core: 1: fifo_overflow, from 5 to 9 ns");
        assert_eq!(gap_in(&line), Some(Some("Core: 1")));
        assert_eq!(gap_in(&gap(None, "lost_buffer", (5, 9), "ns")), Some(None));
        assert_eq!((gap_in("# gap of time"), gap_in("# a gap"), gap_in("#gap of C: 1")), (None, None, None));
    }
}
