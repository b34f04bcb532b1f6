//! SQL text → logical plan: read-only, refused if the parser misreads it. Not for running it (see `run`).

use std::collections::VecDeque;
use std::ops::ControlFlow;

use datafusion::common::{DataFusionError, Diagnostic, Result, Span, plan_err};
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SQLOptions;
use datafusion::sql::parser::{DFParserBuilder, Statement};
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Spanned, Visit, visit_expressions};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::ParserError;
use datafusion::sql::sqlparser::tokenizer::{self, Tokenizer};

use super::from_first::{check_columns, with_select};

pub(super) async fn plan(state: &SessionState, sql: &str) -> Result<LogicalPlan> {
    let Some(statement) = parse(sql)?.pop_front() else {
        return plan_err!("there is no SQL statement to run");
    };
    check_statement(&statement)?;
    let plan = state.statement_to_plan(statement).await?;
    // No statement may change the database, the session or a file.
    let read_only =
        SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    read_only.verify_plan(&plan)?;
    Ok(plan)
}

/// The statements of a text.
pub(super) fn parse(sql: &str) -> Result<VecDeque<Statement>> {
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize_with_location();
    let tokens = with_select(tokens.map_err(ParserError::from)?);
    let statements = DFParserBuilder::new(tokens).build()?.parse_statements()?;
    statements.iter().try_for_each(check_columns)?;
    Ok(statements)
}

pub(super) fn check_statement(statement: &Statement) -> Result<()> {
    match statement {
        Statement::Statement(statement) => check_meaning(statement.as_ref()),
        Statement::Explain(explain) => check_statement(&explain.statement),
        // They change something, and are refused for that later.
        Statement::CreateExternalTable(_) | Statement::CopyTo(_) | Statement::Reset(_) => Ok(()),
    }
}

/// Refuses what the parser reads differently from SQL: the right side of `IS DISTINCT FROM` ends before an
/// AND or an OR, but sqlparser 0.62 takes everything that follows (fixed in a later version,
/// datafusion-sqlparser-rs #2436). With parentheses there is no ambiguity.
pub(super) fn check_meaning(parsed: &impl Visit) -> Result<()> {
    let found = visit_expressions(parsed, |expression| match greedy(expression) {
        Some(found) => ControlFlow::Break(found),
        None => ControlFlow::Continue(()),
    });
    let ControlFlow::Break((words, connective, left)) = found else { return Ok(()) };
    let message = format!(
        "what '{words}' compares with is not clear before {connective}: write (a {words} b) {connective} …, with parentheses"
    );
    let diagnostic = Diagnostic::new_error(&message, Span::try_from_sqlparser_span(left));
    Err(DataFusionError::Plan(message).with_diagnostic(diagnostic))
}

/// The words of a comparison whose right side swallowed a connective, that connective, and where it begins.
fn greedy(expression: &Expr) -> Option<(&'static str, BinaryOperator, tokenizer::Span)> {
    let (words, left, right) = match expression {
        Expr::IsDistinctFrom(left, right) => ("IS DISTINCT FROM", left, right),
        Expr::IsNotDistinctFrom(left, right) => ("IS NOT DISTINCT FROM", left, right),
        _ => return None,
    };
    // In parentheses, it is an expression of another kind.
    match right.as_ref() {
        Expr::BinaryOp {
            op: op @ (BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Xor), ..
        } => Some((words, op.clone(), left.span())),
        _ => None,
    }
}
