//! The tours of the README and of pages, from the first console block to the last: every command runs as
//! it is written, in one folder that has what a clone has, and prints what the page shows. Not the help
//! texts (see `examples`).

use crate::support::root;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A command of a console block, and the lines that the page shows below it.
struct Step {
    command: String,
    shown: Vec<String>,
}

/// A block of a page that the tour has to do with.
enum Block<'a> {
    /// The commands of a console.
    Console(Vec<Step>),
    /// A file with this name and text.
    File(&'a str, &'a str),
}

/// The blocks of a page, in its order: consoles, and files that the reader makes, as in "```toml
/// engine.toml".
fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    for block in page.split("```").skip(1).step_by(2) {
        let (info, text) = block.split_once('\n').unwrap();
        match info.split_once(' ') {
            Some((_, file)) => blocks.push(Block::File(file, text)),
            None if info == "console" => blocks.push(Block::Console(commands(text))),
            None => {}
        }
    }
    blocks
}

/// The commands of a console: lines that begin with `$ `.
fn commands(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.to_owned(), shown: Vec::new() });
        } else if let Some(step) = steps.last_mut() {
            step.shown.push(line.to_owned());
        }
    }
    steps
}

/// Runs a command line in the folder. Returns what it prints, or how it failed.
fn run(folder: &Path, line: &str) -> Result<String, String> {
    let program = Path::new(env!("CARGO_BIN_EXE_btfdb")).parent().unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("({line}) 2>&1")])
        .current_dir(folder)
        .env_clear()
        .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", program.display()))
        .env("HOME", folder)
        // Lines are edited without escape sequences.
        .env("TERM", "dumb")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap().replace('\r', "");
    match output.status.success() {
        true => Ok(text),
        false => Err(format!("{}\n{text}", output.status)),
    }
}

/// What is typed into the shell, and what it shows apart from that.
fn session(shown: &[String]) -> (String, String) {
    const PROMPT: &str = "btfdb> ";
    let (mut typed, mut expected, mut open) = (String::new(), String::new(), false);
    for line in shown {
        let input = line.strip_prefix(PROMPT).or_else(|| open.then_some(line.as_str()));
        match input {
            Some(input) => {
                if !open {
                    expected.push_str(PROMPT);
                }
                open = !input.starts_with('.') && !input.ends_with(';');
                typed += &format!("{input}\n");
            }
            None => expected += &format!("{line}\n"),
        }
    }
    (typed, expected + PROMPT)
}

/// How long it took differs.
fn comparable(text: &str) -> String {
    let line =
        |line: &str| if line.starts_with("done in ") { "done\n".to_owned() } else { format!("{line}\n") };
    text.lines().map(line).collect()
}

/// Does what a page says, in a folder that has what a clone has. Returns the number of commands, and of
/// those whose output is on the page.
fn follow(page: &str) -> (usize, usize) {
    let folder = TempDir::new().unwrap();
    for name in ["demo", "models", "queries", "tests"] {
        std::os::unix::fs::symlink(root().join(name), folder.path().join(name)).unwrap();
    }
    let page = std::fs::read_to_string(root().join(page)).unwrap();
    let (mut count, mut compared, mut wrong) = (0, 0, Vec::new());
    for block in blocks(&page) {
        let steps = match block {
            Block::Console(steps) => steps,
            Block::File(name, text) => {
                std::fs::write(folder.path().join(name), text).unwrap();
                continue;
            }
        };
        count += steps.len();
        for Step { command, shown } in steps {
            let (line, expected) = if command.starts_with("btfdb shell ") {
                let (typed, expected) = session(&shown);
                std::fs::write(folder.path().join("typed.txt"), typed).unwrap();
                // A terminal, in which the shell asks.
                (format!("script -qec 'stty -echo; {command}' /dev/null < typed.txt"), expected)
            } else {
                // A pager would wait for keys; what it is given is what counts.
                (command.replace("| less", "| cat"), shown.join("\n"))
            };
            match run(folder.path(), &line) {
                Err(failure) => wrong.push(format!("$ {command}\n{failure}")),
                Ok(_) if shown.is_empty() => {}
                Ok(text) => {
                    // The terminal shows what was typed before the shell began.
                    let text =
                        text.find("btfdb 0.").filter(|_| line != command).map_or(&*text, |at| &text[at..]);
                    let (found, expected) = (comparable(text), comparable(&expected));
                    if found != expected {
                        wrong.push(format!("$ {command}\n{found}instead of\n{expected}"));
                    }
                    compared += 1;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    (count, compared)
}

#[test]
fn runs_as_it_is_written() {
    let (commands, compared) = follow("README.md");
    assert!(commands >= 50 && compared >= 4, "{commands} commands, {compared} with output");
}

#[test]
fn the_page_about_simulation_runs_as_it_is_written() {
    let (commands, compared) = follow("docs/simulate.md");
    assert!(commands >= 10 && compared >= 3, "{commands} commands, {compared} with output");
}

#[test]
fn the_page_about_reasons_runs_as_it_is_written() {
    let (commands, compared) = follow("docs/insight.md");
    assert!(commands >= 5 && compared >= 3, "{commands} commands, {compared} with output");
}
