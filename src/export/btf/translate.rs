//! An event of one version of BTF, or of a mapper, in terms of another version. Not the header.

use std::collections::HashSet;

use crate::btf::Record;
use crate::btf::spec::{self, Action, ActionRule, Content, EntityType, EntityTypes, Note, Version};
use crate::engine::Session;
use crate::error::Result;
use crate::export::handlers;

/// Expresses events in one version.
#[derive(Debug)]
pub(crate) struct Translator {
    pub version: Version,
    /// The tasks and ISRs of the recording.
    processes: HashSet<String>,
    /// Semaphores with increments or decrements.
    counting: HashSet<String>,
}

/// An event in terms of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Translation<'a> {
    /// All of it.
    Whole(Record<'a>),
    /// Without its note, or without the stimulus that caused it, which the version does not let it have.
    Partly(Record<'a>),
    /// The version cannot express it.
    None,
}

/// What the source of an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Process,
    /// What is outside of the software.
    Environment,
    Other,
}

impl Translator {
    pub fn new(session: &Session, recording: &str, version: Version) -> Result<Self> {
        let processes = processes(session, recording)?;
        // Only 2.3.0 makes notes depend on them.
        let counting = match version {
            Version::V2_3_0 => session.names(
                "SELECT DISTINCT target FROM btf_event WHERE recording = $recording \
                 AND is_type(target_type, 'SEM') AND is_action(action, 'increment', 'decrement')",
                &[("recording", recording.into())],
            )?,
            _ => Vec::new(),
        };
        Ok(Self { version, processes, counting: counting.into_iter().collect() })
    }

    /// To a version, or to [`Self::best_version`] if none is given.
    pub fn for_version(session: &Session, recording: &str, version: Option<Version>) -> Result<Self> {
        let version = version.map_or_else(|| Self::best_version(session, recording), Ok)?;
        Self::new(session, recording, version)
    }

    /// The version that expresses most of a mapped recording: 2.1.5, which has SIM for code outside of every
    /// process. If there is no such code, but alarms set OS events, it is 2.2.1: since 2.2.0 stimuli do that,
    /// before only processes (2.1.5 table 14).
    pub fn best_version(session: &Session, recording: &str) -> Result<Version> {
        let sources = |condition: &str| {
            let of = "SELECT DISTINCT source FROM btf_event WHERE recording = $recording AND";
            session.names(&format!("{of} {condition}"), &[("recording", recording.into())])
        };
        let set_events = sources("is_action(action, 'set_event')")?;
        let by_processes = set_events.is_empty() || {
            let processes = processes(session, recording)?;
            set_events.iter().all(|source| processes.contains(source))
        };
        if by_processes {
            return Ok(Version::V2_1_5);
        }
        let outside = sources("is_environment(source) AND NOT is_type(target_type, 'STI')")?;
        Ok(if outside.is_empty() { Version::V2_2_1 } else { Version::V2_1_5 })
    }

    pub(super) fn source(&self, name: &str) -> Source {
        match self.processes.contains(name) {
            true => Source::Process,
            false if spec::is_environment(name) => Source::Environment,
            false => Source::Other,
        }
    }

    /// The same event in terms of the version.
    pub fn translate<'a>(&self, event: &Record<'a>) -> Translation<'a> {
        let Some(kind) = EntityType::parse_tolerant(event.target_type) else { return Translation::None };
        let Some((action, rule)) = Action::parse_tolerant(event.action).and_then(|a| self.rule(kind, a))
        else {
            return Translation::None;
        };
        let mut translation = Record { target_type: kind.as_str(), action: action.as_str(), ..*event };
        let old = self.version == Version::V2_1_5;
        let source = self.source(event.source);
        let mut complete = true;
        if !self.allows(kind, rule, source) {
            // An alarm sets an OS event. Up to 2.1.5 it is no process, hence SIM, which triggered the alarm.
            if !old || action != Action::SetEvent {
                return Translation::None;
            }
            complete = false;
            (translation.source, translation.source_instance) = ("SIM", Some(-1));
        }
        match kind {
            // A stimulus from outside: SIM until 2.1.5, itself since 2.2.0.
            EntityType::Stimulus if !old && source == Source::Environment => {
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
            // The source is the target itself: up to 2.1.5, semaphores did that.
            _ if event.source == event.target && !Self::may_be_own(kind, rule) => {
                return Translation::None;
            }
            _ => {}
        }
        let note = event.note.map(str::trim).filter(|note| !note.is_empty());
        match note {
            None if rule.note.required => Translation::None,
            Some(note) if !self.allows_note(kind, rule, event.target, note) => match rule.note.required {
                true => Translation::None,
                false => Translation::Partly(Record { note: None, ..translation }),
            },
            _ if !complete => Translation::Partly(translation),
            _ => Translation::Whole(translation),
        }
    }

    /// The action of the version that means `action` of `kind`, and its rule.
    fn rule(&self, kind: EntityType, action: Action) -> Option<(Action, &'static ActionRule)> {
        if !kind.is_in(self.version) {
            return None;
        }
        // 2.2.0 has no state before FREE; listing 2-13 of 2.3.0 begins with what was `ready` before.
        let new = self.version != Version::V2_1_5;
        let ready = new && kind == EntityType::Semaphore && action == Action::Ready;
        let action = if ready { Action::Free } else { action };
        spec::rule(self.version, kind, action).map(|rule| (action, rule))
    }

    /// True if such a source can cause it. The types of other sources are not known here.
    fn allows(&self, kind: EntityType, rule: &ActionRule, source: Source) -> bool {
        let by_processes = rule.sources.within(EntityTypes::PROCESS) && !self.processes.is_empty();
        match source {
            Source::Process => true,
            // SIM did what no process did (the thesis, section 4.2); 2.2.0 cannot express that.
            Source::Environment => self.version == Version::V2_1_5 || kind == EntityType::Stimulus,
            Source::Other => !by_processes,
        }
    }

    fn allows_note(&self, kind: EntityType, rule: &ActionRule, target: &str, note: &str) -> bool {
        // 2.3 §2.3.7: a note only if increments or decrements are used.
        let spinlock = self.version == Version::V2_3_0
            && kind == EntityType::Semaphore
            && !self.counting.contains(target);
        rule.note.content.fits(note) && !spinlock
    }

    /// True if events of this type, action and kind of source are expressed as they are, whatever their
    /// instances, provided that their note is that of [`Self::note`], and their source another entity than
    /// their target unless they are [`Self::is_own`].
    pub(super) fn is_plain(&self, kind: EntityType, action: Action, source: Source) -> bool {
        let Some((same, rule)) = self.rule(kind, action) else { return false };
        let looked_at = matches!(kind, EntityType::Stimulus | EntityType::Scheduler)
            || kind == EntityType::Semaphore && self.version == Version::V2_3_0;
        let note = rule.note.content == Content::Number || !rule.note.required;
        same == action && !looked_at && note && self.allows(kind, rule, source)
    }

    /// True if such an event may have itself as the source.
    pub(super) fn is_own(&self, kind: EntityType, action: Action) -> bool {
        self.rule(kind, action).is_some_and(|(_, rule)| Self::may_be_own(kind, rule))
    }

    /// No version lets a process move itself, but some tools write so. Without such events, those of the
    /// process that are left would tell another story.
    fn may_be_own(kind: EntityType, rule: &ActionRule) -> bool {
        rule.own || rule.sources.has(kind) || EntityTypes::PROCESS.has(kind)
    }

    /// What the note of such an event has to be.
    pub(super) fn note(&self, kind: EntityType, action: Action) -> Option<Note> {
        self.rule(kind, action).map(|(_, rule)| rule.note)
    }
}

/// What a recording calls its tasks and ISRs: in its tables, and in its events.
fn processes(session: &Session, recording: &str) -> Result<HashSet<String>> {
    let sql = "SELECT DISTINCT process FROM process_instance WHERE recording = $recording";
    let processes = session.names(sql, &[("recording", recording.into())])?;
    Ok(processes.into_iter().chain(handlers::names(session, recording)?).collect())
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

    fn to(version: Version) -> Translator {
        let processes = ["T_1", "I_1"].map(str::to_owned).into();
        Translator { version, processes, counting: HashSet::new() }
    }

    fn translated<'a>(event: &Record<'a>, version: Version) -> Option<Record<'a>> {
        match to(version).translate(event) {
            Translation::Whole(event) => Some(event),
            Translation::Partly(_) | Translation::None => None,
        }
    }

    #[test]
    fn what_changed_between_versions_is_translated() {
        let (old, new) = (Version::V2_1_5, Version::V2_2_1);
        let sim = event(("SIM", -1), "STI", ("S", 4), "trigger");
        let own = event(("S", 4), "STI", ("S", 4), "trigger");
        assert_eq!((translated(&sim, new), translated(&own, old)), (Some(own), Some(sim)));
        for name in ["Sim", "SYSTEM", "simulation"] {
            assert_eq!(translated(&event((name, 0), "STI", ("S", 4), "trigger"), new), Some(own));
        }
        let isr = event(("C", 0), "ISR", ("I_1", 0), "start");
        assert_eq!(translated(&isr, new).map(|f| f.target_type), Some("I"));
        let lost = event(("S", 0), "T", ("T", 9), "mtalimitexceded");
        assert_eq!(translated(&lost, new).map(|f| f.action), Some("mtalimitexceeded"));
        let scheduler = event(("OS", -1), "SCHED", ("OS", -1), "schedule");
        assert_eq!(translated(&scheduler, new), Some(event(("OS", 0), "SCHED", ("OS", 0), "schedule")));
        let ready = event(("SEM", 0), "SEM", ("SEM", 0), "ready");
        assert_eq!(translated(&ready, old), Some(ready));
        assert_eq!(translated(&ready, new).map(|f| f.action), Some("free"));
    }

    #[test]
    fn sources_that_a_version_does_not_have_are_not_said() {
        let idle = Record { note: Some("1"), ..event(("SIM", -1), "SIG", ("S", 0), "write") };
        assert!(translated(&idle, Version::V2_1_5).is_some());
        assert_eq!(translated(&idle, Version::V2_2_1), None);
        let queued = event(("SEM", 0), "SEM", ("SEM", 0), "queued");
        assert_eq!(translated(&queued, Version::V2_2_1), None);
        let own = event(("C_1", 0), "C", ("C_1", 0), "set_frequency");
        assert_eq!(translated(&own, Version::V2_2_1), None);
        let alarm = Record { note: Some("T_1"), ..event(("ALARM", 3), "EVENT", ("E", 0), "set_event") };
        let outside = Record { source: "SIM", source_instance: Some(-1), ..alarm };
        assert_eq!(to(Version::V2_1_5).translate(&alarm), Translation::Partly(outside));
        assert_eq!(translated(&alarm, Version::V2_2_1), Some(alarm));
    }

    /// FreeRTOS loggers write that a task resumes itself. Without it, the task would not run.
    #[test]
    fn what_tools_write_of_a_process_that_moves_itself_stays() {
        let resumed = event(("T_1", 0), "T", ("T_1", 0), "resume");
        for version in Version::ALL {
            assert_eq!(translated(&resumed, version), Some(resumed));
        }
    }

    #[test]
    fn what_a_version_does_not_have_is_not_said() {
        assert_eq!(translated(&event(("C", 0), "C", ("C", 0), "set_frequence"), Version::V2_2_1), None);
        assert_eq!(translated(&event(("C", 0), "VENDOR", ("C", 0), "start"), Version::V2_2_1), None);
        assert_eq!(
            translated(&event(("T_1", 0), "SEM", ("M", 0), "exclusivesemaphore"), Version::V2_2_1),
            None
        );
    }

    #[test]
    fn notes_that_a_version_does_not_have_are_left_out() {
        let user = Record { note: Some("hello"), ..event(("T_1", 0), "SIG", ("USR_1", 0), "write") };
        let without = Record { note: None, ..user };
        assert_eq!(to(Version::V2_2_1).translate(&user), Translation::Partly(without));
        // 2.1.5 demands the value.
        assert_eq!(to(Version::V2_1_5).translate(&user), Translation::None);
        let lock = Record { note: Some("1"), ..event(("M", 0), "SEM", ("M", 0), "lock") };
        assert_eq!(translated(&lock, Version::V2_2_1), Some(lock));
        let without = Record { note: None, ..lock };
        assert_eq!(to(Version::V2_3_0).translate(&lock), Translation::Partly(without));
    }

    #[test]
    fn what_is_plain_is_translated_into_itself() {
        for version in Version::ALL {
            let translator = to(version);
            for kind in EntityType::ALL {
                for action in Action::ALL {
                    for name in ["T_1", "SIM", "X", "M"] {
                        let note = translator.note(kind, action).filter(|note| note.required);
                        let event = Record {
                            note: note.map(|_| "1"),
                            ..event((name, 0), kind.as_str(), ("M", 0), action.as_str())
                        };
                        if translator.is_plain(kind, action, translator.source(name))
                            && (name != "M" || translator.is_own(kind, action))
                        {
                            assert_eq!(translator.translate(&event), Translation::Whole(event));
                        }
                    }
                }
            }
        }
    }
}
