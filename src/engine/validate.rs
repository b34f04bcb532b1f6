//! SQL files of the user: parses them, and checks that they can be planned and have the columns and
//! parameters of their headers. Not for the headers themselves (see `library`).

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::{ParamValues, Result as Planned, ScalarValue};
use datafusion::sql::resolve::resolve_table_references;

use super::failure;
use super::plan::plan;
use super::run::Runner;
use super::sql;
use super::statement::{Statement, split};
use crate::error::{Error, Result};
use crate::library::{Documented, Header, METRIC_COLUMNS, Metric, ParsedFile, Queries, View};

/// What ships in the binary, and the SQL files of some folders and their subfolders.
///
/// # Errors
/// Those of [`Queries::with_folders`].
pub fn queries_with_folders(folders: &[PathBuf]) -> Result<Arc<Queries>> {
    Queries::with_folders(folders, &parse)
}

fn parse(text: &str) -> Result<ParsedFile> {
    let statements = split(text)?;
    let [statement] = statements.as_slice() else {
        let what = format!("a file holds one SELECT, this one has {} statements", statements.len());
        return Err(Error::input(what).line(statements.get(1).map_or(1, Statement::line)));
    };
    let one = statement.in_place();
    let tables = sql::parse(&one, sql::ParseOptions::default())
        .and_then(|parsed| resolve_table_references(&parsed.statement, true));
    let (tables, _) = tables.map_err(|e| failure::from_engine(&e, text, &[]))?;
    Ok(ParsedFile {
        text: statement.with_all_before(text).to_owned(),
        reads: tables.iter().map(|t| t.table().to_owned()).collect(),
    })
}

/// The columns of a plan, and the names of its parameters.
struct Shape {
    schema: SchemaRef,
    params: BTreeSet<String>,
}

/// Plans every file of the user. An error has file and line of the first one that does not fit.
pub(super) fn user_files(runner: &Runner, queries: &Queries) -> Result<()> {
    for view in queries.views() {
        view.file.as_deref().map_or(Ok(()), |file| validate_view(runner, view, file))?;
    }
    for metric in queries.metrics() {
        metric.file.as_deref().map_or(Ok(()), |file| validate_metric(runner, metric, file))?;
    }
    Ok(())
}

/// Checks that a view has the columns of its header.
fn validate_view(runner: &Runner, view: &View, file: &Path) -> Result<()> {
    let shape = shape(runner, &view.sql, &view.params, file)?;
    let fields = shape.schema.fields();
    for (n, column) in view.columns.iter().enumerate() {
        let line = Header::line_of(&view.sql, "column", &column.name);
        let wrong = |what: String| Err(Error::input(what).at(file).line(line));
        match fields.get(n) {
            None => return wrong(format!("the SQL has no column '{}' of the header", column.name)),
            Some(field) if *field.name() != column.name => {
                let (name, place) = (field.name(), n + 1);
                return wrong(format!(
                    "column {place} of the SQL is '{name}', that of the header is '{}'",
                    column.name
                ));
            }
            Some(field) if !fits(&column.ty, field.data_type()) => {
                let (name, ty) = (field.name(), field.data_type());
                return wrong(format!("the column '{name}' of the SQL is {ty}, not {}", column.ty));
            }
            Some(_) => {}
        }
    }
    match fields.get(view.columns.len()) {
        Some(field) => {
            let what = format!("the header does not describe the column '{}' of the SQL", field.name());
            Err(Error::input(what).at(file).line(1))
        }
        None => Ok(()),
    }
}

/// Checks that a metric has the columns of all metrics.
fn validate_metric(runner: &Runner, metric: &Metric, file: &Path) -> Result<()> {
    let shape = shape(runner, &metric.sql, &metric.params, file)?;
    let fields = shape.schema.fields();
    let wrong = |what: String| Err(Error::input(what).at(file).line(1));
    if !fields.iter().map(|f| f.name().as_str()).eq(METRIC_COLUMNS) {
        return wrong(format!("a metric has the columns {}, in this order", METRIC_COLUMNS.join(", ")));
    }
    for field in fields {
        let (name, ty) = (field.name().as_str(), field.data_type());
        let (fits, wanted) = match name {
            "instance" => (true, ""),
            "at" => (*ty == DataType::Int64, "a time: BIGINT"),
            "value" if metric.fold.is_some() => (*ty == DataType::Int64, "BIGINT, as it is folded"),
            "value" => (matches!(ty, DataType::Int64 | DataType::Float64), "BIGINT or DOUBLE"),
            _ => (fits("text", ty) || *ty == DataType::Null, "text"),
        };
        if !fits {
            return wrong(format!("the column '{name}' of the metric is {ty}; it must be {wanted}"));
        }
    }
    Ok(())
}

/// Plans the SQL of a file, which must have these parameters and no others.
fn shape(runner: &Runner, sql: &str, params: &[Documented], file: &Path) -> Result<Shape> {
    let planned =
        catch_unwind(AssertUnwindSafe(|| runner.runtime().block_on(plan_shape(runner, sql, params))));
    let planned = planned.map_err(|panic| failure::from_panic(panic.as_ref()).at(file))?;
    let shape = planned.map_err(|e| runner.error(&e, sql).at(file))?;
    let promised: BTreeSet<String> = params.iter().map(|p| p.name.to_string()).collect();
    if let Some(name) = shape.params.difference(&promised).next() {
        let what = format!("the header does not say what the parameter ${name} is");
        return Err(Error::input(what)
            .at(file)
            .line(1)
            .hint("e.g. -- param: width duration Length of a window."));
    }
    if let Some(name) = promised.difference(&shape.params).next() {
        let what = format!("the SQL has no parameter ${name}");
        return Err(Error::input(what).at(file).line(Header::line_of(sql, "param", name)));
    }
    Ok(shape)
}

async fn plan_shape(runner: &Runner, sql: &str, params: &[Documented]) -> Planned<Shape> {
    let state = runner.context().state();
    let plan = plan(&state, sql).await?;
    let names = plan.get_parameter_names()?;
    let names: BTreeSet<String> = names.iter().map(|n| n.trim_start_matches('$').to_owned()).collect();
    // Any value of the right type, and none for a parameter that is not described.
    let values = params.iter().map(|p| (p.name.to_string(), example(&p.ty)));
    let undescribed = names.iter().filter(|n| params.iter().all(|p| p.name != **n));
    let values = values.chain(undescribed.map(|n| (n.clone(), ScalarValue::Null)));
    let plan = match names.is_empty() {
        true => plan,
        false => plan.with_param_values(ParamValues::from(values.collect::<Vec<_>>()))?,
    };
    let plan = state.optimize(&plan)?;
    Ok(Shape { schema: plan.schema().inner().clone(), params: names })
}

/// Whether a column of that type fits the type word of a header.
fn fits(word: &str, ty: &DataType) -> bool {
    match word {
        "text" => matches!(ty, DataType::Utf8View | DataType::Utf8 | DataType::LargeUtf8),
        "time" | "duration" => *ty == DataType::Int64,
        "integer" => ty.is_integer(),
        "percent" | "number" => *ty == DataType::Float64,
        "boolean" => *ty == DataType::Boolean,
        "list" => matches!(ty, DataType::List(_)),
        _ => false,
    }
}

fn example(word: &str) -> ScalarValue {
    match word {
        "text" => ScalarValue::Utf8View(Some("a".into())),
        "percent" | "number" => ScalarValue::Float64(Some(1.0)),
        "boolean" => ScalarValue::Boolean(Some(true)),
        _ => ScalarValue::Int64(Some(1000)),
    }
}

#[cfg(test)]
mod tests {
    use super::{validate_metric, validate_view};
    use crate::engine::queries_with_folders;
    use crate::engine::tests::fixture;
    use crate::library::Queries;
    use std::path::Path;

    /// Every file of the library can be planned on an empty database and has the promised columns.
    #[test]
    fn the_library_fits_the_schema() {
        let (_dir, session) = fixture::empty();
        let (queries, file) = (Queries::shipped(), Path::new("queries"));
        for view in queries.views() {
            validate_view(session.runner(), view, file).unwrap_or_else(|e| panic!("{}: {e}", view.name));
        }
        for metric in queries.metrics() {
            validate_metric(session.runner(), metric, file)
                .unwrap_or_else(|e| panic!("{}: {e}", metric.name));
        }
    }

    #[test]
    fn the_example_of_the_documentation_is_valid() {
        let (dir, session) = fixture::empty();
        let file = dir.path().join("Writes.sql");
        std::fs::write(&file, include_str!("../../tests/it/reference/Writes.sql")).unwrap();
        let queries = queries_with_folders(&[dir.path().to_owned()]).unwrap();
        validate_metric(session.runner(), queries.metric("Writes").unwrap(), &file).unwrap();
    }
}
