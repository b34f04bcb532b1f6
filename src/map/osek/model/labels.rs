//! The meaning of labels and values of ORTI enumerations, by profile. Labels decide, because numbers differ
//! between vendors. Not the objects themselves (see `build`).

use super::{OsState, Service};
use crate::btf::IdleTasks;
use crate::description::orti::{EnumElement, EnumValue, Orti};
use crate::description::profile::Profile;

pub(super) fn service(label: &str, p: &Profile) -> Service {
    let s = &p.services;
    match label {
        l if l == s.activate => Service::Activate,
        l if l == s.chain => Service::Chain,
        l if l == s.terminate => Service::Terminate,
        l if l == s.set_event => Service::SetEvent,
        l if l == s.clear_event => Service::ClearEvent,
        l if l == s.wait_event => Service::WaitEvent,
        l if l == s.cancel_alarm => Service::CancelAlarm,
        l if l == s.start => Service::Start,
        l if s.get_resource.iter().any(|g| g == l) => Service::GetResource,
        l if s.try_lock.iter().any(|g| g == l) => Service::TryLock,
        _ => Service::Other,
    }
}

pub(super) fn os_state(label: &str, p: &Profile) -> Option<OsState> {
    let is = |list: &[String]| list.iter().any(|l| l.eq_ignore_ascii_case(label));
    match () {
        () if is(&p.states.running) => Some(OsState::Running),
        () if is(&p.states.ready) => Some(OsState::Ready),
        () if is(&p.states.waiting) => Some(OsState::Waiting),
        () if is(&p.states.suspended) => Some(OsState::Suspended),
        () => None,
    }
}

/// Rule O6: a label for "nobody". An idle task that `orti` describes is somebody.
pub(super) fn is_none_label(label: &str, p: &Profile, orti: &Orti) -> bool {
    let idles = || label.to_lowercase().starts_with("idle") || IdleTasks::new(&p.idle_tasks).has(label);
    p.labels.none.iter().any(|l| l.eq_ignore_ascii_case(label))
        || (orti.objects("TASK").all(|task| task.name != label) && idles())
}

pub(super) fn integer_of(elements: &[EnumElement], label: &str) -> Option<i64> {
    elements.iter().find(|e| e.label == label).and_then(|e| match e.value {
        EnumValue::Integer(v) => Some(v),
        EnumValue::Formula(_) => None,
    })
}

pub(super) fn expand(patterns: &[String], placeholder: &str, id: i64) -> Vec<String> {
    patterns.iter().map(|p| p.replace(placeholder, &id.to_string())).collect()
}

/// Rule O7: the values that equal `v` in C if one side is an unsigned 32-bit number. Generators write -1 for
/// "none" and leave the type open, and the target writes 0xFFFFFFFF.
pub(super) fn spellings(v: i64) -> [i64; 2] {
    match v {
        -0x8000_0000..0 => [v, v + (1 << 32)],
        0x8000_0000..=0xFFFF_FFFF => [v, v - (1 << 32)],
        _ => [v, v],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minus_one_and_its_unsigned_spelling_are_one_value() {
        assert_eq!(spellings(-1), [-1, 0xFFFF_FFFF]);
        assert_eq!(spellings(0xFFFF_FFFF), [0xFFFF_FFFF, -1]);
        assert_eq!(spellings(7), [7, 7]);
    }
}
