//! A file of clocks: which recordings are those of one system, and what tells of their clocks. Not what
//! follows from it (see [`crate::clocks`]).

use crate::error::{Error, Result, line_of};
use crate::time::{TimeScale, parse_time_argument};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Recordings with clocks of their own, and rules that tell of the same message in several of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClocksFile {
    /// The recording whose clock is kept; the first one when left out.
    reference: Option<Spanned<String>>,
    /// By how much the rate of a clock may differ from its mean, in parts per million. 0: it is constant.
    wander_ppm: Option<Spanned<f64>>,
    /// The recordings.
    #[serde(default)]
    pub clock: Vec<Clock>,
    /// Messages from one to another.
    #[serde(default)]
    pub message: Vec<MessageRule>,
    /// What several see at the same time.
    #[serde(default)]
    pub edge: Vec<EdgeRule>,
    /// The file and its text, for the places of mistakes.
    #[serde(skip)]
    file: (PathBuf, String),
}

/// `[[clock]]`: a recording of one control unit.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// Its name in the database.
    pub recording: Spanned<String>,
    /// The name of the control unit; that of the recording when left out.
    ecu: Option<Spanned<String>>,
    /// What its clock shows at time 0 of the reference, if that is known.
    offset: Option<Spanned<String>>,
    /// How much faster it is than the reference, with `offset`: in parts per million.
    drift_ppm: Option<Spanned<f64>>,
    /// By how much `offset` and `drift_ppm` may be wrong, all in all.
    error: Option<Spanned<String>>,
}

/// A clock that was given. Times are ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GivenClock {
    /// What it shows at time 0 of the reference.
    pub offset: i64,
    /// How much faster it is, per tick.
    pub rate: f64,
    /// How far off it is at most.
    pub error: i64,
}

/// `[[message]]`: statements that give the time and the key of what was sent, and of what was received. Each
/// is run in every recording by itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageRule {
    /// What it is called in tables.
    pub name: Option<String>,
    /// Sends, in SQL.
    pub send: Spanned<String>,
    /// Receives, in SQL.
    pub receive: Spanned<String>,
    /// The recording that sends; each one when left out.
    pub from: Option<Spanned<String>>,
    /// The recording that receives; each one when left out.
    pub to: Option<Spanned<String>>,
}

/// `[[edge]]`: a statement that gives the time and the key of what all recordings see at the same time.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeRule {
    /// What it is called in tables.
    pub name: Option<String>,
    /// Times and keys, in SQL.
    pub at: Spanned<String>,
    /// By how much times can differ that are the same.
    within: Spanned<String>,
}

/// What is assumed when a file does not say: the crystals of control units keep their rate better while a
/// recording lasts.
const WANDER_PPM: f64 = 2.0;
const MOST_PPM: f64 = 100_000.0;

/// All keys, for suggestions.
const KEYS: &str = "reference wander_ppm clock message edge recording ecu offset drift_ppm error name send receive \
    from to at within";

impl ClocksFile {
    /// Reads the text of a file; `path` is only for messages.
    ///
    /// # Errors
    /// What TOML and the types of keys refuse; names of recordings that are not listed; clocks of which
    /// nothing tells. With file and line.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let mut file: Self = toml::from_str(text).map_err(|e| Error::toml(&e, text, path, KEYS))?;
        file.file = (path.to_owned(), text.to_owned());
        if file.clock.len() < 2 {
            return Err(Error::input("the file lists less than two clocks")
                .at(path)
                .hint("write a [[clock]] with recording = \"…\" for each control unit"));
        }
        file.check_names()?;
        file.wander()?;
        let reference = file.reference();
        for (n, clock) in file.clock.iter().enumerate() {
            let given = file.given(n, TimeScale::Ps)?.is_some();
            if given && n == reference {
                let error = Error::input("the reference clock has no offset");
                return Err(file.mistake(&clock.recording, error));
            }
            if !given && n != reference && file.message.is_empty() && file.edge.is_empty() {
                let error = Error::input("nothing tells of this clock").hint(
                    "write offset and error, or a [[message]] or [[edge]] that several recordings have",
                );
                return Err(file.mistake(&clock.recording, error));
            }
        }
        for edge in &file.edge {
            file.within(edge, TimeScale::Ps)?;
        }
        Ok(file)
    }

    fn check_names(&self) -> Result<()> {
        let (mut recordings, mut ecus) = (BTreeSet::new(), BTreeSet::new());
        for (n, clock) in self.clock.iter().enumerate() {
            let name = clock.recording.get_ref();
            if !recordings.insert(name) {
                let error = Error::input(format!("two clocks are of recording '{name}'"));
                return Err(self.mistake(&clock.recording, error));
            }
            let ecu = self.ecu(n);
            if !ecus.insert(ecu) {
                let error = Error::input(format!("two control units are called '{ecu}'"));
                return Err(self.mistake(clock.ecu.as_ref().unwrap_or(&clock.recording), error));
            }
            if ecu.is_empty() || ecu.contains([',', '\n', '\r', '#']) {
                let error = Error::input(format!("'{ecu}' cannot be a name in BTF"));
                return Err(self.mistake(clock.ecu.as_ref().unwrap_or(&clock.recording), error));
            }
        }
        let named = self.message.iter().flat_map(|rule| [&rule.from, &rule.to]);
        for name in named.chain([&self.reference]).flatten() {
            if !recordings.contains(name.get_ref()) {
                let error = Error::input(format!("no [[clock]] is of recording '{}'", name.get_ref()));
                let names = recordings.iter().map(|name| name.as_str());
                let error = error.hint_near(name.get_ref(), names, |all| format!("they are of: {all}"));
                return Err(self.mistake(name, error));
            }
        }
        Ok(())
    }

    /// The number of the clock that is kept.
    pub fn reference(&self) -> usize {
        let name = self.reference.as_ref().map(Spanned::get_ref);
        self.clock.iter().position(|clock| Some(clock.recording.get_ref()) == name).unwrap_or(0)
    }

    /// The name of the control unit of a clock.
    pub fn ecu(&self, clock: usize) -> &str {
        let clock = self.clock.get(clock);
        clock.map_or("", |clock| clock.ecu.as_ref().unwrap_or(&clock.recording).get_ref().as_str())
    }

    /// The assumed wander, in ticks per tick.
    ///
    /// # Errors
    /// If it is no number from 0 to 100.
    pub fn wander(&self) -> Result<f64> {
        let Some(wander) = &self.wander_ppm else { return Ok(WANDER_PPM * 1e-6) };
        if (0.0..=100.0).contains(wander.get_ref()) {
            return Ok(wander.get_ref() * 1e-6);
        }
        Err(self.mistake(wander, Error::input("wander_ppm has to be between 0 and 100")))
    }

    /// A clock that the file gives, in ticks of `scale`.
    ///
    /// # Errors
    /// If it gives only parts of it, or not in these units.
    pub fn given(&self, clock: usize, scale: TimeScale) -> Result<Option<GivenClock>> {
        let Some(clock) = self.clock.get(clock) else { return Ok(None) };
        let Some(offset) = &clock.offset else {
            let alone =
                clock.drift_ppm.as_ref().map(Spanned::span).or(clock.error.as_ref().map(Spanned::span));
            return match alone {
                None => Ok(None),
                Some(_) => {
                    let error = Error::input("drift_ppm and error belong to an offset");
                    Err(self.mistake(&clock.recording, error))
                }
            };
        };
        let Some(error) = &clock.error else {
            let mistake = Error::input("an offset has an error").hint("write for example error = \"1us\"");
            return Err(self.mistake(offset, mistake));
        };
        let drift = clock.drift_ppm.as_ref().map_or(0.0, |drift| *drift.get_ref());
        if let Some(place) = clock.drift_ppm.as_ref().filter(|_| !(-MOST_PPM..=MOST_PPM).contains(&drift)) {
            return Err(self.mistake(place, Error::input(format!("drift_ppm is beyond {MOST_PPM}"))));
        }
        let (offset, error) = (self.ticks(offset, scale)?, (error, self.ticks(error, scale)?));
        if error.1 < 0 {
            return Err(self.mistake(error.0, Error::input("an error is 0 or more")));
        }
        Ok(Some(GivenClock { offset, rate: drift * 1e-6, error: error.1 }))
    }

    /// The tolerance of an edge, in ticks of `scale`.
    ///
    /// # Errors
    /// If it is no time, or less than 0.
    pub fn within(&self, edge: &EdgeRule, scale: TimeScale) -> Result<i64> {
        match self.ticks(&edge.within, scale)? {
            ticks if ticks < 0 => Err(self.mistake(&edge.within, Error::input("a tolerance is 0 or more"))),
            ticks => Ok(ticks),
        }
    }

    fn ticks(&self, time: &Spanned<String>, scale: TimeScale) -> Result<i64> {
        parse_time_argument(time.get_ref(), scale).map_err(|why| self.mistake(time, Error::input(why)))
    }

    /// An error about a value of the file, with its place.
    pub fn mistake<T>(&self, value: &Spanned<T>, error: Error) -> Error {
        let (path, text) = &self.file;
        error.within(path, line_of(text, value.span().start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ClocksFile> {
        ClocksFile::parse(text, Path::new("clocks.toml"))
    }

    const TWO: &str = "[[clock]]\nrecording = \"a\"\n[[clock]]\nrecording = \"b\"\n";
    const RULE: &str = "[[message]]\nsend = \"SELECT 1\"\nreceive = \"SELECT 1\"\n";

    #[test]
    fn a_file_says_which_clocks_there_are() -> Result<()> {
        let file = parse(&format!("reference = \"b\"\nwander_ppm = 0.5\n{TWO}ecu = \"BODY\"\n{RULE}"))?;
        assert_eq!((file.reference(), file.ecu(0), file.ecu(1)), (1, "a", "BODY"));
        assert_eq!(file.wander()?, 0.5e-6);
        let given = parse(&format!("{TWO}offset = \"-2us\"\ndrift_ppm = 10\nerror = \"5ns\"\n"))?;
        let clock = given.given(1, TimeScale::Ns)?;
        assert_eq!(clock, Some(GivenClock { offset: -2000, rate: 10.0 * 1e-6, error: 5 }));
        assert_eq!(given.wander()?, 2e-6);
        Ok(())
    }

    #[test]
    fn every_mistake_has_a_line() {
        let edge = "[[edge]]\nat = \"SELECT 1\"\nwithin = \"-1ns\"\n";
        for (text, line, message) in [
            ("[[clock]]\nrecording = \"a\"\n".to_owned(), 0, "less than two clocks"),
            (TWO.replace("\"b\"", "\"a\""), 4, "two clocks are of recording 'a'"),
            (TWO.to_owned(), 4, "nothing tells of this clock"),
            (format!("reference = \"c\"\n{TWO}{RULE}"), 1, "no [[clock]] is of recording 'c'"),
            (format!("{TWO}{RULE}to = \"c\"\n"), 8, "no [[clock]] is of recording 'c'"),
            (format!("wander_ppm = 200\n{TWO}{RULE}"), 1, "between 0 and 100"),
            (format!("{TWO}offset = \"5ns\"\n"), 5, "an offset has an error"),
            (format!("{TWO}error = \"5ns\"\n"), 4, "belong to an offset"),
            (format!("{TWO}offset = \"5\"\nerror = \"x\"\n"), 6, "x"),
            (format!("{TWO}offset = \"5ns\"\nerror = \"-5ns\"\n"), 6, "an error is 0 or more"),
            (format!("{TWO}ecu = \"a\"\n{RULE}"), 5, "two control units are called 'a'"),
            (format!("{TWO}ecu = \"x,y\"\n{RULE}"), 5, "cannot be a name in BTF"),
            (format!("{TWO}{edge}"), 7, "a tolerance is 0 or more"),
            (format!("{TWO}{RULE}sent = \"x\"\n"), 8, "sent"),
        ] {
            let e = parse(&text).unwrap_err().to_string();
            let place = if line == 0 { "clocks.toml: ".to_owned() } else { format!("clocks.toml:{line}: ") };
            assert!(e.starts_with(&place) && e.contains(message), "{text}\n{e}");
        }
    }
}
