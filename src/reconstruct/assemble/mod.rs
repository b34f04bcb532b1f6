//! What was seen of a recording → a model that can be simulated. Not how it is seen (see `observe`).

mod contents;
mod entities;
mod isrs;
mod releases;
mod tasks;

use std::collections::BTreeMap;

use super::Derived;
use super::evidence::{Confidence, Evidence};
use super::facts::Facts;
use super::locks;
use super::names::Namer;
use super::observe::Observer;
use super::steps::Places;
use super::system::System;
use crate::btf::{NameId, Names};
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::{Error, Result};
use crate::simulate::model::{Model, Os, time_text};

/// What a model leaves out, so that it keeps the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    /// Nothing.
    Full,
    /// Resources and spinlocks.
    NoLocks,
    /// Everything but the times of bodies.
    OnlyTimes,
}

/// Events of one task, and bits of a mask.
const MOST_EVENTS: usize = 32;
/// Different priorities.
const MOST_PRIORITIES: u32 = 31;
/// The priorities of the handlers of a simulated kernel.
const TIMER: u32 = 1;
const REMOTE: u32 = 2;

/// The model of what was seen, with as much detail as the rules of models allow.
pub fn model(seen: &Observer, facts: &Facts, names: &Names) -> Result<Derived> {
    let mut log = Log::default();
    for (what, count) in &seen.unused {
        let message = format!("{count} events are no part of the model: {what}");
        log.push(finding("unused-events", facts, message));
    }
    let mut last = None;
    for detail in [Detail::Full, Detail::NoLocks, Detail::OnlyTimes] {
        let (model, evidence) = Assembly::new(seen, facts, names, detail).finish();
        match model.check() {
            Ok(warnings) => {
                log.merge(warnings);
                return Ok(Derived { model, evidence, findings: log });
            }
            Err(error) => {
                let message = format!("a part of the steps is left out: {error}");
                log.push(finding("simplified", facts, message));
                last = Some(error);
            }
        }
    }
    Err(last.unwrap_or_else(|| Error::input("no model can be made of the events")))
}

fn finding(code: &'static str, facts: &Facts, message: String) -> Diagnostic {
    let source = facts.name.clone();
    Diagnostic { source, line: None, severity: Severity::Warning, code, message, text: String::new() }
}

/// A model that is being made.
struct Assembly<'a> {
    seen: &'a Observer,
    facts: &'a Facts,
    names: &'a Names,
    detail: Detail,
    system: System,
    /// The core of each task, in the trace.
    home: BTreeMap<NameId, NameId>,
    cores: BTreeMap<NameId, usize>,
    model: Model,
    namer: Namer,
    places: Places,
    evidence: Vec<Evidence>,
}

impl<'a> Assembly<'a> {
    fn new(seen: &'a Observer, facts: &'a Facts, names: &'a Names, detail: Detail) -> Self {
        let home = seen
            .processes
            .iter()
            .filter(|((_, core), _)| core.is_none())
            .filter_map(|((name, _), process)| {
                let most =
                    process.cores.iter().max_by_key(|(core, ran)| (**ran, std::cmp::Reverse(**core)))?;
                Some((*name, *most.0))
            })
            .collect();
        let (begin, end) = seen.span.unwrap_or((0, 0));
        let begin = facts.begin.map_or(begin, |begin| facts.ns(begin).min(begin));
        let end = facts.end.map_or(end, |last| facts.ns(last).max(end));
        let system = System::of(seen, names, &home, (begin, end));
        let os = Os {
            access: 0,
            dispatch: system.dispatch,
            service: 0,
            interrupt: system.interrupt,
            remote_call: system.remote_call,
            tick: 1_000_000,
            timer_drift: 0,
            timer_isr: false,
        };
        let name = if facts.name.is_empty() { "recording".to_owned() } else { facts.name.clone() };
        let model = Model::new(name, system.duration, os);
        let places = Places { remote_call: system.remote_call, ..Places::default() };
        let (namer, cores, evidence) = (Namer::default(), BTreeMap::new(), Vec::new());
        Self { seen, facts, names, detail, system, home, cores, model, namer, places, evidence }
    }

    fn finish(mut self) -> (Model, Vec<Evidence>) {
        self.os();
        self.cores();
        self.tasks();
        self.runnables();
        self.signals();
        if self.detail == Detail::Full {
            let (seen, names) = (self.seen, self.names);
            self.places.locks = locks::add(seen, names, &mut self.model, &mut self.namer, &mut self.evidence);
        }
        self.events();
        self.bodies();
        self.isrs();
        self.releases();
        self.unpreempted();
        (self.model, self.evidence)
    }

    fn note(&mut self, evidence: Evidence) {
        self.evidence.push(evidence);
    }

    fn text(&self, name: NameId) -> &'a str {
        self.names.text(name)
    }

    fn os(&mut self) {
        let System { dispatch, interrupt, remote_call, zero, .. } = self.system;
        let samples = self.seen.dispatches.len() as u64;
        let os = |what, value: i64, samples, confidence, note: &str| Evidence {
            kind: "os",
            entity: String::new(),
            what,
            value: time_text(value.max(0)),
            samples,
            confidence,
            note: note.to_owned(),
        };
        let seen = |samples: u64| if samples == 0 { Confidence::Assumed } else { Confidence::Observed };
        let calls = self.seen.calls.len() as u64;
        let handlers = (self.system.timers.len() + self.system.remotes.len()) as u64;
        let mut all = vec![
            os("dispatch", dispatch, samples, seen(samples), "the median before the begins of tasks"),
            os(
                "interrupt",
                interrupt,
                handlers,
                seen(handlers),
                "half of the mean time of the handlers of the OS",
            ),
            os(
                "remote_call",
                remote_call,
                calls,
                seen(calls),
                "the median up to the interrupt of the other core",
            ),
        ];
        if zero != 0 {
            let note = format!("0 of the model is {zero} ns of the recording");
            all.push(os("begin", 0, 0, Confidence::Observed, &note));
        }
        if let Some(timer) = self.system.timers.values().next() {
            let known = timer.fit.known;
            let confidence = if known.0 == known.1 { Confidence::Exact } else { Confidence::Fitted };
            all.push(os(
                "tick",
                timer.fit.period,
                timer.fit.samples,
                confidence,
                "the period of the timer ISR",
            ));
        }
        self.evidence.extend(all);
    }
}
