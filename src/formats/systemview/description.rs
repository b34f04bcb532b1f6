//! What the events of an RTOS and of modules are called and what they hold: the lines of a
//! `SYSVIEW_<OS>.txt`, and the descriptions that a target sends of its modules. Not the events that every
//! recorder has (see `known`).

use super::known::Kind;
use std::collections::BTreeMap;

/// An event that is described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Described {
    pub name: String,
    pub parameters: Vec<(String, Kind)>,
}

/// The events that are described, by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Descriptions(BTreeMap<u32, Described>);

impl Descriptions {
    /// Adds the lines of a description file; returns the numbers of those that were not understood, from 1.
    /// Lines about other things than events (`NamedType`, `TaskState`, `Option`, comments) say nothing here.
    pub fn add_file(&mut self, text: &str) -> Vec<u64> {
        let mut misread = Vec::new();
        for (n, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            match event(line) {
                Some((id, event)) => drop(self.0.insert(id, event)),
                None => misread.push(n as u64 + 1),
            }
        }
        misread
    }

    /// Adds the events of a module, whose numbers begin at `first`: `M=Name,0 Alloc size=%u,1 Free`.
    pub fn add_module(&mut self, text: &str, first: u32) {
        for part in text.split(',') {
            if let Some((number, event)) = event(part.trim())
                && let Some(id) = first.checked_add(number)
            {
                self.0.insert(id, event);
            }
        }
    }

    pub(super) fn get(&self, id: u32) -> Option<&Described> {
        self.0.get(&id)
    }
}

/// `34 vTaskDelay xTicksToDelay=%u | Returns %u`: a number, a name, and parameters with what they are. What
/// stands behind the bar is about the end of a call.
fn event(line: &str) -> Option<(u32, Described)> {
    let line = line.split('|').next().unwrap_or_default();
    let mut words = line.split_whitespace();
    let number = words.next()?;
    let id = match number.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    let name = words.next()?.to_owned();
    let parameters = words.filter_map(|word| {
        let (name, what) = word.split_once('=')?;
        let kind = match what {
            "%s" => Kind::Text,
            "%d" => Kind::Signed,
            _ => Kind::Unsigned,
        };
        Some((name.to_owned(), kind))
    });
    Some((id, Described { name, parameters: parameters.collect() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(descriptions: &Descriptions) -> Vec<String> {
        let event = |(id, event): (&u32, &Described)| format!("{id} {} {:?}", event.name, event.parameters);
        descriptions.0.iter().map(event).collect()
    }

    #[test]
    fn lines_of_a_file() {
        let mut descriptions = Descriptions::default();
        let text = "# FreeRTOS\nNamedType Bool 0=false 1=true\n34\tvTaskDelay  xTicksToDelay=%u\n\n35 vTaskDelayUntil\n\
                    0x24 Trace a=%s b=%d c=%Bool | Returns %u\n36\n99999999999 no\n";
        assert_eq!(descriptions.add_file(text), [7, 8]);
        let expected = [
            r#"34 vTaskDelay [("xTicksToDelay", Unsigned)]"#,
            "35 vTaskDelayUntil []",
            r#"36 Trace [("a", Text), ("b", Signed), ("c", Unsigned)]"#,
        ];
        assert_eq!(shown(&descriptions), expected);
    }

    #[test]
    fn modules_count_from_their_first_event() {
        let mut descriptions = Descriptions::default();
        descriptions.add_module("M=Heap, S=a test,0 Alloc size=%u, 1 Free", 512);
        descriptions.add_module("2 Other", 512);
        descriptions.add_module("1 Late", u32::MAX);
        let expected = [r#"512 Alloc [("size", Unsigned)]"#, "513 Free []", "514 Other []"];
        assert_eq!(shown(&descriptions), expected);
    }
}
