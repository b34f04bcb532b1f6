//! The lists of dot commands: tables, columns, metrics, rules, recordings. Not for rows of trace tables,
//! which are results like those of any statement.

use super::{Flow, Shell};
use crate::cli::commands::{check, metrics as metrics_command};
use crate::engine::{Relation, split};
use crate::error::{Error, Result};
use crate::library::{Documented, Queries};
use crate::metrics::MEASUREMENT_SQL;
use crate::ops::metrics::is_measurement;
use crate::schema::{self, tables as names};
use std::fmt::Write as _;

pub(super) fn tables(shell: &mut Shell<'_>, _: &[String]) -> Result<Flow> {
    let relations = shell.session.relations();
    let width = relations.iter().map(|r| r.name.len()).max().unwrap_or(0);
    let database = shell.session.database();
    let rows = |r: &Relation| match schema::table(&r.name) {
        Some(table) => database.rows(table).to_string(),
        None => "view".into(),
    };
    let mut text = String::new();
    for r in &relations {
        let line = format!("{:width$}  {:>12}  ", r.name, rows(r));
        let doc = wrapped(first_sentence(&r.doc), line.len(), shell.width());
        text.push_str(&line);
        text.push_str(doc.trim_start());
    }
    shell.print(&text)
}

pub(super) fn schema(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    let relations = shell.session.relations();
    let wanted: Vec<&Relation> = match words.first() {
        None => relations.iter().collect(),
        Some(name) => {
            let found = relations.iter().find(|r| r.name.eq_ignore_ascii_case(name));
            vec![found.ok_or_else(|| {
                let known = relations.iter().map(|r| r.name.as_str());
                Error::usage(format!("there is no table or view '{name}'"))
                    .hint_near(name, known, |_| "`.tables` lists them".into())
            })?]
        }
    };
    let pages: Vec<String> =
        wanted.into_iter().map(|r| page(r, shell.session.queries(), shell.width())).collect();
    shell.print(&pages.join("\n"))
}

/// A relation: what a row is, and its columns.
fn page(relation: &Relation, queries: &Queries, width: usize) -> String {
    let columns = columns(relation, queries);
    let widest =
        |of: fn(&(String, String, String)) -> &String| columns.iter().map(|c| of(c).len()).max().unwrap_or(0);
    let (names, types) = (widest(|c| &c.0), widest(|c| &c.1));
    let mut text = format!("{}\n{}", relation.name, wrapped(&relation.doc, 2, width));
    for (name, ty, doc) in &columns {
        let line = format!("    {name:names$}  {ty:types$}  ");
        let doc = wrapped(doc, line.len(), width);
        let _ = write!(text, "{}", line + doc.trim_start());
    }
    text
}

/// Name, type and meaning of every column, and of every parameter of a view.
fn columns(relation: &Relation, queries: &Queries) -> Vec<(String, String, String)> {
    if let Some(table) = schema::table(&relation.name) {
        let column = |c: &schema::ColumnSpec| {
            let null = c.null.map(|when| format!(" NULL when {when}.")).unwrap_or_default();
            (c.name.to_owned(), c.ty.as_str().to_owned(), format!("{}{null}", c.doc))
        };
        return table.columns.iter().map(column).collect();
    }
    let Some(view) = queries.views().iter().find(|v| v.name == relation.name) else {
        // A view or table of the session.
        let column = |name: &String| (name.clone(), String::new(), "Of this session.".to_owned());
        return relation.columns.iter().map(column).collect();
    };
    let row = |sign: &str, d: &Documented| (format!("{sign}{}", d.name), d.ty.to_string(), d.doc.to_string());
    view.columns.iter().map(|c| row("", c)).chain(view.params.iter().map(|p| row("$", p))).collect()
}

pub(super) fn recordings(shell: &mut Shell<'_>, _: &[String]) -> Result<Flow> {
    for statement in split(&format!("SELECT * FROM {}", names::RECORDING.name))? {
        shell.statement(&statement)?;
    }
    Ok(Flow::Next)
}

pub(super) fn metrics(shell: &mut Shell<'_>, words: &[String]) -> Result<Flow> {
    let text = match words.first() {
        Some(name) if is_measurement(name) => format!("{}\n", MEASUREMENT_SQL.trim_end()),
        Some(name) => metrics_command::shown(shell.session.queries().metric(name)?),
        None => hanging(&metrics_command::list(shell.session.queries()), shell.width()),
    };
    shell.print(&text)
}

pub(super) fn checks(shell: &mut Shell<'_>, _: &[String]) -> Result<Flow> {
    let text = hanging(&check::rules(), shell.width());
    shell.print(&text)
}

/// Lines of three columns; the last one is wrapped within its column.
fn hanging(text: &str, width: usize) -> String {
    let line = |line: &str| {
        let mut fields = line.splitn(2, "  ");
        let (name, rest) =
            (fields.next().unwrap_or_default(), fields.next().unwrap_or_default().trim_start());
        let word = rest.find("  ").unwrap_or(rest.len());
        let doc = rest.get(word..).unwrap_or_default().trim_start();
        let start = line.len() - doc.len();
        match doc.is_empty() || name.is_empty() {
            true => format!("{line}\n"),
            false => {
                line.get(..start).unwrap_or_default().to_owned() + wrapped(doc, start, width).trim_start()
            }
        }
    };
    text.lines().map(line).collect()
}

fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or("");
    line.find(". ").and_then(|end| line.get(..=end)).unwrap_or(line)
}

/// Text in lines of at most `width` characters, each indented by `indent` blanks; longer words stay whole.
pub(super) fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let room = width.saturating_sub(indent).max(20);
    let mut out = String::new();
    for paragraph in text.lines() {
        let mut used = 0;
        for word in paragraph.split_whitespace() {
            let length = word.chars().count();
            if used == 0 || used + 1 + length > room {
                out.push_str(if used == 0 { "" } else { "\n" });
                out.push_str(&" ".repeat(indent));
                used = length;
            } else {
                out.push(' ');
                used += 1 + length;
            }
            out.push_str(word);
        }
        out.push('\n');
    }
    if out.is_empty() { "\n".into() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_hang_under_their_beginning() {
        let text = "one two three four five six seven";
        assert_eq!(wrapped(text, 2, 22), "  one two three four\n  five six seven\n");
        assert_eq!(wrapped("a\nb", 1, 80), " a\n b\n");
        assert_eq!(wrapped("", 4, 80), "\n");
    }

    #[test]
    fn the_last_column_of_a_list_hangs() {
        let text = "one    u  first words\nthree  v  second words and more text\n";
        assert_eq!(
            hanging(text, 32),
            "one    u  first words\nthree  v  second words and more\n          text\n"
        );
        assert_eq!(hanging("a title\n", 5), "a title\n");
    }

    #[test]
    fn sentences_end_at_their_full_stop() {
        assert_eq!(first_sentence("One row, e.g.x. Two.\nThree"), "One row, e.g.x.");
        assert_eq!(first_sentence("One"), "One");
    }
}
