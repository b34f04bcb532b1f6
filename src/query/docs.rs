//! The SQL library as a page of Markdown, for the documentation. Not what is in it (see `queries/`).

use std::fmt::Write as _;

use super::stdlib::{Documented, Metric, View, metrics, views};
use super::table_functions::{TABLE_FUNCTIONS, TableFunction};

/// What is the same for all table functions, and what plain SQL does.
const INTERVALS: &str = "\n## Table functions\n\nThey are called in FROM. A relation is the name of a table, a view or a `WITH` query, or a \
     query in brackets, which is also how columns get the\nnames that are asked for: `interval_merge((SELECT core, start_at AS begin_at, \
     terminate_at AS end_at FROM process_instance), core)`.\n\nIntervals are half-open, `[begin_at, end_at)`. One that does not end \
     after it begins has no instant and is left out, as is one whose begin or end is NULL.\nNULL is a key like any other, as in GROUP \
     BY; where keys are compared, NULL equals nothing, as in a join.\n\nAll of them run in one pass over rows in the order of time and \
     hold what is open at one instant, and a few numbers per key. Rows that\nare in this order already are not sorted, a sort of \
     others goes by way of the disk within `--memory-limit`.\n\nTwo questions need no function. **What overlaps?** A join, inner or \
     outer, `EXISTS` or `NOT EXISTS`, with `a.begin_at < b.end_at AND\nb.begin_at < a.end_at` (or, for an instant, `a.begin_at <= \
     b.time AND b.time < a.end_at`) runs as a sweep, with equal keys or without; `EXPLAIN` shows\n`OverlapJoinExec`. **What was \
     the case then?** Within one table, `last_value(…) IGNORE NULLS OVER (ORDER BY time, seq)` is a pass over it as it lies; for\n\
     two relations, `as_of` or\n\n```sql\nSELECT e.time, e.variable, s.process\nFROM data_event AS e\nLEFT JOIN LATERAL (\n    \
     SELECT process FROM process_state AS p\n    WHERE p.core = e.core AND p.state = 'running' AND p.begin_at <= e.time\n    ORDER BY \
     p.begin_at DESC LIMIT 1\n) AS s ON true\n```\n\nwhich is the same: `EXPLAIN` shows `AsOfJoinExec`. For one column, the query in \
     brackets can stand in SELECT.\n";

/// All metrics, views and table functions as Markdown: what they say, what they have to be given, and every column.
pub fn docs() -> String {
    let mut out = String::from(
        "# The SQL library\n\nViews are there in every database, beside the [tables](tables.md). A view with parameters needs their \
         values:\n`btfdb query engine.db \"SELECT * FROM core_peak\" --param window=10ms --param step=1ms`. Metrics are what \
         `btfdb metrics` computes;\n`btfdb metrics --show NAME` prints the SQL of one. Times are ticks, as in the tables.\n\n\
         ## Metrics\n\n| metric | value | meaning |\n|---|---|---|\n",
    );
    for metric in metrics() {
        // Writing to a string cannot fail.
        let _ = write_metric(&mut out, &metric);
    }
    let mut area = "";
    for view in views() {
        if view.area != area {
            area = view.area;
            let _ = write!(out, "\n## Views: {area}\n");
        }
        let _ = write_view(&mut out, &view);
    }
    out.push_str(INTERVALS);
    for function in TABLE_FUNCTIONS {
        let _ = write_function(&mut out, function);
    }
    out
}

fn write_metric(out: &mut String, metric: &Metric) -> std::fmt::Result {
    writeln!(out, "| `{}` | {} | {} |", metric.name, metric.unit.as_str(), metric.doc.replace('\n', " "))
}

fn write_view(out: &mut String, view: &View) -> std::fmt::Result {
    write!(out, "\n### `{}`\n\n{}\n", view.name, view.doc.replace('\n', "\n\n"))?;
    write_rows(out, "parameter", "$", &view.params)?;
    write_rows(out, "column", "", &view.columns)
}

fn write_function(out: &mut String, function: &TableFunction) -> std::fmt::Result {
    let TableFunction { name, example, doc, arguments, columns } = function;
    write!(out, "\n### `{name}`\n\n{doc}\n\n```sql\n{example}\n```\n")?;
    write_rows(out, "argument", "", arguments)?;
    write_rows(out, "column", "", columns)
}

fn write_rows(out: &mut String, title: &str, sign: &str, rows: &[Documented]) -> std::fmt::Result {
    if !rows.is_empty() {
        writeln!(out, "\n| {title} | type | meaning |\n|---|---|---|")?;
    }
    for Documented { name, ty, doc } in rows {
        writeln!(out, "| `{sign}{name}` | {ty} | {doc} |")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_one_row_of_the_page() {
        let page = docs();
        let rows = |view: &View| view.columns.len() + view.params.len();
        let of_functions = TABLE_FUNCTIONS.iter().map(|f| f.arguments.len() + f.columns.len()).sum::<usize>();
        let expected = metrics().len() + views().iter().map(rows).sum::<usize>() + of_functions;
        let found: Vec<&str> = page.lines().filter(|l| l.starts_with("| `")).collect();
        assert_eq!(found.len(), expected);
        assert!(found.iter().all(|l| l.matches('|').count() == 4), "a cell holds a bar");
    }
}
