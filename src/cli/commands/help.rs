//! `btfdb completions` and `btfdb man`: files about the command line for shells and `man`, made from its
//! declaration. Not for `--help`, which clap prints.

use super::output;
use crate::error::{Error, Result};
use clap::{Args, Command};
use clap_complete::Shell;

/// Print completions for a shell.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb completions bash > ~/.local/share/bash-completion/completions/btfdb
  btfdb completions zsh > ~/.zfunc/_btfdb
  btfdb completions fish > ~/.config/fish/completions/btfdb.fish")]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: Shell,
}

/// Print the page of btfdb, or of one of its commands, for man.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  btfdb man | man -l -
  btfdb man query > ~/.local/share/man/man1/btfdb-query.1")]
pub struct ManArgs {
    /// A command of btfdb.
    pub command: Option<String>,
}

/// `cli` is the declaration of the command line.
pub(super) fn completions(args: &CompletionsArgs, mut cli: Command) -> Result<u8> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut cli, "btfdb", &mut text);
    print(&text)
}

/// `cli` is the declaration of the command line.
pub(super) fn man(args: &ManArgs, mut cli: Command) -> Result<u8> {
    // Adds the arguments that all commands have, and the names of pages.
    cli.build();
    let page = match &args.command {
        None => cli,
        Some(name) => {
            let names: Vec<String> = cli.get_subcommands().map(|c| c.get_name().to_owned()).collect();
            let missing = || {
                let error = Error::usage(format!("there is no command '{name}'"));
                error.hint_near(name, names.iter().map(String::as_str), |all| format!("one of: {all}"))
            };
            cli.find_subcommand(name).ok_or_else(missing)?.clone()
        }
    };
    let mut text = Vec::new();
    let failed = |e| Error::io("write", "the page", e);
    clap_mangen::Man::new(page).render(&mut text).map_err(failed)?;
    print(&text)
}

fn print(text: &[u8]) -> Result<u8> {
    let mut target = output::Target::open(None, false)?;
    target.out().write_all(text).map_err(|e| Error::io("write to", "standard output", e))?;
    target.finish().map(|()| 0)
}
