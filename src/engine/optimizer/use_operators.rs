//! Replaces parts of a physical plan by our operators: windows over rows that are in order, groups by name,
//! joins of intervals. Not for what the operators do.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use datafusion::physical_plan::{ExecutionPlan, Partitioning};

use crate::engine::operators::{
    InOrderExec, KeyedWindowExec, ReorderExec, StreamingExec, WindowSpec, group_by_id, overlap,
};
use crate::schema::columns::btf_event::SEQ;

/// Bytes per partition of a scan in order: about a row group of some columns.
const PIECE: u64 = 4 << 20;

/// What a plan assumes of the order of rows if its input does not say. A wrong assumption is noticed: the
/// statement fails with [`OutOfOrder`](crate::engine::operators::OutOfOrder).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AssumedOrder {
    /// Nothing: they are sorted.
    None,
    /// The rows of a key are in order, except for some that come late.
    Mostly,
    /// The rows of a key are in order.
    Fully,
}

/// Puts our operators into a plan, before DataFusion adds sorts and repartitions for what they replace.
pub(super) fn use_operators(
    plan: Arc<dyn ExecutionPlan>,
    assumed: AssumedOrder,
    threads: usize,
) -> Result<Arc<dyn ExecutionPlan>> {
    let replace = |node: Arc<dyn ExecutionPlan>| {
        let found = match window(&node, assumed, threads)? {
            Some(found) => Some(found),
            None => match group_by_id::rewrite(&node)? {
                Some(found) => Some(found),
                None => streaming(&node, threads)?,
            },
        };
        Ok(found.map_or_else(|| Transformed::no(node), Transformed::yes))
    };
    plan.transform_up(replace).data()
}

/// A window node as a [`KeyedWindowExec`], if its input allows it.
fn window(
    node: &Arc<dyn ExecutionPlan>,
    assumed: AssumedOrder,
    threads: usize,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let (exprs, input) =
        match (node.downcast_ref::<BoundedWindowAggExec>(), node.downcast_ref::<WindowAggExec>()) {
            (Some(window), _) => (window.window_expr(), window.input()),
            (_, Some(window)) => (window.window_expr(), window.input()),
            _ => return Ok(None),
        };
    let Some(mut windows) = WindowSpec::of(exprs, input)? else { return Ok(None) };
    // Rows in the order of time are not in the order of instances.
    let ordered = !windows.split_by_first
        && input.properties().eq_properties.ordering_satisfy(windows.order.clone())?;
    let mut input = match in_order(input, ordered, threads)? {
        Some(input) => {
            if ordered && are_distinct(&input, &windows.order) {
                windows.functions.iter_mut().for_each(|f| f.peers = false);
            }
            input
        }
        None if ordered => Arc::clone(input),
        None => return Ok(None),
    };
    if !ordered {
        if assumed == AssumedOrder::None || !windows.can_be_checked(&input)? {
            return Ok(None);
        }
        windows.order_assumed = true;
        if assumed == AssumedOrder::Mostly {
            input = Arc::new(ReorderExec::new(input, Arc::new(windows.clone())));
        }
    }
    Ok(Some(Arc::new(KeyedWindowExec::try_new(input, Arc::new(windows), node.schema())?)))
}

/// A streaming operator, or a join that can be one: not partitioned by key if the inputs are sorted.
fn streaming(node: &Arc<dyn ExecutionPlan>, threads: usize) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let found = overlap::by_sweep(node)?;
    let Some(exec) = found.as_ref().or_else(|| node.downcast_ref::<StreamingExec>()) else { return Ok(None) };
    let ordered = exec.in_order(|input| in_order(input, true, threads))?;
    Ok(ordered.or(found).map(|exec| Arc::new(exec) as _))
}

/// Whether no two rows of this chain of files are equal in `order`: it includes the row numbers.
fn are_distinct(plan: &Arc<dyn ExecutionPlan>, order: &LexOrdering) -> bool {
    let [below] = plan.children()[..] else { return false };
    let numbers = |o: &PhysicalSortExpr| o.expr.downcast_ref::<Column>().is_some_and(|c| c.name() == SEQ);
    below.is::<DataSourceExec>() && order.iter().any(numbers)
}

/// The same rows in the order of their files, read on several threads; `None` if `plan` is not a plain scan
/// of one chain of files. If the rows need not be `sorted`, every scan is one.
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
    let mut files: Vec<_> = config.file_groups.iter().flat_map(FileGroup::iter).collect();
    if !sorted {
        // In the order of writing: files are grouped for other purposes.
        files.sort_by_key(|f| (&f.object_meta.location, f.range.as_ref().map(|r| r.start)));
    }
    let mut pieces: Vec<_> = files.into_iter().flat_map(pieces).map(|p| FileGroup::new(vec![p])).collect();
    // With fewer partitions than threads, the engine would distribute the rows and lose their order.
    pieces.resize(pieces.len().max(threads), FileGroup::new(Vec::new()));
    let partitioning = Partitioning::UnknownPartitioning(pieces.len());
    let config = FileScanConfigBuilder::from(config.clone())
        .with_file_groups(pieces)
        .with_preserve_order(true)
        // Stated, so that no other rule cuts the files differently.
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
