//! Lines of text → commands and statements, as soon as they are complete. Not for running them.

use crate::engine::is_unfinished;

/// Something to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Input {
    Command {
        text: String,
        /// 1-based.
        line: u64,
    },
    /// One or more statements, after as many line breaks as there are lines before them, so that places in
    /// errors are places in the whole text.
    Statements(String),
}

/// Commands that new users type without a dot.
const BARE: [&str; 3] = ["help", "quit", "exit"];

/// Collects lines until commands and statements are complete.
#[derive(Debug, Default)]
pub(super) struct Collector {
    pending: String,
    /// The line on which the pending text begins, and the last line, both 1-based.
    begins: u64,
    line: u64,
}

impl Collector {
    /// Adds a line, without its line break; returns what is complete with it.
    pub fn line(&mut self, line: &str) -> Option<Input> {
        self.line += 1;
        if self.pending.is_empty() {
            let word = line.trim().trim_end_matches(';').trim_end();
            if line.trim_start().starts_with(['.', '\\']) || BARE.iter().any(|b| b.eq_ignore_ascii_case(word))
            {
                return Some(Input::Command { text: line.trim().to_owned(), line: self.line });
            }
            self.begins = self.line;
        }
        let looks = self.pending.is_empty() || line.contains(';') || line.contains("*/");
        self.pending.push_str(line);
        self.pending.push('\n');
        // Checking all pending lines again with every new one would be slow for long statements.
        if looks && !is_unfinished(&self.pending) { self.rest() } else { None }
    }

    /// The remaining input at the end of the text; the last statement needs no semicolon there.
    pub fn rest(&mut self) -> Option<Input> {
        let pending = std::mem::take(&mut self.pending);
        if pending.trim().is_empty() {
            return None;
        }
        let before = usize::try_from(self.begins.saturating_sub(1)).unwrap_or(0);
        Some(Input::Statements("\n".repeat(before) + &pending))
    }

    /// True inside a statement.
    pub fn is_open(&self) -> bool {
        !self.pending.is_empty()
    }
}

/// All inputs in a text, and whether its last statement is unfinished.
pub(super) fn collect(text: &str) -> (Vec<Input>, bool) {
    let mut collector = Collector::default();
    let mut inputs: Vec<_> = text.lines().filter_map(|line| collector.line(line)).collect();
    let open = collector.is_open();
    inputs.extend(collector.rest());
    (inputs, open)
}

/// Splits the arguments of a command at blanks, except in quotes and after `\`; an open quote is closed.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if quote == Some(c) => quote = None,
            '\'' | '"' if quote.is_none() => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            // On Windows, it separates folders.
            '\\' if quote.is_none() && cfg!(unix) => word.get_or_insert_default().extend(chars.next()),
            c if c.is_whitespace() && quote.is_none() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn command(text: &str, line: u64) -> Input {
        Input::Command { text: text.into(), line }
    }

    fn statements(text: &str) -> Input {
        Input::Statements(text.into())
    }

    #[test]
    fn statements_end_at_their_semicolon() {
        let (inputs, open) = collect("SELECT 1;\n.mode csv\nSELECT\n ';' -- ;\n;\nSELECT 2; SELECT 3;\n");
        assert_eq!(
            inputs,
            [
                statements("SELECT 1;\n"),
                command(".mode csv", 2),
                statements("\n\nSELECT\n ';' -- ;\n;\n"),
                statements("\n\n\n\n\nSELECT 2; SELECT 3;\n"),
            ]
        );
        assert!(!open);
    }

    #[test]
    fn an_open_end_wants_more() {
        for open in ["SELECT 1", "SELECT ';", "SELECT 1; SELECT", "/* ;", "SELECT\n.tables"] {
            assert!(collect(open).1, "{open}");
        }
        for closed in ["", ";", "-- note", "/* a\n b */", ".tables", "SELECT 1 ; -- a"] {
            assert!(!collect(closed).1, "{closed}");
        }
    }

    #[test]
    fn comments_do_not_hide_commands() {
        let (inputs, _) = collect("-- note\n/* a\nb */\n.tables");
        assert_eq!(inputs.last(), Some(&command(".tables", 4)));
    }

    #[test]
    fn people_who_look_for_the_door_find_it() {
        for text in ["quit", " EXIT; ", "help", "\\d"] {
            assert_eq!(collect(text).0, [command(text.trim(), 1)]);
        }
        assert!(collect("quite").1);
    }

    #[test]
    fn words_may_hold_blanks() {
        assert_eq!(words(" a  'b c'd \"\" e "), ["a", "b cd", "", "e"]);
        assert_eq!(words("'open end"), ["open end"]);
        #[cfg(unix)]
        assert_eq!(words(r"a\ b \"), ["a b", ""]);
    }

    proptest! {
        #[test]
        fn every_statement_arrives(text in "[a;'\\-/*.\n ]{0,30}") {
            let (inputs, _) = collect(&text);
            let length = |i: &Input| match i {
                Input::Command { text, .. } => text.len(),
                Input::Statements(text) => text.trim().len(),
            };
            // Nothing is lost but blanks and line breaks.
            prop_assert!(inputs.iter().map(length).sum::<usize>() <= text.len());
            let solid = |t: &str| t.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            let all: String = inputs.iter().map(|i| match i {
                Input::Command { text, .. } | Input::Statements(text) => solid(text),
            }).collect();
            prop_assert_eq!(all, solid(&text));
        }
    }
}
