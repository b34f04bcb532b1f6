//! SQL text → one statement of plain SQL, and the names of its columns as typed. Not for its plan.

use datafusion::common::{DataFusionError, Result};
use datafusion::sql::parser::{DFParserBuilder, Statement};
use datafusion::sql::sqlparser::ast::Statement as Sql;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::ParserError;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer, Word};

use super::names::{self, Names};
use super::{depth, numbers, refusals, spellings, units};
use crate::engine::from_first;
use crate::time::TimeScale;

/// A statement that the engine can plan.
pub(in crate::engine) struct Parsed {
    pub statement: Statement,
    /// The columns of its result, as typed.
    pub names: Names,
    /// Not the rows of the statement are wanted, but a summary of every column.
    pub summarize: bool,
}

/// How statements are read; an extension of the configuration of a session.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct ParseOptions {
    /// What counts as one tick: times with a unit become ticks. Without a scale, only the syntax matters.
    pub scale: Option<TimeScale>,
    /// Statements of more levels are refused.
    pub max_depth: usize,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self { scale: None, max_depth: depth::MAX_DEPTH }
    }
}

/// Reads one statement.
///
/// # Errors
/// For what is no SQL, for a statement that would change the database, and for what the engine reads
/// differently or does not have; with the place.
pub(in crate::engine) fn parse(sql: &str, options: ParseOptions) -> Result<Parsed> {
    let typed = Tokenizer::new(&GenericDialect {}, sql).tokenize_with_location();
    let typed = typed.map_err(ParserError::from)?;
    depth::check(&typed, options.max_depth)?;
    let mut tokens = units::in_ticks(numbers::in_digits(typed.clone())?, options.scale)?;
    let summarize = take_summarize(&mut tokens);
    refusals::check_words(&tokens)?;
    numbers::check(&tokens)?;
    let tokens = from_first::with_select(tokens);
    let mut statements =
        DFParserBuilder::new(tokens).build()?.parse_statements().map_err(depth::of_parser)?;
    let (Some(mut statement), true) = (statements.pop_front(), statements.is_empty()) else {
        return Err(DataFusionError::Plan("exactly one statement is expected".to_owned()));
    };
    from_first::check_columns(&statement)?;
    refusals::check(&statement)?;
    let names = names::take(&mut statement, sql, &typed, summarize);
    spellings::replace(&mut statement)?;
    drop_temporary(&mut statement);
    Ok(Parsed { statement, names, summarize })
}

/// Takes the word TEMPORARY: views and tables of a session are, also without it, and the engine refuses it.
fn drop_temporary(statement: &mut Statement) {
    let Statement::Statement(statement) = statement else { return };
    match statement.as_mut() {
        Sql::CreateTable(table) => table.temporary = false,
        Sql::CreateView(view) => view.temporary = false,
        _ => {}
    }
}

/// Takes the word SUMMARIZE from the begin, so that a query is left: the one that follows, or all rows of the
/// table that follows.
fn take_summarize(tokens: &mut Vec<TokenWithSpan>) -> bool {
    let solid = |t: &&TokenWithSpan| !matches!(t.token, Token::Whitespace(_));
    let Some(first) = tokens.iter().position(|t| solid(&t)) else { return false };
    let is_summarize = |t: &TokenWithSpan| match &t.token {
        Token::Word(Word { value, quote_style: None, .. }) => value.eq_ignore_ascii_case("summarize"),
        _ => false,
    };
    if !tokens.get(first).is_some_and(is_summarize) {
        return false;
    }
    let span = tokens.get(first).map(|t| t.span);
    tokens.drain(..=first);
    let is_query = |t: &TokenWithSpan| match &t.token {
        Token::LParen => true,
        Token::Word(word) => matches!(
            word.keyword,
            Keyword::SELECT | Keyword::WITH | Keyword::VALUES | Keyword::FROM | Keyword::TABLE
        ),
        _ => false,
    };
    if let (Some(next), Some(span)) = (tokens.iter().find(solid), span)
        && !is_query(next)
    {
        let word = |text| TokenWithSpan { token: Token::make_keyword(text), span };
        let all = [word("SELECT"), TokenWithSpan { token: Token::Mul, span }, word("FROM")];
        drop(tokens.splice(..0, all));
    }
    true
}
