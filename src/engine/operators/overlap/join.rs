//! The overlap join as a streaming operator. Not for finding places in plans for it, and not the sweep.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::{JoinSide, JoinType, Result};
use datafusion::physical_expr::{LexOrdering, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::joins::utils::{JoinFilter, build_join_schema};

use super::super::key_order::CHECKABLE;
use super::super::streaming::{OperatorRun, StreamingOperator};
use super::side::Bounds;
use super::sweep::{Sweep, SweepOutput};

#[derive(Debug)]
pub(super) struct OverlapJoin {
    pub bounds: [Bounds; 2],
    /// Any kind except mark joins.
    pub kind: JoinType,
    pub filter: Option<JoinFilter>,
    /// Output columns, of those that a join of this kind has; `None`: all.
    pub projection: Option<Vec<usize>>,
}

impl OverlapJoin {
    /// The output columns, and the side (0 or 1) and column that each one comes from.
    fn columns(&self, left: &SchemaRef, right: &SchemaRef) -> Result<(SchemaRef, Vec<(usize, usize)>)> {
        let (mut schema, mut columns) = build_join_schema(left, right, &self.kind);
        if let Some(projection) = &self.projection {
            schema = schema.project(projection)?;
            columns = projection.iter().filter_map(|i| columns.get(*i).cloned()).collect();
        }
        let place = |side: JoinSide| usize::from(side == JoinSide::Right);
        Ok((Arc::new(schema), columns.iter().map(|c| (place(c.side), c.index)).collect()))
    }
}

impl fmt::Display for OverlapJoin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [left, right] = &self.bounds;
        let sign = |strict| if strict { "<" } else { "<=" };
        write!(f, "{}, {} {} {}", self.kind, left.lo, sign(left.strict), right.hi)?;
        write!(f, ", {} {} {}", right.lo, sign(right.strict), left.hi)?;
        let keys: Vec<_> = left.keys.iter().zip(&right.keys).map(|(l, r)| format!("{l} = {r}")).collect();
        write!(f, ", keys=[{}]", keys.join(", "))?;
        self.filter.as_ref().map_or(Ok(()), |filter| write!(f, ", filter={}", filter.expression()))
    }
}

impl StreamingOperator for OverlapJoin {
    fn name(&self) -> &'static str {
        "OverlapJoinExec"
    }

    fn schema(&self, inputs: &[SchemaRef]) -> Result<SchemaRef> {
        match inputs {
            [left, right] => Ok(self.columns(left, right)?.0),
            _ => datafusion::common::internal_err!("an overlap join has two inputs"),
        }
    }

    fn keys(&self, input: usize) -> Vec<Arc<dyn PhysicalExpr>> {
        self.bounds.get(input).map(|bounds| bounds.keys.clone()).unwrap_or_default()
    }

    fn order(&self, input: usize) -> Option<LexOrdering> {
        let lo = Arc::clone(&self.bounds.get(input)?.lo);
        LexOrdering::new([PhysicalSortExpr { expr: lo, options: CHECKABLE }])
    }

    fn expressions(&self) -> Vec<Arc<dyn PhysicalExpr>> {
        let of =
            |bounds: &Bounds| [vec![Arc::clone(&bounds.lo), Arc::clone(&bounds.hi)], bounds.keys.clone()];
        self.bounds.iter().flat_map(of).flatten().collect()
    }

    fn start(&self, inputs: Vec<SchemaRef>, schema: SchemaRef) -> Box<dyn OperatorRun> {
        let columns = match &inputs[..] {
            [left, right] => self.columns(left, right).map(|(_, columns)| columns).unwrap_or_default(),
            _ => Vec::new(),
        };
        let single = match self.kind {
            JoinType::Left | JoinType::LeftAnti => [Some(false), None],
            JoinType::Right | JoinType::RightAnti => [None, Some(false)],
            JoinType::Full => [Some(false), Some(false)],
            JoinType::LeftSemi => [Some(true), None],
            JoinType::RightSemi => [None, Some(true)],
            _ => [None, None],
        };
        let pairs = self.kind == JoinType::Inner || self.kind.is_outer();
        let output = SweepOutput { pairs, single, filter: self.filter.clone(), columns, schema };
        Box::new(Sweep::new(self.bounds.clone(), inputs, output))
    }
}
