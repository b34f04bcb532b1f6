//! The shell on a terminal: what is typed, what is seen on the screen. Every wait is for something on the
//! screen, with a limit that only a shell that hangs can reach. Not for what commands do (see `shell`).

use crate::support::Bench;
use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};
use std::io::{Read, Write};
use std::num::NonZero;
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Longer than anything takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);
const PROMPT: &str = "btfdb>";
const ROWS: u16 = 50;
const COLUMNS: u16 = 120;

/// A shell in a terminal.
struct Terminal {
    child: Child,
    pty: Pty,
    bytes: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    bench: Bench,
}

impl Terminal {
    fn new() -> Self {
        let bench = Bench::new();
        bench.demo();
        bench.ok(&["ingest", "engine.db", "recording", "-q"]);
        Self::at(bench, "xterm")
    }

    /// `term`: what kind of terminal it says it is.
    fn at(bench: Bench, term: &str) -> Self {
        let (pty, pts) = open().unwrap();
        pty.resize(Size::new(ROWS, COLUMNS)).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_btfdb"))
            .args(["shell", "engine.db"])
            .current_dir(bench.path())
            .env_clear()
            .env("TERM", term)
            .env("HOME", bench.path())
            .spawn(pts)
            .unwrap();
        let (sender, bytes) = channel();
        let mut reader = std::fs::File::from(std::os::fd::AsFd::as_fd(&pty).try_clone_to_owned().unwrap());
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The last close of the other side is an error on Linux.
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        let size = [ROWS, COLUMNS].map(|n| NonZero::new(n).unwrap());
        let screen = vt100::Parser::new(size[0], size[1], 0);
        let mut terminal = Self { child, pty, bytes, screen, bench };
        terminal.prompts();
        terminal
    }

    fn keys(&mut self, keys: &str) {
        self.pty.write_all(keys.as_bytes()).unwrap();
    }

    /// The whole screen.
    fn shown(&self) -> String {
        self.screen.screen().contents()
    }

    /// The line that the cursor is in.
    fn line(&self) -> String {
        let (row, _) = self.screen.screen().cursor_position();
        self.screen.screen().contents_between(row, 0, row, COLUMNS).trim_end().to_owned()
    }

    /// Lets the screen change, if it does within a while.
    fn look(&mut self, patience: Duration) {
        if let Ok(bytes) = self.bytes.recv_timeout(patience) {
            self.screen.process(&bytes);
        }
    }

    #[track_caller]
    fn wait(&mut self, what: &str, seen: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !seen(self) {
            assert!(begun.elapsed() < LIMIT, "{what} is not seen, but:\n{}", self.shown());
            self.look(Duration::from_millis(100));
        }
    }

    /// Waits until a text is on the screen.
    #[track_caller]
    fn shows(&mut self, text: &str) {
        self.wait(text, |t| t.shown().contains(text));
    }

    /// Waits until the shell waits for the next statement.
    #[track_caller]
    fn prompts(&mut self) {
        self.wait("an empty prompt", |t| t.line() == PROMPT);
    }

    /// Types at the prompt, and waits until the editor has it all.
    #[track_caller]
    fn types(&mut self, text: &str) {
        self.keys(text);
        let line = format!("{PROMPT} {text}");
        self.wait(&line, |t| t.line() == line);
    }

    /// Types a line, runs it, and waits until the shell is ready again; gives the screen.
    #[track_caller]
    fn runs(&mut self, text: &str) -> String {
        self.types(text);
        self.keys("\r");
        self.wait("another line", |t| !t.line().contains(text));
        self.prompts();
        self.shown()
    }

    /// Leaves with Ctrl-D, and insists on success.
    #[track_caller]
    fn leaves(mut self) {
        self.keys("\x04");
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A test that failed left it running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn contains(screen: &str, texts: &[&str]) {
    for text in texts {
        assert!(screen.contains(text), "'{text}' is not on the screen:\n{screen}");
    }
}

#[test]
fn statements_may_span_lines() {
    let mut terminal = Terminal::new();
    terminal.types("SELECT count(*) AS instances");
    terminal.keys("\r");
    terminal.wait("the next line", |t| t.line().is_empty());
    terminal.keys("FROM process_instance;\r");
    terminal.shows("1 row");
    terminal.prompts();
    contains(&terminal.shown(), &["instances"]);
    terminal.leaves();
}

#[test]
fn tab_completes() {
    let mut terminal = Terminal::new();
    terminal.keys("SELECT DISTINCT target_ty\t FROM btf_ev\t;");
    terminal
        .wait("the statement", |t| t.line().starts_with("btfdb> SELECT DISTINCT target_type FROM btf_event"));
    terminal.keys("\r");
    terminal.shows(" rows");
    terminal.prompts();
    terminal.keys(".sch\tproc\t\t");
    terminal.shows("process_instance");
    terminal.shows("process_state");
    terminal.keys("\x03");
    terminal.prompts();
    terminal.leaves();
}

#[test]
fn a_broken_statement_is_mended() {
    let mut terminal = Terminal::new();
    // A name that does not exist: recalled with the arrow key, mended in place.
    let screen = terminal.runs("SELECT max(tim) FROM btf_event;");
    contains(&screen, &["column 'tim' not found", "did you mean 'time'?"]);
    terminal.keys("\x1b[A");
    terminal.wait("the old line", |t| t.line() == "btfdb> SELECT max(tim) FROM btf_event;");
    terminal.keys("\x01");
    terminal.keys(&"\x1b[C".repeat("SELECT max(tim".len()));
    terminal.keys("e");
    terminal.wait("the new line", |t| t.line() == "btfdb> SELECT max(time) FROM btf_event;");
    terminal.keys("\r");
    terminal.shows("1 row");
    terminal.prompts();
    // No SQL: stays in the editor with the place of the fault.
    terminal.types("SELECT 1 + * 2 AS three;");
    terminal.keys("\r");
    terminal.shows("^");
    terminal.keys("\x01");
    terminal.keys(&"\x1b[C".repeat("SELECT 1 + ".len()));
    terminal.keys("\x1b[3~\x1b[3~");
    terminal.wait("the new line", |t| t.line() == "btfdb> SELECT 1 + 2 AS three;");
    terminal.keys("\r");
    terminal.wait("the column", |t| t.shown().lines().any(|l| l.trim() == "three" || l.contains("three ")));
    terminal.prompts();
    terminal.leaves();
}

#[test]
fn ctrl_c_stops_a_query_and_nothing_else() {
    let mut terminal = Terminal::new();
    terminal.types("SELECT half a line");
    terminal.keys("\x03");
    terminal.prompts();
    // Takes hours. The screen does not show that it has begun, so a Ctrl-C may come too early: it is typed
    // until it has an effect, but not often, because each one makes the terminal drop what it has not shown
    // yet.
    terminal.types("SELECT sum(value % 7) FROM range(0, 1000000000000000);");
    terminal.keys("\r");
    terminal.wait("the end of the line", |t| !t.line().starts_with(PROMPT));
    let begun = Instant::now();
    while terminal.line() != PROMPT {
        assert!(begun.elapsed() < LIMIT, "{}", terminal.shown());
        terminal.keys("\x03");
        let typed = Instant::now();
        while terminal.line() != PROMPT && typed.elapsed() < Duration::from_secs(2) {
            terminal.look(Duration::from_millis(100));
        }
    }
    contains(&terminal.runs("SELECT 6 * 7 AS answer;"), &["answer", "42"]);
    terminal.leaves();
}

#[test]
fn what_is_typed_ahead_is_run() {
    let mut terminal = Terminal::new();
    terminal.keys("SELECT 1 + 1 AS first;\rSELECT 20 + 2 AS second;\r.rows 7\r.rows\r");
    terminal
        .wait("all answers", |t| ["first", "second", "22", "rows 7"].iter().all(|a| t.shown().contains(a)));
    terminal.prompts();
    terminal.leaves();
}

#[test]
fn a_long_result_is_capped_and_says_so() {
    let mut terminal = Terminal::new();
    // 100 million rows.
    let screen = terminal.runs("SELECT * FROM data_event a, data_event b;");
    contains(&screen, &["first 40 rows; there are more; `.rows 0` shows all"]);
    terminal.runs(".rows 3");
    let screen = terminal.runs("SELECT time FROM btf_event ORDER BY time DESC;");
    contains(&screen, &["first 3 rows; there are more"]);
    terminal.runs(".pager cat");
    contains(&terminal.runs("SELECT * FROM range(1, 6);"), &["5 rows"]);
    terminal.leaves();
}

#[test]
fn what_was_typed_is_remembered() {
    let mut terminal = Terminal::new();
    terminal.runs("SELECT 'remember me';");
    terminal.runs(" SELECT 'a secret';");
    terminal.types(".quit");
    terminal.keys("\r");
    assert!(terminal.child.wait().unwrap().success());
    let history = terminal.bench.path().join(".local/state/btfdb/history");
    let text = std::fs::read_to_string(history).unwrap();
    assert!(text.contains("remember me") && !text.contains("a secret"), "{text}");
    let bench = std::mem::replace(&mut terminal.bench, Bench::new());
    let mut again = Terminal::at(bench, "xterm");
    again.keys("\x1b[A\x1b[A");
    again.wait("the first statement", |t| t.line() == "btfdb> SELECT 'remember me';");
    again.keys("\r");
    again.shows("1 row");
    again.prompts();
    again.leaves();
}

#[test]
fn the_shell_opens_with_what_a_new_user_needs() {
    let mut terminal = Terminal::new();
    contains(&terminal.shown(), &["`.help` lists the commands, SQL ends with `;`, Ctrl-D leaves"]);
    contains(&terminal.runs("help"), &[".tables", "Ctrl-D leaves."]);
    terminal.types("quit");
    terminal.keys("\r");
    assert!(terminal.child.wait().unwrap().success());
}

#[test]
fn a_database_that_changes_is_noticed_and_opened_anew() {
    let mut terminal = Terminal::new();
    terminal.runs("CREATE VIEW own AS SELECT 1 AS one;");
    terminal.bench.ok(&["ingest", "engine.db", "recording", "--name", "second", "-q"]);
    contains(
        &terminal.runs("SELECT count(*) AS n FROM own;"),
        &["the database has changed since it was opened: `.reload` shows it as it is now"],
    );
    terminal.runs(".reload");
    contains(&terminal.shown(), &["engine.db: 2 recordings, read-only"]);
    contains(&terminal.runs("SELECT count(*) + 40 AS n FROM recording;"), &["42"]);
    assert_eq!(terminal.shown().matches("has changed").count(), 1, "{}", terminal.shown());
    terminal.leaves();
}

/// Where nothing can be edited, a statement that is no SQL is gone with its error.
#[test]
fn a_terminal_without_an_editor_takes_the_next_statement_after_an_error() {
    let mut terminal = Terminal::at(Bench::engine(), "dumb");
    for (typed, answer) in [("SELECT 1 FROM;", "EOF"), ("SELECT 41 + 1 AS n;", "42"), (".quit", "")] {
        terminal.keys(&format!("{typed}\r"));
        terminal.shows(answer);
    }
    assert!(terminal.child.wait().unwrap().success());
}

/// A table that is cut says so, whatever is quiet.
#[test]
fn a_quiet_command_says_that_its_table_is_cut() {
    let bench = Bench::new();
    bench.demo();
    bench.ok(&["ingest", "engine.db", "recording", "-q"]);
    let shown = |rows: &str| {
        let (pty, pts) = open().unwrap();
        pty.resize(Size::new(ROWS, COLUMNS)).unwrap();
        let sql = format!("SELECT * FROM range(0, {rows})");
        let mut child = Command::new(env!("CARGO_BIN_EXE_btfdb"))
            .args(["query", "engine.db", &sql, "-q"])
            .current_dir(bench.path())
            .spawn(pts)
            .unwrap();
        let mut bytes = Vec::new();
        // The last close of the other side is an error on Linux.
        let _ = std::fs::File::from(std::os::fd::AsFd::as_fd(&pty).try_clone_to_owned().unwrap())
            .read_to_end(&mut bytes);
        assert!(child.wait().unwrap().success());
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let cut = shown("300");
    assert!(cut.contains("warning: first 200 rows; there are more"), "{cut}");
    let whole = shown("3");
    assert!(!whole.contains("rows"), "{whole}");
}
