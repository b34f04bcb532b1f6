//! The lines that are not events: parameters, tables, comments. Not how a reader uses the parameters.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Checker;
use super::entities::{NameFit, is_damaged};
use super::report::{NOT_UTF8, Occurrence};
use super::rules::Id;
use super::words::Words;
use crate::btf::spec::{EntityType, Form, Parameter, TIME_SCALES, Version};
use crate::btf::{Fields, Place, Unreadable, date};
use crate::diagnostics::excerpt;

/// The header so far.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// True once any line, not blank, was seen.
    started: bool,
    pub(super) has_version: bool,
    has_time_scale: bool,
    /// Parameters seen, by their first spelling.
    seen: Vec<&'static str>,
    /// The table that rows belong to.
    table: Option<Form>,
    /// Type ids of numeric mode.
    pub(super) types: HashMap<String, String>,
    /// Entity ids of numeric mode.
    pub(super) entities: HashMap<String, String>,
    /// Types that a table defines.
    type_names: Vec<String>,
}

impl Header {
    /// Notes an event: a version after it is not on the first line.
    pub(super) fn event(&mut self) {
        self.started = true;
    }
}

#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) number: u64,
    pub(super) text: &'a str,
}

impl Checker {
    pub(super) fn header_line(&mut self, number: u64, text: &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_end();
        if text.trim_start().is_empty() {
            return;
        }
        let line = Line { number, text };
        if is_damaged(text) {
            self.line_fault(Id::NotUtf8, line, || NOT_UTF8.to_owned());
        }
        if text.contains('\r') {
            return self.lines_in_one(line);
        }
        let first = !std::mem::replace(&mut self.header.started, true);
        let Some(rest) = text.strip_prefix('#') else {
            return self.line_fault(Id::UnreadableLine, line, || why_unreadable(text));
        };
        if let Some(row) = rest.strip_prefix('-') {
            match self.header.table {
                Some(form) => self.table_row(form, line, row),
                None => self.line_fault(Id::TableRowAlone, line, || "no table before it".to_owned()),
            }
        } else if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            let (word, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            self.parameter(line, first, word, value.trim());
        }
    }

    /// A file with carriage returns as its only line ends is one line to a reader. Its parameters are read
    /// anyway, so that one cause is reported once.
    fn lines_in_one(&mut self, line: Line<'_>) {
        self.header.started |= !line.text.starts_with('#');
        for part in line.text.split('\r').filter(|part| part.starts_with('#')) {
            self.header_line(line.number, part);
        }
        self.line_fault(Id::UnreadableLine, line, || {
            "carriage returns inside the line: a line ends with a line feed".to_owned()
        });
    }

    pub(super) fn header_end(&mut self) {
        let missing = |message: &str| Occurrence {
            place: Place { seq: 0, line: None },
            time: None,
            message: message.to_owned(),
            text: String::new(),
        };
        if !self.header.has_version {
            self.findings.add(Id::VersionMissing, || missing("the file has no #version"));
        }
        if !self.header.has_time_scale && self.version != Version::V2_1_5 {
            self.findings.add(Id::TimescaleMissing, || missing("the file has no #timescale"));
        }
    }

    fn parameter(&mut self, line: Line<'_>, first: bool, word: &str, value: &str) {
        let exact = Parameter::find(word);
        let Some(parameter) = exact.or_else(|| Parameter::find_any_case(word)) else {
            self.header.table = None;
            self.line_fault(Id::UnknownParameter, line, || {
                format!("parameter '{}'", excerpt(word.as_bytes()))
            });
            return self.findings.word(Id::UnknownParameter, &[word]);
        };
        let name = parameter.words.first().copied().unwrap_or("");
        if parameter.form == Form::Version {
            self.version_parameter(line, first, value);
        }
        if exact.is_none() {
            self.line_fault(Id::ParameterSpelling, line, || format!("it is spelled #{name}"));
        }
        if word == "timeScale" && self.version != Version::V2_1_5 {
            self.line_fault(Id::TimescaleSpelling, line, || format!("it is defined as #{name}"));
        }
        if !parameter.versions.has(self.version) {
            let version = self.version;
            self.line_fault(Id::ParameterOfOtherVersion, line, || format!("#{name} is not in BTF {version}"));
            self.findings.word(Id::ParameterOfOtherVersion, &[word]);
        }
        self.header.table = (parameter.form.is_table() && !parameter.row_in_line).then_some(parameter.form);
        if parameter.form.is_table() {
            if parameter.row_in_line {
                self.table_row(parameter.form, line, value);
            }
            return;
        }
        if self.header.seen.contains(&name) {
            self.line_fault(Id::ParameterRepeated, line, || format!("#{name} stands before"));
        } else {
            self.header.seen.push(name);
        }
        if self.events > 0 {
            let events = self.events;
            self.line_fault(Id::ParameterLate, line, || format!("#{name} after {events} events"));
        }
        if value.is_empty() {
            return self.line_fault(Id::ParameterEmpty, line, || format!("#{name} says nothing"));
        }
        match parameter.form {
            Form::TimeScale => {
                self.header.has_time_scale = true;
                if !TIME_SCALES.contains(&value) {
                    let scales = TIME_SCALES.join(", ");
                    self.line_fault(Id::TimescaleUnit, line, || format!("none of {scales}"));
                }
            }
            Form::Date if !date::is_iso(value) => {
                self.line_fault(Id::CreationDateFormat, line, || "not YYYY-MM-DDTHH:MM:SSZ".to_owned());
            }
            Form::Date if !value.ends_with('Z') => {
                self.line_fault(Id::CreationDateNotUtc, line, || "no Z at the end".to_owned());
            }
            _ => {}
        }
    }

    fn table_row(&mut self, form: Form, line: Line<'_>, row: &str) {
        let Some((left, name)) = row.split_once(char::is_whitespace).map(|(l, n)| (l, n.trim())) else {
            return self.line_fault(Id::TableSyntax, line, || "no name".to_owned());
        };
        match form {
            Form::Types | Form::Entities if left.parse::<u64>().is_err() => {
                self.line_fault(Id::TableSyntax, line, || "the id is no number".to_owned());
            }
            Form::Types => {
                let (kind, fault) = self.words.kind_of(name);
                if let Some(fault) = fault {
                    self.line_fault(fault, line, || format!("type '{}'", excerpt(name.as_bytes())));
                    self.findings.word(fault, &[name]);
                }
                if kind.is_some_and(|kind| self.kinds.has(kind)) {
                    self.mapping_late(line);
                }
                self.header.type_names.push(name.to_owned());
                if self.header.types.insert(left.to_owned(), name.to_owned()).is_some() {
                    self.line_fault(Id::TableIdRepeated, line, || format!("id {left} is taken"));
                }
                self.words = Words::new(self.version, self.named);
            }
            Form::Entities => {
                if [left, name].iter().any(|text| self.entities.find(text).is_some_and(|e| e.is_target)) {
                    self.mapping_late(line);
                }
                if self.header.entities.insert(left.to_owned(), name.to_owned()).is_some() {
                    self.line_fault(Id::TableIdRepeated, line, || format!("id {left} is taken"));
                }
            }
            _ => self.entity_type_row(line, left, name),
        }
    }

    /// `T Task_1ms`, and since 2.2.0 with ids on either side.
    fn entity_type_row(&mut self, line: Line<'_>, kind: &str, entity: &str) {
        let old = self.version == Version::V2_1_5;
        let is_id = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let by_id = (!old && is_id(kind)).then(|| self.header.types.get(kind)).flatten();
        let kind_defined = by_id.is_some()
            || if old { self.header.type_names.iter().any(|name| name == kind) } else { !is_id(kind) };
        let kind = by_id.map_or(kind, String::as_str).to_owned();
        let name = (!old && is_id(entity)).then(|| self.header.entities.get(entity).cloned()).flatten();
        let entity_defined = name.is_some()
            || if old { self.header.entities.values().any(|name| name == entity) } else { !is_id(entity) };
        if !(kind_defined && entity_defined) {
            self.line_fault(Id::TableReference, line, || "not defined in a table before".to_owned());
        }
        let Some(kind) =
            EntityType::of_version(self.version, &kind).or_else(|| EntityType::parse_tolerant(&kind))
        else {
            return;
        };
        let names: Vec<String> = name.into_iter().chain([entity.to_owned()]).collect();
        if names.iter().any(|name| self.entities.find(name).is_some_and(|e| e.is_target)) {
            self.mapping_late(line);
        }
        for name in names {
            self.declare(line, &name, kind);
        }
    }

    fn declare(&mut self, line: Line<'_>, name: &str, kind: EntityType) {
        let id = self.entities.intern(name);
        match self.entities.is(id, kind) {
            NameFit::Fits => {}
            NameFit::Is(other) => self.line_fault(Id::NameOfTwoTypes, line, || {
                format!("'{}' is {} and {}", excerpt(name.as_bytes()), other, kind)
            }),
            NameFit::Acted => self.line_fault(Id::SourceKind, line, || {
                format!("'{}' caused events that {} does not", excerpt(name.as_bytes()), kind)
            }),
        }
    }

    fn mapping_late(&mut self, line: Line<'_>) {
        // 2.1.5 has its tables in the header and does not mention later ones.
        if self.version != Version::V2_1_5 {
            self.line_fault(Id::MappingLate, line, || "after its first event".to_owned());
        }
    }

    pub(super) fn line_fault(&mut self, rule: Id, line: Line<'_>, message: impl FnOnce() -> String) {
        let seq = i64::try_from(self.events).unwrap_or(i64::MAX);
        self.findings.add(rule, || Occurrence {
            place: Place { seq, line: Some(line.number) },
            time: None,
            message: message(),
            text: excerpt(line.text.as_bytes()),
        });
    }
}

/// Readers keep an excerpt of a line that is too long, with its control characters escaped. If it is a header
/// with carriage returns as its only line ends, this returns the lines that are complete.
pub(super) fn uncut(text: &str) -> Cow<'_, str> {
    if text.starts_with('#')
        && let Some(text) = text.strip_suffix('…')
        && text.contains("\\r")
    {
        let lines = text.replace("\\r", "\r");
        if let Some((whole, _)) = lines.rsplit_once('\r').filter(|_| lines.chars().count() == 120) {
            return Cow::Owned(format!("{whole}\r…"));
        }
    }
    Cow::Borrowed(text)
}

/// Why a line is not an event, found out from the stored text, which is an excerpt of long lines.
fn why_unreadable(text: &str) -> String {
    let whole = text.strip_suffix('…').unwrap_or(text);
    let cut = whole.len() < text.len();
    match Fields::split(whole.as_bytes()) {
        Err(Unreadable::FieldCount(_)) if cut => "too long, and no event as far as it goes".to_owned(),
        Err(why) => why.to_string(),
        Ok(_) if cut => Unreadable::TooLong.to_string(),
        Ok(_) => "no event".to_owned(),
    }
}
