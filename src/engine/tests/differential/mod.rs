//! Random statements, whose rows have to be the same for 1, 2, 3 and 8 threads, in small batches and in large
//! ones, with our operators and rules and without them; `tests/differential.py` runs them in DuckDB as well.
//!
//! `BTFDB_STATEMENTS=20000` is the full run; some hundred are part of every test run. With
//! `BTFDB_STATEMENTS_TO=DIR`, the database and the statements with their rows are left in `DIR`.
//! `BTFDB_STATEMENTS_FROM=N` begins with number N, so that several processes can share a run. Every statement
//! has its own seed: its number.

mod data;
mod statements;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::collect;
use datafusion::prelude::SessionContext;

use super::operators::{in_steps, plain};
use crate::engine::plan::plan;
use crate::engine::runtime::STACK;
use crate::engine::{Session, SessionOptions};
use crate::store::Database;
use statements::{Dialect, statement};

/// Statements of every test run.
const FEW: u64 = 120;
/// Between cells of a row.
const CELL: &str = "\u{1f}";

/// Splitmix64: enough for a choice of statements, and the same everywhere.
pub(super) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 to `bound` - 1.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// In so many of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize].clone()
    }
}

/// A way to run statements: its name, the session, and the context.
type Way = (&'static str, Session, SessionContext);

fn ways(folder: &Path) -> Vec<Way> {
    // They share the files that scans read: a plan of one runs in the others.
    let database = Database::open(folder.join("db")).unwrap();
    let session = |threads| {
        let options = SessionOptions { threads: Some(threads), ..SessionOptions::default() };
        Session::open(database.clone(), options).unwrap()
    };
    let mut ways: Vec<Way> = Vec::new();
    for (name, threads, batch) in
        [("1 thread", 1, 8192), ("2 threads", 2, 24), ("3 threads", 3, 64), ("8 threads", 8, 16)]
    {
        let session = session(threads);
        let context = in_steps(session.context(), batch);
        ways.push((name, session, context));
    }
    let session = session(2);
    // It keeps the rule that finds as-of joins, some of which DataFusion has no way to run.
    let context = plain(&session);
    ways.push(("without our rules", session, in_steps(&context, 32)));
    ways
}

type Rows = Result<Vec<String>, String>;

/// The plan of a statement, after all rules that are the same in all ways: those cost the most time.
fn planned(session: &Session, sql: &str) -> Result<LogicalPlan, String> {
    let state = session.context().state();
    let plan = session.runner().runtime().block_on(plan(&state, sql));
    plan.and_then(|plan| state.optimize(&plan)).map_err(|e| e.to_string())
}

/// The rows of a result, sorted; floating-point numbers in seven digits, because their sums depend on the
/// order.
fn rows((_, session, context): &Way, plan: &LogicalPlan) -> Rows {
    let state = context.state();
    let result = session.runner().runtime().block_on(async {
        let plan = state.query_planner().create_physical_plan(plan, &state).await?;
        collect(plan, context.task_ctx()).await
    });
    let mut rows: Vec<String> = result.map_err(|e| e.to_string())?.iter().flat_map(cells).collect();
    rows.sort_unstable();
    Ok(rows)
}

fn cells(batch: &RecordBatch) -> Vec<String> {
    let options = FormatOptions::new().with_null("-");
    let column = |array: &ArrayRef| -> Vec<String> {
        if array.data_type().is_floating() {
            let numbers = cast(array, &DataType::Float64).unwrap();
            let number = |n: Option<f64>| match n {
                None => "-".to_owned(),
                Some(n) if n.abs() < 1e-6 => "0".to_owned(),
                Some(n) => format!("{n:.6e}"),
            };
            return numbers.as_primitive::<Float64Type>().iter().map(number).collect();
        }
        let formatter = ArrayFormatter::try_new(array, &options).unwrap();
        (0..array.len()).map(|row| formatter.value(row).to_string()).collect()
    };
    let columns: Vec<_> = batch.columns().iter().map(column).collect();
    let row = |row: usize| columns.iter().map(|c| c[row].as_str()).collect::<Vec<_>>().join(CELL);
    (0..batch.num_rows()).map(row).collect()
}

fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap())
}

#[test]
fn random_statements_have_the_same_rows_in_all_ways() {
    // Plans are made with deep recursions.
    let run = std::thread::Builder::new().stack_size(STACK).spawn(run).unwrap();
    run.join().unwrap();
}

fn run() {
    let (count, from) =
        (number_of("BTFDB_STATEMENTS").unwrap_or(FEW), number_of("BTFDB_STATEMENTS_FROM").unwrap_or(0));
    let kept = std::env::var_os("BTFDB_STATEMENTS_TO").map(std::path::PathBuf::from);
    let temporary = tempfile::TempDir::new().unwrap();
    let folder = kept.as_deref().unwrap_or(temporary.path());
    if !folder.join("db").exists() {
        data::make(folder);
    }
    let mut file = kept
        .as_ref()
        .map(|folder| BufWriter::new(File::create(folder.join(format!("statements-{from}.jsonl"))).unwrap()));
    let ways = ways(folder);
    let (mut differing, mut refused, mut empty) = (Vec::new(), 0, 0);
    for seed in from..from + count {
        let text = statement(&mut Random::new(seed));
        let sql = text.in_dialect(Dialect::Ours);
        let plan = planned(&ways[0].1, &sql);
        let of = |way: &Way| plan.as_ref().map_err(Clone::clone).and_then(|plan| rows(way, plan));
        let expected = of(&ways[0]);
        refused += u64::from(expected.is_err());
        empty += u64::from(expected.as_ref().is_ok_and(Vec::is_empty));
        for way in &ways[1..] {
            let found = of(way);
            let same = match (&found, &expected) {
                (Ok(found), Ok(expected)) => found == expected,
                (Err(_), Err(_)) => true,
                _ => false,
            };
            if !same {
                let first = |rows: &Rows| match rows {
                    Ok(rows) => format!("{} rows", rows.len()),
                    Err(e) => e.clone(),
                };
                let difference =
                    format!("{seed}, {}: {sql}\n  {}\n  {}", way.0, first(&expected), first(&found));
                let shown = match (&expected, &found) {
                    (Ok(expected), Ok(found)) => {
                        let at = expected.iter().zip(found).position(|(e, f)| e != f);
                        let at = at.unwrap_or(expected.len().min(found.len()));
                        format!("\n  {:?}\n  {:?}", expected.get(at), found.get(at))
                    }
                    _ => String::new(),
                };
                eprintln!("DIFFERENT {difference}{shown}");
                differing.push(difference);
            }
        }
        if let Some(file) = &mut file {
            let line = serde_json::json!({
                "seed": seed,
                "sql": sql,
                "duckdb": text.in_dialect(Dialect::DuckDb),
                "rows": expected.as_ref().ok(),
                "error": expected.as_ref().err(),
            });
            writeln!(file, "{line}").unwrap();
        }
    }
    if let Some(mut file) = file {
        file.flush().unwrap();
    }
    eprintln!("{count} statements, {} different, {refused} refused, {empty} without rows", differing.len());
    assert!(differing.is_empty(), "{} differences, the first: {}", differing.len(), differing[0]);
    // A generator that makes mistakes would test nothing.
    assert!(refused * 20 <= count && empty * 3 <= count, "{refused} refused, {empty} without rows");
}
