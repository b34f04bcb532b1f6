//! What a table and a column are, and their Arrow schemas. Not the tables, which `schemas/*.toml` describe.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use super::column_type::{ColumnType, Encoding};

/// One column.
#[derive(Debug)]
pub struct ColumnSpec {
    /// Name in SQL.
    pub name: &'static str,
    /// What the values mean.
    pub ty: ColumnType,
    /// One or two sentences, with the unit.
    pub doc: &'static str,
    /// Why a value can be missing; `None` when none can.
    pub null: Option<&'static str>,
    /// Lives in the path of the file (`NAME=VALUE/`), not in the file.
    pub partition: bool,
    /// Encoding in the file.
    pub encoding: Encoding,
}

/// One table.
#[derive(Debug)]
pub struct TableSpec {
    /// Name in SQL and of the folder.
    pub name: &'static str,
    /// What a row is.
    pub doc: &'static str,
    /// All columns, partition columns first.
    pub columns: &'static [ColumnSpec],
    /// Columns (never null, `i64`) that the rows of every file are sorted by, ascending; empty for no such
    /// order.
    pub sort: &'static [&'static str],
    /// The order of the rows in words, where `sort` is empty.
    pub order: Option<&'static str>,
    /// Which names the footers of its files tell.
    pub occurrences: Option<Occurrences>,
}

/// Names that the footer of each file of a table tells: which occur together in a row, and when first and
/// last.
#[derive(Debug)]
pub struct Occurrences {
    /// Columns of names, never null.
    pub columns: [&'static str; 3],
    /// The column of times, by which files are sorted.
    pub time: &'static str,
    /// The column by which rows are left out.
    pub kind: &'static str,
    /// Rows with these values in it, exactly so spelled, are left out. Others count, so that a word that is
    /// not foreseen makes more of them. When this list changes, so must the key of the footer.
    pub kinds_without: &'static [&'static str],
}

impl ColumnType {
    /// One or two words for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Instant => "instant",
            Self::Duration => "duration",
            Self::Name => "name",
            Self::Text => "text",
            Self::Integer => "number",
            Self::Unsigned => "unsigned number",
            Self::Count => "count",
            Self::Flag => "flag",
            Self::Bytes => "bytes",
        }
    }

    /// The Arrow type as engines read it from a file: names are strings.
    fn plain(self) -> DataType {
        match self {
            Self::Instant | Self::Duration | Self::Integer | Self::Count | Self::Bytes => DataType::Int64,
            Self::Unsigned => DataType::UInt64,
            Self::Flag => DataType::Boolean,
            Self::Name | Self::Text => DataType::Utf8,
        }
    }

    /// The Arrow type in our own batches: names are dictionaries.
    fn compact(self) -> DataType {
        match self {
            Self::Name => DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8)),
            other => other.plain(),
        }
    }
}

impl TableSpec {
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&'static ColumnSpec> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// The columns that a file holds, in its order.
    pub fn file_columns(&self) -> impl Iterator<Item = &'static ColumnSpec> {
        self.columns.iter().filter(|c| !c.partition)
    }

    /// The columns that are in the path of a file, outermost first.
    pub fn partition_columns(&self) -> impl Iterator<Item = &'static ColumnSpec> {
        self.columns.iter().filter(|c| c.partition)
    }

    /// Schema of the batches that are written and read by us: the columns of a file, names as
    /// `Dictionary(UInt32, Utf8)`.
    pub fn arrow_schema(&self) -> SchemaRef {
        schema_of(self.file_columns(), ColumnType::compact)
    }

    /// Schema of a file as any engine reads it: the columns of a file, names as `Utf8`.
    pub fn read_schema(&self) -> SchemaRef {
        schema_of(self.file_columns(), ColumnType::plain)
    }

    /// Schema of the table in SQL: all columns, partition columns included, names as `Utf8`.
    pub fn full_schema(&self) -> SchemaRef {
        schema_of(self.columns.iter(), ColumnType::plain)
    }
}

fn schema_of(
    columns: impl Iterator<Item = &'static ColumnSpec>,
    ty: fn(ColumnType) -> DataType,
) -> SchemaRef {
    let field = |c: &ColumnSpec| Field::new(c.name, ty(c.ty), c.null.is_some());
    Arc::new(Schema::new(columns.map(field).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use crate::schema::{TABLES, columns, table, tables};

    #[test]
    fn tables_are_found_by_name_and_by_constant() {
        for t in TABLES {
            assert!(std::ptr::eq(table(t.name).unwrap(), t));
        }
        assert!(std::ptr::eq(tables::BTF_EVENT, table("btf_event").unwrap()));
        assert!(table("nonsense").is_none());
        assert_eq!(TABLES.len(), 31);
    }

    /// The names that the issue and tests outside the project rely on.
    #[test]
    fn btf_event_has_the_columns_of_the_octuple() {
        let schema = tables::BTF_EVENT.full_schema();
        let names: Vec<_> = schema.fields().iter().map(|f| f.name().as_str()).collect();
        let expected =
            "recording time seq source source_instance target_type target target_instance action note";
        assert_eq!(names.join(" "), expected);
        assert_eq!(columns::btf_event::NOTE, "note");
    }

    #[test]
    fn schemas_differ_only_in_names_and_partitions() {
        let t = tables::DATA_EVENT;
        assert_eq!(t.partition_columns().map(|c| c.name).collect::<Vec<_>>(), ["recording", "core"]);
        assert_eq!(t.full_schema().fields().len(), 8);
        assert_eq!(t.full_schema().fields()[2..], t.read_schema().fields()[..]);
        let compact = t.arrow_schema();
        assert_eq!(
            compact.field_with_name("variable").unwrap().data_type().to_string(),
            "Dictionary(UInt32, Utf8)"
        );
        assert!(compact.field_with_name("value").unwrap().is_nullable());
    }
}
