//! What btfdb does not run, with the next step: what would change the database, what the parser reads
//! differently from SQL, and joins and pivots that are written in another way here. Not for names that do not
//! exist (see `failure`).

use std::ops::ControlFlow;

use datafusion::common::{DataFusionError, Diagnostic, Result, Span};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, JoinOperator, ObjectType, Query, Select, Spanned, Statement as Sql, TableFactor,
    Visit, Visitor,
};
use datafusion::sql::sqlparser::tokenizer::{self, Token, TokenWithSpan};

/// How tables and views for a session are made.
const OF_THE_SESSION: &str = "a session can have views and tables of its own: CREATE VIEW name AS SELECT …, CREATE TABLE name AS SELECT …";
/// How recordings come and go.
const RECORDINGS: &str = "`btfdb ingest` adds recordings, `btfdb remove` removes them";
const RESULTS: &str = "write results with `btfdb query -o FILE`, or with `.once FILE` in the shell";
const FILES: &str = "read files with read_csv('FILE') and read_parquet('FILE')";
const OPTIONS: &str = "options are given on the command line, and with dot commands in the shell (`.help`)";
const SNAPSHOT: &str =
    "a session sees the database as it was when it was opened, so that there are no transactions";
const AS_OF: &str = "the state at an instant: SELECT … FROM as_of(events, states, key), see docs/library.md";
const UNPIVOT: &str = "one SELECT per column, with UNION ALL between them";
const DATABASES: &str = "`.open DB` in the shell opens another database; one statement reads one database";
const PIVOT: &str = "one aggregate per column does it: sum(x) FILTER (WHERE core = 'Core_0') AS core_0, …";

/// An error with the next step, which becomes a hint.
pub(in crate::engine) fn refused(
    message: impl Into<String>,
    span: Option<Span>,
    hint: &str,
) -> DataFusionError {
    let message = message.into();
    let diagnostic = Diagnostic::new_error(&message, span).with_help(hint, None);
    DataFusionError::Plan(message).with_diagnostic(diagnostic)
}

/// Refuses words that the parser would complain about in a way that leads nowhere.
pub(super) fn check_words(tokens: &[TokenWithSpan]) -> Result<()> {
    let mut words = tokens.iter().filter(|t| !matches!(t.token, Token::Whitespace(_))).peekable();
    for (word, hint) in [("PIVOT", PIVOT), ("UNPIVOT", UNPIVOT)] {
        if let Some(first) = words.peek()
            && is_word(&first.token, word)
        {
            let span = Span::try_from_sqlparser_span(first.span);
            return Err(refused(format!("there is no {word}"), span, hint));
        }
    }
    if let Some(first) = words.peek()
        && let Some(word) = ["ATTACH", "DETACH"].into_iter().find(|word| is_word(&first.token, word))
    {
        return Err(read_only(word, DATABASES));
    }
    while let Some(word) = words.next() {
        let next = words.peek();
        let operator = match &word.token {
            Token::DoubleEq => Some(("==", "write = to compare")),
            Token::DuckIntDiv => Some(("//", "/ divides whole numbers: 7 / 2 is 3")),
            Token::Mul if next.is_some_and(|next| next.token == Token::Mul && follows(word, next)) => {
                Some(("**", "power(x, 2) is a power"))
            }
            _ => None,
        };
        let span = Span::try_from_sqlparser_span(word.span);
        if let Some((operator, hint)) = operator {
            return Err(refused(format!("'{operator}' is no operator of SQL"), span, hint));
        }
        let joins = |next: &TokenWithSpan| {
            ["join", "left", "right", "full", "inner"].iter().any(|join| is_word(&next.token, join))
        };
        if is_word(&word.token, "asof") && next.is_some_and(|next| joins(next)) {
            return Err(refused("there is no ASOF JOIN", span, AS_OF));
        }
    }
    Ok(())
}

/// True if there is nothing between two tokens.
fn follows(token: &TokenWithSpan, next: &TokenWithSpan) -> bool {
    token.span.end == next.span.start
}

/// True for that word, in upper or lower case, without quotes.
fn is_word(token: &Token, word: &str) -> bool {
    matches!(token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
}

/// Refuses statements that btfdb does not run, and parts of queries.
pub(super) fn check(statement: &Statement) -> Result<()> {
    match statement {
        Statement::Statement(statement) => {
            check_kind(statement)?;
            check_meaning(statement.as_ref())
        }
        Statement::Explain(explain) => match explain.statement.as_ref() {
            Statement::Statement(inner) if !matches!(inner.as_ref(), Sql::Query(_)) => {
                Err(refused("EXPLAIN is of a query", None, "EXPLAIN SELECT …"))
            }
            inner => check(inner),
        },
        Statement::CreateExternalTable(_) => Err(read_only("CREATE EXTERNAL TABLE", FILES)),
        Statement::CopyTo(_) => Err(read_only("COPY", RESULTS)),
        Statement::Reset(_) => Err(read_only("RESET", OPTIONS)),
    }
}

/// Only queries, and views and tables of the session.
fn check_kind(statement: &Sql) -> Result<()> {
    let hint = match statement {
        Sql::Query(_)
        | Sql::Explain { .. }
        | Sql::ExplainTable { .. }
        | Sql::ShowTables { .. }
        | Sql::ShowColumns { .. }
        | Sql::ShowFunctions { .. }
        | Sql::ShowVariable { .. }
        | Sql::CreateView(_) => return Ok(()),
        Sql::CreateTable(table) if table.query.is_some() => return Ok(()),
        Sql::Drop { object_type: ObjectType::Table | ObjectType::View, .. } => return Ok(()),
        Sql::CreateTable(_) => OF_THE_SESSION,
        Sql::Insert(_) | Sql::Update(_) | Sql::Delete(_) | Sql::Truncate(_) | Sql::Merge(_) => RECORDINGS,
        Sql::Copy { .. } | Sql::ExportData(_) | Sql::Unload { .. } => RESULTS,
        Sql::LoadData { .. } | Sql::Install { .. } | Sql::Load { .. } => FILES,
        Sql::Set(_) | Sql::Pragma { .. } | Sql::Reset(_) => OPTIONS,
        Sql::StartTransaction { .. } | Sql::Commit { .. } | Sql::Rollback { .. } | Sql::Savepoint { .. } => {
            SNAPSHOT
        }
        Sql::Prepare { .. } | Sql::Execute { .. } | Sql::Deallocate { .. } => {
            "parameters are written $NAME, and get values with --param NAME=VALUE or `.param NAME=VALUE`"
        }
        Sql::Use(_) => DATABASES,
        _ => OF_THE_SESSION,
    };
    let text = statement.to_string();
    let words = text.split_whitespace().take_while(|word| word.chars().all(|c| c.is_ascii_uppercase()));
    let words = words.take(2).collect::<Vec<_>>().join(" ");
    Err(read_only(if words.is_empty() { "this statement" } else { &words }, hint))
}

fn read_only(what: &str, hint: &str) -> DataFusionError {
    refused(format!("{what} is refused: SQL only reads, nothing changes the database"), None, hint)
}

/// Refuses what the parser reads differently from SQL: the right side of `IS DISTINCT FROM` ends before an
/// AND or an OR, but sqlparser 0.62 takes everything that follows (fixed in a later version,
/// datafusion-sqlparser-rs #2436). With parentheses there is no ambiguity. And what the engine does not have.
pub(in crate::engine) fn check_meaning(parsed: &impl Visit) -> Result<()> {
    match parsed.visit(&mut Meaning) {
        ControlFlow::Break(error) => Err(*error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Meaning;

impl Visitor for Meaning {
    type Break = Box<DataFusionError>;

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<Self::Break> {
        let Some((words, connective, left)) = greedy(expression) else { return ControlFlow::Continue(()) };
        let message = format!(
            "what '{words}' compares with is not clear before {connective}: write (a {words} b) {connective} …, with parentheses"
        );
        let diagnostic = Diagnostic::new_error(&message, Span::try_from_sqlparser_span(left));
        ControlFlow::Break(Box::new(DataFusionError::Plan(message).with_diagnostic(diagnostic)))
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Self::Break> {
        match factor {
            TableFactor::Pivot { .. } => stop("there is no PIVOT", factor.span(), PIVOT),
            TableFactor::Unpivot { .. } => stop("there is no UNPIVOT", factor.span(), UNPIVOT),
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Self::Break> {
        if select.into.is_some() {
            return stop("there is no SELECT INTO", select.span(), OF_THE_SESSION);
        }
        for join in select.from.iter().flat_map(|from| &from.joins) {
            if let JoinOperator::AsOf { .. } = join.join_operator {
                return stop("there is no ASOF JOIN", join.relation.span(), AS_OF);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Self::Break> {
        if !query.locks.is_empty() {
            return stop("FOR UPDATE is refused: SQL only reads", query.span(), SNAPSHOT);
        }
        ControlFlow::Continue(())
    }
}

fn stop(message: &str, span: tokenizer::Span, hint: &str) -> ControlFlow<Box<DataFusionError>> {
    ControlFlow::Break(Box::new(refused(message, Span::try_from_sqlparser_span(span), hint)))
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
