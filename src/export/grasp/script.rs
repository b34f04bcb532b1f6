//! Commands as lines, and times as decimal numbers. Not for which commands.

use super::GraspCounts;
use crate::error::{Error, ErrorKind, Result};
use crate::export::btf::Gap;
use crate::formats::grasp::join;
use std::io::Write;

/// The unit of time of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticks {
    tick: i128,
    /// Decimal places that a time may need.
    places: u32,
}

impl Ticks {
    /// `tick` ticks of the database are 1; `None` if fractions of that have infinitely many digits.
    pub fn new(tick: i64) -> Option<Self> {
        let tick = i128::from(tick);
        let places =
            (0..=63).find(|places| 10i128.checked_pow(*places).is_some_and(|p| tick > 0 && p % tick == 0));
        // 2^k needs k places; 10^38 is the last power that fits.
        places.map(|places| Self { tick, places })
    }

    /// A time, exactly: `12`, `12.5`.
    pub fn text(self, at: i64) -> String {
        let (at, tick) = (i128::from(at), self.tick);
        let sign = if at < 0 { "-" } else { "" };
        let (whole, rest) = (at.abs() / tick, at.abs() % tick);
        if rest == 0 {
            return format!("{sign}{whole}");
        }
        // 10^places is a multiple of the tick, and the rest is less than that.
        let fraction = 10i128.pow(self.places) / tick * rest;
        let digits = format!("{fraction:0width$}", width = self.places as usize);
        format!("{sign}{whole}.{}", digits.trim_end_matches('0'))
    }
}

pub(super) struct Script<'o> {
    out: &'o mut dyn Write,
    ticks: Ticks,
    /// Objects are declared as in 2010.
    pub old: bool,
    line: String,
    done: GraspCounts,
}

/// What a command creates.
#[derive(Debug, Clone, Copy)]
pub(super) enum Object {
    Processor,
    Task,
    Job,
    Mutex,
    Semaphore,
}

impl Object {
    fn class(self) -> &'static str {
        match self {
            Self::Processor => "Processor",
            Self::Task => "Task",
            Self::Job => "Job",
            Self::Mutex => "Mutex",
            Self::Semaphore => "Semaphore",
        }
    }
}

impl<'o> Script<'o> {
    pub fn new(out: &'o mut dyn Write, ticks: Ticks, old: bool) -> Self {
        Self { out, ticks, old, line: String::new(), done: GraspCounts::default() }
    }

    fn put(&mut self, line: &str) -> Result<()> {
        self.line.clear();
        self.line.push_str(line);
        self.line.push('\n');
        let written = self.out.write_all(self.line.as_bytes());
        written.map_err(|e| Error::new(ErrorKind::Io, "cannot write the script").because(e))
    }

    /// A comment that does not stand for an event.
    pub fn note(&mut self, text: &str) -> Result<()> {
        self.put(&format!("# {}", harmless(text)))
    }

    /// A gap, with its times as the script has them.
    pub fn gap(&mut self, gap: &Gap) -> Result<()> {
        self.done.gaps += 1;
        let [begin, end] = [gap.begin, gap.end].map(|at| self.ticks.text(at));
        let core = gap.core.as_deref().unwrap_or("all cores");
        self.note(&format!("gap of {core}: {}, from {begin} to {end}", gap.reason))
    }

    /// An event that Grasp cannot express.
    pub fn comment(&mut self, text: &str) -> Result<()> {
        self.done.comments += 1;
        self.put(&format!("# btf: {}", harmless(text)))
    }

    /// A declaration: the words after the id are options; for a job, the first is its task.
    pub fn create(&mut self, object: Object, id: &str, words: &[&str]) -> Result<()> {
        self.done.commands += 1;
        let class = object.class();
        let line = match (self.old, object) {
            // The paper has only one processor.
            (false, _) | (true, Object::Processor) => {
                let command = format!("new{class}");
                join([&command, id].into_iter().chain(words.iter().copied()))
            }
            (true, Object::Job) => format!("[{class} {id}] initWithTask {}", join(words.iter().copied())),
            (true, _) => format!("[{class} {id}] initWith {}", join(words.iter().copied())),
        };
        self.put(&line)
    }

    /// An event.
    pub fn plot(&mut self, at: i64, words: &[&str]) -> Result<()> {
        self.done.commands += 1;
        let time = self.ticks.text(at);
        let line = join(["plot", &time].into_iter().chain(words.iter().copied()));
        self.put(&line)
    }

    pub fn finish(self) -> Result<GraspCounts> {
        Ok(self.done)
    }
}

/// A text that does not end its comment: a backslash at the end of a line would continue it on the next one.
fn harmless(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_control() {
                ' '
            } else if c == '\\' {
                '/'
            } else {
                c
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{TimeScale, read_decimal};
    use proptest::prelude::*;

    #[test]
    fn times_are_exact() {
        let text = |tick, at| Ticks::new(tick).unwrap().text(at);
        assert_eq!(
            (text(1, 17), text(1000, 17_000), text(1000, 17_250)),
            ("17".into(), "17".into(), "17.25".into())
        );
        assert_eq!(
            (text(1000, -1), text(8, 1), text(1, i64::MIN)),
            ("-0.001".into(), "0.125".into(), i64::MIN.to_string())
        );
        for bad in [0, -1, 3, 1500 * 7] {
            assert_eq!(Ticks::new(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn times_come_back(at: i64) {
            let text = Ticks::new(1_000_000).unwrap().text(at);
            let back = read_decimal(text.as_bytes(), b'.', TimeScale::Ms, TimeScale::Ns).unwrap();
            prop_assert_eq!((back.ticks, back.inexact), (at, false));
        }
    }

    #[test]
    fn comments_stay_comments() {
        assert_eq!(harmless("a\\\nb"), "a/ b");
    }
}
