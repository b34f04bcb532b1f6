//! Writes QNX kernel traces (`.kev`) for tests and measurements: record by record, as an instrumented kernel
//! would, or from a whole simulated machine. The other rooms of QNX are listed in `src/qnx`.
//!
//! This folder is written from the documents and shares no code with the readers, not even the numbers of
//! classes and events (see `codes`), so that a test that writes and reads compares two interpretations of the
//! layout. It needs only the standard library, so `benches/kev.rs` compiles it alone.

pub mod codes;
mod header;
mod kernel;
pub mod machine;
mod random;
mod record;

pub use codes::Code;
pub use header::{Attributes, Release, Target};
pub use kernel::{ExpectedEvent, Faults, Kernel, LostBuffer, Written};
pub use record::{ByteOrder, Part, Parts, Record};

use std::io::{self, Write};

/// Writes the bytes of a trace: header, system page, records, and other bytes on demand.
#[derive(Debug)]
pub struct KevWriter<W> {
    out: W,
    order: ByteOrder,
    records: u64,
    bytes: u64,
}

impl<W: Write> KevWriter<W> {
    /// Writes attributes and system page as they are, without a check that they fit together.
    pub fn new(mut out: W, order: ByteOrder, attributes: &Attributes, syspage: &[u8]) -> io::Result<Self> {
        let text = attributes.text();
        out.write_all(text.as_bytes())?;
        out.write_all(syspage)?;
        let bytes = (text.len() + syspage.len()) as u64;
        Ok(Self { out, order, records: 0, bytes })
    }

    /// The trace of a target, with its standard header.
    pub fn of_target(out: W, target: &Target) -> io::Result<Self> {
        Self::new(out, target.order, &target.attributes(), &target.syspage())
    }

    /// Writes a record; returns its number, from 0.
    pub fn record(&mut self, record: &Record) -> io::Result<u64> {
        self.out.write_all(&record.bytes(self.order))?;
        self.records += 1;
        self.bytes += 16;
        Ok(self.records - 1)
    }

    /// Writes all records of an event, nothing between them; returns the number of the first.
    pub fn event(&mut self, parts: Parts<'_>) -> io::Result<u64> {
        let first = self.records;
        for record in parts {
            self.record(&record)?;
        }
        Ok(first)
    }

    /// Writes bytes that are not a record, as after a full disk or a crash.
    pub fn garbage(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// How numbers are stored.
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Records written.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Bytes written, including the header.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes the rest; returns the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests;
