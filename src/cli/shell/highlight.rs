//! Colours of the text in the line editor. Not whether to use them: the line editor leaves them out without a
//! terminal and with NO_COLOR.

use super::commands;
use super::lexer::{TokenKind, pieces};
use super::words::is_keyword;

const KEYWORD: &str = "\x1b[1;34m";
const TEXT: &str = "\x1b[32m";
const NUMBER: &str = "\x1b[36m";
const COMMENT: &str = "\x1b[2m";
const COMMAND: &str = "\x1b[1;35m";
const PLAIN: &str = "\x1b[0m";

/// The line with colours; its text does not change.
pub(super) fn colored(line: &str) -> String {
    let (command, sql) = match line.split_once(char::is_whitespace) {
        _ if !line.starts_with('.') => ("", line),
        None => (line, ""),
        Some((name, _)) => line.split_at(name.len()),
    };
    let mut out = String::with_capacity(line.len() * 2);
    match commands::find(command) {
        Some(_) => paint(&mut out, COMMAND, command),
        None => out.push_str(command),
    }
    if !command.is_empty() && !commands::takes_sql(command) {
        out.push_str(sql);
        return out;
    }
    for piece in pieces(sql) {
        let text = piece.of(sql);
        match piece.kind {
            TokenKind::Word if is_keyword(text) => paint(&mut out, KEYWORD, text),
            TokenKind::Text => paint(&mut out, TEXT, text),
            TokenKind::Number => paint(&mut out, NUMBER, text),
            TokenKind::Comment => paint(&mut out, COMMENT, text),
            _ => out.push_str(text),
        }
    }
    out
}

fn paint(out: &mut String, color: &str, text: &str) {
    out.extend([color, text, PLAIN]);
}

/// The prompt, slightly emphasised.
pub(super) fn prompt(text: &str) -> String {
    format!("\x1b[1m{text}{PLAIN}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Colours as letters between brackets.
    fn shown(line: &str) -> String {
        [(KEYWORD, "[k:"), (TEXT, "[t:"), (NUMBER, "[n:"), (COMMENT, "[c:"), (COMMAND, "[d:"), (PLAIN, "]")]
            .iter()
            .fold(colored(line), |text, (code, mark)| text.replace(code, mark))
    }

    #[test]
    fn sql_has_colours() {
        assert_eq!(
            shown("Select x, 12 FROM selects -- ' from"),
            "[k:Select] x, [n:12] [k:FROM] selects [c:-- ' from]"
        );
        assert_eq!(shown("'it''s' \"from\""), "[t:'it'][t:'s'] \"from\"");
    }

    #[test]
    fn commands_have_one_and_their_arguments_none() {
        assert_eq!(shown(".read from.sql"), "[d:.read] from.sql");
        assert_eq!(shown(".nonsense from"), ".nonsense from");
        assert_eq!(shown(".explain SELECT 1"), "[d:.explain] [k:SELECT] [n:1]");
    }

    proptest! {
        #[test]
        fn colours_do_not_change_the_text(line in "[.a-z 'SELECT1;\\-/*\n]{0,40}") {
            let codes = [KEYWORD, TEXT, NUMBER, COMMENT, COMMAND, PLAIN];
            let plain = codes.iter().fold(colored(&line), |text, code| text.replace(code, ""));
            prop_assert_eq!(plain, line);
        }
    }
}
