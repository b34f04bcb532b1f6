//! Unfinished SQL text, cut into words, quotes and comments: for colours and completion, which must also
//! handle text that the real tokenizer refuses. Not for deciding what a statement is (see `engine::split`).

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// Letters, digits, `_`.
    Word,
    /// Digits, with a fraction or an exponent.
    Number,
    /// `'…'`.
    Text,
    /// `"…"`.
    Quoted,
    /// `-- …` or `/* … */`.
    Comment,
    Blank,
    /// Any other character.
    Sign,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub kind: TokenKind,
    /// In bytes.
    pub range: Range<usize>,
    /// False for a quote or a comment without an end.
    pub closed: bool,
}

impl Piece {
    pub fn of<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.range.clone()).unwrap_or("")
    }
}

/// The pieces of a text, in order and without gaps.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let (kind, length, closed) = first(rest);
        pieces.push(Piece { kind, range: at..at + length, closed });
        at += length;
    }
    pieces
}

/// Kind and length of the first piece of a non-empty text, and whether it is closed.
fn first(text: &str) -> (TokenKind, usize, bool) {
    let run = |of: fn(char) -> bool| text.find(|c| !of(c)).unwrap_or(text.len());
    let first = text.chars().next().unwrap_or(' ');
    match first {
        _ if text.starts_with("--") => {
            let end = text.find('\n');
            (TokenKind::Comment, end.unwrap_or(text.len()), end.is_some())
        }
        _ if text.starts_with("/*") => {
            let end = end_of_comment(text);
            (TokenKind::Comment, end.unwrap_or(text.len()), end.is_some())
        }
        '\'' | '"' => {
            let end = text.char_indices().skip(1).find(|(_, c)| *c == first).map(|(at, _)| at + 1);
            let kind = if first == '"' { TokenKind::Quoted } else { TokenKind::Text };
            (kind, end.unwrap_or(text.len()), end.is_some())
        }
        c if c.is_whitespace() => (TokenKind::Blank, run(char::is_whitespace), true),
        c if c.is_ascii_digit() => (TokenKind::Number, run(|c| c.is_ascii_alphanumeric() || c == '.'), true),
        c if is_word(c) => (TokenKind::Word, run(is_word), true),
        c => (TokenKind::Sign, c.len_utf8(), true),
    }
}

/// True for characters of names and keywords.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Comments nest.
fn end_of_comment(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        let next = rest.find(['*', '/'])?;
        let step = match rest.get(next..next + 2) {
            Some("/*") => {
                depth += 1;
                2
            }
            Some("*/") => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        at += next + step;
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kinds(text: &str) -> Vec<(TokenKind, &str)> {
        let of = |p: &Piece| (p.kind, p.of(text));
        pieces(text).iter().filter(|p| p.kind != TokenKind::Blank).map(of).collect()
    }

    #[test]
    fn words_quotes_and_comments() {
        use TokenKind::*;
        assert_eq!(
            kinds("SELECT s.\"a b\", 'x;' -- y\n/* a /* b */ c */ 1.5e3"),
            [
                (Word, "SELECT"),
                (Word, "s"),
                (Sign, "."),
                (Quoted, "\"a b\""),
                (Sign, ","),
                (Text, "'x;'"),
                (Comment, "-- y"),
                (Comment, "/* a /* b */ c */"),
                (Number, "1.5e3"),
            ]
        );
    }

    #[test]
    fn what_is_open_is_known_to_be() {
        for open in ["'a", "\"a", "-- a", "/* a", "/* a /* b */", "/"] {
            assert_eq!(pieces(open).last().unwrap().closed, open == "/", "{open}");
        }
    }

    proptest! {
        #[test]
        fn the_pieces_are_the_text(text in "[-/*'\"a1 .ä\n]{0,40}") {
            prop_assert_eq!(pieces(&text).iter().map(|p| p.of(&text)).collect::<String>(), text);
        }
    }
}
