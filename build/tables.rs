//! Reads and checks `schemas/*.toml`: a wrong description is a build error.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::Result;
use crate::column_type::{ColumnType, Encoding};

/// One file of `schemas/`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub name: String,
    pub doc: String,
    /// Columns that the rows of every file are sorted by; empty where no column can promise that.
    pub sort: Vec<String>,
    /// The order in words, where `sort` is empty.
    pub order: Option<String>,
    pub occurrences: Option<Occurrences>,
    pub column: Vec<Column>,
}

/// Names that the footer of each file tells: which occur together in a row, and when first and last.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Occurrences {
    /// Columns of names, never null.
    pub columns: Vec<String>,
    /// The column of times.
    pub time: String,
    /// The column by which rows are left out, and its values in these.
    pub kind: String,
    pub kinds_without: Vec<String>,
}

/// One `[[column]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    pub name: String,
    pub r#type: ColumnType,
    pub doc: String,
    /// Why a value can be missing; without it the column is not nullable.
    pub null: Option<String>,
    /// Lives in the path of the file, not in the file.
    #[serde(default)]
    pub partition: bool,
    /// Instead of what the type asks for.
    pub encoding: Option<Encoding>,
}

/// The tables of the folder, by name.
pub fn read_tables(folder: &Path) -> Result<Vec<Table>> {
    let mut files = fs::read_dir(folder)?.map(|e| Ok(e?.path())).collect::<Result<Vec<_>>>()?;
    files.retain(|f| f.extension().is_some_and(|e| e == "toml"));
    files.sort();
    let read = |file: &PathBuf| -> Result<Table> {
        let table: Table = toml::from_str(&fs::read_to_string(file)?)?;
        if file.file_stem().is_none_or(|s| *s != *table.name) {
            return Err(format!("the table is called '{}'", table.name).into());
        }
        table.check()?;
        Ok(table)
    };
    files.iter().map(|f| read(f).map_err(|e| format!("{}: {e}", f.display()).into())).collect()
}

impl Table {
    fn check(&self) -> Result<()> {
        let mut names = BTreeSet::new();
        for c in &self.column {
            if !names.insert(&c.name) {
                return Err(format!("column '{}' is there twice", c.name).into());
            }
            if c.partition
                && (c.null.is_some() || !matches!(c.r#type, ColumnType::Name | ColumnType::Integer))
            {
                return Err(format!(
                    "partition column '{}' must be a name or a number, and never null",
                    c.name
                )
                .into());
            }
            if c.r#type == ColumnType::Name && c.encoding.is_some() {
                return Err(
                    format!("column '{}' is a name, and names are always dictionaries", c.name).into()
                );
            }
            if matches!(c.encoding, Some(Encoding::Plain)) && c.r#type.is_number() {
                return Err(format!("column '{}' is a number and never plain", c.name).into());
            }
            if matches!(c.encoding, Some(Encoding::Delta)) && !c.r#type.is_number() {
                return Err(format!("column '{}' is no number and cannot be delta-encoded", c.name).into());
            }
        }
        if self.column.first().is_none_or(|c| c.name != "recording" || !c.partition) {
            return Err("the first column must be the partition 'recording'".into());
        }
        if !self.column.is_sorted_by_key(|c| !c.partition) || self.file_columns().next().is_none() {
            return Err("partition columns come first, and others follow".into());
        }
        for s in &self.sort {
            if !self.file_columns().any(|c| {
                c.name == *s && c.null.is_none() && c.r#type.is_number() && c.r#type != ColumnType::Unsigned
            }) {
                return Err(
                    format!("cannot sort by '{s}': not an integer column of the file, or nullable").into()
                );
            }
        }
        if let Some(of) = &self.occurrences {
            let is_name = |name: &String| {
                self.file_columns()
                    .any(|c| c.name == *name && c.r#type == ColumnType::Name && c.null.is_none())
            };
            if of.columns.len() != 3 || !of.columns.iter().chain([&of.kind]).all(is_name) {
                return Err("occurrences are of three names, and of a kind; none is ever null".into());
            }
            if self.sort.first() != Some(&of.time) {
                return Err("occurrences are stated with times, by which files are sorted".into());
            }
        }
        if self.sort.is_empty() != self.order.is_some() {
            return Err("either 'sort' names columns, or 'order' says what the order is".into());
        }
        Ok(())
    }

    /// The columns that a file holds.
    pub fn file_columns(&self) -> impl Iterator<Item = &Column> {
        self.column.iter().filter(|c| !c.partition)
    }

    /// `btf_event` → `BtfEvent`.
    pub fn camel(&self) -> String {
        let word = |w: &str| w[..1].to_uppercase() + &w[1..];
        self.name.split('_').map(word).collect()
    }

    /// `btf_event` → `BTF_EVENT`.
    pub fn upper(&self) -> String {
        self.name.to_uppercase()
    }
}

impl Column {
    /// The encoding in the file.
    pub fn encoding(&self) -> Encoding {
        self.encoding.unwrap_or(match self.r#type {
            ColumnType::Instant => Encoding::Delta,
            ColumnType::Text | ColumnType::Flag => Encoding::Plain,
            _ => Encoding::Dictionary,
        })
    }

    /// The field name: escaped where it is a word of the language.
    pub fn field(&self) -> String {
        if self.name == "type" { "r#type".into() } else { self.name.clone() }
    }
}
