//! One BTF event: the octuple (t, Ψ, ψ, ι, T, τ, α, ν) of the thesis, equation 2.1, with interned names.

use super::NameId;
use crate::schema::{Name, Numbering};
use std::fmt;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),* }

        impl $name {
            /// Every value, in the order of the specification.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The word used in BTF text.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }

            /// The value of a BTF word (exact spelling of the specification).
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some($name::$variant),)* _ => None }
            }
        }

        impl From<$name> for Name<'static> {
            fn from(word: $name) -> Self {
                struct Words;
                impl Numbering for Words {
                    fn name_of(&self, number: u32) -> &str {
                        $name::ALL.get(number as usize).map_or("", |word| word.as_str())
                    }
                }
                Self::Numbered(word as u32, &Words)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// Target types that the mapper writes (BTF 2.1.5, type table; `I` is the short id since 2.1.5).
    EntityType {
        /// Stimulus.
        Stimulus = "STI",
        /// Task.
        Task = "T",
        /// Interrupt service routine.
        Isr = "I",
        /// Runnable.
        Runnable = "R",
        /// Signal.
        Signal = "SIG",
        /// Semaphore: OSEK resource or spinlock.
        Semaphore = "SEM",
        /// OS event.
        OsEvent = "EVENT",
    }
}

words! {
    /// Actions that the mapper writes (thesis, tables 4.1–4.10; BTF 2.1.5 and 2.2).
    Action {
        /// A stimulus fires.
        Trigger = "trigger",
        /// A process instance comes into being.
        Activate = "activate",
        /// A process or runnable begins to execute.
        Start = "start",
        /// A process loses the core.
        Preempt = "preempt",
        /// A process or runnable continues.
        Resume = "resume",
        /// A process or runnable ends.
        Terminate = "terminate",
        /// A process waits for an OS event.
        Wait = "wait",
        /// The awaited OS event was set.
        Release = "release",
        /// A process begins to wait actively for a semaphore.
        Poll = "poll",
        /// A polling process got the semaphore.
        Run = "run",
        /// A polling process loses the core.
        Park = "park",
        /// A parked process polls again.
        PollParking = "poll_parking",
        /// The semaphore became free while the process was parked.
        ReleaseParking = "release_parking",
        /// An activation was lost: too many were pending.
        MtaLimitExceeded = "mtalimitexceeded",
        /// A runnable's process leaves the core.
        Suspend = "suspend",
        /// A signal is read.
        Read = "read",
        /// A signal is written.
        Write = "write",
        /// A process begins to wait for an OS event.
        WaitEvent = "wait_event",
        /// A process clears an OS event.
        ClearEvent = "clear_event",
        /// An OS event is set.
        SetEvent = "set_event",
        /// A semaphore exists and is free.
        Ready = "ready",
        /// A process asks for a semaphore.
        RequestSemaphore = "requestsemaphore",
        /// A process got a semaphore.
        Assigned = "assigned",
        /// A process did not get a semaphore and waits.
        Waiting = "waiting",
        /// A process gives a semaphore back.
        Released = "released",
        /// FREE → FULL.
        Lock = "lock",
        /// FULL → FREE.
        Unlock = "unlock",
        /// OVERFULL → FULL.
        Full = "full",
        /// FULL → OVERFULL, or one more waiter.
        Overfull = "overfull",
    }
}

/// The note field of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// No note.
    None,
    /// A name: the task of `set_event`.
    Name(NameId),
    /// A number: the value of a signal, unsigned decimal.
    Value(u64),
    /// A number as hexadecimal digits: what identifies a message of a kernel.
    Hex(u64),
}

/// One system event; times are ticks of the database's time scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When it happened.
    pub time: i64,
    /// Who caused it.
    pub source: NameId,
    /// Instance of the source; −1 for `SIM` (BTF 2.1), 0 for entities without instances.
    pub source_instance: i64,
    /// What kind of entity it happened to.
    pub target_type: EntityType,
    /// The entity it happened to.
    pub target: NameId,
    /// Instance of the target; 0 for entities without instances.
    pub target_instance: i64,
    /// What happened.
    pub action: Action,
    /// Additional data.
    pub note: Note,
}

impl EntityType {
    /// The type of a word in any spelling that is in use: `ISR` until BTF 2.1.4, threads and system calls of libBtf.
    pub fn parse_tolerant(word: &str) -> Option<Self> {
        let types = Self::ALL.iter().copied().find(|t| t.as_str().eq_ignore_ascii_case(word));
        types.or_else(|| match word.to_ascii_uppercase().as_str() {
            "ISR" => Some(Self::Isr),
            "THR" => Some(Self::Task),
            "SYSC" => Some(Self::Runnable),
            _ => None,
        })
    }
}

impl Action {
    /// The action of a word in any spelling that is in use (BTF 2.1.4: its spelling changed).
    pub fn parse_tolerant(word: &str) -> Option<Self> {
        let actions = Self::ALL.iter().copied().find(|a| a.as_str().eq_ignore_ascii_case(word));
        actions.or_else(|| match word.to_ascii_lowercase().as_str() {
            "mtalimitexceded" | "mpalimitexceeded" => Some(Self::MtaLimitExceeded),
            _ => None,
        })
    }
}
