//! Runs the rules of a file of clocks: statements in SQL → sends and receives. Not what they say about
//! clocks.

use super::AlignOptions;
use crate::clocks::{Fate, Message, Sighting, matched};
use crate::description::ClocksFile;
use crate::engine::Session;
use crate::error::{Error, ErrorKind, Result};
use crate::ops::Choice;
use crate::ops::control::Control;
use crate::schema::result::{Integers, ResultColumn, Texts};
use crate::store::Database;
use std::path::Path;
use std::sync::Arc;
use toml::Spanned;

/// A message of a rule.
#[derive(Debug, Clone)]
pub(super) struct RuleMessage {
    pub rule: Arc<str>,
    pub message: Message,
    /// By how much the receive may seem to be before the send: of an edge that both see at the same time.
    pub within: i64,
}

impl RuleMessage {
    /// Whether the clock of that number has sent or received it.
    pub fn is_of(&self, clock: usize) -> bool {
        [self.message.sent, self.message.received].iter().flatten().any(|(of, _)| *of == clock)
    }
}

/// The messages of all rules, and how many rows of their statements have no time or no key.
pub(super) fn messages(
    database: &Database,
    clocks: &ClocksFile,
    file: &Path,
    options: &AlignOptions,
    control: &Arc<Control>,
) -> Result<(Vec<RuleMessage>, u64)> {
    let folder = file.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let mut sessions = Vec::new();
    for clock in &clocks.clock {
        let choice = Choice { recording: Some(clock.recording.get_ref().clone()), labels: Vec::new() };
        let chosen = choice.of(database.clone())?;
        let session = Session::open_with(chosen, options.session, Arc::clone(&options.queries))?;
        sessions.push(session.with_interrupt(control.flag_shared()).with_files(folder));
    }
    let number = |name: &Option<Spanned<String>>| {
        let name = name.as_ref()?.get_ref();
        clocks.clock.iter().position(|clock| clock.recording.get_ref() == name)
    };
    let mut without_key = 0;
    let mut seen = |sql: &Spanned<String>, only: Option<usize>| -> Result<Vec<Sighting>> {
        let mut seen = Vec::new();
        for (clock, session) in sessions.iter().enumerate().filter(|(n, _)| only.is_none_or(|o| o == *n)) {
            let rows = rows(session, sql.get_ref(), clock, &mut seen);
            without_key += rows.map_err(|e| clocks.mistake(sql, e))?;
        }
        Ok(seen)
    };
    let mut messages = Vec::new();
    for (n, rule) in clocks.message.iter().enumerate() {
        let name: Arc<str> = rule.name.clone().unwrap_or_else(|| format!("message {}", n + 1)).into();
        let sent = seen(&rule.send, number(&rule.from))?;
        let received = seen(&rule.receive, number(&rule.to))?;
        let of_rule = matched(sent, received).into_iter();
        messages.extend(of_rule.map(|message| RuleMessage { rule: Arc::clone(&name), message, within: 0 }));
    }
    for (n, rule) in clocks.edge.iter().enumerate() {
        let name: Arc<str> = rule.name.clone().unwrap_or_else(|| format!("edge {}", n + 1)).into();
        let within = clocks.within(rule, database.time_scale())?;
        let seen = seen(&rule.at, None)?;
        // Each sight is a send to every other clock.
        for clock in 0..clocks.clock.len() {
            let (sent, received) = seen.iter().cloned().partition(|sight| sight.clock == clock);
            let of_rule = matched(sent, received).into_iter().filter(|of| of.fate != Fate::NotSent);
            messages.extend(of_rule.map(|message| RuleMessage { rule: Arc::clone(&name), message, within }));
        }
    }
    Ok((messages, without_key))
}

/// The rows of a statement, as seen by a clock. Returns how many have no time or no key.
fn rows(session: &Session, sql: &str, clock: usize, seen: &mut Vec<Sighting>) -> Result<u64> {
    let stream = session.sql(sql, &[])?;
    let place = |name: &str| {
        stream.schema().fields().iter().position(|field| field.name() == name).ok_or_else(|| {
            Error::new(ErrorKind::Query, format!("the statement has no column '{name}'"))
                .hint("it gives a time, in ticks, and a key: SELECT time, … AS key FROM …")
        })
    };
    let (time, key) = (place("time")?, place("key")?);
    let mut without_key = 0;
    for batch in stream {
        let batch = batch?;
        let (Some(times), Some(keys)) = (batch.columns().get(time), batch.columns().get(key)) else {
            return Err(Error::new(ErrorKind::Bug, "a batch has not the columns of its statement"));
        };
        let Some(times) = Integers::of(times) else {
            return Err(Error::new(
                ErrorKind::Query,
                format!("the column 'time' is of type {}, and not whole ticks", times.data_type()),
            ));
        };
        let keys = Texts::read(keys)?;
        for row in 0..batch.num_rows() {
            match (times.get(row), keys.get(row)) {
                (Some(time), Some(key)) => seen.push(Sighting { clock, time, key: key.to_owned() }),
                _ => without_key += 1,
            }
        }
    }
    Ok(without_key)
}
