//! Mapping profiles: everything OS-specific as data, merged into the generic OSEK profile. Not the rules
//! themselves (see `machine`) and not the ORTI file.

use crate::error::{Error, Result};
use crate::time::{TimeScale, parse_time_argument};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::{Table, Value};

const OSEK: &str = include_str!("profiles/osek.toml");
const ERIKA2: &str = include_str!("profiles/erika2.toml");

/// The profiles that ship with btfdb: (name, TOML text).
pub const SHIPPED: [(&str, &str); 2] = [("osek", OSEK), ("erika2", ERIKA2)];

/// A complete mapping profile; the TOML files document every key.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Name of the profile.
    pub name: String,
    /// Patterns of the names of idle tasks, see [`crate::btf::IdleTasks`].
    pub idle_tasks: Vec<String>,
    /// ORTI state labels by OSEK state.
    pub states: StateLabels,
    /// Other ORTI labels with a meaning.
    pub labels: Labels,
    /// ORTI attributes that only some generators write.
    pub attributes: Attributes,
    /// Service names with a meaning.
    pub services: Services,
    /// Corrections of the ORTI service enumeration: id → label.
    pub service_ids: BTreeMap<String, String>,
    /// Which of the alternative rules apply.
    pub rules: Rules,
    /// Path patterns of kernel variables.
    pub variables: Variables,
    /// Facts about the kernel.
    pub kernel: Kernel,
}

/// ORTI labels of the four OSEK task states.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the OSEK states")]
pub struct StateLabels {
    pub running: Vec<String>,
    pub ready: Vec<String>,
    pub waiting: Vec<String>,
    pub suspended: Vec<String>,
}

/// ORTI labels with a meaning beyond task states.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Labels {
    /// "No task", "no ISR", "no locker".
    #[serde(rename = "nobody")]
    pub none: Vec<String>,
    /// A resource that is free.
    pub unlocked: Vec<String>,
    /// Too many activations.
    pub limit_error: String,
    /// The resource is taken.
    pub refused_errors: Vec<String>,
}

/// Names of ORTI attributes that only some generators write; the first one that an object has counts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attributes {
    /// TASK: the number of activations that are still allowed.
    pub remaining_activations: Vec<String>,
    /// TASK: events that are set.
    pub event_flags: Vec<String>,
    /// TASK: events that are waited for.
    pub event_mask: Vec<String>,
}

/// Service labels with a meaning, and how to distinguish entry and exit.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the services' own names")]
pub struct Services {
    pub entry: EntryMark,
    pub activate: String,
    pub chain: String,
    pub terminate: String,
    pub get_resource: Vec<String>,
    pub try_lock: Vec<String>,
    pub set_event: String,
    pub clear_event: String,
    pub wait_event: String,
    pub cancel_alarm: String,
    pub start: String,
}

/// How SERVICETRACE distinguishes entry and exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryMark {
    /// Bit 0 is set on entry (ORTI 2.2 part B).
    Bit0,
    /// Every write is an entry; there is no exit.
    None,
}

/// What shows that a resource is locked, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LockBy {
    /// RESOURCE.LOCKER (thesis, table 4.6).
    Locker,
    /// RESOURCE.STATE and the process on the core.
    State,
}

/// Which of the alternative rules apply.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Rule A4: an alarm fires when its ALARMTIME reaches zero.
    pub alarm_by_time: bool,
    /// Rule P2: refused GetResource calls mean polling.
    pub poll_by_error: bool,
    /// Rules S2 and S3: what shows that a resource is locked.
    pub lock_by: LockBy,
    /// Rule I6: window of coalescing, as time text (`"1us"`).
    pub tick_coalescing: String,
}

/// Path patterns of kernel variables beyond ORTI.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "documented in osek.toml, which users read")]
pub struct Variables {
    pub remaining_activations: Vec<String>,
    pub event_active: Vec<String>,
    pub event_waitmask: Vec<String>,
    pub alarm_action: Vec<String>,
    pub spinlock: Vec<String>,
    pub isr_nesting: Vec<String>,
    pub was_waiting: Vec<String>,
    pub remote_server: Vec<String>,
    pub expiry: Vec<String>,
}

/// Facts about the kernel.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Base names of variables that all cores share.
    pub shared: Vec<String>,
    /// Handlers that run service calls for another core.
    pub rpc_isrs: Vec<String>,
}

impl Profile {
    /// The generic profile, for what is not said otherwise.
    ///
    /// # Errors
    /// Never: tests parse every shipped profile.
    pub fn generic() -> Result<Self> {
        Self::parse("")
    }

    /// A shipped profile by name.
    pub fn shipped(name: &str) -> Option<Result<Self>> {
        SHIPPED.iter().find(|(n, _)| *n == name).map(|(_, text)| Self::parse(text))
    }

    /// Merges the TOML `text` into the shipped profile named by its key `base`, or else into the generic one.
    /// Errors name the key and the place in `text`.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |e: toml::de::Error| Error::input(format!("mapping profile: {}", e.message())).because(e);
        let mut base: Table = OSEK.parse().map_err(bad)?;
        let mut over: Table = text.parse().map_err(bad)?;
        if let Some(name) = over.remove("base") {
            let shipped = SHIPPED.iter().find(|(n, _)| name.as_str() == Some(n)).map(|(_, text)| text);
            let shipped = shipped.ok_or_else(|| {
                let known = SHIPPED.map(|(n, _)| n).join(", ");
                let name =
                    name.as_str().map_or_else(|| name.type_str().to_owned(), |name| format!("'{name}'"));
                Error::input(format!(
                    "mapping profile: base = {name} is none of the shipped profiles: {known}"
                ))
            })?;
            lay_over(&mut base, shipped.parse().map_err(bad)?);
        }
        lay_over(&mut base, over);
        let profile: Self = Value::Table(base).try_into().map_err(bad)?;
        profile.coalescing(TimeScale::Ps)?;
        for id in profile.service_ids.keys() {
            id.parse::<i64>().map_err(|_| {
                Error::input(format!("mapping profile: '{id}' in [service_ids] is not a service id"))
            })?;
        }
        Ok(profile)
    }

    /// The coalescing window (rule I6) in ticks of `scale`.
    pub fn coalescing(&self, scale: TimeScale) -> Result<i64> {
        parse_time_argument(&self.rules.tick_coalescing, scale)
            .map_err(|e| Error::input(format!("mapping profile: tick_coalescing: {e}")))
    }
}

/// Merges tables key by key; anything else is replaced.
fn lay_over(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(b)), Value::Table(o)) => lay_over(b, o),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_profiles_parse_and_differ_where_they_should() {
        let osek = Profile::shipped("osek").unwrap().unwrap();
        let erika = Profile::shipped("erika2").unwrap().unwrap();
        assert!(osek.rules.alarm_by_time && !erika.rules.alarm_by_time);
        assert_eq!(erika.states.running, osek.states.running);
        assert_eq!(erika.service_ids["74"], "TryToGetSpinlock");
    }

    #[test]
    fn a_profile_can_be_laid_over_any_shipped_one() {
        let own = Profile::parse("base = \"erika2\"\nname = \"own\"\n[rules]\ntick_coalescing = \"1us\"\n")
            .unwrap();
        assert_eq!((own.name.as_str(), own.rules.lock_by), ("own", LockBy::State));
        assert_eq!(own.coalescing(TimeScale::Ns).unwrap(), 1000);
        let e = Profile::parse("base = \"erika3\"\n").unwrap_err();
        assert!(e.to_string().contains("erika3") && e.to_string().contains("osek, erika2"), "{e}");
    }

    #[test]
    fn an_unknown_key_is_an_error_that_names_it() {
        let e = Profile::parse("[rules]\nlock_bye = \"state\"\n").unwrap_err();
        assert!(e.to_string().contains("lock_bye"), "{e}");
    }
}
