//! The SQL library with the files of the user: parses their SQL. Not for their headers and names (see
//! `library`), and not for whether they fit the tables (see `validate`).

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::sql::parser::DFParserBuilder;
use datafusion::sql::resolve::resolve_table_references;

use super::failure;
use super::statement::{Statement, split};
use crate::error::{Error, Result};
use crate::library::{ParsedFile, Queries};

/// What ships in the binary, and the SQL files of some folders and their subfolders.
///
/// # Errors
/// Those of [`Queries::with_folders`].
pub fn queries_with_folders(folders: &[PathBuf]) -> Result<Arc<Queries>> {
    Queries::with_folders(folders, &parse)
}

fn parse(text: &str) -> Result<ParsedFile> {
    let statements = split(text)?;
    let [statement] = statements.as_slice() else {
        let what = format!("a file holds one SELECT, this one has {} statements", statements.len());
        return Err(Error::input(what).line(statements.get(1).map_or(1, Statement::line)));
    };
    let sql = statement.in_place();
    let parsed = DFParserBuilder::new(sql.as_str()).build().and_then(|mut p| p.parse_statement());
    let tables = parsed.and_then(|parsed| resolve_table_references(&parsed, true));
    let (tables, _) = tables.map_err(|e| failure::from_engine(&e, text, &[]))?;
    Ok(ParsedFile {
        text: statement.with_all_before(text).to_owned(),
        reads: tables.iter().map(|t| t.table().to_owned()).collect(),
    })
}
