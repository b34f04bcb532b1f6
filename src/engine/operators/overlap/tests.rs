//! The sweep against a comparison of all pairs.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::physical_expr::expressions::Column;
use proptest::prelude::*;

use datafusion::common::JoinSide;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::BinaryExpr;
use datafusion::physical_plan::joins::utils::{ColumnIndex, JoinFilter};

use super::super::streaming::{OperatorRun, Progress};
use super::side::Bounds;
use super::sweep::{Sweep, SweepOutput};

/// Key, begin, end.
type Row = (Option<&'static str>, Option<i64>, Option<i64>);

fn schema(sides: usize) -> SchemaRef {
    let one = [
        ("key", DataType::Utf8View),
        ("lo", DataType::Int64),
        ("hi", DataType::Int64),
        ("id", DataType::Int64),
    ];
    let fields = one.iter().cycle().take(4 * sides).map(|(name, ty)| Field::new(*name, ty.clone(), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn batch(rows: &[(usize, Row)]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(rows.iter().map(|r| r.1.0).collect::<StringViewArray>()),
        Arc::new(rows.iter().map(|r| r.1.1).collect::<Int64Array>()),
        Arc::new(rows.iter().map(|r| r.1.2).collect::<Int64Array>()),
        Arc::new(rows.iter().map(|r| Some(r.0 as i64)).collect::<Int64Array>()),
    ];
    RecordBatch::try_new(schema(1), columns).unwrap()
}

fn bounds(keyed: bool, strict: bool) -> Bounds {
    let column = |name, at| Arc::new(Column::new(name, at)) as _;
    let keys = if keyed { vec![column("key", 0)] } else { Vec::new() };
    Bounds { lo: column("lo", 1), hi: column("hi", 2), keys, strict }
}

/// `l.id < r.lo`.
fn filter() -> JoinFilter {
    let columns = [(JoinSide::Left, 3), (JoinSide::Right, 1)];
    let columns = columns.map(|(side, index)| ColumnIndex { side, index }).to_vec();
    let column = |at| Arc::new(Column::new("c", at)) as _;
    let schema = ["l", "r"].map(|name| Field::new(name, DataType::Int64, true)).to_vec();
    let less = Arc::new(BinaryExpr::new(column(0), Operator::Lt, column(1)));
    JoinFilter::new(less, columns, Arc::new(Schema::new(schema)))
}

/// What a join asks for: the pairs, single rows, with a filter.
type Query = (bool, [Option<bool>; 2], bool);

const PAIRS: Query = (true, [None, None], false);

/// Positions in `left` and `right`, ascending.
fn swept(
    left: &[Row],
    right: &[Row],
    keyed: bool,
    strict: [bool; 2],
    query: Query,
    portion: usize,
) -> Vec<(Option<usize>, Option<usize>)> {
    let (pairs, single, filtered) = query;
    let columns = (0..8).map(|i| (i / 4, i % 4)).collect();
    let output = SweepOutput { pairs, single, filter: filtered.then(filter), columns, schema: schema(2) };
    let mut sweep =
        Sweep::new(strict.map(|strict| bounds(keyed, strict)), vec![schema(1), schema(1)], output);
    sweep.most_keys = 1;
    let mut inputs = [left, right].map(|rows| {
        let mut rows: Vec<(usize, Row)> = rows.iter().copied().enumerate().collect();
        rows.sort_by_key(|(_, row)| (row.1.is_none(), row.1));
        rows.chunks(portion).map(batch).collect::<Vec<_>>().into_iter()
    });
    let mut found = Vec::new();
    loop {
        match sweep.step().unwrap() {
            Progress::Needs(side) => sweep.take(side, inputs[side].next()).unwrap(),
            Progress::Rows(rows) => {
                let ids = [3, 7].map(|i| rows.column(i).as_primitive::<Int64Type>().clone());
                found.extend((0..rows.num_rows()).map(|row| {
                    let [left, right] =
                        ids.each_ref().map(|ids| ids.is_valid(row).then(|| ids.value(row) as usize));
                    (left, right)
                }));
            }
            Progress::Done => break,
        }
    }
    found.sort_unstable();
    found
}

fn compared(
    left: &[Row],
    right: &[Row],
    keyed: bool,
    strict: [bool; 2],
    query: Query,
) -> Vec<(Option<usize>, Option<usize>)> {
    let (pairs, [of_left, of_right], filtered) = query;
    let before = |lo: Option<i64>, hi: Option<i64>, strict| match lo.zip(hi) {
        Some((lo, hi)) => {
            if strict {
                lo < hi
            } else {
                lo <= hi
            }
        }
        None => false,
    };
    let mut found = Vec::new();
    for (i, l) in left.iter().enumerate() {
        for (j, r) in right.iter().enumerate() {
            let equal = !keyed || (l.0.is_some() && l.0 == r.0);
            // A row without a bound overlaps nothing, whichever bound is missing.
            let whole = [l.1, l.2, r.1, r.2].iter().all(Option::is_some);
            let holds = !filtered || r.1.is_some_and(|lo| (i as i64) < lo);
            if equal && whole && holds && before(l.1, r.2, strict[0]) && before(r.1, l.2, strict[1]) {
                found.push((Some(i), Some(j)));
            }
        }
    }
    let lone_left = (0..left.len()).map(|i| (Some(i), found.iter().any(|f| f.0 == Some(i))));
    let lone_right = (0..right.len()).map(|j| (Some(j), found.iter().any(|f| f.1 == Some(j))));
    let lone_left = lone_left.filter(|(_, met)| of_left == Some(*met)).map(|(i, _)| (i, None));
    let lone_right = lone_right.filter(|(_, met)| of_right == Some(*met)).map(|(j, _)| (None, j));
    let mut all: Vec<_> = lone_left.chain(lone_right).collect();
    all.extend(found.into_iter().filter(|_| pairs));
    all.sort_unstable();
    all
}

fn row() -> impl Strategy<Value = Row> {
    let key =
        prop::option::weighted(0.9, prop::sample::select(vec!["a", "b", "a key of more than twelve bytes"]));
    let bound = || prop::option::weighted(0.95, 0i64..30);
    (key, bound(), bound(), 0i64..8, any::<bool>()).prop_map(|(key, lo, hi, length, wild)| match lo {
        // Some intervals end before they begin.
        Some(at) if !wild => (key, lo, Some(at + length)),
        _ => (key, lo, hi),
    })
}

proptest! {
    #[test]
    fn the_sweep_finds_every_pair_once_and_every_row_without_one(
        left in prop::collection::vec(row(), 0..60),
        right in prop::collection::vec(row(), 0..60),
        keyed: bool,
        strict: [bool; 2],
        query: Query,
        portion in 1usize..20,
    ) {
        prop_assert_eq!(
            swept(&left, &right, keyed, strict, query, portion),
            compared(&left, &right, keyed, strict, query)
        );
    }
}

#[test]
fn many_batches_kept_for_a_row_each_become_one() {
    // Each batch has one interval without end and many short ones.
    let long = |i: i64| (Some("a"), Some(i), Some(if i % 10 == 0 { 100_000 } else { i + 1 }));
    let left: Vec<Row> = (0..2000).map(long).collect();
    let right: Vec<Row> = (0..2000).step_by(7).map(|i| (Some("a"), Some(i), Some(i))).collect();
    let strict = [false, true];
    for query in [PAIRS, (true, [Some(false), None], true), (false, [Some(true), Some(false)], false)] {
        let expected = compared(&left, &right, true, strict, query);
        assert!(expected.len() > 200);
        assert_eq!(swept(&left, &right, true, strict, query, 10), expected);
    }
}

#[test]
fn rows_of_keys_that_do_not_come_again_are_not_held() {
    let columns = (0..8).map(|i| (i / 4, i % 4)).collect();
    let output = SweepOutput { pairs: true, single: [None, None], filter: None, columns, schema: schema(2) };
    let mut sweep = Sweep::new([true, true].map(|strict| bounds(true, strict)), vec![schema(1); 2], output);
    sweep.most_keys = 2000;
    let rows = |from: i64| {
        let columns: [ArrayRef; 4] = [
            Arc::new((from..from + 1000).map(|i| Some(format!("instance {i}"))).collect::<StringViewArray>()),
            Arc::new((from..from + 1000).collect::<Int64Array>()),
            Arc::new((from + 10..from + 1010).collect::<Int64Array>()),
            Arc::new((from..from + 1000).collect::<Int64Array>()),
        ];
        RecordBatch::try_new(schema(1), columns.to_vec()).unwrap()
    };
    let (mut read, mut pairs, mut most) = ([0, 0], 0, 0);
    loop {
        match sweep.step().unwrap() {
            Progress::Needs(side) => {
                let next = (read[side] < 300_000).then(|| rows(read[side]));
                read[side] += 1000;
                sweep.take(side, next).unwrap();
                most = most.max(sweep.memory());
            }
            Progress::Rows(rows) => pairs += rows.num_rows(),
            Progress::Done => break,
        }
    }
    assert_eq!(pairs, 300_000);
    assert!(most < 8 << 20, "{most} bytes");
}
