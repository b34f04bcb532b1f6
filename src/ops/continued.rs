//! A recording whose trace comes in several pieces: what is stored of its end, and whether the next piece
//! fits. Not the reading (see `read`), nor the mapping: the whole is mapped again, because what a later piece
//! shows can tell what held before (rules L1 to L5, H2, I6; docs/mapping.md).

use super::after::After;
use super::coverage::{CoreExtent, NOT_RECORDED, is_about_coverage};
use super::describe::time_range;
use super::forget::forget_mapping;
use super::ingest_options::Options;
use super::map::{MAPPERS, MapperEntry};
use super::parts::ROWS_OUT;
use super::read::ReadInput;
use super::recognise::Opened;
use super::setup::{MappingSetup, STATE};
use crate::description::{Description, StoredSetup};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::{FormatInfo, Gap, InputEnd, TraceFormat};
use crate::options::OptionValues;
use crate::schema::{GapView, SourceView, TableSpec, tables};
use crate::store::{Transaction, read_batches};
use arrow::array::RecordBatch;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The file, among those of the state of a recording.
const FILE: &str = "ends.json";

/// Where the inputs of a recording ended, and how they were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ends {
    format: String,
    /// The options of its format, by name.
    options: BTreeMap<String, Vec<String>>,
    inputs: Vec<InputEnd>,
    /// The times of the exports of each core.
    #[serde(default)]
    extents: Vec<CoreExtent>,
}

impl Ends {
    pub(super) fn new(format: &dyn TraceFormat, given: &OptionValues, inputs: &[ReadInput]) -> Self {
        let options = given.names().map(|name| (name.to_owned(), given.list(name).to_vec())).collect();
        let extents = inputs.iter().filter_map(|input| {
            let (InputEnd { core, role, .. }, extent) = (input.ending.end.clone()?, input.extent?);
            Some(CoreExtent { core, role, extent })
        });
        let extents = extents.collect();
        let inputs = inputs.iter().filter_map(|input| input.ending.end.clone()).collect();
        Self { format: format.info().name.to_owned(), options, inputs, extents }
    }

    /// The times of the exports of each core.
    pub(super) fn extents(&self) -> &[CoreExtent] {
        &self.extents
    }

    pub(super) fn write(&self, tx: &mut Transaction, recording: &str) -> Result<()> {
        tx.put_blob(STATE, recording, FILE, &self.to_json()?)
    }

    fn read(tx: &Transaction, recording: &str) -> Result<Self> {
        if !tx.files(tables::CLOCK, recording)?.is_empty() {
            return Err(Error::usage(format!("'{recording}' was aligned from other recordings"))
                .hint("continue those, remove it, and align them again: btfdb align"));
        }
        let text = tx.blob(STATE, recording, FILE)?.ok_or_else(|| {
            Error::database(format!("recording '{recording}' does not say where its inputs ended"))
                .hint("it was ingested by an earlier version of btfdb: ingest it again to continue it")
        })?;
        Self::from_json(&text, recording)
    }

    /// The text of the file.
    ///
    /// # Errors
    /// None that is known.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        serde_json::to_vec_pretty(self)
            .map_err(|e| Error::new(ErrorKind::Bug, "the end of an input is no JSON").because(e))
    }

    /// Reads the text of the file of a recording.
    ///
    /// # Errors
    /// [`ErrorKind::Database`], with the name of the recording.
    pub fn from_json(text: &[u8], recording: &str) -> Result<Self> {
        serde_json::from_slice(text)
            .map_err(|e| Error::database(format!("the end of '{recording}' cannot be read")).because(e))
    }

    /// Where the whole ends whose next piece ends like this: the inputs of the piece, and those that it does
    /// not continue.
    #[must_use]
    pub fn then(&self, mut piece: Self) -> Self {
        let of = |end: &InputEnd| (end.core.clone(), end.role.clone());
        let new: BTreeSet<_> = piece.inputs.iter().map(of).collect();
        piece.inputs.extend(self.inputs.iter().filter(|end| !new.contains(&of(end))).cloned());
        piece.inputs.sort_by_key(of);
        let mut places = BTreeMap::new();
        for (place, export) in piece.extents.iter().enumerate() {
            places.entry((export.core.clone(), export.role.clone())).or_insert(place);
        }
        for before in &self.extents {
            let place = places.get(&(before.core.clone(), before.role.clone()));
            match place.and_then(|place| piece.extents.get_mut(*place)) {
                Some(export) => export.extent = before.extent.then(export.extent),
                None => piece.extents.push(before.clone()),
            }
        }
        piece
    }
}

/// A recording that is being continued.
pub(super) struct Continued {
    name: String,
    ends: Ends,
    setup: StoredSetup,
    /// The names of its sources.
    sources: Vec<String>,
    /// Where it ends.
    pub after: After,
}

impl Continued {
    /// Fails when there is no such recording, or when it cannot be continued.
    pub fn read(tx: &Transaction, name: &str, formats: &[&'static dyn TraceFormat]) -> Result<Self> {
        tx.before().check_recording(Some(name))?;
        let ends = Ends::read(tx, name)?;
        let infos = formats.iter().map(|format| format.info());
        let format = infos.clone().find(|info| info.name == ends.format).unwrap_or(&FormatInfo::DEFAULT);
        if let Some(not) = format.not_continued {
            let can = infos.filter(|info| info.not_continued.is_none()).map(|info| info.help);
            let can = can.collect::<Vec<_>>().join(", ");
            let message =
                format!("'{name}' is a {}, which cannot be continued, because {}", format.noun, not.why);
            let hint = format!("recordings of these can be continued: {can}");
            return Err(Error::usage(message).hint(not.instead).hint(hint));
        }
        let setup = MappingSetup::read(tx, name)?.map(|setup| setup.settings_as(name));
        let setup = setup.transpose()?.unwrap_or_default();
        let mut sources = Vec::new();
        for (_, path) in tx.files(tables::SOURCE, name)? {
            for batch in read_batches(&path, tables::SOURCE, None, ROWS_OUT)? {
                let batch = batch?;
                let names = SourceView::of(&batch)?;
                sources.extend(names.rows().map(|row| row.source.text().to_owned()));
            }
        }
        Ok(Self { name: name.to_owned(), ends, setup, sources, after: After::of(tx, name)? })
    }

    /// The options with which the next piece is read.
    pub fn options(&self, description: &Description, given: &OptionValues) -> OptionValues {
        description.options_like(given, &self.ends.options)
    }

    /// Checks that the next piece is of the same application and read in the same way, and tells its inputs
    /// what they continue. `folder` names the piece.
    pub fn admit(
        &self,
        opened: &mut Opened,
        described: Option<&StoredSetup>,
        (options, values): (&Options, &OptionValues),
        folder: &str,
    ) -> Result<()> {
        let name = &self.name;
        let apart =
            |error: Error| error.hint("as a recording of its own, it takes --name in place of --continue");
        let noun = opened.format.info().noun;
        if opened.format.info().name != self.ends.format {
            let message =
                format!("a {noun} cannot continue '{name}', which is of format {}", self.ends.format);
            return Err(apart(Error::usage(message)));
        }
        if options.keep.is_some() {
            return Err(Error::usage("events cannot be left out of a recording that is continued"));
        }
        let given = Ends::new(opened.format, values, &[]);
        if given.options != self.ends.options {
            let all = given.options.keys().chain(self.ends.options.keys());
            let mut other = all.filter(|key| given.options.get(*key) != self.ends.options.get(*key));
            let option = other.next().map_or("", String::as_str);
            let text = |ends: &Ends| ends.options.get(option).map_or("not given".into(), |v| v.join(","));
            let (of_piece, of_whole) = (text(&given), text(&self.ends));
            let message =
                format!("option {option} of the piece is {of_piece}, and was {of_whole} for '{name}'");
            return Err(Error::usage(message).hint("both must be read in the same way"));
        }
        let described = described.filter(|setup| !setup.is_bare());
        if let Some(difference) = described.and_then(|setup| setup.difference(&self.setup)) {
            let message = format!("{difference} of the piece is not that of '{name}'");
            return Err(apart(Error::usage(message))
                .hint("a recording is continued with its own description, or with none at all"));
        }
        for input in opened.inputs_mut() {
            let core = input.core.clone().unwrap_or_default();
            let cores: Vec<_> = self.setup.cores.iter().map(|core| core.name.as_str()).collect();
            if !cores.contains(&core.as_str()) {
                let error = Error::usage(format!("'{name}' has no core '{core}'")).at(&input.path);
                return Err(error.hint_near(&core, cores, |all| format!("its cores are: {all}")));
            }
            let role = input.role.unwrap_or_default();
            input.after = self.ends.inputs.iter().find(|end| end.core == core && end.role == role).cloned();
            if let Some(end) = input.after.as_ref().filter(|_| described.is_none()) {
                input.time_offset = end.time_offset;
            }
            // Two sources of one recording must not share a name: findings refer to it.
            let taken = |name: &str| self.sources.iter().any(|source| source == name);
            if taken(&input.name) {
                let mut new = format!("{folder}/{}", input.name);
                while taken(&new) {
                    new = format!("{folder}/{new}");
                }
                input.name = new;
            }
        }
        Ok(())
    }

    /// The gaps of the whole: those of the pieces before, of which some reach into this one, and its own. Not
    /// those that are found by the times of all pieces, see [`super::coverage`].
    pub fn gaps(&self, tx: &mut Transaction, inputs: &[ReadInput]) -> Result<Vec<Gap>> {
        let mut gaps = Vec::new();
        for (_, path) in tx.files(tables::GAP, &self.name)? {
            for batch in read_batches(&path, tables::GAP, None, ROWS_OUT)? {
                let batch = batch?;
                gaps.extend(GapView::of(&batch)?.rows().map(|row| Gap {
                    begin: row.begin_at,
                    end: Some(row.end_at),
                    core: row.core.map(|core| core.text().to_owned()),
                    reason: row.reason.text().to_owned(),
                }));
            }
        }
        gaps.retain(|gap| gap.reason != NOT_RECORDED);
        let first = time_range(tx, &self.name)?.0.unwrap_or(0);
        tx.drop_table(tables::GAP, &self.name)?;
        // What was open at the end of a piece is in the gaps of the input that goes on, or still open.
        let goes_on: Vec<_> = self.continued(inputs).map(|end| (&end.core, &end.role)).collect();
        for end in &self.ends.inputs {
            for open in &end.open_gaps {
                let begin = open.begin.unwrap_or(first);
                let same = |(_, gap): &(usize, &Gap)| {
                    (gap.begin, gap.core.as_ref()) == (begin, Some(&end.core)) && gap.reason == open.reason
                };
                let stored = gaps.iter().enumerate().filter(same).max_by_key(|(_, gap)| gap.end);
                match stored.map(|(n, _)| n) {
                    Some(n) if goes_on.contains(&(&end.core, &end.role)) => drop(gaps.swap_remove(n)),
                    Some(n) => gaps[n].end = None,
                    None => {}
                }
            }
        }
        gaps.extend(inputs.iter().flat_map(|input| input.gaps.iter().cloned()));
        Ok(gaps)
    }

    /// Where the whole ends.
    pub fn ends(&self, of_piece: Ends) -> Ends {
        self.ends.then(of_piece)
    }

    /// Removes what was mapped of the pieces before; returns the findings that stay. The next mapping also
    /// knows `idle_tasks`, which came with this piece.
    pub fn forget_mapping(&self, tx: &mut Transaction, idle_tasks: Vec<String>) -> Result<Vec<RecordBatch>> {
        let mut native_tables: &[&TableSpec] = &[];
        if let Some(mut setup) = MappingSetup::read(tx, &self.name)? {
            if let Some(mapper) = &setup.mapper {
                native_tables = MapperEntry::named(MAPPERS, mapper, &self.name)?.native_tables;
            }
            let new = idle_tasks.into_iter().filter(|pattern| !setup.idle_tasks.contains(pattern));
            let new: Vec<_> = new.collect();
            if !new.is_empty() {
                setup.idle_tasks.extend(new);
                setup.write(tx, &self.name)?;
            }
        }
        forget_mapping(tx, &self.name, native_tables, is_about_coverage)
    }

    /// The ends of the inputs that `inputs` go on with.
    fn continued<'a>(&'a self, inputs: &'a [ReadInput]) -> impl Iterator<Item = &'a InputEnd> {
        let ends = inputs.iter().filter_map(|input| input.ending.end.as_ref());
        ends.filter_map(|end| {
            self.ends.inputs.iter().find(|old| (&old.core, &old.role) == (&end.core, &end.role))
        })
    }
}
