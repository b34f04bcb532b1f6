//! Templates over events and states, judged in recordings: outcomes with the first violations and the events
//! that show them. Not for what templates mean (see [`crate::temporal`]), and not for reading events (see
//! `scan`).

mod scan;

use std::collections::{BTreeSet, HashMap, HashSet};

use super::known::Missing;
use super::templates::{Happening, Rule};
use super::watch::{Fed, Rank, Record, Watch};
use super::{Judged, Known, Outcome, Requirements, Shown, Verdict, Witness};
use crate::engine::Session;
use crate::error::{Error, ErrorKind, Result};
use crate::temporal::{self, During, Judgement, Monitor, Symbol, Template};
use crate::time::TimeScale;
use scan::{Edges, Listener, Scan};

/// How many violations of a requirement are shown.
const SHOWN: usize = 5;
/// Numbers for the events and the state of a template.
const SYMBOLS: u32 = 4;

/// The outcomes in these recordings: requirement by requirement, in the order of the file.
///
/// # Errors
/// For times that are none, with file and line; those of a query.
pub(super) fn of_temporal(
    session: &Session,
    known: &Known,
    requirements: &Requirements,
    recordings: &[String],
    scale: TimeScale,
) -> Result<Vec<Outcome>> {
    if requirements.temporal.is_empty() {
        return Ok(Vec::new());
    }
    let mut watch = Watch::default();
    let templates = templates(requirements, scale, &mut watch)?;
    let chosen: HashSet<&str> = recordings.iter().map(String::as_str).collect();
    let scan = Scan::new(session, &watch)?;
    let mut judge = Judge { requirements, templates: &templates, at: None, done: HashMap::new() };
    scan.read(&mut watch, |name| chosen.contains(name), &mut judge)?;
    judge.finish();
    let mut judged = judge.done;
    for recording in recordings.iter().filter(|name| !judged.contains_key(name.as_str())).collect::<Vec<_>>()
    {
        let nothing = monitor(requirements, &templates, 0)?.finish(0);
        judged.insert(recording.clone(), Of { judgements: nothing, seen: HashSet::new() });
    }
    let mut witnesses = Witnesses::of(&judged);
    if witnesses.missing > 0 {
        let wanted: HashSet<String> = witnesses.wanted.keys().cloned().collect();
        scan.read(&mut watch, |name| wanted.contains(name), &mut witnesses)?;
    }
    let mut outcomes = Vec::new();
    for (n, temporal) in requirements.temporal.iter().enumerate() {
        let rule = requirements.rule(temporal)?;
        let lacking = Lacking::of((session, known), (n, rule), recordings, &judged)?;
        let entities = rule.events().into_iter().map(|event| event.entity.as_str());
        let mut entities: Vec<&str> = entities.chain(rule.state().map(|state| &*state.entity)).collect();
        let mut seen = BTreeSet::new();
        entities.retain(|entity| seen.insert(*entity));
        for recording in recordings {
            let outcome = Outcome {
                recording: recording.clone(),
                requirement: temporal.name.get_ref().clone(),
                metric: "Temporal".to_owned(),
                entity: entities.join(", "),
                statistic: "violated".to_owned(),
                unit: "count",
                bound: "upper",
                limit: 0.0,
                ..Outcome::default()
            };
            let judgement = judged.get(recording).and_then(|of| of.judgements.get(n));
            outcomes.push(match (lacking.unknown.get(recording), judgement) {
                (Some(missing), _) => {
                    Outcome { verdict: missing.verdict, note: Some(missing.note.clone()), ..outcome }
                }
                (None, Some(judgement)) => {
                    let shown = witnesses.of_violations(recording, judgement);
                    of_judgement(outcome, judgement, shown, lacking.silent.get(recording))
                }
                (None, None) => outcome,
            });
        }
    }
    Ok(outcomes)
}

/// Each requirement as a template, whose events and state are watched.
fn templates(requirements: &Requirements, scale: TimeScale, watch: &mut Watch) -> Result<Vec<Template>> {
    let mut templates = Vec::new();
    for (n, temporal) in requirements.temporal.iter().enumerate() {
        let rule = requirements.rule(temporal)?;
        let state = symbol(n, 3);
        if let Some(condition) = rule.state() {
            let states = condition.states().map_err(|e| requirements.mistake(&condition.state, e))?;
            watch.state(&condition.entity, states, state);
        }
        let (asks, answers) = (|k: u32| (Rank::Asks, k), |k: u32| (Rank::Answers, k));
        let mut of = |event: &Happening, (rank, k): (Rank, u32)| {
            watch.event(event, rank, symbol(n, k));
            symbol(n, k)
        };
        templates.push(match rule {
            Rule::Response { a, b, within } => Template::Response {
                a: of(a, asks(0)),
                b: of(b, answers(1)),
                within: requirements.ticks("within", within, 0, scale)?,
            },
            Rule::During { a, .. } => Template::Absence { a: of(a, asks(0)), during: During::State(state) },
            Rule::Between { a, from, to } => Template::Absence {
                a: of(a, asks(1)),
                during: During::Between { from: of(from, (Rank::Begins, 0)), to: of(to, answers(2)) },
            },
            Rule::Rate { a, at_most, window } => Template::Rate {
                a: of(a, asks(0)),
                at_most,
                window: requirements.ticks("window", window, 1, scale)?,
            },
            Rule::Alternation { a, b } => Template::Alternation { a: of(a, asks(0)), b: of(b, answers(1)) },
            Rule::Hold { start, until, .. } => {
                Template::Hold { start: of(start, asks(0)), held: state, until: of(until, answers(1)) }
            }
        });
    }
    Ok(templates)
}

/// Number `k` of requirement `n`: its events in the order of [`Rule::events`], and 3 for its state.
fn symbol(n: usize, k: u32) -> Symbol {
    // Files have no more entries than symbols (`templates::MOST`).
    Symbol(u32::try_from(n).unwrap_or(u32::MAX).saturating_mul(SYMBOLS).saturating_add(k))
}

fn monitor(requirements: &Requirements, templates: &[Template], begin: i64) -> Result<Monitor> {
    let mut monitor = Monitor::new(templates, begin).map_err(|(n, mistake)| {
        let error = Error::input(mistake.to_string());
        match requirements.temporal.get(n) {
            Some(temporal) => requirements.mistake(&temporal.name, error),
            None => error,
        }
    })?;
    monitor.keep(SHOWN);
    Ok(monitor)
}

/// What is said of a recording.
struct Of {
    /// By requirement.
    judgements: Vec<Judgement>,
    /// The events that happened.
    seen: HashSet<Symbol>,
}

/// Judges recordings, one after the other.
struct Judge<'a> {
    requirements: &'a Requirements,
    templates: &'a [Template],
    /// The recording: its name, its end, its monitor, and the events that happened.
    at: Option<(String, i64, Monitor, HashSet<Symbol>)>,
    done: HashMap<String, Of>,
}

impl Judge<'_> {
    fn finish(&mut self) {
        if let Some((recording, end, monitor, seen)) = self.at.take() {
            self.done.insert(recording, Of { judgements: monitor.finish(end), seen });
        }
    }
}

impl Listener for Judge<'_> {
    fn begin(&mut self, recording: &str, edges: Edges, places: Vec<(Symbol, Vec<u32>)>) -> Result<()> {
        self.finish();
        let mut monitor = monitor(self.requirements, self.templates, edges.begin)?;
        places.iter().for_each(|(symbol, cores)| monitor.place(*symbol, cores));
        self.at = Some((recording.to_owned(), edges.end, monitor, HashSet::new()));
        Ok(())
    }

    fn records(&mut self, _: &Watch, records: &[Fed]) -> Result<bool> {
        let Some((_, _, monitor, seen)) = &mut self.at else { return Ok(true) };
        for fed in records {
            let taken = match fed.record {
                Record::Event(symbol) => {
                    seen.insert(symbol);
                    monitor.event(fed.time, symbol)
                }
                Record::State(symbol, begins) => monitor.state(fed.time, symbol, begins),
                Record::Gap { end, core } => monitor.gap(fed.time, end, core),
            };
            taken.map_err(|refused| {
                Error::new(ErrorKind::Bug, format!("the record at tick {} is not taken", fed.time))
                    .because(refused)
            })?;
        }
        Ok(true)
    }
}

/// The records that show violations: a second pass finds them, so that the first one need not keep all.
#[derive(Default)]
struct Witnesses {
    /// By recording and number.
    wanted: HashMap<String, HashMap<u64, Option<Witness>>>,
    missing: usize,
    /// The recording, and the number of its next record.
    at: (String, u64),
}

impl Witnesses {
    fn of(judged: &HashMap<String, Of>) -> Self {
        let mut witnesses = Self::default();
        for (recording, of) in judged {
            let violations = of.judgements.iter().flat_map(|judgement| &judgement.violations);
            let all = violations.flat_map(|violation| &violation.witnesses);
            let wanted: HashMap<u64, Option<Witness>> = all.map(|witness| (witness.index, None)).collect();
            if !wanted.is_empty() {
                witnesses.missing += wanted.len();
                witnesses.wanted.insert(recording.clone(), wanted);
            }
        }
        witnesses
    }

    fn of_violations(&self, recording: &str, judgement: &Judgement) -> Vec<Shown> {
        let found = |witness: &temporal::Witness| {
            self.wanted
                .get(recording)?
                .get(&witness.index)?
                .clone()
                .filter(|found| found.time == witness.time)
        };
        let shown = |violation: &temporal::Violation| Shown {
            begin: violation.begin,
            end: violation.end,
            witnesses: violation.witnesses.iter().filter_map(found).collect(),
        };
        judgement.violations.iter().map(shown).collect()
    }
}

impl Listener for Witnesses {
    fn begin(&mut self, recording: &str, _: Edges, _: Vec<(Symbol, Vec<u32>)>) -> Result<()> {
        self.at = (recording.to_owned(), 0);
        Ok(())
    }

    fn records(&mut self, watch: &Watch, records: &[Fed]) -> Result<bool> {
        let (recording, next) = &mut self.at;
        let Some(wanted) = self.wanted.get_mut(recording) else { return Ok(true) };
        for fed in records.iter().filter(|fed| !matches!(fed.record, Record::Gap { .. })) {
            if let Some(place) = wanted.get_mut(next).filter(|place| place.is_none()) {
                let (seq, event) = (fed.origin.map(|origin| origin.seq), watch.describe(fed));
                *place = Some(Witness { time: fed.time, seq, event });
                self.missing -= 1;
            }
            *next += 1;
        }
        Ok(self.missing > 0)
    }
}

/// Why something never happens, by recording.
#[derive(Default)]
struct Lacking {
    /// It has a name that nothing has.
    unknown: HashMap<String, Missing>,
    /// It is what makes an obligation.
    silent: HashMap<String, Missing>,
}

impl Lacking {
    fn of(
        (session, known): (&Session, &Known),
        (n, rule): (usize, Rule<'_>),
        recordings: &[String],
        judged: &HashMap<String, Of>,
    ) -> Result<Self> {
        let mut lacking = Self::default();
        // What makes an obligation: a state, or the first event.
        let is_of_state = matches!(rule, Rule::During { .. });
        if let Some(missing) = rule.state().and_then(|state| known.missing(&state.entity)) {
            recordings.iter().for_each(|name| lacking.add(name.clone(), missing.clone()));
        }
        for (k, event) in (0..).zip(rule.events()) {
            let has = |name: &&String| judged.get(*name).is_some_and(|of| of.seen.contains(&symbol(n, k)));
            let without: Vec<String> = recordings.iter().filter(|name| !has(name)).cloned().collect();
            if without.is_empty() {
                continue;
            }
            for (recording, missing) in known.lacking(session, &without, &[event.step()])? {
                if (k == 0 && !is_of_state) || missing.verdict == Verdict::Unknown {
                    lacking.add(recording, missing);
                }
            }
        }
        Ok(lacking)
    }

    fn add(&mut self, recording: String, missing: Missing) {
        let is_unknown = missing.verdict == Verdict::Unknown;
        let of = if is_unknown { &mut self.unknown } else { &mut self.silent };
        of.entry(recording).or_insert(missing);
    }
}

fn of_judgement(
    outcome: Outcome,
    judgement: &Judgement,
    violations: Vec<Shown>,
    silent: Option<&Missing>,
) -> Outcome {
    let counts = judgement.counts;
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    if counts.obligations() == 0 {
        let nothing = || "nothing that it is about happens".to_owned();
        let note = silent.map_or_else(nothing, |missing| missing.note.clone());
        return Outcome { verdict: Verdict::NoSamples, note: Some(note), ..outcome };
    }
    let verdict = match judgement.verdict {
        temporal::Verdict::Kept => Verdict::Kept,
        temporal::Verdict::Violated => Verdict::Violated,
        temporal::Verdict::MayStillBeKept => Verdict::MayStillBeKept,
        temporal::Verdict::MayStillBeViolated => Verdict::MayStillBeViolated,
    };
    let is_presumed = matches!(verdict, Verdict::MayStillBeKept | Verdict::MayStillBeViolated);
    Outcome {
        value: Some(counts.violated as f64),
        margin: Some(0.0 - counts.violated as f64),
        at: judgement.violations.first().map(|violation| violation.begin),
        samples: number(counts.obligations()),
        incomplete: number(counts.open.saturating_add(counts.unknown)),
        violations: Some(number(counts.violated)),
        verdict,
        note: is_presumed.then(|| why(&counts, silent)),
        judged: Some(Judged {
            kept: number(counts.kept),
            open: number(counts.open),
            unknown: number(counts.unknown),
            missing: number(counts.missing),
            blind: number(counts.blind),
            violations,
        }),
        ..outcome
    }
}

/// What a verdict that is not certain hangs on.
fn why(counts: &temporal::Counts, silent: Option<&Missing>) -> String {
    let parts = [
        (counts.open, "open at the end of the recording"),
        (counts.unknown, "hidden by a gap or an edge"),
        (counts.blind, "possibly hidden as a whole"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, what)| format!("{count} {what}")).collect();
    let silent = silent.map_or_else(String::new, |missing| format!("; {}", missing.note));
    format!("not decided: {}{silent}", parts.join(", "))
}

#[cfg(test)]
mod tests;
