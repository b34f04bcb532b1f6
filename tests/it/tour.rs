//! The tour of the README, from the first console block to the last: every command runs as it is written,
//! in one folder that has what a clone has, and prints what the README shows. Not the help texts (see
//! `examples`).

use crate::support::root;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A command of a console block, and the lines that the README shows below it.
struct Step {
    command: String,
    shown: Vec<String>,
}

/// The commands of the console blocks: lines that begin with `$ `.
fn steps(readme: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for block in readme.split("```console\n").skip(1) {
        let lines = block.split("```").next().unwrap_or_default().lines();
        let mut in_block = false;
        for line in lines {
            if let Some(command) = line.strip_prefix("$ ") {
                steps.push(Step { command: command.to_owned(), shown: Vec::new() });
                in_block = true;
            } else if in_block {
                steps.last_mut().unwrap().shown.push(line.to_owned());
            }
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

#[test]
fn runs_as_it_is_written() {
    let folder = TempDir::new().unwrap();
    for name in ["demo", "queries", "tests"] {
        std::os::unix::fs::symlink(root().join(name), folder.path().join(name)).unwrap();
    }
    let steps = steps(&std::fs::read_to_string(root().join("README.md")).unwrap());
    let (mut compared, mut wrong) = (0, Vec::new());
    for Step { command, shown } in &steps {
        let (line, expected) = if command.starts_with("btfdb shell ") {
            let (typed, expected) = session(shown);
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
                    text.find("btfdb 0.").filter(|_| line != *command).map_or(&*text, |at| &text[at..]);
                let (found, expected) = (comparable(text), comparable(&expected));
                if found != expected {
                    wrong.push(format!("$ {command}\n{found}instead of\n{expected}"));
                }
                compared += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(steps.len() >= 50 && compared >= 4, "{} commands, {compared} with output", steps.len());
}
