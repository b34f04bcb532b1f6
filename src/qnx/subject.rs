//! The process and thread that an event is about, by its own words. Not the running thread, which follows
//! from earlier events.

use super::layout::{Value, Values};
use super::vocabulary::fields;
use super::{Class, Event, Flavour, Status};

/// The process and thread that an event is about, `None` where it does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Subject {
    /// Process.
    pub pid: Option<i64>,
    /// Thread within the process, from 1.
    pub tid: Option<i64>,
    /// Priority of the thread.
    pub priority: Option<i64>,
    /// How the thread is scheduled: 1 FIFO, 2 round robin, 3 other, 4 sporadic.
    pub policy: Option<i64>,
}

/// The process and thread that an event is about. For a message or pulse: the process that receives it; for a
/// reply or an error: the client. -1 ("unknown" or "the caller") and process 0 (the network, Qnet) count as
/// none, and so does every event with missing parts.
pub fn subject(flavour: Flavour, event: &Event<'_>) -> Subject {
    if event.status != Status::Ok {
        return Subject::default();
    }
    let word = |n| event.words.get(n).copied();
    let (pid, tid) = match event.class {
        Class::Thread | Class::VThread => {
            // Mode fast has no more than two words.
            let rest = |n| if event.words.len() >= 4 { word(n).map(|w| i64::from(w as i32)) } else { None };
            return Subject {
                pid: existing(word(0)),
                tid: existing(word(1)),
                priority: rest(2),
                policy: rest(3),
            };
        }
        Class::Process => match event.event {
            1..=4 => (word(1), None),
            5 => (word(0), word(1)),
            _ => (None, None),
        },
        Class::HandlerEnter => (word(0), None),
        Class::Comm => match event.event {
            0..=8 => (word(1), None),
            10 | 11 => (word(1), word(0)),
            _ => (None, None),
        },
        Class::System | Class::Sec => return named(flavour, event),
        _ => (None, None),
    };
    Subject { pid: existing(pid), tid: existing(tid), ..Subject::default() }
}

/// By the names of the arguments; `pid` after `nd` is a process of another node.
fn named(flavour: Flavour, event: &Event<'_>) -> Subject {
    let mut subject = Subject::default();
    let fields = fields(flavour.version, event).unwrap_or_default();
    for (field, value) in Values::new(fields, event.words, flavour.big_endian) {
        let Value::Dec(value) = value else { continue };
        match field.name() {
            "nd" => break,
            "pid" => subject.pid = existing(Some(value as u32)),
            "tid" => subject.tid = existing(Some(value as u32)),
            _ => {}
        }
    }
    subject
}

fn existing(id: Option<u32>) -> Option<i64> {
    id.map(|id| i64::from(id as i32)).filter(|id| *id > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qnx::Version;

    fn of(class: Class, event: u16, words: &[u32]) -> Subject {
        let (cpu, flags, is64, status) = (0, 0, false, Status::Ok);
        let event = Event { record: 0, cpu, flags, class, event, is64, status, cycles: 0, words };
        subject(Flavour { version: Version::V7_1, big_endian: false }, &event)
    }

    fn ids(class: Class, event: u16, words: &[u32]) -> (Option<i64>, Option<i64>) {
        let subject = of(class, event, words);
        (subject.pid, subject.tid)
    }

    #[test]
    fn threads_tell_all() {
        let subject = of(Class::Thread, 1, &[4099, 2, 10, 2]);
        assert_eq!(subject, Subject { pid: Some(4099), tid: Some(2), priority: Some(10), policy: Some(2) });
        assert_eq!(of(Class::Thread, 1, &[4099, 2]).priority, None);
    }

    #[test]
    fn the_others_tell_a_part() {
        assert_eq!(ids(Class::Process, 3, &[1, 2, 0x61, 0]), (Some(2), None));
        assert_eq!(ids(Class::Process, 5, &[7, 2, 0x61, 0]), (Some(7), Some(2)));
        assert_eq!(ids(Class::Comm, 0, &[0x4f, 4099]), (Some(4099), None));
        assert_eq!(ids(Class::Comm, 10, &[3, 4099]), (Some(4099), Some(3)));
        assert_eq!(ids(Class::Comm, 9, &[3, 4099]), (None, None));
        assert_eq!(ids(Class::HandlerEnter, 3, &[4099, 27, 0, 0]), (Some(4099), None));
        assert_eq!(ids(Class::System, 2, &[5, 6, 0x61, 0]), (Some(5), Some(6)));
        assert_eq!(ids(Class::System, 0x10, &[1, 2, 3, 4]), (Some(4), Some(3)));
        assert_eq!(ids(Class::System, 0xa, &[5, 6]), (None, None));
        assert_eq!(ids(Class::Sec, 3, &[1, 2, 3, 4, 5, 0]), (None, None));
        assert_eq!(ids(Class::KerCall, 26, &[5, 6]), (None, None));
        assert_eq!(ids(Class::User, 1, &[5, 6]), (None, None));
    }

    #[test]
    fn nobody_is_not_existing() {
        assert_eq!(ids(Class::Comm, 0, &[0x4f, 0]), (None, None));
        assert_eq!(ids(Class::Comm, 1, &[0x4f, u32::MAX]), (None, None));
        assert_eq!(ids(Class::System, 2, &[5, u32::MAX, 0x61, 0]), (Some(5), None));
        let event = Event {
            record: 0,
            cpu: 0,
            flags: 0,
            class: Class::Thread,
            event: 1,
            is64: false,
            status: Status::Orphan,
            cycles: 0,
            words: &[4099, 2, 10, 2],
        };
        assert_eq!(subject(Flavour::default(), &event), Subject::default());
    }
}
