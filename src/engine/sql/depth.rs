//! How deep a statement is nested, from its words, before anything recurses into it: the parser, the planner
//! and the optimizer take stack for every level, and time in the square of it. Not what is nested in what.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field};
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::ParserError;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use super::refusals::refused;

/// The most levels of a statement, unless a session has a limit of its own. Each operator of a chain, such as
/// `a OR b OR c`, is one, and so is each step of a chain of UNION, and of tables in WITH.
pub(in crate::engine) const MAX_DEPTH: usize = 1000;

/// A join takes as much time as so many other levels.
const LEVELS_OF_JOIN: usize = 4;

/// The most levels of the type of a column in a result: who writes or shows it takes stack for each, and has
/// less of it than the threads of the engine.
const MAX_TYPE_DEPTH: usize = 100;

const SHALLOW: &str =
    "x IN (…) in place of a chain of OR, or a table of the values in a file: read_csv('FILE')";

/// The text between two brackets.
#[derive(Default)]
struct Part {
    /// Operators of the current expression.
    operators: usize,
    /// Joins and set operations, each of which has all before it below it.
    relations: usize,
    /// Tables in WITH, each of which can be over the one before it.
    tables: usize,
    is_with: bool,
}

impl Part {
    fn depth(&self) -> usize {
        1 + self.operators + self.relations + self.tables
    }
}

/// Fails for a statement with more than `most` levels.
pub(super) fn check(tokens: &[TokenWithSpan], most: usize) -> Result<()> {
    let (depth, of_type) = depth(tokens.iter().map(|token| &token.token));
    check_levels(of_type)?;
    if depth <= most {
        return Ok(());
    }
    Err(refused(
        format!("the statement is nested too deeply: {depth} levels, and {most} are the most (--max-depth)"),
        None,
        SHALLOW,
    ))
}

/// Fails for a result with a column of lists of lists, and so on, of more than [`MAX_TYPE_DEPTH`] levels.
pub(in crate::engine) fn check_types(schema: &DFSchema) -> Result<()> {
    check_levels(schema.fields().iter().map(|field| levels(field.data_type())).max().unwrap_or_default())
}

fn check_levels(of_type: usize) -> Result<()> {
    if of_type <= MAX_TYPE_DEPTH {
        return Ok(());
    }
    let message =
        format!("a type is nested too deeply: it has {of_type} levels, and {MAX_TYPE_DEPTH} are the most");
    Err(refused(message, None, "flatten(x), which makes one list of the lists in x"))
}

fn levels(ty: &DataType) -> usize {
    let of = |fields: &mut dyn Iterator<Item = &Arc<Field>>| {
        fields.map(|field| levels(field.data_type())).max().unwrap_or_default()
    };
    1 + match ty {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _)
        | DataType::RunEndEncoded(_, field) => levels(field.data_type()),
        DataType::Struct(fields) => of(&mut fields.iter()),
        DataType::Union(fields, _) => of(&mut fields.iter().map(|(_, field)| field)),
        DataType::Dictionary(_, values) => levels(values),
        _ => 0,
    }
}

/// An error of the parser; one about its own limit, in other words.
pub(super) fn of_parser(error: DataFusionError) -> DataFusionError {
    match &error {
        DataFusionError::SQL(cause, _) if **cause == ParserError::RecursionLimitExceeded => refused(
            "the statement is nested too deeply: brackets and calls are in each other 50 times at most"
                .to_owned(),
            None,
            "WITH part AS (SELECT …) SELECT … FROM part",
        ),
        _ => error,
    }
}

/// The levels of a statement, and those of the deepest type in it.
fn depth<'t>(tokens: impl Iterator<Item = &'t Token>) -> (usize, usize) {
    let (mut around, mut part) = (Vec::new(), Part::default());
    // Levels of the brackets around, and of types such as `ARRAY<ARRAY<INT>>`.
    let (mut below, mut types, mut deepest, mut deepest_type) = (0, 0_usize, 0, 0);
    let mut last = Keyword::NoKeyword;
    for token in tokens.filter(|token| !matches!(token, Token::Whitespace(_))) {
        let mut keyword = Keyword::NoKeyword;
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => {
                below += part.depth();
                around.push(std::mem::take(&mut part));
            }
            Token::RParen | Token::RBracket | Token::RBrace => {
                part = around.pop().unwrap_or_default();
                below = below.saturating_sub(part.depth());
            }
            Token::Comma => {
                part.operators = 0;
                part.tables += usize::from(part.is_with);
            }
            Token::SemiColon => (part, types) = (Part::default(), 0),
            Token::Word(word) => {
                keyword = word.keyword;
                match keyword {
                    Keyword::WITH => part.is_with = true,
                    Keyword::SELECT => (part.operators, part.is_with) = (0, false),
                    Keyword::FROM | Keyword::WHERE | Keyword::HAVING | Keyword::ON => part.operators = 0,
                    Keyword::WHEN | Keyword::THEN | Keyword::ELSE => part.operators = 0,
                    Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => part.relations += 1,
                    Keyword::JOIN => part.relations += LEVELS_OF_JOIN,
                    Keyword::AND | Keyword::OR | Keyword::NOT | Keyword::IS | Keyword::LIKE => {
                        part.operators += 1;
                    }
                    _ => {}
                }
            }
            Token::Lt if matches!(last, Keyword::ARRAY | Keyword::STRUCT | Keyword::MAP) => types += 1,
            Token::Gt if types > 0 => types -= 1,
            Token::ShiftRight if types > 0 => types = types.saturating_sub(2),
            Token::Number(..) | Token::SingleQuotedString(_) | Token::Period => {}
            _ => part.operators += 1,
        }
        last = keyword;
        deepest = deepest.max(below + part.depth() + types);
        deepest_type = deepest_type.max(types);
    }
    (deepest, deepest_type)
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::GenericDialect;
    use datafusion::sql::sqlparser::tokenizer::Tokenizer;

    use super::*;

    fn of(sql: &str) -> usize {
        depth(Tokenizer::new(&GenericDialect {}, sql).tokenize().unwrap().iter()).0
    }

    #[test]
    fn chains_and_brackets_have_their_length() {
        let tables = |n: usize| (1..n).map(|i| format!(", c{i} AS (SELECT * FROM c0)")).collect::<String>();
        for deep in [
            format!("SELECT 1 WHERE {}", vec!["a = 1"; 800].join(" OR ")),
            vec!["SELECT 1"; 800].join(" UNION ALL "),
            format!("SELECT CAST(1 AS {}INT{})", "ARRAY<".repeat(800), ">".repeat(800)),
            format!("SELECT 1{}", "::INT".repeat(800)),
            format!("SELECT {}'a'", "'a' || ".repeat(800)),
            format!("SELECT {}1{}", "(".repeat(800), ")".repeat(800)),
            format!("SELECT {}1", "- ".repeat(800)),
            format!("WITH c0 AS (SELECT 1){} SELECT 1", tables(800)),
            format!("SELECT 1 FROM a{}", " JOIN b ON a.x = b.x".repeat(200)),
            format!("SELECT ({}1 + ({}1))", "1 + ".repeat(400), "1 * ".repeat(400)),
        ] {
            assert!((800..1800).contains(&of(&deep)), "{} of {}", of(&deep), &deep[..60]);
        }
    }

    #[test]
    fn what_is_long_is_not_deep() {
        for flat in [
            format!("SELECT {} FROM t", vec!["a + 1 AS b"; 5000].join(", ")),
            format!("SELECT 1 WHERE a IN ({})", vec!["-1"; 5000].join(", ")),
            format!("VALUES {}", vec!["(1, a < 2, 'x')"; 5000].join(", ")),
            format!("SELECT CASE {} END", vec!["WHEN a = 1 AND b > 2 THEN c * 2"; 5000].join(" ")),
            format!("SELECT {}", vec!["ARRAY[1, 2]"; 5000].join(", ")),
            vec!["SELECT a + 1"; 5000].join("; "),
        ] {
            assert!(of(&flat) < 20, "{} of {}", of(&flat), &flat[..60]);
        }
    }
}
