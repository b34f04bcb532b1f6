//! The command line: arguments, terminal, signals, exit codes. The only module that prints, reads the
//! environment or ends the process; what it runs is in `ops`, `engine`, `metrics`, `export` and `render`.

mod args;
mod command_line;
mod commands;
mod declared;
mod exit;
mod location;
mod memory;
mod on_cluster;
mod progress;
mod shell;
mod signals;
mod ui;
mod watchdog;

use crate::error::{Error, ErrorKind, Result};
use clap::Parser;
use std::ffi::OsString;
use std::process::ExitCode;

pub use command_line::Cli;

/// Runs the program with the arguments and streams of the process. Exit codes: 0 done, 1 failed, 2 usage,
/// 3 finished with violations (or, with `--strict`, findings), 130 interrupted. A broken pipe is a silent 0.
pub fn run() -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "this is the command line")]
    let cli = Cli::parse_from(std::env::args_os().map(no_option_if_sql));
    // Queries use all memory that they may; what the allocator keeps would be added to that.
    if matches!(cli.command, command_line::Command::Ingest(_) | command_line::Command::Map(_)) {
        memory::keep();
    }
    let ui = ui::Ui::new(cli.quiet);
    quiet_panics();
    match watched(&cli).and_then(|()| commands::run(&cli, &ui)) {
        Ok(code) => ExitCode::from(code),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            ui.error(&error);
            ExitCode::from(match error.kind() {
                ErrorKind::Usage => 2,
                ErrorKind::Findings => 3,
                ErrorKind::Interrupted => signals::INTERRUPTED,
                _ => 1,
            })
        }
    }
}

/// What goes wrong inside the query engine becomes an error, which says what is needed of it.
fn quiet_panics() {
    #[expect(clippy::disallowed_methods, reason = "this is the command line")]
    if std::env::var_os("RUST_BACKTRACE").is_some() {
        return;
    }
    let standard = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let thread = std::thread::current();
        if !thread.name().is_some_and(|name| ["btfdb-query", "btfdb-engine"].contains(&name)) {
            standard(panic);
        }
    }));
}

/// Watches how much memory the command takes.
fn watched(cli: &Cli) -> Result<()> {
    let limit = match cli.command.limits() {
        Some(limits) => commands::memory(limits)?,
        None => None,
    };
    if let Some(limit) = limit.or_else(watchdog::half_of_machine).filter(|_| !cli.command.is_server()) {
        watchdog::start(limit, ui::Ui::new(cli.quiet));
    }
    Ok(())
}

/// The documentation page about the shell, as Markdown.
pub fn shell_docs() -> String {
    shell::docs()
}

/// SQL that begins with a comment looks like an option; a leading blank distinguishes it. Names of options
/// have no blanks.
fn no_option_if_sql(mut argument: OsString) -> OsString {
    let name =
        argument.to_str().filter(|text| text.starts_with("--")).and_then(|text| text.split('=').next());
    if name.is_some_and(|name| name.contains(char::is_whitespace)) {
        argument = [OsString::from(" "), argument].into_iter().collect();
    }
    argument
}

fn is_broken_pipe(error: &Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(e) = source {
        if e.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe) {
            return true;
        }
        source = e.source();
    }
    false
}
