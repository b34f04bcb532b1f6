//! The traced application, parsed from its description files. Not the model of the mapping (see `map::osek`).

use super::orti::{Orti, OsHeader, Symbols};
use super::profile::Profile;
use std::collections::BTreeMap;

/// The traced application: the description of a recording (o and l of the thesis, equation 4.6).
#[derive(Debug, Clone)]
pub struct Application {
    /// Mapping profile.
    pub profile: Profile,
    /// One entry per traced core, in recording order.
    pub cores: Vec<ApplicationCore>,
    /// l_r: functions that are runnables.
    pub runnables: Vec<String>,
    /// l_s: variables that are signals.
    pub signals: Vec<String>,
    /// Functions that are category 1 ISRs, which the OS does not manage.
    pub category1_isrs: Vec<String>,
    /// Traced variable name → path in ORTI, if the two differ.
    pub aliases: BTreeMap<String, String>,
    /// Task body function → task.
    pub task_functions: BTreeMap<String, String>,
    /// Window of rule I6 in ticks; 0 is off.
    pub coalescing: i64,
}

#[derive(Debug, Clone)]
pub struct ApplicationCore {
    pub name: String,
    /// The ORTI file of the core's OS.
    pub orti: Option<Orti>,
    /// The generated OS header: event masks, ids, spinlocks.
    pub header: Option<OsHeader>,
    /// Addresses of ISR handlers.
    pub symbols: Symbols,
}
