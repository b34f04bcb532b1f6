//! What a mapper made of its input, a line each, for its tests. Not for users (see `export`).

use super::{Finished, Mapper, Output};
use crate::btf::{Event, Names};

/// `!` is before events that were not recorded, `?` before an activation that was not, `=` before what is
/// known, `-` before what is lost; findings come last.
pub(super) fn lines<M: Mapper>(names: &Names, finished: &Finished<M>) -> Vec<String> {
    let name = |id| names.text(id);
    let event = |e: &Event| {
        let (source, target, action) = (name(e.source), name(e.target), e.action.as_str());
        format!("{} {source} {target}{} {action}", e.time, e.target_instance)
    };
    let output = |output: &Output| match output {
        Output::Event(e) => event(e),
        Output::Closing(e) => format!("!{}", event(e)),
        Output::Assumed(e) => format!("?{}", event(e)),
        Output::Known(k) => format!("={} {}{} {}", k.since, name(k.process.0), k.process.1, k.state.as_str()),
        Output::Lost { process, time } => format!("-{time} {}{}", name(process.0), process.1),
        Output::Gap { core, begin, end } => format!("gap {} {begin} {end}", name(*core)),
        Output::Handler { .. } => String::new(),
    };
    let found = finished.log.entries().iter().map(|finding| format!("{}: {}", finding.code, finding.message));
    finished.outputs.iter().map(output).chain(found).collect()
}
