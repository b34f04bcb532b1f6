//! Lines of traceprinter 1.02. Not those of 7.0 and later.

use super::Printer;
use crate::qnx::layout::CREATE;
use crate::qnx::write::{Out as _, dec, dec_padded, hex_padded, hex08};
use crate::qnx::{Class, Event, printed_words};

impl Printer {
    /// Appends an event, without the line end.
    pub(super) fn v6(&self, event: &Event<'_>, out: &mut Vec<u8>) {
        out.text("t:");
        hex08(out, event.cycles as u32);
        out.text(" CPU:");
        dec_padded(out, u64::from(event.cpu), 2);
        out.text(" ");
        match event.class {
            Class::Control if event.event == 2 => {
                out.text("CONTROL: BUFFER sequence = ");
                dec(out, i64::from(event.word(0) & 0x7ff));
                out.text(", num_events = ");
                dec(out, i64::from(event.word(1) as i32));
            }
            Class::Thread if !matches!(event.event, 24 | 25) => {
                self.label(event, "TH", out);
                self.thread(event, out);
            }
            Class::Thread => {
                self.label(event, "TH", out);
                let fields = if event.event == 24 { CREATE } else { &CREATE[..2] };
                self.fields(event, fields, event.words.len() > 2, out);
            }
            Class::VThread => {
                // States have the names of threads, except for these two.
                self.label(event, if matches!(event.event, 24 | 25) { "VTH" } else { "TH" }, out);
                self.fields(event, &CREATE[..2], event.words.len() > 2, out);
            }
            Class::KerCall | Class::KerExit => {
                out.text(event.class.as_str());
                out.text(":");
                out.text(&self.call(event));
                self.arguments(event, out);
            }
            Class::IntCall => {
                out.text("INT_CALL:");
                out.text(&self.call(event));
            }
            Class::IntEnter | Class::IntExit | Class::HandlerEnter | Class::HandlerExit => {
                out.text(event.class.as_str());
                out.text(":");
                self.interrupt_event(event, "       ", out);
            }
            Class::User => {
                out.text("USREVENT:EVENT:");
                dec(out, i64::from(event.event));
                if event.words.len() > 2 {
                    self.user_string(event, out);
                } else {
                    out.text(", ");
                    printed_words(out, &[event.word(0), event.word(1)]);
                }
            }
            Class::System if event.event == 3 => {
                // 1.02 always treats the name of a partition as wide.
                self.label(event, "", out);
                let fields = crate::qnx::fields(self.flavour.version, event).unwrap_or_default();
                self.fields(event, fields, true, out);
            }
            _ => {
                self.label(event, "", out);
                self.arguments(event, out);
            }
        }
    }

    /// `THREAD  :THRUNNING    `: class and name, padded.
    fn label(&self, event: &Event<'_>, prefix: &str, out: &mut Vec<u8>) {
        let width = crate::qnx::entry(self.flavour.version, event.class, event.event).map_or(0, |e| e.width);
        let name = format!("{prefix}{}", self.name(event));
        out.text(&format!("{:<8}:{name:<width$}", event.class.as_str()));
    }

    /// The words of a state, on one line in any mode; a blank follows the thread.
    pub(super) fn thread(&self, event: &Event<'_>, out: &mut Vec<u8>) {
        out.text(" pid:");
        dec(out, i64::from(event.word(0) as i32));
        out.text(" tid:");
        dec(out, i64::from(event.word(1) as i32));
        out.text(" ");
        if event.words.len() > 2 {
            out.text("priority:");
            dec(out, i64::from(event.word(2) as i32));
            out.text(" policy:");
            dec(out, i64::from(event.word(3) as i32));
        }
        if event.words.len() > 4 {
            out.text(" partition:");
            dec(out, i64::from(event.word(4) as i32));
        }
        if event.words.len() > 5 {
            out.text(" sched_flags:");
            hex08(out, event.word(5));
        }
    }

    /// The part after the class of an interrupt. `gap`: blanks before the part that differs.
    pub(super) fn interrupt_event(&self, event: &Event<'_>, gap: &str, out: &mut Vec<u8>) {
        let number = if event.class == Class::HandlerEnter { event.word(1) } else { event.word(0) };
        Self::interrupt(number, out);
        match event.class {
            Class::IntEnter => {
                out.text(gap);
                out.text("IP:");
                // The layout for 64 bits has a word of padding.
                self.address(event, if event.is64 { 2 } else { 1 }, out);
            }
            Class::HandlerEnter => {
                out.text(gap);
                out.text("PID:");
                dec(out, i64::from(event.word(0) as i32));
                out.text(" IP:");
                self.address(event, 2, out);
                out.text(" AREA:");
                self.address(event, if event.is64 { 4 } else { 3 }, out);
            }
            Class::HandlerExit => self.sigevent(event, out),
            _ => {
                out.text(" inkernel:");
                hex08(out, event.word(1));
            }
        }
    }

    /// The address whose first word is number `n`: eight digits, or sixteen in the layout for 64 bits.
    fn address(&self, event: &Event<'_>, n: usize, out: &mut Vec<u8>) {
        if !event.is64 {
            return hex08(out, event.word(n));
        }
        let (first, second) = (u64::from(event.word(n)), u64::from(event.word(n + 1)));
        let (low, high) = if self.flavour.big_endian { (second, first) } else { (first, second) };
        out.text("0x");
        hex_padded(out, high << 32 | low, 16);
    }
}
