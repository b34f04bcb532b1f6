//! The words of a command of Tcl, as Tcl's parser sees them (Tcl(n), rules 1 to 11). Nothing is ever
//! evaluated: a word that would be needs no value here, it is reported. Knows no commands of Grasp.
//!
//! Texts of words are borrowed from the script wherever no backslash changes them.
//!
//! By hand: the crates for Tcl are interpreters, which evaluate words and lose where they stood.

use super::escape::backslash;
use std::borrow::Cow;

/// A command has no more words.
const MAX_WORDS: usize = 4096;
/// Brackets are not nested deeper.
const MAX_DEPTH: usize = 32;

/// How a word is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// As it stands.
    Bare,
    /// `"…"`
    Quoted,
    /// `{…}`
    Braced,
    /// `[…]` and nothing else: a command whose result would be the word.
    Bracketed,
}

/// One word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word<'a> {
    /// What the word says, without quotes, braces or brackets, backslashes resolved. Of a bracketed word: the
    /// script.
    pub text: Cow<'a, str>,
    /// How it is written.
    pub kind: Kind,
    /// Where it begins in the script, in bytes.
    pub at: usize,
}

/// Why a command is not what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// `$name`: the word has no value without a program that runs.
    Variable,
    /// `[…]` within a word.
    Substitution,
    /// `{*}` in front of a word.
    Expansion,
    /// The script ends within `{…}`.
    OpenBrace,
    /// The script ends within `"…"`.
    OpenQuote,
    /// The script ends within `[…]`.
    OpenBracket,
    /// Something else than a blank behind `}`.
    BehindBrace,
    /// Something else than a blank behind `"`.
    BehindQuote,
    /// More than 4096 words, or brackets in more than 32 brackets.
    Limit,
}

impl Trouble {
    /// The command may go on behind the end of the script.
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
            Self::BehindBrace => "characters behind a closing brace",
            Self::BehindQuote => "characters behind a closing quotation mark",
            Self::Limit => "too many words, or brackets within brackets",
        }
    }
}

/// What ended a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// A line end.
    Line,
    /// `;`
    Semicolon,
    /// The bracket around it.
    Bracket,
    /// The end of the script.
    End,
}

/// Where a command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parsed {
    /// Behind its last byte, in front of what ended it.
    pub end: usize,
    /// What ended it.
    pub stop: Stop,
    /// The first thing that is wrong with it, and where.
    pub trouble: Option<(usize, Trouble)>,
}

/// Takes the command that begins at `at` into `words`. Neither blanks in front of it nor comments are looked
/// for: see [`skip_blanks`] and [`comment`]. `at` must lie between characters.
pub fn command<'a>(script: &'a str, at: usize, words: &mut Vec<Word<'a>>) -> Parsed {
    words.clear();
    let mut scan = Scan { script, bytes: script.as_bytes(), at, trouble: None, depth: 0 };
    let stop = scan.command(Some(words));
    Parsed { end: scan.at.min(script.len()), stop, trouble: scan.trouble }
}

/// The words of one whole command.
///
/// # Errors
/// What is wrong with it, and where; [`Trouble::Substitution`] also where a word is nothing but a bracket.
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

/// Where the first byte behind blanks is; a line end is none, unless a backslash stands in front of it.
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

/// Where the comment ends that begins at `at`, in front of its line end; `None` where there is none. A
/// backslash at the end of its line takes the next line along, as in Tcl.
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

/// What separates words.
#[inline(always)]
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// What means nothing but itself in a bare word.
#[inline(always)]
fn is_plain(byte: u8) -> bool {
    byte > b' ' && !matches!(byte, b';' | b'[' | b'\\' | b']' | b'$')
}

/// Where a backslash and a line end, and the blanks of the next line, end.
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

/// A place in a script.
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

    /// Words up to the end of the command. They are looked at but not kept where `words` is `None`.
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

    /// What follows a closing brace or quotation mark.
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
        self.border(Trouble::BehindBrace);
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
        self.border(Trouble::BehindQuote);
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

    /// One character where backslashes, variables and brackets mean something.
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
                    // What follows stands for itself, whatever it is.
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
            // Includes a closing bracket that closes nothing.
            _ => self.at += 1,
        }
    }

    /// A dollar sign is one unless a name follows it.
    fn names_variable(&self) -> bool {
        match self.bytes.get(self.at + 1) {
            Some(b'{' | b'(' | b'_') => true,
            Some(b':') => self.bytes.get(self.at + 2) == Some(&b':'),
            Some(byte) => byte.is_ascii_alphanumeric(),
            None => false,
        }
    }

    /// Goes behind a bracket and what it holds; whether it is closed.
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
        // Who wants to know what is within splits it; only what changes where it ends matters outside.
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
    /// What follows is still the script.
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
        // A backslash at the very end has nothing behind it.
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
