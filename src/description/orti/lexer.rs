//! ORTI text to tokens with their places, without comments and preprocessor lines. Not for grammar.

use super::findings::Findings;
use crate::diagnostics::{Severity, excerpt};
use crate::encoding::escape;

/// Maximum length of a string that spans lines; bounds the search for a missing quote.
const MAX_SPANNING_STRING: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or a name.
    Word,
    /// A C integer or character constant; `text` holds it as written.
    Number,
    /// A quoted string; `text` holds it without quotes and with `\"` and `\\` resolved.
    Text,
    /// A sign such as `{`.
    Sign(u8),
    /// The end of the file, also returned forever after it.
    End,
}

/// One token. `start..end` are byte offsets in the source.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub kind: Kind,
    pub text: String,
    pub start: usize,
    pub end: usize,
    /// 1-based.
    pub line: u32,
    /// 1-based, in bytes.
    pub column: u32,
}

/// Cuts `source` into tokens, the last of which is [`Kind::End`].
pub(super) fn tokens(source: &str, findings: &mut Findings) -> Vec<Token> {
    let mut lexer = Lexer { source, at: 0, line: 1, line_start: 0, out: Vec::new(), findings };
    while lexer.step() {}
    let at = lexer.at;
    lexer.emit(Kind::End, String::new(), at);
    lexer.out
}

/// The value of a C integer constant (decimal, hex, octal, suffixes `u` and `l`); values above 2^63 wrap.
pub(super) fn c_integer(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let value = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        u64::from_str_radix(hex, 16)
    } else {
        // A leading zero means octal, but some generators write 08, which can only be decimal.
        match digits.strip_prefix('0').map(|octal| u64::from_str_radix(octal, 8)) {
            Some(Ok(octal)) => Ok(octal),
            _ => digits.parse(),
        }
    };
    if digits.contains('+') { None } else { value.ok().map(u64::cast_signed) }
}

/// The value of a C character constant such as `'a'` or `'\0'`.
pub(super) fn c_character(text: &str) -> Option<i64> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut chars = inner.chars();
    let value = match (chars.next()?, chars.next()) {
        (c, None) if c != '\\' => c,
        ('\\', Some('n')) => '\n',
        ('\\', Some('r')) => '\r',
        ('\\', Some('t')) => '\t',
        ('\\', Some('0')) => '\0',
        ('\\', Some(c)) => c,
        _ => return None,
    };
    if chars.next().is_some() { None } else { Some(i64::from(u32::from(value))) }
}

/// True for bytes of names; bytes above 127 count, so that names in any language survive.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    line: u32,
    line_start: usize,
    out: Vec<Token>,
    findings: &'a mut Findings,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a [u8] {
        self.source.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn slice(&self, start: usize, end: usize) -> &'a str {
        self.source.get(start..end).unwrap_or_default()
    }

    fn column(&self, at: usize) -> u32 {
        u32::try_from(at.saturating_sub(self.line_start) + 1).unwrap_or(u32::MAX)
    }

    fn find(&mut self, start: usize, severity: Severity, code: &'static str, message: &str) {
        let place = (self.line, self.column(start));
        self.findings.push(place, severity, code, message.to_owned());
    }

    /// Moves to `end`, counting lines.
    fn advance(&mut self, end: usize) {
        for (n, byte) in self.rest().iter().take(end.saturating_sub(self.at)).enumerate() {
            if *byte == b'\n' {
                self.line = self.line.saturating_add(1);
                self.line_start = self.at + n + 1;
            }
        }
        self.at = end;
    }

    fn emit(&mut self, kind: Kind, text: String, end: usize) {
        let (start, line, column) = (self.at, self.line, self.column(self.at));
        self.out.push(Token { kind, text, start, end, line, column });
        self.advance(end);
    }

    /// Length of the bytes from here that satisfy `wanted`.
    fn run(&self, wanted: impl Fn(u8) -> bool) -> usize {
        self.rest().iter().take_while(|b| wanted(**b)).count()
    }

    /// Takes one token, comment or blank; returns false at the end.
    fn step(&mut self) -> bool {
        let (first, second) = match *self.rest() {
            [] => return false,
            [first] => (first, 0),
            [first, second, ..] => (first, second),
        };
        let start = self.at;
        match (first, second) {
            (b'/', b'/') => self.advance(start + self.run(|b| b != b'\n')),
            (b'/', b'*') => self.comment(),
            (b'#', _) if self.at_line_start() => self.preprocessor_line(),
            (b'"', _) => self.string(),
            (b'\'', _) => self.character(),
            (b'0'..=b'9', _) => self.word(Kind::Number),
            _ if self.name() > 0 => self.word(Kind::Word),
            _ if first.is_ascii_whitespace() => {
                self.advance(start + self.run(|b| b.is_ascii_whitespace()));
            }
            _ if is_sign(first) => self.emit(Kind::Sign(first), (first as char).to_string(), start + 1),
            _ => {
                let end = start + self.run(|b| !is_sign(b) && !is_word(b) && !b.is_ascii_whitespace()).max(1);
                let message = format!("'{}' means nothing here", excerpt(self.slice(start, end).as_bytes()));
                self.find(start, Severity::Error, "unexpected-character", &message);
                self.advance(end);
            }
        }
        true
    }

    fn at_line_start(&self) -> bool {
        self.out.last().is_none_or(|token| token.line != self.line)
    }

    /// Length of the name here; bytes of other encodings count as they are written (see [`escape`]).
    fn name(&self) -> usize {
        let mut length = 0;
        while let Some(rest @ [byte, ..]) = self.rest().get(length..) {
            length += match escape(rest) {
                0 if is_word(*byte) => 1,
                0 => break,
                escape => escape,
            };
        }
        length
    }

    fn word(&mut self, kind: Kind) {
        let end = self.at + self.name();
        let text = self.slice(self.at, end).to_owned();
        self.emit(kind, text, end);
    }

    fn character(&mut self) {
        let closed = self.rest().iter().take(4).skip(2).position(|b| *b == b'\'').map(|n| self.at + n + 3);
        let text = closed.map(|end| self.slice(self.at, end).to_owned());
        match (closed, text) {
            (Some(end), Some(text)) if c_character(&text).is_some() => self.emit(Kind::Number, text, end),
            _ => {
                let message = "a lone ' means nothing here";
                self.find(self.at, Severity::Error, "unexpected-character", message);
                self.advance(self.at + 1);
            }
        }
    }

    fn comment(&mut self) {
        let start = self.at;
        let body = self.source.get(start + 2..).unwrap_or_default();
        let length = body.find("*/");
        let inside = length.map_or(body, |n| body.get(..n).unwrap_or_default());
        let nested = inside.find("/*").map(|n| start + 2 + n);
        let end = length.map_or(self.source.len(), |n| start + 2 + n + 2);
        if length.is_none() {
            let message = "this comment never ends, so the rest of the file is lost";
            self.find(start, Severity::Error, "unterminated-comment", message);
        } else if let Some(nested) = nested {
            // Either a commented-out comment, or a forgotten end that would hide the text in between.
            let message = format!("'/*' within the comment that begins in line {}", self.line);
            self.advance(nested);
            self.find(nested, Severity::Info, "comment-in-comment", &message);
        }
        self.advance(end);
    }

    fn preprocessor_line(&mut self) {
        let start = self.at;
        let message = "a preprocessor line is skipped";
        self.find(start, Severity::Info, "preprocessor-line", message);
        loop {
            let end = self.at + self.run(|b| b != b'\n');
            let continued = self.slice(start, end).trim_end_matches('\r').ends_with('\\');
            self.advance((end + 1).min(self.source.len()));
            if !continued || self.rest().is_empty() {
                return;
            }
        }
    }

    /// A string may span lines; if its first line already ends in `;`, it lacks its closing quote.
    fn string(&mut self) {
        let start = self.at;
        let (mut close, mut line_end, mut escaped) = (None, None, false);
        for (n, byte) in self.rest().iter().enumerate().skip(1) {
            if (*byte == b'"' && !escaped) || (line_end.is_some() && n > MAX_SPANNING_STRING) {
                close = Some(start + n).filter(|_| *byte == b'"');
                break;
            }
            if *byte == b'\n' && line_end.is_none() {
                line_end = Some(start + n);
            }
            escaped = *byte == b'\\' && !escaped;
        }
        let line = |end: usize| self.slice(start + 1, end).trim_end();
        let complete = close.filter(|_| line_end.is_none_or(|end| !line(end).ends_with(';')));
        if let Some(close) = complete {
            let text = unescape(self.slice(start + 1, close));
            return self.emit(Kind::Text, text, close + 1);
        }
        let first_line = line(line_end.unwrap_or(self.source.len())).trim_end_matches(';');
        let message = "the closing quote is missing; the string is taken to end with its line";
        self.find(start, Severity::Error, "unterminated-string", message);
        self.emit(Kind::Text, unescape(first_line), start + 1 + first_line.len());
    }
}

fn unescape(text: &str) -> String {
    if text.contains('\\') { text.replace("\\\\", "\\").replace("\\\"", "\"") } else { text.to_owned() }
}

fn is_sign(byte: u8) -> bool {
    b"{}[](),;:=-+.&*/<>!?|^~%".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(source: &str) -> (Vec<(Kind, String)>, Vec<&'static str>) {
        let mut findings = Findings::default();
        let tokens = tokens(source, &mut findings);
        let codes = findings.finish().iter().map(|f| f.code).collect();
        (tokens.into_iter().map(|t| (t.kind, t.text)).collect(), codes)
    }

    #[test]
    fn numbers_and_characters_follow_c() {
        let cases = [("42", 42), ("0x1F", 31), ("017", 15), ("08", 8), ("0", 0), ("7UL", 7)];
        assert!(cases.iter().all(|(text, value)| c_integer(text) == Some(*value)));
        assert_eq!(c_integer("0xFFFFFFFFFFFFFFFF"), Some(-1));
        assert!(
            ["", "0x", "9x", "+1", "0x+1", "0+1", "99999999999999999999"]
                .iter()
                .all(|t| c_integer(t).is_none())
        );
        assert_eq!((c_character("'a'"), c_character("'\\0'")), (Some(97), Some(0)));
        assert_eq!((c_character("''"), c_character("'ab'")), (None, None));
    }

    #[test]
    fn comments_and_preprocessor_lines_vanish_with_a_note() {
        let (tokens, codes) = lex("#define A \\\n 1\na/*x*/b // c\n/* /* */ d /* e");
        let words: Vec<_> = tokens.iter().map(|(_, t)| t.as_str()).collect();
        assert_eq!(words, ["a", "b", "d", ""]);
        assert_eq!(codes, ["preprocessor-line", "comment-in-comment", "unterminated-comment"]);
    }

    #[test]
    fn strings_span_lines_unless_the_quote_is_missing() {
        let (tokens, codes) = lex("\"a &&\n b\" \"x\\\"y\";");
        assert_eq!(tokens[0], (Kind::Text, "a &&\n b".to_owned()));
        assert_eq!(tokens[1], (Kind::Text, "x\"y".to_owned()));
        assert!(codes.is_empty());
        let (tokens, codes) = lex("A = \"x;\nB = \"y\"; \"z");
        assert_eq!(tokens[2], (Kind::Text, "x".to_owned()));
        assert_eq!(tokens[6], (Kind::Text, "y".to_owned()));
        assert_eq!(tokens[8], (Kind::Text, "z".to_owned()));
        assert_eq!(codes, ["unterminated-string", "unterminated-string"]);
    }

    #[test]
    fn places_count_from_one() {
        let mut findings = Findings::default();
        let tokens = tokens("\n  ab \u{7}\u{7}c", &mut findings);
        assert_eq!((tokens[0].line, tokens[0].column), (2, 3));
        assert_eq!((tokens[1].line, tokens[1].column), (2, 8));
        let list = findings.finish();
        assert_eq!((list.len(), list[0].line, list[0].column), (1, 2, 6));
    }
}
