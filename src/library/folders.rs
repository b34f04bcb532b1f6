//! SQL files of the user: folders of metrics and views in the form of `queries/`. Not for whether they fit the tables, which
//! takes a database (see `engine::validate`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::definition::{Metric, View};
use super::file::Query;
use crate::error::{Error, Result};
use crate::schema::TABLES;

/// What SQL files end in.
const EXTENSION: &str = "sql";

/// A view whose place, after those that it reads, is not known yet.
struct Waiting {
    view: View,
    reads: Vec<String>,
}

/// What the SQL parser says about the text of a file.
#[derive(Debug)]
pub struct ParsedFile {
    /// The text from its beginning to the end of its statement: comments before it, no semicolon after it.
    pub text: String,
    /// Names of the tables and views that the statement reads.
    pub reads: Vec<String>,
}

/// Adds the files in some folders to a library.
pub(super) fn read(
    folders: &[PathBuf],
    metrics: &mut Vec<Metric>,
    views: &mut Vec<View>,
    parse: &dyn Fn(&str) -> Result<ParsedFile>,
) -> Result<()> {
    let mut taken: HashMap<String, String> = HashMap::new();
    let mut take = |name: &str, by: String| taken.insert(name.to_ascii_lowercase(), by);
    TABLES.iter().for_each(|t| drop(take(t.name, "a table".into())));
    views.iter().for_each(|v| drop(take(&v.name, "a view".into())));
    for metric in metrics.iter() {
        metric.names().for_each(|name| drop(take(name, format!("the metric {}", metric.name))));
    }
    let mut waiting = Vec::new();
    for folder in folders {
        for (area, path) in files(folder)? {
            let (query, reads) = query_in(&area, &path, parse)?;
            let names: Vec<&str> = match &query {
                Query::Metric(metric) => metric.names().collect(),
                Query::View(view) => vec![&view.name],
            };
            for name in names {
                if let Some(owner) = take(name, format!("'{}'", path.display())) {
                    let error = Error::input(format!("the name '{name}' is taken already, by {owner}"));
                    return Err(error.at(&path).line(1).hint("take another name for the file or the alias"));
                }
            }
            match query {
                Query::Metric(metric) => metrics.push(metric),
                Query::View(view) => waiting.push(Waiting { view, reads }),
            }
        }
    }
    let mut path = Vec::new();
    while let Some(next) = waiting.first().map(|w| w.view.name.clone()) {
        order_view(&next, &mut waiting, &mut path, views)?;
    }
    Ok(())
}

/// The SQL files of a folder and of the folders in it, each with what it is about: the name of its folder. In the order of
/// their names.
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

/// A file, and the names of the tables and views that it reads.
fn query_in(
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
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let fits = match &query {
        Query::Metric(Metric { name, .. }) => name.chars().all(plain),
        Query::View(View { name, .. }) => name.chars().all(|c| plain(c) && !c.is_ascii_uppercase()),
    };
    if !fits || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let what =
            format!("'{name}' is no name: letters (small ones for a view), digits and _, a letter first");
        return Err(mistake(1, what).hint("the file is named after what is in it"));
    }
    Ok((query, reads))
}

/// Adds a view to `done`, after those that it reads; `path`: the views that led here.
fn order_view(
    name: &str,
    waiting: &mut Vec<Waiting>,
    path: &mut Vec<String>,
    done: &mut Vec<View>,
) -> Result<()> {
    let Some(found) = waiting.iter().find(|w| w.view.name == name) else { return Ok(()) };
    let (file, reads) = (found.view.file.clone().unwrap_or_default(), found.reads.clone());
    if path.iter().any(|p| p == name) {
        let circle = path.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join(" → ");
        return Err(Error::input(format!("a view cannot read itself: {circle}")).at(file).line(1));
    }
    path.push(name.to_owned());
    for read in reads {
        order_view(&read, waiting, path, done)?;
    }
    path.pop();
    if let Some(at) = waiting.iter().position(|w| w.view.name == name) {
        done.push(waiting.remove(at).view);
    }
    Ok(())
}
