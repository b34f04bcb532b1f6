//! The names of the bits in the event masks of each task (rule E6). Masks belong to a task: OSEK lets two
//! tasks have events with the same one. Not what happens to events (see `machine::os_events`).

use super::Model;
use crate::btf::NameId;
use crate::description::ApplicationCore;
use crate::description::orti::{Oil, OilObject};
use std::collections::{BTreeMap, HashSet};

/// Events of one core with one mask, of which the description does not say whose they are.
#[derive(Debug, Clone)]
pub(in crate::map::osek) struct SharedMask {
    core: usize,
    mask: u64,
    /// In the order of the description.
    events: Vec<NameId>,
    /// The tasks that may have them, in the order of their ids.
    tasks: Vec<usize>,
}

impl Model {
    /// Names the events of the tasks of a core. An event belongs to the tasks that OIL lists it for, and to
    /// the task for which an alarm sets it.
    pub(super) fn name_events(&mut self, ix: usize, setup: &ApplicationCore) {
        let contradictions = masks_that_differ(setup);
        self.findings.extend(contradictions);
        let mut by_mask: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for (event, mask) in masks(setup) {
            by_mask.entry(mask).or_default().push(event);
        }
        let labels: Vec<String> =
            setup.orti.iter().flat_map(|o| o.objects("TASK")).map(|o| o.name.clone()).collect();
        let tasks: Vec<usize> = (0..self.tasks.len()).filter(|t| self.tasks[*t].core == ix).collect();
        let owned: Vec<HashSet<String>> = labels.iter().map(|task| events_of_task(setup, task)).collect();
        for (mask, events) in by_mask {
            let ids: Vec<NameId> = events.iter().map(|event| self.names.intern(event)).collect();
            let own = |n: usize| events.iter().position(|event| owned[n].contains(event));
            let owners: Vec<Option<usize>> = (0..labels.len()).map(own).collect();
            let rest: Vec<NameId> =
                (0..ids.len()).filter(|e| !owners.contains(&Some(*e))).map(|e| ids[e]).collect();
            let mut unknown = Vec::new();
            for (t, owner) in tasks.iter().zip(&owners) {
                let name = match (owner, ids.as_slice(), rest.as_slice()) {
                    (Some(own), ..) => ids[*own],
                    (None, [only], _) | (None, _, [only]) => *only,
                    (None, _, []) => continue,
                    (None, ..) => {
                        unknown.push(*t);
                        continue;
                    }
                };
                self.tasks[*t].events.insert(mask, name);
            }
            if !unknown.is_empty() {
                self.shared_masks.push(SharedMask { core: ix, mask, events: rest, tasks: unknown });
            }
        }
    }

    /// Gives events that share a mask to the tasks that use it, both in the order of the header. `used` has
    /// the bits of every task that the trace shows. Returns what has been decided so.
    pub(in crate::map::osek) fn settle_shared_masks(&mut self, used: &[u64]) -> Vec<String> {
        let mut findings = Vec::new();
        for shared in std::mem::take(&mut self.shared_masks) {
            let uses = |t: &&usize| used.get(**t).is_some_and(|bits| bits & shared.mask != 0);
            let mut decided = Vec::new();
            for (n, t) in shared.tasks.iter().filter(uses).enumerate() {
                let Some(event) = shared.events.get(n) else { break };
                self.tasks[*t].events.insert(shared.mask, *event);
                let (event, task) = (self.names.text(*event), self.names.text(self.tasks[*t].name));
                decided.push(format!("{event} of {task}"));
            }
            if !decided.is_empty() {
                findings.push(format!(
                    "OS events of core '{}' share the mask {:#x}; by the order of the header, it is taken for {}. \
                     Name the OIL file to be sure: oil = \"…\"",
                    self.core_name(shared.core),
                    shared.mask,
                    decided.join(", ")
                ));
            }
        }
        findings
    }
}

/// The events of a core with their masks: of the header, then those of which only OIL tells the mask.
pub(super) fn masks(setup: &ApplicationCore) -> Vec<(String, u64)> {
    let mut all = setup.header.as_ref().map_or_else(Vec::new, |header| header.events.clone());
    let declared = setup.oil.objects("EVENT").filter_map(|event| {
        let mask = event.get("MASK").and_then(|mask| mask.integer())?;
        Some((event.name.clone(), mask.cast_unsigned()))
    });
    for (event, mask) in declared {
        if !all.iter().any(|(known, _)| *known == event) {
            all.push((event, mask));
        }
    }
    all
}

/// A sentence for each event whose mask in OIL is not that of the header, which is what was compiled.
fn masks_that_differ(setup: &ApplicationCore) -> Vec<String> {
    let header = setup.header.iter().flat_map(|header| &header.events);
    let known: BTreeMap<&str, u64> = header.map(|(event, mask)| (event.as_str(), *mask)).collect();
    let differs = |event: &OilObject| {
        let declared = event.get("MASK")?;
        let (mask, known) = (declared.integer()?.cast_unsigned(), *known.get(event.name.as_str())?);
        let header = setup.header_file.as_deref().unwrap_or("the OS header");
        (mask != known).then(|| {
            format!(
                "event {} has the mask {mask:#x} in {}:{}, and {known:#x} in '{header}', which is what is used",
                event.name, event.file, declared.line
            )
        })
    };
    setup.oil.objects("EVENT").filter_map(differs).collect()
}

/// The events of a task, as far as the description says.
pub(super) fn events_of_task(setup: &ApplicationCore, task: &str) -> HashSet<String> {
    let declared = setup.oil.object("TASK", task);
    let declared = declared.into_iter().flat_map(|task| task.all("EVENT")).map(|event| event.value.clone());
    let set = setup.oil.objects("ALARM").filter_map(|alarm| {
        let action = alarm.get("ACTION")?;
        let of_task = action.get("TASK").is_some_and(|target| target.value == task);
        action.get("EVENT").filter(|_| of_task).map(|event| event.value.clone())
    });
    let events = masks(setup);
    let texts =
        setup.orti.iter().flat_map(|orti| orti.objects("ALARM")).filter_map(|alarm| alarm.get("ACTION"));
    let of_orti = texts.filter_map(|action| {
        // `set E on T`, `SET t EVENT e`
        let words: Vec<&str> = action_words(&action.text).collect();
        let event = events.iter().find(|(event, _)| words.contains(&event.as_str()))?;
        words.contains(&task).then(|| event.0.clone())
    });
    declared.chain(set).chain(of_orti).collect()
}

/// The words of ALARM.ACTION.
pub(super) fn action_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty())
}

/// The task that an alarm activates, or sets an event for, by OIL.
pub(super) fn target_of<'a>(oil: &'a Oil, alarm: &str) -> Option<&'a str> {
    let target = oil.object("ALARM", alarm)?.get("ACTION")?.get("TASK")?;
    Some(&target.value)
}
