//! The meaning of a command of a Grasp trace: its words to the fields of a row, in both dialects. Handles a
//! single command; the objects of its ids are not known here.

use super::quote::join;
use super::ticks::{NotTicks, ticks};
use super::vocabulary::{
    Argument, BUFFER_EVENTS, CLASSES, DECLARATIONS, EVENTS, Entry, find, is_other_option, is_script,
};
use super::words::{self, Kind, Word};
use crate::words::words;

words! {
    /// How far a command was understood. `as_str` is the word of `grasp_event.status`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Status {
        #[default]
        Ok = "ok",
        /// An event of a plugin.
        Custom = "custom",
        /// No command of Grasp.
        Unknown = "unknown",
        /// A script that would have to run.
        Refused = "refused",
        /// Something is missing.
        Malformed = "malformed",
        Comment = "comment",
        Blank = "blank",
    }
}

/// A command, and everything that it names. Times and budgets are ticks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the columns of table grasp_event, which says what they are")]
pub struct Command<'w> {
    pub status: Status,
    pub command: &'w str,
    pub event: Option<&'w str>,
    pub time: Option<i64>,
    pub processor: Option<&'w str>,
    pub task: Option<&'w str>,
    pub job: Option<&'w str>,
    pub server: Option<&'w str>,
    pub mutex: Option<&'w str>,
    pub semaphore: Option<&'w str>,
    pub buffer: Option<&'w str>,
    pub target: Option<&'w str>,
    pub name: Option<&'w str>,
    pub priority: Option<i64>,
    pub kind: Option<&'w str>,
    pub budget: Option<i64>,
    pub capacity: Option<i64>,
    pub amount: Option<i64>,
    pub until: Option<i64>,
    pub message: Option<&'w str>,
    pub options: Option<String>,
    /// Numbers with digits finer than a tick.
    pub inexact: u64,
    /// The first oddity: a code and a sentence.
    pub finding: Option<(&'static str, String)>,
}

/// The kind of a command, by its first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    Grasp,
    /// One of Tcl, which would have to be executed.
    Script,
    /// Neither of both.
    Other,
}

/// Checks the first word of a line, which begins at its first byte.
pub(super) fn head(line: &str) -> Head {
    let word = line.split(|c: char| c.is_ascii_whitespace() || c == ';').next().unwrap_or_default();
    let plain = word.trim_start_matches(':');
    if matches!(plain, "plot" | "bufferplot" | "Plot" | "BufferPlot") || find(DECLARATIONS, plain).is_some() {
        return Head::Grasp;
    }
    if let Some(class) = word.strip_prefix('[') {
        if class == "BufferPlot" || CLASSES.iter().any(|(name, ..)| *name == class) {
            return Head::Grasp;
        }
        return Head::Other;
    }
    // Other output of a program has sentences; a script has words that are nothing but commands.
    if is_script(plain) { Head::Script } else { Head::Other }
}

impl<'w> Command<'w> {
    /// Parses the command of `words`; `inner` has the words of a bracket. `tick`: ticks per unit of time.
    pub(super) fn read(words: &'w [Word<'w>], inner: &'w [Word<'w>], tick: i64) -> Self {
        let mut reading = Reading { tick, command: Self::default() };
        reading.all(words, inner);
        let Reading { mut command, .. } = reading;
        if command.status == Status::Malformed && command.finding.is_none() {
            command.finding = Some(("malformed-command", "the command lacks a word".to_owned()));
        }
        command
    }
}

struct Reading<'w> {
    tick: i64,
    command: Command<'w>,
}

impl<'w> Reading<'w> {
    fn all(&mut self, words: &'w [Word<'w>], inner: &'w [Word<'w>]) {
        let Some((first, rest)) = words.split_first() else { return };
        if first.kind == Kind::Bracketed {
            return self.object(inner, rest);
        }
        let name = id(&first.text);
        self.command.command = name;
        match name {
            "plot" => self.timed(rest, EVENTS),
            "bufferplot" => self.timed(rest, BUFFER_EVENTS),
            // The dialect of 2010: Plot event T …
            "Plot" => {
                self.command.command = "plot";
                match rest.split_first().filter(|(method, _)| method.text == "event") {
                    Some((_, rest)) => self.timed(rest, EVENTS),
                    None => self.custom(rest),
                }
            }
            // BufferPlot set activePlot [BufferPlot new]
            "BufferPlot" => {
                self.command.command = "bufferplot";
                self.command.event = rest.first().map(|w| w.text.as_ref());
                self.rest(rest.get(1..).unwrap_or_default());
            }
            _ => match find(DECLARATIONS, name) {
                Some(entry) => {
                    self.arguments(entry.arguments, rest);
                    if name == "error" {
                        self.command.status = Status::Custom;
                        self.find("recorder-error", || "the recorder reports an error".to_owned());
                    }
                }
                None => self.custom(rest),
            },
        }
    }

    /// `[Job x] initWithTask …`, `[BufferPlot set activePlot] structure …`
    fn object(&mut self, inner: &'w [Word<'w>], rest: &'w [Word<'w>]) {
        let mut inner_words = inner.iter().map(|w| w.text.as_ref());
        let (class, object) = (inner_words.next().unwrap_or_default(), inner_words.next());
        if class == "BufferPlot" {
            self.command.command = "bufferplot";
            return self.event(rest, BUFFER_EVENTS);
        }
        let Some((_, method, command)) = CLASSES.iter().find(|(name, ..)| *name == class) else {
            self.command.status = Status::Unknown;
            self.command.command = class;
            return self.rest(rest);
        };
        self.command.command = command;
        let (Some(object), None) = (object, inner_words.next()) else { return self.lack("one id") };
        match rest.split_first() {
            Some((first, words)) if first.text == *method => {
                let Some(entry) = find(DECLARATIONS, command) else { return };
                self.argument(entry.arguments.first().copied().unwrap_or(Argument::Rest), object);
                self.arguments(entry.arguments.get(1..).unwrap_or_default(), words);
            }
            _ => self.lack(method),
        }
    }

    /// A time, an event and its words; some recorders print the time last, after an unknown command.
    fn timed(&mut self, words: &'w [Word<'w>], events: &'static [Entry]) {
        let Some((first, rest)) = words.split_first() else { return self.lack("a time") };
        let of_last = || {
            let (last, rest) = words.split_last()?;
            find(events, &first.text).filter(|_| !rest.is_empty())?;
            Some((last, rest))
        };
        let (time, rest) = match ticks(&first.text, self.tick) {
            Err(NotTicks::Garbage) => of_last().unwrap_or((first, rest)),
            _ => (first, rest),
        };
        self.command.time = self.ticks(&time.text);
        if self.command.time.is_none() {
            self.command.event = rest.first().map(|w| w.text.as_ref());
            return self.lack("a time");
        }
        self.event(rest, events);
    }

    fn event(&mut self, words: &'w [Word<'w>], events: &'static [Entry]) {
        let Some((event, words)) = words.split_first() else { return self.lack("an event") };
        match find(events, &event.text) {
            Some(entry) => {
                self.command.event = Some(entry.name);
                self.arguments(entry.arguments, words);
            }
            None => {
                self.command.event = Some(event.text.as_ref());
                self.custom(words);
            }
        }
    }

    fn custom(&mut self, words: &'w [Word<'w>]) {
        self.command.status = Status::Custom;
        self.find("custom-event", || "an event that Grasp leaves to plugins; it is kept as it is".to_owned());
        self.rest(words);
    }

    fn arguments(&mut self, arguments: &'static [Argument], words: &'w [Word<'w>]) {
        let mut words = words;
        for argument in arguments {
            if *argument == Argument::Rest {
                return self.rest(words);
            }
            let Some((first, rest)) = words.split_first() else { return self.lack(argument.as_str()) };
            self.argument(*argument, &first.text);
            words = rest;
        }
        self.options(words);
    }

    fn argument(&mut self, argument: Argument, text: &'w str) {
        let command = &mut self.command;
        match argument {
            Argument::Processor => command.processor = Some(id(text)),
            Argument::Task => command.task = Some(id(text)),
            Argument::Job => command.job = Some(id(text)),
            Argument::Server => command.server = Some(id(text)),
            Argument::Mutex => command.mutex = Some(id(text)),
            Argument::Semaphore => command.semaphore = Some(id(text)),
            Argument::Buffer => command.buffer = Some(id(text)),
            Argument::Target => command.target = Some(id(text)),
            Argument::Kind => command.kind = Some(text),
            Argument::Name => command.name = Some(text),
            Argument::Message => command.message = Some(text),
            Argument::Rest => {}
            Argument::Amount => match text.parse() {
                Ok(amount) => command.amount = Some(amount),
                Err(_) => self.lack("a whole number"),
            },
            Argument::Budget => {
                self.command.budget = self.ticks(text);
                if self.command.budget.is_none() {
                    self.lack("a budget");
                }
            }
            Argument::Until => {
                self.command.until = self.ticks(text);
                if self.command.until.is_none() {
                    self.lack("an end time");
                }
            }
        }
    }

    /// `-key value`, in any order. A word at the place of a key is stored: the player skips it.
    fn options(&mut self, words: &'w [Word<'w>]) {
        let mut other_options: Vec<&'w str> = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let key = word.text.trim_start_matches('-');
            if key.len() == word.text.len() || key.is_empty() {
                self.find("extra-words", || "words behind the command that are no options".to_owned());
                other_options.push(&word.text);
                continue;
            }
            let Some(value) = words.next() else {
                self.find("option-without-value", || format!("option '-{key}' has no value"));
                other_options.push(&word.text);
                break;
            };
            if !self.option(key, &value.text) {
                other_options.extend([word.text.as_ref(), value.text.as_ref()]);
            }
        }
        if !other_options.is_empty() {
            self.command.options = Some(join(other_options));
        }
    }

    /// Whether the option has a column, and its value fits it.
    fn option(&mut self, key: &'w str, value: &'w str) -> bool {
        let command = &mut self.command;
        let server = command.server.is_some();
        let slot = match key {
            "name" => &mut command.name,
            "kind" => &mut command.kind,
            "processor" if command.processor.is_none() => &mut command.processor,
            "target" if command.target.is_none() => &mut command.target,
            "message" => &mut command.message,
            "priority" | "state" => return self.number(key, value),
            "capacity" if !server => return self.number(key, value),
            "capacity" | "budget" => {
                let ticks = self.ticks(value);
                match key {
                    "budget" => self.command.budget = ticks,
                    _ => self.command.capacity = ticks,
                }
                return ticks.is_some();
            }
            _ => {
                if !is_other_option(key) {
                    self.find("unknown-option", || format!("option '-{key}' is none of Grasp"));
                }
                return false;
            }
        };
        let is_id = matches!(key, "processor" | "target");
        *slot = Some(if is_id { id(value) } else { value });
        true
    }

    fn number(&mut self, key: &str, value: &str) -> bool {
        let Ok(number) = value.parse::<i64>() else {
            self.find("not-a-number", || format!("'-{key} {value}' is no whole number"));
            return false;
        };
        let slot = if key == "priority" { &mut self.command.priority } else { &mut self.command.amount };
        *slot = Some(number);
        true
    }

    fn ticks(&mut self, text: &str) -> Option<i64> {
        match ticks(text, self.tick) {
            Ok(rounded) => {
                self.command.inexact += u64::from(rounded.inexact);
                Some(rounded.ticks)
            }
            Err(NotTicks::Overflow) => {
                self.find("time-overflow", || {
                    format!("'{text}' does not fit 64 bits in the database's scale")
                });
                None
            }
            Err(NotTicks::Garbage) => None,
        }
    }

    fn rest(&mut self, words: &'w [Word<'w>]) {
        if !words.is_empty() {
            self.command.options = Some(join(words.iter().map(|w| w.text.as_ref())));
        }
    }

    fn lack(&mut self, what: &str) {
        self.command.status = Status::Malformed;
        self.find("malformed-command", || format!("the command lacks {what}"));
    }

    fn find(&mut self, code: &'static str, message: impl FnOnce() -> String) {
        if self.command.finding.is_none() {
            self.command.finding = Some((code, message()));
        }
    }
}

impl Argument {
    fn as_str(self) -> &'static str {
        match self {
            Self::Processor | Self::Target => "a processor",
            Self::Task => "a task",
            Self::Job => "a job",
            Self::Server => "a server",
            Self::Mutex => "a mutex",
            Self::Semaphore => "a semaphore",
            Self::Buffer => "a buffer",
            Self::Until => "an end time",
            Self::Budget => "a budget",
            Self::Amount => "a number",
            Self::Kind => "a kind",
            Self::Name => "a name",
            Self::Message | Self::Rest => "a text",
        }
    }
}

/// An id: leading colons are the global namespace of Tcl, and are ignored.
fn id(word: &str) -> &str {
    let id = word.trim_start_matches(':');
    if id.is_empty() { word } else { id }
}

pub(super) fn inner<'a>(words: &'a [Word<'a>]) -> Result<Vec<Word<'a>>, words::Trouble> {
    let Some(first) = words.first().filter(|word| word.kind == Kind::Bracketed) else {
        return Ok(Vec::new());
    };
    let mut inner = Vec::new();
    let parsed = words::command(&first.text, words::skip_blanks(&first.text, 0), &mut inner);
    match parsed.trouble {
        Some((_, trouble)) => Err(trouble),
        None if parsed.stop != words::Stop::End => Err(words::Trouble::Substitution),
        None => Ok(inner),
    }
}
