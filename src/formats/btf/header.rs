//! What the parameters and tables of a BTF file mean for later events: unit of time, numeric mode, facts
//! about the trace. Gets the lines in the order of the file; does not store them.

use super::LineKind;
use crate::btf::spec::Version;
use crate::diagnostics::Severity;
use crate::time::TimeScale;
use std::collections::HashMap;

/// The parameters that btfdb uses, in any spelling and case (BTF 1.0 to 2.3.0).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Keyword {
    /// `#version`
    Version,
    /// `#creator`
    Creator,
    /// `#creationDate`, also `#createDate`.
    CreationDate,
    /// `#timeScale`
    TimeScale,
    /// Ids of types as table rows: `#typeTable`, in BTF 1.0 `#entityType`.
    TypeTable,
    /// Ids of entities as table rows.
    EntityTable,
    /// Types of entities as table rows.
    EntityTypeTable,
    /// Id of a type, since BTF 2.2.
    TypeMapping,
    /// Id of an entity, since BTF 2.2.
    EntityMapping,
    /// Type of an entity, since BTF 2.2.
    EntityTypeMapping,
}

impl Keyword {
    /// The keyword of a parameter line and its value; `None` for keywords that btfdb does not use.
    pub fn split(line: &str) -> Option<(Self, &str)> {
        let text = line.trim().strip_prefix('#')?;
        let (word, value) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let keyword = match word.to_ascii_lowercase().as_str() {
            "version" => Self::Version,
            "creator" => Self::Creator,
            "creationdate" | "createdate" => Self::CreationDate,
            "timescale" => Self::TimeScale,
            "typetable" | "entitytype" => Self::TypeTable,
            "entitytable" => Self::EntityTable,
            "entitytypetable" => Self::EntityTypeTable,
            "typemapping" => Self::TypeMapping,
            "entitymapping" => Self::EntityMapping,
            "entitytypemapping" => Self::EntityTypeMapping,
            _ => return None,
        };
        Some((keyword, value.trim()))
    }
}

/// Parameters with which writers say that something is missing: FreeRTOS-BTF-Trace, `TRACE_FORMAT.md`, §7.
const LOSSES: [(&str, &str, &str); 3] = [
    ("ringoverflow", "ring-overflow", "the oldest events were overwritten"),
    ("truncated", "file-truncated", "the file ends before the trace"),
    ("taskTableOverflow", "task-table-overflow", "some tasks have no name of their own"),
];

/// The loss that a writer states in a parameter; one of another name, if it can only mean that.
fn stated_loss(line: &str) -> Option<HeaderFinding> {
    let text = line.trim().strip_prefix('#')?;
    let (word, value) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let (word, value) = (word.to_ascii_lowercase(), value.trim().to_ascii_lowercase());
    if matches!(value.as_str(), "false" | "no" | "off" | "0" | "none") {
        return None;
    }
    let known = LOSSES.iter().find(|(name, ..)| name.eq_ignore_ascii_case(&word));
    if let Some((_, code, what)) = known {
        return Some((Severity::Warning, code, format!("the writer says that {what}")));
    }
    let means_loss = ["overflow", "overrun", "truncat", "dropped", "lost"].iter().any(|w| word.contains(w));
    let message = || format!("the writer says that something is missing ({})", line.trim());
    means_loss.then(|| (Severity::Warning, "events-lost", message()))
}

/// The header after the lines so far.
#[derive(Debug, Clone, Default)]
pub struct Header {
    scale: Option<TimeScale>,
    /// Events have come before.
    has_events: bool,
    /// `#version`, the first one.
    pub version: Option<String>,
    /// `#creator`, the first one that is not empty.
    pub creator: Option<String>,
    /// `#creationDate`, the first one.
    pub created: Option<String>,
    types: HashMap<String, String>,
    entities: HashMap<String, String>,
    /// The table that rows belong to.
    table: Option<Keyword>,
}

/// Severity, code and message of a finding.
pub type HeaderFinding = (Severity, &'static str, String);

impl Header {
    /// The unit of the following times: nanoseconds by default (BTF 2.1.5, `#timeScale`).
    pub fn scale(&self) -> TimeScale {
        self.scale.unwrap_or(TimeScale::Ns)
    }

    /// Says that events come, which count in [`Header::scale`]: a default that only BTF 2.1.5 has.
    pub fn begin_events(&mut self) -> Option<HeaderFinding> {
        let are_first = !std::mem::replace(&mut self.has_events, true);
        let version = self.version.as_deref().filter(|_| are_first && self.scale.is_none())?;
        let has_no_default = Version::parse(version).is_some_and(|v| v > Version::V2_1_5);
        let message = || {
            format!(
                "no #timeScale, which BTF {version} wants (§2.2.6): times count in {} as in 2.1.5",
                self.scale()
            )
        };
        has_no_default.then(|| (Severity::Warning, "no-time-scale", message()))
    }

    /// True if the file assigns numbers to entities or types.
    pub fn has_ids(&self) -> bool {
        !(self.types.is_empty() && self.entities.is_empty())
    }

    /// The type of a number.
    pub fn type_of(&self, id: &str) -> Option<&str> {
        self.types.get(id).map(String::as_str)
    }

    /// The entity of a number.
    pub fn entity(&self, id: &str) -> Option<&str> {
        self.entities.get(id).map(String::as_str)
    }

    /// Numbers and names of all types.
    pub fn types(&self) -> impl Iterator<Item = (&str, &str)> {
        self.types.iter().map(|(id, name)| (id.as_str(), name.as_str()))
    }

    /// Numbers and names of all entities.
    pub fn entities(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entities.iter().map(|(id, name)| (id.as_str(), name.as_str()))
    }

    /// Adds a line that is not an event.
    pub fn line(&mut self, kind: LineKind, text: &str) -> Option<HeaderFinding> {
        match kind {
            LineKind::Parameter => self.parameter(text),
            LineKind::TableRow => self.row(text),
            LineKind::Comment | LineKind::Blank | LineKind::Rejected => None,
        }
    }

    fn parameter(&mut self, text: &str) -> Option<HeaderFinding> {
        let keyword = Keyword::split(text);
        self.table = keyword.map(|(k, _)| k);
        let Some((keyword, value)) = keyword else { return stated_loss(text) };
        let first = |slot: &mut Option<String>| {
            if slot.is_none() && !value.is_empty() {
                *slot = Some(value.to_owned());
            }
        };
        match keyword {
            Keyword::Version => {
                first(&mut self.version);
                let known = self.version.as_deref().filter(|v| *v != value);
                return known.map(|known| {
                    let message = format!("the file says version {known} and {value}");
                    (Severity::Info, "another-version", message)
                });
            }
            Keyword::Creator => first(&mut self.creator),
            Keyword::CreationDate => first(&mut self.created),
            Keyword::TimeScale => return self.time_scale(value),
            Keyword::TypeMapping | Keyword::EntityMapping => return self.mapping(keyword, value, text),
            Keyword::TypeTable
            | Keyword::EntityTable
            | Keyword::EntityTypeTable
            | Keyword::EntityTypeMapping => {}
        }
        None
    }

    fn time_scale(&mut self, value: &str) -> Option<HeaderFinding> {
        let Some(scale) = TimeScale::parse(&value.to_ascii_lowercase()) else {
            let message =
                format!("'{value}' is no unit of time (ps, ns, us, ms, s); times count in {}", self.scale());
            return Some((Severity::Error, "unknown-time-scale", message));
        };
        let known = self.scale.replace(scale);
        // Without the parameter, events count in nanoseconds, and these may have been meant otherwise.
        let before = known.or_else(|| self.has_events.then_some(TimeScale::Ns)).filter(|b| *b != scale)?;
        let why = if known.is_none() { ", because no #timeScale stands before the first event" } else { "" };
        let message = format!("times count in {scale} from here on, before in {before}{why}");
        Some((Severity::Warning, "another-time-scale", message))
    }

    /// `#-3 Task_1ms`. Rows of entities and types without a number (`#-T Task_1ms`) have nothing to look up.
    fn row(&mut self, text: &str) -> Option<HeaderFinding> {
        let table = match self.table {
            Some(k @ (Keyword::TypeTable | Keyword::EntityTable)) => k,
            Some(Keyword::EntityTypeTable) => return None,
            _ => {
                let message = "a row of a table that was not opened".to_owned();
                return Some((Severity::Warning, "row-without-table", message));
            }
        };
        self.mapping(table, text.trim().trim_start_matches("#-"), text)
    }

    fn mapping(&mut self, keyword: Keyword, value: &str, text: &str) -> Option<HeaderFinding> {
        let types = matches!(keyword, Keyword::TypeTable | Keyword::TypeMapping);
        let Some((id, name)) =
            value.split_once(char::is_whitespace).map(|(id, name)| (id.trim(), name.trim()))
        else {
            let message = format!("'{}' gives no number to a name", text.trim());
            return Some((Severity::Info, "row-without-id", message));
        };
        let map = if types { &mut self.types } else { &mut self.entities };
        let before = map.insert(id.to_owned(), name.to_owned()).filter(|b| b != name)?;
        Some((
            Severity::Warning,
            "id-given-twice",
            format!("the number {id} was '{before}', and is '{name}' now"),
        ))
    }
}
