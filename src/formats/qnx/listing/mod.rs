//! Listings of traceprinter as an input: users have them if the trace itself cannot leave the laboratory.
//! Lines → events with their words, of style 6 and of 7 and later with the default format, with `-n` or
//! without. Knows no files and no tables; times stay as they are printed.
//!
//! A line is an event, the continuation of one (an argument, or the rest of a string with line ends), part of
//! the header, blank, or rejected. In [`Counts`], continuations and headers are skipped lines. After a kernel
//! call that failed, traceprinter 1.02 omits the line end, and the rest of the line counts as a line of its
//! own.
//!
//! Data that are not printed are lost: numbers of buffers have 11 bits, words after the last argument are
//! missing, small addresses of 64 bits look like those of 32, names with unprintable bytes are empty.

mod cursor;
mod event;
mod pending;
#[cfg(test)]
mod tests;
mod values;

use super::super::Counts;
use super::super::text::{Findings, Line};
use crate::diagnostics::{Log, Severity};
use crate::encoding::escaped;
use crate::qnx::{Class, Event, Flavour, Status, Version};
use event::{Unreadable, begins_event, parse};
use pending::Pending;
use std::borrow::Cow;

/// Maximum number of words of an event; the kernel cuts strings at 128 bytes, programs may not.
pub const MAX_WORDS: usize = 4096;

/// Number of lines that are looked at to recognise a listing.
const PROBED_LINES: usize = 200;
/// Maximum number of stored attributes of a header.
const MAX_ATTRIBUTES: usize = 1000;

/// True if `head`, the first bytes of a file, is a listing: it begins with its title, or most of its lines
/// that are not arguments are events.
pub fn probe(head: &[u8]) -> bool {
    let (mut events, mut others) = (0, 0);
    for line in Line::all(head).take(PROBED_LINES) {
        // The last line may be cut off by the end of `head`.
        if !line.terminated && events + others > 0 {
            break;
        }
        let text = line.text.trim_ascii();
        if text.starts_with(b"TRACEPRINTER version") && events + others == 0 {
            return true;
        }
        match text {
            [] => {}
            _ if begins_event(text) => events += 1,
            // Arguments of the previous event.
            _ if events > 0 && text.len() < line.text.len() && text.contains(&b':') => {}
            _ => others += 1,
        }
    }
    events > others
}

/// An event of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedEvent {
    /// Line of its first line within the file, from 1.
    pub line: u64,
    /// Its CPU.
    pub cpu: u8,
    /// Its class.
    pub class: Class,
    /// Its number within the class.
    pub event: u16,
    /// Addresses have 64 bits, as far as the text tells.
    pub is64: bool,
    /// The low 32 bits of the count of the CPU's clock.
    pub timeoff: u32,
    /// The high 32 bits, if printed: style 7 prints all 64 bits, without leading zeros beyond eight digits.
    pub high: Option<u32>,
    /// The words as far as they are printed, padded to an even number. Fewer than two if none are printed.
    pub words: Vec<u32>,
    /// The arguments as they are printed, if they do not follow from the words.
    pub printed: Option<String>,
}

impl OwnedEvent {
    /// The event in its common form; `record`: its number, `cycles`: its full time.
    pub fn view(&self, record: u64, cycles: u64) -> Event<'_> {
        let Self { cpu, class, event, is64, .. } = *self;
        let is_unread = self.words.is_empty() && self.printed.is_some();
        let status = if is_unread { Status::Unread } else { Status::Ok };
        Event { record, cpu, flags: 0, class, event, is64, status, cycles, words: &self.words }
    }
}

/// Reads the lines of one listing, in order.
#[derive(Debug)]
pub struct ListingReader<'s> {
    findings: Findings<'s>,
    counts: Counts,
    attributes: Vec<(String, String)>,
    /// The version given by the user; otherwise that of the header counts.
    version: Option<Version>,
    flavour: Flavour,
    pending: Option<Pending>,
    lines: usize,
}

impl<'s> ListingReader<'s> {
    /// `source` is the path given by the user. `version`: for a header that is wrong or missing.
    pub fn new(source: impl Into<Cow<'s, str>>, version: Option<Version>) -> Self {
        Self {
            findings: Findings::new(source),
            counts: Counts::default(),
            attributes: Vec::new(),
            version,
            flavour: Flavour { version: version.unwrap_or_default(), big_endian: false },
            pending: None,
            lines: 0,
        }
    }

    /// Reads whole lines. The last event is held back until a line does not continue it. `inside_line`: the
    /// previous chunk ended inside a line, whose rest is skipped without being counted.
    pub fn chunk(&mut self, chunk: &[u8], inside_line: bool, events: &mut Vec<OwnedEvent>) {
        let mut at = 0;
        if inside_line {
            at = memchr::memchr(b'\n', chunk).map_or(chunk.len(), |end| end + 1);
        }
        while at < chunk.len() {
            let (line, next) = Line::take(chunk, at, self.lines);
            self.lines += 1;
            at = next;
            self.line(line, events);
        }
    }

    /// Returns the last event. To be called once, after the last chunk.
    pub fn finish(&mut self, events: &mut Vec<OwnedEvent>) {
        self.flush(events);
    }

    /// The attributes of the header, in order, keys without `TRACE_`. Complete after the first event.
    pub fn attributes(&self) -> &[(String, String)] {
        &self.attributes
    }

    /// The target, according to the header or the user.
    pub fn flavour(&self) -> Flavour {
        self.flavour
    }

    /// The counts of lines. Complete after [`ListingReader::finish`].
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The findings; lines are those of the file.
    pub fn into_log(self) -> Log {
        self.findings.into_log()
    }

    fn line(&mut self, line: Line<'_>, events: &mut Vec<OwnedEvent>) {
        self.counts.lines += 1;
        if line.too_long {
            self.flush(events);
            return self.reject(line, "line-too-long", "the line is longer than a line can be");
        }
        if begins_event(line.text) {
            return self.event_line(line, events);
        }
        if self.pending.as_mut().is_some_and(|pending| pending.continues(line.text)) {
            return;
        }
        if line.text.trim_ascii().is_empty() {
            let is_held = self.pending.as_mut().is_some_and(|pending| pending.takes_blank(line));
            self.counts.skipped += u64::from(!is_held);
        } else if is_title(line.text)
            || !self.pending.as_mut().is_some_and(|pending| pending.takes_rest(self.flavour, line))
        {
            // It is not part of the event before, nor does it change how that is read.
            self.flush(events);
            match header(line.text) {
                Some(header) => {
                    self.counts.skipped += 1;
                    if let Header::Attribute(key, value) = header {
                        self.attribute(key, value);
                    }
                }
                None => self.reject_as(line, Unreadable::NotAnEvent),
            }
        }
    }

    /// A line with an event, or with several if line ends after failed calls are missing.
    fn event_line(&mut self, line: Line<'_>, events: &mut Vec<OwnedEvent>) {
        let mut rest = line.text;
        while let Some(cut) = after_failure(rest) {
            let (one, others) = rest.split_at_checked(cut).unwrap_or((rest, &[]));
            self.flush(events);
            self.pending = Some(Pending::new(line.number, one));
            self.counts.lines += 1;
            self.counts.joined += 1;
            rest = others;
        }
        self.flush(events);
        self.pending = Some(Pending::new(line.number, rest));
    }

    fn attribute(&mut self, key: String, value: String) {
        match key.as_str() {
            "SYS_RELEASE" if self.version.is_none() => {
                if let Some(version) = Version::of_release(&value) {
                    self.flavour.version = version;
                }
            }
            "BIG_ENDIAN" => self.flavour.big_endian = value.trim() == "TRUE",
            _ => {}
        }
        if self.attributes.len() < MAX_ATTRIBUTES {
            self.attributes.push((key, value));
        }
    }

    /// Returns the event whose lines are complete.
    fn flush(&mut self, events: &mut Vec<OwnedEvent>) {
        let Some(mut pending) = self.pending.take() else { return };
        self.counts.skipped += pending.continuations + pending.blanks.len() as u64;
        let mut parsed = parse(self.flavour, &pending.text);
        if parsed.as_ref().is_ok_and(|parsed| parsed.unread.is_some()) && !pending.rests.is_empty() {
            // What follows did not complete it, so it is not part of it.
            self.reject_rests(std::mem::take(&mut pending.rests));
            let own = memchr::memchr(b'\n', &pending.text).unwrap_or(pending.text.len());
            pending.text.truncate(own);
            parsed = parse(self.flavour, &pending.text);
        }
        match parsed {
            Ok(parsed) => {
                if let Some(why) = parsed.unread {
                    self.findings
                        .note(pending.line(), Severity::Warning, why.as_str(), || why.message().to_owned());
                }
                if parsed.words_missing {
                    self.findings.note(pending.line(), Severity::Warning, "words-not-printed", || {
                        "words of this event are not printed (an unprintable string, or a sigevent on a host)".to_owned()
                    });
                }
                self.counts.rows += 1;
                self.counts.skipped += pending.rests.len() as u64;
                events.push(OwnedEvent {
                    line: pending.number as u64 + 1,
                    cpu: parsed.cpu,
                    class: parsed.class,
                    event: parsed.event,
                    is64: parsed.is64,
                    timeoff: parsed.timeoff,
                    high: parsed.high,
                    words: parsed.words,
                    printed: parsed.printed,
                });
            }
            Err(why) => {
                self.reject_as(pending.line(), why);
                self.reject_rests(pending.rests);
            }
        }
    }

    /// Lines that are no rest of a string after all.
    fn reject_rests(&mut self, rests: Vec<(usize, Vec<u8>)>) {
        for (number, text) in rests {
            match text.trim_ascii() {
                [] => self.counts.skipped += 1,
                _ => {
                    let line = Line { number, text: &text, terminated: true, too_long: false };
                    self.reject_as(line, Unreadable::NotAnEvent);
                }
            }
        }
    }

    fn reject_as(&mut self, line: Line<'_>, why: Unreadable) {
        self.reject(line, why.as_str(), why.message());
    }

    fn reject(&mut self, line: Line<'_>, code: &'static str, message: &'static str) {
        self.counts.rejected += 1;
        self.findings.note(line, Severity::Error, code, || message.to_owned());
    }
}

/// A line of a header.
enum Header {
    /// It says nothing about the trace.
    Title,
    /// The name of an attribute, without `TRACE_`, and its value.
    Attribute(String, String),
}

/// True for lines that are never the rest of a string: titles, with which another listing begins, and raw
/// records.
fn is_title(line: &[u8]) -> bool {
    let known: [&[u8]; 3] = [b"TRACEPRINTER", b"event =>", b"\xef\xbb\xbf"];
    line.starts_with(b" -- ") || known.iter().any(|start| line.trim_ascii().starts_with(start))
}

/// What a line of a header says, if it is one. To be asked of lines that are part of no event: a message to
/// the system log can have any.
fn header(line: &[u8]) -> Option<Header> {
    let text = line.trim_ascii();
    if is_title(line) || text.starts_with(b"TRACEPARSER") || text.starts_with(b"-- ") {
        return Some(Header::Title);
    }
    let attribute = escaped(text.strip_prefix(b"TRACE_")?);
    let (key, value) = attribute.split_once("::").filter(|(key, _)| !key.is_empty() && !key.contains(' '))?;
    Some(Header::Attribute(key.to_owned(), value.strip_prefix(' ').unwrap_or(value).to_owned()))
}

/// Where the next event begins on the line of a kernel call that failed.
fn after_failure(line: &[u8]) -> Option<usize> {
    const FAILURE: &[u8] = b" ret_val:-1, errno:";
    let at = memchr::memmem::find(line, FAILURE)?;
    // Only the begin of the line, up to the name of a call, is checked.
    if at > 128 || memchr::memmem::find(line.get(..at)?, b"KER_EXIT").is_none() {
        return None;
    }
    let errno = at + FAILURE.len();
    let digits = line.get(errno..)?.iter().take_while(|b| b.is_ascii_digit() || **b == b'-').count();
    let next = errno + digits;
    (digits > 0 && begins_event(line.get(next..)?)).then_some(next)
}
