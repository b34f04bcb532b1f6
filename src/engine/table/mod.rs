//! One table of the database as the engine sees it: exactly the files of the log, with partition
//! columns, sort order and the statistics of the log. Not for tables that are not in the schema.

mod dictionary_pruning;
mod file;
pub(super) mod object_store;
mod scan_groups;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::pruning::PrunableStatistics;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, DataFusionError, Result, ScalarValue, Statistics};
use datafusion::datasource::TableType;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::listing::helpers::expr_applicable_for_cols;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::logical_expr::{Expr, Operator, TableProviderFilterPushDown};
use datafusion::object_store::ObjectMeta;
use datafusion::object_store::path::Path as ObjectPath;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_optimizer::pruning::PruningPredicateBuilder;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning};

use crate::engine::bounds;
use crate::schema::TableSpec;
use crate::schema::columns::btf_event;
use crate::store::Database;
use dictionary_pruning::NameFilter;
use file::TableFile;
use scan_groups::Part;

/// A table of the schema over the files that the log lists for it. They are looked up when it is scanned.
#[derive(Debug)]
pub(super) struct Table {
    database: Arc<Database>,
    pub spec: &'static TableSpec,
    /// All columns in the order of the description.
    schema: SchemaRef,
    /// The columns of a file, then the partition columns: the order in which the engine scans.
    layout: TableSchema,
}

impl Table {
    pub fn new(database: Arc<Database>, spec: &'static TableSpec) -> Self {
        let schema = Arc::new(with_views(&spec.full_schema()));
        let partition: Vec<_> =
            spec.partition_columns().filter_map(|c| schema.field_with_name(c.name).ok()).collect();
        let partition: Vec<_> = partition.into_iter().cloned().map(Arc::new).collect();
        let layout = TableSchema::builder(Arc::new(with_views(&spec.read_schema())))
            .with_table_partition_cols(partition)
            .build();
        Self { database, spec, schema, layout }
    }

    /// The files of the recordings that filters can accept. If a filter names some, no others are looked up.
    fn files(&self, filters: &[Expr]) -> Result<Vec<TableFile>> {
        let entries = match filters.iter().find_map(recordings_of) {
            None => self.database.files(self.spec, None),
            Some(names) => {
                let of_recording = names.iter().map(|name| self.database.files(self.spec, Some(name)));
                of_recording.collect::<Result<Vec<_>, _>>().map(|files| files.concat())
            }
        };
        let entries = entries.map_err(|e| DataFusionError::External(Box::new(e)))?;
        Ok(entries.into_iter().map(|entry| TableFile::new(self.spec, entry)).collect())
    }

    fn partition_names(&self) -> Vec<&'static str> {
        self.spec.partition_columns().map(|c| c.name).collect()
    }

    /// Those of the files that can hold rows for which all filters are true.
    fn pruned<'f>(
        &self,
        files: &'f [TableFile],
        session: &dyn Session,
        filters: &[Expr],
    ) -> Result<Vec<&'f TableFile>> {
        let mut keep = vec![true; files.len()];
        let schema = DFSchema::try_from(Arc::clone(self.layout.table_schema()))?;
        let names = self.partition_names();
        for filter in filters {
            if !is_plain(filter) {
                continue;
            }
            let Ok(predicate) = session.create_physical_expr(filter.clone(), &schema) else { continue };
            let passed = if expr_applicable_for_cols(&names, filter) {
                self.by_partition(files, &predicate)?
            } else {
                self.by_range(files, predicate)
            };
            keep.iter_mut().zip(passed).for_each(|(k, p)| *k &= p);
        }
        Ok(files.iter().zip(keep).filter_map(|(file, keep)| keep.then_some(file)).collect())
    }

    /// Evaluates a predicate on partition columns: exact, one row per file.
    fn by_partition(&self, files: &[TableFile], predicate: &Arc<dyn PhysicalExpr>) -> Result<Vec<bool>> {
        let count = files.len();
        let own = self.layout.file_schema().fields().len();
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.layout.table_schema().fields().len());
        for (i, field) in self.layout.table_schema().fields().iter().enumerate() {
            let value = |f: &TableFile| i.checked_sub(own).and_then(|p| f.values.get(p).cloned());
            let values: Option<Vec<_>> = files.iter().map(value).collect();
            columns.push(match values.filter(|v| !v.is_empty()) {
                Some(values) => ScalarValue::iter_to_array(values)?,
                None => arrow::array::new_null_array(field.data_type(), count),
            });
        }
        let nullable: Vec<_> = self
            .layout
            .table_schema()
            .fields()
            .iter()
            .map(|f| f.as_ref().clone().with_nullable(true))
            .collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(nullable)), columns)?;
        let result = predicate.evaluate(&batch)?.into_array(count)?;
        let Some(result) = result.as_any().downcast_ref::<BooleanArray>() else {
            return Ok(vec![true; count]);
        };
        Ok(result.iter().map(|r| r == Some(true)).collect())
    }

    /// Compares a predicate with the ranges of the log; in doubt, a file stays.
    fn by_range(&self, files: &[TableFile], predicate: Arc<dyn PhysicalExpr>) -> Vec<bool> {
        let schema = Arc::clone(self.layout.table_schema());
        let limits = files.iter().map(|f| Arc::clone(&f.limits)).collect();
        let statistics = PrunableStatistics::new(limits, Arc::clone(&schema));
        let pruning = PruningPredicateBuilder::new().with_file_schema(schema).try_build(predicate);
        let selected = pruning.and_then(|p| p.prune(&statistics));
        selected.ok().filter(|k| k.len() == files.len()).unwrap_or_else(|| vec![true; files.len()])
    }

    /// The sort order of a file, as an expression of the engine.
    fn ordering(&self) -> Option<LexOrdering> {
        let options = SortOptions { descending: false, nulls_first: false };
        let term = |name: &&str| {
            let index = self.layout.table_schema().index_of(name).ok()?;
            Some(PhysicalSortExpr::new(Arc::new(Column::new(name, index)), options))
        };
        LexOrdering::new(self.spec.sort.iter().map(term).collect::<Option<Vec<_>>>()?)
    }

    /// The files in groups, one per thread, and whether every group is sorted.
    fn grouped(
        &self,
        files: &[&TableFile],
        names: &[NameFilter],
        threads: usize,
    ) -> Result<(Vec<FileGroup>, bool)> {
        let mut streams: BTreeMap<(&str, Option<&str>), usize> = BTreeMap::new();
        let mut parts = Vec::with_capacity(files.len());
        for TableFile { entry, .. } in files {
            let next = streams.len();
            let stream = *streams.entry((&entry.recording, entry.core.as_deref())).or_insert(next);
            parts.push(Part { stream, bounds: entry.begin_at.zip(entry.end_at), bytes: entry.bytes });
        }
        let result = scan_groups::group(&parts, threads, !self.spec.sort.is_empty());
        let mut groups = Vec::with_capacity(result.groups.len());
        for group in result.groups {
            let chained = result.sorted && group.len() > 1;
            let members = group.into_iter().filter_map(|i| files.get(i));
            let members = members.map(|f| self.scannable(f, names, chained)).collect::<Result<_>>()?;
            groups.push(FileGroup::new(members));
        }
        Ok((groups, result.sorted))
    }

    /// A file for a scan of the engine, without the row groups that have none of the `names`.
    fn scannable(&self, file: &TableFile, names: &[NameFilter], chained: bool) -> Result<PartitionedFile> {
        // Now, and not when the session was opened: a commit may have taken the file out.
        let place = self.database.place_of(&file.entry);
        let access_plan = dictionary_pruning::access_plan(&place, names);
        self.database.open_files().add(&file.entry);
        let meta = ObjectMeta {
            location: ObjectPath::parse(&file.entry.path)?,
            last_modified: Default::default(),
            size: file.entry.bytes,
            e_tag: None,
            version: None,
        };
        let mut known = Arc::clone(&file.known);
        if chained {
            self.assume_ranges(Arc::make_mut(&mut known));
        }
        let mut scannable = PartitionedFile::new_from_meta(meta)
            .with_partition_values(file.values.clone())
            .with_arrow_schema(Arc::clone(self.layout.file_schema()));
        scannable.statistics = Some(known);
        scannable.metadata_size_hint = usize::try_from(file.entry.tail).ok();
        Ok(match access_plan {
            Some(plan) => scannable.with_extension(plan),
            None => scannable,
        })
    }

    /// Invents a range for the later sort columns, which the log does not have. The ranges of the first
    /// one are disjoint in a group, so any will do: the engine compares the later ones only if the first are
    /// equal.
    fn assume_ranges(&self, known: &mut Statistics) {
        for name in self.spec.sort {
            let index = self.layout.table_schema().index_of(name).ok();
            let Some(column) = index.and_then(|i| known.column_statistics.get_mut(i)) else { continue };
            if column.min_value == Precision::Absent {
                column.min_value = Precision::Inexact(ScalarValue::Int64(Some(0)));
                column.max_value = Precision::Inexact(ScalarValue::Int64(Some(i64::MAX)));
            }
        }
    }

    fn plan_scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Option<(ParquetFormat, FileScanConfig)>> {
        let files = self.files(filters)?;
        let files = self.pruned(&files, session, filters)?;
        if files.is_empty() {
            return Ok(None);
        }
        let names: Vec<_> = filters.iter().filter_map(|f| NameFilter::of(f, self.spec)).collect();
        let (groups, sorted) = match limit {
            None => self.grouped(&files, &names, session.config().target_partitions())?,
            // With a limit: the first rows, the same ones every time.
            Some(_) => {
                let files = files.iter().map(|f| self.scannable(f, &names, false)).collect::<Result<_>>()?;
                (vec![FileGroup::new(files)], false)
            }
        };
        let total = files.iter().map(|f| f.known.as_ref());
        let mut total = Statistics::try_merge_iter(total, self.layout.table_schema())?;
        if !bounds::may_be_used(session) {
            for column in &mut total.column_statistics {
                (column.min_value, column.max_value) = (Precision::Absent, Precision::Absent);
            }
        }
        let all: Vec<usize> = (0..self.schema.fields().len()).collect();
        let indices = projection.unwrap_or(&all).iter();
        let indices = indices.map(|i| self.layout.table_schema().index_of(self.schema.field(*i).name()));
        let indices = indices.collect::<Result<Vec<_>, _>>()?;
        let format = ParquetFormat::default().with_options(session.default_table_options().parquet);
        let source = format.file_source(self.layout.clone());
        let config = FileScanConfigBuilder::new(object_store::of_database()?, source)
            .with_file_groups(groups)
            .with_statistics(total)
            .with_projection_indices(Some(indices))?
            .with_limit(limit)
            .with_output_partitioning(limit.map(|_| Partitioning::UnknownPartitioning(1)))
            .with_output_ordering(self.ordering().filter(|_| sorted).into_iter().collect())
            .build();
        Ok(Some((format, config)))
    }
}

#[async_trait]
impl TableProvider for Table {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let names = self.partition_names();
        let exact = |f: &&Expr| is_plain(f) && expr_applicable_for_cols(&names, f);
        let answer = |f: &&Expr| match exact(f) {
            true => TableProviderFilterPushDown::Exact,
            false => TableProviderFilterPushDown::Inexact,
        };
        Ok(filters.iter().map(answer).collect())
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match self.plan_scan(session, projection, filters, limit)? {
            Some((format, config)) => format.create_physical_plan(session, config).await,
            None => {
                let schema = datafusion::common::project_schema(&self.schema, projection)?;
                Ok(Arc::new(EmptyExec::new(schema)))
            }
        }
    }
}

/// The recordings that a filter names, sorted: it is true for no others. `None` if it is not of that kind.
fn recordings_of(filter: &Expr) -> Option<BTreeSet<String>> {
    let is_recording =
        |expr: &Expr| matches!(expr, Expr::Column(column) if column.name == btf_event::RECORDING);
    let text = |expr: &Expr| match expr {
        Expr::Literal(value, _) => value.try_as_str().map(|text| text.unwrap_or_default().to_owned()),
        _ => None,
    };
    match filter {
        Expr::BinaryExpr(binary) if binary.op == Operator::Eq => {
            let (left, right) = (&*binary.left, &*binary.right);
            let name = if is_recording(left) { right } else { left };
            let names_one = is_recording(left) || is_recording(right);
            names_one.then(|| text(name)).flatten().map(|name| BTreeSet::from([name]))
        }
        Expr::BinaryExpr(binary) if binary.op == Operator::Or => {
            let (mut left, right) = (recordings_of(&binary.left)?, recordings_of(&binary.right)?);
            left.extend(right);
            Some(left)
        }
        Expr::BinaryExpr(binary) if binary.op == Operator::And => {
            recordings_of(&binary.left).or_else(|| recordings_of(&binary.right))
        }
        Expr::InList(list) if !list.negated && is_recording(&list.expr) => {
            list.list.iter().map(text).collect()
        }
        _ => None,
    }
}

/// True if a filter can be evaluated outside the query: it has no subquery and no outer reference.
pub(super) fn is_plain(filter: &Expr) -> bool {
    let special = |e: &Expr| {
        Ok(matches!(
            e,
            Expr::ScalarSubquery(_)
                | Expr::InSubquery(_)
                | Expr::Exists(_)
                | Expr::SetComparison(_)
                | Expr::OuterReferenceColumn(..)
        ))
    };
    !filter.is_volatile() && !filter.exists(special).unwrap_or(true)
}

/// Strings as views: the type that the engine compares and groups fastest (measured: a window over names
/// takes a fourth of the time that it takes over dictionaries).
fn with_views(schema: &Schema) -> Schema {
    let view = |f: &Arc<Field>| match f.data_type() {
        DataType::Utf8 => f.as_ref().clone().with_data_type(DataType::Utf8View),
        _ => f.as_ref().clone(),
    };
    Schema::new(schema.fields().iter().map(view).collect::<Vec<_>>())
}
