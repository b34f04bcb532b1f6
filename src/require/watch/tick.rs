//! The rows of one tick → records in order. Not for what is watched (see the module above).

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::{Fed, Origin, Record, Watch};
use crate::btf::State;
use crate::temporal::Symbol;

/// The states before and after an event, in the chart of its entity.
type Moves = (State, State);

/// The rows of a tick.
#[derive(Debug, Default)]
pub(super) struct Tick {
    events: Vec<Event>,
    /// The symbols of all events, one event after the other.
    symbols: Vec<Symbol>,
    changes: Vec<Change>,
    /// Ends and cores.
    gaps: Vec<(i64, Option<u32>)>,
}

#[derive(Debug)]
struct Event {
    origin: Origin,
    instance: i64,
    is_task: bool,
    moves: Option<Moves>,
    symbols: Range<usize>,
}

/// An instance enters a state, or leaves it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    pub entity: usize,
    pub instance: i64,
    pub state: State,
    pub begins: bool,
    pub is_task: bool,
    /// The number of the event that explains it, from 1; 0 if none does.
    pub place: usize,
}

/// What becomes of a watched state at one place of a tick.
struct Turn {
    state: usize,
    /// How many instances were in it.
    before: u64,
    /// It is a task that enters it.
    is_task: bool,
    /// It was unknown until now whether it is held, and it was.
    was_held: bool,
}

impl Tick {
    pub fn clear(&mut self) {
        self.events.clear();
        self.symbols.clear();
        self.changes.clear();
        self.gaps.clear();
    }

    pub fn event(
        &mut self,
        origin: Origin,
        (instance, is_task): (i64, bool),
        moves: Option<Moves>,
        symbols: impl Iterator<Item = Symbol>,
    ) {
        let begin = self.symbols.len();
        self.symbols.extend(symbols);
        let symbols = begin..self.symbols.len();
        self.events.push(Event { origin, instance, is_task, moves, symbols });
    }

    pub fn change(&mut self, change: Change) {
        self.changes.push(change);
    }

    pub fn gap(&mut self, end: i64, core: Option<u32>) {
        self.gaps.push((end, core));
    }

    /// The records of the tick.
    pub fn flush(&mut self, watch: &mut Watch, out: &mut Vec<Fed>) {
        self.explain();
        let mut changes = self.changes.as_slice();
        let mut upto = |place: usize| {
            let (these, rest) = changes.split_at(changes.partition_point(|change| change.place <= place));
            changes = rest;
            these
        };
        self.place(watch, upto(0), None, out);
        // Instances with an event in this tick: what they did before it is known.
        let mut seen = HashSet::new();
        for (n, event) in self.events.iter().enumerate() {
            let is_first = event.moves.is_some() && seen.insert((event.origin.entity, event.instance));
            self.place(watch, upto(n + 1), Some((event, is_first)), out);
        }
        for (end, core) in &self.gaps {
            let record = Record::Gap { end: *end, core: *core };
            out.push(Fed { time: watch.now, record, origin: None });
            for state in watch.states.iter_mut().filter(|state| state.is_hidden_by(*core)) {
                state.known = false;
                state.hidden_until = state.hidden_until.max(*end);
            }
        }
    }

    /// Finds the event of each change, and brings the changes in the order of those.
    fn explain(&mut self) {
        if self.changes.is_empty() {
            return;
        }
        let mut moved: HashMap<usize, Vec<(usize, Moves)>> = HashMap::new();
        for (n, event) in self.events.iter().enumerate() {
            if let Some(moves) = event.moves {
                moved.entry(event.origin.entity).or_default().push((n + 1, moves));
            }
        }
        for change in &mut self.changes {
            let mut events = moved.get(&change.entity).into_iter().flatten();
            let found = match change.begins {
                true => events.rfind(|(_, (_, to))| *to == change.state),
                false => events.find(|(_, (from, _))| *from == change.state),
            };
            change.place = found.map_or(0, |(place, _)| *place);
        }
        self.changes.sort_by_key(|change| change.place);
    }

    /// Some changes, and the event that explains them, with whether it is the first one of its instance.
    fn place(
        &self,
        watch: &mut Watch,
        changes: &[Change],
        event: Option<(&Event, bool)>,
        out: &mut Vec<Fed>,
    ) {
        let time = watch.now;
        let turns = turns(watch, changes, event);
        let origin = event.map(|(event, _)| event.origin);
        let mut push = |record| out.push(Fed { time, record, origin });
        for turn in &turns {
            let Some(state) = watch.states.get_mut(turn.state) else { continue };
            if !turn.was_held && (turn.before == 0 || state.count > 0) {
                continue;
            }
            // That a state ends with what is known of it is no event.
            let is_cut = event.is_none()
                && (time >= watch.end || self.gaps.iter().any(|(_, core)| state.is_hidden_by(*core)));
            state.known = !is_cut && time >= state.hidden_until;
            if !is_cut {
                push(Record::State(state.symbol, false));
            }
        }
        let symbols = event.and_then(|(event, _)| self.symbols.get(event.symbols.clone()));
        symbols.into_iter().flatten().for_each(|symbol| push(Record::Event(*symbol)));
        for turn in &turns {
            let alone = watch.cores.of_state(turn.state);
            let Some(state) = watch.states.get_mut(turn.state) else { continue };
            if turn.before > 0 || state.count == 0 {
                continue;
            }
            // Another instance may have been in it before, of which nothing is recorded yet.
            let is_certain = state.known || (turn.is_task && state.is_of_one());
            if !is_certain {
                push(Record::Gap { end: time, core: Some(alone) });
            }
            state.known = time >= state.hidden_until;
            push(Record::State(state.symbol, true));
        }
    }
}

/// Counts instances in states.
fn turns(watch: &mut Watch, changes: &[Change], event: Option<(&Event, bool)>) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    // The first event of an instance of a task after an edge or a gap says in which state it was before.
    if let Some((event, true)) = event
        && event.is_task
        && let (Some((from, _)), actor) = (event.moves, (event.origin.entity, event.instance))
        && !watch.open.contains_key(&actor)
    {
        for n in watch.of.get(actor.0).into_iter().flat_map(|of| &of.states) {
            if let Some(state) = watch.states.get(*n)
                && state.has(from)
                && state.is_of_one()
                && state.count == 0
                && !state.known
            {
                turns.push(Turn { state: *n, before: 0, is_task: true, was_held: true });
            }
        }
    }
    for change in changes {
        let spans = watch.open.entry((change.entity, change.instance)).or_default();
        *spans = if change.begins { *spans + 1 } else { spans.saturating_sub(1) };
        if *spans == 0 {
            watch.open.remove(&(change.entity, change.instance));
        }
        for n in watch.of.get(change.entity).into_iter().flat_map(|of| &of.states) {
            let Some(state) = watch.states.get_mut(*n).filter(|state| state.has(change.state)) else {
                continue;
            };
            let known = turns.iter().position(|turn| turn.state == *n);
            let at = known.unwrap_or_else(|| {
                turns.push(Turn { state: *n, before: state.count, is_task: true, was_held: false });
                turns.len() - 1
            });
            if !change.begins {
                state.count = state.count.saturating_sub(1);
                continue;
            }
            state.count += 1;
            if let Some(turn) = turns.get_mut(at) {
                turn.is_task &= change.is_task;
            }
        }
    }
    turns
}
