//! Merges the blocks of all cores' data and functions into one stream, in the order that the rules need, with
//! names resolved. Knows nothing of batches and files (see `blocks`).

use super::blocks::{Block, Row};
use super::model::Model;
use super::slots::Role;
use super::software::{EventKind, Function, SoftwareEvent};
use crate::btf::NameId;
use crate::error::Result;

/// The blocks of one table and core, sorted by (time, seq).
pub(super) type Blocks<'a> = Box<dyn Iterator<Item = Result<Block>> + 'a>;

pub(super) struct CoreInput<'a> {
    pub data: Blocks<'a>,
    pub functions: Blocks<'a>,
}

pub(super) struct Merge<'a> {
    cores: Vec<Core<'a>>,
    /// The core with the next event, as long as that is before `until`, the first position of all others.
    turn: usize,
    until: Place,
}

/// The position of an event among those of all cores: by time; at one instant the release of a spinlock
/// first, on any core, then by core; but a resource is given back before another core accesses it (rule O1).
type Place = (i64, bool, usize);
/// After all events.
const END: Place = (i64::MAX, true, usize::MAX);

struct Core<'a> {
    index: usize,
    data: Stream<'a, Variable>,
    functions: Stream<'a, Option<Function>>,
    head: Option<SoftwareEvent>,
    place: Place,
    /// The head accesses this slot of a resource, and whether it gives that back.
    resource: Option<(usize, bool)>,
}

/// What a traced variable means.
#[derive(Clone, Copy)]
struct Variable {
    slot: Option<usize>,
    signal: Option<NameId>,
    /// A word of the spinlock array.
    spin: bool,
    /// A resource whose STATE or LOCKER it tells.
    resource: Option<usize>,
}

/// The rows of one table and core, and the meanings of their names.
struct Stream<'a, M> {
    blocks: Option<Blocks<'a>>,
    block: Block,
    at: usize,
    meanings: Vec<M>,
}

impl<'a> Merge<'a> {
    /// Starts the stream; takes the first blocks.
    pub fn new(inputs: Vec<CoreInput<'a>>, model: &mut Model) -> Result<Self> {
        let core = |(index, input): (usize, CoreInput<'a>)| {
            let (data, functions) = (Stream::new(input.data), Stream::new(input.functions));
            let mut core = Core { index, data, functions, head: None, place: END, resource: None };
            core.advance(model)?;
            Ok(core)
        };
        let cores = inputs.into_iter().enumerate().map(core).collect::<Result<_>>()?;
        Ok(Self { cores, turn: 0, until: (i64::MIN, false, 0) })
    }

    /// The next event. Within a core functions come before data, then file order (rule O2).
    pub fn next(&mut self, model: &mut Model) -> Result<Option<SoftwareEvent>> {
        // The same core often has several events in a row.
        if self.cores.get(self.turn).is_none_or(|core| core.place >= self.until || core.resource.is_some()) {
            self.choose();
            self.let_give_back();
        }
        let Some(core) = self.cores.get_mut(self.turn) else { return Ok(None) };
        let event = core.head.take();
        core.advance(model)?;
        Ok(event)
    }

    fn choose(&mut self) {
        let (mut first, mut second) = (END, END);
        for (n, core) in self.cores.iter().enumerate() {
            if core.place < first {
                (first, second, self.turn) = (core.place, first, n);
            } else {
                second = second.min(core.place);
            }
        }
        self.until = second;
    }

    /// Rule O1: the core whose turn it is accesses a resource that another core gives back at that instant.
    fn let_give_back(&mut self) {
        let Some(core) = self.cores.get(self.turn) else { return };
        let Some((slot, _)) = core.resource else { return };
        let (place, time) = (core.place, core.place.0);
        let gives = |other: &Core<'_>| other.place.0 == time && other.resource == Some((slot, true));
        if let Some(other) = self.cores.iter().position(gives).filter(|other| *other != self.turn) {
            (self.turn, self.until) = (other, place);
        }
    }
}

impl Core<'_> {
    fn advance(&mut self, model: &mut Model) -> Result<()> {
        self.resource = None;
        loop {
            let data = self.data.first(|name| Variable::of(name, self.index, model))?;
            let call = self.functions.first(|name| model.function(name))?;
            let call_first = match (&data, &call) {
                (Some((data, _)), Some((call, _))) => call.time <= data.time,
                (data, _) => data.is_none(),
            };
            let (time, released, kind) = match (call_first, data, call) {
                (true, _, Some((row, function))) => {
                    self.functions.at += 1;
                    let Some(function) = function else { continue };
                    (row.time, false, EventKind::Call { function, entry: row.write_or_entry })
                }
                (false, Some((Row { time, value, write_or_entry: write, follows, .. }, variable)), _) => {
                    self.data.at += 1;
                    let Variable { slot, signal, spin, resource } = variable;
                    self.resource =
                        slot.zip(resource).map(|(slot, s)| (slot, write && model.gives_back(s, value)));
                    let released = spin && write && value == 0;
                    (time, released, EventKind::Access { slot, signal, write, value, follows })
                }
                _ => {
                    (self.head, self.place) = (None, END);
                    return Ok(());
                }
            };
            self.head = Some(SoftwareEvent { time, core: self.index, kind });
            self.place = (time, !released, self.index);
            return Ok(());
        }
    }
}

impl Variable {
    fn of(name: &str, core: usize, model: &mut Model) -> Self {
        let meaning = model.slots.meaning(core, name);
        let path = model.slots.path(name);
        model.listed.variable(name, path);
        let roles = meaning.slot.map(|slot| model.slot(slot).roles.iter());
        let spin = roles.into_iter().flatten().any(|w| matches!(w, Role::Spin(_)));
        let roles = meaning.slot.map(|slot| model.slot(slot).roles.iter());
        let resource = roles.into_iter().flatten().find_map(|w| match w {
            Role::SemLocker(s) | Role::SemState(s) => Some(*s),
            _ => None,
        });
        Self { slot: meaning.slot, signal: meaning.signal.map(|s| model.names.intern(&s)), spin, resource }
    }
}

impl<'a, M: Copy> Stream<'a, M> {
    fn new(blocks: Blocks<'a>) -> Self {
        Self { blocks: Some(blocks), block: Block::default(), at: 0, meanings: Vec::new() }
    }

    /// The current row and the meaning of its name; `None` at the end.
    #[inline]
    fn first(&mut self, meaning: impl FnMut(&str) -> M) -> Result<Option<(Row, M)>> {
        if self.at >= self.block.rows.len() && !self.load(meaning)? {
            return Ok(None);
        }
        let row = self.block.rows.get(self.at).copied();
        Ok(row.and_then(|row| Some((row, self.meanings.get(row.name as usize).copied()?))))
    }

    /// Moves on to the next block with rows; false if there is none.
    fn load(&mut self, mut meaning: impl FnMut(&str) -> M) -> Result<bool> {
        while let Some(block) = self.blocks.as_mut().and_then(Iterator::next).transpose()? {
            self.meanings.extend(block.names.iter().map(|name| meaning(name)));
            (self.block, self.at) = (block, 0);
            if !self.block.rows.is_empty() {
                return Ok(true);
            }
        }
        (self.blocks, self.block) = (None, Block::default());
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::orti::{Oil, OsHeader, Symbols};
    use crate::description::{Application, ApplicationCore, Profile};
    use crate::time::TimeScale;
    use proptest::prelude::*;

    /// A model without an OS, in which the signal `S` and a spinlock matter.
    fn model(cores: usize) -> Model {
        let header = OsHeader { spinlocks: vec![("L".into(), 1)], ..OsHeader::default() };
        let core = |n| ApplicationCore {
            name: format!("C{n}"),
            ecu: 0,
            orti: None,
            orti_file: None,
            header: Some(header.clone()),
            header_file: None,
            oil: Oil::default(),
            symbols: Symbols::default(),
        };
        Model::new(&Application {
            profile: Profile::shipped("erika2").unwrap().unwrap(),
            cores: (0..cores).map(core).collect(),
            runnables: vec!["f".into()],
            signals: vec!["S".into()],
            category1_isrs: Vec::new(),
            aliases: Default::default(),
            task_functions: Default::default(),
            coalescing: 0,
            time_scale: TimeScale::Ns,
        })
    }

    /// A row: time since the row before, name, and content.
    type Step = (i64, bool, bool, u64);

    fn rows(steps: &[Step], functions: bool) -> Vec<Row> {
        let mut time = 0;
        let row = |(step, other, write_or_entry, value): &Step| {
            time += step;
            let name = u32::from(*other && !functions);
            Row { time, value: *value, name, write_or_entry: *write_or_entry, follows: *other }
        };
        steps.iter().map(row).collect()
    }

    fn blocks(rows: &[Row], names: &[&str], size: usize) -> Blocks<'static> {
        let names = names.iter().map(|n| (*n).to_owned()).collect();
        let rows: Vec<_> =
            rows.chunks(size).map(|rows| Block { names: Vec::new(), rows: rows.to_vec() }).collect();
        let first = Block { names, rows: Vec::new() };
        Box::new(std::iter::once(first).chain(rows).map(Ok))
    }

    const LOCK: &str = "EE_hal_spinlock_status[1]";

    /// The definition: of all first rows, takes the one that comes first, again and again.
    fn naive(mut cores: Vec<[Vec<Row>; 2]>) -> Vec<(usize, bool, Row)> {
        let mut found = Vec::new();
        loop {
            let heads = cores.iter().enumerate().filter_map(|(core, [data, functions])| {
                let function = functions.first().filter(|f| data.first().is_none_or(|d| f.time <= d.time));
                let row = function.or(data.first())?;
                let release = function.is_none() && row.name == 0 && row.write_or_entry && row.value == 0;
                Some((row.time, !release, core, function.is_some()))
            });
            let Some((_, _, core, function)) = heads.min() else { return found };
            found.push((core, function, cores[core][usize::from(function)].remove(0)));
        }
    }

    proptest! {
        #[test]
        fn the_first_of_all_heads_is_next(
            cores in prop::collection::vec(
                (
                    prop::collection::vec((0i64..3, any::<bool>(), any::<bool>(), 0u64..2), 0..30),
                    prop::collection::vec((0i64..3, any::<bool>(), any::<bool>(), 0u64..1), 0..30),
                ),
                0..4,
            ),
            size in 1usize..8,
        ) {
            let cores: Vec<_> = cores.iter().map(|(data, calls)| [rows(data, false), rows(calls, true)]).collect();
            let mut model = model(cores.len());
            let input = |[data, calls]: &[Vec<Row>; 2]| CoreInput {
                data: blocks(data, &[LOCK, "S"], size),
                functions: blocks(calls, &["f"], size),
            };
            let mut merge = Merge::new(cores.iter().map(input).collect(), &mut model).unwrap();
            for (core, function, row) in naive(cores) {
                let event = merge.next(&mut model).unwrap().unwrap();
                prop_assert_eq!((event.core, event.time), (core, row.time));
                match event.kind {
                    EventKind::Call { entry, .. } => prop_assert!(function && entry == row.write_or_entry),
                    EventKind::Access { slot, signal, write, value, follows } => {
                        prop_assert!(!function);
                        prop_assert_eq!((slot.is_some(), signal.is_some()), (row.name == 0, row.name == 1));
                        prop_assert_eq!((write, value, follows), (row.write_or_entry, row.value, row.follows));
                    }
                }
            }
            prop_assert!(merge.next(&mut model).unwrap().is_none());
        }
    }
}
