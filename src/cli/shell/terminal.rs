//! The shell on a terminal: prompt, line editor, history. After an error, the next line is read; only Ctrl-D
//! and `.quit` end it. Not for completion and colours.

use super::helper::EditorHelper;
use super::{Flow, Shell, input};
use crate::error::{Error, ErrorKind, Result};
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{Behavior, CompletionType, Config, Editor};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

const PROMPT: &str = "btfdb> ";
/// Statements in the history.
const REMEMBERED: usize = 10_000;

/// The keys, for the page about the shell.
pub(super) const DOCS: &str = "\
On a terminal:

* Tab completes commands, keywords, tables, the columns of the tables that the statement names, functions, recordings
  and files.
* The arrow keys and Ctrl-R recall what was typed, also in earlier sessions (`$XDG_STATE_HOME/btfdb/history`, else
  `~/.local/state/btfdb/history`); a line that begins with a blank is not remembered.
* A statement that is no SQL stays in the editor, with the place of the fault below it; mend it and press Enter again.
* Ctrl-C stops a running query or drops what is typed, and never leaves; Ctrl-D leaves. Ctrl-L clears the screen.
* Colours are left out with `NO_COLOR`.

From a pipe (`btfdb shell engine.db < report.sql`) there is no prompt. The first error ends the run with exit code 1 and
names its line.
";

/// Reads and runs input until the user quits.
pub(super) fn run(shell: &mut Shell<'_>) -> Result<()> {
    let mut editor = editor()?;
    let history = history_file();
    if let Some(path) = &history {
        // At first there is no history; and a shell without one is better than no shell.
        let _ = editor.load_history(path);
    }
    shell.ui.status(&format!("btfdb {}, {}", env!("CARGO_PKG_VERSION"), shell.greeting()));
    shell.ui.status("`.help` lists the commands, SQL ends with `;`, Ctrl-D leaves");
    let mut opened = 0;
    loop {
        if opened != shell.opened {
            opened = shell.opened;
            editor.set_helper(Some(EditorHelper::new(shell)));
        }
        shell.look_for_changes();
        shell.width = editor.dimensions().map(|(columns, _)| usize::from(columns)).filter(|w| *w > 0);
        let text = match editor.readline(PROMPT) {
            Ok(text) => text,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(()),
            Err(e) => return Err(broken(e)),
        };
        remember(&mut editor, history.as_ref(), &text);
        if perform(shell, &text) == Flow::Quit {
            return Ok(());
        }
    }
}

/// Runs typed input; stops at the first error and shows it.
fn perform(shell: &mut Shell<'_>, text: &str) -> Flow {
    shell.interrupt.store(false, Ordering::Relaxed);
    for input in input::collect(text).0 {
        match shell.run(&input) {
            Ok(Flow::Next) => {}
            Ok(Flow::Quit) => return Flow::Quit,
            Err((_, e)) if e.kind() == ErrorKind::Interrupted => {
                shell.ui.status("interrupted");
                if let Err(e) = shell.renew() {
                    shell.ui.error(&e);
                }
                break;
            }
            Err((_, e)) => {
                shell.ui.error(&e);
                break;
            }
        }
    }
    Flow::Next
}

fn editor() -> Result<Editor<EditorHelper, DefaultHistory>> {
    // If the result goes elsewhere, the prompt must not be part of it.
    let behavior = if std::io::stdout().is_terminal() { Behavior::Stdio } else { Behavior::PreferTerm };
    let config = Config::builder()
        .behavior(behavior)
        .completion_type(CompletionType::List)
        .completion_show_all_if_ambiguous(true)
        .max_history_size(REMEMBERED)
        .and_then(|config| config.history_ignore_dups(true))
        .map(|config| config.history_ignore_space(true).build())
        .map_err(broken)?;
    Editor::with_config(config).map_err(broken)
}

fn remember(editor: &mut Editor<EditorHelper, DefaultHistory>, history: Option<&PathBuf>, text: &str) {
    let text = text.trim_end();
    if text.is_empty() {
        return;
    }
    // A statement that cannot be added to the history is run anyway.
    if editor.add_history_entry(text).unwrap_or(false)
        && let Some(path) = history
    {
        let _ = editor.append_history(path);
    }
}

/// The path of the history; `None` without a home folder.
#[expect(
    clippy::disallowed_methods,
    reason = "cli reads the environment; the folder is the user's, not a database's"
)]
fn history_file() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME")
        .or_else(|| folder("HOME").map(|home| home.join(".local/state")))
        .or_else(|| folder("LOCALAPPDATA"))?
        .join("btfdb");
    std::fs::create_dir_all(&state).ok()?;
    Some(state.join("history"))
}

fn broken(error: ReadlineError) -> Error {
    Error::new(ErrorKind::Io, "the terminal cannot be used").because(error)
}
