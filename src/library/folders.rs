//! SQL files of the user: folders of metrics and views in the format of `queries/`. Not for checking that
//! they fit the tables, which needs a database (see `engine::validate`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::definition::{Metric, View};
use super::file::Query;
use crate::error::{Error, Result};
use crate::schema::TABLES;

const EXTENSION: &str = "sql";

/// A view that is not placed in the order yet. Its place is after the views that it reads.
struct UnorderedView {
    view: View,
    reads: Vec<String>,
}

/// The result of the SQL parser for one file.
#[derive(Debug)]
pub struct ParsedFile {
    /// The text up to the end of the statement: with the comments before it, without a semicolon after it.
    pub text: String,
    /// Names of the tables and views that the statement reads.
    pub reads: Vec<String>,
}

/// Adds the files in `folders` to `metrics` and `views`. A view comes after the views that it reads.
pub(super) fn read(
    folders: &[PathBuf],
    metrics: &mut Vec<Metric>,
    views: &mut Vec<View>,
    parse: &dyn Fn(&str) -> Result<ParsedFile>,
) -> Result<()> {
    let mut owners: HashMap<String, String> = HashMap::new();
    let mut claim = |name: &str, owner: String| owners.insert(name.to_ascii_lowercase(), owner);
    TABLES.iter().for_each(|t| drop(claim(t.name, "a table".into())));
    views.iter().for_each(|v| drop(claim(&v.name, "a view".into())));
    for metric in metrics.iter() {
        metric.names().for_each(|name| drop(claim(name, format!("the metric {}", metric.name))));
    }
    let mut unordered = Vec::new();
    for folder in folders {
        for (area, path) in files(folder)? {
            let (query, reads) = read_query(&area, &path, parse)?;
            let names: Vec<&str> = match &query {
                Query::Metric(metric) => metric.names().collect(),
                Query::View(view) => vec![&view.name],
            };
            for name in names {
                if let Some(owner) = claim(name, format!("'{}'", path.display())) {
                    let error = Error::input(format!("the name '{name}' is taken already, by {owner}"));
                    return Err(error.at(&path).line(1).hint("take another name for the file or the alias"));
                }
            }
            match query {
                Query::Metric(metric) => metrics.push(metric),
                Query::View(view) => unordered.push(UnorderedView { view, reads }),
            }
        }
    }
    let mut path = Vec::new();
    while let Some(next) = unordered.first().map(|u| u.view.name.clone()) {
        order_view(&next, &mut unordered, &mut path, views)?;
    }
    Ok(())
}

/// The SQL files in a folder and its subfolders, by path. Each has its area, the name of its folder.
fn files(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    if !folder.is_dir() {
        return Err(Error::usage(format!("'{}' is not a folder", folder.display()))
            .hint("--sql-path takes a folder with SQL files, metrics and views"));
    }
    let mut found = Vec::new();
    for path in entries(folder)? {
        let inner = if path.is_dir() { entries(&path)? } else { vec![path] };
        found.extend(
            inner.into_iter().filter(|p| p.extension().is_some_and(|e| e == EXTENSION) && p.is_file()),
        );
    }
    if found.is_empty() {
        return Err(Error::usage(format!("there is no file *.{EXTENSION} in '{}'", folder.display())));
    }
    let area = |path: &Path| {
        // The folder `.` has no name before it is canonicalized.
        let name = path.parent().and_then(|p| p.canonicalize().ok());
        name.as_deref()
            .and_then(Path::file_name)
            .map_or_else(String::new, |n| n.to_string_lossy().into_owned())
    };
    Ok(found.into_iter().map(|path| (area(&path), path)).collect())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |e| Error::io("read", folder, e);
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let mut paths = entries.map(|e| e.map(|e| e.path()).map_err(failed)).collect::<Result<Vec<PathBuf>>>()?;
    paths.sort();
    Ok(paths)
}

/// Reads and parses a file. Also returns the names of the tables and views that it reads.
fn read_query(
    area: &str,
    path: &Path,
    parse: &dyn Fn(&str) -> Result<ParsedFile>,
) -> Result<(Query, Vec<String>)> {
    let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
    let text = String::from_utf8(bytes).map_err(|_| Error::input("this file is not UTF-8").at(path))?;
    let text = text.trim_start_matches('\u{feff}');
    let mistake = |line, what: String| Error::input(what).at(path).line(line);
    let name = path.file_stem().map(|n| n.to_string_lossy()).unwrap_or_default();
    let ParsedFile { text, reads } = parse(text).map_err(|e| e.at(path))?;
    let query = Query::parse(area, &name, &text, Some(path)).map_err(|m| mistake(m.line, m.what))?;
    let is_name_char = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_valid = match &query {
        Query::Metric(Metric { name, .. }) => name.chars().all(is_name_char),
        Query::View(View { name, .. }) => name.chars().all(|c| is_name_char(c) && !c.is_ascii_uppercase()),
    };
    if !is_valid || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let what =
            format!("'{name}' is no name: letters (small ones for a view), digits and _, a letter first");
        return Err(mistake(1, what).hint("the file is named after what is in it"));
    }
    Ok((query, reads))
}

/// Moves a view from `unordered` to `ordered`, after the views that it reads. `path`: the views whose
/// reads led to this one. A view that reads itself is in it already.
fn order_view(
    name: &str,
    unordered: &mut Vec<UnorderedView>,
    path: &mut Vec<String>,
    ordered: &mut Vec<View>,
) -> Result<()> {
    let Some(found) = unordered.iter().find(|u| u.view.name == name) else { return Ok(()) };
    let (file, reads) = (found.view.file.clone().unwrap_or_default(), found.reads.clone());
    if path.iter().any(|p| p == name) {
        let cycle = path.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join(" → ");
        return Err(Error::input(format!("a view cannot read itself: {cycle}")).at(file).line(1));
    }
    path.push(name.to_owned());
    for read in reads {
        order_view(&read, unordered, path, ordered)?;
    }
    path.pop();
    if let Some(at) = unordered.iter().position(|u| u.view.name == name) {
        ordered.push(unordered.remove(at).view);
    }
    Ok(())
}
