//! CTF traces as a [`TraceFormat`]: how they are recognised, which files belong together, and how they are
//! opened. Not the metadata (see `metadata`), nor the packets (see `packets`).

use super::metadata;
use super::reader::{CTF, Metadata, StreamReader};
use crate::error::{Error, Result};
use crate::formats::scheduler::{ENDLESS_OPTION, LINUX, setup};
use crate::formats::{
    Confidence, Disorder, Ending, FormatInfo, Input, NamePattern, NotContinued, Output, ProfileFile, Reader,
    RowOrder, Settings, Stream, TableUse, TraceFormat,
};
use crate::input::Chunk;
use crate::schema::tables;
use std::collections::BTreeMap;

/// How the file with the metadata of a trace is called.
const METADATA: &str = "metadata";
/// The begin of a packet.
const MAGIC: u32 = 0xC1FC_1FC1;
/// Metadata are not longer, in bytes.
const MOST_METADATA: usize = 256 << 20;

/// The tracer of Zephyr.
static ZEPHYR: ProfileFile = ProfileFile {
    name: "zephyr",
    known_by: &["thread_switched_in"],
    text: include_str!("profiles/zephyr.toml"),
};

/// The tracepoints of ROS 2, in addition to those of a kernel.
static ROS2: ProfileFile = ProfileFile {
    name: "ros2",
    known_by: &["ros2:callback_start"],
    text: include_str!("profiles/ros2.toml"),
};

static INFO: FormatInfo = FormatInfo {
    name: CTF,
    help: "A trace in the Common Trace Format, 1.8 or 2: a folder with a file 'metadata'",
    noun: "CTF trace",
    signature: "CTF traces are folders with a file 'metadata' and their streams",
    options: &[ENDLESS_OPTION],
    tables: &[TableUse { table: tables::TRACE_EVENT, order: RowOrder::AcrossBatches }],
    profiles: &[&LINUX, &ZEPHYR, &ROS2],
    disorder: Disorder::Expected,
    not_continued: Some(NotContinued {
        why: "a trace is read with its metadata, which each of its pieces has",
        instead: "ingest each piece by itself, with --name",
    }),
    ..FormatInfo::DEFAULT
};

/// See the module.
#[derive(Debug)]
pub struct Ctf;

impl TraceFormat for Ctf {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn probe(&self, head: &[u8]) -> Confidence {
        let is_packet = head
            .first_chunk::<4>()
            .is_some_and(|magic| [MAGIC.to_le_bytes(), MAGIC.to_be_bytes()].contains(magic));
        if is_packet || metadata::probe(head) { Confidence::Certain } else { Confidence::None }
    }

    fn files_of_folder(&self, names: &[String]) -> Vec<String> {
        let folders: Vec<&str> =
            names.iter().filter_map(|name| name.strip_suffix(METADATA)).filter(is_folder).collect();
        let is_of = |name: &&String| {
            let (folder, file) = name.split_at(name.rfind('/').map_or(0, |at| at + 1));
            folders.contains(&folder) && file != METADATA
        };
        let streams: Vec<String> = names.iter().filter(is_of).cloned().collect();
        match streams.is_empty() {
            true => streams,
            false => streams
                .into_iter()
                .chain(folders.iter().map(|folder| format!("{folder}{METADATA}")))
                .collect(),
        }
    }

    fn description_of(&self, file_name: &str) -> Option<NamePattern> {
        // Streams have no ending as other traces do: `channel0_0`, `stream`.
        let may_be_stream = !file_name.contains('.') && file_name != METADATA;
        may_be_stream.then_some(NamePattern { begin: METADATA, end: "" })
    }

    fn open(&self, inputs: Vec<Input>, settings: &Settings<'_>) -> Result<Vec<Stream>> {
        let (described, traces): (Vec<Input>, Vec<Input>) =
            inputs.into_iter().partition(|input| file_name(&input.name) == METADATA);
        if traces.is_empty() {
            let place = described.first().map(|input| input.path.clone()).unwrap_or_default();
            return Err(Error::input("these are the metadata of a CTF trace, without a stream")
                .at(place)
                .hint("give the folder of the trace"));
        }
        let (mut streams, mut traces_of_folders) = (Vec::new(), BTreeMap::new());
        for mut input in described {
            let (metadata, lines) = read_metadata(&mut input)?;
            traces_of_folders.insert(folder_of(&input.name).to_owned(), metadata);
            streams.push(Stream { input, reader: Box::new(MetadataReader { lines }) });
        }
        let profiles = profiles(&traces_of_folders);
        let setup = (!profiles.is_empty()).then(|| setup(&profiles, settings));
        let common = common_folder(&traces_of_folders);
        let is_alone = traces_of_folders.len() == 1;
        for input in traces {
            let Some(metadata) = traces_of_folders.get(folder_of(&input.name)) else {
                return Err(Error::input("the metadata of this CTF stream are missing")
                    .at(&input.path)
                    .hint("a file 'metadata' has to lie next to it"));
            };
            let name = if is_alone {
                file_name(&input.name)
            } else {
                input.name.strip_prefix(&common).unwrap_or(&input.name)
            };
            let (scale, offset) = (settings.scale, input.time_offset);
            let reader = StreamReader::new(metadata, &input.path, name, scale, offset, setup.clone());
            streams.push(Stream { input, reader: Box::new(reader) });
        }
        Ok(streams)
    }
}

/// The names of the profiles whose events these traces declare.
fn profiles(traces: &BTreeMap<String, Metadata>) -> Vec<&'static str> {
    let is_declared = |event: &&str| traces.values().any(|metadata| metadata.declares(event));
    let fits = |known: &&&ProfileFile| known.known_by.iter().any(&is_declared);
    INFO.profiles.iter().filter(fits).map(|known| known.name).collect()
}

/// The begin of a name that is a whole folder, or nothing.
fn is_folder(begin: &&str) -> bool {
    begin.is_empty() || begin.ends_with('/')
}

fn file_name(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

fn folder_of(name: &str) -> &str {
    name.get(..name.len() - file_name(name).len()).unwrap_or_default()
}

/// The folder that all traces of the recording lie in.
fn common_folder<T>(traces: &BTreeMap<String, T>) -> String {
    let mut folders = traces.keys();
    let first = folders.next().cloned().unwrap_or_default();
    let common = folders.fold(first, |common, folder| {
        let length = common.bytes().zip(folder.bytes()).take_while(|(a, b)| a == b).count();
        common.get(..length).unwrap_or_default().to_owned()
    });
    common.get(..common.rfind('/').map_or(0, |at| at + 1)).unwrap_or_default().to_owned()
}

fn read_metadata(input: &mut Input) -> Result<(Metadata, u64)> {
    let mut bytes = Vec::new();
    while let Some(chunk) = input.source.next_chunk()? {
        if bytes.len() + chunk.bytes.len() > MOST_METADATA {
            return Err(Error::input("metadata are not that long").at(&input.path));
        }
        bytes.extend_from_slice(&chunk.bytes);
        input.source.recycle(chunk.bytes);
    }
    let lines = bytes.split_inclusive(|b| *b == b'\n').count() as u64;
    Ok((Metadata::parse(&bytes).map_err(|e| e.at(&input.path))?, lines))
}

/// The lines of metadata, which were read before.
struct MetadataReader {
    lines: u64,
}

impl Reader for MetadataReader {
    fn chunk(&mut self, _chunk: &Chunk, _out: &mut Output<'_>) -> Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, out: &mut Output<'_>) -> Result<Ending> {
        (out.counts.lines, out.counts.skipped) = (self.lines, self.lines);
        Ok(Ending { source_format: "ctf-metadata", describes: true, ..Ending::default() })
    }
}
