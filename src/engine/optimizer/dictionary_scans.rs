//! Scans names as dictionaries where a plan needs only their identity, and does not read columns that are not
//! needed. Decoding, comparing and interning a key costs a third of what a string costs. Not for names that
//! go into sorts, joins and results: DataFusion is slow with dictionaries there.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, ScalarValue};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{
    FileGroup, FileScanConfig, FileScanConfigBuilder, FileSource, ParquetSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_expr::projection::{ProjectionExpr, ProjectionExprs};
use datafusion::physical_expr::utils::{collect_columns, conjunction_opt, split_conjunction};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};
use datafusion::physical_plan::projection::ProjectionExec;

use crate::engine::operators::group_by_id::KeyId;
use crate::engine::operators::{DictionaryTest, IdAggregateExec, InOrderExec, KeyedWindowExec};
use crate::schema::{ColumnType, TABLES};

/// What a plan needs of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Demand {
    None,
    Identity,
    Values,
}

/// Runs after `use_operators`, whose operators demand no more than they need.
pub(super) fn dictionary_scans(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    Ok(narrowed(&plan, &all(&plan, Demand::Values))?.unwrap_or(plan))
}

fn all(plan: &Arc<dyn ExecutionPlan>, demanded: Demand) -> Vec<Demand> {
    vec![demanded; plan.schema().fields().len()]
}

/// `plan` with no more than is `demanded` of each of its columns; `None` if it stays as it is.
fn narrowed(plan: &Arc<dyn ExecutionPlan>, demanded: &[Demand]) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(node) = plan.downcast_ref::<ProjectionExec>() {
        let mut below = all(node.input(), Demand::None);
        for (column, demanded) in node.expr().iter().zip(demanded) {
            note(&column.expr, *demanded, &mut below);
        }
        let Some(input) = narrowed(node.input(), &below)? else { return Ok(None) };
        let columns = node.expr().iter().map(|column| {
            let expr = over(&column.expr, &input.schema())?;
            Ok(ProjectionExpr::new(expr, column.alias.clone()))
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        return Ok(Some(Arc::new(ProjectionExec::try_new(columns, input)?)));
    }
    if let Some(node) = plan.downcast_ref::<FilterExec>() {
        let mut below = all(node.input(), Demand::None);
        for (column, demanded) in demanded.iter().enumerate() {
            let column = node.projection().as_ref().map_or(Some(column), |p| p.get(column).copied());
            if let Some(below) = column.and_then(|column| below.get_mut(column)) {
                *below = (*below).max(*demanded);
            }
        }
        note(node.predicate(), Demand::Values, &mut below);
        let Some(input) = narrowed(node.input(), &below)? else { return Ok(None) };
        let predicate = over(node.predicate(), &input.schema())?;
        let filter = FilterExecBuilder::from(node).with_predicate(predicate).with_input(input);
        return Ok(Some(Arc::new(filter.build()?)));
    }
    if let Some(node) = plan.downcast_ref::<KeyedWindowExec>() {
        let input = node.input();
        let mut below = demanded.get(..input.schema().fields().len()).unwrap_or_default().to_vec();
        for argument in node.windows().functions.iter().filter_map(|f| f.argument.as_ref()) {
            note(argument, Demand::Values, &mut below);
        }
        node.windows().keys.iter().for_each(|key| note(key, Demand::Identity, &mut below));
        if node.windows().look_at_order() || !input.is::<InOrderExec>() {
            node.windows().order.iter().for_each(|o| note(&o.expr, Demand::Values, &mut below));
        }
        let Some(input) = narrowed(input, &below)? else { return Ok(None) };
        return Ok(Some(Arc::new(node.over(input, over)?)));
    }
    if let Some(node) = plan.downcast_ref::<InOrderExec>() {
        let [input] = node.children()[..] else { return Ok(None) };
        return Ok(narrowed(input, demanded)?.map(|input| Arc::new(InOrderExec::new(input)) as _));
    }
    if plan.is::<DataSourceExec>() {
        return scan(plan, demanded);
    }
    let is_first = |a: &AggregateExec| matches!(a.mode(), AggregateMode::Partial | AggregateMode::Single);
    let first_stage =
        plan.is::<IdAggregateExec>() || plan.downcast_ref::<AggregateExec>().is_some_and(is_first);
    if let (true, [input]) = (first_stage, &plan.children()[..]) {
        let mut below = all(input, Demand::None);
        plan.apply_expressions(&mut |expr| {
            match expr.downcast_ref::<KeyId>() {
                Some(number) => {
                    number.children().into_iter().for_each(|name| whole(name, Demand::Identity, &mut below))
                }
                None => whole(expr, Demand::Values, &mut below),
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        return match narrowed(input, &below)? {
            Some(input) => replace_children_if_necessary(Arc::clone(plan), vec![input]).map(Some),
            None => Ok(None),
        };
    }
    let mut changed = false;
    let mut children = Vec::new();
    for child in plan.children() {
        let found = narrowed(child, &all(child, Demand::Values))?;
        changed |= found.is_some();
        children.push(found.unwrap_or_else(|| Arc::clone(child)));
    }
    if changed { replace_children_if_necessary(Arc::clone(plan), children).map(Some) } else { Ok(None) }
}

/// Notes what an expression demands of its input columns if so much is demanded of it (see [`over`]).
fn note(expr: &Arc<dyn PhysicalExpr>, demanded: Demand, below: &mut [Demand]) {
    match DictionaryTest::of(expr) {
        Some(comparison) => whole(comparison.column(), Demand::Identity, below),
        None if expr.children().is_empty() => whole(expr, demanded, below),
        None => expr.children().into_iter().for_each(|part| note(part, Demand::Values, below)),
    }
}

/// The same for an expression that is not rewritten.
fn whole(expr: &Arc<dyn PhysicalExpr>, demanded: Demand, below: &mut [Demand]) {
    let demanded = if expr.is::<Column>() { demanded } else { Demand::Values };
    for column in collect_columns(expr) {
        if let Some(below) = below.get_mut(column.index()) {
            *below = (*below).max(demanded);
        }
    }
}

/// An expression over columns some of which have become dictionaries.
fn over(expr: &Arc<dyn PhysicalExpr>, schema: &SchemaRef) -> Result<Arc<dyn PhysicalExpr>> {
    let replace = |expr: Arc<dyn PhysicalExpr>| {
        let found = DictionaryTest::of(&expr).filter(|found| {
            found.column().data_type(schema).is_ok_and(|ty| matches!(ty, DataType::Dictionary(..)))
        });
        Ok(found.map_or_else(|| Transformed::no(expr), |found| Transformed::yes(Arc::new(found))))
    };
    Arc::clone(expr).transform_up(replace).data()
}

/// A scan of Parquet files in which names are keys, and numbers that are not needed are zeros.
fn scan(plan: &Arc<dyn ExecutionPlan>, demanded: &[Demand]) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let source = plan.downcast_ref::<DataSourceExec>().map(DataSourceExec::data_source);
    let Some(config) = source.and_then(|s| s.downcast_ref::<FileScanConfig>()) else { return Ok(None) };
    let Some(source) = config.file_source().downcast_ref::<ParquetSource>() else { return Ok(None) };
    // There, the conditions choose rows, too, and not only parts of files: none may be left out.
    if source.table_parquet_options().global.pushdown_filters {
        return Ok(None);
    }
    let Some(projection) = source.projection() else { return Ok(None) };
    let (files, layout) = (source.table_schema().file_schema(), source.table_schema().table_schema());
    let mut below = vec![Demand::None; layout.fields().len()];
    let (mut columns, mut unread) = (Vec::new(), false);
    for (column, demanded) in projection.iter().zip(demanded) {
        let ty = column.expr.data_type(layout)?;
        let mut column = column.clone();
        if *demanded == Demand::None && matches!(ty, DataType::Int64 | DataType::UInt64) {
            column.expr = Arc::new(Literal::new(ScalarValue::new_zero(&ty)?));
            unread = true;
        }
        whole(&column.expr, *demanded, &mut below);
        columns.push(column);
    }
    let by_key = |(column, field): (usize, &Arc<Field>)| {
        let which = *field.data_type() == DataType::Utf8View && below.get(column) == Some(&Demand::Identity);
        which && has_names(field.name())
    };
    let by_key: Vec<bool> = files.fields().iter().enumerate().map(by_key).collect();
    if !unread && !by_key.contains(&true) {
        return Ok(None);
    }
    let field = |(field, by_key): (&Arc<Field>, &bool)| match by_key {
        true => Arc::new(field.as_ref().clone().with_data_type(names())),
        false => Arc::clone(field),
    };
    let files = Arc::new(Schema::new(files.fields().iter().zip(&by_key).map(field).collect::<Vec<_>>()));
    let layout = TableSchema::builder(Arc::clone(&files))
        .with_table_partition_cols(source.table_schema().table_partition_cols().to_vec())
        .build();
    let mut new =
        ParquetSource::new(layout).with_table_parquet_options(source.table_parquet_options().clone());
    if let Some(factory) = source.parquet_file_reader_factory() {
        new = new.with_parquet_file_reader_factory(Arc::clone(factory));
    }
    if let Some(filter) = source.filter() {
        // There are no statistics on dictionaries: conditions on names exclude no part of a file.
        let named = |part: &Arc<dyn PhysicalExpr>| {
            collect_columns(part).iter().any(|column| by_key.get(column.index()) == Some(&true))
        };
        let parts = split_conjunction(&filter).into_iter().filter(|part| !named(part));
        if let Some(filter) = conjunction_opt(parts.cloned()) {
            new = new.with_predicate(filter);
        }
    }
    let Some(source) = new.try_pushdown_projection(&ProjectionExprs::new(columns))? else { return Ok(None) };
    let file = |file: &PartitionedFile| file.clone().with_arrow_schema(Arc::clone(&files));
    let groups = config.file_groups.iter().map(|group| FileGroup::new(group.iter().map(file).collect()));
    let config = FileScanConfigBuilder::from(config.clone())
        .with_source(source)
        .with_file_groups(groups.collect())
        .build();
    Ok(Some(DataSourceExec::from_data_source(config)))
}

fn names() -> DataType {
    DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8))
}

/// Whether a column holds names, as dictionaries, in all tables that have it.
fn has_names(column: &str) -> bool {
    let mut like = TABLES.iter().flat_map(|table| table.columns).filter(|c| c.name == column);
    like.all(|c| c.ty == ColumnType::Name)
}
