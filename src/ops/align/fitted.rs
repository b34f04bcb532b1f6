//! Fits one clock after the other: those that have messages with clocks that are known. Not how a clock is
//! fitted (see [`crate::clocks`]).

use super::finding;
use super::sightings::RuleMessage;
use crate::clocks::{Alignment, Fate, Limit, Limits};
use crate::description::ClocksFile;
use crate::diagnostics::{Log, Severity};
use crate::error::{Error, Result};
use crate::time::TimeScale;
use std::collections::HashSet;

/// All clocks, the messages with what became of them, and findings.
pub(super) struct Fit {
    pub alignments: Vec<Alignment>,
    pub messages: Vec<RuleMessage>,
    pub log: Log,
}

/// `spans`: first and last time of each clock.
pub(super) fn fit(
    clocks: &ClocksFile,
    spans: &[(i64, i64)],
    mut messages: Vec<RuleMessage>,
    scale: TimeScale,
) -> Result<Fit> {
    let wander = clocks.wander()?;
    let mut known: Vec<Option<Alignment>> = vec![None; clocks.clock.len()];
    for (n, (place, span)) in known.iter_mut().zip(spans).enumerate() {
        if n == clocks.reference() {
            *place = Some(Alignment::reference(span.0));
        } else if let Some(given) = clocks.given(n, scale)? {
            *place = Some(Alignment::given(given.offset, given.rate, given.error, span.0)?);
        }
    }
    let mut log = Log::default();
    while known.iter().any(Option::is_none) {
        // One that cannot be fitted yet may be, when others are known.
        let (mut fits, mut why) = (None, None);
        for clock in by_messages(&known, &messages) {
            let span = spans.get(clock).copied().unwrap_or_default();
            match Alignment::fitted(limits(clock, &known, &messages), wander, span) {
                Ok(fitted) => {
                    fits = Some((clock, fitted));
                    break;
                }
                Err(e) => why = why.or(clocks.clock.get(clock).map(|c| clocks.mistake(&c.recording, e))),
            }
        }
        let Some((clock, (fitted, refused))) = fits else {
            return Err(why.unwrap_or_else(|| unconnected(clocks, &known)));
        };
        let refused: HashSet<Limit> = refused.into_iter().collect();
        for of in &mut messages {
            if limit(clock, &known, of).is_some_and(|(_, limit)| refused.contains(&limit)) {
                of.message.fate = Fate::Refused;
            }
        }
        if fitted.proven_wander > wander {
            log.push(finding(
                Severity::Warning,
                "clock-wanders",
                format!(
                    "the rate of the clock of '{}' differs from its mean by {:.3} ppm at least, more than the {:.3} ppm \
                     that wander_ppm assumes: bounds are of twice as much",
                    clocks.ecu(clock),
                    fitted.proven_wander * 1e6,
                    wander * 1e6,
                ),
            ));
        }
        if let Some(place) = known.get_mut(clock) {
            *place = Some(fitted);
        }
    }
    let alignments: Vec<Alignment> = known.into_iter().flatten().collect();
    // A message that is beyond the error of clocks that were given.
    for of in &mut messages {
        if of.message.fate == Fate::Used
            && let (Some(sent), Some(received)) = (of.message.sent, of.message.received)
            && let (Some(from), Some(to)) = (alignments.get(sent.0), alignments.get(received.0))
            && let (sent, received) = (from.aligned(sent.1), to.aligned(received.1.saturating_add(of.within)))
            && received.saturating_add(to.bound(received).late) < sent.saturating_sub(from.bound(sent).early)
        {
            of.message.fate = Fate::Refused;
        }
    }
    report(&messages, &mut log);
    Ok(Fit { alignments, messages, log })
}

/// The unknown clocks that have messages with known ones, those with the most first.
fn by_messages(known: &[Option<Alignment>], messages: &[RuleMessage]) -> Vec<usize> {
    let unknown = (0..known.len()).filter(|n| known.get(*n).is_some_and(Option::is_none));
    let count = |clock: usize| messages.iter().filter(|of| limit(clock, known, of).is_some()).count();
    let mut counted: Vec<_> = unknown.map(|clock| (count(clock), clock)).collect();
    counted.retain(|(count, _)| *count > 0);
    counted.sort_by_key(|(count, clock)| (std::cmp::Reverse(*count), *clock));
    counted.into_iter().map(|(_, clock)| clock).collect()
}

/// What a message says about a clock, and whether "at most": if it is used, and its other clock is known.
fn limit(clock: usize, known: &[Option<Alignment>], of: &RuleMessage) -> Option<(bool, Limit)> {
    let (sent, received) = (of.message.sent?, of.message.received?);
    if of.message.fate != Fate::Used {
        return None;
    }
    let (is_most, other, local) = match clock {
        _ if clock == received.0 => (true, sent, received.1.saturating_add(of.within)),
        _ if clock == sent.0 => (false, received, sent.1.saturating_sub(of.within)),
        _ => return None,
    };
    let other_clock = known.get(other.0)?.as_ref()?;
    let reference = other_clock.aligned(other.1);
    let bound = other_clock.bound(reference);
    let sure =
        if is_most { reference.saturating_sub(bound.early) } else { reference.saturating_add(bound.late) };
    Some((is_most, Limit { reference, sure, local }))
}

fn limits(clock: usize, known: &[Option<Alignment>], messages: &[RuleMessage]) -> Limits {
    let mut limits = Limits::default();
    for (is_most, limit) in messages.iter().filter_map(|of| limit(clock, known, of)) {
        if is_most { limits.at_most.push(limit) } else { limits.at_least.push(limit) }
    }
    limits
}

fn unconnected(clocks: &ClocksFile, known: &[Option<Alignment>]) -> Error {
    let first = known.iter().position(Option::is_none).unwrap_or(0);
    let message = format!("no message is between '{}' and a clock that is known", clocks.ecu(first));
    let error = Error::input(message).hint(
        "do the statements of the rules give rows, in both recordings? is the key the same on both sides? run them \
         with btfdb query",
    );
    match clocks.clock.get(first) {
        Some(clock) => clocks.mistake(&clock.recording, error),
        None => error,
    }
}

/// Messages that were not used are counted.
fn report(messages: &[RuleMessage], log: &mut Log) {
    for fate in Fate::ALL {
        let of: Vec<_> = messages.iter().filter(|of| of.message.fate == fate).collect();
        let (Some(first), count) = (of.first(), of.len()) else { continue };
        let (severity, code, what) = match fate {
            Fate::Used | Fate::Own => continue,
            Fate::NotReceived => {
                (Severity::Info, "not-received", "messages were sent, and nobody received them")
            }
            Fate::NotSent => (Severity::Info, "not-sent", "messages were received, and nobody sent them"),
            Fate::Ambiguous => {
                (Severity::Warning, "ambiguous-key", "sends and receives have a key that is not unique")
            }
            Fate::Refused => (Severity::Warning, "contradiction", "messages contradict the others"),
        };
        let key = &first.message.key;
        log.push(finding(severity, code, format!("{count} {what}, first '{key}' of {}", first.rule)));
    }
}
