//! One event of a listing: text → class, number, words. Not which lines belong together.

use super::super::timeline::CPUS;
use super::cursor::Cursor;
use super::values::{leading, raw, returned, string, words};
use crate::encoding::escaped;
use crate::qnx::layout::{CREATE, Field, Kind};
use crate::qnx::{Class, Entry, Flavour, LATER_CALLS, Version, entry, event_number, is_print};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parsed {
    pub cpu: u8,
    /// The low 32 bits of the count.
    pub timeoff: u32,
    /// The high ones, if more than eight digits are printed.
    pub high: Option<u32>,
    pub class: Class,
    pub event: u16,
    pub is64: bool,
    pub words: Vec<u32>,
    /// Words that the event must have are not printed.
    pub words_missing: bool,
    /// The arguments as they are printed, if they do not follow from the words; with the name of an event
    /// that no version has.
    pub printed: Option<String>,
    /// Why there is less of the event than the line has.
    pub unread: Option<Unreadable>,
}

/// The number of events that are known by a name only, which no version has. No class uses it.
const NAMELESS: u16 = 0x3ff;

/// The number of a call whose name no version has, while the number that is printed with it is that of
/// another call here: calls have seven bits. Without a number, one of those that no class uses, by its name.
fn number_of_later(name: &[u8], printed: Option<i128>) -> u16 {
    let first = LATER_CALLS + 0x80;
    match printed {
        Some(number @ 0..0x80) => LATER_CALLS | number as u16,
        Some(_) => NAMELESS,
        None => first + (crc32fast::hash(name) % u32::from(NAMELESS - first)) as u16,
    }
}

crate::words::words! {
    /// Why a line is unusable. The word is the code of the finding.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Unreadable {
        NotAnEvent = "not-an-event",
        Class = "unknown-class",
        Name = "unknown-event",
        Arguments = "unreadable-arguments",
    }
}

impl Unreadable {
    pub fn message(self) -> &'static str {
        match self {
            Self::NotAnEvent => "the line is no event of traceprinter (`t:0x… CPU:… class:event …`)",
            Self::Class => "the class of the event is not known",
            Self::Name => "the event is not known in any version; the row has it as text",
            Self::Arguments => "the arguments are not those of the event; the row has them as text",
        }
    }
}

pub(super) fn begins_event(line: &[u8]) -> bool {
    let mut cursor = Cursor(line.trim_ascii_start());
    cursor.eat(b"t:") && cursor.hex0x(64).is_some() && cursor.eat(b" CPU:")
}

pub(super) fn parse(flavour: Flavour, text: &[u8]) -> Result<Parsed, Unreadable> {
    let mut cursor = Cursor(text.trim_ascii_start());
    let start = |cursor: &mut Cursor<'_>| {
        let before = if cursor.eat(b"t:0x") { cursor.0.len() } else { return None };
        let count = cursor.hex(64)?;
        let digits = before - cursor.0.len();
        cursor.skip_blanks();
        let cpu = if cursor.eat(b"CPU:") { cursor.dec()? } else { return None };
        cursor.skip_blanks();
        Some((count, digits, u8::try_from(cpu).ok().filter(|cpu| usize::from(*cpu) < CPUS)?))
    };
    let (count, digits, cpu) = start(&mut cursor).ok_or(Unreadable::NotAnEvent)?;
    let word = cursor.take_while(|b| b != b':').trim_ascii();
    if !cursor.eat(b":") {
        return Err(Unreadable::NotAnEvent);
    }
    let class = std::str::from_utf8(word).ok().and_then(Class::parse).ok_or(Unreadable::Class)?;
    let body = Body { flavour, class };
    let mut parsed = body.read(cursor)?;
    parsed.words_missing |= parsed.words.is_empty() && parsed.unread.is_none();
    if parsed.unread.is_some() && parsed.words.len() < 2 {
        parsed.words.clear();
    }
    // A record has two words or an even number of them; the last one may be padding.
    if !parsed.words_missing {
        parsed.words.resize(parsed.words.len().next_multiple_of(2), 0);
    }
    parsed.cpu = cpu;
    parsed.timeoff = count as u32;
    parsed.high = (digits > 8).then_some((count >> 32) as u32);
    Ok(parsed)
}

/// The part after the class.
struct Body {
    flavour: Flavour,
    class: Class,
}

impl Body {
    fn parsed(&self, event: u16, is64: bool, words: Vec<u32>) -> Parsed {
        let (words_missing, printed, unread) = (false, None, None);
        let class = self.class;
        Parsed { cpu: 0, timeoff: 0, high: None, class, event, is64, words, words_missing, printed, unread }
    }

    /// An event of which only the beginning could be read, or nothing but its name or number.
    fn unread(&self, event: u16, why: Unreadable, words: Vec<u32>, text: &[u8]) -> Parsed {
        let printed = Some(one_line(text));
        Parsed { printed, unread: Some(why), ..self.parsed(event, false, words) }
    }

    fn read(&self, mut cursor: Cursor<'_>) -> Result<Parsed, Unreadable> {
        cursor.skip_blanks();
        match self.class {
            Class::KerCall | Class::KerExit | Class::IntCall => self.call(cursor),
            Class::IntEnter | Class::IntExit | Class::HandlerEnter | Class::HandlerExit => {
                let event = match self.class {
                    Class::IntEnter => 1,
                    Class::IntExit => 2,
                    Class::HandlerEnter => 3,
                    _ => 4,
                };
                let text = cursor.0;
                let unread = || self.unread(event, Unreadable::Arguments, Vec::new(), text);
                Ok(self.interrupt(event, cursor).unwrap_or_else(unread))
            }
            Class::User => self.user(cursor),
            _ => self.named(cursor),
        }
    }

    /// `MSG_SENDV/11 coid:…`: the number is sufficient, unless the name is of no call at all: the number
    /// of a call of a later system may be that of another one here.
    fn call(&self, mut cursor: Cursor<'_>) -> Result<Parsed, Unreadable> {
        let line = cursor.0;
        let name = cursor.take_while(|b| b != b'/' && !b.is_ascii_whitespace());
        let named = self.named_call(name);
        let fits =
            |number: i128| named.is_some() || !self.is_known(number) || self.may_be_named(number, name);
        let printed = if cursor.eat(b"/") { Some(cursor.dec()) } else { None };
        let number = printed.map_or(named, |number| number.filter(|n| fits(*n)));
        // 1.02 prints the bits of the code as they are.
        let Some(number) = number.filter(|n| (0..0x400).contains(n)) else {
            let event = number_of_later(name, printed.flatten());
            let named = is_name(name).then(|| self.unread(event, Unreadable::Name, Vec::new(), line));
            return named.ok_or(Unreadable::Name);
        };
        let number = number as u16;
        let (event, marked64) = (number & 0x7f, number & 0x200 != 0);
        let is_known = self.is_known(i128::from(number));
        let why = if is_known { Unreadable::Arguments } else { Unreadable::Name };
        let text = if is_known { cursor.0 } else { line };
        let unread = |words| Parsed { is64: marked64, ..self.unread(event, why, words, text) };
        if self.class == Class::IntCall {
            let nothing = cursor.0.trim_ascii().is_empty();
            return Ok(if nothing { self.parsed(event, marked64, vec![0, 0]) } else { unread(Vec::new()) });
        }
        cursor.skip_blanks();
        let mut failed = cursor;
        if self.class == Class::KerExit && failed.eat(b"ret_val:-1, errno:") {
            let errno = failed.dec32().filter(|_| failed.0.trim_ascii().is_empty());
            return Ok(errno.map_or_else(
                || unread(Vec::new()),
                |errno| self.parsed(event, marked64, vec![u32::MAX, errno]),
            ));
        }
        if let Some((is64, words)) = self.arguments(event, cursor.0) {
            return Ok(self.parsed(event, is64 || marked64, words));
        }
        if self.class == Class::KerExit
            && let Some((is64, words)) = returned(cursor.0, self.flavour.big_endian)
        {
            let printed = Some(one_line(cursor.0));
            return Ok(Parsed { printed, ..self.parsed(event, is64 || marked64, words) });
        }
        Ok(unread(self.leading(event, cursor.0)))
    }

    /// True for the number of a call that has a name.
    fn is_known(&self, number: i128) -> bool {
        let event = (number & 0x7f) as u16;
        self.versions().any(|version| entry(version, self.class, event).is_some())
    }

    /// True if the call of this number has this name, or one that begins so: listings cut names.
    fn may_be_named(&self, number: i128, name: &[u8]) -> bool {
        let event = (number & 0x7f) as u16;
        let begins = |known: &str| known.as_bytes().starts_with(name) && !name.is_empty();
        let entries = self.versions().filter_map(|version| entry(version, self.class, event));
        entries.into_iter().any(|entry| begins(entry.name) || begins(entry.alias))
    }

    /// The number of a call that is printed without it.
    fn named_call(&self, name: &[u8]) -> Option<i128> {
        std::str::from_utf8(name).ok().and_then(|name| self.number(name)).map(i128::from)
    }

    /// `0x0000001b (27)       IP:0x00001000`.
    fn interrupt(&self, event: u16, mut cursor: Cursor<'_>) -> Option<Parsed> {
        let number = cursor.hex0x(32)? as u32;
        cursor.skip_blanks();
        if cursor.eat(b"(") {
            cursor.dec()?;
            if !cursor.eat(b")") {
                return None;
            }
        }
        let big_endian = self.flavour.big_endian;
        let field = |label: &'static str, kind| Field { label, kind };
        let tail = |fields: &[Field]| {
            let (tail, used) = words(fields, cursor.0, big_endian)?;
            (used == fields.len()).then_some(tail)
        };
        let (is64, words) = match self.class {
            Class::IntEnter => match tail(&[field("IP:", Kind::Hex)]) {
                Some(ip) => (false, [vec![number], ip].concat()),
                None => (true, [vec![number, 0], tail(&[field("IP:", Kind::Hex64)])?].concat()),
            },
            Class::IntExit => (false, [vec![number], tail(&[field("inkernel:", Kind::Hex)])?].concat()),
            Class::HandlerEnter => {
                let of = |kind| tail(&[field("PID:", Kind::Dec), field("IP:", kind), field("AREA:", kind)]);
                let (is64, mut words) = match of(Kind::Hex) {
                    Some(words) => (false, words),
                    None => (true, of(Kind::Hex64)?),
                };
                words.insert(1, number);
                (is64, words)
            }
            _ => (false, [vec![number], tail(&[field("SIGEVENT:", Kind::SigEvent)])?].concat()),
        };
        let words_missing = words.len() == 1;
        Some(Parsed { words_missing, ..self.parsed(event, is64, words) })
    }

    /// `EVENT:111, d0:0x… d1:0x…` or `EVENT:555 STR:"…"`.
    fn user(&self, mut cursor: Cursor<'_>) -> Result<Parsed, Unreadable> {
        let number = if cursor.eat(b"EVENT:") { cursor.dec() } else { None };
        let event = number.filter(|n| (0..0x400).contains(n)).ok_or(Unreadable::Name)? as u16;
        cursor.eat(b",");
        cursor.skip_blanks();
        let unread = || self.unread(event, Unreadable::Arguments, Vec::new(), cursor.0);
        let mut string_cursor = cursor;
        if string_cursor.eat(b"STR:\"") {
            let text = string_cursor.0.trim_ascii_end().strip_suffix(b"\"");
            let Some(text) = text.filter(|text| text.len() <= 4 * super::MAX_WORDS - 16) else {
                return Ok(unread());
            };
            let mut words = Vec::new();
            string(text, self.flavour.big_endian, &mut words);
            // More than two words mark it as a string.
            words.resize(words.len().max(4), 0);
            let mut parsed = self.parsed(event, false, words);
            // Either an empty string or not a string at all.
            if !text.iter().all(|b| is_print(*b) || *b >= 0x80 || matches!(b, b'\t' | b'\n' | b'\r'))
                || text.is_empty()
            {
                (parsed.words, parsed.words_missing) = (Vec::new(), true);
            }
            return Ok(parsed);
        }
        let words = raw(cursor.0).filter(|words| !words.is_empty());
        Ok(words.map_or_else(unread, |words| self.parsed(event, false, words)))
    }

    /// A name, then its arguments.
    fn named(&self, mut cursor: Cursor<'_>) -> Result<Parsed, Unreadable> {
        let line = cursor.0;
        let word = cursor.word();
        let name = std::str::from_utf8(word).map_err(|_| Unreadable::Name)?;
        let name = if self.class == Class::Thread || self.class == Class::VThread {
            name.trim_start_matches('V').strip_prefix("TH").unwrap_or(name)
        } else {
            name
        };
        cursor.skip_blanks();
        let Some(event) = self.number(name) else {
            let named = is_name(word).then(|| {
                let words = self.arguments(NAMELESS, cursor.0).map(|(_, words)| words);
                let words = words.unwrap_or_else(|| self.leading(NAMELESS, cursor.0));
                self.unread(NAMELESS, Unreadable::Name, words, line)
            });
            return named.ok_or(Unreadable::Name);
        };
        if self.class == Class::Control && event == 2 {
            return Ok(match buffer(cursor) {
                Some((words, true)) => self.parsed(event, false, words),
                some => self.unread(event, Unreadable::Arguments, some.unwrap_or_default().0, cursor.0),
            });
        }
        let mut found = self.arguments(event, cursor.0);
        if found.is_none() && self.class == Class::Thread && event == 24 {
            let create = words(CREATE, cursor.0, self.flavour.big_endian);
            found = create.filter(|(_, used)| *used == CREATE.len()).map(|(words, _)| (false, words));
        }
        Ok(match found {
            Some((is64, words)) => self.parsed(event, is64, words),
            None => self.unread(event, Unreadable::Arguments, self.leading(event, cursor.0), cursor.0),
        })
    }

    /// The number of a name: in the version of the trace, else in the newest version that has it.
    fn number(&self, name: &str) -> Option<u16> {
        // Numbers alone are user events.
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        if let Some(number) = name.strip_prefix("UNKNOWN/") {
            let most = if self.class == Class::Unknown { 0x7fff } else { 0x3ff };
            return number.parse().ok().filter(|n| *n <= most);
        }
        self.versions().find_map(|version| event_number(version, self.class, name))
    }

    fn versions(&self) -> impl Iterator<Item = Version> {
        let known = self.flavour.version;
        std::iter::once(known).chain(Version::ALL.into_iter().rev().filter(move |version| *version != known))
    }

    /// The words, and whether they are those of the layout for 64 bits: the first layout that fits the
    /// text. If both fit, the text does not tell, and it is that for 32 bits.
    fn arguments(&self, event: u16, text: &[u8]) -> Option<(bool, Vec<u32>)> {
        let big_endian = self.flavour.big_endian;
        for entry in self.layouts(event) {
            for (is64, layout) in [(false, &entry.layout), (true, &entry.layout64)] {
                for (fast, fields) in [(true, &layout.fast), (false, &layout.wide)] {
                    let Some((words, used)) = words(fields, text, big_endian) else { continue };
                    // In mode fast there are two words, in mode wide more: as many arguments as the words
                    // hold.
                    let all = used == fields.len();
                    if all || (fast && words.len() == 2) || (!fast && words.len() > 2) {
                        return Some((is64, words));
                    }
                }
            }
        }
        raw(text).map(|words| (false, words))
    }

    /// What is known of an event, in any version.
    fn layouts(&self, event: u16) -> impl Iterator<Item = &'static Entry> {
        // A state without a name has the words of the others.
        let threads = matches!(self.class, Class::Thread | Class::VThread);
        self.versions().filter_map(move |version| {
            let state = || entry(version, self.class, 1).filter(|_| threads);
            entry(version, self.class, event).or_else(state)
        })
    }

    /// The words of the first arguments, an even number of them: where the two words of mode fast are
    /// there, the rest of the event does not change what they mean.
    fn leading(&self, event: u16, text: &[u8]) -> Vec<u32> {
        let fields = self.layouts(event).flat_map(|entry| [&entry.layout.fast, &entry.layout.wide]);
        let read = fields.map(|fields| leading(fields, text, self.flavour.big_endian));
        let mut words = read.max_by_key(Vec::len).unwrap_or_default();
        words.truncate(words.len() / 2 * 2);
        words
    }
}

/// A word that can be the name of an event.
fn is_name(word: &[u8]) -> bool {
    word.first().is_some_and(u8::is_ascii_alphabetic) && word.iter().all(u8::is_ascii_graphic)
}

/// A text with single blanks.
fn one_line(text: &[u8]) -> String {
    let text = escaped(text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `sequence = 33, num_events = 714`, and whether nothing follows.
fn buffer(mut cursor: Cursor<'_>) -> Option<(Vec<u32>, bool)> {
    let mut number = |name: &[u8]| {
        cursor.skip_blanks();
        if !cursor.eat(name) {
            return None;
        }
        cursor.skip_blanks();
        if !(cursor.eat(b"=") || cursor.eat(b":")) {
            return None;
        }
        cursor.skip_blanks();
        let value = cursor.dec32();
        cursor.eat(b",");
        value
    };
    let words = vec![number(b"sequence")?, number(b"num_events")?];
    Some((words, cursor.0.trim_ascii().is_empty()))
}
