//! Input from a pipe or a file, by statement, up to the first error, which gets its line. Not terminals.

use super::input::{Collector, Input};
use super::{Flow, Shell};
use crate::error::{Error, ErrorKind, Result};
use crate::input::unreadable;
use std::io::BufRead;
use std::path::Path;

/// Runs all of `input`; `path` is its name in errors.
pub(super) fn run(shell: &mut Shell<'_>, path: &Path, input: &mut dyn BufRead) -> Result<Flow> {
    let mut collector = Collector::default();
    let mut number = 0;
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if input.read_until(b'\n', &mut bytes).map_err(|e| unreadable(path, e))? == 0 {
            break;
        }
        number += 1;
        let line = std::str::from_utf8(&bytes);
        let line = line.map_err(|_| Error::input("this line is not UTF-8").within(path, number))?;
        // The byte order mark that PowerShell and editors of Windows write.
        let line = if number == 1 { line.trim_start_matches('\u{feff}') } else { line };
        if let Some(input) = collector.line(line.trim_end_matches(['\r', '\n']))
            && run_one(shell, path, &input)? == Flow::Quit
        {
            return Ok(Flow::Quit);
        }
    }
    collector.rest().map_or(Ok(Flow::Next), |input| run_one(shell, path, &input))
}

fn run_one(shell: &mut Shell<'_>, path: &Path, input: &Input) -> Result<Flow> {
    shell.run(input).map_err(|(line, e)| match e.kind() {
        // It is not an error of a line.
        ErrorKind::Interrupted => e,
        _ => e.within(path, line),
    })
}
