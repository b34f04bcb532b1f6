//! Finds the places of a plan where an operator of ours does the work: windows over rows that are in order, groups by
//! name. Not for what the operators do.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_expr::window::WindowExpr;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use datafusion::physical_plan::{ExecutionPlan, Partitioning};

use super::function::Function;
use super::grouped;
use super::in_order::InOrderExec;
use super::keyed::{CHECKABLE, KeyedWindowExec, Windows};

/// Bytes of a file that one partition of a scan in order begins with: about a row group of a few columns.
const PIECE: u64 = 4 << 20;

/// Puts our operators into a plan. Comes before the engine adds sorts and repartitions, so that it adds none for them.
#[derive(Debug, Clone, Copy)]
pub(in crate::query) struct UseOperators {
    /// Takes the rows of a key to be in the order of their window where nothing says otherwise.
    pub trusting: bool,
}

impl PhysicalOptimizerRule for UseOperators {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let threads = config.execution.target_partitions;
        let replace = |node: Arc<dyn ExecutionPlan>| {
            let found = match self.window(&node, threads)? {
                Some(found) => Some(found),
                None => grouped::by_number(&node)?,
            };
            Ok(found.map_or_else(|| Transformed::no(node), Transformed::yes))
        };
        plan.transform_up(replace).data()
    }

    fn name(&self) -> &str {
        "UseOperators"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

impl UseOperators {
    /// A window node as one pass over its input, where the input allows it.
    fn window(
        &self,
        node: &Arc<dyn ExecutionPlan>,
        threads: usize,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let (exprs, input) =
            match (node.downcast_ref::<BoundedWindowAggExec>(), node.downcast_ref::<WindowAggExec>()) {
                (Some(window), _) => (window.window_expr(), window.input()),
                (_, Some(window)) => (window.window_expr(), window.input()),
                _ => return Ok(None),
            };
        let Some(mut windows) = windows(exprs, input)? else { return Ok(None) };
        let ordered = input.properties().eq_properties.ordering_satisfy(windows.order.clone())?;
        let integers = |e: &Arc<dyn PhysicalExpr>| Ok(e.data_type(&input.schema())? == DataType::Int64);
        let checkable = windows.order.iter().all(|o| o.options == CHECKABLE)
            && windows
                .order
                .iter()
                .map(|o| integers(&o.expr))
                .collect::<Result<Vec<_>>>()?
                .iter()
                .all(|i| *i);
        let input = match in_order(input, ordered, threads)? {
            Some(input) => input,
            None if ordered => Arc::clone(input),
            None => return Ok(None),
        };
        if !ordered {
            if !(self.trusting && checkable) {
                return Ok(None);
            }
            windows.trusting = true;
        }
        Ok(Some(Arc::new(KeyedWindowExec::try_new(input, Arc::new(windows), node.schema())?)))
    }
}

fn windows(exprs: &[Arc<dyn WindowExpr>], input: &Arc<dyn ExecutionPlan>) -> Result<Option<Windows>> {
    let Some(first) = exprs.first() else { return Ok(None) };
    let (keys, order) = (first.partition_by().to_vec(), LexOrdering::new(first.order_by().to_vec()));
    for key in &keys {
        if key.data_type(&input.schema())? != DataType::Utf8View {
            return Ok(None);
        }
    }
    let same = exprs.iter().all(|e| e.partition_by() == keys && e.order_by() == first.order_by());
    let functions = exprs.iter().map(Function::of).collect::<Option<Vec<_>>>();
    let (true, Some(order), Some(functions)) = (same, order, functions) else { return Ok(None) };
    let names = exprs.iter().map(|e| e.name().to_owned()).collect();
    Ok(Some(Windows { names, functions, keys, order, trusting: false }))
}

/// The same rows in the order of their files, read on several threads; `None` if `plan` is not a plain scan of one chain
/// of files. Where the rows are not `sorted`, every scan is one.
fn in_order(
    plan: &Arc<dyn ExecutionPlan>,
    sorted: bool,
    threads: usize,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    Ok(cut(plan, sorted, threads)?.map(|cut| Arc::new(InOrderExec::new(cut)) as _))
}

fn cut(
    plan: &Arc<dyn ExecutionPlan>,
    sorted: bool,
    threads: usize,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if plan.is::<FilterExec>() || plan.is::<ProjectionExec>() {
        let [input] = plan.children()[..] else { return Ok(None) };
        let Some(input) = cut(input, sorted, threads)? else { return Ok(None) };
        return replace_children_if_necessary(Arc::clone(plan), vec![input]).map(Some);
    }
    let source = plan.downcast_ref::<DataSourceExec>().map(DataSourceExec::data_source);
    let Some(config) = source.and_then(|s| s.downcast_ref::<FileScanConfig>()) else { return Ok(None) };
    if config.limit.is_some()
        || config.output_partitioning.is_some()
        || (sorted && config.file_groups.len() > 1)
    {
        return Ok(None);
    }
    let files = config.file_groups.iter().flat_map(FileGroup::iter);
    let mut pieces: Vec<_> = files.flat_map(pieces).map(|p| FileGroup::new(vec![p])).collect();
    // With fewer partitions than threads, the engine would deal out their rows in turn, and their order would be lost.
    pieces.resize(pieces.len().max(threads), FileGroup::new(Vec::new()));
    let partitioning = Partitioning::UnknownPartitioning(pieces.len());
    let config = FileScanConfigBuilder::from(config.clone())
        .with_file_groups(pieces)
        .with_preserve_order(true)
        // Says so that nobody cuts the files differently.
        .with_output_partitioning(Some(partitioning))
        .build();
    Ok(Some(DataSourceExec::from_data_source(config)))
}

/// A file in pieces of whole row groups, in its order.
fn pieces(file: &PartitionedFile) -> impl Iterator<Item = PartitionedFile> {
    let size = i64::try_from(file.object_meta.size).unwrap_or(i64::MAX);
    let (begin, end) = file.range.as_ref().map_or((0, size), |r| (r.start, r.end));
    let count = (end - begin).div_euclid(PIECE as i64).max(1);
    let share = (end - begin) / count;
    let file = file.clone();
    (0..count).map(move |i| {
        let to = if i + 1 == count { end } else { begin + (i + 1) * share };
        file.clone().with_range(begin + i * share, to)
    })
}
