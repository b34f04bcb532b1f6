//! Lines of traceprinter 7.0 and later: a format chosen by the user, a blank, the arguments. Not 1.02.

use super::Printer;
use super::format::Facts;
use crate::qnx::write::{Out as _, dec};
use crate::qnx::{Class, Event, printed_words};

impl Printer {
    /// Appends an event, without the line end.
    pub(super) fn v7(&self, event: &Event<'_>, out: &mut Vec<u8>) {
        let mut subtype = Vec::new();
        match event.class {
            Class::KerCall | Class::KerExit | Class::IntCall => subtype.text(&self.call(event)),
            Class::Thread | Class::VThread => {
                subtype.text(if event.class == Class::Thread { "TH" } else { "VTH" });
                subtype.text(&self.name(event));
            }
            Class::IntEnter | Class::IntExit | Class::HandlerExit => {
                Self::interrupt(event.word(0), &mut subtype)
            }
            Class::HandlerEnter => Self::interrupt(event.word(1), &mut subtype),
            Class::User => {
                subtype.text("EVENT:");
                dec(&mut subtype, i64::from(event.event));
            }
            _ => subtype.text(&self.name(event)),
        }
        let facts = Facts {
            cycles: event.cycles,
            cpu: event.cpu,
            event: event.record,
            cycles_per_sec: self.cycles_per_sec,
            class: if event.class == Class::User { "USREVENT" } else { event.class.as_str() },
            subtype: std::str::from_utf8(&subtype).unwrap_or_default(),
        };
        self.format.write(&facts, out);
        match event.class {
            Class::Control if event.event == 2 => {
                out.text(" sequence = ");
                dec(out, i64::from(event.word(0)));
                out.text(", num_events = ");
                dec(out, i64::from(event.word(1) as i32));
            }
            Class::Thread | Class::VThread => self.thread(event, out),
            Class::IntCall => {}
            Class::IntEnter | Class::IntExit | Class::HandlerEnter | Class::HandlerExit => {
                let mut line = Vec::new();
                self.interrupt_event(event, " ", &mut line);
                // The format has already printed the number.
                out.extend_from_slice(line.get(subtype.len()..).unwrap_or_default());
            }
            Class::User if event.words.len() > 2 => self.user_string(event, out),
            Class::User => {
                out.text(" ");
                printed_words(out, &[event.word(0), event.word(1)]);
            }
            _ => self.arguments(event, out),
        }
    }
}
