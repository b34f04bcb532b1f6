//! The words of a command of Tcl, as Tcl's parser splits them (Tcl(n), rules 1 to 11). Nothing is evaluated:
//! a word that would have to be is reported instead. Knows no commands of Grasp.
//!
//! Texts of words are borrowed from the script unless a backslash changes them.
//!
//! The crates for Tcl are interpreters, which evaluate words and lose their positions.

use super::quote::backslash;
use std::borrow::Cow;

/// Maximum number of words of a command.
const MAX_WORDS: usize = 4096;
/// Maximum nesting of brackets.
const MAX_DEPTH: usize = 32;

/// The notation of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Bare,
    /// `"…"`
    Quoted,
    /// `{…}`
    Braced,
    /// `[…]` alone: a command whose result would be the word.
    Bracketed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word<'a> {
    /// The text without quotes, braces or brackets, backslashes resolved. Of a bracketed word: the script.
    pub text: Cow<'a, str>,
    pub kind: Kind,
    /// Its offset in the script, in bytes.
    pub at: usize,
}

/// Why the words of a command are not literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// `$name`: the word has no value unless a program runs.
    Variable,
    /// `[…]` within a word.
    Substitution,
    /// `{*}` before a word.
    Expansion,
    /// The script ends within `{…}`.
    OpenBrace,
    /// The script ends within `"…"`.
    OpenQuote,
    /// The script ends within `[…]`.
    OpenBracket,
    /// Something other than a blank after `}`.
    AfterBrace,
    /// Something other than a blank after `"`.
    AfterQuote,
    /// More than 4096 words, or brackets in more than 32 brackets.
    Limit,
}

impl Trouble {
    /// The command may continue after the end of the script.
    pub fn is_open(self) -> bool {
        matches!(self, Self::OpenBrace | Self::OpenQuote | Self::OpenBracket)
    }

    /// A sentence without a full stop.
    pub fn message(self) -> &'static str {
        match self {
            Self::Variable => "the value of a variable is wanted, and nothing of a trace is run",
            Self::Substitution => "the result of a command is wanted, and nothing of a trace is run",
            Self::Expansion => "a word is to be expanded, and nothing of a trace is run",
            Self::OpenBrace => "a brace is not closed",
            Self::OpenQuote => "a quotation mark is not closed",
            Self::OpenBracket => "a bracket is not closed",
            Self::AfterBrace => "characters behind a closing brace",
            Self::AfterQuote => "characters behind a closing quotation mark",
            Self::Limit => "too many words, or brackets within brackets",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Line,
    Semicolon,
    Bracket,
    End,
}

/// The place where a command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parsed {
    /// After its last byte, before what ended it.
    pub end: usize,
    pub stop: Stop,
    /// The first thing that is wrong with it, and its offset.
    pub trouble: Option<(usize, Trouble)>,
}

/// Splits the command that begins at `at` into `words`. Does not skip blanks or comments before it: see
/// [`skip_blanks`] and [`comment`]. `at` must be between characters.
pub fn command<'a>(script: &'a str, at: usize, words: &mut Vec<Word<'a>>) -> Parsed {
    words.clear();
    let mut scan = Scan { script, bytes: script.as_bytes(), at, trouble: None, depth: 0 };
    let stop = scan.command(Some(words));
    Parsed { end: scan.at.min(script.len()), stop, trouble: scan.trouble }
}

/// The words of one whole command; else what is wrong with it, and where. [`Trouble::Substitution`] also
/// stands for a word that is only a bracket.
pub fn split(line: &str) -> Result<Vec<Cow<'_, str>>, (usize, Trouble)> {
    let mut words = Vec::new();
    let parsed = command(line, skip_blanks(line, 0), &mut words);
    if let Some(trouble) = parsed.trouble {
        return Err(trouble);
    }
    if let Some(word) = words.iter().find(|word| word.kind == Kind::Bracketed) {
        return Err((word.at, Trouble::Substitution));
    }
    Ok(words.into_iter().map(|word| word.text).collect())
}

/// The offset of the first byte after blanks; a line end is not a blank, unless a backslash precedes it.
pub fn skip_blanks(script: &str, at: usize) -> usize {
    let bytes = script.as_bytes();
    let mut at = at;
    loop {
        match bytes.get(at) {
            Some(b) if is_blank(*b) => at += 1,
            Some(b'\\') => match continuation(bytes, at) {
                Some(behind) => at = behind,
                None => return at,
            },
            _ => return at,
        }
    }
}

/// The end of the comment that begins at `at`, before its line end; `None` if there is none. A backslash at
/// the end of its line continues it on the next line, as in Tcl.
pub fn comment(script: &str, at: usize) -> Option<usize> {
    let bytes = script.as_bytes();
    if bytes.get(at) != Some(&b'#') {
        return None;
    }
    let mut at = at;
    loop {
        let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'\n', b'\\', rest)) else {
            return Some(bytes.len());
        };
        at += found;
        if bytes.get(at) == Some(&b'\n') {
            return Some(at);
        }
        at = continuation(bytes, at).unwrap_or(at + 2).min(bytes.len());
    }
}

#[inline(always)]
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// A byte without a special meaning in a bare word.
#[inline(always)]
fn is_plain(byte: u8) -> bool {
    byte > b' ' && !matches!(byte, b';' | b'[' | b'\\' | b']' | b'$')
}

/// The end of a backslash, a line end, and the blanks of the next line.
fn continuation(bytes: &[u8], at: usize) -> Option<usize> {
    let mut behind = match (bytes.get(at + 1)?, bytes.get(at + 2)) {
        (b'\n', _) => at + 2,
        (b'\r', Some(b'\n')) => at + 3,
        _ => return None,
    };
    while matches!(bytes.get(behind), Some(b' ' | b'\t')) {
        behind += 1;
    }
    Some(behind)
}

struct Scan<'a> {
    script: &'a str,
    bytes: &'a [u8],
    at: usize,
    trouble: Option<(usize, Trouble)>,
    /// Brackets around it.
    depth: usize,
}

impl<'a> Scan<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn note(&mut self, at: usize, trouble: Trouble) {
        self.trouble.get_or_insert((at, trouble));
    }

    /// Splits words up to the end of the command. With `None`, they are parsed but not stored.
    fn command(&mut self, mut words: Option<&mut Vec<Word<'a>>>) -> Stop {
        let mut count = 0;
        loop {
            self.at = skip_blanks(self.script, self.at);
            match self.peek() {
                None => return Stop::End,
                Some(b'\n') => return Stop::Line,
                Some(b';') => return Stop::Semicolon,
                Some(b']') if self.depth > 0 => return Stop::Bracket,
                Some(first) => {
                    let word = self.word(first);
                    count += 1;
                    if count > MAX_WORDS {
                        self.note(word.at, Trouble::Limit);
                    } else if let Some(words) = &mut words {
                        words.push(word);
                    }
                }
            }
        }
    }

    fn word(&mut self, first: u8) -> Word<'a> {
        let at = self.at;
        let (kind, text) = match first {
            b'{' => (Kind::Braced, self.braced()),
            b'"' => (Kind::Quoted, self.quoted()),
            _ => self.bare(),
        };
        Word { text, kind, at }
    }

    /// Whether a word may end here.
    fn at_border(&self) -> bool {
        match self.peek() {
            None | Some(b'\n' | b';') => true,
            Some(b'\\') => continuation(self.bytes, self.at).is_some(),
            Some(b']') => self.depth > 0,
            Some(byte) => is_blank(byte),
        }
    }

    /// Checks what follows a closing brace or quotation mark.
    fn border(&mut self, trouble: Trouble) {
        if self.at_border() {
            return;
        }
        self.note(self.at, trouble);
        while !self.at_border() {
            self.at += 1;
        }
    }

    fn braced(&mut self) -> Cow<'a, str> {
        let open = self.at;
        let mut text = Text::new(self.script, open + 1);
        let mut depth = 1;
        self.at += 1;
        loop {
            match self.peek() {
                None => {
                    self.note(open, Trouble::OpenBrace);
                    return text.finish(self.at);
                }
                Some(b'{') => depth += 1,
                Some(b'}') => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                Some(b'\\') => match continuation(self.bytes, self.at) {
                    Some(behind) => {
                        text.replace(self.at, behind, ' ');
                        self.at = behind;
                        continue;
                    }
                    // Both bytes belong to the word, and neither counts as a brace.
                    None => self.at += 1,
                },
                Some(_) => {}
            }
            self.at += 1;
        }
        let inner = text.finish(self.at);
        self.at += 1;
        if inner == "*" && !self.at_border() {
            self.note(open, Trouble::Expansion);
            while !self.at_border() {
                self.at += 1;
            }
            return inner;
        }
        self.border(Trouble::AfterBrace);
        inner
    }

    fn quoted(&mut self) -> Cow<'a, str> {
        let open = self.at;
        let mut text = Text::new(self.script, open + 1);
        self.at += 1;
        loop {
            match self.peek() {
                None => {
                    self.note(open, Trouble::OpenQuote);
                    return text.finish(self.at);
                }
                Some(b'"') => break,
                Some(byte) => self.step(byte, &mut text),
            }
        }
        let inner = text.finish(self.at);
        self.at += 1;
        self.border(Trouble::AfterQuote);
        inner
    }

    fn bare(&mut self) -> (Kind, Cow<'a, str>) {
        let start = self.at;
        if self.peek() == Some(b'[') {
            let whole = self.bracket();
            if self.at_border() {
                let end = if whole { self.at - 1 } else { self.at };
                let inner = self.script.get(start + 1..end).unwrap_or_default();
                return (Kind::Bracketed, Cow::Borrowed(inner));
            }
            self.note(start, Trouble::Substitution);
        }
        let mut text = Text::new(self.script, start);
        loop {
            while self.peek().is_some_and(is_plain) {
                self.at += 1;
            }
            match self.peek() {
                Some(b'\\') if continuation(self.bytes, self.at).is_none() => self.step(b'\\', &mut text),
                Some(byte) if !self.at_border() => self.step(byte, &mut text),
                _ => return (Kind::Bare, text.finish(self.at)),
            }
        }
    }

    /// One character in a text in which backslashes, variables and brackets have a meaning.
    fn step(&mut self, byte: u8, text: &mut Text<'a>) {
        match byte {
            b'\\' => {
                if let Some(behind) = continuation(self.bytes, self.at) {
                    text.replace(self.at, behind, ' ');
                    self.at = behind;
                } else if let Some((meant, length)) = backslash(self.bytes, self.at) {
                    text.replace(self.at, self.at + length, meant);
                    self.at += length;
                } else {
                    text.remove(self.at, self.at + 1);
                    // The next character stands for itself.
                    self.at += 2;
                }
            }
            b'$' => {
                if self.names_variable() {
                    self.note(self.at, Trouble::Variable);
                }
                self.at += 1;
            }
            b'[' => {
                let at = self.at;
                self.bracket();
                self.note(at, Trouble::Substitution);
            }
            // Also a closing bracket that closes nothing.
            _ => self.at += 1,
        }
    }

    /// A dollar sign is literal unless a name follows it.
    fn names_variable(&self) -> bool {
        match self.bytes.get(self.at + 1) {
            Some(b'{' | b'(' | b'_') => true,
            Some(b':') => self.bytes.get(self.at + 2) == Some(&b':'),
            Some(byte) => byte.is_ascii_alphanumeric(),
            None => false,
        }
    }

    /// Skips a bracket and its content; returns whether it is closed.
    fn bracket(&mut self) -> bool {
        let open = self.at;
        self.at += 1;
        if self.depth >= MAX_DEPTH {
            self.note(open, Trouble::Limit);
            self.at = self.bytes.len();
            return false;
        }
        self.depth += 1;
        let outside = self.trouble;
        let closed = loop {
            self.at = skip_blanks(self.script, self.at);
            if let Some(end) = comment(self.script, self.at) {
                self.at = end;
            }
            match self.command(None) {
                Stop::Bracket => break true,
                Stop::End => break false,
                Stop::Line | Stop::Semicolon => self.at += 1,
            }
        };
        self.depth -= 1;
        self.at = (self.at + usize::from(closed)).min(self.bytes.len());
        // Only what changes its end matters here; callers that need its words split it.
        let harmless = |(_, t): &(usize, Trouble)| {
            matches!(t, Trouble::Variable | Trouble::Substitution | Trouble::Expansion)
        };
        if outside.is_none() && self.trouble.as_ref().is_some_and(harmless) {
            self.trouble = None;
        }
        if !closed {
            self.note(open, Trouble::OpenBracket);
        }
        closed
    }
}

/// The text of a word: a slice of the script as long as nothing in it was replaced.
struct Text<'a> {
    script: &'a str,
    /// The rest, from this offset on, is still the script.
    from: usize,
    owned: Option<String>,
}

impl<'a> Text<'a> {
    fn new(script: &'a str, from: usize) -> Self {
        Self { script, from, owned: None }
    }

    fn remove(&mut self, begin: usize, end: usize) {
        let before = self.script.get(self.from..begin).unwrap_or_default();
        self.owned.get_or_insert_default().push_str(before);
        self.from = end;
    }

    fn replace(&mut self, begin: usize, end: usize, by: char) {
        self.remove(begin, end);
        self.owned.get_or_insert_default().push(by);
    }

    fn finish(self, end: usize) -> Cow<'a, str> {
        // A backslash at the very end has nothing after it.
        let end = end.min(self.script.len());
        let rest = self.script.get(self.from..end).unwrap_or_default();
        match self.owned {
            None => Cow::Borrowed(rest),
            Some(mut owned) => {
                owned.push_str(rest);
                Cow::Owned(owned)
            }
        }
    }
}
