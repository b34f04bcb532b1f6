//! The SQL library as a page of Markdown, for the documentation. Not what is in it (see `queries/`).

use std::fmt::Write as _;

use super::queries::{Documented, Metric, Queries, View};

/// All metrics and views as Markdown: what they say, what they have to be given, and every column.
pub fn docs() -> String {
    let mut out = String::from(
        "# The SQL library\n\nViews are there in every database, beside the [tables](tables.md). A view with parameters needs their \
         values:\n`btfdb query engine.db \"SELECT * FROM core_peak\" --param window=10ms --param step=1ms`. Metrics are what \
         `btfdb metrics` computes;\n`btfdb metrics --show NAME` prints the SQL of one. Times are ticks, as in the tables.\n\n\
         ## Metrics\n\n| metric | value | meaning |\n|---|---|---|\n",
    );
    let queries = Queries::shipped();
    for metric in queries.metrics() {
        // Writing to a string cannot fail.
        let _ = write_metric(&mut out, metric);
    }
    let mut area = "";
    for view in queries.views() {
        if view.area != area {
            area = &view.area;
            let _ = write!(out, "\n## Views: {area}\n");
        }
        let _ = write_view(&mut out, view);
    }
    out
}

fn write_metric(out: &mut String, metric: &Metric) -> std::fmt::Result {
    writeln!(out, "| `{}` | {} | {} |", metric.name, metric.unit.as_str(), metric.doc.replace('\n', " "))
}

fn write_view(out: &mut String, view: &View) -> std::fmt::Result {
    write!(out, "\n### `{}`\n\n{}\n", view.name, view.doc.replace('\n', "\n\n"))?;
    for (title, rows, sign) in [("parameter", &view.params, "$"), ("column", &view.columns, "")] {
        if !rows.is_empty() {
            writeln!(out, "\n| {title} | type | meaning |\n|---|---|---|")?;
        }
        for Documented { name, ty, doc } in rows {
            writeln!(out, "| `{sign}{name}` | {ty} | {doc} |")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_one_row_of_the_page() {
        let (page, queries) = (docs(), Queries::shipped());
        let rows = |view: &View| view.columns.len() + view.params.len();
        let expected = queries.metrics().len() + queries.views().iter().map(rows).sum::<usize>();
        let found: Vec<&str> = page.lines().filter(|l| l.starts_with("| `")).collect();
        assert_eq!(found.len(), expected);
        assert!(found.iter().all(|l| l.matches('|').count() == 4), "a cell holds a bar");
    }
}
