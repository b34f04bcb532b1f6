//! Kernel events of QNX → lines as traceprinter writes them: for people, for scripts that read them, and for
//! comparisons with the vendor's tool. Not how a value is written (see [`crate::qnx`], which lists the other
//! rooms of QNX) and not which events are chosen.
//!
//! [`Style::V6`] is traceprinter 1.02 (Neutrino 6), byte for byte, with one exception: 1.02 omits the line
//! end after a kernel call that failed, so that the next event is on the same line; here it is not.
//! [`Style::V7`] is the line of 7.0 and later according to its manual and to programs that read it; its
//! arguments are those of style 6.
//!
//! As in traceprinter, incomplete events are not printed.

mod format;
#[cfg(test)]
mod tests;
mod trace;
mod v6;
mod v7;

use crate::error::{Error, Result};
use crate::qnx::layout::{Field, Value, Values};
use crate::qnx::write::{Out as _, dec, hex08};
use crate::qnx::{
    Class, Event, Flavour, Manner, Status, c_string, event_name, fields, is_failure, printed_value,
    printed_words,
};
use format::Format;

use crate::engine::Session;
use crate::export::{Content, ExportRequest, Exported, Exporter, ExporterInfo};
use crate::options::{OptionSpec, Word};
use crate::words::words;
use std::io::Write;
use trace::{PrintOptions, Printed, export_traceprinter};

pub(super) struct Traceprinter;

const STYLE: &str = "style";
const ONE_LINE: &str = "one-line";
const LINE_FORMAT: &str = "line-format";

const STYLES: [Word; 2] =
    [Word { name: "6", help: "traceprinter 1.02" }, Word { name: "7", help: "7.0 and later" }];

static INFO: ExporterInfo = ExporterInfo {
    name: "traceprinter",
    title: "lines of traceprinter",
    help: "Lines of QNX's traceprinter",
    extensions: &[],
    content: Content::KernelEvents,
    options: &[
        OptionSpec::choice(
            STYLE,
            "VERSION",
            &STYLES,
            "traceprinter: whose lines; those of the trace's own version when left out",
        ),
        OptionSpec::flag(ONE_LINE, "traceprinter: arguments on the line of their event"),
        OptionSpec::text(
            LINE_FORMAT,
            "FORMAT",
            "traceprinter, style 7: what stands before the arguments, e.g. 't:0x%08c CPU:%02C %-16Z:%-18z'",
        ),
    ],
};

impl Exporter for Traceprinter {
    fn info(&self) -> &ExporterInfo {
        &INFO
    }

    fn write(&self, session: &Session, request: &ExportRequest, out: &mut dyn Write) -> Result<Exported> {
        let options = PrintOptions {
            style: request.options.parsed(STYLE, Style::parse)?,
            one_line: request.options.has(ONE_LINE),
            format: request.options.text(LINE_FORMAT).map(str::to_owned),
            by_time: request.by_time,
        };
        let (selection, filter) = (&request.selection, &request.kernel_filter);
        let Printed { events, incomplete } = export_traceprinter(session, selection, filter, &options, out)?;
        Ok(Exported::new(format!("{events} events"), events + incomplete == 0).warn(incomplete, || {
            format!(
                "{incomplete} events of which parts are missing are not printed, as traceprinter does; see column status"
            )
        }))
    }
}

words! {
    /// Whose lines.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Style {
        /// Neutrino 6.
        V6 = "6",
        /// Neutrino 7 and 8.
        V7 = "7",
    }
}

/// Prints the events of one trace.
#[derive(Debug, Clone)]
pub struct Printer {
    style: Style,
    one_line: bool,
    format: Format,
    flavour: Flavour,
    cycles_per_sec: u64,
}

impl Printer {
    /// What style 7 puts before the arguments.
    pub const DEFAULT_FORMAT: &'static str = "t:0x%08c CPU:%02C %-16Z:%-18z";

    /// `one_line`: all arguments on the line of the event (`-n`). `format`: the text before them (`-p`, style
    /// 7 only): `%c` cycles in hexadecimal, `%C` CPU, `%e` number of the event, `%t` seconds with
    /// microseconds, `%Z` class, `%z` event, `%%`; with flags, width and precision of `printf`, where a
    /// negative precision cuts the first letters instead of the last. `cycles_per_sec` is only needed for
    /// `%t`.
    pub fn new(
        style: Style,
        one_line: bool,
        format: Option<&str>,
        flavour: Flavour,
        cycles_per_sec: u64,
    ) -> Result<Self> {
        if style == Style::V6 && format.is_some() {
            return Err(Error::usage("lines of style 6 cannot be formatted").hint("use style 7"));
        }
        let format = Format::parse(format.unwrap_or(Self::DEFAULT_FORMAT))?;
        if format.has_time() && cycles_per_sec == 0 {
            return Err(Error::usage("'%t' needs the frequency of the clock, which the trace does not tell"));
        }
        Ok(Self { style, one_line, format, flavour, cycles_per_sec })
    }

    /// Appends the header. Keys are those of the file, with or without `TRACE_`.
    pub fn header(&self, attributes: &[(String, String)], out: &mut Vec<u8>) {
        out.text("TRACEPRINTER version 1.02\nTRACEPARSER LIBRARY version 1.02\n");
        out.text(" -- HEADER FILE INFORMATION -- \n");
        for (key, value) in attributes {
            let bare = key.strip_prefix("TRACE_").unwrap_or(key);
            out.text(&format!("{:>22}:: {value}\n", format!("TRACE_{bare}")));
        }
        out.text(" -- KERNEL EVENTS -- \n");
    }

    /// Appends the lines of an event; nothing for an incomplete one.
    pub fn event(&self, event: &Event<'_>, out: &mut Vec<u8>) {
        if event.status != Status::Ok {
            return;
        }
        match self.style {
            Style::V6 => self.v6(event, out),
            Style::V7 => self.v7(event, out),
        }
        out.text("\n");
    }

    /// The arguments: after the name, or each on a line of its own if there are more than two words.
    fn arguments(&self, event: &Event<'_>, out: &mut Vec<u8>) {
        if is_failure(event) {
            out.text(" ret_val:-1, errno:");
            return dec(out, i64::from(event.word(1) as i32));
        }
        match fields(self.flavour.version, event) {
            Some(fields) => self.fields(event, fields, event.words.len() > 2, out),
            None => {
                out.text(" ");
                printed_words(out, event.words);
            }
        }
    }

    fn fields(&self, event: &Event<'_>, fields: &[Field], wide: bool, out: &mut Vec<u8>) {
        for (field, value) in Values::new(fields, event.words, self.flavour.big_endian) {
            if wide && !self.one_line {
                // Right-justified in 26 columns, then a colon; longer names are not cut.
                out.text("\n");
                let blanks = 27_usize.saturating_sub(field.label.len());
                out.extend(std::iter::repeat_n(b' ', blanks));
            } else {
                out.text(" ");
            }
            out.text(field.label);
            self.value(value, out);
        }
    }

    fn value(&self, value: Value<'_>, out: &mut Vec<u8>) {
        let (big_endian, padded) = (self.flavour.big_endian, self.style == Style::V7);
        printed_value(out, value, Manner { big_endian, padded, line_ends: true });
    }

    /// The name of an event, or its number if it has none: `UNKNOWN/300`.
    fn name(&self, event: &Event<'_>) -> String {
        match event_name(self.flavour.version, event) {
            crate::qnx::UNKNOWN => format!("{}/{}", crate::qnx::UNKNOWN, event.event),
            name => name.to_owned(),
        }
    }

    /// `MSG_SENDV/11`. The exit of one call has a shorter name in 1.02.
    fn call(&self, event: &Event<'_>) -> String {
        let name = match event_name(self.flavour.version, event) {
            "SYNC_CONDVAR_SIGNAL" if event.class == Class::KerExit => "SYNC_CONDVAR_SIG",
            name => name,
        };
        match event.class {
            Class::IntCall => format!("KER_{name}/{}", event.event),
            _ => format!("{name}/{:02}", event.event),
        }
    }

    /// The sigevent that a handler of an interrupt returned.
    fn sigevent(&self, event: &Event<'_>, out: &mut Vec<u8>) {
        out.text(" SIGEVENT:");
        let words = event.words.get(1..).unwrap_or_default();
        self.value(Value::SigEvent(words), out);
    }

    /// `0x0000001b (27)`.
    fn interrupt(number: u32, out: &mut Vec<u8>) {
        hex08(out, number);
        out.text(" (");
        dec(out, i64::from(number as i32));
        out.text(")");
    }

    /// The string that a user inserted, byte for byte, also if invalid; 1.02 never prints the last byte.
    fn user_string(&self, event: &Event<'_>, out: &mut Vec<u8>) {
        out.text(" STR:\"");
        let mut words = event.words.to_vec();
        if let Some(last) = words.last_mut() {
            *last &= if self.flavour.big_endian { 0xffff_ff00 } else { 0x00ff_ffff };
        }
        out.extend(c_string(&words, self.flavour.big_endian));
        out.text("\"");
    }
}
