//! The rules of BTF that `check` knows. Not how they are checked (see the other files of this folder) and not
//! the vocabulary (see [`crate::btf::spec`]).

use crate::btf::spec::Version;
use crate::diagnostics::Severity;

#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable name, kebab-case.
    pub id: &'static str,
    /// Its place in the specification.
    pub section: &'static str,
    /// How bad a violation is.
    pub severity: Severity,
    /// What a violation is, in one line.
    pub meaning: &'static str,
}

impl Rule {
    /// Its place in the specification that a trace is checked against; all places, if it is not in that one.
    pub fn section_in(&self, version: Version) -> &'static str {
        let old = version == Version::V2_1_5;
        self.section.split("; ").find(|part| part.starts_with("BTF 2.1.") == old).unwrap_or(self.section)
    }
}

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $section:literal $meaning:literal;)*) => {
        /// A rule by name: its index in [`RULES`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Id { $($name),* }

        /// Every rule, in the order of the report.
        ///
        /// An error violates a specification, a warning is content of another version or of a vendor, an info
        /// is worth knowing. Sections without a version are those of the newest one.
        pub const RULES: &[Rule] = &[
            $(Rule { id: $id, section: $section, severity: Severity::$severity, meaning: $meaning }),*
        ];
    };
}

rules! {
    // The header.
    VersionMissing "version-missing" Error "BTF 2.2.1 §2.2.1; BTF 2.1.5 §2.1"
        "no #version parameter";
    VersionNotFirst "version-not-first" Error "BTF 2.2.1 §2.2.1"
        "something stands before the #version parameter";
    VersionUnknown "version-unknown" Warning "BTF 2.2.1 §2.2.1"
        "a version number that was never published";
    VersionMismatch "version-mismatch" Info "BTF 2.2.1 §2.2.1"
        "the file names another version than the one whose rules it is checked against";
    TimescaleMissing "timescale-missing" Error "BTF 2.2.1 §2.2.6"
        "no #timescale parameter (2.1.5 has a default)";
    TimescaleUnit "timescale-unit" Error "BTF 2.2.1 §2.2.6; BTF 2.1.5 §2.1 table 1"
        "the time scale is not ps, ns, us, ms or s";
    CreationDateFormat "creation-date-format" Error "BTF 2.2.1 §2.2.2; BTF 2.1.5 §2.1 table 1"
        "the creation date is not an ISO 8601 date and time";
    CreationDateNotUtc "creation-date-not-utc" Info "BTF 2.2.1 §2.2.2; BTF 2.1.5 §2.1 table 1"
        "the creation date does not end in Z";
    ParameterRepeated "parameter-repeated" Error "BTF 2.2.1 §2.2; BTF 2.1.5 §2.1"
        "a parameter that may stand once stands again";
    ParameterLate "parameter-late" Error "BTF 2.2.1 §2.2; BTF 2.1.5 §2.1"
        "a parameter of the header stands after the first event";
    ParameterEmpty "parameter-empty" Warning "BTF 2.2.1 §2.2; BTF 2.1.5 §2.1 table 1"
        "a parameter without a value";
    ParameterSpelling "parameter-spelling" Warning "BTF 2.2.1 §2.2; BTF 2.1.5 §2.1 table 1"
        "a parameter in upper or lower case that no specification has";
    TimescaleSpelling "timescale-spelling" Info "BTF 2.2.1 §2.2.6"
        "#timeScale, which 2.2 defines as #timescale and writes in both ways";
    ParameterOfOtherVersion "parameter-of-other-version" Warning "BTF 2.2.1 §2.2; BTF 2.1.5 §2.1 table 1"
        "a parameter that only other versions have";
    UnknownParameter "unknown-parameter" Info "BTF 2.2.1 §2.2; BTF 2.1.5 §2.1 table 1"
        "a parameter that no version has";
    TableSyntax "table-syntax" Error "BTF 2.2.1 §2.2.4, §2.2.5, §2.2.7; BTF 2.1.5 §2.1 table 1"
        "a row of a table or mapping is not an id or type and a name";
    TableRowAlone "table-row-alone" Error "BTF 2.1.5 §2.1"
        "a table row without a table before it";
    TableIdRepeated "table-id-repeated" Error "BTF 2.2.1 §2.2.4, §2.2.7"
        "an id of a table or mapping is given twice";
    TableReference "table-reference" Error "BTF 2.2.1 §2.2.5; BTF 2.1.5 §2.1 table 1"
        "a row names an entity or a type that is not defined before it";
    MappingLate "mapping-late" Error "BTF 2.2.1 §2.2.4, §2.2.5, §2.2.7"
        "a mapping stands after the first event of its entity or type";
    UnreadableLine "unreadable-line" Error "BTF 2.2.1 §2; BTF 2.1.5 §2"
        "a line that is no comment, parameter or event";
    // Readers replace such bytes by a character that a file may also contain itself.
    NotUtf8 "not-utf8" Warning "BTF 2.2.1 §2; BTF 2.1.5 §2"
        "a line with bytes that are no UTF-8";

    // Lines and fields.
    TimeDecreases "time-decreases" Error "BTF 2.2.1 §2.3 table 2-8; BTF 2.1.5 §2.3"
        "the time is before that of the line before";
    NegativeTime "negative-time" Error "BTF 2.2.1 §2.3 table 2-8"
        "a time below zero";
    EmptyField "empty-field" Error "BTF 2.2.1 §2.3 table 2-8; BTF 2.1.5 §2.3 table 2"
        "source, target, type or event is empty";
    UnknownType "unknown-type" Error "BTF 2.2.1 §2.3; BTF 2.1.5 §2.3 table 3"
        "an entity type that no version has";
    TypeOfOtherVersion "type-of-other-version" Warning "BTF 2.2.1 §2.3; BTF 2.1.5 §2.3 table 3"
        "an entity type that only other versions have";
    TypeAlias "type-alias" Warning "BTF 2.2.1 §2.3; BTF 2.1.5 §2.3 table 3"
        "an entity type in a spelling of older versions or of a vendor";
    UnknownAction "unknown-action" Error "BTF 2.2.1 §2.3; BTF 2.1.5 §2.3"
        "an event that no version has";
    ActionNotForType "action-not-for-type" Error "BTF 2.2.1 §2.3; BTF 2.1.5 §2.3"
        "an event that exists, but not for this type";
    ActionOfOtherVersion "action-of-other-version" Warning "BTF 2.2.1 §2.3; BTF 2.1.5 §2.3"
        "an event that this type has in other versions only";
    ActionAlias "action-alias" Warning "BTF 2.2.1 §2.3; BTF 2.1.5 §2.3"
        "an event in a spelling of older versions or of a vendor";
    VendorAction "vendor-action" Warning "BTF 2.2.1 §2.3; BTF 2.1.5 §2.3"
        "an event of a vendor that is in no specification";
    // Simulators and loggers let a core be its own source, as a note about it: only a vendor's event.
    CoreTarget "core-target" Error "BTF 2.2.1 §2.3; BTF 2.1.5 §2.3"
        "something else than the core itself does something to a core, which is a source only";
    EmptyInstance "empty-instance" Error "BTF 2.2.1 §2.3 table 2-8; BTF 2.1.5 §2.3 table 2"
        "no instance (2.1.5 lets that of the source be empty)";
    NegativeInstance "negative-instance" Error "BTF 2.2.1 §2.3; BTF 2.1.5 §2.3 table 2"
        "an instance below zero (2.1.5 has -1 for SIM and SCHED)";
    InstanceNotZero "instance-not-zero" Warning "BTF 2.2.1 §2.3"
        "an entity without instances has another instance than 0";
    NoteMissing "note-missing" Error "BTF 2.2.1 §2.3.5.2; BTF 2.1.5 tables 14, 17, 22"
        "no note where the event needs one";
    NoteUnused "note-unused" Info "BTF 2.2.1 §2.3; BTF 2.1.5 §2.3"
        "a note where the event has none";
    NoteNotNumber "note-not-number" Warning "BTF 2.2.1 §2.3.6, §2.3.7; BTF 2.1.5 tables 16, 18"
        "the note of a signal or semaphore is no number";
    NoteNotProcess "note-not-process" Error "BTF 2.2.1 §2.3.5.2; BTF 2.1.5 table 14"
        "the note of set_event names something else than a process";

    // Only an info: a process need not have an event in a part of a trace.
    NoteUnknown "note-unknown" Info "BTF 2.2.1 §2.3.5.2; BTF 2.1.5 table 14"
        "the note of set_event names something that nothing else in the trace names";

    // Sources.
    SourceKind "source-kind" Error "BTF 2.2.1 §2.3; BTF 2.1.5 §2.3"
        "the source is of a type that does not cause this event";
    SourceNotSelf "source-not-self" Error "BTF 2.2.1 §2.3.1.1, §2.3.4.1, §2.3.7; BTF 2.1.5 table 19"
        "an event that an entity causes itself has another source or source instance";
    SourceNotRunning "source-not-running" Error "BTF 2.2.1 §2.3.1.1, §2.3.4 to §2.3.7"
        "the process that causes the event is not running";
    NameOfTwoTypes "name-of-two-types" Error "BTF 2.2.1 §2.3 table 2-8; BTF 2.1.5 §2.3 table 2"
        "entities of two types share a name";
    SimTrigger "sim-trigger" Info "BTF 2.2.1 §2.3.1.1"
        "a stimulus triggered by SIM, which 2.2 writes in listings and not in its definition";

    SimSource "sim-source" Warning "BTF 2.2.1 §2.3; BTF 2.1.5 §2.3"
        "SIM causes an event that only processes or hardware cause, as tools write what no process did";
    SimOutside "sim-outside" Info "BTF 2.1.5 §2.3"
        "SIM uses a signal, runnable, semaphore or OS event: code outside of every process did";
    // Not of a file: the events of a mapped recording are not those of one version.
    NotExpressible "not-expressible" Info "BTF 2.2.1 §2.3; BTF 2.1.5 §2.3"
        "a mapped event that the version cannot express, or its note: export writes it as a comment";

    // State charts.
    ProcessTransition "process-transition" Error "BTF 2.2.1 §2.3.2 figure 2-4; BTF 2.1.5 figure 3"
        "a process event in a state that it is not possible in";
    RunnableTransition "runnable-transition" Error "BTF 2.2.1 §2.3.3 figure 2-5; BTF 2.1.5 figure 5"
        "a runnable event in a state that it is not possible in";
    SemaphoreTransition "semaphore-transition" Error "BTF 2.2.1 §2.3.7 figure 2-6; BTF 2.1.5 figure 6"
        "a semaphore event in a state that it is not possible in";

    // Instance counters.
    ProcessInstance "process-instance" Error "BTF 2.2.1 §2.3.2.1, §2.3.2.3; BTF 2.1.5 table 2"
        "the instance of an activated process is not the next one";
    RunnableInstance "runnable-instance" Error "BTF 2.2.1 §2.3.3.2; BTF 2.1.5 table 2"
        "the instance of a started runnable is not the next one";
    StimulusInstance "stimulus-instance" Error "BTF 2.2.1 §2.3.1.1; BTF 2.1.5 table 2"
        "the instance of a triggered stimulus is not the next one";
    StimulusOrder "stimulus-order" Error "BTF 2.2.1 §2.3.1.1, §2.3.2.1, §2.3.5.2, §2.3.6.2"
        "a stimulus causes something before it is triggered";

    // Cores.
    CoreOccupied "core-occupied" Error "BTF 2.2.1 §2.3.2; BTF 2.1.5 §2.3"
        "a process gets a core that another one is on";
    CoreChanged "core-changed" Error "BTF 2.2.1 §2.3.2.4 to §2.3.2.14; BTF 2.1.5 table 7"
        "a process event comes from another core than the one the process is or was on";

    // Runnables within their process.
    RunnableProcess "runnable-process" Error "BTF 2.2.1 §2.3.3; BTF 2.1.5 table 11"
        "a runnable event comes from another process instance than the one that started it";
    RunnableOffCore "runnable-off-core" Error "BTF 2.2.1 §2.3.3.1, §2.3.3.2"
        "a runnable starts or resumes while its process is off the core";
    RunnableNotSuspended "runnable-not-suspended" Error "BTF 2.2.1 §2.3.3.3; BTF 2.1.5 §2.3"
        "a process leaves its core while one of its runnables is running";
    // A warning only: the caller is not recorded, and one writer suspends callers during a call.
    RunnableStartOrder "runnable-start-order" Warning "BTF 2.2.1 §2.3.3"
        "a runnable starts while the one that may have called it is suspended";
    RunnableSuspendOrder "runnable-suspend-order" Error "BTF 2.2.1 §2.3.3.3"
        "a runnable is suspended before one that it called";
    RunnableResumeOrder "runnable-resume-order" Error "BTF 2.2.1 §2.3.3.1"
        "a runnable resumes before the one that called it";
    RunnableTerminateOrder "runnable-terminate-order" Error "BTF 2.2.1 §2.3.3.4"
        "a runnable ends before one that it called";
    RunnableOpen "runnable-open" Error "BTF 2.2.1 §2.3.3.4"
        "a process ends before one of its runnables";

    // Semaphores and their users.
    SemaphoreReady "semaphore-ready" Error "BTF 2.1.5 figure 6"
        "a semaphore becomes ready after it was used";
    SemaphoreOrder "semaphore-order" Error "BTF 2.2.1 §2.3.7.1, §2.3.7.2, §2.3.7.5, §2.3.7.9, §2.3.7.15; BTF 2.1.5 table 18"
        "the steps of an access to a semaphore come in the wrong order, or one is missing";
    SemaphoreOwner "semaphore-owner" Error "BTF 2.2.1 §2.3.7 table 2-37, §2.3.7.1; BTF 2.1.5 tables 18, 19"
        "a locked semaphore is assigned to one more process";
    SemaphoreExclusive "semaphore-exclusive" Error "BTF 2.1.5 table 18"
        "a process that asked for a semaphore alone gets it while others have it";
    SemaphoreCounter "semaphore-counter" Error "BTF 2.2.1 §2.3.7.2 to §2.3.7.14; BTF 2.1.5 tables 18, 20"
        "the counter of a semaphore does not go up and down by one, or does not fit its state";
    SemaphoreNote "semaphore-note" Warning "BTF 2.3.0 §2.3.7, §2.3.8"
        "notes on a semaphore or spinlock that is never incremented or decremented";

    // Grasp traces: the checks of the player's plugins (2012: BudgetCheck, MutexCheck).
    BudgetNegative "budget-negative" Error "Grasp player, BudgetCheck"
        "a server uses more budget than it has";
    MutexNotHeld "mutex-not-held" Error "Grasp player, MutexCheck"
        "a job releases a mutex that it does not hold";
    MutexNotNested "mutex-not-nested" Error "Grasp player, MutexCheck"
        "a job releases a mutex before one that it acquired later";
    MutexTaken "mutex-taken" Error "Grasp paper §IV-C"
        "a job acquires a mutex that another one holds";
}
