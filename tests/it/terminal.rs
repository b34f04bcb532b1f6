//! The shell on a terminal: what is typed, what is seen. Every wait is for a text, with a limit that only a shell that
//! hangs can reach. Not for what commands do (see `shell`).

use crate::support::Bench;
use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};
use std::io::{Read, Write};
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Longer than anything takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);
const PROMPT: &str = "btfdb> ";

/// A shell in a terminal.
struct Terminal {
    child: Child,
    pty: Pty,
    screen: Receiver<Vec<u8>>,
    /// What was shown since the last text that was waited for.
    seen: String,
    _bench: Bench,
}

impl Terminal {
    fn new() -> Self {
        let bench = Bench::new();
        bench.demo();
        bench.ok(&["ingest", "engine.db", "recording", "-q"]);
        Self::in_folder(bench)
    }

    fn in_folder(bench: Bench) -> Self {
        let (pty, pts) = open().unwrap();
        pty.resize(Size::new(40, 120)).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_btfdb"))
            .args(["shell", "engine.db"])
            .current_dir(bench.path())
            .env_clear()
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .env("HOME", bench.path())
            .spawn(pts)
            .unwrap();
        let (sender, screen) = channel();
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
        let mut terminal = Self { child, pty, screen, seen: String::new(), _bench: bench };
        terminal.sees(PROMPT);
        terminal
    }

    fn types(&mut self, keys: &str) {
        self.pty.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until a text is shown; what came before it is given back and forgotten.
    #[track_caller]
    fn sees(&mut self, text: &str) -> String {
        let begun = Instant::now();
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            match self.screen.recv_timeout(LIMIT.saturating_sub(begun.elapsed())) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("'{text}' is not shown, but:\n{}", self.seen)
                }
            }
        }
    }

    /// Leaves with Ctrl-D, and insists on success.
    #[track_caller]
    fn leaves(mut self) {
        self.types("\x04");
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

#[test]
fn statements_may_span_lines() {
    let mut terminal = Terminal::new();
    terminal.types("SELECT count(*) AS instances\r");
    terminal.types("FROM process_instance;\r");
    terminal.sees("instances\r\n");
    terminal.sees("1 row");
    terminal.sees(PROMPT);
    terminal.leaves();
}

#[test]
fn tab_completes() {
    let mut terminal = Terminal::new();
    terminal.types("SELECT DISTINCT target_ty\t FROM btf_ev\t;\r");
    terminal.sees("target_type\r\n");
    terminal.sees("rows");
    terminal.sees(PROMPT);
    terminal.types(".sch\tproc\t\t");
    terminal.sees("process_instance");
    terminal.sees("process_state");
    terminal.types("\x03");
    terminal.sees(PROMPT);
    terminal.leaves();
}

#[test]
fn a_broken_statement_is_mended() {
    let mut terminal = Terminal::new();
    // A name that does not exist: recalled with the arrow key, mended in place.
    terminal.types("SELECT max(tim) FROM btf_event;\r");
    terminal.sees("column 'tim' not found");
    terminal.sees("did you mean 'time'?");
    terminal.sees(PROMPT);
    terminal.types("\x1b[A");
    terminal.sees("SELECT max(tim)");
    terminal.types("\x01");
    terminal.types(&"\x1b[C".repeat("SELECT max(tim".len()));
    terminal.types("e\r");
    terminal.sees("1 row");
    terminal.sees(PROMPT);
    // No SQL: stays in the editor with the place of the fault.
    terminal.types("SELECT 1 + * 2 AS three;\r");
    terminal.sees("^");
    terminal.types("\x01");
    terminal.types(&"\x1b[C".repeat("SELECT 1 + ".len()));
    terminal.types("\x1b[3~\x1b[3~\r");
    terminal.sees("three\r\n");
    terminal.sees("1 row");
    terminal.sees(PROMPT);
    terminal.leaves();
}

#[test]
fn ctrl_c_stops_a_query_and_nothing_else() {
    let mut terminal = Terminal::new();
    terminal.types("SELECT half a line");
    terminal.sees("half a line");
    terminal.types("\x03");
    terminal.sees(PROMPT);
    // Takes hours. Nothing on the screen tells that it has begun, so that a Ctrl-C may come too early: it is typed until
    // it is heard.
    terminal.types("SELECT sum(value % 7) FROM range(0, 1000000000000000);\r");
    terminal.sees("\r\n");
    let begun = Instant::now();
    while !terminal.seen.contains("interrupted") {
        assert!(begun.elapsed() < LIMIT, "{}", terminal.seen);
        terminal.types("\x03");
        if let Ok(bytes) = terminal.screen.recv_timeout(Duration::from_millis(200)) {
            terminal.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
    }
    terminal.sees("interrupted");
    terminal.sees(PROMPT);
    terminal.types("SELECT 6 * 7 AS answer;\r");
    terminal.sees("answer\r\n");
    terminal.sees("42");
    terminal.sees(PROMPT);
    terminal.leaves();
}

#[test]
fn a_long_result_is_capped_and_says_so() {
    let mut terminal = Terminal::new();
    // 100 million rows.
    terminal.types("SELECT * FROM data_event a, data_event b;\r");
    terminal.sees("first 40 rows; there are more; `.rows 0` shows all");
    terminal.sees(PROMPT);
    terminal.types(".rows 3\r");
    terminal.sees(PROMPT);
    terminal.types("SELECT time FROM btf_event ORDER BY time DESC;\r");
    terminal.sees("first 3 rows; there are more");
    terminal.types(".pager cat\r");
    terminal.sees(PROMPT);
    terminal.types("SELECT * FROM range(1, 6);\r");
    terminal.sees("5 rows");
    terminal.sees(PROMPT);
    terminal.leaves();
}

#[test]
fn what_was_typed_is_remembered() {
    let mut terminal = Terminal::new();
    terminal.types("SELECT 'remember me';\r");
    terminal.sees("1 row");
    terminal.sees(PROMPT);
    terminal.types(" SELECT 'a secret';\r");
    terminal.sees("1 row");
    terminal.sees(PROMPT);
    terminal.types(".quit\r");
    assert!(terminal.child.wait().unwrap().success());
    let history = terminal._bench.path().join(".local/state/btfdb/history");
    let text = std::fs::read_to_string(history).unwrap();
    assert!(text.contains("remember me") && !text.contains("a secret"), "{text}");
    let bench = std::mem::replace(&mut terminal._bench, Bench::new());
    let mut again = Terminal::in_folder(bench);
    again.types("\x1b[A\x1b[A\r");
    again.sees("1 row");
    again.sees(PROMPT);
    again.leaves();
}

#[test]
fn the_shell_opens_with_what_a_new_user_needs() {
    let bench = Bench::new();
    bench.demo();
    bench.ok(&["ingest", "engine.db", "recording", "-q"]);
    let mut terminal = Terminal::in_folder(bench);
    terminal.types("help\r");
    let help = terminal.sees("Ctrl-D leaves.");
    assert!(help.contains(".tables"), "{help}");
    terminal.sees(PROMPT);
    terminal.types("quit\r");
    assert!(terminal.child.wait().unwrap().success());
}
