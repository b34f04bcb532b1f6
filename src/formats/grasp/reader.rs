//! The lines of a Grasp trace, chunk by chunk, to commands with findings. A known command may continue over
//! lines, with braces, quotation marks or a backslash; anything else is one line, so that the quotation marks
//! in other output of a program cannot hide the following commands.

use super::super::Counts;
use super::super::text::{Findings, Line, without_bom};
use super::command::{Command, Head, Status, head, inner};
use super::words::{Kind, Stop, Trouble, Word, command, comment, skip_blanks};
use crate::diagnostics::{Log, Severity};
use crate::encoding::latin1;
use crate::input::MAX_LINE;
use std::borrow::Cow;

/// Maximum length of a command over several lines.
const MAX_COMMAND: usize = MAX_LINE;
/// After this many unclosed commands, commands end with their line: each search for an end is long.
const MAX_UNCLOSED: u32 = 1000;

#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Its first line within the file, from 1.
    pub line: u64,
    /// Its text, without its line end.
    pub text: &'a str,
}

/// Reads the lines of one trace, in order.
#[derive(Debug)]
pub struct CommandReader<'s> {
    findings: Findings<'s>,
    counts: Counts,
    /// Ticks per unit of time.
    tick: i64,
    /// The beginning of a command that continues in the next chunk.
    carried: Vec<u8>,
    /// The previous chunk ended inside a line that is too long.
    inside_line: bool,
    /// Number of lines that ended before the chunk.
    lines: usize,
    /// Number of unclosed commands.
    unclosed: u32,
    /// The last line of the file has no line end.
    pub unended: bool,
}

impl<'s> CommandReader<'s> {
    /// `source` is the path given by the user; `tick`: ticks per unit of time, above 0.
    pub fn new(source: impl Into<Cow<'s, str>>, tick: i64) -> Self {
        Self {
            findings: Findings::new(source),
            counts: Counts::default(),
            tick,
            carried: Vec::new(),
            inside_line: false,
            lines: 0,
            unclosed: 0,
            unended: false,
        }
    }

    /// Passes on the commands of the next chunk, which ends with a line end unless it is the last one or ends
    /// inside a line that is too long.
    pub fn chunk<E>(
        &mut self,
        chunk: &[u8],
        last: bool,
        take: &mut dyn FnMut(Place<'_>, &Command<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut bytes = Cow::Borrowed(chunk);
        if !self.carried.is_empty() {
            let mut joined = std::mem::take(&mut self.carried);
            joined.extend_from_slice(chunk);
            bytes = Cow::Owned(joined);
        }
        let bytes: &[u8] =
            if self.lines == 0 && self.counts.lines == 0 { without_bom(&bytes) } else { &bytes };
        match std::str::from_utf8(bytes) {
            Ok(text) => self.text(text, last, take),
            Err(_) => {
                self.note_lossy(bytes);
                let text = latin1(bytes).into_owned();
                self.text(&text, last, take)
            }
        }
    }

    /// The counts of lines. Complete after the last chunk.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The findings since the last call.
    pub fn take_log(&mut self) -> Log {
        self.findings.take_log()
    }

    fn text<E>(
        &mut self,
        text: &str,
        last: bool,
        take: &mut dyn FnMut(Place<'_>, &Command<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut at = 0;
        if std::mem::take(&mut self.inside_line) {
            match memchr::memchr(b'\n', text.as_bytes()) {
                Some(end) => {
                    at = end + 1;
                    self.lines += 1;
                }
                None => {
                    self.inside_line = true;
                    return Ok(());
                }
            }
        }
        let mut words = Vec::new();
        while at < text.len() {
            let rest = text.get(at..).unwrap_or_default();
            let end = memchr::memchr(b'\n', rest.as_bytes());
            let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            if line.len() >= MAX_LINE {
                self.counts.lines += 1;
                self.counts.rejected += 1;
                let message = || "the line is longer than a line can be".to_owned();
                self.note(line, Severity::Error, "line-too-long", message);
                self.lines += usize::from(end.is_some());
                self.inside_line = end.is_none() && !last;
                at += line.len() + 1;
                continue;
            }
            let Some(next) = self.command(rest, line, last, &mut words, take)? else {
                // The rest of it is still to come.
                self.carried = rest.as_bytes().to_vec();
                return Ok(());
            };
            let taken = rest.get(..next).unwrap_or(rest);
            let more = memchr::memchr_iter(b'\n', taken.as_bytes()).count();
            self.counts.lines += 1 + more as u64;
            self.counts.rows += 1;
            self.counts.skipped += more as u64;
            let ended = rest.as_bytes().get(next) == Some(&b'\n');
            self.lines += more + usize::from(ended);
            self.unended = !ended;
            at += next + 1;
        }
        Ok(())
    }

    /// The end of the command at the begin of `rest`, whose first line is `line`; `None` if not known yet.
    fn command<'t, E>(
        &mut self,
        rest: &'t str,
        line: &'t str,
        last: bool,
        words: &mut Vec<Word<'t>>,
        take: &mut dyn FnMut(Place<'_>, &Command<'_>) -> Result<(), E>,
    ) -> Result<Option<usize>, E> {
        let begin = line.len() - line.trim_start_matches([' ', '\t', '\r', '\x0b', '\x0c']).len();
        let bare = line.get(begin..).unwrap_or_default();
        let may_go_on = !last && rest.len() < MAX_COMMAND;
        if bare.is_empty() {
            let blank = Command { status: Status::Blank, ..Command::default() };
            return self.emit(line, &blank, Severity::Info, take).map(|()| Some(line.len()));
        }
        if bare.starts_with('#') {
            let end = comment(rest, begin).unwrap_or(line.len());
            // The line end after a backslash may be the last byte of the chunk.
            if may_go_on && end >= rest.len() {
                return Ok(None);
            }
            let end = if end < MAX_COMMAND { before_line_end(rest, end) } else { line.len() };
            let comment = Command { status: Status::Comment, command: "#", ..Command::default() };
            let text = rest.get(..end).unwrap_or(line);
            return self.emit(text, &comment, Severity::Info, take).map(|()| Some(text.len()));
        }
        let begin = begin + tag(bare);
        let bare = line.get(begin..).unwrap_or_default();
        let kind = head(bare);
        if kind == Head::Other {
            return self.other(line, bare, take).map(|()| Some(line.len()));
        }
        let (rest, may_go_on) = match self.unclosed < MAX_UNCLOSED {
            true => (rest, may_go_on),
            false => (line, false),
        };
        let parsed = command(rest, skip_blanks(rest, begin), words);
        if parsed.end >= rest.len() && may_go_on {
            return Ok(None);
        }
        let open = parsed.trouble.filter(|(_, trouble)| trouble.is_open());
        if open.is_some() || parsed.end > MAX_COMMAND {
            // Its end is unknown: what follows is read as if it had ended with its line.
            self.unclosed = self.unclosed.saturating_add(1);
            let trouble = open.map_or(Trouble::Limit, |(_, trouble)| trouble);
            let command = Command {
                status: Status::Malformed,
                command: first_word(bare),
                finding: Some(("unclosed", trouble.message().to_owned())),
                ..Command::default()
            };
            return self.emit(line, &command, Severity::Error, take).map(|()| Some(line.len()));
        }
        let step =
            self.known(rest, parsed.end, kind == Head::Script, (parsed.stop, parsed.trouble), words, take)?;
        Ok(Some(step))
    }

    /// A command with known words, up to the end of its line.
    fn known<'t, E>(
        &mut self,
        rest: &'t str,
        end: usize,
        script: bool,
        (stop, trouble): (Stop, Option<(usize, Trouble)>),
        words: &[Word<'t>],
        take: &mut dyn FnMut(Place<'_>, &Command<'_>) -> Result<(), E>,
    ) -> Result<usize, E> {
        let to_line_end = memchr::memchr(b'\n', rest.as_bytes().get(end..).unwrap_or_default());
        let end = before_line_end(rest, to_line_end.map_or(rest.len(), |behind| end + behind));
        let text = rest.get(..end).unwrap_or(rest);
        let first = words.first().map_or("", |word| word.text.as_ref());
        let refused = |code, message: &str| Command {
            status: Status::Refused,
            command: first,
            finding: Some((code, message.to_owned())),
            ..Command::default()
        };
        // BufferPlot set activePlot [BufferPlot new]: the only bracket after a first word in practice.
        let is_new_plot = first == "BufferPlot" && words.last().is_some_and(|w| w.text == "BufferPlot new");
        let brackets = words.iter().skip(1).any(|word| word.kind == Kind::Bracketed) && !is_new_plot;
        let command = if script {
            refused("script", "a script would have to run for this, and nothing of a trace is run")
        } else if let Some((_, trouble)) = trouble {
            let code = match trouble {
                Trouble::AfterBrace | Trouble::AfterQuote => "behind-word",
                _ => "substitution",
            };
            refused(code, trouble.message())
        } else if stop == Stop::Semicolon {
            refused("several-commands", "a ';' would begin another command; write one command a line")
        } else if brackets {
            refused("substitution", Trouble::Substitution.message())
        } else {
            match inner(words) {
                Err(trouble) => refused("substitution", trouble.message()),
                Ok(inner) => {
                    let command = Command::read(words, &inner, self.tick);
                    self.counts.inexact_times += command.inexact;
                    let severity = match (command.status, command.finding.as_ref().map(|(code, _)| *code)) {
                        (Status::Malformed, _) | (_, Some("time-overflow")) => Severity::Error,
                        (_, Some("recorder-error" | "option-without-value" | "not-a-number")) => {
                            Severity::Warning
                        }
                        _ => Severity::Info,
                    };
                    return self.emit(text, &command, severity, take).map(|()| end);
                }
            }
        };
        self.emit(text, &command, Severity::Error, take).map(|()| end)
    }

    /// A line that is not a command: stored and reported.
    fn other<E>(
        &mut self,
        line: &str,
        bare: &str,
        take: &mut dyn FnMut(Place<'_>, &Command<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let command = Command {
            status: Status::Unknown,
            command: first_word(bare),
            finding: Some(("unknown-command", "no command of Grasp; it is kept as it is".to_owned())),
            ..Command::default()
        };
        self.emit(line, &command, Severity::Warning, take)
    }

    fn emit<E>(
        &mut self,
        text: &str,
        command: &Command<'_>,
        severity: Severity,
        take: &mut dyn FnMut(Place<'_>, &Command<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some((code, message)) = &command.finding {
            self.note(text, severity, code, || message.clone());
        }
        take(Place { line: self.lines as u64 + 1, text }, command)
    }

    fn note(&mut self, text: &str, severity: Severity, code: &'static str, message: impl FnOnce() -> String) {
        let line = Line { number: self.lines, text: text.as_bytes(), terminated: true, too_long: false };
        self.findings.note(line, severity, code, message);
    }

    fn note_lossy(&mut self, bytes: &[u8]) {
        for (n, text) in bytes.split(|b| *b == b'\n').enumerate() {
            if std::str::from_utf8(text).is_err() {
                let line = Line { number: self.lines + n, text, terminated: true, too_long: false };
                let message = || {
                    "the line has bytes that are no UTF-8; each is read as a character of Latin-1".to_owned()
                };
                self.findings.note(line, Severity::Warning, "not-utf8", message);
            }
        }
    }
}

/// The end of a command. One that goes on at the end of the trace, as an open quotation mark or a backslash
/// tells, has taken the last line end, which ends its line all the same.
fn before_line_end(rest: &str, end: usize) -> usize {
    if end < rest.len() { end } else { rest.strip_suffix('\n').unwrap_or(rest).len() }
}

fn first_word(text: &str) -> &str {
    text.split_ascii_whitespace().next().unwrap_or_default()
}

/// The length of a mark before a command, which loggers print on a console: `[grasp]plot 5 …`.
fn tag(line: &str) -> usize {
    let inside = line.strip_prefix('[').and_then(|l| l.split_once(']'));
    let Some((mark, behind)) = inside.filter(|(m, _)| !m.contains(|c: char| c.is_ascii_whitespace())) else {
        return 0;
    };
    let blanks = behind.len() - behind.trim_start_matches([' ', '\t']).len();
    match head(behind.trim_start_matches([' ', '\t'])) {
        Head::Grasp => mark.len() + 2 + blanks,
        _ => 0,
    }
}
