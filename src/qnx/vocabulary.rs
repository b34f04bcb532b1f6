//! Which events there are in which version, how they are called and what their arguments are: the tables in
//! `spec/`, read once, looked up by number. Not the classes, which are in `event`, and not the values of
//! arguments.

use std::sync::LazyLock;

use super::layout::{Field, Layout};
use super::{Class, Event, Status, Version};

const CALLS: &str = include_str!("spec/calls.tsv");
const EVENTS: &str = include_str!("spec/events.tsv");

/// The name of an event that no table has.
pub const UNKNOWN: &str = "UNKNOWN";

/// A call of a later system whose number is that of another call here has this number, and its own is added.
/// No call has one so high.
pub const LATER_CALLS: u16 = 0x100;

/// The description of an event of a class in a version.
#[derive(Debug, Clone, Default)]
pub struct Entry {
    /// Its name; empty where the number is not used.
    pub name: &'static str,
    /// The other name of the API; empty where there is none.
    pub alias: &'static str,
    /// Width to which traceprinter pads the name.
    pub width: usize,
    /// Its arguments.
    pub layout: Layout,
    /// Its arguments where addresses have 64 bits.
    pub layout64: Layout,
}

/// Entries by number, by class.
type Table = [Vec<Entry>; CLASSES];

/// One more than the largest number of a class that has a table.
const CLASSES: usize = 21;

#[derive(Debug, Default)]
struct Vocabulary {
    /// By the number of the version.
    versions: [Table; Version::ALL.len()],
    /// Lines that are malformed; there are none, which a test checks.
    malformed: Vec<&'static str>,
}

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::read(CALLS, EVENTS));

impl Vocabulary {
    fn read(calls: &'static str, events: &'static str) -> Self {
        let mut all = Self::default();
        for (text, row) in [(calls, Self::call as fn(&mut Self, &[&'static str]) -> _), (events, Self::event)]
        {
            for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
                let cells: Vec<&'static str> = line.split('\t').collect();
                if row(&mut all, &cells).is_none() {
                    all.malformed.push(line);
                }
            }
        }
        all
    }

    fn call(&mut self, cells: &[&'static str]) -> Option<()> {
        let [number, versions, name, enter, exit, enter64, exit64] = *cells else { return None };
        let number = number.parse().ok().filter(|number| *number < 128)?;
        let of = |narrow, wide| {
            let (layout, layout64) = (Layout::parse(narrow)?, Layout::parse(wide)?);
            Some(Entry { name, layout, layout64, ..Entry::default() })
        };
        let (enter, exit, interrupted) = (of(enter, enter64)?, of(exit, exit64)?, of("-", "-")?);
        self.put(versions, Class::KerCall, number, &enter)?;
        self.put(versions, Class::KerExit, number, &exit)?;
        self.put(versions, Class::IntCall, number, &interrupted)
    }

    fn event(&mut self, cells: &[&'static str]) -> Option<()> {
        let [class, number, versions, name, width, alias, narrow, wide] = *cells else { return None };
        let number = number.parse().ok().filter(|number| *number < 1024)?;
        let width = if width == "-" { 0 } else { width.parse().ok()? };
        let alias = if alias == "-" { "" } else { alias };
        let (layout, layout64) = (Layout::parse(narrow)?, Layout::parse(wide)?);
        self.put(versions, Class::parse(class)?, number, &Entry { name, alias, width, layout, layout64 })
    }

    fn put(&mut self, versions: &str, class: Class, number: usize, entry: &Entry) -> Option<()> {
        let version = Version::parse;
        let (first, last) = match versions.split_once('-') {
            None if versions == "*" => (Version::V6_5, Version::V8_0),
            None => (version(versions)?, version(versions)?),
            Some((first, last)) => (
                if first.is_empty() { Version::V6_5 } else { version(first)? },
                if last.is_empty() { Version::V8_0 } else { version(last)? },
            ),
        };
        for (version, table) in Version::ALL.into_iter().zip(&mut self.versions) {
            if first <= version && version <= last {
                let entries = table.get_mut(usize::from(class.number()))?;
                if entries.len() <= number {
                    entries.resize(number + 1, Entry::default());
                }
                *entries.get_mut(number)? = entry.clone();
            }
        }
        Some(())
    }
}

fn entries(version: Version, class: Class) -> &'static [Entry] {
    let table = VOCABULARY.versions.get(version as usize);
    table.and_then(|table| table.get(usize::from(class.number()))).map_or(&[], Vec::as_slice)
}

/// The description of an event; `None` for a number that the version does not use. User events have none.
pub fn entry(version: Version, class: Class, event: u16) -> Option<&'static Entry> {
    entries(version, class).get(usize::from(event)).filter(|entry| !entry.name.is_empty())
}

/// The arguments of an event, in the mode that follows from its number of words; `None` where the tables do
/// not have them. The exit of a failed kernel call has those of failures.
pub fn fields(version: Version, event: &Event<'_>) -> Option<&'static [Field]> {
    if is_failure(event) {
        return Some(FAILURE);
    }
    if matches!(event.status, Status::Orphan | Status::Unread) {
        return None;
    }
    let entry = entry(version, event.class, event.event)?;
    let layout = if event.is64 { &entry.layout64 } else { &entry.layout };
    // The layout for 64 bits is only given where it differs.
    let layout = if layout.wide.is_empty() { &entry.layout } else { layout };
    let fields = layout.fields(event.words.len(), event.status == Status::Ok);
    (!fields.is_empty()).then_some(fields)
}

/// What the exit of a kernel call that failed consists of, in both modes.
const FAILURE: &[Field] = &[
    Field { label: "ret_val:", kind: super::layout::Kind::Dec },
    Field { label: "errno:", kind: super::layout::Kind::Dec },
];

/// True for the exit of a kernel call that returned -1; its second word is errno.
pub fn is_failure(event: &Event<'_>) -> bool {
    event.class == Class::KerExit
        && !matches!(event.status, Status::Orphan | Status::Unread)
        && event.words.first() == Some(&u32::MAX)
        // A 64-bit result may be -1 in its low word only.
        && (!event.is64 || event.words.len() <= 2)
}

/// What an event is called: the state of a thread without `TH` (`RUNNING`), a kernel call (`MSG_SENDV`), or
/// the word of traceprinter (`PROCCREATE_NAME`, `SND_MESSAGE`). `EVENT` for all user events, [`UNKNOWN`] for
/// those that no table has.
pub fn event_name(version: Version, event: &Event<'_>) -> &'static str {
    name_of_event(version, event.class, event.event)
}

/// The same by class and number.
pub fn name_of_event(version: Version, class: Class, event: u16) -> &'static str {
    match class {
        Class::User => "EVENT",
        class => entry(version, class, event).map_or(UNKNOWN, |entry| entry.name),
    }
}

/// The number of an event of a class, given by its number or by a name as [`event_name`] gives it, as the API
/// spells it (`THRUNNING`, `SMSG`), or as traceprinter prints it, in any case.
pub fn event_number(version: Version, class: Class, word: &str) -> Option<u16> {
    let word = word.trim();
    if !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()) {
        return word.parse().ok();
    }
    if let Some(hex) = word.strip_prefix("0x") {
        return u16::from_str_radix(hex, 16).ok();
    }
    let find = |word: &str| {
        let is = |name: &str| !name.is_empty() && name.eq_ignore_ascii_case(word);
        entries(version, class).iter().position(|entry| is(entry.name) || is(entry.alias))
    };
    // The prefixes of the API: thread states have TH or VTH, kernel calls KER.
    let bare = ["_NTO_TRACE_", "__KER_", "KER_", "VTH", "TH"].iter().find_map(|prefix| {
        let (head, tail) = word.split_at_checked(prefix.len())?;
        head.eq_ignore_ascii_case(prefix).then_some(tail)
    });
    find(word).or_else(|| find(bare?)).and_then(|number| u16::try_from(number).ok())
}

/// The names of a class in a version, by number, for messages and completions.
pub fn event_names(version: Version, class: Class) -> impl Iterator<Item = (u16, &'static str)> {
    (0..).zip(entries(version, class)).filter(|(_, entry)| !entry.name.is_empty()).map(|(n, e)| (n, e.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_tables_are_well_formed() {
        assert_eq!(VOCABULARY.malformed, [""; 0]);
        for version in Version::ALL {
            assert!(event_names(version, Class::KerCall).count() >= 90, "{version}");
            assert!(event_names(version, Class::Thread).count() >= 23, "{version}");
            for class in Class::ALL {
                let mut names: Vec<_> = event_names(version, *class).collect();
                for (number, name) in &names {
                    assert_eq!(event_number(version, *class, name), Some(*number), "{version} {name}");
                }
                names.sort_by_key(|(_, name)| *name);
                assert!(names.windows(2).all(|pair| pair[0].1 != pair[1].1), "{version} {class:?}");
            }
        }
    }

    #[test]
    fn malformed_lines_are_set_aside() {
        let broken =
            Vocabulary::read("1\t*\tA\t-\t-\t-\t-\nx\n500\t*\tB\t-\t-\t-\t-", "NONE\t1\t*\tC\t-\t-\t-\t-");
        assert_eq!(broken.malformed.len(), 3);
        assert_eq!(broken.versions[0][3][1].name, "A");
        assert_eq!(Vocabulary::read("1\t9-\tA\t-\t-\t-\t-", "").malformed.len(), 1);
    }

    #[test]
    fn names_follow_the_version() {
        let name = |version, class, event| {
            let words = &[0, 0];
            let event = Event {
                record: 0,
                cpu: 0,
                flags: 0,
                class,
                event,
                is64: false,
                status: Status::Ok,
                cycles: 0,
                words,
            };
            event_name(version, &event)
        };
        assert_eq!(name(Version::V7_1, Class::Thread, 7), "STACK");
        assert_eq!(name(Version::V8_0, Class::Thread, 7), "MQ_SEND");
        assert_eq!(name(Version::V8_0, Class::Thread, 30), "SEND_NOTIFY");
        assert_eq!(name(Version::V7_1, Class::Thread, 23), UNKNOWN);
        assert_eq!(name(Version::V8_0, Class::VThread, 1), UNKNOWN);
        assert_eq!(name(Version::V6_5, Class::KerExit, 93), "NET_CRED");
        assert_eq!(name(Version::V8_0, Class::IntCall, 93), "MSG_QUEUE_OPEN");
        assert_eq!(name(Version::V6_6, Class::KerCall, 100), "BAD");
        assert_eq!(name(Version::V8_0, Class::KerCall, 18), UNKNOWN);
        assert_eq!(name(Version::V7_1, Class::User, 1023), "EVENT");
        assert_eq!(name(Version::V7_1, Class::HandlerEnter, 3), "HANDLER_ENTRY");
        assert_eq!(name(Version::V7_1, Class::Unknown, 3), UNKNOWN);
        assert_eq!(name(Version::V7_1, Class::System, 300), UNKNOWN);
    }

    #[test]
    fn words_of_a_user_become_numbers() {
        let of = |class, word| event_number(Version::V7_1, class, word);
        assert_eq!(of(Class::Thread, "running"), Some(1));
        assert_eq!(of(Class::Thread, "THREADY"), Some(2));
        assert_eq!(of(Class::VThread, "VTHRECEIVE"), Some(5));
        assert_eq!(of(Class::KerCall, "__KER_MSG_SENDV"), Some(11));
        assert_eq!(of(Class::Comm, "smsg"), Some(0));
        assert_eq!(of(Class::User, "0x10"), Some(16));
        assert_eq!(of(Class::User, "1023"), Some(1023));
        assert_eq!(of(Class::Thread, "TH"), None);
        assert_eq!(of(Class::Thread, ""), None);
        assert_eq!(of(Class::Thread, "99999"), None);
        assert_eq!(of(Class::Thread, "ärger"), None);
    }
}
