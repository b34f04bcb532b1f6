//! `check`: the recordings of a trace against the rules of BTF. Not the rules (see [`mod@crate::check`] and
//! [`crate::formats::grasp`]).

use super::map::grasp_faults;
use super::open::Trace;
use crate::btf::spec::Version;
use crate::check::{CheckOptions, Checker, Report};
use crate::engine::StoredRecords;
use crate::error::{Error, Result};
use crate::export::{Gaps, Translation, Translator};

/// Checks the recordings of a trace, or one of them, against a version of BTF: the given one, else that of
/// the recording. A mapped recording has no version of its own: its events are checked in the terms of the
/// version, as export writes them. A report per recording, with its name.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when there is no recording; those of a query.
pub fn check(trace: &Trace, version: Option<Version>) -> Result<Vec<(String, Report)>> {
    if trace.recordings.is_empty() {
        return Err(
            Error::usage(format!("'{}' holds no recording", trace.name)).hint("`btfdb ingest` adds one")
        );
    }
    let of = |name: &String| Ok((name.clone(), check_recording(trace, name, version)?));
    trace.recordings.iter().map(of).collect()
}

fn check_recording(trace: &Trace, recording: &str, version: Option<Version>) -> Result<Report> {
    let mut records = StoredRecords::open(&trace.session, recording)?;
    let header = records.has_lines();
    let (translator, mut gaps) = match header {
        true => (None, Gaps::default()),
        false => {
            let translator = Translator::for_version(&trace.session, recording, version)?;
            (Some(translator), Gaps::read(&trace.session, recording)?)
        }
    };
    let version = translator.as_ref().map(|translator| translator.version).or(version);
    let mut checker = Checker::new(CheckOptions { version, header });
    // The lines before an event are checked before it.
    let mut others = Vec::new();
    loop {
        let next = records.next_with(|line, text| others.push((line, text.to_owned())))?;
        others.drain(..).for_each(|(line, text)| checker.other_line(line, &text));
        let Some((place, record)) = next else { break };
        gaps.before(record.time, |core, _| checker.gap(core));
        match translator.as_ref().map(|translator| translator.translate(&record)) {
            None => checker.event(place, &record),
            Some(Translation::Whole(record)) => checker.event(place, &record),
            Some(Translation::Partly(translation)) => {
                checker.not_expressible(place, &record);
                checker.event(place, &translation);
            }
            Some(Translation::None) => checker.not_expressible(place, &record),
        }
    }
    let mut report = checker.finish();
    for (line, fault) in grasp_faults(trace.session.database(), recording)? {
        let line = u64::try_from(line).ok().filter(|line| *line > 0);
        report.add(fault.rule.as_str(), line, fault.time, fault.message);
    }
    Ok(report)
}
