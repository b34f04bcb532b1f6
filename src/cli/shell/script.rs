//! Input from a pipe or a file, statement by statement. The first error ends it and is given its line. Not
//! for the terminal.

use super::input::{Collector, Input};
use super::{Flow, Shell};
use crate::error::{Error, ErrorKind, Result};
use std::io::BufRead;
use std::path::Path;

/// Runs everything that `input` gives; `path` is what an error calls it.
pub(super) fn run(shell: &mut Shell<'_>, path: &Path, input: &mut dyn BufRead) -> Result<Flow> {
    let mut collector = Collector::default();
    let mut number = 0;
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if input.read_until(b'\n', &mut bytes).map_err(|e| Error::io("read", path, e))? == 0 {
            break;
        }
        number += 1;
        let line = std::str::from_utf8(&bytes);
        let line = line.map_err(|_| Error::input("this line is not UTF-8").within(path, number))?;
        // What PowerShell and editors of Windows put in front of a text.
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
        // Nobody is to blame for it.
        ErrorKind::Interrupted => e,
        _ => e.within(path, line),
    })
}
