//! The names of the columns of a result: what stands in the list of SELECT, as it was typed. Not for names
//! that are given with AS.

use std::sync::Arc;

use super::duplicates;
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, Query, Select, SelectItem, SetExpr, Statement as Sql, TableFactor, TableWithJoins,
};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};

/// The names of the columns of a result, where they are not those that the engine gives.
#[derive(Debug, Clone, Default)]
pub(in crate::engine) struct Names(Vec<Item>);

/// An item of the list of SELECT.
#[derive(Debug, Clone)]
enum Item {
    /// A column that gets this name.
    Typed(String),
    /// A column that has a name.
    Named,
    /// Any number of columns.
    Wildcard,
}

impl Names {
    /// The columns of a result with these names.
    pub fn rename(&self, schema: &SchemaRef) -> SchemaRef {
        let fields = schema.fields();
        let wildcard = |item: &Item| matches!(item, Item::Wildcard);
        let first = self.0.iter().position(wildcard).unwrap_or(self.0.len());
        let after = self.0.iter().rposition(wildcard).map_or(self.0.len(), |at| at + 1);
        // What is before the first wildcard is counted from the begin, and after the last one from the end.
        let Some(shift) = fields.len().checked_sub(self.0.len() - after) else { return Arc::clone(schema) };
        if first == self.0.len() && first != fields.len() {
            return Arc::clone(schema);
        }
        let name = |at: usize| {
            let item = if at < first { Some(at) } else { at.checked_sub(shift).map(|n| n + after) };
            match self.0.get(item?)? {
                Item::Typed(name) => Some(name.clone()),
                _ => None,
            }
        };
        let field = |(at, field): (usize, &Arc<Field>)| match name(at) {
            Some(name) => Arc::new(field.as_ref().clone().with_name(name)),
            None => Arc::clone(field),
        };
        let fields: Vec<_> = fields.iter().enumerate().map(field).collect();
        Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
    }
}

/// The names of the columns of a statement. The columns of its subqueries in FROM and WITH get their names
/// here, so that they can be used by them. `summarize`: so do those of the statement, which are in its rows.
pub(super) fn take(statement: &mut Statement, sql: &str, tokens: &[TokenWithSpan], summarize: bool) -> Names {
    let Statement::Statement(statement) = statement else { return Names::default() };
    let typed = Typed { tokens, texts: texts(sql, tokens) };
    match statement.as_mut() {
        Sql::Query(query) if summarize => {
            named(query, &typed);
            Names::default()
        }
        Sql::Query(query) => {
            inner_queries(query, &typed);
            let Some(select) = first_select(&mut query.body) else { return Names::default() };
            let Some(items) = typed.items(select) else { return Names::default() };
            let mut names: Vec<_> =
                select.projection.iter().zip(items).map(|(item, text)| name(item, text)).collect();
            for (at, shown) in duplicates::set_apart(&mut query.body) {
                if let Some(name) = names.get_mut(at) {
                    *name = Item::Typed(shown);
                }
            }
            Names(names)
        }
        Sql::CreateView(view) => {
            named(&mut view.query, &typed);
            Names::default()
        }
        Sql::CreateTable(table) => {
            if let Some(query) = &mut table.query {
                named(query, &typed);
            }
            Names::default()
        }
        _ => Names::default(),
    }
}

fn name(item: &SelectItem, text: String) -> Item {
    match item {
        SelectItem::UnnamedExpr(Expr::Identifier(_) | Expr::CompoundIdentifier(_)) => Item::Named,
        SelectItem::UnnamedExpr(_) => Item::Typed(text),
        SelectItem::ExprWithAlias { .. } => Item::Named,
        SelectItem::ExprWithAliases { .. } | SelectItem::QualifiedWildcard(..) | SelectItem::Wildcard(_) => {
            Item::Wildcard
        }
    }
}

/// The SELECT whose names the result has.
fn first_select(body: &mut SetExpr) -> Option<&mut Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::Query(query) => first_select(&mut query.body),
        SetExpr::SetOperation { left, .. } => first_select(left),
        _ => None,
    }
}

/// Names the columns of the queries in WITH and FROM.
fn inner_queries(query: &mut Query, typed: &Typed<'_>) {
    for cte in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
        named(&mut cte.query, typed);
    }
    in_body(&mut query.body, typed);
}

fn in_body(body: &mut SetExpr, typed: &Typed<'_>) {
    match body {
        SetExpr::Select(select) => select.from.iter_mut().for_each(|from| in_from(from, typed)),
        SetExpr::Query(query) => inner_queries(query, typed),
        SetExpr::SetOperation { left, right, .. } => {
            in_body(left, typed);
            in_body(right, typed);
        }
        _ => {}
    }
}

fn in_from(from: &mut TableWithJoins, typed: &Typed<'_>) {
    let joined = from.joins.iter_mut().map(|join| &mut join.relation);
    for factor in std::iter::once(&mut from.relation).chain(joined) {
        match factor {
            TableFactor::Derived { subquery, .. } => named(subquery, typed),
            TableFactor::NestedJoin { table_with_joins, .. } => in_from(table_with_joins, typed),
            _ => {}
        }
    }
}

/// Names the columns of a query whose rows are read by another one.
fn named(query: &mut Query, typed: &Typed<'_>) {
    inner_queries(query, typed);
    let sorted = query.order_by.is_some();
    let Some(select) = first_select(&mut query.body) else { return };
    // Of DISTINCT rows, the engine sorts by expressions without another name only.
    if sorted && select.distinct.is_some() {
        return;
    }
    let Some(items) = typed.items(select) else { return };
    for (item, text) in select.projection.iter_mut().zip(items) {
        let Item::Typed(text) = name(item, text) else { continue };
        if let SelectItem::UnnamedExpr(expr) = item {
            let (expr, alias) = (expr.clone(), Ident::with_quote('"', text));
            *item = SelectItem::ExprWithAlias { expr, alias };
        }
    }
}

/// The text of a statement by its tokens.
struct Typed<'a> {
    tokens: &'a [TokenWithSpan],
    texts: Vec<&'a str>,
}

impl Typed<'_> {
    /// The items of the list of a SELECT as text; `None` if the list is not as long as the parser says.
    fn items(&self, select: &Select) -> Option<Vec<String>> {
        let start = select.select_token.0.span.start;
        let at = self.tokens.binary_search_by_key(&start, |t| t.span.start).ok()?;
        let mut items = vec![String::new()];
        let (mut depth, mut before) = (0usize, Keyword::NoKeyword);
        let mut begun = false;
        for (token, text) in self.tokens.iter().zip(&self.texts).skip(at + 1) {
            let keyword = match &token.token {
                Token::Whitespace(_) => {
                    if let Some(item) =
                        items.last_mut().filter(|item| !item.is_empty() && !item.ends_with(' '))
                    {
                        item.push(' ');
                    }
                    continue;
                }
                Token::Word(word) => word.keyword,
                _ => Keyword::NoKeyword,
            };
            match &token.token {
                Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
                Token::RParen | Token::RBracket | Token::RBrace => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => break,
                },
                Token::Comma if depth == 0 => {
                    items.push(String::new());
                    continue;
                }
                _ if depth == 0 && ends_list(keyword, before) => break,
                _ => {}
            }
            // `SELECT DISTINCT a` has the item `a`.
            if begun || !matches!(keyword, Keyword::DISTINCT | Keyword::ALL) {
                items.last_mut()?.push_str(text);
                begun = true;
            }
            before = if token.token == Token::Mul { Keyword::ALL } else { keyword };
        }
        let items: Vec<String> = items.into_iter().map(|item| item.trim_end().to_owned()).collect();
        (items.len() == select.projection.len()).then_some(items)
    }
}

/// True for a word that ends the list of SELECT; `before` is the word before it, ALL for a wildcard.
fn ends_list(keyword: Keyword, before: Keyword) -> bool {
    match keyword {
        // a IS [NOT] DISTINCT FROM b
        Keyword::FROM => before != Keyword::DISTINCT,
        // WITHIN GROUP (ORDER BY …)
        Keyword::GROUP => before != Keyword::WITHIN,
        // * EXCEPT (a)
        Keyword::EXCEPT => before != Keyword::ALL,
        Keyword::INTO
        | Keyword::WHERE
        | Keyword::HAVING
        | Keyword::ORDER
        | Keyword::LIMIT
        | Keyword::OFFSET
        | Keyword::FETCH
        | Keyword::UNION
        | Keyword::INTERSECT
        | Keyword::MINUS
        | Keyword::WINDOW
        | Keyword::QUALIFY => true,
        _ => false,
    }
}

/// The text of every token.
fn texts<'a>(sql: &'a str, tokens: &[TokenWithSpan]) -> Vec<&'a str> {
    let mut chars = sql.char_indices();
    let (mut line, mut column, mut offset) = (1, 1, 0);
    let mut seek = |to: Location| {
        while (line, column) < (to.line, to.column) {
            let Some((_, c)) = chars.next() else { break };
            (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
            offset = chars.offset();
        }
        offset
    };
    let range = |t: &TokenWithSpan| seek(t.span.start)..seek(t.span.end);
    let ranges: Vec<_> = tokens.iter().map(range).collect();
    ranges.into_iter().map(|range| sql.get(range).unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use crate::engine::sql::parse;
    use arrow::datatypes::{DataType, Field, Schema};
    use std::sync::Arc;

    /// The names of a result that the engine names c0, c1, …
    fn names(sql: &str, columns: usize) -> Vec<String> {
        let field = |at| Field::new(format!("c{at}"), DataType::Int64, true);
        let schema = Arc::new(Schema::new((0..columns).map(field).collect::<Vec<_>>()));
        let renamed = parse(sql, None).unwrap().names.rename(&schema);
        renamed.fields().iter().map(|f| f.name().clone()).collect()
    }

    #[test]
    fn columns_are_named_as_typed() {
        assert_eq!(
            names("SELECT count(*), max(time)+1, a, b AS c FROM t", 4),
            ["count(*)", "max(time)+1", "c2", "c3"]
        );
        assert_eq!(
            names("SELECT\n  max( time )\n  + 1 -- why\n, 'ä, b' FROM t", 2),
            ["max( time ) + 1", "'ä, b'"]
        );
        assert_eq!(names("SELECT DISTINCT a + 1 FROM t", 1), ["a + 1"]);
        assert_eq!(
            names("SELECT a IS DISTINCT FROM b, f(x) FILTER (WHERE x > 1) FROM t", 2)[0],
            "a IS DISTINCT FROM b"
        );
        assert_eq!(names("SELECT extract(year FROM t), 1", 2), ["extract(year FROM t)", "1"]);
        assert_eq!(names("SELECT 1+1 UNION SELECT 2", 1), ["1+1"]);
        assert_eq!(names("WITH w AS (SELECT 2) SELECT 1+1 FROM w", 1), ["1+1"]);
        assert_eq!(names("SELECT time > 10ms FROM t", 1), ["time > 10ms"]);
        assert_eq!(names("FROM t SELECT a + 1", 1), ["a + 1"]);
    }

    #[test]
    fn wildcards_stand_for_any_number_of_columns() {
        assert_eq!(names("SELECT 1+1, *, 2+2 FROM t", 5), ["1+1", "c1", "c2", "c3", "2+2"]);
        assert_eq!(names("SELECT t.*, 2+2, u.* FROM t, u", 3), ["c0", "c1", "c2"]);
        assert_eq!(names("SELECT * EXCEPT (a), 2+2 FROM t", 3), ["c0", "c1", "2+2"]);
    }

    #[test]
    fn columns_of_subqueries_can_be_used_by_name() {
        let of = |sql: &str| parse(sql, None).unwrap().statement.to_string();
        assert!(of("SELECT * FROM (SELECT max(a)+1 FROM t)").contains("max(a) + 1 AS \"max(a)+1\""));
        assert!(of("WITH w AS (SELECT 2*3) SELECT * FROM w").contains("2 * 3 AS \"2*3\""));
        assert!(!of("SELECT max(a)+1 FROM t").contains("AS"));
    }
}
