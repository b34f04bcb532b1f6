//! Turns `schemas/*.toml` into Rust: table descriptions, column names and typed rows (see `src/schema`).
//! Checks what it reads, so that a wrong description is a build error. Not used when the program runs.

#![allow(clippy::disallowed_methods, reason = "a build script reads its environment and writes its output")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, error, fs};

use serde::Deserialize;

/// How a row holds a string, and how a name.
const TEXT: &str = "&'a str";
const NAME: &str = "Name<'a>";

type Result<T, E = Box<dyn error::Error>> = std::result::Result<T, E>;

/// One file of `schemas/`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    name: String,
    doc: String,
    /// Columns that the rows of every file are sorted by; empty where no column can promise that.
    sort: Vec<String>,
    /// The order in words, where `sort` is empty.
    order: Option<String>,
    column: Vec<Column>,
}

/// One `[[column]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Column {
    name: String,
    r#type: Type,
    doc: String,
    /// Why a value can be missing; without it the column is not nullable.
    null: Option<String>,
    /// Lives in the path of the file, not in the file.
    #[serde(default)]
    partition: bool,
    /// Instead of what the type asks for.
    encoding: Option<Encoding>,
}

/// Mirrors `schema::ColumnType`.
#[derive(Deserialize, Clone, Copy, PartialEq, Debug)]
#[serde(rename_all = "snake_case")]
enum Type {
    Instant,
    Duration,
    Name,
    Text,
    Integer,
    Unsigned,
    Count,
    Flag,
    Bytes,
}

/// Mirrors `schema::Encoding`.
#[derive(Deserialize, Clone, Copy, Debug)]
#[serde(rename_all = "snake_case")]
enum Encoding {
    Delta,
    Dictionary,
    Plain,
}

fn main() -> Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=schemas");
    fs::write(out.join("schema.rs"), generate(&read_tables(&root.join("schemas"))?))?;
    Ok(())
}

fn read_tables(folder: &Path) -> Result<Vec<Table>> {
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
            if c.partition && (c.null.is_some() || !matches!(c.r#type, Type::Name | Type::Integer)) {
                return Err(format!(
                    "partition column '{}' must be a name or a number, and never null",
                    c.name
                )
                .into());
            }
            if c.r#type == Type::Name && c.encoding.is_some() {
                return Err(
                    format!("column '{}' is a name, and names are always dictionaries", c.name).into()
                );
            }
            if matches!(c.encoding, Some(Encoding::Plain)) && matches!(c.rust(), "i64" | "u64") {
                return Err(format!("column '{}' is a number and never plain", c.name).into());
            }
            if matches!(c.encoding, Some(Encoding::Delta)) && !matches!(c.rust(), "i64" | "u64") {
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
            if !self.file_columns().any(|c| c.name == *s && c.null.is_none() && c.rust() == "i64") {
                return Err(
                    format!("cannot sort by '{s}': not an integer column of the file, or nullable").into()
                );
            }
        }
        if self.sort.is_empty() != self.order.is_some() {
            return Err("either 'sort' names columns, or 'order' says what the order is".into());
        }
        Ok(())
    }

    fn file_columns(&self) -> impl Iterator<Item = &Column> {
        self.column.iter().filter(|c| !c.partition)
    }

    /// `btf_event` → `BtfEvent`.
    fn camel(&self) -> String {
        let word = |w: &str| w[..1].to_uppercase() + &w[1..];
        self.name.split('_').map(word).collect()
    }

    fn upper(&self) -> String {
        self.name.to_uppercase()
    }
}

impl Column {
    fn encoding(&self) -> Encoding {
        self.encoding.unwrap_or(match self.r#type {
            Type::Instant => Encoding::Delta,
            Type::Text | Type::Flag => Encoding::Plain,
            _ => Encoding::Dictionary,
        })
    }

    /// The field name: escaped where it is a word of the language.
    fn field(&self) -> String {
        if self.name == "type" { "r#type".into() } else { self.name.clone() }
    }

    /// The type of one value, without the option.
    fn rust(&self) -> &'static str {
        match self.r#type {
            Type::Instant | Type::Duration | Type::Integer | Type::Count | Type::Bytes => "i64",
            Type::Unsigned => "u64",
            Type::Flag => "bool",
            Type::Name => NAME,
            Type::Text => TEXT,
        }
    }

    /// The type of one value of a row.
    fn value(&self) -> String {
        if self.null.is_some() { format!("Option<{}>", self.rust()) } else { self.rust().into() }
    }

    /// The type of the column of a batch.
    fn vector(&self) -> String {
        match self.r#type {
            Type::Name => "NameColumn".into(),
            Type::Text => "TextColumn".into(),
            Type::Flag => format!("Vec<{}>", self.value()),
            _ if self.null.is_some() => format!("Optional<{}>", self.rust()),
            _ => format!("Vec<{}>", self.value()),
        }
    }

    /// The statement that appends `row.FIELD`.
    fn push(&self) -> String {
        let f = self.field();
        match (self.r#type, self.null.is_some()) {
            (Type::Name, true) => format!("self.{f}.push_opt(row.{f})"),
            (Type::Text, true) => format!("self.{f}.push_opt(row.{f})"),
            (Type::Text, false) => format!("self.{f}.push(row.{f})"),
            _ => format!("self.{f}.push(row.{f})"),
        }
    }
}

/// The text of `schema.rs`.
fn generate(tables: &[Table]) -> String {
    let each = |part: fn((usize, &Table)) -> String| tables.iter().enumerate().map(part).collect::<String>();
    let count = tables.len();
    let specs = each(|(_, t)| t.spec());
    let statics = each(|(n, t)| {
        format!("    /// `{}`.\n    pub static {}: &TableSpec = &ALL[{n}];\n", t.name, t.upper())
    });
    let columns = each(|(_, t)| t.column_names());
    let rows = each(|(_, t)| t.rows());
    format!(
        "\
static ALL: [TableSpec; {count}] = [
{specs}];

/// Every table, by name.
pub static TABLES: &[TableSpec] = &ALL;

/// The tables, to name one in code.
pub mod tables {{
    use super::{{ALL, TableSpec}};

{statics}}}

/// The names of all columns, one module per table.
pub mod columns {{
{columns}}}
{rows}"
    )
}

impl Table {
    /// One string per column of the file, one after the other.
    fn each(&self, part: impl Fn(&Column) -> String) -> String {
        self.file_columns().map(part).collect()
    }

    fn spec(&self) -> String {
        let Self { name, doc, sort, order, .. } = self;
        let columns: String = self.column.iter().map(Column::spec).collect();
        format!(
            "\
    TableSpec {{
        name: {name:?},
        doc: {doc:?},
        sort: &{sort:?},
        order: {order:?},
        columns: &[
{columns}        ],
    }},
"
        )
    }

    fn column_names(&self) -> String {
        let name = &self.name;
        let line = |c: &Column| {
            let upper = c.name.to_uppercase();
            format!("        /// {}\n        pub const {upper}: &str = {:?};\n", c.doc, c.name)
        };
        let columns: String = self.column.iter().map(line).collect();
        format!("    /// Columns of `{name}`.\n    pub mod {name} {{\n{columns}    }}\n")
    }

    fn rows(&self) -> String {
        let (name, upper, camel) = (&self.name, self.upper(), self.camel());
        let first = self.file_columns().next().map(Column::field).unwrap_or_default();
        let texts = self.file_columns().any(|c| [NAME, TEXT].contains(&c.rust()));
        let (life, anonymous) = if texts { ("<'a>", "<'_>") } else { ("", "") };
        let values = self.each(|c| format!("    /// {}\n    pub {}: {},\n", c.doc, c.field(), c.value()));
        let vectors = self.each(|c| format!("    /// {}\n    pub {}: {},\n", c.doc, c.field(), c.vector()));
        let empty = self.each(|c| format!("            {}: Default::default(),\n", c.field()));
        let pushes = self.each(|c| format!("        {};\n", c.push()));
        let arrays = self.each(|c| format!("            self.{}.take_array()?,\n", c.field()));
        format!(
            "
/// One row of `{name}`, without its partition columns.
#[derive(Debug, Clone, Copy)]
pub struct {camel}Row{life} {{
{values}}}

/// A growing batch of rows of `{name}`; the columns are public, so that one can be filled at once.
#[derive(Debug)]
pub struct {camel}Rows {{
    schema: SchemaRef,
{vectors}}}

impl Default for {camel}Rows {{
    fn default() -> Self {{
        Self {{
            schema: tables::{upper}.arrow_schema(),
{empty}        }}
    }}
}}

impl {camel}Rows {{
    /// An empty batch.
    pub fn new() -> Self {{
        Self::default()
    }}

    /// Appends a row.
    #[inline(always)]
    pub fn push(&mut self, row: {camel}Row{anonymous}) {{
{pushes}    }}

    /// The number of rows.
    pub fn len(&self) -> usize {{
        self.{first}.len()
    }}

    /// True when there are no rows.
    pub fn is_empty(&self) -> bool {{
        self.len() == 0
    }}

    /// The rows so far as Arrow arrays; the batch is empty afterwards and keeps its capacity.
    ///
    /// # Errors
    /// When columns that were filled by hand do not fit together.
    pub fn take_batch(&mut self) -> Result<RecordBatch> {{
        let columns = vec![
{arrays}        ];
        batch_of(&self.schema, columns)
    }}
}}
"
        )
    }
}

impl Column {
    fn spec(&self) -> String {
        let Self { name, r#type, doc, null, partition, .. } = self;
        let encoding = self.encoding();
        format!(
            "\
            ColumnSpec {{
                name: {name:?},
                ty: ColumnType::{type:?},
                doc: {doc:?},
                null: {null:?},
                partition: {partition},
                encoding: Encoding::{encoding:?},
            }},
"
        )
    }
}
