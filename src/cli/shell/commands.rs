//! The dot commands: one table to run, explain, complete and document them. Not what they do (`actions`).

use super::actions::{self, FORCE, FORMATS, OF_THE_SHELL, SWITCH, UNITS};
use super::{Flow, Shell, input, listings};
use crate::cli::commands::export::ExportArgs;
use crate::cli::commands::plot::PlotArgs;
use crate::error::{Error, Result};
use clap::Args;
use std::fmt::Write as _;

pub(super) struct Command {
    pub name: &'static str,
    pub alias: Option<&'static str>,
    pub args: &'static [Arg],
    /// One line.
    pub summary: &'static str,
    /// More than the summary; may be empty.
    pub detail: &'static str,
    run: Run,
}

/// What runs a command. It gets the arguments.
type Run = fn(&mut Shell<'_>, &[String]) -> Result<Flow>;

/// A command without arguments.
const fn command(name: &'static str, run: Run, summary: &'static str) -> Command {
    Command { name, alias: None, args: &[], summary, detail: "", run }
}

impl Command {
    const fn args(self, args: &'static [Arg]) -> Self {
        Self { args, ..self }
    }

    const fn alias(self, alias: &'static str) -> Self {
        Self { alias: Some(alias), ..self }
    }

    const fn detail(self, detail: &'static str) -> Self {
        Self { detail, ..self }
    }
}

pub(super) struct Arg {
    pub name: &'static str,
    pub kind: ArgKind,
    required: bool,
}

/// The kind of an argument: decides how to complete it, and where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgKind {
    Command,
    Relation,
    Metric,
    Recording,
    File,
    Word(&'static [&'static str]),
    Free,
    /// The rest of the line is SQL.
    Sql,
    /// The rest of the line, which can be one of these words.
    Line(&'static [&'static str]),
    /// Any number of options of a command of btfdb.
    Options(Of),
}

/// A command of btfdb that is also one of the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Export,
    Plot,
}

const fn need(name: &'static str, kind: ArgKind) -> Arg {
    Arg { name, kind, required: true }
}

const fn may(name: &'static str, kind: ArgKind) -> Arg {
    Arg { name, kind, required: false }
}

/// Options of a command of btfdb that the command of the shell takes.
pub(super) fn options(of: Of) -> Vec<String> {
    let command = match of {
        Of::Export => ExportArgs::augment_args(clap::Command::new("export")),
        Of::Plot => PlotArgs::augment_args(clap::Command::new("plot")),
    };
    let names = command.get_arguments().filter_map(|argument| argument.get_long());
    // The file is the first argument.
    let is_taken = |name: &&str| *name != "output" && !OF_THE_SHELL.contains(name);
    names.filter(is_taken).map(|name| format!("--{name}")).collect()
}

/// All commands, in the order of the help.
pub(super) const COMMANDS: &[Command] = &[
    command(".help", help, "List the commands, or explain one").args(&[may("COMMAND", ArgKind::Command)]),
    command(".tables", listings::tables, "List tables and views with their rows")
        .detail("Those of the session first, then the tables that this database has rows for."),
    command(".schema", listings::schema, "Show the columns of a table or view, or of all")
        .args(&[may("TABLE", ArgKind::Relation)])
        .detail("With the type and the meaning of every column, and when it is NULL."),
    command(".recordings", listings::recordings, "List the recordings of the database")
        .detail("The same as SELECT * FROM recording."),
    command(".metrics", listings::metrics, "List the metrics, or show the SQL of one")
        .args(&[may("METRIC", ArgKind::Metric)]),
    command(".metric", actions::metric, "Compute a metric: min, avg, max, percentiles, and when")
        .args(&[
            need("METRIC", ArgKind::Metric),
            may("ENTITY", ArgKind::Free),
            may("RECORDING", ArgKind::Recording),
        ])
        .detail("For all tasks, ISRs, runnables or cores, or for ENTITY."),
    command(".histogram", actions::histogram, "Show how many samples of a metric are how long")
        .args(&[
            need("METRIC", ArgKind::Metric),
            may("ENTITY", ArgKind::Free),
            may("RECORDING", ArgKind::Recording),
        ])
        .detail(
            "For all tasks, ISRs, runnables or cores, or for ENTITY. Other modes than table give the \
             bins as rows.",
        ),
    command(".checks", listings::checks, "List the rules that `btfdb check` checks"),
    command(".explain", actions::explain, "Show the plan of a statement")
        .args(&[need("SQL", ArgKind::Sql)])
        .detail("The same as EXPLAIN. EXPLAIN ANALYZE runs the statement and shows what each step took."),
    command(".read", actions::read, "Run the statements and commands in a file")
        .args(&[need("FILE", ArgKind::File)])
        .detail("Stops at the first error, and names its line."),
    command(".mode", actions::mode, "Show results as table, csv, tsv, json, jsonl or md")
        .args(&[may("FORMAT", ArgKind::Word(FORMATS))])
        .detail("auto is a table on a terminal, what the name of a file says, and CSV everywhere else."),
    command(".unit", actions::unit, "Show times in tables as ticks, ps, ns, us, ms or s")
        .args(&[may("UNIT", ArgKind::Word(UNITS))])
        .detail(
            "Times are columns of times, their sums and differences, and statistics of them: max(end_at - \
             begin_at) is one. What a statement multiplies or divides itself, such as x / 1e6, is a number. \
             Whole ticks stay exact. Other formats than tables, and SUMMARIZE, always hold ticks.",
        ),
    command(".rows", actions::rows, "Show at most N rows of a table on the terminal; 0: all")
        .args(&[may("N", ArgKind::Free)])
        .detail("What goes to a file, a pipe or a pager is always complete."),
    command(".param", actions::param, "Give $NAME in SQL a value, or show all values")
        .args(&[may("NAME=VALUE", ArgKind::Line(&[]))])
        .detail(
            "A number, a time such as 10ms, null, or text; in quotes, it is text. Some views need values: \
             .schema says which.",
        ),
    command(".timer", actions::timer, "Show how long each statement took")
        .args(&[may("on|off", ArgKind::Word(SWITCH))]),
    command(".pager", actions::pager, "Look at results with a pager")
        .args(&[may("on|off|COMMAND", ArgKind::Line(SWITCH))])
        .detail(
            "on takes the command in $PAGER, or less. A pager gets all rows, as far as it asks for them.",
        ),
    command(".once", actions::once, "Write the next result to a file")
        .args(&[need("FILE", ArgKind::File), may(FORCE, ArgKind::Word(&[FORCE]))])
        .detail("An existing file is overwritten with --force only."),
    command(".output", actions::output, "Write all results to a file, or to the terminal again")
        .args(&[may("FILE", ArgKind::File), may(FORCE, ArgKind::Word(&[FORCE]))])
        .detail(
            "Without FILE: to the terminal again. The file appears when it is complete: then, or at the \
             end.",
        ),
    command(".export", actions::export, "Write a BTF slice: .export worst.btf 117ms 120ms")
        .args(&[
            need("FILE", ArgKind::File),
            may("FROM", ArgKind::Free),
            may("TO", ArgKind::Free),
            may("OPTION...", ArgKind::Options(Of::Export)),
        ])
        .detail("Takes the options of `btfdb export`: .export t.csv --table process_state --recording demo."),
    command(".plot", actions::plot, "Draw a window: .plot worst.svg 117ms 120ms")
        .args(&[
            need("FILE", ArgKind::File),
            may("FROM", ArgKind::Free),
            may("TO", ArgKind::Free),
            may("OPTION...", ArgKind::Options(Of::Plot)),
        ])
        .detail(
            "Takes the options of `btfdb plot`: .plot worst.html --around ResponseTime:T_5, or \
             .plot load.svg --chart load.",
        ),
    command(".open", actions::open, "Open another database, or the same one anew")
        .args(&[may("DB", ArgKind::File)])
        .detail(
            "A session sees the database as it was when it was opened. Its own views and tables end with it.",
        ),
    command(".reload", actions::reload, "Open the database anew, as it is now")
        .detail("On a terminal, the shell says when the database has changed."),
    command(".quit", |_, _| Ok(Flow::Quit), "Leave, as Ctrl-D does").alias(".exit"),
];

impl Command {
    /// `.export FILE [FROM] [TO]`
    pub fn usage(&self) -> String {
        let arg = |a: &Arg| if a.required { format!(" {}", a.name) } else { format!(" [{}]", a.name) };
        self.args.iter().fold(self.name.to_owned(), |usage, a| usage + &arg(a))
    }

    /// The words of the arguments, unless there are too many.
    fn words(&self, rest: &str) -> Result<Vec<String>> {
        let whole = matches!(self.args, [Arg { kind: ArgKind::Sql | ArgKind::Line(_), .. }]);
        let words = match rest.trim() {
            "" => Vec::new(),
            rest if whole => vec![rest.to_owned()],
            // Out of habit, users type a semicolon.
            rest => input::words(rest.trim_end_matches(';')),
        };
        let most = match self.args.last() {
            Some(Arg { kind: ArgKind::Options(_), .. }) => usize::MAX,
            _ => self.args.len(),
        };
        let fits = words.len() >= self.args.iter().filter(|a| a.required).count() && words.len() <= most;
        if fits { Ok(words) } else { Err(Error::usage(format!("write {}", self.usage()))) }
    }
}

pub(super) fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|c| c.name == name || c.alias == Some(name))
}

/// True for a command whose argument is SQL.
pub(super) fn takes_sql(name: &str) -> bool {
    find(name).is_some_and(|c| matches!(c.args, [Arg { kind: ArgKind::Sql, .. }]))
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().flat_map(|c| [Some(c.name), c.alias]).flatten()
}

/// Runs a line that holds a command.
pub(super) fn run(shell: &mut Shell<'_>, line: &str) -> Result<Flow> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let command = known(name.trim_end_matches(';'))?;
    (command.run)(shell, &command.words(rest)?)
}

/// The command of that name, with or without its dot.
fn known(name: &str) -> Result<&'static Command> {
    let dotted = format!(".{}", name.trim_start_matches(['.', '\\']).to_ascii_lowercase());
    let found = if name.starts_with('\\') { None } else { find(&dotted) };
    found.ok_or_else(|| {
        let error = Error::usage(format!("there is no command '{name}'"));
        error.hint_near(&dotted, names(), |_| "`.help` lists the commands".into())
    })
}

fn help(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    let text = match words.first() {
        None => overview(),
        Some(name) => {
            let command = known(name)?;
            let mut text = format!("{}\n  {}.\n", command.usage(), command.summary);
            if !command.detail.is_empty() {
                text.push_str(&listings::wrapped(command.detail, 2, shell.width()));
            }
            if let Some(alias) = command.alias {
                let _ = writeln!(text, "  Also {alias}.");
            }
            text
        }
    };
    shell.print(&text)
}

fn overview() -> String {
    let width = COMMANDS.iter().map(|c| c.usage().len()).max().unwrap_or(0);
    let mut text: String =
        COMMANDS.iter().map(|c| format!("{:width$}  {}\n", c.usage(), c.summary)).collect();
    text.push_str(
        "\nSQL ends with `;` and may span lines. Tab completes, the arrow keys recall. Ctrl-C stops a query or drops the \
         line, Ctrl-D leaves.\n",
    );
    text
}

/// The commands as a table of Markdown.
pub(super) fn docs() -> String {
    let mut text = String::from("| command | what it does |\n|---|---|\n");
    for c in COMMANDS {
        let also = c.alias.map(|a| format!(", `{a}`")).unwrap_or_default();
        let usage = c.usage().replace('|', "\\|");
        let detail = if c.detail.is_empty() { String::new() } else { format!(" {}", c.detail) };
        let _ = writeln!(text, "| `{usage}`{also} | {}.{detail} |", c.summary);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_says_what_it_does() {
        for c in COMMANDS {
            assert!(
                c.name.starts_with('.') && c.name.chars().skip(1).all(|c| c.is_ascii_lowercase()),
                "{}",
                c.name
            );
            assert!(c.summary.len() > 10 && !c.summary.ends_with('.') && c.summary.len() < 60, "{}", c.name);
            assert!(c.detail.is_empty() || c.detail.ends_with('.'), "{}", c.name);
            assert!(overview().contains(&c.usage()) && docs().contains(c.summary), "{}", c.name);
            // Optional arguments come last.
            assert!(c.args.is_sorted_by_key(|a| !a.required), "{}", c.name);
        }
        let mut all: Vec<_> = names().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), names().count(), "two commands have one name");
    }

    #[test]
    fn the_help_fits_a_terminal() {
        assert!(overview().lines().take(COMMANDS.len()).all(|l| l.len() <= 100), "{}", overview());
    }

    #[test]
    fn arguments_are_counted() {
        let words = |name: &str, rest: &str| find(name).unwrap().words(rest);
        assert_eq!(words(".read", "'a b.sql';").unwrap(), ["a b.sql"]);
        assert_eq!(words(".explain", " SELECT 'a  b'; ").unwrap(), ["SELECT 'a  b';"]);
        assert_eq!(words(".export", "a 1 2 --recording r --force").unwrap().len(), 6);
        for (name, rest) in [(".read", ""), (".read", "a b"), (".tables", "x"), (".explain", " ")] {
            let e = words(name, rest).unwrap_err().to_string();
            assert!(e.starts_with(&format!("write {name}")), "{e}");
        }
    }

    #[test]
    fn names_are_found_and_guessed() {
        assert_eq!(known("quit").unwrap().name, ".quit");
        assert_eq!(known(".EXIT").unwrap().name, ".quit");
        assert_eq!(known(".tabels").err().unwrap().hints(), ["did you mean '.tables'?"]);
        assert_eq!(known("\\d").err().unwrap().hints(), ["`.help` lists the commands"]);
    }

    #[test]
    fn options_of_export_are_those_of_the_command_line() {
        let options = options(Of::Export);
        for expected in ["--format", "--tick", "--line-format", "--class", "--force"] {
            assert!(options.iter().any(|option| option == expected), "{expected}: {options:?}");
        }
        assert!(!options.iter().any(|option| option == "--output"), "{options:?}");
        assert!(super::options(Of::Plot).iter().any(|option| option == "--around"));
    }
}
