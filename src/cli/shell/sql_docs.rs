//! What btfdb adds to SQL, for the page about the shell. Not how it is done (see `engine::sql`).

/// Markdown.
pub(super) const DOCS: &str = "\
## SQL

The engine is DataFusion; its SQL is close to that of PostgreSQL and DuckDB. What btfdb adds, here and in `btfdb query`:

* Times with a unit: `WHERE begin_at < 10ms`, `end_at - begin_at > 1.5us` (`ps`, `ns`, `us`, `ms`, `s`, without a blank). They are
  whole ticks of the database, or an error. `SELECT 10 ms` still is a column that is named `ms`; `10min`, a number with any other
  word at once, is an error.
* Hexadecimal numbers, as recordings print values and masks: `WHERE value = 0x33`, also for `--param`; `1_000_000` is a number, too.
* Columns of a result are named as typed: `max(end_at)+1`. In subqueries, `\"max(end_at)+1\"` is their name.
* `--unit ms` of `query` and `metrics` shows times in a unit, in any format; `.unit ms` in tables of the shell. `begin_at [ms]` then is
  the name of the column. Converted is what certainly counts ticks: columns of times, their sums and differences, `min`, `max`, `avg`,
  `sum` and the like of them, and `CASE`, `coalesce` or `UNION` of times only. What is multiplied or divided (`begin_at / 1e6`) is a
  number as it is, except a quotient by a `count`, which is an average; `SUMMARIZE` always has ticks.
* Columns may occur twice: `SELECT begin_at, *`. In subqueries, views and tables, each needs a name of its own (`AS`). JSON, Parquet and
  Arrow need that as well: there, the second of two columns `process` is `process_1`, and so it is where `read_csv` reads two.
* Whole numbers of more than 64 bits are exact (`DECIMAL(38, 0)`), not `DOUBLE`. `array_sum` refuses lists of whole numbers, whose digits
  it would lose: `SELECT sum(x) FROM unnest([1, 2]) AS list(x)`.
* Lists: `step_at[1]` is the first element, `step_at[2:3]` a part, `[1, 2, 3]` a list; `array_length`, `array_contains`,
  `array_to_string` and others work on them, `unnest` makes rows of them. `generate_series(1, 10)` in FROM makes rows of numbers.
* `arg_max(a, b)`, `arg_min(a, b)`: the value of `a` where `b` is greatest or least (of several, the least `a`); `mode(a)`: the value
  that occurs most often. `quantile(x, 0.9)`, `percentile(x, 0.9)` interpolate, as `percentile_cont` and the percentiles of metrics.
* `approx_median` and `approx_percentile_cont` are exact here, as `median` and `percentile_cont`: an estimate would depend on the number
  of threads. `approx_distinct` is an estimate, always the same one.
* `regexp_extract(text, pattern, group)`: NULL without a match; `regexp_matches(text, pattern)`: whether there is a match.
* Dates, for times that count from 1970: `to_timestamp_nanos(time)`, `to_timestamp(time / 1000000000)`, `date_trunc`, `extract`.
* `SUMMARIZE process_state`, `SUMMARIZE SELECT …`: a row per column, with its least and greatest value, about how many different
  ones it has, average, median, and the numbers of rows and of NULLs. `DESCRIBE process_state`, `DESCRIBE SELECT …`: the types only.
* Instead of `PIVOT`, one aggregate per column: `sum(x) FILTER (WHERE core = 'Core_0') AS core_0`. Instead of `ASOF JOIN`, the
  table function [`as_of`](library.md#table-functions).
* `CREATE VIEW name AS SELECT …` and `CREATE TABLE name AS SELECT …` make views and tables that live as long as the session, in memory;
  `DROP` removes them. They never touch the database, and cannot have the names of its tables. In `btfdb query`, they are for the
  statements that follow: `CREATE TABLE late AS SELECT …; SELECT …`.
* `FROM read_csv('limits.csv')`, `FROM read_parquet('states.parquet')` read a file. Only files in the folder where btfdb was started,
  and in its subfolders, can be read; links that lead out of it are refused, and so is everything with `--no-files`. A CSV has a line of
  names, and commas, semicolons or tabs between its cells, in UTF-8; the types of its columns are those of its first 20,000 rows.

`INSERT`, `UPDATE`, `SET` and the like are refused: SQL only reads.
";
