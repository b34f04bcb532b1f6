//! An event of one version of BTF in terms of another one. Not the header.

use crate::btf::Record;
use crate::btf::spec::{self, Action, EntityType, Version};

/// The same event in terms of `version`; `None` if that version cannot express it.
pub(super) fn translated<'a>(event: &Record<'a>, version: Version) -> Option<Record<'a>> {
    let kind = EntityType::parse_tolerant(event.target_type).filter(|kind| kind.is_in(version))?;
    let action = Action::parse_tolerant(event.action)?;
    let permitted = spec::rule(version, kind, action)?;
    let mut translation = Record { target_type: kind.as_str(), action: action.as_str(), ..*event };
    let old = version == Version::V2_1_5;
    let simulation =
        event.source.eq_ignore_ascii_case("SIM") || event.source.eq_ignore_ascii_case("Simulation");
    match kind {
        // A stimulus from outside: SIM until 2.1.5, itself since 2.2.0.
        EntityType::Stimulus if !old && simulation => {
            (translation.source, translation.source_instance) = (event.target, event.target_instance);
        }
        EntityType::Stimulus if old && event.source == event.target => {
            (translation.source, translation.source_instance) = ("SIM", Some(-1));
        }
        // The instance of a scheduler: −1 until 2.1.5, 0 since 2.2.0.
        EntityType::Scheduler => {
            let number = Some(if old { -1 } else { 0 });
            translation.target_instance = number;
            if event.source == event.target {
                translation.source_instance = number;
            }
        }
        // SIM did what no process did; 2.2.0 cannot express that.
        _ if !old && simulation => return None,
        // The source is the target itself: up to 2.1.5, semaphores did that.
        _ if event.source == event.target && !permitted.own && !permitted.sources.has(kind) => return None,
        _ => {}
    }
    Some(translation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event<'a>(
        source: (&'a str, i64),
        kind: &'a str,
        target: (&'a str, i64),
        action: &'a str,
    ) -> Record<'a> {
        Record {
            time: 0,
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
    fn sources_that_a_version_does_not_have_are_not_said() {
        let idle = event(("SIM", -1), "SIG", ("S", 0), "write");
        assert!(translated(&idle, Version::V2_1_5).is_some());
        assert_eq!(translated(&idle, Version::V2_2_1), None);
        let queued = event(("SEM", 0), "SEM", ("SEM", 0), "queued");
        assert_eq!(translated(&queued, Version::V2_2_1), None);
        let own = event(("C_1", 0), "C", ("C_1", 0), "set_frequency");
        assert_eq!(translated(&own, Version::V2_2_1), None);
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
