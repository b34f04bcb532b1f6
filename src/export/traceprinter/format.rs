//! The format of traceprinter's `-p`: literal text and conversions with the flags of `printf`. Not the
//! arguments of events, which follow it.

use crate::error::{Error, Result};
use crate::qnx::write::Out as _;

/// What a conversion shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Cycles,
    Cpu,
    Event,
    Time,
    Class,
    Subtype,
}

/// How much of it to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precision {
    /// Numbers: minimum number of digits. Text: maximum number of letters, from the start.
    First(usize),
    /// Maximum number of letters, from the end.
    Last(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Conversion {
        what: Value,
        left: bool,
        zero: bool,
        sign: &'static str,
        alternate: bool,
        width: usize,
        precision: Option<Precision>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Format(Vec<Part>);

/// The values of an event that conversions can show.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts<'a> {
    pub cycles: u64,
    pub cpu: u8,
    pub event: u64,
    pub cycles_per_sec: u64,
    pub class: &'a str,
    pub subtype: &'a str,
}

/// Maximum width of a listing.
const MAX_WIDTH: usize = 1000;

impl Format {
    pub(super) fn parse(format: &str) -> Result<Self> {
        let bad = |what: String| {
            Error::usage(format!("format '{format}': {what}"))
                .hint("conversions are %c %C %e %t %Z %z %%, with flags, width and precision as in printf")
        };
        let (mut parts, mut text, mut rest) = (Vec::new(), String::new(), format);
        while let Some((before, after)) = rest.split_once('%') {
            text.push_str(before);
            if let Some(after) = after.strip_prefix('%') {
                text.push('%');
                rest = after;
                continue;
            }
            let end = after.find(|c: char| c.is_ascii_alphabetic());
            let end = end.ok_or_else(|| bad(format!("'%{after}' has no conversion")))?;
            let (options, conversion) = after.split_at(end);
            let mut letters = conversion.chars();
            let what = match letters.next() {
                Some('c') => Value::Cycles,
                Some('C') => Value::Cpu,
                Some('e') => Value::Event,
                Some('t') => Value::Time,
                Some('Z') => Value::Class,
                Some('z') => Value::Subtype,
                other => return Err(bad(format!("there is no conversion '%{}'", other.unwrap_or(' ')))),
            };
            rest = letters.as_str();
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            let part = conversion_part(what, options);
            parts.push(part.ok_or_else(|| bad(format!("'%{options}' are no flags, width and precision")))?);
        }
        text.push_str(rest);
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Ok(Self(parts))
    }

    pub(super) fn has_time(&self) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Conversion { what: Value::Time, .. }))
    }

    pub(super) fn write(&self, facts: &Facts<'_>, out: &mut Vec<u8>) {
        for part in &self.0 {
            match part {
                Part::Text(text) => out.text(text),
                Part::Conversion { what, left, zero, sign, alternate, width, precision } => {
                    let text = facts.show(*what, *alternate, sign, *precision);
                    let blanks = width.saturating_sub(text.len());
                    let number = matches!(what, Value::Cycles | Value::Cpu | Value::Event);
                    // As in C: no zeros if the precision gives the number of digits.
                    let zero = *zero && number && !left && !matches!(precision, Some(Precision::First(_)));
                    if *left {
                        out.text(&text);
                        out.extend(std::iter::repeat_n(b' ', blanks));
                    } else {
                        out.extend(std::iter::repeat_n(if zero { b'0' } else { b' ' }, blanks));
                        out.text(&text);
                    }
                }
            }
        }
    }
}

fn conversion_part(what: Value, options: &str) -> Option<Part> {
    let flags_end = options.find(|c| !"-0+ #".contains(c)).unwrap_or(options.len());
    let (flags, rest) = options.split_at(flags_end);
    let (width, precision) = match rest.split_once('.') {
        None => (rest, None),
        Some((width, precision)) => (width, Some(precision)),
    };
    let number = |text: &str| match text {
        "" => Some(0),
        digits if digits.bytes().all(|b| b.is_ascii_digit()) => {
            digits.parse().ok().filter(|n| *n <= MAX_WIDTH)
        }
        _ => None,
    };
    let precision = match precision {
        None => None,
        Some(text) => Some(match text.strip_prefix('-') {
            Some(last) => Precision::Last(number(last)?),
            None => Precision::First(number(text)?),
        }),
    };
    let sign = if flags.contains('+') {
        "+"
    } else if flags.contains(' ') {
        " "
    } else {
        ""
    };
    Some(Part::Conversion {
        what,
        left: flags.contains('-'),
        zero: flags.contains('0'),
        sign,
        alternate: flags.contains('#'),
        width: number(width)?,
        precision,
    })
}

impl Facts<'_> {
    fn show(&self, what: Value, alternate: bool, sign: &str, precision: Option<Precision>) -> String {
        let digits = match precision {
            Some(Precision::First(digits)) => digits.max(1),
            _ => 1,
        };
        let (text, number) = match what {
            Value::Cycles if alternate && self.cycles != 0 => (format!("0x{:0digits$x}", self.cycles), true),
            Value::Cycles => (format!("{:0digits$x}", self.cycles), true),
            Value::Cpu => (format!("{sign}{:0digits$}", self.cpu), true),
            Value::Event => (format!("{sign}{:0digits$}", self.event), true),
            Value::Time => (self.time(), false),
            Value::Class => (self.class.to_owned(), false),
            Value::Subtype => (self.subtype.to_owned(), false),
        };
        match precision {
            // The texts are ASCII, so that any byte can be cut at; other texts stay whole.
            Some(Precision::First(most)) if !number => text.get(..most).map(str::to_owned).unwrap_or(text),
            Some(Precision::Last(most)) => {
                text.get(text.len().saturating_sub(most)..).map(str::to_owned).unwrap_or(text)
            }
            _ => text,
        }
    }

    /// `s.mmm.uuuus`, truncated to whole microseconds.
    fn time(&self) -> String {
        let per_sec = u128::from(self.cycles_per_sec.max(1));
        let micros = u128::from(self.cycles) * 1_000_000 / per_sec;
        let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
        format!("{seconds}.{:03}.{:03}us", rest / 1000, rest % 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(format: &str) -> String {
        let facts = Facts {
            cycles: 0x1_4be9_a514,
            cpu: 1,
            event: 10,
            cycles_per_sec: 1_000_000,
            class: "SYSTEM",
            subtype: "PATHMGR_OPEN",
        };
        let mut out = Vec::new();
        Format::parse(format).unwrap().write(&facts, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn conversions_follow_printf() {
        assert_eq!(shown("%%|%c|%C|%e|%t|%Z|%z|"), "%|14be9a514|1|10|5568.570.644us|SYSTEM|PATHMGR_OPEN|");
        assert_eq!(shown("%02C %06e %6e %-6e| %+d".trim_end_matches(" %+d")), "01 000010     10 10    |");
        assert_eq!(shown("0x%012c %#c"), "0x00014be9a514 0x14be9a514");
        assert_eq!(shown("%-16Z:%-18z|"), "SYSTEM          :PATHMGR_OPEN      |");
        assert_eq!(shown("%10Z|%+C|% C|%.4e|%08.4e"), "    SYSTEM|+1| 1|0010|    0010");
        assert_eq!(shown("%020t"), "      5568.570.644us");
    }

    #[test]
    fn precision_cuts_behind_or_before() {
        assert_eq!(shown("%.3Z|%.-3Z|%5.-3z|%.-8c|%.-99z"), "SYS|TEM|  PEN|4be9a514|PATHMGR_OPEN");
    }

    #[test]
    fn formats_that_make_no_sense_are_refused() {
        for bad in ["%", "%d", "a%5", "%5.5.5c", "%99999999999c", "%--5q", "%5x", "%*c", "%.--3Z"] {
            assert!(Format::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(shown(""), "");
    }
}
