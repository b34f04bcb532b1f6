//! The attribute header of a `.kev` file and some fields of the syspage after it. Not the records.
//!
//! `TRACE_HEADER_BEGIN::`, `TRACE_` KEY `::` VALUE without separators, `TRACE_HEADER_END::`, the syspage.

use crate::encoding::escaped;
use crate::error::{Error, Result};
use crate::qnx::Version;

/// The begin of a trace file.
const BEGIN: &[u8] = b"TRACE_HEADER_BEGIN::";
/// The end of its attributes.
const END: &[u8] = b"TRACE_HEADER_END::";
const PREFIX: &[u8] = b"TRACE_";
/// A header has some hundred bytes; arguments of the logger can make it longer.
const MAX_HEADER: usize = 1 << 20;
/// `total_size` of the syspage is a 16-bit number (`sys/syspage.h`).
const MAX_SYSPAGE: usize = u16::MAX as usize;
/// The place of the offset of section `qtime` in the syspage: its sixth pair (offset, size) of 16 bits.
const QTIME_INFO: usize = 8 + 6 * 4;
/// Flag of `qtime`: the clocks of all CPUs are synchronised.
const GLOBAL_CLOCK: u32 = 0x8;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Header {
    /// Every attribute in the order of the file, keys with `TRACE_`.
    pub attributes: Vec<(String, String)>,
    pub big_endian: bool,
    /// Ticks of the clock per second; at least 1.
    pub cycles_per_sec: u64,
    /// Length of the syspage after the header, in bytes.
    pub syspage_len: usize,
    /// The release; `None` if it is missing or unknown.
    pub version: Option<Version>,
    /// Number of CPUs, according to the header.
    pub cpus: Option<u32>,
}

/// The fields of the syspage that concern time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Syspage {
    /// Ticks of the clock per second.
    pub cycles_per_sec: Option<u64>,
    /// When the target was booted, in seconds of UTC since 1970.
    pub boot_time: Option<u32>,
    /// Whether the clocks of all CPUs are synchronised; if not, the order of their events means little.
    pub clock_global: Option<bool>,
}

/// True if `head` is the beginning of a `.kev` file.
pub fn probe(head: &[u8]) -> bool {
    head.starts_with(BEGIN)
}

/// The length of the header, if `bytes` contain all of it; `None` if more bytes are needed. Fails when it
/// cannot be a header: other bytes, or no end within a mebibyte.
pub fn header_length(bytes: &[u8]) -> Result<Option<usize>> {
    let known = bytes.len().min(BEGIN.len());
    if bytes.get(..known) != BEGIN.get(..known) {
        return Err(Error::input("this is no kernel trace: it does not begin with 'TRACE_HEADER_BEGIN::'"));
    }
    match memchr::memmem::find(bytes, END) {
        Some(at) => Ok(Some(at + END.len())),
        None if bytes.len() > MAX_HEADER => {
            Err(Error::input(format!("the header has no end: no 'TRACE_HEADER_END::' in {MAX_HEADER} bytes")))
        }
        None => Ok(None),
    }
}

impl Header {
    /// Parses a complete header of the length [`header_length`]. Fails for missing attributes without which
    /// no record can be read, or contradictory ones.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        Self::of_attributes(attributes(bytes))
    }

    /// The value of an attribute, by its key with `TRACE_`.
    pub fn attribute(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// The header with these attributes, with or without `TRACE_HEADER_…`.
    pub fn of_attributes(mut attributes: Vec<(String, String)>) -> Result<Self> {
        attributes.retain(|(key, _)| key != "TRACE_HEADER_BEGIN" && key != "TRACE_HEADER_END");
        let value = |key: &str| attributes.iter().find(|(k, _)| k == key).map(|(_, v)| v.trim());
        let yes = |key| value(key).is_some_and(|v| v.eq_ignore_ascii_case("true"));
        if yes("TRACE_MIDDLE_ENDIAN") {
            return Err(Error::input("the trace is middle endian, which btfdb cannot read"));
        }
        let (big, little) = (yes("TRACE_BIG_ENDIAN"), yes("TRACE_LITTLE_ENDIAN"));
        if big && little {
            return Err(Error::input("the header says both TRACE_BIG_ENDIAN and TRACE_LITTLE_ENDIAN"));
        }
        let number = |key: &str| -> Result<Option<u64>> {
            let parse = |v: &str| {
                v.parse()
                    .map_err(|_| Error::input(format!("{key} of the header is '{v}', which is no number")))
            };
            value(key).map(parse).transpose()
        };
        let syspage_len = number("TRACE_SYSPAGE_LEN")?.unwrap_or(0);
        if syspage_len > MAX_SYSPAGE as u64 {
            return Err(Error::input(format!(
                "TRACE_SYSPAGE_LEN of the header is {syspage_len}, more than {MAX_SYSPAGE}"
            )));
        }
        if let Some(encoding) = value("TRACE_ENCODING").filter(|e| !e.starts_with("16 byte")) {
            return Err(Error::input(format!(
                "the records are '{encoding}', and only '16 byte events' can be read"
            )));
        }
        Ok(Self {
            big_endian: big,
            cycles_per_sec: number("TRACE_CYCLES_PER_SEC")?.unwrap_or(0),
            syspage_len: syspage_len as usize,
            version: value("TRACE_SYS_RELEASE").and_then(Version::of_release),
            cpus: number("TRACE_CPU_NUM")?.and_then(|n| u32::try_from(n).ok()),
            attributes,
        })
    }
}

/// The attributes of a header. A key is `TRACE_`, letters, digits and underscores, followed by `::`. If a
/// value ends in such letters, the last `TRACE_` begins the key, because no key contains it.
fn attributes(bytes: &[u8]) -> Vec<(String, String)> {
    let text = |range: std::ops::Range<usize>| escaped(bytes.get(range).unwrap_or_default()).into_owned();
    let mut found: Vec<(String, String)> = Vec::new();
    // The current key, and where its value begins.
    let mut open: Option<(std::ops::Range<usize>, usize)> = None;
    for colons in memchr::memmem::find_iter(bytes, b"::") {
        let from = open.as_ref().map_or(0, |(_, value)| *value);
        let before = bytes.get(from..colons).unwrap_or_default();
        let word = before.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let word = before.get(before.len() - word..).unwrap_or_default();
        let Some(at) = memchr::memmem::rfind(word, PREFIX).filter(|at| at + PREFIX.len() < word.len()) else {
            continue;
        };
        let key = colons - (word.len() - at);
        if let Some((name, value)) = open.replace((key..colons, colons + 2)) {
            found.push((text(name), text(value..key)));
        }
    }
    if let Some((name, value)) = open {
        found.push((text(name), text(value..bytes.len())));
    }
    found
}

impl Syspage {
    /// Reads as much as there is: the layout is known for some versions only.
    pub fn parse(bytes: &[u8], big_endian: bool) -> Self {
        let u16_at = |at: usize| -> Option<u16> {
            let b: [u8; 2] = bytes.get(at..at + 2)?.try_into().ok()?;
            Some(if big_endian { u16::from_be_bytes(b) } else { u16::from_le_bytes(b) })
        };
        let u32_at = |at: usize| -> Option<u32> {
            let b: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
            Some(if big_endian { u32::from_be_bytes(b) } else { u32::from_le_bytes(b) })
        };
        let u64_at = |at: usize| -> Option<u64> {
            let (first, second) = (u64::from(u32_at(at)?), u64::from(u32_at(at + 4)?));
            Some(if big_endian { first << 32 | second } else { second << 32 | first })
        };
        // A section of another length has an unknown layout.
        let qtime =
            u16_at(QTIME_INFO).zip(u16_at(QTIME_INFO + 2)).filter(|(at, size)| *at >= 8 && *size >= 56);
        let Some(at) = qtime.map(|(at, _)| usize::from(at)) else { return Self::default() };
        Self {
            cycles_per_sec: u64_at(at).filter(|c| *c > 0),
            boot_time: u32_at(at + 28).filter(|t| *t > 0),
            clock_global: u32_at(at + 52).map(|flags| flags & GLOBAL_CLOCK != 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neutrino::{ByteOrder, Target};

    fn parse(text: &str) -> Vec<(String, String)> {
        attributes(text.as_bytes())
    }

    #[test]
    fn values_may_hold_colons_and_the_prefix() {
        let found = parse(
            "TRACE_HEADER_BEGIN::TRACE_FILE_NAME::a::b TRACE_ x.kevTRACE_DATE::Mon 10:00:00TRACE_my_Key::1TRACE_HEADER_END::",
        );
        let expected = [
            ("TRACE_HEADER_BEGIN", ""),
            ("TRACE_FILE_NAME", "a::b TRACE_ x.kev"),
            ("TRACE_DATE", "Mon 10:00:00"),
            ("TRACE_my_Key", "1"),
            ("TRACE_HEADER_END", ""),
        ];
        assert_eq!(found, expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
    }

    #[test]
    fn the_header_needs_neither_order_nor_dates() {
        let header = Header::parse(
            b"TRACE_HEADER_BEGIN::TRACE_SYSPAGE_LEN::7TRACE_BIG_ENDIAN::TRUETRACE_SYS_RELEASE::8.0.0TRACE_CPU_NUM::4TRACE_CYCLES_PER_SEC::54000000TRACE_HEADER_END::",
        )
        .unwrap();
        assert!(header.big_endian);
        assert_eq!((header.cycles_per_sec, header.syspage_len, header.cpus), (54_000_000, 7, Some(4)));
        assert_eq!(header.version, Some(Version::V8_0));
        assert_eq!(header.attributes.len(), 5);
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_its_reason() {
        let refused = |body: &str| {
            let text = format!("TRACE_HEADER_BEGIN::{body}TRACE_HEADER_END::");
            Header::parse(text.as_bytes()).unwrap_err().to_string()
        };
        assert!(refused("TRACE_MIDDLE_ENDIAN::TRUE").contains("middle endian"));
        assert!(refused("TRACE_SYSPAGE_LEN::many").contains("'many'"));
        assert!(refused("TRACE_SYSPAGE_LEN::70000").contains("70000"));
        assert!(refused("TRACE_ENCODING::8 byte events").contains("8 byte"));
        assert!(refused("TRACE_BIG_ENDIAN::TRUETRACE_LITTLE_ENDIAN::TRUE").contains("both"));
    }

    #[test]
    fn a_header_that_has_no_end() {
        assert_eq!(header_length(b"TRACE_HEADER_BEG").unwrap(), None);
        assert_eq!(header_length(b"TRACE_HEADER_BEGIN::TRACE_HEADER_END::xx").unwrap(), Some(38));
        assert!(header_length(b"#version 2.1.5").is_err());
        let long = [BEGIN, &vec![b'x'; MAX_HEADER + 1]].concat();
        assert!(header_length(&long).is_err());
    }

    #[test]
    fn the_clock_of_the_syspage() {
        let mut page = vec![0u8; 200];
        page[QTIME_INFO..QTIME_INFO + 4].copy_from_slice(&[100, 0, 80, 0]);
        page[100..108].copy_from_slice(&54_000_000u64.to_le_bytes());
        page[128..132].copy_from_slice(&1_700_000_000u32.to_le_bytes());
        page[152..156].copy_from_slice(&8u32.to_le_bytes());
        let read = Syspage::parse(&page, false);
        assert_eq!(read.cycles_per_sec, Some(54_000_000));
        assert_eq!(read.boot_time, Some(1_700_000_000));
        assert_eq!(read.clock_global, Some(true));
        // Another interpretation of `struct qtime_entry` (sys/syspage.h) writes it.
        for (global_clock, order) in [(true, ByteOrder::Little), (false, ByteOrder::Big)] {
            let page = Target { global_clock, order, ..Target::default() }.syspage();
            let read = Syspage::parse(&page, order == ByteOrder::Big);
            assert_eq!(read.clock_global, Some(global_clock));
            assert_eq!((read.cycles_per_sec, read.boot_time), (Some(1_000_000_000), Some(1_700_000_000)));
        }
        assert_eq!(Syspage::parse(&page[..20], false), Syspage::default());
        assert_eq!(Syspage::parse(&page[..110], false).boot_time, None);
    }
}
