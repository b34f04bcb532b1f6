//! `docs/library.md`: the SQL library as a page of Markdown. Not what is in it (see `queries/`).

use btfdb::internals::{Alias, Documented, MADE_FUNCTIONS, TABLE_FUNCTIONS, TableFunction, View};
use btfdb::{Metric, Queries};
use std::fmt::Write as _;

/// How to ask for gaps, and how a user adds to the library.
const OF_YOUR_OWN: &str = "
## Gaps

What the recorder lost is in table `gap`, and nothing is known there. Two functions ask for it; the views of this page do, too.

* `gap_after(recording, core, at)` is the first instant, from `at` on, that lies in a gap of the core, or of all cores; of any core if
  `core` is NULL. It is NULL if there is none: `gap_after(recording, core, at) < later` is true if something may be hidden.
* `gap_between(recording, core, at, next_core, next_at)` is true if a gap begins between two moments: a gap of all cores, or, if both
  are on one core, of that core.

## Files of your own

`btfdb query`, `metrics`, `shell` and `check --requirements` take `--sql-path DIR`, any number of times. DIR is a folder of `.sql`
files, which may be in subfolders. A file holds one `SELECT` and has the name of its metric or view: `Writes.sql` is the metric
Writes. Its header, the comment lines at its top, describes it in text and in lines `-- KEY: VALUE`:

| key | value |
|---|---|
| unit | `duration` (ticks), `count` or `percent`. The file is a metric and has the columns recording, entity, type, core, instance, value and at, one row per sample; `value` is NULL for an instance that the trace cuts off. |
| fold | For a metric with one value per entity and window of time. `sum`: the values whose `at` is in the window are added. `share`: a row is a span of `value` ticks from `at` on; its part in the window counts, in percent of the window. |
| group | `core`: one result per core and entity instead of one for all cores. |
| alias | NAME and text: another name of a metric. |
| column | NAME, type and text, for every column in its order. The file is a view. Types: text, integer, time, duration, percent, number, boolean, list. |
| param | NAME, type and text: the meaning of `$NAME` in the SQL. A metric has the parameters `from` and `to`, the requested time, or none. |

Views may read tables, shipped views and each other. A header that does not fit its SQL is an error, and so is a name that exists
already. An example is `Writes.sql`, which counts the writes of each signal:
";

/// An SQL file of a user.
const EXAMPLE: &str = include_str!("Writes.sql");

/// The functions that know the words of BTF.
/// What the list of functions begins with whose rows an operation makes.
const MADE: &str = "
## Analyses as table functions

The rows of these functions, and of the views `response_bound`, `bound_assumption`, `tail`, `requirement_verdict` and
`requirement_violation`, come from an analysis, all at once, each time that a statement reads them: `CREATE TABLE t AS SELECT …` keeps
them for the session. A condition on `recording` chooses which recordings are read. Arguments are texts. With `--cluster`, the process
that asks makes these rows, and runs the whole statement.
";

/// Those that no view has the text of.
fn made_functions() -> impl Iterator<Item = &'static TableFunction> {
    MADE_FUNCTIONS.iter().map(|made| &made.function).filter(|function| !function.doc.is_empty())
}

const WORDS: &str = "
## Words of BTF

`btf_event` has the types and actions as their file spells them: `ISR` and `I`, `mtalimitexceeded`, `mpalimitexceeded` and
`mtalimitexceded`, in upper or lower case. Three functions compare what they mean. They cost no more than `=`, and skip the parts
of a file that have no such word.

* `is_action(action, 'start', 'resume')` is true if the action means one of these.
* `is_type(target_type, 'T', 'I')` is true if the type means one of these.
* `is_environment(source)` is true for `SIM`, `Sim`, `Simulation` and `SYSTEM`: what is outside of the traced software.
";

/// What all table functions have in common, and what plain SQL does.
const INTERVALS: &str = "
## Table functions

Table functions are called in FROM. A relation is the name of a table, a view or a `WITH` query, or a query in brackets. A
query in brackets can also rename columns: `interval_merge((SELECT core, start_at AS begin_at, terminate_at AS end_at FROM
process_instance), core)`.

Intervals are half-open, `[begin_at, end_at)`. An interval that does not end after it begins is empty and left out, and so is
one whose begin or end is NULL. NULL is a key like any other, as in GROUP BY. Where keys are compared, NULL equals nothing, as in
a join.

A key is text, a whole number, true or false. Its Arrow type may differ between two relations; keys are compared as by `=`.

Each function runs in one pass over rows in the order of time. It holds what is open at one instant, and a few numbers per key.
Rows that are in this order already are not sorted. A sort of others needs at most `--memory-limit` of memory, and the disk.

Two questions need no function:

* **What overlaps?** A join, inner or outer, `EXISTS` or `NOT EXISTS`, with `a.begin_at < b.end_at AND b.begin_at < a.end_at` (or,
  for an instant, `a.begin_at <= b.time AND b.time < a.end_at`) runs as a sweep, with or without equal keys. `EXPLAIN` shows
  `OverlapJoinExec`.
* **What was the case then?** Within one table, `last_value(…) IGNORE NULLS OVER (ORDER BY time, seq)` is one pass without a sort.
  For two relations, use `as_of` or the following join, which is the same. `EXPLAIN` shows `AsOfJoinExec`. For one column, the
  query in brackets can be in SELECT.

```sql
SELECT e.time, e.variable, s.process
FROM data_event AS e
LEFT JOIN LATERAL (
    SELECT process FROM process_state AS p
    WHERE p.core = e.core AND p.state = 'running' AND p.begin_at <= e.time
    ORDER BY p.begin_at DESC LIMIT 1
) AS s ON true
```
";

/// The begin of the page.
const INTRODUCTION: &str = "\
# The SQL library

Every database has these views in addition to its [tables](tables.md). A view with parameters needs their values: `btfdb query
engine.db \"SELECT * FROM core_peak\" --param window=10ms --param step=1ms`.

`btfdb metrics` computes the metrics; [metrics.md](metrics.md) describes its result. `btfdb metrics --show NAME` prints the SQL
of a metric. Times are ticks, as in the tables.

Whole numbers are exact or an error. `sum`, `+`, `-`, `*` and `<<` that do not fit into 64 bits are refused with the name of the
expression, instead of wrapping around; with `CAST(x AS DECIMAL(38, 0))` there is more room. Whether a sum fails depends on its result alone, not
on the order of the rows or the number of threads. Of `DOUBLE`, the last digits of `sum`, `avg`, `corr` and the like depend on the order in
which threads add the rows. `FROM t` is short for `SELECT * FROM t`.

`--sql-path` adds files of your own; the end of this page describes them.

## Metrics

| metric | value | meaning |
|---|---|---|
";

/// All metrics, views and table functions as Markdown, with every parameter and column.
pub fn docs() -> String {
    let mut out = INTRODUCTION.to_owned();
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
    out.push_str(MADE);
    for function in made_functions() {
        let _ = write_function(&mut out, function);
    }
    out.push_str(WORDS);
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

#[test]
fn every_column_is_one_row_of_the_page() {
    let (page, queries) = (docs(), Queries::shipped());
    let rows = |view: &View| view.columns.len() + view.params.len();
    let functions = TABLE_FUNCTIONS.iter().chain(made_functions());
    let of_functions = functions.map(|f| f.arguments.len() + f.columns.len()).sum::<usize>();
    let expected = queries.metrics().len() + queries.views().iter().map(rows).sum::<usize>() + of_functions;
    let page = page.split(OF_YOUR_OWN.trim()).next().unwrap();
    let found: Vec<&str> = page.lines().filter(|l| l.starts_with("| `")).collect();
    assert_eq!(found.len(), expected);
    assert!(found.iter().all(|l| l.matches('|').count() == 4), "a cell holds a bar");
}
