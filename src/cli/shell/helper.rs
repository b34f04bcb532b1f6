//! The callbacks of the line editor: is the text complete, is it SQL, how can it go on, which colours. Not
//! the answers, which are in `input`, `complete` and `highlight`.

use super::complete::{Completions, Names, candidates};
use super::input::{Input, collect};
use super::{Shell, highlight};
use crate::engine::check_syntax;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper, Result};
use std::borrow::Cow;

pub(super) struct EditorHelper {
    names: Names,
    files: FilenameCompleter,
    /// Whether what was typed can be changed: not on a terminal without movements of the cursor.
    can_edit: bool,
}

impl EditorHelper {
    pub fn new(shell: &Shell<'_>) -> Self {
        Self { names: Names::new(&shell.session), files: FilenameCompleter::new(), can_edit: can_edit() }
    }
}

/// Whether the terminal is one that the editor can use; it reads plain lines from others.
#[expect(clippy::disallowed_methods, reason = "cli reads the environment")]
fn can_edit() -> bool {
    let term = std::env::var("TERM").unwrap_or_default();
    !["dumb", "cons25", "emacs"].iter().any(|plain| term.eq_ignore_ascii_case(plain))
}

impl Helper for EditorHelper {}

impl Hinter for EditorHelper {
    type Hint = String;
}

impl Completer for EditorHelper {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> Result<(usize, Vec<Pair>)> {
        let typed = line.get(..pos).unwrap_or(line);
        match candidates(&self.names, typed, line) {
            Completions::Files => self.files.complete_path(line, pos),
            Completions::Words(start, words) => {
                let pair = |word: String| Pair { display: word.clone(), replacement: word };
                Ok((start, words.into_iter().map(pair).collect()))
            }
        }
    }
}

impl Validator for EditorHelper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> Result<ValidationResult> {
        let (inputs, open) = collect(context.input());
        if open {
            return Ok(ValidationResult::Incomplete);
        }
        for input in &inputs {
            if let Input::Statements(text) = input
                && self.can_edit
                && let Err(e) = check_syntax(text)
            {
                return Ok(ValidationResult::Invalid(Some(format!("\n{e}"))));
            }
        }
        Ok(ValidationResult::Valid(None))
    }
}

impl Highlighter for EditorHelper {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        Cow::Owned(highlight::colored(line))
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(highlight::prompt(prompt))
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        // A quote or a dash can change the colour of everything after it.
        true
    }
}
