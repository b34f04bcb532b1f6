//! Runs timing models: a simulated multi-core OSEK system writes its own events as BTF, and the recording
//! that a hardware probe would export from it. The recording, ingested and mapped, must be the BTF:
//! neither the kernel nor the reference shares anything with the mapper. Knows no folders: the caller
//! opens the outputs.

mod causes;
pub mod kernel;
pub mod model;
mod probe;
pub mod random;
mod random_numbers;
mod reference;

pub use kernel::{Counts, Standstill};
pub use model::Model;
pub use probe::{ProbeOptions, Recorded, Shape, TracedOs};

use crate::error::{Error, Result};
use causes::Causes;
use kernel::access::Unrecorded;
use kernel::causes::{Sink, Span};
use kernel::{Handlers, Kernel};
use probe::{Exports, Hooks, Probe};
use reference::Reference;
use std::io::Write;
use std::path::Path;

/// What a simulation wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulated {
    /// What the exports of all cores have; `None` if there is no recording, because accesses take no time.
    pub recorded: Option<Recorded>,
    /// Events of the reference.
    pub events: u64,
    /// What went on.
    pub counts: Counts,
}

/// Runs a checked model to its end. `open` opens the outputs by their names: `model.toml`,
/// `reference.btf`, and the files of `recording/`, which are like `options` says. `go_on` is asked now and
/// then, with the simulated time in ns, and may end the run. With `causes`, the kernels keep a record of why
/// each instance does not run: `causes.csv`.
///
/// # Errors
/// Those of [`ProbeOptions::check`], `open` and `go_on`, and [`crate::error::ErrorKind::Io`] when an output
/// fails.
pub fn simulate<W: Write>(
    model: &Model,
    options: &ProbeOptions,
    causes: bool,
    mut open: impl FnMut(&Path) -> Result<W>,
    go_on: impl FnMut(i64) -> Result<()>,
) -> Result<Simulated> {
    options.check(model)?;
    let handlers = Handlers::of(model);
    let failed = |name: &str| {
        let name = name.to_owned();
        move |error| Error::io("write", Path::new(&name), error)
    };
    let text = |name: &str, content: &str, open: &mut dyn FnMut(&Path) -> Result<W>| -> Result<()> {
        let mut out = open(Path::new(name))?;
        out.write_all(content.as_bytes()).and_then(|()| out.flush()).map_err(failed(name))
    };
    text("model.toml", &model.to_toml(), &mut open)?;
    let reference = Reference::new(open(Path::new("reference.btf"))?, model, &handlers);
    let record = causes.then(|| open(Path::new("causes.csv"))).transpose()?;
    let mut record = record.map(|out| Causes::new(out, model, &handlers));
    // What happens at one instant has no order in a recording.
    let has_recording = model.os.access > 0;
    let mut exports = Vec::new();
    if has_recording {
        for (name, content) in probe::description(model, &handlers, options) {
            text(&format!("recording/{name}"), &content, &mut open)?;
        }
        for core in 0..model.cores.len() {
            let data = open(Path::new(&format!("recording/core{core}_data.csv")))?;
            let functions = Path::new("recording").join(format!("core{core}_func.csv"));
            let functions = (!options.os.has_hooks()).then(|| open(&functions)).transpose()?;
            exports.push(Exports { data, functions });
        }
    }
    let sink = record.as_mut().map(|record| Box::new(|span: &Span| record.write(span)) as Sink);
    let (recorded, reference, counts) = if options.os.has_hooks() {
        let observers = (reference, Hooks::new(model, options, exports));
        let kernel = Kernel::new(model, &handlers, Unrecorded, observers).with_causes(sink);
        let (_, (reference, hooks), counts) = kernel.run(go_on)?;
        (hooks.finish(), reference, counts)
    } else {
        let probe = Probe::new(model, &handlers, options, exports);
        let kernel = Kernel::new(model, &handlers, probe, reference).with_causes(sink);
        let (probe, reference, counts) = kernel.run(go_on)?;
        (probe.finish(), reference, counts)
    };
    record.map_or(Ok(()), Causes::finish).map_err(failed("causes.csv"))?;
    let recorded = recorded.map_err(failed("recording"))?;
    let events = reference.finish().map_err(failed("reference.btf"))?;
    Ok(Simulated { recorded: has_recording.then_some(recorded), events, counts })
}
