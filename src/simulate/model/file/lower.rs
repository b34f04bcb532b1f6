//! The text of a model → its lists, with places: names become indices, times ticks of the timer. Not steps.

use toml::Spanned;

use super::names::{AllNames, Kind};
use super::values::{Name, Time};
use super::{
    AlarmText, IsrText, ModelText, OsText, PointText, ResourceText, ScheduleTableText, TaskText, masks, steps,
};
use crate::error::{Error, Result};
use crate::simulate::model::places::{Body, Places, Source};
use crate::simulate::model::{
    Action, Alarm, Arrivals, Core, Event, Isr, Model, Os, Resource, Runnable, ScheduleTable, Signal,
    Spinlock, Task,
};

/// The period of the timer when the text gives none.
const TICK: i64 = 1_000_000;

/// The model, and where its parts are.
pub(super) fn model(text: &ModelText, source: &Source) -> Result<(Model, Places)> {
    let duration = Some(source.line(&text.duration));
    let mut places = Places { path: source.path().to_owned(), duration, ..Places::default() };
    let names = all_names(text, source, &mut places);
    let line = |name: &Name| source.line(name);
    places.cores = text.core.iter().map(|core| line(&core.name)).collect();
    places.signals = text.signal.iter().map(|signal| line(&signal.name)).collect();
    places.spinlocks = text.spinlock.iter().map(|spinlock| line(&spinlock.name)).collect();
    places.alarms = text.alarm.iter().map(|alarm| line(&alarm.name)).collect();
    places.schedule_tables = text.schedule_table.iter().map(|table| line(&table.name)).collect();
    let name = text.name.clone().unwrap_or_else(|| stem(source));
    let mut model = Model {
        seed: text.seed.0,
        cores: text.core.iter().map(|core| Core { name: core.name.get_ref().clone() }).collect(),
        resources: resources(&text.resource, &names),
        spinlocks: text.spinlock.iter().map(|lock| Spinlock { name: lock.name.get_ref().clone() }).collect(),
        ..Model::new(name, text.duration.get_ref().0, os(&text.os, source)?)
    };
    for signal in &text.signal {
        let initial = signal.initial.map_or(0, |initial| initial.0);
        model.signals.push(Signal { name: signal.name.get_ref().clone(), initial });
    }
    for written in &text.task {
        let (task, body) = task(written, &names)?;
        model.tasks.push(task);
        places.tasks.push(body);
    }
    for written in &text.isr {
        let (isr, body) = isr(written, &names)?;
        model.isrs.push(isr);
        places.isrs.push(body);
    }
    for runnable in &text.runnable {
        let (steps, step_places) = steps::lower(&runnable.steps, &names)?;
        model.runnables.push(Runnable { name: runnable.name.get_ref().clone(), steps });
        places.runnables.push(Body { line: line(&runnable.name), steps: step_places });
    }
    model.events = events(text, &names, &model.tasks, &places)?;
    for written in &text.alarm {
        model.alarms.push(alarm(written, &names, &model)?);
    }
    for written in &text.schedule_table {
        model.schedule_tables.push(schedule_table(written, &names, model.os.tick)?);
    }
    Ok((model, places))
}

/// The file's name without its extension.
fn stem(source: &Source) -> String {
    source.path().file_stem().map_or_else(|| "model".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// All names. Events and groups that only tasks name get their places here, too: where they are named first.
fn all_names<'a>(text: &ModelText, source: &'a Source<'a>, places: &mut Places) -> AllNames<'a> {
    fn of<'t, T>(list: &'t [T], name: impl Fn(&'t T) -> &'t Name + 't) -> impl Iterator<Item = &'t str> {
        list.iter().map(move |entry| name(entry).get_ref().as_str())
    }
    let mut events = Kind::new("an event", of(&text.event, |event| &event.name));
    places.events = text.event.iter().map(|event| source.line(&event.name)).collect();
    let mut resources = Kind::new("a resource", of(&text.resource, |resource| &resource.name));
    places.resources = text.resource.iter().map(|resource| source.line(&resource.name)).collect();
    for task in &text.task {
        for event in task.events.iter().filter(|event| !event.get_ref().is_empty()) {
            if events.get(event.get_ref()).is_none() {
                events.add(event.get_ref());
                places.events.push(source.line(event));
            }
        }
        if let Some(group) = task.group.as_ref().filter(|group| resources.get(group.get_ref()).is_none()) {
            resources.add(group.get_ref());
            places.resources.push(source.line(group));
        }
    }
    AllNames {
        source,
        cores: Kind::new("a core", of(&text.core, |core| &core.name)),
        tasks: Kind::new("a task", of(&text.task, |task| &task.name)),
        isrs: Kind::new("an isr", of(&text.isr, |isr| &isr.name)),
        runnables: Kind::new("a runnable", of(&text.runnable, |runnable| &runnable.name)),
        signals: Kind::new("a signal", of(&text.signal, |signal| &signal.name)),
        events,
        resources,
        spinlocks: Kind::new("a spinlock", of(&text.spinlock, |spinlock| &spinlock.name)),
    }
}

/// One of some words that a key takes.
fn word<T>(key: &str, said: &Name, words: [(&str, T); 2], source: &Source) -> Result<T> {
    let [first, second] = &words;
    let error = || {
        let message = format!("{key} is '{}', but must be '{}' or '{}'", said.get_ref(), first.0, second.0);
        Error::input(message).hint_near(said.get_ref(), [first.0, second.0], |all| format!("one of {all}"))
    };
    let error = error();
    let found = words.into_iter().find(|(word, _)| word == said.get_ref());
    found.map(|(_, value)| value).ok_or_else(|| source.mistake(said, error))
}

fn os(text: &OsText, source: &Source) -> Result<Os> {
    let tick = text.tick.as_ref().map_or(TICK, |tick| tick.get_ref().0);
    if let (0, Some(tick)) = (tick, &text.tick) {
        let error = Error::input("tick is 0").hint("the timer needs a period, such as tick = \"1ms\"");
        return Err(source.mistake(tick, error));
    }
    Ok(Os {
        access: text.access.0,
        dispatch: text.dispatch.0,
        service: text.service.0,
        interrupt: text.interrupt.0,
        remote_call: text.remote_call.0,
        tick,
        timer_drift: text.timer_drift.0,
        timer_isr: text.timer_isr,
    })
}

/// Those of the text, then the groups of tasks that it has not.
fn resources(text: &[ResourceText], names: &AllNames) -> Vec<Resource> {
    let written = text.iter().map(|r| Resource { name: r.name.get_ref().clone(), internal: r.internal });
    let groups = names.resources.names().iter().skip(text.len());
    written.chain(groups.map(|name| Resource { name: name.clone(), internal: true })).collect()
}

/// The core of a task, ISR or schedule table.
fn core(of: &str, name: &Name, core: Option<&Name>, names: &AllNames) -> Result<usize> {
    if let Some(core) = core {
        return names.find(&names.cores, core);
    }
    let error = Error::input(format!("{of} '{}' has no core", name.get_ref()));
    let hint = match names.cores.names().first() {
        Some(first) => format!("write for example core = \"{first}\""),
        None => "add [[core]] with name = \"Core_0\", and here core = \"Core_0\"".to_owned(),
    };
    Err(names.source.mistake(name, error.hint(hint)))
}

fn task(text: &TaskText, names: &AllNames) -> Result<(Task, Body)> {
    let preemptable = match &text.preemption {
        Some(said) => word("preemption", said, [("full", true), ("non", false)], names.source)?,
        None => true,
    };
    let core = core("task", &text.name, text.core.as_ref(), names)?;
    let events = text.events.iter().map(|event| names.find(&names.events, event)).collect::<Result<_>>()?;
    let group = text.group.as_ref().map(|group| names.find(&names.resources, group)).transpose()?;
    let (steps, places) = steps::lower(&text.steps, names)?;
    let task = Task {
        name: text.name.get_ref().clone(),
        core,
        priority: text.priority.0,
        activations: text.activations.map_or(1, |activations| activations.0),
        preemptable,
        group,
        autostart: text.autostart,
        events,
        steps,
    };
    Ok((task, Body { line: names.source.line(&text.name), steps: places }))
}

fn isr(text: &IsrText, names: &AllNames) -> Result<(Isr, Body)> {
    let category1 = match text.category.as_ref().map(|category| (category.get_ref().0, category)) {
        None | Some((2, _)) => false,
        Some((1, _)) => true,
        Some((other, place)) => {
            let error = Error::input(format!("there are no ISRs of category {other}"));
            return Err(names.source.mistake(place, error.hint("write category = 1 or category = 2")));
        }
    };
    let core = core("ISR", &text.name, text.core.as_ref(), names)?;
    let (steps, places) = steps::lower(&text.steps, names)?;
    let isr = Isr {
        name: text.name.get_ref().clone(),
        core,
        category1,
        priority: text.priority.0,
        arrivals: arrivals(text, names.source)?,
        steps,
    };
    Ok((isr, Body { line: names.source.line(&text.name), steps: places }))
}

fn arrivals(text: &IsrText, source: &Source) -> Result<Arrivals> {
    match (&text.periodic, &text.sporadic, &text.at, &text.curve) {
        (Some(periodic), None, None, None) => Ok(periodic.lower()),
        (None, Some(sporadic), None, None) => {
            sporadic.get_ref().lower().map_err(|error| source.mistake(sporadic, error))
        }
        (None, None, Some(at), None) => Ok(Arrivals::At(at.iter().map(|time| time.0).collect())),
        (None, None, None, Some(curve)) => Ok(curve.lower()),
        _ => {
            let name = text.name.get_ref();
            let message = format!("ISR '{name}' needs one of periodic, sporadic, at and curve, and only one");
            let error = Error::input(message).hint("e.g. periodic = { period = \"10ms\" }");
            Err(source.mistake(&text.name, error))
        }
    }
}

/// Those of the text, then those that only tasks name.
fn events(text: &ModelText, names: &AllNames, tasks: &[Task], places: &Places) -> Result<Vec<Event>> {
    let mut given = vec![None; names.events.names().len()];
    for (event, given) in text.event.iter().zip(&mut given) {
        *given = event.mask.as_ref().map(|mask| mask.get_ref().0);
        if let Some(mask) = event.mask.as_ref().filter(|mask| mask.get_ref().0.count_ones() != 1) {
            let message = format!("the mask of event '{}' is not one bit", event.name.get_ref());
            let error = Error::input(message).hint("write for example mask = 0x4, or leave it out");
            return Err(names.source.mistake(mask, error));
        }
    }
    let masks = masks::complete(&given, tasks).map_err(|event| {
        let name = names.events.names().get(event).map_or("", String::as_str);
        let error = Error::input(format!("no bit is left for the mask of event '{name}'"))
            .hint("a task has at most 32 events; give masks to events of several tasks");
        places.mistake(places.events.get(event).copied(), error)
    })?;
    let names = names.events.names().iter();
    Ok(names.zip(masks).map(|(name, mask)| Event { name: name.clone(), mask }).collect())
}

/// What an alarm or a point does; `of` names it.
fn action(of: &str, [activate, set_event, task]: [Option<&Name>; 3], names: &AllNames) -> Result<Action> {
    match (activate, set_event, task) {
        (Some(task), None, None) => Ok(Action::Activate { task: names.find(&names.tasks, task)? }),
        (None, Some(event), Some(task)) => Ok(Action::SetEvent {
            task: names.find(&names.tasks, task)?,
            event: names.find(&names.events, event)?,
        }),
        _ => Err(Error::input(format!("{of} needs either activate, or set_event and task"))
            .hint("write activate = \"TASK\", or set_event = \"EVENT\", task = \"TASK\"")),
    }
}

/// A time in ticks of the timer.
fn ticks(key: &str, time: &Spanned<Time>, tick: i64, source: &Source) -> Result<i64> {
    let ns = time.get_ref().0;
    if ns.checked_rem(tick) == Some(0) {
        return Ok(ns / tick);
    }
    let error = Error::input(format!("{key} is {ns} ns, which is no multiple of the tick of {tick} ns"))
        .hint("the timer counts whole ticks: change this time, or tick in [os]");
    Err(source.mistake(time, error))
}

fn alarm(text: &AlarmText, names: &AllNames, model: &Model) -> Result<Alarm> {
    let (name, source, tick) = (text.name.get_ref(), names.source, model.os.tick);
    let located = |error| source.mistake(&text.name, error);
    let given = [text.activate.as_ref(), text.set_event.as_ref(), text.task.as_ref()];
    let action = action(&format!("alarm '{name}'"), given, names).map_err(located)?;
    let cycle = match (&text.period, text.once) {
        (Some(period), false) => ticks("period", period, tick, source)?,
        (None, true) => 0,
        (Some(_), true) => {
            let error = Error::input(format!("alarm '{name}' has a period, and expires only once"));
            return Err(located(error.hint("leave out one of period and once")));
        }
        (None, false) => {
            let error = Error::input(format!("alarm '{name}' has no period"));
            return Err(located(error.hint("write for example period = \"10ms\", or once = true")));
        }
    };
    if let (Some(period), 0) = (&text.period, cycle) {
        let error = Error::input(format!("the period of alarm '{name}' is 0"));
        return Err(source.mistake(period, error.hint("write once = true if it expires only once")));
    }
    let first = text.offset.as_ref().map(|offset| ticks("offset", offset, tick, source)).transpose()?;
    let first = match (first, cycle) {
        (Some(first), _) => first,
        (None, 1..) => cycle,
        (None, _) => {
            let error = Error::input(format!("alarm '{name}' does not say when"));
            return Err(located(error.hint("write for example offset = \"10ms\"")));
        }
    };
    let task = match action {
        Action::Activate { task } | Action::SetEvent { task, .. } => task,
    };
    let core = model.tasks.get(task).map_or(0, |task| task.core);
    Ok(Alarm { name: name.clone(), core, action, first, cycle })
}

fn schedule_table(text: &ScheduleTableText, names: &AllNames, tick: i64) -> Result<ScheduleTable> {
    let source = names.source;
    let mut points: Vec<(i64, Vec<Action>)> = Vec::new();
    for point in &text.points {
        let (at, action) = expiry_point(point, names, tick)?;
        match points.last_mut() {
            Some((last, actions)) if *last == at => actions.push(action),
            Some((last, _)) if *last > at => {
                let error = Error::input("this point is before the one above it");
                return Err(source.mistake(point, error.hint("write the points in the order of their times")));
            }
            _ => points.push((at, vec![action])),
        }
    }
    let offset = text.offset.as_ref().map(|offset| ticks("offset", offset, tick, source)).transpose()?;
    Ok(ScheduleTable {
        name: text.name.get_ref().clone(),
        core: core("schedule table", &text.name, text.core.as_ref(), names)?,
        first: offset.unwrap_or(1),
        length: ticks("length", &text.length, tick, source)?,
        repeats: text.repeats.unwrap_or(true),
        points,
    })
}

fn expiry_point(point: &Spanned<PointText>, names: &AllNames, tick: i64) -> Result<(i64, Action)> {
    let PointText { at, activate, set_event, task } = point.get_ref();
    let action = action("a point", [activate.as_ref(), set_event.as_ref(), task.as_ref()], names);
    let action = action.map_err(|error| names.source.mistake(point, error))?;
    Ok((ticks("at", at, tick, names.source)?, action))
}
