//! The names of the columns of a SELECT: what stands in its list, as it was typed. The engine gets them with
//! AS: it has one name for `x` and `CAST(x AS DOUBLE)`, and does not find a column that it named itself when
//! ORDER BY names its number. Not for names that are given with AS.

use std::sync::Arc;

use super::duplicates;
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, Ident, OrderByKind, Query, Select, SelectItem, SetExpr, Statement as Sql, TableFactor,
    TableWithJoins,
};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};

/// The names of the columns of a result, where the engine needs others.
#[derive(Debug, Clone, Default)]
pub(in crate::engine) struct Names(Vec<Item>);

/// An item of the list of SELECT.
#[derive(Debug, Clone)]
enum Item {
    /// A column that is shown under this name.
    Shown(String),
    /// A column that has its name.
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
                Item::Shown(name) => Some(name.clone()),
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

/// Names the columns of a statement, and of its subqueries in FROM and WITH, as they were typed. Returns the
/// columns of its result that have to be shown under another name than the engine knows. `summarize`: the
/// names of the statement are in its rows, so that each column needs a name of its own.
pub(super) fn take(statement: &mut Statement, sql: &str, tokens: &[TokenWithSpan], summarize: bool) -> Names {
    match statement {
        Statement::Statement(statement) => {
            of_sql(statement, &Typed { tokens, texts: texts(sql, tokens) }, summarize)
        }
        // The plan is that of the statement; its rows have columns of their own.
        Statement::Explain(explain) => {
            take(&mut explain.statement, sql, tokens, summarize);
            Names::default()
        }
        _ => Names::default(),
    }
}

fn of_sql(statement: &mut Sql, typed: &Typed<'_>, summarize: bool) -> Names {
    match statement {
        Sql::Query(query) if !summarize => return of_result(query, typed),
        Sql::Query(query) => named(query, typed),
        Sql::CreateView(view) => named(&mut view.query, typed),
        Sql::CreateTable(table) => {
            if let Some(query) = &mut table.query {
                named(query, typed);
            }
        }
        // DESCRIBE of a query.
        Sql::Explain { statement, .. } => {
            of_sql(statement, typed, summarize);
        }
        _ => {}
    }
    Names::default()
}

/// Names the columns of a query whose rows are the result, in which columns may have one name.
fn of_result(query: &mut Query, typed: &Typed<'_>) -> Names {
    in_query(query, typed);
    let Some(select) = first_select(&mut query.body) else { return Names::default() };
    let item = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. } => Item::Named,
        SelectItem::ExprWithAliases { .. } | SelectItem::QualifiedWildcard(..) | SelectItem::Wildcard(_) => {
            Item::Wildcard
        }
    };
    let mut names: Vec<_> = select.projection.iter().map(item).collect();
    for (at, shown) in duplicates::set_apart(&mut query.body) {
        if let Some(name) = names.get_mut(at) {
            *name = Item::Shown(shown);
        }
    }
    sort_by_name(query);
    Names(names)
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

/// Names the columns of a query whose rows are read by another one.
fn named(query: &mut Query, typed: &Typed<'_>) {
    in_query(query, typed);
    sort_by_name(query);
}

fn in_query(query: &mut Query, typed: &Typed<'_>) {
    for cte in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
        named(&mut cte.query, typed);
    }
    in_body(&mut query.body, typed);
}

fn in_body(body: &mut SetExpr, typed: &Typed<'_>) {
    match body {
        SetExpr::Select(select) => {
            select.from.iter_mut().for_each(|from| in_from(from, typed));
            in_select(select, typed);
        }
        SetExpr::Query(query) => named(query, typed),
        SetExpr::SetOperation { left, right, .. } => {
            in_body(left, typed);
            in_body(right, typed);
            // The rows have the names of the left side.
            duplicates::set_apart(right);
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

/// Names the columns in the list of a SELECT, but for those of its tables, which have names.
fn in_select(select: &mut Select, typed: &Typed<'_>) {
    let Some(items) = typed.items(select) else { return };
    for (item, text) in select.projection.iter_mut().zip(items) {
        if let SelectItem::UnnamedExpr(expr) = item
            && !matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
        {
            let (expr, alias) = (expr.clone(), Ident::with_quote('"', text));
            *item = SelectItem::ExprWithAlias { expr, alias };
        }
    }
}

/// Of DISTINCT rows and of a UNION, the engine sorts by columns, not by the expressions in their list.
fn sort_by_name(query: &mut Query) {
    let Some(OrderByKind::Expressions(keys)) = query.order_by.as_mut().map(|order| &mut order.kind) else {
        return;
    };
    let is_union = matches!(*query.body, SetExpr::SetOperation { .. });
    let Some(select) = first_select(&mut query.body) else { return };
    if !is_union && !matches!(select.distinct, Some(Distinct::Distinct)) {
        return;
    }
    let aliases = || {
        select.projection.iter().filter_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } => Some((expr.to_string(), alias)),
            _ => None,
        })
    };
    for key in keys {
        let text = key.expr.to_string();
        // A name of the list comes before a column of FROM.
        if matches!(&key.expr, Expr::Identifier(name)
            if aliases().any(|(_, alias)| alias.value.eq_ignore_ascii_case(&name.value)))
        {
            continue;
        }
        let exact = aliases().find(|(expr, _)| *expr == text);
        let same = exact.or_else(|| aliases().find(|(expr, _)| expr.eq_ignore_ascii_case(&text)));
        if let Some((_, alias)) = same {
            key.expr = Expr::Identifier(alias.clone());
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
    use crate::engine::sql::{ParseOptions, parse};
    use arrow::datatypes::{DataType, Field, Schema};
    use datafusion::sql::parser::Statement;
    use datafusion::sql::sqlparser::ast::{SelectItem, Statement as Sql};
    use std::sync::Arc;

    /// The names of the columns in the list of the first SELECT.
    fn names(sql: &str) -> Vec<String> {
        let Statement::Statement(statement) = parse(sql, ParseOptions::default()).unwrap().statement else {
            panic!("{sql}")
        };
        let Sql::Query(mut query) = *statement else { panic!("{sql}") };
        let select = super::first_select(&mut query.body).unwrap();
        let name = |item: &SelectItem| match item {
            SelectItem::ExprWithAlias { alias, .. } => alias.value.clone(),
            other => other.to_string(),
        };
        select.projection.iter().map(name).collect()
    }

    /// The names that are shown, where the engine has c0, c1, …
    fn shown(sql: &str, columns: usize) -> Vec<String> {
        let field = |at| Field::new(format!("c{at}"), DataType::Int64, true);
        let schema = Arc::new(Schema::new((0..columns).map(field).collect::<Vec<_>>()));
        let renamed = parse(sql, ParseOptions::default()).unwrap().names.rename(&schema);
        renamed.fields().iter().map(|f| f.name().clone()).collect()
    }

    #[test]
    fn columns_are_named_as_typed() {
        assert_eq!(
            names("SELECT count(*), max(time)+1, a, b AS c FROM t"),
            ["count(*)", "max(time)+1", "a", "c"]
        );
        assert_eq!(
            names("SELECT\n  max( time )\n  + 1 -- why\n, 'ä, b' FROM t"),
            ["max( time ) + 1", "'ä, b'"]
        );
        assert_eq!(names("SELECT DISTINCT a + 1 FROM t"), ["a + 1"]);
        assert_eq!(
            names("SELECT a IS DISTINCT FROM b, f(x) FILTER (WHERE x > 1) FROM t")[0],
            "a IS DISTINCT FROM b"
        );
        assert_eq!(names("SELECT extract(year FROM t), 1"), ["extract(year FROM t)", "1"]);
        assert_eq!(names("SELECT 1+1 UNION SELECT 2"), ["1+1"]);
        assert_eq!(names("WITH w AS (SELECT 2) SELECT 1+1 FROM w"), ["1+1"]);
        assert_eq!(names("SELECT time > 10ms, 1_000, 0x1F FROM t"), ["time > 10ms", "1_000", "0x1F"]);
        assert_eq!(names("FROM t SELECT a + 1"), ["a + 1"]);
        assert_eq!(names("SELECT a, a::DOUBLE FROM t"), ["a", "a::DOUBLE"]);
    }

    #[test]
    fn wildcards_stand_for_any_number_of_columns() {
        assert_eq!(shown("SELECT a, *, a, 1, 1 FROM t", 6), ["a", "c1", "c2", "a", "c4", "1"]);
        assert_eq!(shown("SELECT t.*, 1, 1, u.* FROM t, u", 4), ["c0", "c1", "c2", "c3"]);
        assert_eq!(shown("SELECT * EXCEPT (a), 1, 1 FROM t", 4), ["c0", "c1", "c2", "1"]);
    }

    #[test]
    fn columns_of_every_select_can_be_used_by_name() {
        let of = |sql: &str| parse(sql, ParseOptions::default()).unwrap().statement.to_string();
        assert!(of("SELECT * FROM (SELECT max(a)+1 FROM t)").contains("max(a) + 1 AS \"max(a)+1\""));
        assert!(of("WITH w AS (SELECT 2*3) SELECT * FROM w").contains("2 * 3 AS \"2*3\""));
        assert!(of("EXPLAIN SELECT 2*3").contains("2 * 3 AS \"2*3\""));
        assert!(of("SELECT 1, 2 UNION SELECT a, a::INT FROM t").contains("AS \"a::INT\""));
        assert!(of("SELECT DISTINCT a+1 FROM t ORDER BY A + 1").ends_with("ORDER BY \"a+1\""));
        assert!(of("SELECT DISTINCT a AS x, b AS x FROM t ORDER BY b").ends_with("ORDER BY \"x (2)\""));
        assert!(of("SELECT DISTINCT a AS b, b AS c FROM t ORDER BY b").ends_with("ORDER BY b"));
        assert!(of("SELECT a+1 FROM t ORDER BY a+1").ends_with("ORDER BY a + 1"));
    }
}
