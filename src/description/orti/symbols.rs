//! Address tables: the symbol at an address, for traced values that are handler addresses. Reads `nm` output
//! and hand-written tables; not object files.

use super::findings::{Finding, Findings};
use crate::diagnostics::{Severity, excerpt};
use crate::encoding::decoded;

/// Symbols with their addresses, in file order.
#[derive(Debug, Clone, Default)]
pub struct Symbols(Vec<(u64, String)>);

impl Symbols {
    /// Reads one symbol per line: `0x401CA7<TAB>name`, `nm` and `nm -S` output (`00401ca7 T name`), or
    /// `name = 0x401CA7`. `#` begins a comment. Undefined symbols of `nm` are skipped.
    pub fn parse(bytes: &[u8]) -> (Symbols, Vec<Finding>) {
        let mut symbols = Self::default();
        let mut findings = Findings::default();
        for (n, line) in decoded(bytes).lines().enumerate() {
            let text = line.split('#').next().unwrap_or_default().trim();
            match entry(text) {
                Line::Symbol(address, name) => symbols.0.push((address, name.to_owned())),
                Line::Nothing => {}
                Line::Unknown => {
                    let place = (u32::try_from(n + 1).unwrap_or(u32::MAX), 1);
                    let message = format!("'{}' is no address and name", excerpt(text.as_bytes()));
                    findings.push(place, Severity::Warning, "unknown-symbol-line", message);
                }
            }
        }
        (symbols, findings.finish())
    }

    /// All symbols, in file order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        self.0.iter().map(|(address, name)| (*address, name.as_str()))
    }
}

enum Line<'a> {
    Symbol(u64, &'a str),
    Nothing,
    Unknown,
}

fn entry(text: &str) -> Line<'_> {
    if let Some((name, value)) = text.split_once('=')
        && let Some(address) = prefixed(value.trim().trim_end_matches(';'))
    {
        let name = name.trim();
        return if name.is_empty() { Line::Unknown } else { Line::Symbol(address, name) };
    }
    let (first, rest) = word(text);
    let (second, after) = word(rest);
    let letter = |text: &str| text.len() == 1 && text.chars().all(|c| c.is_ascii_alphabetic() || c == '?');
    match hex(first) {
        _ if first.is_empty() => Line::Nothing,
        // `nm` prints undefined symbols without an address, and a heading for each object file.
        _ if matches!(first, "U" | "w" | "v") && after.is_empty() => Line::Nothing,
        _ if first.ends_with(':') && rest.is_empty() => Line::Nothing,
        Some(address) if letter(second) && !after.is_empty() => Line::Symbol(address, after),
        Some(address) if hex(second).is_some() && letter(word(after).0) && !word(after).1.is_empty() => {
            Line::Symbol(address, word(after).1)
        }
        Some(address) if !second.is_empty() && after.is_empty() => Line::Symbol(address, second),
        _ => Line::Unknown,
    }
}

/// The first word, and the text after the blanks that follow it.
fn word(text: &str) -> (&str, &str) {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (first, rest.trim_start())
}

fn prefixed(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    if digits.starts_with('+') { None } else { u64::from_str_radix(digits, 16).ok() }
}

fn hex(text: &str) -> Option<u64> {
    let bare = || {
        if text.starts_with('+') { None } else { u64::from_str_radix(text, 16).ok() }
    };
    prefixed(text).or_else(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_shape_is_read() {
        let text = "# table\n0x401CA7\tplain\r\n0000000000401ca8 T nm_symbol\n                 U puts\n\
                    00401ca9 00000010 t sized\nassigned = 0x401CAA;\nname=0x1 # comment\n\
                    00401cab T f(int, char)\nfile.o:\n\nnot a symbol line\n0x401CAC\tplain\n0x401CA7 alias\n";
        let (symbols, findings) = Symbols::parse(text.as_bytes());
        let expected = [
            (0x401CA7, "plain"),
            (0x401CA8, "nm_symbol"),
            (0x401CA9, "sized"),
            (0x401CAA, "assigned"),
            (1, "name"),
            (0x401CAB, "f(int, char)"),
            (0x401CAC, "plain"),
            (0x401CA7, "alias"),
        ];
        assert_eq!(symbols.iter().collect::<Vec<_>>(), expected);
        assert_eq!(
            findings.iter().map(|f| (f.line, f.code)).collect::<Vec<_>>(),
            [(11, "unknown-symbol-line")]
        );
    }
}
