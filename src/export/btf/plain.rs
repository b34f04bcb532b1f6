//! Which rows of a batch a version expresses as they are, by the numbers of their names: most of them, which
//! are then copied and not translated. Not the translation (see `translate`).

use arrow::array::{Array as _, AsArray as _, StringArray};

use super::texts::Names;
use super::translate::{Source, Translator};
use crate::btf::spec::{Action, Content, EntityType};
use crate::names::Memo;

/// What is known of the names of the current dictionaries.
pub(super) struct Plain<'a> {
    translator: &'a Translator,
    sources: Memo<Option<Source>>,
    /// Only words as the specification spells them.
    kinds: Memo<Option<Option<EntityType>>>,
    actions: Memo<Option<Option<Action>>>,
    /// Whether a note is a number.
    notes: Memo<Option<bool>>,
    /// The answers so far, by source, type and action.
    known: Vec<Option<Verdict>>,
}

/// What makes rows of a source, type and action plain.
#[derive(Debug, Clone, Copy)]
struct Verdict {
    plain: bool,
    number: bool,
    required: bool,
    own: bool,
}

impl<'a> Plain<'a> {
    pub fn new(translator: &'a Translator) -> Self {
        Self {
            translator,
            sources: Memo::default(),
            kinds: Memo::default(),
            actions: Memo::default(),
            notes: Memo::default(),
            known: vec![None; 3 * EntityType::ALL.len() * Action::ALL.len()],
        }
    }

    /// The names of the next rows: source, type, target, action, note.
    pub fn turn_to(&mut self, [source, kind, _, action, note]: &[Names; 5]) {
        turn(&mut self.sources, source);
        turn(&mut self.kinds, kind);
        turn(&mut self.actions, action);
        turn(&mut self.notes, note);
    }

    /// True for a row that is expressed as it is; false if it has to be looked at.
    pub fn is_plain(&mut self, [source, kind, target, action, note]: &[Names; 5], row: usize) -> bool {
        let translator = self.translator;
        let of = source.key(row).and_then(|key| self.sources.get_or_compute(key, |n| translator.source(n)));
        let kind = kind.key(row).and_then(|key| self.kinds.get_or_compute(key, EntityType::parse)?);
        let action = action.key(row).and_then(|key| self.actions.get_or_compute(key, Action::parse)?);
        let (Some(of), Some(kind), Some(action)) = (of, kind, action) else { return false };
        let place =
            (of as usize * EntityType::ALL.len() + kind as usize) * Action::ALL.len() + action as usize;
        let Some(known) = self.known.get_mut(place) else { return false };
        let verdict = *known.get_or_insert_with(|| {
            let note = translator.note(kind, action);
            Verdict {
                plain: translator.is_plain(kind, action, of),
                number: note.is_some_and(|note| note.content == Content::Number),
                required: note.is_some_and(|note| note.required),
                own: translator.is_own(kind, action),
            }
        });
        let note = match note.key(row).filter(|_| verdict.number) {
            None => !verdict.required,
            Some(key) => {
                self.notes.get_or_compute(key, |note| Content::Number.fits(note.trim())) == Some(true)
            }
        };
        verdict.plain && note && (verdict.own || text(source, row) != text(target, row))
    }
}

fn entries(names: &Names) -> Option<&StringArray> {
    names.values().as_string_opt::<i32>()
}

fn turn<T: Copy>(memo: &mut Memo<Option<T>>, names: &Names) {
    if let Some(entries) = entries(names) {
        memo.turn_to(entries);
    }
}

fn text(names: &Names, row: usize) -> Option<&str> {
    let entries = entries(names)?;
    names.key(row).filter(|key| *key < entries.len()).map(|key| entries.value(key))
}
