//! A position in the tokens of an ORTI file: lookahead, taking, reporting, recovering. Not for the grammar.

use super::findings::Findings;
use super::lexer::{Kind, Token, tokens};
use crate::diagnostics::{Severity, excerpt};

/// The tokens of one file and a position in them. Lookaheads past the end see [`Kind::End`].
pub(super) struct Cursor<'a> {
    source: &'a str,
    /// Never empty: the last one is [`Kind::End`].
    tokens: Vec<Token>,
    at: usize,
    /// Findings so far, of the lexer and of the rules.
    pub findings: Findings,
}

/// Returned by a rule after it has reported a mistake; the caller recovers.
#[derive(Debug)]
pub(super) struct Mistake;

pub(super) type Parsed<T> = Result<T, Mistake>;

impl<'a> Cursor<'a> {
    /// At the first token of `source`.
    pub fn new(source: &'a str, mut findings: Findings) -> Self {
        let tokens = tokens(source, &mut findings);
        Self { source, tokens, at: 0, findings }
    }

    /// The kind of the token `offset` tokens after the current one.
    pub fn kind(&self, offset: usize) -> Kind {
        self.tokens.get(self.at + offset).map_or(Kind::End, |token| token.kind)
    }

    /// True if the token `offset` tokens after the current one is this sign.
    pub fn is(&self, offset: usize, sign: u8) -> bool {
        self.kind(offset) == Kind::Sign(sign)
    }

    /// True if the current token begins at this byte, right behind another one.
    pub fn begins_at(&self, place: usize) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.start == place)
    }

    pub fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", |token| &token.text)
    }

    /// Takes a token; at the end, an empty one.
    pub fn take(&mut self) -> Token {
        let (line, column) = self.place();
        let end = Token { kind: Kind::End, text: String::new(), start: 0, end: 0, line, column };
        let token = self.tokens.get(self.at).cloned().unwrap_or(end);
        self.at = (self.at + 1).min(self.tokens.len());
        token
    }

    /// 1-based line and column of the current token.
    pub fn place(&self) -> (u32, u32) {
        self.tokens.get(self.at).or(self.tokens.last()).map_or((1, 1), |token| (token.line, token.column))
    }

    /// Takes this sign if it is the current token.
    pub fn eat(&mut self, sign: u8) -> bool {
        let found = self.is(0, sign);
        self.at += usize::from(found);
        found
    }

    /// Takes this word if it is the current token.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|t| t.kind == Kind::Word && t.text == word);
        self.at += usize::from(found);
        found
    }

    /// Reports a finding about the current token.
    pub fn find(&mut self, severity: Severity, code: &'static str, message: &str) {
        self.findings.push(self.place(), severity, code, message.to_owned());
    }

    /// Reports that the current token cannot be used, and what was expected.
    pub fn mistake<T>(&mut self, expected: &str) -> Parsed<T> {
        let found = match self.tokens.get(self.at) {
            None | Some(Token { kind: Kind::End, .. }) => "the end of the file".to_owned(),
            Some(token) => format!("'{}'", excerpt(token.text.as_bytes())),
        };
        self.find(Severity::Error, "unexpected-token", &format!("{expected} expected, {found} found"));
        Err(Mistake)
    }

    /// Takes this sign, or reports that it is missing.
    pub fn expect(&mut self, sign: u8) -> Parsed<()> {
        if self.eat(sign) { Ok(()) } else { self.mistake(&format!("'{}'", sign as char)) }
    }

    /// Takes a word, or reports that `what` is missing.
    pub fn word(&mut self, what: &str) -> Parsed<Token> {
        if self.kind(0) == Kind::Word { Ok(self.take()) } else { self.mistake(what) }
    }

    /// One or more adjacent strings, joined.
    pub fn text(&mut self) -> Parsed<String> {
        if self.kind(0) != Kind::Text {
            return self.mistake("a quoted text");
        }
        let mut text = self.take().text;
        while self.kind(0) == Kind::Text {
            text.push_str(&self.take().text);
        }
        Ok(text)
    }

    /// As [`Cursor::text`], if there is a string.
    pub fn text_if_any(&mut self) -> Option<String> {
        if self.kind(0) == Kind::Text { self.text().ok() } else { None }
    }

    /// `;`, which may be missing without harm: the next statement shows where this one ends.
    pub fn semicolon(&mut self) {
        if !self.eat(b';') {
            let last = self.tokens.get(self.at.saturating_sub(1));
            let width = |t: &Token| u32::try_from(t.end - t.start).unwrap_or(u32::MAX);
            let place = last.map_or((1, 1), |t| (t.line, t.column.saturating_add(width(t))));
            self.findings.push(place, Severity::Info, "missing-semicolon", "';' is missing here".to_owned());
        }
    }

    /// Recovery: skips past the next `;`, or to the `}` that closes the block, without its inner blocks.
    pub fn skip(&mut self) {
        let mut depth = 0_u32;
        loop {
            match self.kind(0) {
                Kind::End => return,
                Kind::Sign(b'}') if depth == 0 => return,
                Kind::Sign(b'}') => depth -= 1,
                Kind::Sign(b'{') => depth += 1,
                Kind::Sign(b';') if depth == 0 => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Takes a superfluous `;`.
    pub fn stray_semicolon(&mut self) {
        self.find(Severity::Info, "stray-semicolon", "this ';' ends nothing");
        self.at += 1;
    }

    /// `KIND name {`, which only opens an object.
    pub fn at_object(&self) -> bool {
        self.kind(0) == Kind::Word && self.kind(1) == Kind::Word && self.is(2, b'{')
    }

    /// `KIND {` or the start of an object: neither can begin a statement of a type or of VERSION.
    pub fn at_type_or_object(&self) -> bool {
        (self.kind(0) == Kind::Word && self.is(1, b'{')) || self.at_object()
    }

    /// Recovery within an enumeration: to the `,` or `]` after a broken element.
    pub fn skip_element(&mut self) -> Parsed<()> {
        loop {
            match self.kind(0) {
                Kind::Sign(b',' | b']') => return Ok(()),
                Kind::End | Kind::Sign(b';' | b'}') => return Err(Mistake),
                _ => self.at += 1,
            }
        }
    }

    /// A value without quotes: up to `;` or `}`, or to what looks like the next attribute on a later line.
    pub fn unquoted(&mut self) -> Parsed<String> {
        let start = self.place();
        let from = self.tokens.get(self.at).map_or(0, |token| token.start);
        let mut to = from;
        while let Some(token) = self.tokens.get(self.at)
            && !matches!(token.kind, Kind::End | Kind::Sign(b';' | b'}'))
            && !(token.line > start.0 && token.kind == Kind::Word && self.is(1, b'=') && !self.is(2, b'='))
        {
            to = token.end;
            self.at += 1;
        }
        if from == to {
            return self.mistake("a value");
        }
        self.findings.push(start, Severity::Info, "unquoted-value", "a value should be quoted".to_owned());
        Ok(self.source.get(from..to).unwrap_or_default().to_owned())
    }
}
