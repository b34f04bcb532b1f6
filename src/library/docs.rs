//! The SQL library as a page of Markdown, for the documentation. Not what is in it (see `queries/`).

use std::fmt::Write as _;

use super::queries::{Alias, Documented, Metric, Queries, View};
use super::table_functions::{TABLE_FUNCTIONS, TableFunction};

/// How a user adds to the library.
const OF_YOUR_OWN: &str = "
## Files of your own

`btfdb query`, `metrics`, `shell` and `check --requirements` take `--sql-path DIR`, as often as you like: a folder of `.sql` files,
in it or in folders in it. A file holds one `SELECT` and is named after what it is: `Writes.sql` is the metric Writes. Its
header, the comment lines at its top, says what that is, in text and in lines `-- KEY: VALUE`:

| key | value |
|---|---|
| unit | `duration` (ticks), `count` or `percent`. The file is a metric and has the columns recording, entity, type, core, instance, value and at, one row per sample; `value` is NULL for an instance that the trace cuts off. |
| fold | For a metric with one value per entity and window of time. `sum`: the values whose `at` lies in the window are added. `share`: a row is a stretch of time, `value` ticks from `at` on; its part in the window counts, in percent of the window. |
| group | `core`: one result per core and entity instead of one for all cores. |
| alias | NAME and text: another name of a metric. |
| column | NAME, type and text, for every column in its order. The file is a view. Types: text, integer, time, duration, percent, number, boolean, list. |
| param | NAME, type and text: what `$NAME` in the SQL is. A metric has `from` and `to`, the time that is asked for, or none. |

Views may read tables, views that ship with btfdb and each other. A header that does not fit its SQL is an error, as is a name that
is taken. For example, how often each signal is written, in `Writes.sql`:
";

/// An SQL file of a user.
pub(crate) const EXAMPLE: &str = "\
-- How often a signal is written.
--
-- unit: count
-- fold: sum
SELECT
    recording,
    target AS entity,
    target_type AS type,
    CAST(NULL AS VARCHAR) AS core,
    target_instance AS instance,
    1 AS value,
    time AS at
FROM btf_event
WHERE target_type = 'SIG' AND action = 'write'
";

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
         `btfdb metrics` computes, [here](metrics.md)\nis what it answers; `btfdb metrics --show NAME` prints the SQL of one. Times \
         are ticks, as in the tables. Files of your own are\nadded with `--sql-path`, see the end of this page.\n\n\
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
    out.push_str(INTERVALS);
    for function in TABLE_FUNCTIONS {
        let _ = write_function(&mut out, function);
    }
    out + "\n" + OF_YOUR_OWN.trim_start() + "\n```sql\n" + EXAMPLE + "```\n"
}

fn write_metric(out: &mut String, metric: &Metric) -> std::fmt::Result {
    write!(out, "| `{}` | {} | {}", metric.name, metric.unit.as_str(), metric.doc.replace('\n', " "))?;
    let other = |a: &Alias| format!("`{}` ({})", a.name, a.doc.trim_end_matches('.'));
    match metric.aliases.iter().map(other).collect::<Vec<_>>().join(", ") {
        others if others.is_empty() => writeln!(out, " |"),
        others => writeln!(out, " Also {others}. |"),
    }
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
    use crate::library::queries::Query;

    #[test]
    fn the_example_is_a_metric() {
        assert!(matches!(Query::parse("mine", "Writes", EXAMPLE, None), Ok(Query::Metric(_))));
    }

    #[test]
    fn every_column_is_one_row_of_the_page() {
        let (page, queries) = (docs(), Queries::shipped());
        let rows = |view: &View| view.columns.len() + view.params.len();
        let of_functions = TABLE_FUNCTIONS.iter().map(|f| f.arguments.len() + f.columns.len()).sum::<usize>();
        let expected =
            queries.metrics().len() + queries.views().iter().map(rows).sum::<usize>() + of_functions;
        let page = page.split(OF_YOUR_OWN.trim()).next().unwrap();
        let found: Vec<&str> = page.lines().filter(|l| l.starts_with("| `")).collect();
        assert_eq!(found.len(), expected);
        assert!(found.iter().all(|l| l.matches('|').count() == 4), "a cell holds a bar");
    }
}
