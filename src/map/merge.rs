//! One stream out of many: the blocks of all cores' data and functions, merged in the order the rules need, with names
//! resolved. Knows nothing of batches and files (see `blocks`).

use super::blocks::{Block, Row};
use super::model::Model;
use super::slots::Watch;
use super::software::{Function, SoftwareEvent, What};
use crate::btf::NameId;
use crate::error::Result;

/// The blocks of one table and core, sorted by (time, seq).
pub type Blocks<'a> = Box<dyn Iterator<Item = Result<Block>> + 'a>;

/// The software events of one core.
pub struct CoreInput<'a> {
    /// Those of `data_event`.
    pub data: Blocks<'a>,
    /// Those of `function_event`.
    pub functions: Blocks<'a>,
}

/// The merged stream of all cores.
pub(super) struct Merge<'a> {
    cores: Vec<Core<'a>>,
    /// The core whose event comes first, as long as that is before `until`, the first place of all others.
    turn: usize,
    until: Place,
}

/// Where an event stands among those of other cores: by time; at one instant the release of a spinlock first, whatever
/// its core (part 2, rule 11), then by core.
type Place = (i64, bool, usize);
/// Behind every event.
const END: Place = (i64::MAX, true, usize::MAX);

struct Core<'a> {
    index: usize,
    data: Stream<'a, Variable>,
    functions: Stream<'a, Option<Function>>,
    head: Option<SoftwareEvent>,
    place: Place,
}

/// What a traced variable means.
#[derive(Clone, Copy)]
struct Variable {
    slot: Option<usize>,
    signal: Option<NameId>,
    /// A word of the spinlock array.
    spin: bool,
}

/// Rows of one table and core, and what their names mean.
struct Stream<'a, M> {
    /// Those to come.
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
            let mut core = Core { index, data, functions, head: None, place: END };
            core.advance(model)?;
            Ok(core)
        };
        let cores = inputs.into_iter().enumerate().map(core).collect::<Result<_>>()?;
        Ok(Self { cores, turn: 0, until: (i64::MIN, false, 0) })
    }

    /// The next event. Within a core functions come before data, then file order (gap 2).
    pub fn next(&mut self, model: &mut Model) -> Result<Option<SoftwareEvent>> {
        // A core that comes first often does so several times in a row.
        if !self.cores.get(self.turn).is_some_and(|core| core.place < self.until) {
            self.choose();
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
}

impl Core<'_> {
    fn advance(&mut self, model: &mut Model) -> Result<()> {
        loop {
            let data = self.data.first(|name| Variable::of(name, self.index, model))?;
            let call = self.functions.first(|name| model.function(name))?;
            let call_first = match (&data, &call) {
                (Some((data, _)), Some((call, _))) => call.time <= data.time,
                (data, _) => data.is_none(),
            };
            let (time, released, what) = match (call_first, data, call) {
                (true, _, Some((row, function))) => {
                    self.functions.at += 1;
                    let Some(function) = function else { continue };
                    (row.time, false, What::Call { function, entry: row.forth })
                }
                (false, Some((Row { time, value, forth: write, follows, .. }, variable)), _) => {
                    self.data.at += 1;
                    let Variable { slot, signal, spin } = variable;
                    let released = spin && write && value == 0;
                    (time, released, What::Access { slot, signal, write, value, follows })
                }
                _ => {
                    (self.head, self.place) = (None, END);
                    return Ok(());
                }
            };
            self.head = Some(SoftwareEvent { time, core: self.index, what });
            self.place = (time, !released, self.index);
            return Ok(());
        }
    }
}

impl Variable {
    fn of(name: &str, core: usize, model: &mut Model) -> Self {
        let meaning = model.slots.meaning(core, name);
        let watches = meaning.slot.map(|slot| model.slot(slot).watches.iter());
        let spin = watches.into_iter().flatten().any(|w| matches!(w, Watch::Spin(_)));
        Self { slot: meaning.slot, signal: meaning.signal.map(|s| model.names.intern(&s)), spin }
    }
}

impl<'a, M: Copy> Stream<'a, M> {
    fn new(blocks: Blocks<'a>) -> Self {
        Self { blocks: Some(blocks), block: Block::default(), at: 0, meanings: Vec::new() }
    }

    /// The present row and the meaning of its name; `None` at the end.
    #[inline]
    fn first(&mut self, meaning: impl FnMut(&str) -> M) -> Result<Option<(Row, M)>> {
        if self.at >= self.block.rows.len() && !self.load(meaning)? {
            return Ok(None);
        }
        let row = self.block.rows.get(self.at).copied();
        Ok(row.and_then(|row| Some((row, self.meanings.get(row.name as usize).copied()?))))
    }

    /// Goes on to the next block that has rows; false when there is none.
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
