//! One SQL file of the library: a metric or a view, as its header says. Not the header itself.

use std::path::Path;

use super::definition::{Fold, Metric, Unit, View};
use super::header::{Header, Mistake};

/// A parsed SQL file.
pub enum Query {
    /// A metric.
    Metric(Metric),
    /// A view.
    View(View),
}

impl Query {
    /// A file whose header has a unit is a metric; one whose header has columns is a view.
    ///
    /// # Errors
    /// What is wrong with the header, and where.
    pub fn parse(area: &str, name: &str, sql: &str, file: Option<&Path>) -> Result<Self, Mistake> {
        let mistake = |what: &str| Err(Mistake { line: 1, what: what.into() });
        let Header { doc, unit, per_core, fold, params, columns, aliases } = Header::parse(sql)?;
        let (name, sql, file) = (name.to_owned(), sql.to_owned(), file.map(Path::to_owned));
        match unit {
            Some(_) if !columns.is_empty() => {
                mistake("the header has a unit and columns; a metric has a unit, a view has columns")
            }
            Some(unit) => {
                if fold == Some(Fold::Share) && unit != Unit::Percent {
                    return mistake("a share has the unit percent");
                }
                let are_bounds = params.iter().all(|p| p.name == "from" || p.name == "to");
                if !are_bounds || !matches!(params.len(), 0 | 2) {
                    return mistake("a metric has the parameters from and to, or none");
                }
                Ok(Self::Metric(Metric { name, doc, unit, per_core, fold, params, aliases, sql, file }))
            }
            None if columns.is_empty() => mistake(
                "the header has neither a line `unit: …`, as that of a metric, nor lines `column: …`, as that of a view",
            ),
            None if fold.is_some() || per_core || !aliases.is_empty() => {
                mistake("a view has no fold, group or alias; a metric has, and a line `unit: …`")
            }
            None => {
                let area = area.to_owned();
                Ok(Self::View(View { name, area, doc, params, columns, sql, file }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_metric_or_a_view() {
        let parse = |header: &str| Query::parse("a", "x", &format!("-- A file.\n{header}SELECT 1"), None);
        assert!(matches!(parse("-- unit: count\n"), Ok(Query::Metric(_))));
        assert!(matches!(parse("-- column: n integer One.\n"), Ok(Query::View(_))));
        let refused = [
            "",
            "-- unit: count\n-- column: n integer One.\n",
            "-- unit: count\n-- fold: share\n",
            "-- unit: count\n-- param: from time Begin.\n",
            "-- unit: count\n-- param: from time Begin.\n-- param: width time Width.\n",
            "-- column: n integer One.\n-- fold: sum\n",
        ];
        for header in refused {
            assert!(parse(header).is_err_and(|e| e.line == 1), "{header}");
        }
    }
}
