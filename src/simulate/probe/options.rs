//! What a recording is like: the shape of its exports, and in what it is not perfect. Not how that is written
//! (see `form`, `tap`).

use crate::error::{Error, Result};
use crate::simulate::model::Model;
use crate::words::words;

words! {
    /// How the lines of exports are written. The differences are in `docs/simulate.md`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Shape {
        /// As the thesis shows them (5.1.2).
        #[default]
        Thesis = "thesis",
        /// With a line of titles, positive record numbers of 14 digits, 9 decimals and CRLF.
        Header = "header",
        /// Without quotes, signs, blanks and record numbers; values begin with `0x`.
        Bare = "bare",
        /// Every cell is in quotes.
        Quoted = "quoted",
        /// Times have a unit that depends on how long they are.
        Units = "units",
        /// As a spreadsheet program writes it where the decimal point is a comma.
        Spreadsheet = "spreadsheet",
        /// The columns of a listing: core, address and distance in addition, in another order.
        Listing = "listing",
        /// Decimal values between tabulators, in columns that only the description names.
        Decimal = "decimal",
    }
}

words! {
    /// As which operating system a simulated system is recorded. What happens in it is the same.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum TracedOs {
        /// ERIKA Enterprise v2, with one image for each core: all that its kernels access.
        #[default]
        Erika2 = "erika2",
        /// Any OSEK operating system, with one image for all cores: what its ORTI file names, and nothing
        /// else.
        Osek = "osek",
        /// A kernel with the hooks of AUTOSAR's ARTI: steps of processes as words of one variable, and
        /// nothing else.
        Arti = "arti",
        /// The same with the timing hooks of MICROSAR.
        Microsar = "microsar",
    }
}

impl TracedOs {
    /// The kernel itself says what happens, so that there are no accesses to its variables, nor functions.
    pub fn has_hooks(self) -> bool {
        matches!(self, Self::Arti | Self::Microsar)
    }
}

/// What a recording is like. By default it is perfect, and in the shape of the thesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProbeOptions {
    /// Whose variables it shows.
    pub os: TracedOs,
    /// How its lines are written.
    pub shape: Shape,
    /// FIFO overflows of each core, at random places. The records of 20 µs to 2 ms are lost, from both
    /// exports of the core, and each says so.
    pub overflows: u32,
    /// The first instant of the recording, in ns. There are no records before it.
    pub begin: i64,
    /// By how many millionths (ppm) the clock of each core is faster than that of the core before it. That
    /// of the first core is right.
    pub drift: i64,
    /// By how many ns a time is late at most. Records stay in order: one that is later than another on its
    /// core has a later time.
    pub jitter: i64,
}

impl ProbeOptions {
    /// Whether a recording of a model can be like this.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] if not.
    pub fn check(&self, model: &Model) -> Result<()> {
        if !(0..model.duration).contains(&self.begin) {
            return Err(Error::usage("the recording does not begin while the system runs")
                .hint("choose a begin that is less than the duration of the model"));
        }
        if self.jitter < 0 {
            return Err(Error::usage("the jitter is less than 0"));
        }
        let last = model.cores.len().saturating_sub(1) as i64;
        if self.drift.saturating_mul(last).saturating_abs() > MAX_DRIFT {
            return Err(Error::usage(format!(
                "the clock of the last core is off by more than {MAX_DRIFT} ppm"
            ))
            .hint("crystals differ by up to 100 ppm"));
        }
        Ok(())
    }
}

/// By how many millionths a clock is wrong at most.
const MAX_DRIFT: i64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::random;

    #[test]
    fn what_no_recording_can_be_like_is_refused() {
        let options = random::Options { cores: Some(3), duration: Some(1000), ..random::Options::default() };
        let model = random::model(1, &options);
        let good =
            ProbeOptions { overflows: 9, begin: 999, drift: -50_000, jitter: 7, ..ProbeOptions::default() };
        assert!(good.check(&model).is_ok() && ProbeOptions::default().check(&model).is_ok());
        for bad in [
            ProbeOptions { begin: 1000, ..good },
            ProbeOptions { begin: -1, ..good },
            ProbeOptions { jitter: -1, ..good },
            ProbeOptions { drift: 50_001, ..good },
            ProbeOptions { drift: i64::MIN, ..good },
        ] {
            assert!(bad.check(&model).is_err(), "{bad:?}");
        }
    }
}
