//! Joins of rows whose intervals of time overlap, with or without equal keys:
//! `a.begin < b.end AND b.begin < a.end`, or a point in an interval. Replaces them in a plan by a sweep over
//! both inputs, which reads each once, in the order of the begins. Rows without a match are part of the
//! output if the join asks for them. Not if one side is small: there, a join of DataFusion is as good.

mod join;
mod side;
mod sweep;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{JoinSide, JoinType, NullEquality, Result};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, Column};
use datafusion::physical_expr::{PhysicalExpr, conjunction, split_conjunction};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec};
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};

use super::key_type::is_key_type;
use super::streaming::StreamingExec;
use join::OverlapJoin;
use side::Bounds;

/// A side with at most this many rows is small: each row of the other one is compared with all of them.
const SMALL_SIDE_ROWS: usize = 256;

/// Expressions that must be equal, on the left and on the right.
type Equal = (Arc<dyn PhysicalExpr>, Arc<dyn PhysicalExpr>);

struct Join<'a> {
    inputs: [&'a Arc<dyn ExecutionPlan>; 2],
    kind: JoinType,
    on: &'a [Equal],
    filter: &'a JoinFilter,
    projection: Option<Vec<usize>>,
}

/// `less < more`, or `<=`, and the sides of both.
struct Comparison {
    less: (JoinSide, Arc<dyn PhysicalExpr>),
    more: (JoinSide, Arc<dyn PhysicalExpr>),
    strict: bool,
}

/// The same rows by a sweep, if `node` is a join of overlapping intervals.
pub(in crate::engine) fn by_sweep(node: &Arc<dyn ExecutionPlan>) -> Result<Option<StreamingExec>> {
    let Some(join) = Join::of(node) else { return Ok(None) };
    for input in join.inputs {
        if let Precision::Exact(rows) | Precision::Inexact(rows) =
            StatisticsContext::new().compute(input.as_ref(), &StatisticsArgs::new())?.num_rows
            && rows <= SMALL_SIDE_ROWS
        {
            return Ok(None);
        }
    }
    for (left, right) in join.on {
        let types = [left.data_type(&join.inputs[0].schema())?, right.data_type(&join.inputs[1].schema())?];
        if types[0] != types[1] || !types.iter().all(is_key_type) {
            return Ok(None);
        }
    }
    let conjuncts = split_conjunction(join.filter.expression());
    let (mut first, mut second, mut rest) = (None, None, Vec::new());
    for conjunct in conjuncts {
        let slot = match join.comparison(conjunct)? {
            Some(c) if (c.less.0, c.more.0) == (JoinSide::Left, JoinSide::Right) => Some((&mut first, c)),
            Some(c) if (c.less.0, c.more.0) == (JoinSide::Right, JoinSide::Left) => Some((&mut second, c)),
            _ => None,
        };
        match slot {
            Some((slot @ None, comparison)) => *slot = Some(comparison),
            _ => rest.push(Arc::clone(conjunct)),
        }
    }
    let (Some(first), Some(second)) = (first, second) else { return Ok(None) };
    let keys = |side: fn(&Equal) -> &Arc<dyn PhysicalExpr>| {
        join.on.iter().map(|pair| Arc::clone(side(pair))).collect()
    };
    let left = Bounds { lo: first.less.1, hi: second.more.1, keys: keys(|on| &on.0), strict: first.strict };
    let right = Bounds { lo: second.less.1, hi: first.more.1, keys: keys(|on| &on.1), strict: second.strict };
    // The other conditions belong to the match: rows without a pair that meets them have no match.
    let filter = (!rest.is_empty()).then(|| {
        let (columns, schema) = (join.filter.column_indices().to_vec(), Arc::clone(join.filter.schema()));
        JoinFilter::new(conjunction(rest), columns, schema)
    });
    let operator =
        OverlapJoin { bounds: [left, right], kind: join.kind, filter, projection: join.projection };
    StreamingExec::try_new(join.inputs.map(Arc::clone).to_vec(), Arc::new(operator)).map(Some)
}

impl<'a> Join<'a> {
    fn of(node: &'a Arc<dyn ExecutionPlan>) -> Option<Self> {
        let marks = |kind| matches!(kind, JoinType::LeftMark | JoinType::RightMark);
        if let Some(join) = node.downcast_ref::<HashJoinExec>() {
            let plain = join.null_equality() == NullEquality::NullEqualsNothing
                && join.fetch().is_none()
                && !join.null_aware;
            let (kind, projection) = (*join.join_type(), join.projection.as_ref().map(|c| c.to_vec()));
            let filter = join.filter().filter(|_| plain && !marks(kind))?;
            return Some(Self {
                inputs: [join.left(), join.right()],
                kind,
                on: join.on(),
                filter,
                projection,
            });
        }
        let join = node.downcast_ref::<NestedLoopJoinExec>()?;
        let (kind, projection) = (*join.join_type(), join.projection().as_ref().map(|c| c.to_vec()));
        let filter = join.filter().filter(|_| !marks(kind))?;
        Some(Self { inputs: [join.left(), join.right()], kind, on: &[], filter, projection })
    }

    /// A comparison of an integer of each side of the join.
    fn comparison(&self, conjunct: &Arc<dyn PhysicalExpr>) -> Result<Option<Comparison>> {
        let Some(binary) = conjunct.downcast_ref::<BinaryExpr>() else { return Ok(None) };
        let (less, more, strict) = match binary.op() {
            Operator::Lt => (binary.left(), binary.right(), true),
            Operator::LtEq => (binary.left(), binary.right(), false),
            Operator::Gt => (binary.right(), binary.left(), true),
            Operator::GtEq => (binary.right(), binary.left(), false),
            _ => return Ok(None),
        };
        let schema = self.filter.schema();
        if [less, more].iter().any(|e| !matches!(e.data_type(schema), Ok(DataType::Int64))) {
            return Ok(None);
        }
        match (self.of_one_side(less)?, self.of_one_side(more)?) {
            (Some(less), Some(more)) => Ok(Some(Comparison { less, more, strict })),
            _ => Ok(None),
        }
    }

    /// The side that all columns of an expression of the filter belong to, and the expression over that side.
    fn of_one_side(&self, e: &Arc<dyn PhysicalExpr>) -> Result<Option<(JoinSide, Arc<dyn PhysicalExpr>)>> {
        let (mut sides, indices) = (Vec::new(), self.filter.column_indices());
        let place = |node: Arc<dyn PhysicalExpr>| {
            let column = node.downcast_ref::<Column>();
            let Some((name, at)) = column.and_then(|c| Some((c.name().to_owned(), indices.get(c.index())?)))
            else {
                return Ok(Transformed::no(node));
            };
            sides.push(at.side);
            Ok(Transformed::yes(Arc::new(Column::new(&name, at.index)) as _))
        };
        let placed = Arc::clone(e).transform_up(place).data()?;
        let side = sides.first().copied().filter(|side| *side != JoinSide::None);
        Ok(side.filter(|side| sides.iter().all(|s| s == side)).map(|side| (side, placed)))
    }
}
