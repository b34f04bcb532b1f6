//! What acts from outside of the tasks: stimuli of a trace → alarms, schedule tables, tasks that start with
//! the OS, and ISRs for what no timer does. Not ISRs that are in the trace.

use super::arrivals::{self, Ticks};
use super::evidence::{Confidence, Evidence};
use super::names::Namer;
use super::stimuli::{Periodic, periodic};
use super::system::System;
use crate::btf::NameId;
use crate::simulate::model::{Action, Alarm, Arrivals, Isr, Model, ScheduleTable, Step, time_text};

/// One stimulus with one thing that it does.
#[derive(Debug, Clone)]
pub struct Source {
    /// The name that it gets, if nothing else has it.
    pub name: String,
    pub action: Action,
    /// The core of the task, in the trace.
    pub core: Option<NameId>,
    /// When it acts, in ns from 0 of the model; and in which tick of the timer of that core.
    pub at: Vec<(i64, Option<i64>)>,
}

/// What acts when the OS starts is not later than this, in ns, if there is no timer.
const START: i64 = 1_000;

/// Ticks of a timer that is not in the trace, in the whole run.
const MOST_TICKS: i64 = 500_000;

/// Adds what acts to a model.
pub struct Sources<'a> {
    pub model: &'a mut Model,
    pub namer: &'a mut Namer,
    pub evidence: &'a mut Vec<Evidence>,
    pub system: &'a System,
}

impl Sources<'_> {
    /// Adds all of them, and sets the tick of the model.
    pub fn add(&mut self, sources: Vec<Source>) {
        let mut sources: Vec<Source> = sources.into_iter().map(|source| self.without_start(source)).collect();
        sources.retain(|source| !source.at.is_empty());
        let tick = self.system.tick();
        self.model.os.timer_isr = tick.is_some();
        let (of_timer, free): (Vec<Source>, Vec<Source>) =
            sources.into_iter().partition(|source| source.at.iter().any(|(_, tick)| tick.is_some()));
        if let Some(tick) = tick {
            self.model.os.tick = tick;
            of_timer.into_iter().for_each(|source| self.with_timer(source));
            return free.into_iter().for_each(|source| self.with_isr(source));
        }
        // The greatest tick with which periodic stimuli are alarms; one that makes it too short is none.
        let mut common = 0;
        let mut alarms = Vec::new();
        let mut others = Vec::new();
        for source in free {
            match self.fit(&source) {
                Some(fit) => {
                    let next = gcd(gcd(common, fit.period), fit.offset);
                    if next > 0 && self.system.duration / next <= MOST_TICKS {
                        common = next;
                        alarms.push(source);
                        continue;
                    }
                    others.push(source);
                }
                None => others.push(source),
            }
        }
        if common > 0 {
            self.model.os.tick = common;
        }
        for source in alarms {
            let at = source.at.iter().map(|(at, _)| (*at, Some(at / common.max(1)))).collect();
            self.with_timer(Source { at, ..source });
        }
        for source in others {
            let is_tick = |(at, _): &(i64, Option<i64>)| common > 0 && *at > 0 && at % common == 0;
            if source.at.len() == 1 && source.at.iter().all(is_tick) {
                let at = source.at.iter().map(|(at, _)| (*at, Some(at / common))).collect();
                self.with_timer(Source { at, ..source });
            } else {
                self.with_isr(source);
            }
        }
    }

    /// What acts when the OS starts is the start of the task.
    fn without_start(&mut self, mut source: Source) -> Source {
        let Action::Activate { task } = source.action else { return source };
        let Some((at, None)) = source.at.first().copied() else { return source };
        let timer = source.core.is_some_and(|core| self.system.timers.contains_key(&core));
        let latest = if timer { self.model_tick().max(START) } else { START };
        let Some(of_model) = self.model.tasks.get_mut(task).filter(|task| at <= latest && !task.autostart)
        else {
            return source;
        };
        of_model.autostart = true;
        self.evidence.push(Evidence {
            kind: "task",
            entity: of_model.name.clone(),
            what: "autostart",
            value: String::new(),
            samples: 1,
            confidence: Confidence::Observed,
            note: format!("activated at {}", time_text(at)),
        });
        source.at.remove(0);
        source
    }

    fn model_tick(&self) -> i64 {
        self.system.tick().unwrap_or(0)
    }

    /// The model of a stimulus that an alarm can be.
    fn fit(&self, source: &Source) -> Option<Periodic> {
        let at: Vec<i64> = source.at.iter().map(|(at, _)| *at).collect();
        let fit = periodic(&at).filter(|fit| fit.jitter == 0 && fit.missing == 0 && fit.offset > 0)?;
        (at.last()?.saturating_add(fit.period) >= self.system.duration).then_some(fit)
    }

    /// An alarm or schedule table; what is not in a tick of the timer is the matter of an ISR.
    fn with_timer(&mut self, source: Source) {
        let (ticks, rest): (Vec<_>, Vec<_>) = source.at.iter().copied().partition(|(_, tick)| tick.is_some());
        if !rest.is_empty() {
            self.with_isr(Source { at: rest, ..source.clone() });
        }
        let ticks: Vec<i64> = ticks.into_iter().filter_map(|(_, tick)| tick).collect();
        let tick = self.model.os.tick;
        let end = (self.system.duration + tick - 1) / tick;
        let core = self.core_of(source.action);
        let name = self.namer.name(&source.name);
        let samples = ticks.len() as u64;
        match arrivals::of_ticks(&ticks, end) {
            Some(Ticks::Cyclic { first, cycle }) => {
                self.note("alarm", &name, "offset", time_text(first * tick), 1, Confidence::Exact, "");
                let period = time_text(cycle * tick);
                self.note("alarm", &name, "period", period, samples - 1, Confidence::Exact, "jitter 0");
                self.model.alarms.push(Alarm { name, core, action: source.action, first, cycle });
            }
            Some(Ticks::Once(first)) => {
                self.note(
                    "alarm",
                    &name,
                    "offset",
                    time_text(first * tick),
                    1,
                    Confidence::Observed,
                    "seen once",
                );
                self.model.alarms.push(Alarm { name, core, action: source.action, first, cycle: 0 });
            }
            Some(Ticks::Table { first, length, repeats, points }) => {
                let (what, confidence) =
                    if repeats { ("length", Confidence::Exact) } else { ("points", Confidence::Observed) };
                let value = if repeats { time_text(length * tick) } else { points.len().to_string() };
                let note = if repeats { "" } else { "no period: each point was observed" };
                self.note("schedule_table", &name, what, value, samples, confidence, note);
                let points =
                    points.into_iter().map(|(at, times)| (at, vec![source.action; times as usize])).collect();
                self.model.schedule_tables.push(ScheduleTable { name, core, first, length, repeats, points });
            }
            None => self.with_isr(Source { name, ..source }),
        }
    }

    /// An ISR that does what the stimulus does: only an ISR comes with a jitter, or at any instant.
    fn with_isr(&mut self, source: Source) {
        let instants: Vec<i64> = source.at.iter().map(|(at, _)| *at).collect();
        let Some((arrivals, fit)) = arrivals::of_instants(&instants, self.system.duration) else { return };
        let name = self.namer.name(&format!("IRQ_{}", source.name));
        arrived(self.evidence, &name, &arrivals, fit, instants.len() as u64);
        let step = match source.action {
            Action::Activate { task } => Step::Activate { task },
            Action::SetEvent { task, event } => Step::SetEvent { task, events: vec![event] },
        };
        let core = self.core_of(source.action);
        self.note(
            "isr",
            &name,
            "stands for",
            source.name,
            0,
            Confidence::Assumed,
            "a stimulus that no timer gives",
        );
        self.model.isrs.push(Isr { name, core, category1: false, priority: 1, arrivals, steps: vec![step] });
    }

    fn core_of(&self, action: Action) -> usize {
        let (Action::Activate { task } | Action::SetEvent { task, .. }) = action;
        self.model.tasks.get(task).map_or(0, |task| task.core)
    }

    #[allow(clippy::too_many_arguments, reason = "the fields of evidence")]
    fn note(
        &mut self,
        kind: &'static str,
        entity: &str,
        what: &'static str,
        value: String,
        samples: u64,
        confidence: Confidence,
        note: &str,
    ) {
        let (entity, note) = (entity.to_owned(), note.to_owned());
        self.evidence.push(Evidence { kind, entity, what, value, samples, confidence, note });
    }
}

/// The evidence of arrivals.
pub fn arrived(
    evidence: &mut Vec<Evidence>,
    isr: &str,
    arrivals: &Arrivals,
    fit: Option<Periodic>,
    samples: u64,
) {
    let mut note = |what, value: String, confidence, note: String| {
        let entity = isr.to_owned();
        evidence.push(Evidence { kind: "isr", entity, what, value, samples, confidence, note });
    };
    if let Some(Periodic { period, offset, jitter, missing, known, .. }) = fit {
        let exact = known.0 == known.1;
        let confidence = if exact { Confidence::Exact } else { Confidence::Fitted };
        let between = format!("between {} and {}", time_text(known.0), time_text(known.1));
        let lost = if missing == 0 { String::new() } else { format!("; {missing} missing") };
        let range = if exact { String::new() } else { between };
        note("period", time_text(period), confidence, format!("{range}{lost}"));
        note("offset", time_text(offset.max(0)), confidence, String::new());
        note("jitter", time_text(jitter), Confidence::Observed, String::new());
    }
    match arrivals {
        Arrivals::Periodic { .. } => {}
        Arrivals::At(instants) => {
            let text = "each instant was observed".to_owned();
            note("instants", instants.len().to_string(), Confidence::Observed, text);
        }
        Arrivals::Sporadic { distance, .. } => {
            let text = "the least one; the others follow the observed ones".to_owned();
            note("distance", time_text(*distance), Confidence::Observed, text);
        }
        Arrivals::Curve { .. } => {}
    }
}

fn gcd(mut one: i64, mut other: i64) -> i64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}
