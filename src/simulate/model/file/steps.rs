//! The text of steps → steps, with their places. Not whether a step is allowed where it is (see `check`).

use serde::Deserialize;
use toml::Spanned;

use super::names::{AllNames, Kind};
use super::random_times::DistributionText;
use super::values::{Count, Name, Names, Number, Time, Whole};
use crate::error::{Error, Result};
use crate::simulate::model::places::StepPlace;
use crate::simulate::model::{Runs, Step};

/// One step: a table with the key of what it does, and what else that takes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a step such as { execute = \"1ms\" }")]
pub(super) struct StepText {
    execute: Option<Spanned<DistributionText>>,
    call: Option<Name>,
    read: Option<Name>,
    write: Option<Name>,
    value: Option<Spanned<Whole>>,
    activate: Option<Name>,
    chain: Option<Name>,
    terminate: Option<Spanned<bool>>,
    set_event: Option<Spanned<Names>>,
    task: Option<Name>,
    clear_event: Option<Spanned<Names>>,
    wait_event: Option<Spanned<Names>>,
    get_resource: Option<Name>,
    release_resource: Option<Name>,
    get_spinlock: Option<Name>,
    try_to_get_spinlock: Option<Name>,
    every: Option<Spanned<Time>>,
    release_spinlock: Option<Name>,
    schedule: Option<Spanned<bool>>,
    branch: Option<Spanned<Number>>,
    then: Option<Steps>,
    #[serde(rename = "else")]
    otherwise: Option<Steps>,
    repeat: Option<Spanned<Whole>>,
    steps: Option<Steps>,
    turns: Option<Vec<TurnText>>,
}

/// One of `turns`: the steps that are done so many times before those of the next one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a turn such as { times = 3, steps = [ … ] }")]
struct TurnText {
    #[serde(default)]
    times: Count,
    steps: Steps,
}

/// Steps with their places.
pub(super) type Steps = Vec<Spanned<StepText>>;

/// The keys that say what a step does.
const VERBS: &str = "execute, call, read, write, activate, chain, terminate, set_event, clear_event, \
    wait_event, get_resource, release_resource, get_spinlock, try_to_get_spinlock, release_spinlock, \
    schedule, branch, repeat, turns";

/// The steps, and where they are.
pub(super) fn lower(steps: &Steps, names: &AllNames) -> Result<(Vec<Step>, Vec<StepPlace>)> {
    let mut lowered = (Vec::with_capacity(steps.len()), Vec::with_capacity(steps.len()));
    for step in steps {
        let mut place = StepPlace { line: names.source.line(step), ..StepPlace::default() };
        let text = step.get_ref();
        let step = text
            .check_keys()
            .and_then(|()| text.lower(names, &mut place))
            .map_err(|error| names.source.mistake(step, error))?;
        lowered.0.push(step);
        lowered.1.push(place);
    }
    Ok(lowered)
}

impl StepText {
    /// The keys that say what it does.
    fn verbs(&self) -> Vec<&'static str> {
        let verbs = [
            ("execute", self.execute.is_some()),
            ("call", self.call.is_some()),
            ("read", self.read.is_some()),
            ("write", self.write.is_some()),
            ("activate", self.activate.is_some()),
            ("chain", self.chain.is_some()),
            ("terminate", self.terminate.is_some()),
            ("set_event", self.set_event.is_some()),
            ("clear_event", self.clear_event.is_some()),
            ("wait_event", self.wait_event.is_some()),
            ("get_resource", self.get_resource.is_some()),
            ("release_resource", self.release_resource.is_some()),
            ("get_spinlock", self.get_spinlock.is_some()),
            ("try_to_get_spinlock", self.try_to_get_spinlock.is_some()),
            ("release_spinlock", self.release_spinlock.is_some()),
            ("schedule", self.schedule.is_some()),
            ("branch", self.branch.is_some()),
            ("repeat", self.repeat.is_some()),
            ("turns", self.turns.is_some()),
        ];
        verbs.into_iter().filter(|(_, has)| *has).map(|(verb, _)| verb).collect()
    }

    /// That it does one thing, and has no key that belongs to another one.
    fn check_keys(&self) -> Result<()> {
        let verb = match self.verbs()[..] {
            [verb] => verb,
            [] => {
                return Err(Error::input("a step does nothing").hint(format!("it has one key of: {VERBS}")));
            }
            [one, other, ..] => {
                return Err(Error::input(format!("a step does two things: {one} and {other}"))
                    .hint("write two steps, one after the other: { … }, { … }"));
            }
        };
        let keys = [
            ("value", self.value.is_some(), "write"),
            ("task", self.task.is_some(), "set_event"),
            ("every", self.every.is_some(), "try_to_get_spinlock"),
            ("then", self.then.is_some(), "branch"),
            ("else", self.otherwise.is_some(), "branch"),
            ("steps", self.steps.is_some(), "repeat"),
        ];
        match keys.into_iter().find(|(_, has, of)| *has && *of != verb) {
            Some((key, _, of)) => Err(Error::input(format!("{verb} takes no {key}"))
                .hint(format!("'{key}' belongs to {of}; write that as a step of its own"))),
            None => Ok(()),
        }
    }

    fn lower(&self, names: &AllNames, place: &mut StepPlace) -> Result<Step> {
        if let Some(time) = &self.execute {
            let execute = time.get_ref().lower().map_err(|error| names.source.mistake(time, error))?;
            return Ok(Step::Execute(execute));
        }
        if let Some(name) = &self.call {
            return Ok(Step::Call { runnable: names.find(&names.runnables, name)? });
        }
        if let Some(name) = &self.read {
            return Ok(Step::Read { signal: names.find(&names.signals, name)? });
        }
        if let Some(name) = &self.write {
            let value = self.value.as_ref().map(|value| value.get_ref().0);
            return Ok(Step::Write { signal: names.find(&names.signals, name)?, value });
        }
        if let Some(name) = &self.activate {
            return Ok(Step::Activate { task: names.find(&names.tasks, name)? });
        }
        if let Some(name) = &self.chain {
            return Ok(Step::Chain { task: names.find(&names.tasks, name)? });
        }
        if let Some(said) = &self.terminate {
            return switched_on("terminate", said, names, Step::Terminate);
        }
        if let Some(said) = &self.schedule {
            return switched_on("schedule", said, names, Step::Schedule);
        }
        self.lower_os(names)?.map_or_else(|| self.lower_nested(names, place), Ok)
    }

    /// Events, resources and spinlocks.
    fn lower_os(&self, names: &AllNames) -> Result<Option<Step>> {
        let events = |list: &Spanned<Names>| -> Result<Vec<usize>> {
            Names::each(list).iter().map(|name| names.find(&names.events, name)).collect()
        };
        let find = |kind: &Kind, name: &Name| names.find(kind, name);
        Ok(Some(if let Some(list) = &self.set_event {
            let Some(task) = &self.task else {
                return Err(Error::input("set_event does not say for which task")
                    .hint("write { set_event = \"EVENT\", task = \"TASK\" }"));
            };
            Step::SetEvent { task: names.find(&names.tasks, task)?, events: events(list)? }
        } else if let Some(list) = &self.clear_event {
            Step::ClearEvent { events: events(list)? }
        } else if let Some(list) = &self.wait_event {
            Step::WaitEvent { events: events(list)? }
        } else if let Some(name) = &self.get_resource {
            Step::GetResource { resource: find(&names.resources, name)? }
        } else if let Some(name) = &self.release_resource {
            Step::ReleaseResource { resource: find(&names.resources, name)? }
        } else if let Some(name) = &self.get_spinlock {
            Step::GetSpinlock { spinlock: find(&names.spinlocks, name)? }
        } else if let Some(name) = &self.try_to_get_spinlock {
            let Some(every) = &self.every else {
                return Err(Error::input("try_to_get_spinlock does not say how often it tries")
                    .hint("write { try_to_get_spinlock = \"LOCK\", every = \"5us\" }"));
            };
            Step::TryToGetSpinlock { spinlock: find(&names.spinlocks, name)?, every: every.get_ref().0 }
        } else if let Some(name) = &self.release_spinlock {
            Step::ReleaseSpinlock { spinlock: find(&names.spinlocks, name)? }
        } else {
            return Ok(None);
        }))
    }

    /// Steps that have steps.
    fn lower_nested(&self, names: &AllNames, place: &mut StepPlace) -> Result<Step> {
        let empty = Steps::new();
        if let Some(probability) = &self.branch {
            let (then, then_places) = lower(self.then.as_ref().unwrap_or(&empty), names)?;
            let (otherwise, places) = lower(self.otherwise.as_ref().unwrap_or(&empty), names)?;
            if then.is_empty() && otherwise.is_empty() {
                return Err(Error::input("a branch has no steps")
                    .hint("write { branch = 0.3, then = [ … ], else = [ … ] }"));
            }
            place.inside = vec![then_places, places];
            return Ok(Step::Branch { probability: probability.get_ref().0, then, otherwise });
        }
        if let Some(turns) = &self.turns {
            return lower_turns(turns, names, place);
        }
        match (&self.repeat, &self.steps) {
            (Some(times), Some(steps)) => {
                let (steps, places) = lower(steps, names)?;
                place.inside = vec![places];
                Ok(Step::Repeat { times: times.get_ref().0, steps })
            }
            _ => Err(Error::input("repeat does not say what").hint("write { repeat = 3, steps = [ … ] }")),
        }
    }
}

fn lower_turns(turns: &[TurnText], names: &AllNames, place: &mut StepPlace) -> Result<Step> {
    if turns.is_empty() {
        return Err(Error::input("turns has no entry")
            .hint("write { turns = [ { times = 3, steps = [ … ] }, { steps = [ … ] } ] }"));
    }
    let mut of = Runs::default();
    for turn in turns {
        let (steps, places) = lower(&turn.steps, names)?;
        of.push(turn.times.0, steps);
        place.inside.push(places);
    }
    Ok(Step::Turns { of })
}

/// A step whose value can only be `true`.
fn switched_on(key: &str, said: &Spanned<bool>, names: &AllNames, step: Step) -> Result<Step> {
    if *said.get_ref() {
        return Ok(step);
    }
    let error = Error::input(format!("{key} = false does nothing")).hint("leave the step out");
    Err(names.source.mistake(said, error))
}
