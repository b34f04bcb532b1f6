//! A recording → a script for the Grasp player: tasks, jobs, preemptions, mutexes and messages. Not for
//! reading one (see `formats::grasp`).
//!
//! | here | Grasp |
//! |---|---|
//! | core | `newProcessor` |
//! | task, ISR | `newTask`, `-kind isr`; the order of the rows is the priority |
//! | instance | job `taskN.k`; activation `jobArrived`, or `newJob` when it is not in the window |
//! | start, resume | `jobResumed`, on another core with `-processor` |
//! | preempt, park | `jobPreempted`, `-target` what the core runs next |
//! | wait | `jobBlocked` |
//! | terminate | `jobCompleted` |
//! | lost activation | `taskArrivedAndIgnored` |
//! | semaphore with one holder at a time | `jobAcquiredMutex`, `jobReleasedMutex` |
//! | another semaphore | `jobAcquiredSemaphore`, `jobReleasedSemaphore`, `jobSuspendedOnSemaphore` |
//! | stimulus, signal, OS event | `message` |
//! | anything else | a comment `# btf: …` |
//! | gap | a comment `# gap of …`; what ran on its core is preempted |
//!
//! Jobs come from the tables of instances and states, which are the same for every dialect of BTF; states
//! without duration are left out. At one instant, arrivals come first, then what leaves a core, then what
//! gets it, so that everything is declared before it is named.

mod declare;
mod jobs;
mod moment;
mod original;
mod others;
mod script;

#[cfg(test)]
mod tests;

use super::{Content, ExportRequest, Exported, Exporter, ExporterInfo, Gaps};
use crate::engine::Session;
use crate::error::{Error, Result};
use crate::metrics::tick_of;
use crate::options::{OptionSpec, Word};
use crate::schema::tables;
use crate::selection::Selection;
use crate::words::words;
use declare::Declared;
use jobs::Jobs;
use moment::Moment;
use others::Others;
use script::{Script, Ticks};
use std::io::Write;

pub(super) struct Grasp;

const TICK: &str = "tick";
const DIALECT: &str = "dialect";

const DIALECTS: [Word; 2] =
    [Word { name: "2012", help: "`newTask …`" }, Word { name: "2010", help: "`[Task …] initWith …`" }];

static INFO: ExporterInfo = ExporterInfo {
    name: "grasp",
    title: "Grasp",
    help: "A script for the Grasp player",
    extensions: &["grasp"],
    content: Content::SystemEvents,
    options: &[
        OptionSpec::text(
            TICK,
            "T",
            "grasp: what a time of 1 is, e.g. 1us; that of the trace it came from when left out, else a tick of the \
                 database",
        ),
        OptionSpec::choice(
            DIALECT,
            "YEAR",
            &DIALECTS,
            "grasp: commands as the player of 2012 or the paper of 2010 has them",
        ),
    ],
};

impl Exporter for Grasp {
    fn info(&self) -> &ExporterInfo {
        &INFO
    }

    fn write(&self, session: &Session, request: &ExportRequest, out: &mut dyn Write) -> Result<Exported> {
        let options = GraspOptions {
            tick: request.options.ticks(TICK, session.database().time_scale())?,
            dialect: request.options.parsed(DIALECT, Dialect::parse)?,
        };
        let GraspCounts { commands, comments, left_out, gaps } =
            export_grasp(session, &request.selection, &options, out)?;
        Ok(Exported::new(format!("{commands} commands"), commands == 0)
            .warn(comments, || {
                format!("{comments} events cannot be said in Grasp; they are comments, # btf: …")
            })
            .warn(gaps, || {
                format!("{gaps} gaps of the recording cannot be said in Grasp; they are comments, # gap of …")
            })
            .warn(left_out, || {
                format!(
                    "commands left out that only Grasp has (servers, buffers, messages, deadlines, …): {left_out}; all of a \
                     trace, without --tick, is written as it was"
                )
            }))
    }
}

/// What is written.
#[derive(Clone, Copy)]
struct Part<'a> {
    session: &'a Session,
    selection: &'a Selection,
    recording: &'a str,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct GraspOptions {
    /// Ticks of the database per unit of time of the script; `None`: as in the Grasp trace, else one.
    pub tick: Option<i64>,
    /// How to declare objects; `None`: as in the original Grasp trace, else [`Dialect::Of2012`].
    pub dialect: Option<Dialect>,
}

words! {
    /// How objects are declared.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Dialect {
        /// `[Task t] initWith …`, as in the paper.
        Of2010 = "2010",
        /// `newTask t …`
        Of2012 = "2012",
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct GraspCounts {
    /// Commands, declarations included.
    pub commands: u64,
    /// Events that Grasp cannot express.
    pub comments: u64,
    /// Commands of a Grasp trace in the selected part that only Grasp can express (servers, buffers, messages
    /// and others). They are written only with the whole trace.
    pub left_out: u64,
    /// Gaps of the recording, which Grasp cannot express.
    pub gaps: u64,
}

/// Writes the selected part of a recording as a script. A whole Grasp trace, in its own unit, is copied.
/// Otherwise, jobs that exist when the window begins are declared, and resumed if they are running.
fn export_grasp(
    session: &Session,
    selection: &Selection,
    options: &GraspOptions,
    out: &mut dyn Write,
) -> Result<GraspCounts> {
    let recording = selection.recording(session)?;
    let own = tick_of(session, &recording)?;
    if selection.is_whole()
        && options.tick.is_none_or(|tick| own == Some(tick))
        && session.database().has(tables::GRASP_EVENT, recording.as_str())?
    {
        return original::write(session, &recording, options.dialect, out);
    }
    let tick = options.tick.or(own).unwrap_or(1);
    let ticks = Ticks::new(tick).ok_or_else(|| {
        Error::usage("--tick: times in such ticks have no end")
            .hint("a multiple of 2 and 5 only, e.g. 1us or 250ns")
    })?;
    let mut script = Script::new(out, ticks, options.dialect == Some(Dialect::Of2010));
    let unit = crate::time::format_duration(tick, session.database().time_scale());
    script.note(&format!("{recording}: 1 is {unit}"))?;
    let part = Part { session, selection, recording: &recording };
    let declared = Declared::write(part, &mut script)?;
    let mut jobs = Jobs::of(part)?;
    let mut others = Others::of(part)?;
    let mut gaps = Gaps::read(session, &recording)?.within(selection.from, selection.to);
    let mut moment = Moment::new(&declared);
    loop {
        let next = [jobs.at(), others.at()].into_iter().flatten().min();
        while let Some(gap) = gaps.next_before(next.unwrap_or(i64::MAX)) {
            script.gap(&gap)?;
        }
        let Some(at) = next else { break };
        while jobs.at() == Some(at) {
            moment.step(jobs.take()?);
        }
        while others.at() == Some(at) {
            moment.other(others.take()?);
        }
        moment.write(at, &mut script)?;
    }
    let left_out = original::of_grasp_alone(part)?;
    Ok(GraspCounts { left_out, ..script.finish()? })
}
