//! System events → BTF text. Streams: memory does not grow with the recording. By default, a recording that
//! was imported from BTF keeps the parameters, tables and comments of its file, its unit of time, its numbers
//! for names, and the order of its lines; options change each of these. Not for reading BTF text (see
//! `formats::btf`).

mod entities;
mod events;
mod gaps;
mod known;
mod lines;
mod numbers;
mod original;
mod plain;
mod state;
mod texts;
mod translate;

use std::io::Write;

use super::{Content, ExportRequest, Exported, Exporter, ExporterInfo, handlers};
use crate::btf::remark;
use crate::btf::spec::Version;
use crate::engine::{self, EventOrder, Session, imported_as};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::btf::NUMERIC_FORMAT;
use crate::options::{OptionSpec, Word};
use crate::render::in_order;
use crate::schema::{tables, view};
use crate::selection::Selection;
use crate::time::TimeScale;
use events::{Formatter, Style};
use lines::Lines;
use numbers::Numbers;
use original::Original;
use state::StateAtBegin;

pub(super) use gaps::Gap;
pub(crate) use gaps::Gaps;
pub(crate) use translate::{Translation, Translator};

pub(super) struct Btf;

const VERSION: &str = "btf-version";
const TIME_SCALE: &str = "time-scale";
const NUMERIC: &str = "numeric";
const SYMBOLIC: &str = "symbolic";
const WITH_STATE: &str = "with-state";

const VERSIONS: [Word; 3] = [Word::plain("2.1.5"), Word::plain("2.2.1"), Word::plain("2.3.0")];
const UNITS: [Word; 5] =
    [Word::plain("ps"), Word::plain("ns"), Word::plain("us"), Word::plain("ms"), Word::plain("s")];

static INFO: ExporterInfo = ExporterInfo {
    name: "btf",
    title: "BTF",
    help: "BTF text",
    extensions: &["btf"],
    content: Content::SystemEvents,
    options: &[
        OptionSpec::choice(
            VERSION,
            "VERSION",
            &VERSIONS,
            "Version of BTF to write; as imported when left out, for what was mapped the one that loses least",
        ),
        OptionSpec::choice(
            TIME_SCALE,
            "UNIT",
            &UNITS,
            "Unit of the times in the BTF: ps, ns, us, ms or s; as imported when left out",
        ),
        OptionSpec::flag(NUMERIC, "Write numbers for names in the BTF, with tables that explain them")
            .conflicts_with(SYMBOLIC),
        OptionSpec::flag(SYMBOLIC, "Write names in the BTF, also when it was imported with numbers"),
        OptionSpec::flag(
            WITH_STATE,
            "Begin the BTF with the state at --from, as events at that instant: what runs, is ready, waits and is held, \
             and the last value of every signal",
        ),
    ],
};

impl Exporter for Btf {
    fn info(&self) -> &ExporterInfo {
        &INFO
    }

    fn write(&self, session: &Session, request: &ExportRequest, out: &mut dyn Write) -> Result<Exported> {
        let given = &request.options;
        let options = BtfOptions {
            version: given.parsed(VERSION, Version::parse)?,
            time_scale: given.parsed(TIME_SCALE, TimeScale::parse)?,
            numeric: (given.has(NUMERIC) || given.has(SYMBOLIC)).then_some(given.has(NUMERIC)),
            by_time: request.by_time,
            with_state: given.has(WITH_STATE),
        };
        let (version, counts) = export_btf(session, &request.selection, &options, out)?;
        let BtfCounts {
            events,
            of_state,
            unsaid,
            shifted_by,
            altered,
            inexpressible,
            partly,
            left_out,
            rounded,
        } = counts;
        let version = version.map_or("", Version::as_str);
        let scale = session.database().time_scale();
        let of_state = match of_state {
            0 => String::new(),
            count => format!(", the first {count} for the state at the begin"),
        };
        Ok(Exported::new(format!("{events} events{of_state}"), events + inexpressible == 0)
            .warn(unsaid, || {
                format!("{unsaid} pending activations at the begin are comments: BTF numbers instances without gaps")
            })
            .warn(inexpressible, || {
                format!("{inexpressible} lines cannot be said in BTF {version}; they are comments now")
            })
            .warn(partly, || {
                format!("{partly} lines cannot be complete in BTF {version}; comments before them are")
            })
            .warn(left_out, || {
                format!(
                    "{left_out} lines that were rejected at the import are not written; see table diagnostic"
                )
            })
            .warn(rounded, || format!("{rounded} times were rounded to whole units; see --time-scale"))
            .warn(altered, || format!("{altered} names held a comma or a control character; BTF shows '_'"))
            .warn(shifted_by, || {
                format!("BTF times cannot be negative: all times are later by {shifted_by} {scale}")
            }))
    }
}

/// How to write BTF; the default of everything is what the imported file has, if there was one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct BtfOptions {
    /// Version of the specification to write: the header and events of others are translated. Default: as
    /// imported; for mapped recordings see [`Translator::best_version`].
    pub version: Option<Version>,
    /// Unit of the times. Default: as imported, else that of the database.
    pub time_scale: Option<TimeScale>,
    /// Numbers for names, with tables that explain them.
    pub numeric: Option<bool>,
    /// Lines in the order of time, not of the imported file.
    pub by_time: bool,
    /// Events at the begin of the window that say the state there.
    pub with_state: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct BtfCounts {
    /// Number of event lines, without those that became comments.
    pub events: u64,
    /// How many of the events say the state at the begin.
    pub of_state: u64,
    /// Parts of the state that no event can say.
    pub unsaid: u64,
    /// Ticks added to every time, because BTF has no negative times; 0 for nearly every recording.
    pub shifted_by: u64,
    /// Names and notes in which a character that BTF cannot express was replaced by `_`.
    pub altered: u64,
    /// Events that the version cannot express; they were written as comments.
    pub inexpressible: u64,
    /// Events whose note or source the version does not let them have; comments before them have it.
    pub partly: u64,
    /// Lines that were rejected at the import, and are therefore missing.
    pub left_out: u64,
    /// Times that are not a whole number of the unit; they were rounded half to even.
    pub rounded: u64,
}

/// Writes the selected system events as BTF, and returns the version, unless it is that of an imported file.
/// An entity is selected as source or target of an event.
pub(super) fn export_btf(
    session: &Session,
    selection: &Selection,
    options: &BtfOptions,
    out: &mut dyn Write,
) -> Result<(Option<Version>, BtfCounts)> {
    let recording = selection.recording(session)?;
    let facts = Facts::read(session, &recording)?;
    let version = match options.version {
        None if !facts.imported => Some(Translator::best_version(session, &recording)?),
        version => version,
    };
    let options = BtfOptions { version, ..*options };
    let begin = session.database().recording(&recording)?.and_then(|r| r.begin_at);
    let zero = begin.filter(|b| *b < 0).unwrap_or(0);
    let state = match (options.with_state, selection.from) {
        (false, _) => None,
        (true, Some(from)) => {
            Some((from, StateAtBegin::read(session, &recording, (selection, from), options.version)?))
        }
        (true, None) => {
            return Err(Error::usage("--with-state is about the instant --from, which is not given")
                .hint("without --from, the export begins with the recording"));
        }
    };
    let numeric = options.numeric.unwrap_or(facts.numeric);
    let original = Original::open(session, &recording, selection)?;
    // Another version gets tables of its own.
    let keep = facts.imported && options.version.is_none();
    let numbers = match numeric {
        true => {
            // The state names what was before the window.
            let from = selection.from.filter(|_| state.is_none());
            let named = Selection { from, ..selection.clone() };
            Some(Numbers::of(session, &recording, &named, facts.numeric && keep, keep)?)
        }
        false => None,
    };
    let translator = version.map(|version| Translator::new(session, &recording, version)).transpose()?;
    let mut comments = if facts.imported { Vec::new() } else { handlers::remarks(session, &recording)? };
    // An imported file keeps its lines: slices one behind the other are the file.
    let is_slice = !facts.imported && selection.from.or(selection.to).is_some();
    if is_slice && selection.entities.is_empty() && selection.types.is_empty() {
        comments.extend(entities::remarks(session, &recording)?);
    }
    if !selection.entities.is_empty() {
        comments.push(remark::part(&selection.entities));
    }
    comments.extend(state.iter().flat_map(|(_, state)| state.comments()));
    let scale = session.database().time_scale();
    let style = Style { scale, zero, translator, numbers, comments };
    let condition = selection.condition(tables::BTF_EVENT, &recording);
    let order = if options.by_time { EventOrder::Time } else { EventOrder::File };
    let (sql, params) = (condition.sql(), condition.params());
    let events = engine::events(session, &recording, (&sql, &params), selection.is_whole(), order)?;
    let events = match &state {
        Some((from, state)) => state.before(events, *from)?,
        None => events,
    };
    // The lines of an imported file stay as they are.
    let gaps = match facts.imported {
        true => Gaps::default(),
        false => Gaps::read(session, &recording)?.within(selection.from, selection.to),
    };
    let mut lines = Lines::new(&style, options, &facts, (original, gaps), events);
    let failed = |e| Error::new(ErrorKind::Io, "cannot write the BTF").because(e);
    let mut write = |bytes: &[u8]| out.write_all(bytes).map_err(failed);
    let formatters = in_order(session.threads(), &mut lines, || Formatter::new(&style), &mut write)?;
    let counts = BtfCounts {
        of_state: state.as_ref().map_or(0, |(_, state)| state.len() as u64),
        unsaid: state.as_ref().map_or(0, |(_, state)| state.unsaid.len() as u64),
        ..lines.done()
    };
    let counts = formatters.into_iter().fold(counts, |sum, formatter| {
        let done = formatter.done();
        BtfCounts {
            events: sum.events + done.events,
            altered: sum.altered + done.altered,
            inexpressible: sum.inexpressible + done.inexpressible,
            partly: sum.partly + done.partly,
            rounded: sum.rounded + done.rounded,
            ..sum
        }
    });
    Ok((version, counts))
}

/// What the export has to know of a recording before its events.
#[derive(Debug, Default)]
struct Facts {
    creator: Option<String>,
    created: Option<String>,
    /// It was imported from BTF, and so has lines to keep.
    imported: bool,
    /// The imported file names entities by number.
    numeric: bool,
}

view! {
    struct Origin of recording { creator, created }
}

impl Facts {
    fn read(session: &Session, recording: &str) -> Result<Self> {
        let mut facts = Self::default();
        for batch in session.scanner().rows(tables::RECORDING, recording, Origin::COLUMNS)? {
            let origin = Origin::of(&batch)?;
            facts.creator = origin.creator.get(0).map(str::to_owned).or(facts.creator);
            facts.created = origin.created.get(0).map(str::to_owned).or(facts.created);
        }
        let format = imported_as(session, recording)?;
        (facts.imported, facts.numeric) = (format.is_some(), format.as_deref() == Some(NUMERIC_FORMAT));
        Ok(facts)
    }
}
