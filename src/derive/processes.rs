//! Instances and states of tasks and ISRs. Not runnables.

use super::edges::{Gaps, LeftEdge};
use super::entities::Entities;
use super::instance::Open;
use super::occupants::Occupants;
use super::{Rows, Violations};
use crate::btf::spec::process_transition;
use crate::btf::{Action, Actor, EntityType, Event, KnownState, NameId, Names, State};
use crate::names::IdMap;
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

#[derive(Debug, Default)]
pub(super) struct Processes {
    open: IdMap<(NameId, i64), Open>,
    /// Consecutive lost activations: the number of the last one, and their count.
    lost: IdMap<NameId, (i64, i64)>,
    born: u64,
    /// Instances whose state is unknown, by process: they may have ended. Some have been seen again.
    doubtful: IdMap<NameId, BTreeSet<i64>>,
    pub violations: Violations,
    pub gaps: Gaps,
    /// The core that each process was on last.
    homes: IdMap<NameId, NameId>,
    /// Processes of which a gap may hide lost activations, until their next activation.
    unseen: IdMap<NameId, ()>,
    /// For traces that do not say what held when they began. An instance of theirs that starts without an
    /// activation was not in state ACTIVE before.
    pub left_edge: Option<LeftEdge>,
    /// For traces whose writers may leave out preemptions.
    pub occupants: Option<Occupants>,
    /// The instance of each process that started last, by `Open::born`; only with `occupants`.
    started: IdMap<NameId, u64>,
    /// Processes of which an activation was told; only with `occupants`.
    activated: IdMap<NameId, ()>,
}

impl Processes {
    /// The core a process instance was last on.
    pub fn core(&self, process: NameId, instance: i64) -> Option<NameId> {
        self.open.get(&(process, instance)).and_then(|o| o.core)
    }

    /// An open instance gets another name and number.
    pub fn rename(&mut self, from: Actor, to: Actor) {
        if let Some(mut open) = self.open.remove(&from) {
            self.settle(from);
            if open.lost {
                self.doubt(to);
            }
            (open.process, open.instance) = to;
            self.open.insert(to, open);
        }
    }

    pub fn event(&mut self, event: &Event, names: &Names, entities: &mut Entities, rows: &mut Rows) {
        if event.action == Action::MtaLimitExceeded {
            let (last, run) = self.lost.entry(event.target).or_default();
            *run = if last.checked_add(1) == Some(event.target_instance) { *run + 1 } else { 1 };
            *last = event.target_instance;
            return;
        }
        let Some((from, to)) = process_transition(event.action) else { return };
        let activated = event.action == Action::Activate;
        let actor = (event.target, event.target_instance);
        if self.occupants.is_some() {
            self.back_on_core(actor, event.time, names, rows);
        }
        let mut open = match self.open.entry(actor) {
            Entry::Occupied(open) => open,
            Entry::Vacant(place) => {
                let before = self.left_edge.as_mut().and_then(|edge| edge.first_event(event, from));
                let since = before.filter(|_| !matches!(event.action, Action::Activate | Action::Start));
                self.born += 1;
                let kind = event.target_type;
                let mut open = Open::new(self.born, actor, kind, from, since.unwrap_or(event.time));
                // Of the first task, the activation may be before the trace. An ISR starts when it is
                // activated.
                open.untold = event.action == Action::Start
                    && (kind == EntityType::Isr || self.started.contains_key(&event.target))
                    && !self.activated.contains_key(&event.target);
                open.cut = !activated && !open.untold;
                open.idle = entities.idles(event.target, kind, names);
                if activated {
                    let before = self.lost.remove(&event.target);
                    let right_before =
                        before.filter(|(last, _)| last.checked_add(1) == Some(event.target_instance));
                    let unseen = self.unseen.remove(&event.target).is_some();
                    open.lost_before = Some(right_before.map_or(0, |(_, run)| run)).filter(|_| !unseen);
                }
                place.insert_entry(open)
            }
        };
        if let Some(edge) = &mut self.left_edge {
            edge.moved(event, from, to);
        }
        let entry = open.get_mut();
        if !activated && entry.core.is_none() {
            // Now that its core is known: a gap of that core may have cut it off.
            let since = self.gaps.visible(event.source, entry.since);
            entry.cut |= since > entry.since;
            entry.since = since;
        }
        let ended = entry.event(event, (from, to), names, rows, &mut self.violations.process);
        if event.action == Action::Start {
            self.homes.insert(event.target, event.source);
        }
        // In a gap of its core, which another export of the core does not have, the event tells where the
        // instance was then, but not where it is at the end of the gap.
        let core = if activated { self.homes.get(&event.target).copied() } else { Some(event.source) };
        if core.is_some_and(|core| self.gaps.visible(core, event.time) > event.time) {
            entry.lose(event.time, names, rows);
        }
        let (born, core, cut, lost) = (entry.born, entry.core, entry.cut, entry.lost);
        if ended {
            open.remove().end(Some(event.time), names, entities, rows);
        }
        if ended && cut {
            self.settle(actor);
        } else if lost {
            self.doubt(actor);
        }
        if self.occupants.is_some() {
            if event.action == Action::Start {
                self.started.insert(event.target, born);
            } else if activated {
                self.activated.insert(event.target, ());
            }
            if let Some(core) = core.filter(|_| event.action != Action::Activate) {
                self.occupy(core, actor, to, event.time, names, rows);
            }
        }
    }

    /// An instance leads to state `to` on `core`: it may take the place of another one, or give it back.
    fn occupy(&mut self, core: NameId, actor: Actor, to: State, time: i64, names: &Names, rows: &mut Rows) {
        let Some(occupants) = &mut self.occupants else { return };
        if !matches!(to, State::Running | State::Polling) {
            if let Some(other) = occupants.leave(core, actor) {
                self.back_on_core(other, time, names, rows);
            }
            return;
        }
        let taken = occupants.enter(core, actor).and_then(|other| self.open.get_mut(&other));
        if let Some(open) = taken.filter(|open| !open.lost && open.suspended.is_none()) {
            open.leave(time, names, rows);
            (open.suspended, open.state, open.since) = (Some(open.state), State::Ready, time);
        }
    }

    /// Ends the time for which another process had the core of an instance, if one had.
    fn back_on_core(&mut self, actor: Actor, time: i64, names: &Names, rows: &mut Rows) {
        let Some(open) = self.open.get_mut(&actor) else { return };
        if let Some(state) = open.suspended.take() {
            // Events of one instant may be in any order.
            self.violations.occupied += u64::from(time > open.since);
            open.leave(time, names, rows);
            (open.state, open.since) = (state, time);
        }
    }

    /// An activation that was not recorded.
    pub fn assumed(&mut self, event: &Event, names: &Names, entities: &mut Entities) {
        let actor = (event.target, event.target_instance);
        self.born += 1;
        let mut open = Open::new(self.born, actor, event.target_type, State::Active, event.time);
        // Whether it has run before is not known.
        (open.cut, open.lost) = (true, true);
        open.idle = entities.idles(event.target, event.target_type, names);
        self.open.insert(actor, open);
        self.doubt(actor);
    }

    /// What is known of an instance without an event.
    pub fn known(&mut self, known: &KnownState, names: &Names, entities: &mut Entities, rows: &mut Rows) {
        let since = self.gaps.visible(known.core, known.since);
        let open = match self.open.entry(known.process) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(place) => {
                self.born += 1;
                let mut open = Open::new(self.born, known.process, known.kind, known.state, since);
                open.cut = true;
                open.idle = entities.idles(known.process.0, known.kind, names);
                place.insert(open)
            }
        };
        self.homes.insert(known.process.0, known.core);
        if open.lost {
            (open.lost, open.state, open.since) = (false, known.state, since);
        } else if open.core.is_none() && self.gaps.visible(known.core, open.since) > open.since {
            // Now that its core is known: a gap of that core has cut it off.
            (open.cut, open.state, open.since) = (true, known.state, since);
        } else if open.state != known.state {
            open.leave(since, names, rows);
            (open.cut, open.state, open.since) = (true, known.state, open.since.max(since));
        }
        open.core = Some(known.core);
    }

    /// The state of an instance is unknown from `time` on.
    pub fn lose(&mut self, process: Actor, time: i64, names: &Names, rows: &mut Rows) {
        if let Some(open) = self.open.get_mut(&process) {
            open.lose(time, names, rows);
            self.doubt(process);
        }
    }

    /// The state of an instance is unknown.
    fn doubt(&mut self, (process, instance): Actor) {
        self.doubtful.entry(process).or_default().insert(instance);
    }

    /// An instance has ended.
    fn settle(&mut self, (process, instance): Actor) {
        if let Some(doubtful) = self.doubtful.get_mut(&process) {
            doubtful.remove(&instance);
        }
    }

    /// The instances in doubt that have ended by the start of another one of their process: those of one core
    /// start one after the other. An ISR that is preempted may be below the one that starts. In a foreign
    /// trace, the order of starts may be another one than that of the numbers.
    pub fn over(&self, start: &Event) -> Vec<Actor> {
        let Some(doubtful) = self.doubtful.get(&start.target) else { return Vec::new() };
        let is_over = |older: &Actor| {
            self.open.get(older).is_some_and(|open| match open.core {
                Some(core) => core == start.source && (open.kind == EntityType::Task || open.state.on_core()),
                None => open.kind == EntityType::Task && self.left_edge.is_none(),
            })
        };
        let older = doubtful.range(..start.target_instance).map(|number| (start.target, *number));
        older.filter(is_over).collect()
    }

    /// The trace of `core`, or of all, has a gap `[begin, end)`: nothing is known there of the instances that
    /// are on it, nor of those that will start on it, as far as that is known yet.
    pub fn gap(&mut self, core: Option<NameId>, (begin, end): (i64, i64), names: &Names, rows: &mut Rows) {
        let (homes, gaps) = (&self.homes, &self.gaps);
        let is_home = |home: NameId| core.is_none_or(|core| home == core);
        let home = |open: &Open| open.core.or_else(|| homes.get(&open.process).copied());
        let concerned = |open: &&mut Open| !open.lost && home(open).map_or(core.is_none(), is_home);
        let mut cut: Vec<&mut Open> = self.open.values_mut().filter(concerned).collect();
        cut.sort_unstable_by_key(|open| open.born);
        for open in cut {
            // It may have been activated in an earlier gap that goes on.
            open.since = match home(open) {
                Some(home) => gaps.visible(home, open.since),
                None => gaps.visible_everywhere(open.since),
            };
            open.lose(begin, names, rows);
            self.doubtful.entry(open.process).or_default().insert(open.instance);
        }
        self.lost.retain(|process, _| homes.get(process).is_some_and(|home| !is_home(*home)));
        let of_core = homes.iter().filter(|(_, home)| is_home(**home));
        self.unseen.extend(of_core.map(|(process, _)| (*process, ())));
        self.gaps.add(core, end);
        if let Some(occupants) = &mut self.occupants {
            occupants.forget(core);
        }
    }

    /// A lost instance has ended, when and how is not known; false if it is not lost.
    pub fn end_lost(
        &mut self,
        process: Actor,
        names: &Names,
        entities: &mut Entities,
        rows: &mut Rows,
    ) -> bool {
        let is_lost = self.open.get(&process).is_some_and(|open| open.lost);
        if is_lost && let Some(open) = self.open.remove(&process) {
            open.end(None, names, entities, rows);
            self.settle(process);
        }
        is_lost
    }

    pub fn finish(&mut self, end: i64, names: &Names, entities: &mut Entities, rows: &mut Rows) {
        let mut rest: Vec<Open> = std::mem::take(&mut self.open).into_values().collect();
        rest.sort_unstable_by_key(|o| o.born);
        for mut open in rest {
            let nowhere = open.core.is_none() && !self.homes.contains_key(&open.process);
            let unseen = nowhere && self.gaps.visible_everywhere(open.since) > open.since;
            let is_followed = self.started.get(&open.process).is_some_and(|born| *born > open.born);
            // A gap may hide how it ended.
            self.violations.endless += u64::from(is_followed && open.start_at.is_some() && !open.lost);
            self.violations.occupied += u64::from(open.suspended.is_some() && end > open.since);
            if !open.lost && !unseen {
                open.leave(end, names, rows);
            }
            open.end(None, names, entities, rows);
        }
    }
}
