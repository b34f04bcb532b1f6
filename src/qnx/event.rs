//! A kernel event, whole and with its full time, and the classes of events. Not what its words mean (see
//! `layout`).

use super::Version;
use crate::words::words;

macro_rules! classes {
    ($($(#[$doc:meta])* $variant:ident = $number:literal, $word:literal;)*) => {
        /// The class of an event by the API of the instrumented kernel (`_NTO_TRACE_…`); in a file, several
        /// of them share an internal class.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Class { $($(#[$doc])* $variant = $number),* }

        impl Class {
            /// Every class, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word of column `class_name`; but for `USER`, that of the printer.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }
    };
}

classes! {
    /// Times, buffers: how to read the trace itself.
    Control = 1, "CONTROL";
    /// A kernel call begins.
    KerCall = 3, "KER_CALL";
    /// A kernel call returns.
    KerExit = 4, "KER_EXIT";
    /// A kernel call was interrupted, or its arguments were not valid.
    IntCall = 5, "INT_CALL";
    /// An event of the interrupt class that none of the other classes covers: delivery in 8.0.
    Int = 6, "INT";
    /// An interrupt begins.
    IntEnter = 7, "INT_ENTR";
    /// An interrupt ends.
    IntExit = 8, "INT_EXIT";
    /// Processes come, go and get names.
    Process = 9, "PROCESS";
    /// A thread changes its state; the event is the number of the state.
    Thread = 10, "THREAD";
    /// The same for virtual threads, until 7.
    VThread = 11, "VTHREAD";
    /// Inserted by a program.
    User = 12, "USER";
    /// The rest of the system: memory, partitions, path names, functions.
    System = 13, "SYSTEM";
    /// Messages, pulses, signals.
    Comm = 14, "COMM";
    /// A handler of an interrupt begins.
    HandlerEnter = 15, "INT_HANDLER_ENTR";
    /// A handler of an interrupt ends.
    HandlerExit = 16, "INT_HANDLER_EXIT";
    /// QUIP (6.6 and later).
    Quip = 17, "QUIP";
    /// Security (7.0 and later).
    Sec = 18, "SEC";
    /// Hypervisor (7).
    Qvm = 19, "QVM";
    /// Performance counters (8.0).
    Pmu = 20, "PMU";
    /// None of the above: the event is the 15 bits of internal class and code.
    Unknown = 255, "UNKNOWN";
}

impl Class {
    /// The number of the API; 255 for what is unknown.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The class of a word as [`Class::as_str`] gives it, or of a name of the API (`KERCALLENTER`), in any
    /// case.
    pub fn parse(word: &str) -> Option<Self> {
        let class = Self::ALL.iter().copied().find(|c| c.as_str().eq_ignore_ascii_case(word));
        class.or_else(|| {
            Some(match word.to_ascii_uppercase().as_str() {
                "KERCALLENTER" | "KER_ENTER" => Self::KerCall,
                "KERCALLEXIT" => Self::KerExit,
                "KERCALLINT" => Self::IntCall,
                "INTENTER" | "INT_ENTER" => Self::IntEnter,
                "INTEXIT" => Self::IntExit,
                "USREVENT" => Self::User,
                "INT_HANDLER_ENTER" => Self::HandlerEnter,
                _ => return None,
            })
        })
    }

    /// The class with this number of the API.
    pub fn of_number(number: u8) -> Option<Self> {
        Self::ALL.iter().copied().find(|c| c.number() == number)
    }

    /// The greatest number that an event of the class can have in any version (see [`Class::of_header`]).
    pub fn greatest_event(self) -> u16 {
        match self {
            Self::KerCall | Self::KerExit | Self::IntCall => 0x7f,
            Self::Process => 0x3ff >> 6,
            Self::Thread => 63,
            Self::VThread => 25,
            Self::System => 0x1ff,
            Self::Unknown => 0x7fff,
            _ => 0x3ff,
        }
    }

    /// Class, event, and whether its layout is that of 64-bit addresses, of the low 15 bits of a record's
    /// header: five of the internal class, ten of the code.
    pub fn of_header(low: u16, version: Version) -> (Self, u16, bool) {
        let code = low & 0x3ff;
        let v8 = version >= Version::V8_0;
        match (low >> 10) & 0x1f {
            1 => (Self::Control, code, false),
            2 => {
                let (call, wide) = (code & 0x7f, code & 0x200 != 0);
                match (code >> 7) & 3 {
                    0 => (Self::KerCall, call, wide),
                    1 => (Self::KerExit, call, wide),
                    2 => (Self::IntCall, call, wide),
                    _ => (Self::Unknown, low & 0x7fff, false),
                }
            }
            // 8.0 keeps the codes 0 to 6 free (there are threads for interrupts instead of handlers).
            3 => match code {
                1 if !v8 => (Self::IntEnter, 1, false),
                2 if !v8 => (Self::IntExit, 2, false),
                3 if !v8 => (Self::HandlerEnter, 3, false),
                4 if !v8 => (Self::HandlerExit, 4, false),
                5 if !v8 => (Self::IntEnter, 1, true),
                6 if !v8 => (Self::HandlerEnter, 3, true),
                _ => (Self::Int, code, false),
            },
            4 => match code {
                0..64 if v8 => (Self::Thread, code, false),
                0..26 => (Self::Thread, code, false),
                26..52 => (Self::VThread, code - 26, false),
                _ if code & 0x3f == 0 => (Self::Process, code >> 6, false),
                _ => (Self::Unknown, low & 0x7fff, false),
            },
            5 => (Self::System, code & 0x1ff, code & 0x200 != 0),
            6 => (Self::User, code, false),
            7 => (Self::Comm, code, false),
            8 => (Self::Quip, code, false),
            9 => (Self::Sec, code, false),
            10 => (Self::Qvm, code, false),
            11 => (Self::Pmu, code, false),
            _ => (Self::Unknown, low & 0x7fff, false),
        }
    }
}

words! {
    /// How much of an event there is. `as_str` is the word of column `status`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Status {
        /// The whole event.
        Ok = "ok",
        /// Its first part was lost: the words are those of a later part.
        Orphan = "orphan",
        /// Its last part is missing: the words are those of the parts before.
        Unterminated = "unterminated",
        /// It was read from text, and its arguments are not those of the event: there are no words.
        Unread = "unread",
    }
}

/// An event, its parts put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// Number of its first record within the file, from 0.
    pub record: u64,
    /// Where it happened.
    pub cpu: u8,
    /// Flags of the header.
    pub flags: u8,
    /// What kind.
    pub class: Class,
    /// Which of its class: a thread state, a kernel call, …
    pub event: u16,
    /// Addresses have 64 bits.
    pub is64: bool,
    /// Whether there is all of it.
    pub status: Status,
    /// Count of the CPU's clock, all 64 bits; the low 32 are those of the record.
    pub cycles: u64,
    /// The words of all parts. At least two, unless the event was read from text.
    pub words: &'a [u32],
}

impl Event<'_> {
    /// Bit of `flags` that 8.0 sets for an event that reports a state, not a change
    /// (`_NTO_TRACE_PROCESS_INJECTED`).
    pub const INJECTED: u8 = 1;

    /// A word; 0 where there is none.
    pub fn word(&self, n: usize) -> u32 {
        self.words.get(n).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, Version};

    #[test]
    fn the_classes_of_a_header() {
        let of = |class: u16, code: u16| Class::of_header(class << 10 | code, Version::V7_1);
        assert_eq!(of(2, 11), (Class::KerCall, 11, false));
        assert_eq!(of(2, 0x80 | 11), (Class::KerExit, 11, false));
        assert_eq!(of(2, 0x300 | 11), (Class::IntCall, 11, true));
        assert_eq!(of(3, 6), (Class::HandlerEnter, 3, true));
        assert_eq!(of(4, 25), (Class::Thread, 25, false));
        assert_eq!(of(4, 26), (Class::VThread, 0, false));
        assert_eq!(of(4, 3 << 6), (Class::Process, 3, false));
        assert_eq!(of(5, 0x211), (Class::System, 0x11, true));
        assert_eq!(Class::of_header(4 << 10 | 26, Version::V8_0), (Class::Thread, 26, false));
        assert_eq!(Class::of_header(3 << 10 | 7, Version::V8_0), (Class::Int, 7, false));
        assert_eq!(of(31, 1023), (Class::Unknown, 0x7fff, false));
    }

    #[test]
    fn numbers_and_words_lead_back() {
        for class in Class::ALL {
            assert_eq!(Class::parse(class.as_str()), Some(*class));
            assert_eq!(Class::of_number(class.number()), Some(*class));
        }
    }
}
