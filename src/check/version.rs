//! The version that a trace is checked against, and where the trace names it. Not the other parameters.

use super::Checker;
use super::header::Line;
use super::rules::Id;
use super::words::Words;
use crate::btf::spec::{Form, Parameter, Version};
use crate::diagnostics::excerpt;

/// Lines before the first event, held until the version is known: the lines before `#version` are checked
/// against the same version as those after it.
#[derive(Debug, Default)]
pub(super) struct Held {
    lines: Vec<(u64, String)>,
    bytes: usize,
}

impl Held {
    /// Maximum bytes of a header that decide on the version.
    const BYTES: usize = 1 << 20;

    /// Adds a line; returns false if there is no room for more.
    pub(super) fn push(&mut self, number: u64, text: &str) -> bool {
        self.lines.push((number, text.to_owned()));
        self.bytes += text.len();
        self.bytes < Self::BYTES
    }
}

impl Checker {
    /// Decides on the version and checks the held lines.
    pub(super) fn release(&mut self) {
        let Some(held) = self.held.take() else { return };
        // In files with two headers, one was probably pasted before the other, which belongs to the events.
        let named = held.lines.iter().rev().find_map(|(_, text)| text.rsplit('\r').find_map(version_in));
        if let Some((text, version)) = named {
            (self.version, self.named) = (version, Version::number(text));
            self.words = Words::new(version, self.named);
        }
        for (number, text) in held.lines {
            self.header_line(number, &text);
        }
    }

    pub(super) fn version_parameter(&mut self, line: Line<'_>, first: bool, value: &str) {
        let version = self.version;
        let text = excerpt(value.as_bytes());
        match Version::parse(value) {
            None if value.is_empty() => {}
            None => self.line_fault(Id::VersionUnknown, line, || format!("checked against {version}")),
            Some(named) if named != version => {
                self.line_fault(Id::VersionMismatch, line, || format!("checked against {version}"));
            }
            // 2.1.5 stands for all before it, 2.2.1 for 2.2.0: the differences are those of `FORMER_WORDS`.
            Some(_) if Version::number(value) != Version::number(version.as_str()) => {
                let message = || format!("{text} is judged by the rules of {version}");
                self.line_fault(Id::VersionMismatch, line, message);
            }
            Some(_) => {}
        }
        let again = std::mem::replace(&mut self.header.has_version, true);
        // §2.2.1: "the first entry". A blank line is not an entry, so one before it is accepted.
        if !first && !again && version != Version::V2_1_5 {
            self.line_fault(Id::VersionNotFirst, line, || "not the first line".to_owned());
        }
    }
}

/// The version that a line names, if it was published.
fn version_in(line: &str) -> Option<(&str, Version)> {
    let (word, value) = line.strip_prefix('#')?.split_once(char::is_whitespace)?;
    let is_version = Parameter::find_any_case(word)?.form == Form::Version;
    Version::parse(value).filter(|_| is_version).map(|version| (value, version))
}
