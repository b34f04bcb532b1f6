//! `btfdb ingest`.

use super::super::args::{DialectArg, Ingest, InputFormat};
use super::super::progress::watched;
use super::super::signals;
use super::super::ui::Ui;
use super::parse;
use crate::derive::Dialect;
use crate::description::{CoreDescription, Description, NameList, plan};
use crate::error::{Error, Result, did_you_mean};
use crate::ops::ingest::{KernelOptions, Options, Report, TraceKind, ingest};
use crate::qnx::{Class, Version, event_names};
use crate::store::RealDisk;
use crate::time::{TimeScale, format_duration};
use std::sync::Arc;
use std::time::Instant;

pub(super) fn run(args: &Ingest, ui: &Ui) -> Result<u8> {
    let plans = plan(&args.inputs, &description(args)?, is_trace(args.format))?;
    if let Some(trace) = plans.iter().find_map(|p| p.trace.as_ref())
        && args.format == InputFormat::Trace32
    {
        let message = format!("'{}' says neither its core nor what it holds", trace.display());
        let hint = "name exports CORE_data.csv and CORE_func.csv, or use --core name=…,data=…,functions=…";
        return Err(Error::usage(message).hint(hint));
    }
    let options = Options {
        time_scale: args.time_scale.as_deref().and_then(TimeScale::parse),
        map: !args.no_map,
        strict: args.strict,
        dialect: match args.dialect {
            DialectArg::Auto => None,
            DialectArg::Standard => Some(Dialect::Standard),
            DialectArg::Freertos => Some(Dialect::FreeRtos),
        },
        trace: match args.format {
            InputFormat::Btf => Some(TraceKind::Btf),
            InputFormat::Qnx => Some(TraceKind::Kernel),
            InputFormat::Grasp => Some(TraceKind::Grasp),
            InputFormat::Auto | InputFormat::Trace32 => None,
        },
        qnx_version: args.qnx_version.as_deref().map(qnx_version).transpose()?,
        keep: super::kernel::keep(&args.kernel)?,
        kernel: KernelOptions { jobs: jobs(&args.jobs)?, overlay_irqs: args.overlay_irqs, idle: args.idle },
        tick: args.tick.clone(),
        hash: !args.no_hash,
        threads: parse::threads(&args.limits),
    };
    let control = signals::control();
    let begun = Instant::now();
    let work = || ingest(Arc::new(RealDisk), &args.database, &plans, &options, &control);
    let reports = watched(ui, &control, work)?;
    for report in &reports {
        report_one(report, ui);
    }
    ui.status(&format!("done in {:.1} s", begun.elapsed().as_secs_f32()));
    Ok(0)
}

/// Inputs of these formats are traces, whatever their files are called.
fn is_trace(format: InputFormat) -> bool {
    matches!(format, InputFormat::Btf | InputFormat::Qnx | InputFormat::Grasp)
}

fn qnx_version(text: &str) -> Result<Version> {
    Version::of_release(text).ok_or_else(|| {
        let known = Version::ALL.map(Version::as_str).join(", ");
        Error::usage(format!("--qnx-version '{text}' is no release of Neutrino that btfdb knows"))
            .hint(format!("it knows {known}"))
    })
}

/// States by their names, with or without STATE_.
fn jobs(names: &[String]) -> Result<Vec<String>> {
    let known = || Version::ALL.into_iter().flat_map(|v| event_names(v, Class::Thread)).map(|(_, name)| name);
    let one = |name: &String| {
        let upper = name.trim().to_ascii_uppercase();
        let state = upper.strip_prefix("STATE_").unwrap_or(&upper).to_owned();
        let running = ["RUNNING", "READY", "CREATE", "DESTROY", "DEAD"];
        if known().any(|k| k == state) && !running.contains(&state.as_str()) {
            return Ok(state);
        }
        let error = Error::usage(format!("--jobs '{name}' is no state in which a thread blocks"));
        let near = did_you_mean(&state, known()).map(|k| format!("did you mean '{k}'?"));
        Err(error
            .hint(near.unwrap_or_else(|| "e.g. RECEIVE, NANOSLEEP, SEM, MUTEX, CONDVAR, INTR".to_owned())))
    };
    names.iter().map(one).collect()
}

/// What happened to every line, then what was found.
pub(super) fn report_one(report: &Report, ui: &Ui) {
    for (name, c) in &report.sources {
        ui.status(&format!(
            "{}: {name}: {} {} = {} rows + {} rejected + {} skipped",
            report.name,
            c.lines,
            report.unit,
            c.rows + c.gaps,
            c.rejected,
            c.skipped
        ));
        if c.gaps > 0 {
            ui.warning(&format!("{name}: {} holes in the trace; metrics leave out what they cut", c.gaps));
        }
        if c.inexact_times > 0 {
            let tick = format_duration(1, report.time_scale);
            ui.warning(&format!(
                "{name}: {} times were rounded to {tick}; see --time-scale ps",
                c.inexact_times
            ));
        }
    }
    ui.findings(&report.log);
    match (&report.mapped, &report.imported) {
        (Some(m), _) => ui.status(&format!("{}: mapped to {} BTF events", report.name, m.events)),
        (None, Some(i)) => {
            ui.status(&format!("{}: {} BTF events", report.name, i.events));
            if i.dialect == Dialect::FreeRtos {
                ui.status(&format!(
                    "{}: tasks are read as FreeRTOS loggers write them; --dialect standard reads them literally",
                    report.name
                ));
            }
            let broken = i.violations.process + i.violations.runnable;
            if broken > 0 {
                let (p, r) = (i.violations.process, i.violations.runnable);
                ui.warning(&format!(
                    "{p} process and {r} runnable events break the state charts; see btfdb check"
                ));
            }
        }
        (None, None) => ui.status(&format!("{}: not mapped", report.name)),
    }
}

fn description(args: &Ingest) -> Result<Description> {
    let names = |list: &[String]| NameList::Names(list.to_vec());
    let core = args.core.iter().map(|text| core(text)).collect::<Result<_>>()?;
    Ok(Description {
        name: args.name.clone(),
        os: args.os.clone(),
        runnables: names(&args.runnables),
        signals: names(&args.signals),
        data_radix: args.data_radix.clone(),
        core,
        ..Description::default()
    })
}

fn core(text: &str) -> Result<CoreDescription> {
    let mut core = CoreDescription::default();
    for part in text.split(',') {
        let bad = |why: String| Error::usage(format!("--core '{text}': {why}"));
        let (key, value) = part.split_once('=').ok_or_else(|| bad(format!("'{part}' is not KEY=VALUE")))?;
        let value = value.to_owned();
        match key.trim() {
            "name" => core.name = value,
            "data" => core.data = Some(value),
            "functions" => core.functions = Some(value),
            "orti" => core.orti = Some(value),
            "os_header" => core.os_header = Some(value),
            "symbols" => core.symbols = Some(value),
            "time_offset" => core.time_offset = Some(value),
            other => {
                let keys = ["name", "data", "functions", "orti", "os_header", "symbols", "time_offset"];
                let error = bad(format!("unknown key '{other}'"));
                let near = did_you_mean(other, keys).map(|k| format!("did you mean '{k}'?"));
                return Err(match near {
                    Some(hint) => error.hint(hint),
                    None => error.hint(format!("keys are {}", keys.join(", "))),
                });
            }
        }
    }
    Ok(core)
}
