//! The words of TSDL, the language of CTF 1.8 metadata, each with its line. Not what they declare.

use crate::error::{Error, Result};

/// A word, and the line on which it begins, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub word: Word,
    pub line: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// A keyword or a name.
    Name(String),
    Number(i128),
    Text(String),
    /// A sign; `:=`, `->` and `...` are one.
    Sign(&'static str),
}

/// The signs, the longest first.
const SIGNS: [&str; 20] =
    ["...", ":=", "->", "{", "}", "[", "]", "(", ")", "<", ">", ";", ":", ",", "=", ".", "*", "+", "-", "?"];

/// The words of a text.
///
/// # Errors
/// With the line: a comment or text that does not end, characters that are no word, numbers that are too
/// large.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>> {
    let (mut tokens, mut rest, mut line) = (Vec::new(), text, 1);
    loop {
        let blanks = rest.len() - rest.trim_start().len();
        let (skipped, next) = rest.split_at(blanks);
        line += lines(skipped);
        rest = next;
        let length = if rest.is_empty() {
            return Ok(tokens);
        } else if rest.starts_with("/*") {
            rest.find("*/").ok_or_else(|| bad(line, "a comment does not end"))? + 2
        } else if rest.starts_with("//") || rest.starts_with('#') {
            rest.find('\n').unwrap_or(rest.len())
        } else {
            let (word, length) = word(rest).map_err(|why| bad(line, &why))?;
            tokens.push(Token { word, line });
            length
        };
        let (skipped, next) = rest.split_at(length);
        line += lines(skipped);
        rest = next;
    }
}

fn lines(text: &str) -> u64 {
    text.bytes().filter(|b| *b == b'\n').count() as u64
}

/// An error on a line of the metadata.
pub(super) fn bad(line: u64, why: &str) -> Error {
    Error::input(format!("line {line} of the metadata: {why}"))
}

/// The word at the begin of a text, and its length.
fn word(text: &str) -> std::result::Result<(Word, usize), String> {
    let first = text.chars().next().unwrap_or_default();
    if first == '"' || text.starts_with("L\"") {
        let begin = if first == '"' { 1 } else { 2 };
        let (word, length) = quoted(text.get(begin..).unwrap_or_default()).ok_or("a text does not end")?;
        return Ok((Word::Text(word), begin + length));
    }
    if first == '\'' {
        let end = text.char_indices().skip(2).find(|(_, c)| *c == '\'').ok_or("a character does not end")?.0;
        let inside = text.get(1..end).unwrap_or_default();
        let c = quoted(&format!("{inside}\"")).and_then(|(word, _)| word.chars().next());
        return Ok((Word::Number(c.map_or(0, |c| i128::from(u32::from(c)))), end + 1));
    }
    if first.is_ascii_digit() {
        let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
        let digits = text.get(..end).unwrap_or_default();
        return number(digits).map(|n| (Word::Number(n), end)).ok_or(format!("'{digits}' is no number"));
    }
    if first.is_alphabetic() || first == '_' || first == '@' {
        let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '@')).unwrap_or(text.len());
        return Ok((Word::Name(text.get(..end).unwrap_or_default().to_owned()), end));
    }
    match SIGNS.iter().find(|sign| text.starts_with(**sign)) {
        Some(sign) => Ok((Word::Sign(sign), sign.len())),
        None => Err(format!("'{}' begins no word", first.escape_default())),
    }
}

/// `12`, `0x1F`, `017`, each with letters for its type in C.
fn number(digits: &str) -> Option<i128> {
    let bare = digits.trim_end_matches(['u', 'U', 'l', 'L']);
    let of = |text: &str, radix| u64::from_str_radix(text, radix).ok().map(i128::from);
    match bare.strip_prefix("0x").or_else(|| bare.strip_prefix("0X")) {
        Some(digits) => of(digits, 16),
        None if bare.len() > 1 && bare.starts_with('0') => of(bare, 8),
        None => of(bare, 10),
    }
}

/// A text up to its quotation mark, and the length of both.
fn quoted(text: &str) -> Option<(String, usize)> {
    let (mut word, mut chars) = (String::new(), text.char_indices());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((word, at + 1)),
            '\\' => match chars.next()?.1 {
                'n' => word.push('\n'),
                't' => word.push('\t'),
                'r' => word.push('\r'),
                '0' => word.push('\0'),
                'a' => word.push('\x07'),
                'b' => word.push('\x08'),
                'v' => word.push('\x0b'),
                'f' => word.push('\x0c'),
                other => word.push(other),
            },
            c => word.push(c),
        }
    }
    None
}
