//! Measures the requirements of a file in a trace. Not how they are measured (see [`crate::require`]).

use super::Control;
use super::open::{OpenOptions, Trace};
use crate::encoding::read_text;
use crate::error::{Error, Result};
use crate::require::{Known, Outcome, Requirements, known_chains, measure};
use crate::time::TimeScale;
use std::path::Path;
use std::sync::Arc;

/// Outcomes of requirements, and the unit of their ticks.
pub struct Measured {
    /// One for each requirement and entity of each recording.
    pub outcomes: Vec<Outcome>,
    /// Unit of every tick.
    pub time_scale: TimeScale,
}

/// Measures the requirements in `file` in the chosen recordings of a trace, as `measure` does it, e.g.
/// [`in_this_process`].
///
/// # Errors
/// When the file is missing or has mistakes; when the trace has nothing that the requirements are about;
/// those of opening it and of a query.
pub fn requirements(
    file: &Path,
    trace: &str,
    options: &OpenOptions,
    control: &Arc<Control>,
    measure: impl FnOnce(&Trace, &Requirements, &str) -> Result<Vec<Outcome>>,
) -> Result<Measured> {
    let text = read_text(file)?;
    let requirements = Requirements::parse(&text, file)?;
    let mut trace = Trace::open(trace, options, control)?;
    // A chain with a step that no trace has is a requirement without samples, not a mistake.
    let chains = known_chains(&trace.session, &requirements)?;
    trace.session = trace.session.with_chains(&chains)?;
    let outcomes = measure(&trace, &requirements, &text)?;
    if outcomes.is_empty() {
        let name = &trace.name;
        return Err(Error::usage(format!("'{name}' holds nothing that the requirements are about")));
    }
    Ok(Measured { outcomes, time_scale: trace.time_scale() })
}

/// Measures requirements in the recordings of a trace.
///
/// # Errors
/// Those of a query.
pub fn in_this_process(trace: &Trace, requirements: &Requirements) -> Result<Vec<Outcome>> {
    let known = Known::of(&trace.session, requirements)?;
    measure(&trace.session, requirements, &known, &trace.recordings)
}
