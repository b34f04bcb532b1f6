//! The text of traceprinter as a stream of events with full times. Not reading its lines (see `listing`).

use super::batch::Batch;
use super::decoder::Preamble;
use super::header::{Header, Syspage};
use super::listing::{ListingReader, OwnedEvent};
use super::printed;
use super::timeline::Timeline;
use crate::diagnostics::Severity;
use crate::error::Result;
use crate::formats::Counts;
use crate::qnx::Version;

/// Reads a listing.
#[derive(Debug)]
pub struct Listed {
    reader: ListingReader<'static>,
    times: Timeline,
    preamble: Option<Preamble>,
    events: Vec<OwnedEvent>,
    inside_line: bool,
}

impl Listed {
    /// `source` is the path given by the user; `version` overrides the header.
    pub fn new(source: &str, version: Option<Version>) -> Self {
        Self {
            reader: ListingReader::new(source.to_owned(), version),
            // Diagnostics have line numbers from 1, as the reader has.
            times: Timeline::new(source, 0, 1),
            preamble: None,
            events: Vec::new(),
            inside_line: false,
        }
    }

    /// The metadata from the lines before the first event, once there was one.
    pub fn preamble(&self) -> Option<&Preamble> {
        self.preamble.as_ref()
    }

    /// Reads the next lines. Fails when the lines before the events say that they cannot be read.
    pub fn chunk(&mut self, chunk: &[u8]) -> Result<Batch> {
        self.reader.chunk(chunk, self.inside_line, &mut self.events);
        self.inside_line = chunk.last() != Some(&b'\n');
        self.take()
    }

    /// Ends the listing.
    pub fn finish(&mut self) -> Result<Batch> {
        self.reader.finish(&mut self.events);
        self.know()?;
        let mut batch = self.take()?;
        self.times.finish();
        let rest = std::mem::take(&mut self.times.out);
        rest.iter().for_each(|event| batch.push(&event));
        batch.log.merge(rest.log);
        Ok(batch)
    }

    /// The counts of lines, and the findings about them, at the end.
    pub fn into_parts(self) -> (Counts, crate::diagnostics::Log) {
        (self.reader.counts(), self.reader.into_log())
    }

    fn take(&mut self) -> Result<Batch> {
        if !self.events.is_empty() {
            self.know()?;
        }
        for event in std::mem::take(&mut self.events) {
            let view = event.view(event.line, 0);
            let entry = match (event.high, event.words.as_slice()) {
                // Style 7 can print all 64 bits of a time.
                (Some(high), _) => self.times.place_exactly(&view, high, event.timeoff),
                (None, [high, low, ..]) => self.times.place(&view, event.timeoff, true, Some([*high, *low])),
                _ => self.times.place(&view, event.timeoff, true, None),
            };
            match &event.printed {
                None => self.times.deliver(entry, &event.words),
                Some(text) => {
                    self.times.deliver(entry.unread(), &printed::pack(&event.words, text));
                }
            }
        }
        Ok(std::mem::take(&mut self.times.out))
    }

    /// With `TRACE_`, as in a file.
    fn attributes(&self) -> Vec<(String, String)> {
        let whole = |(key, value): &(String, String)| {
            let bare = key.strip_prefix("TRACE_").unwrap_or(key);
            (format!("TRACE_{bare}"), value.clone())
        };
        self.reader.attributes().iter().map(whole).collect()
    }

    fn know(&mut self) -> Result<()> {
        if self.preamble.is_some() {
            return Ok(());
        }
        let header = Header::of_attributes(self.attributes())?;
        let cycles_per_sec = match header.cycles_per_sec {
            0 => {
                let message =
                    "the listing does not say how fast the clock is; a tick is taken for a nanosecond";
                self.times.find(None, Severity::Error, "no-clock-rate", message.to_owned());
                1_000_000_000
            }
            rate => rate,
        };
        let flavour = self.reader.flavour();
        self.preamble = Some(Preamble { header, syspage: Syspage::default(), flavour, cycles_per_sec });
        Ok(())
    }
}
