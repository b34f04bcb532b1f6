//! The one error type: what failed, where, why, and what to do next. Not for bad trace content, which
//! is a [`crate::diagnostics::Diagnostic`] and never an `Err`.

use std::fmt;
use std::path::{Path, PathBuf};

/// The kind of an [`Error`], from which the command line takes its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request makes no sense: unknown option value, contradictory arguments.
    Usage,
    /// An input file is missing, unreadable as what it was said to be, or described wrongly.
    Input,
    /// The database is missing, locked or damaged, or already has what the request would add.
    Database,
    /// The SQL text or a metric failed.
    Query,
    /// A limit (memory, line length, number of parts) was reached.
    Limit,
    /// The operating system refused an operation.
    Io,
    /// The user pressed Ctrl-C; nothing was committed.
    Interrupted,
    /// Finished, but with findings, and the user asked for `--strict`.
    Findings,
    /// A broken promise inside btfdb; please report it.
    Bug,
}

/// An error: what failed, in which file and line, why, and what to do next.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    place: Option<PathBuf>,
    line: Option<u64>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
    hints: Vec<String>,
}

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of `kind`; `message` is a sentence without a full stop.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), place: None, line: None, source: None, hints: Vec::new() }
    }

    /// Shorthand for [`ErrorKind::Usage`].
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Shorthand for [`ErrorKind::Input`].
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    /// Shorthand for [`ErrorKind::Database`].
    pub fn database(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Database, message)
    }

    /// The user pressed Ctrl-C.
    pub fn interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted")
    }

    /// An I/O error at a path: "cannot `doing` `path`".
    pub fn io(doing: &str, path: impl AsRef<Path>, source: std::io::Error) -> Self {
        let message = format!("cannot {doing} '{}'", path.as_ref().display());
        Self::new(ErrorKind::Io, message).because(source)
    }

    /// Names the file the error is about.
    #[must_use]
    pub fn at(mut self, path: impl AsRef<Path>) -> Self {
        self.place = Some(path.as_ref().to_path_buf());
        self
    }

    /// Names the 1-based line in the file given by [`Error::at`].
    #[must_use]
    pub fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// Names the file and the 1-based line, unless the error already names a place.
    #[must_use]
    pub fn within(self, path: impl AsRef<Path>, line: u64) -> Self {
        if self.place.is_some() { self } else { self.at(path).line(line) }
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Adds a next step for the user.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds "did you mean" with the word of `known` that is nearest to `word`. If none is near, adds what
    /// `otherwise` makes of all of them, separated by commas.
    #[must_use]
    pub(crate) fn hint_near<'a>(
        self,
        word: &str,
        known: impl IntoIterator<Item = &'a str>,
        otherwise: impl FnOnce(&str) -> String,
    ) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        match did_you_mean(word, known.iter().copied()) {
            Some(near) => self.hint(format!("did you mean '{near}'?")),
            None => self.hint(otherwise(&known.join(", "))),
        }
    }

    /// An error of a TOML file, with its line. For an unknown key, the nearest one of `keys` (separated by
    /// blanks) is the hint.
    pub(crate) fn toml(error: &toml::de::Error, text: &str, path: &Path, keys: &str) -> Self {
        let message = error.message();
        let mut located = Self::input(message.replace('\n', " ")).at(path);
        if let Some(span) = error.span() {
            located = located.line(line_of(text, span.start));
        }
        // The message quotes the word, and then those that are possible there, if there are any.
        let mut quoted = message.split('`').skip(1).step_by(2);
        let word = quoted.next().filter(|_| message.contains("unknown"));
        let possible: Vec<&str> = quoted.collect();
        let known = keys.split_whitespace().filter(|key| possible.is_empty() || possible.contains(key));
        match word.and_then(|word| did_you_mean(word, known)) {
            Some(near) => located.hint(format!("did you mean '{near}'?")),
            None => located,
        }
    }

    /// The kind, which decides the exit code.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The next steps, in the order they were added.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{}:", place.display())?;
            if let Some(line) = self.line {
                write!(f, "{line}:")?;
            }
            f.write_str(" ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|e| &**e as &(dyn std::error::Error + 'static))
    }
}

/// The 1-based line of an offset in a text.
pub(crate) fn line_of(text: &str, offset: usize) -> u64 {
    let before = text.as_bytes().iter().take(offset);
    1 + before.filter(|byte| **byte == b'\n').count() as u64
}

/// Bytes of words that are compared: it takes as many steps as the product of their lengths, so that two long
/// names of a small file could take a minute.
const LONGEST_WORD: usize = 256;

/// Steps after which the rest of a long list is not compared: some 20 ms, for 40,000 words of ten letters.
const MOST_STEPS: usize = 1 << 22;
/// For so many words of one input, a near one is looked for: a large input can have a million.
pub(crate) const MOST_SUGGESTIONS: usize = 100;

/// The word of `known` that is nearest to `word`, for "did you mean"; `None` if none is near. Of several that
/// are as near, the first in alphabetical order, as lists of names can have any. Of a very long list, only
/// the first part is compared.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut steps = 0;
    known
        .into_iter()
        .filter(|k| k.len().max(word.len()) <= LONGEST_WORD)
        .take_while(|k| {
            steps += k.len() * word.len();
            steps < MOST_STEPS
        })
        .map(|k| (strsim::damerau_levenshtein(&word.to_lowercase(), &k.to_lowercase()), k))
        .filter(|(d, k)| *d <= 1 + k.len().min(word.len()) / 3)
        .min_by_key(|(d, k)| (*d, *k))
        .map(|(_, k)| k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_names_the_place_first() {
        let e = Error::input("not a number").at("a.csv").line(7).hint("use --radix");
        assert_eq!(e.to_string(), "a.csv:7: not a number");
        assert_eq!(e.hints(), ["use --radix"]);
        assert_eq!(e.within("b.csv", 1).to_string(), "a.csv:7: not a number");
        assert_eq!(Error::usage("no").within("b.sql", 1).to_string(), "b.sql:1: no");
    }

    #[test]
    fn did_you_mean_finds_near_words_only() {
        assert_eq!(did_you_mean("runnable", ["runnables", "signals"]), Some("runnables"));
        assert_eq!(did_you_mean("xyz", ["runnables", "signals"]), None);
        assert_eq!(did_you_mean("T_9", ["T_5", "T_2", "T_4"]), Some("T_2"), "in any order");
        let long = "x".repeat(1 << 20);
        assert_eq!(did_you_mean(&long[1..], [long.as_str()]), None, "it would take hours");
        let far = std::iter::repeat_n("others", 1 << 20).chain(["runnables"]);
        assert_eq!(did_you_mean("runnable", far), None, "it takes a second, and so does each other word");
    }
}
