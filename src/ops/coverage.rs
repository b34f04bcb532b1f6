//! Which part of a recording the exports of each core cover: every core may have a trace buffer of its own,
//! which begins and ends at times of its own. Not the losses that an export states itself (see `formats`).

use super::describe::time_range;
use super::extent::Extent;
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::Result;
use crate::formats::{FROM_BEGIN, Gap};
use crate::store::Transaction;
use crate::time::format_duration;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The reason of a gap between the begin of the recording and that of a core.
pub(super) const NOT_RECORDED: &str = "not_recorded";
/// The code of the finding about it.
const BEGINS_LATER: &str = "core-begins-later";
/// The code of findings about cores whose last record is long before the end.
const ENDS_EARLIER: &str = "core-ends-earlier";
/// With fewer rows, the silences of a core say nothing about it: it may have started, and slept ever since.
const FEWEST_ROWS: u64 = 50;

/// The times of an export of a core.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CoreExtent {
    pub core: String,
    /// Which export of the core it is.
    pub role: String,
    pub extent: Extent,
}

/// Whether a finding is one of [`uncovered`], which a further piece of the recording may change.
pub(super) fn is_about_coverage(code: &str) -> bool {
    [BEGINS_LATER, ENDS_EARLIER].contains(&code)
}

/// The gaps between the begin of the recording and the first record of each core, and findings about them. A
/// core whose first record is late may have been silent, so this is one only if it is never silent for so
/// long later. At the end it is a finding only: a core that has done its work sleeps. `known` are the gaps
/// that the exports state.
pub(super) fn uncovered(
    tx: &Transaction,
    recording: &str,
    exports: &[CoreExtent],
    known: &[Gap],
    log: &mut Log,
) -> Result<Vec<Gap>> {
    let mut cores: BTreeMap<&str, Extent> = BTreeMap::new();
    for CoreExtent { core, extent, .. } in exports {
        cores.entry(core).and_modify(|known| *known = known.with(*extent)).or_insert(*extent);
    }
    let scale = tx.time_scale();
    let text = |ticks| format_duration(ticks, scale);
    let (begin, end) = time_range(tx, recording)?;
    let mut gaps = Vec::new();
    for (core, extent) in cores.into_iter().filter(|(_, extent)| extent.rows >= FEWEST_ROWS) {
        let states = |is_there: &dyn Fn(&Gap) -> bool| {
            known.iter().any(|gap| gap.core.as_deref().is_none_or(|of| of == core) && is_there(gap))
        };
        let mut find = |code, message| {
            let (source, severity, text) = (recording.to_owned(), Severity::Warning, String::new());
            log.push(Diagnostic { source, line: None, severity, code, message, text });
        };
        let late = begin.map_or(0, |begin| extent.first.saturating_sub(begin));
        let early = end.map_or(0, |end| end.saturating_sub(extent.last));
        let silence = text(extent.silence);
        if late > extent.silence && !states(&|gap| gap.begin == FROM_BEGIN || Some(gap.begin) == begin) {
            let message = format!(
                "the first record of {core} is {} after the begin of the recording, and later it is never silent for \
                 longer than {silence}: nothing is known of it before, which is a gap",
                text(late)
            );
            find(BEGINS_LATER, message);
            let (core, reason) = (Some(core.to_owned()), NOT_RECORDED.to_owned());
            gaps.push(Gap { begin: FROM_BEGIN, end: Some(extent.first), core, reason });
        }
        if early > extent.silence && !states(&|gap| gap.end.is_none()) {
            let message = format!(
                "the last record of {core} is {} before the end of the recording, and earlier it is never silent for \
                 longer than {silence}: it sleeps, or its trace ends there, and then what is said of it afterwards \
                 is not known",
                text(early)
            );
            find(ENDS_EARLIER, message);
        }
    }
    Ok(gaps)
}
