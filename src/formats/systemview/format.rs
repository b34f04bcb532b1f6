//! Recordings of SystemView as a [`TraceFormat`]: how they are recognised, which files belong together, and
//! how they are opened. Not the packets.

use super::description::Descriptions;
use super::header::Header;
use super::known::{INIT, TRACE_START};
use super::packet::packets;
use super::reader::{CLOCK, DescriptionReader, File, PacketReader};
use crate::diagnostics::Severity;
use crate::encoding::decoded;
use crate::error::{Error, Result};
use crate::formats::scheduler::{ENDLESS_OPTION, setup};
use crate::formats::{
    Confidence, Disorder, FormatInfo, Input, NamePattern, NotContinued, ProfileFile, RowOrder, Settings,
    Stream, TableUse, TraceFormat,
};
use crate::options::OptionSpec;
use crate::schema::tables;

/// How the files of a recording are called.
const TRACE: &str = ".svdat";
/// How descriptions are called: `SYSVIEW_FreeRTOS.txt`.
const DESCRIPTION: NamePattern = NamePattern { begin: "sysview_", end: ".txt" };
/// A description is not longer, in bytes.
const MOST_DESCRIPTION: usize = 16 << 20;

/// What the events of SystemView mean.
static PROFILE: ProfileFile =
    ProfileFile { name: "systemview", known_by: &[], text: include_str!("profile.toml") };

static INFO: FormatInfo = FormatInfo {
    name: "systemview",
    help: "A recording of SEGGER SystemView: .SVDat files",
    noun: "recording of SystemView",
    signature: "recordings of SystemView begin with ';' and '; Version SEGGER SystemView…'",
    options: &[
        OptionSpec::text(
            CLOCK,
            "HZ",
            "Recording of SystemView: ticks of its clock per second, if it does not begin with INIT, which tells them",
        ),
        ENDLESS_OPTION,
    ],
    tables: &[TableUse { table: tables::TRACE_EVENT, order: RowOrder::WithinBatches }],
    profiles: &[&PROFILE],
    disorder: Disorder::Fault(Severity::Error),
    no_events: "the recording holds no event",
    not_continued: Some(NotContinued {
        why: "a recording begins with what the target says of itself: its clock, its tasks",
        instead: "ingest each recording by itself, with --name",
    }),
    ..FormatInfo::DEFAULT
};

/// See the module.
#[derive(Debug)]
pub struct SystemView;

impl TraceFormat for SystemView {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn probe(&self, head: &[u8]) -> Confidence {
        match Header::read(head) {
            Some(header) if header.length > 0 => Confidence::Certain,
            // Without a header: the packets tell.
            Some(_) if packets(head).any(|packet| packet.id == TRACE_START || packet.id == INIT) => {
                Confidence::Likely
            }
            _ => Confidence::None,
        }
    }

    fn files_of_folder(&self, names: &[String]) -> Vec<String> {
        let is_here = |name: &&String| !name.contains('/');
        let is_trace = |name: &&String| name.to_ascii_lowercase().ends_with(TRACE);
        let traces: Vec<&String> = names.iter().filter(is_here).filter(is_trace).collect();
        if traces.is_empty() {
            return Vec::new();
        }
        let descriptions = names.iter().filter(is_here).filter(|name| DESCRIPTION.fits(name));
        traces.into_iter().chain(descriptions).cloned().collect()
    }

    fn description_of(&self, file_name: &str) -> Option<NamePattern> {
        file_name.to_ascii_lowercase().ends_with(TRACE).then_some(DESCRIPTION)
    }

    fn open(&self, inputs: Vec<Input>, settings: &Settings<'_>) -> Result<Vec<Stream>> {
        let frequency = settings.options.text(CLOCK).map(frequency).transpose()?;
        let (described, traces): (Vec<Input>, Vec<Input>) =
            inputs.into_iter().partition(|input| DESCRIPTION.fits(file_name(&input.name)));
        let (mut streams, mut descriptions) = (Vec::new(), Descriptions::default());
        for mut input in described {
            let text = text_of(&mut input)?;
            let misread = descriptions.add_file(&text);
            let reader = DescriptionReader { lines: text.lines().count() as u64, misread };
            streams.push(Stream { input, reader: Box::new(reader) });
        }
        let (mut first_cpu, is_alone) = (0, traces.len() == 1);
        for mut input in traces {
            let file = File {
                path: input.path.clone(),
                name: file_name(&input.name).to_owned(),
                is_alone,
                first_cpu,
                frequency,
                time_offset: input.time_offset,
                scale: settings.scale,
                descriptions: descriptions.clone(),
                setup: setup(&[PROFILE.name], settings),
            };
            let reader = PacketReader::open(file, input.source.head()?)?;
            first_cpu += reader.cpus();
            streams.push(Stream { input, reader: Box::new(reader) });
        }
        Ok(streams)
    }
}

fn frequency(text: &str) -> Result<u32> {
    text.parse().ok().filter(|hertz| *hertz > 0).ok_or_else(|| {
        Error::usage(format!("--{CLOCK}: '{text}' is no number of ticks per second"))
            .hint(format!("e.g. --{CLOCK} 40000000"))
    })
}

fn file_name(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// All of an input as text.
fn text_of(input: &mut Input) -> Result<String> {
    let mut bytes = Vec::new();
    while let Some(chunk) = input.source.next_chunk()? {
        if bytes.len() + chunk.bytes.len() > MOST_DESCRIPTION {
            return Err(Error::input("a description of events is not that long").at(&input.path));
        }
        bytes.extend_from_slice(&chunk.bytes);
        input.source.recycle(chunk.bytes);
    }
    Ok(decoded(&bytes).into_owned())
}
