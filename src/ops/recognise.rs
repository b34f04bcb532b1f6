//! Finds the format of inputs, by what is said of them or by their first bytes. Not the reading.

use super::control::Control;
use super::ingest_options::Options;
use crate::description::{Plan, PlannedInput};
use crate::error::{Error, Result};
use crate::formats::{Confidence, Input, Settings, Stream, TraceFormat};
use crate::input::Source;
use crate::options::OptionValues;
use crate::time::{TimeScale, parse_time_argument};
use std::path::Path;

type Format = &'static dyn TraceFormat;

/// A recording whose format is known.
pub(super) struct Opened {
    pub format: Format,
    inputs: Vec<Input>,
}

/// Opens the inputs of a recording and finds its format. Fails for missing inputs; inputs of no format, or of
/// another one than given; options for another format.
pub(super) fn open(plan: &Plan, options: &Options, scale: TimeScale, control: &Control) -> Result<Opened> {
    if let Some(format) = plan.format {
        // A description is read first: errors in its options are found before files are opened.
        let place = plan.base.as_path();
        agrees(format, options, place)?;
        check_options(format, options, place)?;
        let inputs = plan
            .inputs
            .iter()
            .map(|input| open_input(input, options, scale, control))
            .collect::<Result<_>>()?;
        return Ok(Opened { format, inputs });
    }
    let mut inputs: Vec<Input> =
        plan.inputs.iter().map(|input| open_input(input, options, scale, control)).collect::<Result<_>>()?;
    let Some(first) = inputs.first_mut() else {
        return Err(Error::input("the recording has no input").at(&plan.base));
    };
    let found = recognise(options.formats, first.source.head()?);
    let format = match (options.format, found) {
        (Some(said), Some((found, Confidence::Certain))) if found.info().name != said.info().name => {
            return Err(Error::input(format!("this is a {}", found.info().noun))
                .at(&first.path)
                .hint(format!("use --format {}", found.info().name)));
        }
        (Some(said), _) => said,
        (None, Some((found, _))) => found,
        (None, None) if first.source.head()?.is_empty() => {
            return Err(Error::input("the file is empty").at(&first.path).hint("export the trace again"));
        }
        (None, None) => return Err(of_no_format(options.formats).at(&first.path)),
    };
    check_options(format, options, &first.path)?;
    Ok(Opened { format, inputs })
}

impl Opened {
    pub fn inputs_mut(&mut self) -> &mut [Input] {
        &mut self.inputs
    }

    pub fn streams(self, values: &OptionValues, scale: TimeScale) -> Result<Vec<Stream>> {
        let settings = Settings { scale, options: values };
        self.format.open(self.inputs, &settings)
    }
}

/// The unit of time in the first bytes of a file. `None` if there is none, and if the file cannot be opened
/// twice; errors are reported when it is read.
pub(super) fn unit_of(path: &Path, formats: &[Format]) -> Option<TimeScale> {
    if !path.is_file() {
        return None;
    }
    let mut source = Source::open(path).ok()?;
    let head = source.head().ok()?;
    recognise(formats, head)?.0.unit(head)
}

fn recognise(formats: &[Format], head: &[u8]) -> Option<(Format, Confidence)> {
    let sure = formats.iter().map(|format| (*format, format.probe(head)));
    // If several are equal, the first one.
    let best = sure.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    (best.1 > Confidence::None).then_some(best)
}

fn open_input(
    planned: &PlannedInput,
    options: &Options,
    scale: TimeScale,
    control: &Control,
) -> Result<Input> {
    let mut source = Source::open_until(&planned.path, &control.flag_shared())?;
    source.decode_from(options.encoding);
    source.unpack_at_most(options.max_unpacked);
    if !options.digest {
        source.skip_digest();
    }
    let part = planned.part.as_ref();
    let core = part.map(|part| part.core.clone());
    let offset = planned.time_offset.as_deref().unwrap_or("0");
    let time_offset = parse_time_argument(offset, scale).map_err(|e| {
        let core = core.as_deref().unwrap_or_default();
        Error::input(format!("time_offset of core '{core}': {e}"))
    })?;
    let (name, path) = (planned.name.clone(), planned.shown.as_ref().unwrap_or(&planned.path).clone());
    Ok(Input { name, path, core, role: part.map(|part| part.role), time_offset, after: None, source })
}

/// Checks that the format is the one in the description.
fn agrees(format: Format, options: &Options, place: &Path) -> Result<()> {
    match options.format.filter(|said| said.info().name != format.info().name) {
        Some(said) => Err(Error::input(format!("this is no {}", said.info().noun))
            .at(place)
            .hint(format!("it is read as {}: use --format {0} or auto", format.info().name))),
        None => Ok(()),
    }
}

/// Refuses options that only other formats have.
fn check_options(format: Format, options: &Options, input: &Path) -> Result<()> {
    let declares = |format: Format, name: &str| format.info().options.iter().any(|spec| spec.name == name);
    if let Some(name) = options.of_formats.names().find(|name| !declares(format, name)) {
        let takers = options.formats.iter().filter(|other| declares(**other, name));
        return Err(of_others(takers, input, |nouns| format!("--{name} is for {nouns}")));
    }
    if let Some(table) =
        options.keep.as_ref().map(|keep| keep.table).filter(|table| !format.info().fills(table))
    {
        let takers = options.formats.iter().filter(|other| other.info().fills(table));
        let filters = "--class, --event, --where and the like choose rows of";
        return Err(of_others(takers, input, |nouns| format!("{filters} {nouns}")));
    }
    if options.described && format.info().roles.is_empty() {
        let message = format!("'{}' is a {}", input.display(), format.info().noun);
        let hint = "--os, --core, --oil, --runnables and --signals describe exports of a probe";
        return Err(Error::usage(message).hint(hint));
    }
    Ok(())
}

/// The error for an input with an option of other formats; `hint` is called with what they are.
fn of_others<'f>(
    formats: impl Iterator<Item = &'f Format>,
    input: &Path,
    hint: impl FnOnce(String) -> String,
) -> Error {
    let nouns: Vec<&str> = formats.map(|format| format.info().noun).collect();
    let all = listed(&nouns);
    let alone = if nouns.len() == 1 { "ingest one by itself" } else { "ingest each by itself" };
    let hint = hint(format!("a {all}: {alone}"));
    Error::usage(format!("'{}' is no {all}", input.display())).hint(hint)
}

/// `a, b or c`.
fn listed(nouns: &[&str]) -> String {
    match nouns.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "trace".to_owned(),
    }
}

/// The error for a file that no format recognises. Formats that are recognised by file names come last.
fn of_no_format(formats: &[Format]) -> Error {
    let (named, alone): (Vec<Format>, Vec<Format>) = formats.iter().partition(|f| !f.info().roles.is_empty());
    let all: Vec<Format> = alone.into_iter().chain(named).collect();
    let nouns: Vec<&str> = all.iter().map(|f| f.info().noun).collect();
    let signatures: Vec<&str> = all.iter().map(|f| f.info().signature).collect();
    Error::input(format!("this is no {}", listed(&nouns))).hint(signatures.join("; "))
}
