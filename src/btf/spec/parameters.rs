//! The parameters of the header, by version. Not their values in a file.

use super::Versions;

/// What follows a parameter's keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The number of a version.
    Version,
    /// One of [`TIME_SCALES`].
    TimeScale,
    /// A date and time.
    Date,
    /// Any text.
    Text,
    /// A table of type ids.
    Types,
    /// A table of entity ids.
    Entities,
    /// A table of the types of entities.
    EntityTypes,
}

impl Form {
    /// True for tables and mappings, which may stand anywhere and have many rows.
    pub fn is_table(self) -> bool {
        matches!(self, Self::Types | Self::Entities | Self::EntityTypes)
    }
}

/// One row of [`PARAMETERS`].
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// The spellings that specifications use, the defined one first.
    pub words: &'static [&'static str],
    /// What follows.
    pub form: Form,
    /// Versions that have it.
    pub versions: Versions,
    /// True if the value is in the line itself (`#typeMapping 0 T`); false for tables, whose rows follow
    /// (`#-0 T`).
    pub row_in_line: bool,
}

const fn row(words: &'static [&'static str], form: Form, versions: Versions) -> Parameter {
    Parameter { words, form, versions, row_in_line: true }
}

const fn table(words: &'static [&'static str], form: Form) -> Parameter {
    Parameter { words, form, versions: Versions::OLD, row_in_line: false }
}

/// The time scales, coarsest last.
pub const TIME_SCALES: &[&str] = &["ps", "ns", "us", "ms", "s"];

/// The parameters (2.1.5: §2.1 table 1; since 2.2.0: §2.2.1 to §2.2.7). `entityType` is the type table of
/// 1.0, which is still written. Both specifications have two spellings of the time scale, 2.1.5 also of the
/// creation date.
pub const PARAMETERS: &[Parameter] = &[
    row(&["version"], Form::Version, Versions::ALL),
    row(&["creator"], Form::Text, Versions::ALL),
    row(&["creationDate", "creationdate"], Form::Date, Versions::ALL),
    row(&["inputFile"], Form::Text, Versions::OLD),
    row(&["timescale", "timeScale"], Form::TimeScale, Versions::ALL),
    table(&["typeTable", "entityType"], Form::Types),
    table(&["entityTable"], Form::Entities),
    table(&["entityTypeTable"], Form::EntityTypes),
    row(&["typeMapping"], Form::Types, Versions::NEW),
    row(&["entityMapping"], Form::Entities, Versions::NEW),
    row(&["entityTypeMapping"], Form::EntityTypes, Versions::NEW),
];

impl Parameter {
    /// The parameter with this keyword, in exactly a spelling of a specification.
    pub fn find(word: &str) -> Option<&'static Self> {
        PARAMETERS.iter().find(|parameter| parameter.words.contains(&word))
    }

    /// The parameter with this keyword in any case.
    pub fn find_any_case(word: &str) -> Option<&'static Self> {
        let same =
            |parameter: &&Self| parameter.words.iter().any(|spelling| spelling.eq_ignore_ascii_case(word));
        PARAMETERS.iter().find(same)
    }
}
