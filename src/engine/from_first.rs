//! `FROM t` for `SELECT * FROM t`, in the words of a text, before they are parsed. Not for what a statement
//! means (see `plan`).

use std::ops::ControlFlow;

use datafusion::common::{DataFusionError, Diagnostic, Result, Span};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{Select, Visit, Visitor};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

/// Puts `SELECT *` before each FROM that begins a query and is not followed by a SELECT. The parser knows
/// this form without WHERE only, and DataFusion makes rows without columns of it. The new words have the
/// place of FROM, so that all other places in errors stay.
pub(super) fn with_select(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    // In every pair of parentheses that is open: whether its query has a SELECT, and whether it has a WITH.
    let mut open = vec![(false, false)];
    // The words before, without blanks.
    let mut before = [None, None];
    let mut begins = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if matches!(token.token, Token::Whitespace(_)) {
            continue;
        }
        let depth = open.len();
        let Some((selected, with)) = open.last_mut() else { break };
        let keyword = keyword(&token.token);
        match (&token.token, keyword) {
            (Token::SemiColon, _) => open = vec![(false, false)],
            (Token::LParen, _) => open.push((false, false)),
            (Token::RParen, _) if depth > 1 => drop(open.pop()),
            (_, Keyword::SELECT) => *selected = true,
            (_, Keyword::WITH) => *with = true,
            (_, Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT) => *selected = false,
            (_, Keyword::FROM) if !*selected && begins_query(&before, *with) => {
                *selected = true;
                if !select_follows(&tokens[at..]) {
                    begins.push(at);
                }
            }
            _ => {}
        }
        before = [before[1].take(), Some(token.token.clone())];
    }
    let mut result = Vec::with_capacity(tokens.len() + 4 * begins.len());
    for (at, token) in tokens.into_iter().enumerate() {
        if begins.contains(&at) {
            let all = [Token::make_keyword("SELECT"), Token::Mul];
            result.extend(all.map(|word| TokenWithSpan { token: word, span: token.span }));
        }
        result.push(token);
    }
    result
}

/// Whether a query can begin after these words; `with`: after common table expressions.
fn begins_query(before: &[Option<Token>; 2], with: bool) -> bool {
    let [earlier, last] = before.each_ref().map(Option::as_ref);
    match last {
        None | Some(Token::LParen | Token::SemiColon) => true,
        Some(Token::RParen) => with,
        Some(word) => match keyword(word) {
            Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => true,
            Keyword::EXPLAIN | Keyword::ANALYZE | Keyword::VERBOSE => true,
            Keyword::ALL | Keyword::DISTINCT => earlier.is_some_and(|word| {
                matches!(keyword(word), Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT)
            }),
            _ => false,
        },
    }
}

/// Whether the query that begins with this FROM has a SELECT after it.
fn select_follows(tokens: &[TokenWithSpan]) -> bool {
    let mut depth = 0;
    for token in tokens {
        match (&token.token, keyword(&token.token)) {
            (Token::LParen, _) => depth += 1,
            (Token::RParen, _) if depth == 0 => return false,
            (Token::RParen, _) => depth -= 1,
            (Token::SemiColon, _) => return false,
            (_, Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT) if depth == 0 => return false,
            (_, Keyword::SELECT) if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

fn keyword(token: &Token) -> Keyword {
    match token {
        Token::Word(word) if word.quote_style.is_none() => word.keyword,
        _ => Keyword::NoKeyword,
    }
}

/// Refuses `SELECT FROM t`, which gives rows without columns.
pub(super) fn check_columns(statement: &Statement) -> Result<()> {
    struct Columns;
    impl Visitor for Columns {
        type Break = DataFusionError;

        fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<DataFusionError> {
            if !select.projection.is_empty() {
                return ControlFlow::Continue(());
            }
            let message = "this SELECT has no columns: write SELECT *, or those that you want";
            let place = Span::try_from_sqlparser_span(select.select_token.0.span);
            let diagnostic = Diagnostic::new_error(message, place);
            ControlFlow::Break(DataFusionError::Plan(message.to_owned()).with_diagnostic(diagnostic))
        }
    }
    match statement {
        Statement::Statement(statement) => match statement.visit(&mut Columns) {
            ControlFlow::Break(error) => Err(error),
            ControlFlow::Continue(()) => Ok(()),
        },
        Statement::Explain(explain) => check_columns(&explain.statement),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::sql::parser::DFParserBuilder;
    use datafusion::sql::sqlparser::dialect::GenericDialect;
    use datafusion::sql::sqlparser::tokenizer::Tokenizer;

    fn parse(sql: &str) -> Result<Vec<Statement>> {
        let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize_with_location().unwrap();
        let statements = DFParserBuilder::new(with_select(tokens)).build()?.parse_statements()?;
        statements.iter().try_for_each(check_columns)?;
        Ok(statements.into())
    }

    fn parsed(sql: &str) -> String {
        let statements = parse(sql).unwrap();
        statements.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn a_query_may_begin_with_from() {
        for (short, long) in [
            ("FROM t", "SELECT * FROM t"),
            ("from t where a > 1 order by b limit 2", "SELECT * FROM t WHERE a > 1 ORDER BY b LIMIT 2"),
            ("FROM a JOIN b USING (x)", "SELECT * FROM a JOIN b USING (x)"),
            ("SELECT 1 FROM (FROM t WHERE (a))", "SELECT 1 FROM (SELECT * FROM t WHERE (a))"),
            ("WITH c AS (FROM t) FROM c", "WITH c AS (SELECT * FROM t) SELECT * FROM c"),
            ("FROM a UNION ALL FROM b", "SELECT * FROM a UNION ALL SELECT * FROM b"),
            ("EXPLAIN FROM t", "EXPLAIN SELECT * FROM t"),
            ("SELECT * FROM f((FROM t), x)", "SELECT * FROM f((SELECT * FROM t), x)"),
            ("SELECT a FROM t; FROM u", "SELECT a FROM t; SELECT * FROM u"),
        ] {
            assert_eq!(parsed(short), parsed(long), "{short}");
        }
    }

    #[test]
    fn other_words_from_stay() {
        for sql in [
            "FROM t SELECT a",
            "SELECT a FROM t WHERE b IS DISTINCT FROM c",
            "SELECT (a IS DISTINCT FROM b) FROM t",
            "SELECT EXTRACT(DAY FROM a), TRIM(BOTH 'x' FROM b), SUBSTRING(c FROM 2) FROM t",
            "SELECT (a) FROM t",
            "SELECT \"from\" FROM \"select\"",
        ] {
            let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize_with_location().unwrap();
            assert_eq!(with_select(tokens.clone()), tokens, "{sql}");
        }
    }

    #[test]
    fn a_select_has_columns() {
        let error = parse("SELECT 1 FROM (SELECT FROM t)").unwrap_err().to_string();
        assert!(error.contains("no columns"), "{error}");
    }
}
