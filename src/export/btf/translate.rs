//! An event of one version of BTF as another version says it (BTF 2.2.0, version history). Not the header.

use crate::btf::spec::{self, Kind, Version};

/// An event without its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fields<'a> {
    pub source: &'a str,
    pub source_instance: Option<i64>,
    pub target_type: &'a str,
    pub target: &'a str,
    pub target_instance: Option<i64>,
    pub action: &'a str,
    pub note: Option<&'a str>,
}

/// The same event in the words of `version`; `None` when that version has none for it.
pub(super) fn translated<'a>(event: &Fields<'a>, version: Version) -> Option<Fields<'a>> {
    let kind = spec::kind_alias(event.target_type)?;
    let rule = spec::KINDS.iter().find(|k| k.kind == kind && k.versions.has(version))?;
    let action = spec::action_alias(event.action)?;
    spec::action(version, kind, action)?;
    let mut said = Fields { target_type: rule.id, action, ..*event };
    let old = version == Version::V2_1_5;
    let simulation =
        event.source.eq_ignore_ascii_case("SIM") || event.source.eq_ignore_ascii_case("Simulation");
    match kind {
        // A stimulus from outside: SIM until 2.1.5, itself since 2.2.0.
        Kind::Stimulus if !old && simulation => {
            (said.source, said.source_instance) = (event.target, event.target_instance);
        }
        Kind::Stimulus if old && event.source == event.target => {
            (said.source, said.source_instance) = ("SIM", Some(-1));
        }
        // The instance of a scheduler: −1 until 2.1.5, 0 since 2.2.0.
        Kind::Scheduler => {
            let number = Some(if old { -1 } else { 0 });
            said.target_instance = number;
            if event.source == event.target {
                said.source_instance = number;
            }
        }
        _ => {}
    }
    Some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event<'a>(
        source: (&'a str, i64),
        kind: &'a str,
        target: (&'a str, i64),
        action: &'a str,
    ) -> Fields<'a> {
        Fields {
            source: source.0,
            source_instance: Some(source.1),
            target_type: kind,
            target: target.0,
            target_instance: Some(target.1),
            action,
            note: None,
        }
    }

    #[test]
    fn what_changed_between_versions_is_translated() {
        let (old, new) = (Version::V2_1_5, Version::V2_2_1);
        let sim = event(("SIM", -1), "STI", ("S", 4), "trigger");
        let own = event(("S", 4), "STI", ("S", 4), "trigger");
        assert_eq!((translated(&sim, new), translated(&own, old)), (Some(own), Some(sim)));
        let isr = event(("C", 0), "ISR", ("I_1", 0), "start");
        assert_eq!(translated(&isr, new).map(|f| f.target_type), Some("I"));
        let lost = event(("S", 0), "T", ("T", 9), "mtalimitexceded");
        assert_eq!(translated(&lost, new).map(|f| f.action), Some("mtalimitexceeded"));
        let scheduler = event(("OS", -1), "SCHED", ("OS", -1), "schedule");
        assert_eq!(translated(&scheduler, new), Some(event(("OS", 0), "SCHED", ("OS", 0), "schedule")));
    }

    #[test]
    fn what_a_version_does_not_have_is_not_said() {
        let ready = event(("SEM", 0), "SEM", ("SEM", 0), "ready");
        assert!(translated(&ready, Version::V2_1_5).is_some());
        assert_eq!(translated(&ready, Version::V2_3_0), None);
        assert_eq!(translated(&event(("C", 0), "C", ("C", 0), "set_frequence"), Version::V2_2_1), None);
        assert_eq!(translated(&event(("C", 0), "VENDOR", ("C", 0), "start"), Version::V2_2_1), None);
    }
}
