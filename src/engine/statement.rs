//! SQL text → single statements with their place in the script. Not for what a statement means.

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};

use super::failure::{self, Place};
use super::failure_text;
use super::sql;
use crate::error::{Error, Result};
use std::iter::once;

/// One statement of a script, without its semicolon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    text: String,
    line: u64,
    column: u64,
    /// Where it ends in the script, in bytes.
    end: usize,
}

impl Statement {
    /// The SQL, from its first to its last word.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The 1-based line of the script on which the statement begins.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// False for a statement that makes or drops a view or table of the session.
    pub fn gives_rows(&self) -> bool {
        let first = self.text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        !["CREATE", "DROP"].iter().any(|word| first.eq_ignore_ascii_case(word))
    }

    /// True for `SUMMARIZE`, whose columns mix times with other values and are never in a unit.
    pub fn is_summary(&self) -> bool {
        let first = self.text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        first.eq_ignore_ascii_case("summarize")
    }

    /// The script from its beginning to the end of the statement: comments before it, no semicolon after it.
    pub(super) fn with_all_before<'a>(&self, script: &'a str) -> &'a str {
        script.get(..self.end).unwrap_or(script)
    }

    /// The SQL after as many blank lines and columns as the script has before it, so that the places in
    /// errors of DataFusion are places in the script.
    pub(super) fn in_place(&self) -> String {
        let mut text = "\n".repeat(usize::try_from(self.line - 1).unwrap_or(0));
        text.push_str(&" ".repeat(usize::try_from(self.column - 1).unwrap_or(0)));
        text.push_str(&self.text);
        text
    }
}

/// Splits a script at its semicolons, except in quotes and comments. Empty statements are left out.
///
/// # Errors
/// [`crate::error::ErrorKind::Query`] with line and column when a quote or a comment is not closed.
pub fn split(script: &str) -> Result<Vec<Statement>> {
    let tokens = Tokenizer::new(&GenericDialect {}, script).tokenize_with_location().map_err(|e| {
        let place = Place { line: e.location.line, column: e.location.column, width: 1 };
        let error = failure::syntax(&e.message, script, Some(place));
        failure_text::hint(&e.message).into_iter().fold(error, Error::hint)
    })?;
    // The offset of every line.
    let starts: Vec<_> = once(0).chain(script.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let mut statements = Vec::new();
    for piece in tokens.split(|t| t.token == Token::SemiColon) {
        let mut words = piece.iter().filter(|t| is_word(t));
        let Some(first) = words.next() else { continue };
        let last = words.next_back().unwrap_or(first);
        let range = offset(script, &starts, first.span.start)..offset(script, &starts, last.span.end);
        let end = range.end;
        let Some(text) = script.get(range) else { continue };
        let Location { line, column } = first.span.start;
        statements.push(Statement { text: text.to_owned(), line, column, end });
    }
    Ok(statements)
}

/// Parses every statement of a script, without resolving names. An error has its place.
pub fn check_syntax(script: &str) -> Result<()> {
    for statement in split(script)? {
        let text = statement.in_place();
        sql::parse(&text, sql::ParseOptions::default()).map_err(|e| failure::from_engine(&e, script, &[]))?;
    }
    Ok(())
}

/// True if a script ends inside a statement: without a semicolon, or within a quote or comment.
pub fn is_unfinished(script: &str) -> bool {
    let tokens = match Tokenizer::new(&GenericDialect {}, script).tokenize_with_location() {
        Ok(tokens) => tokens,
        // More text only helps if the end is open.
        Err(e) => return ["Unterminated", "EOF"].iter().any(|word| e.message.contains(word)),
    };
    let mut words = tokens.iter().filter(|t| is_word(t));
    words.next_back().is_some_and(|t| t.token != Token::SemiColon)
}

fn is_word(token: &TokenWithSpan) -> bool {
    !matches!(token.token, Token::Whitespace(_) | Token::EOF)
}

/// The byte offset of a 1-based place; the column counts characters.
fn offset(text: &str, starts: &[usize], place: Location) -> usize {
    let line = usize::try_from(place.line).unwrap_or(1).max(1) - 1;
    let start = starts.get(line).copied().unwrap_or(text.len());
    let column = usize::try_from(place.column).unwrap_or(1).max(1) - 1;
    let rest = text.get(start..).unwrap_or("");
    start + rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn texts(script: &str) -> Vec<String> {
        split(script).unwrap().iter().map(|s| s.text().to_owned()).collect()
    }

    #[test]
    fn semicolons_in_quotes_and_comments_do_not_cut() {
        let script = "SELECT ';' ; -- a; b\n /* c; d */ SELECT \"x;y\"\n;; SELECT 'ä;'";
        assert_eq!(texts(script), ["SELECT ';'", "SELECT \"x;y\"", "SELECT 'ä;'"]);
        assert!(texts(" -- nothing\n").is_empty());
    }

    #[test]
    fn a_statement_keeps_its_place() {
        let second = &split("SELECT 'ä';\n\tSELECT 2;").unwrap()[1];
        assert_eq!((second.line, second.column), (2, 2));
        assert_eq!(second.in_place(), "\n SELECT 2");
    }

    #[test]
    fn an_open_quote_is_an_error_with_a_place() {
        let e = split("SELECT 1;\nSELECT 'x").unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Query);
        assert!(e.to_string().contains("line 2"), "{e}");
    }

    #[test]
    fn a_shell_can_ask_whether_to_go_on_reading() {
        assert!(
            is_unfinished("SELECT 1") && is_unfinished("SELECT 'a;") && is_unfinished("SELECT 1; SELECT")
        );
        assert!(!is_unfinished("SELECT 1; -- done") && !is_unfinished("  "));
        assert!(is_unfinished("/* a;") && is_unfinished("SELECT \"a;\n"));
    }

    #[test]
    fn syntax_is_checked_without_names() {
        assert!(check_syntax("SELECT x FROM nowhere; EXPLAIN SELECT 1;").is_ok());
        let e = check_syntax("SELECT 1;\nSELECT x FORM y z;").unwrap_err();
        assert!(e.to_string().contains("(line 2, column "), "{e}");
        // No text may crash the parser.
        assert!(check_syntax(&"SELECT (".repeat(10_000)).is_err());
    }
}
