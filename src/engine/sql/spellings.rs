//! Functions under the names of other databases, as calls of those that the engine has. Not for functions
//! that no name of the engine stands for (see `functions`).

use std::ops::ControlFlow;

use super::numbers;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArgumentList, FunctionArguments, Ident, ObjectName, OrderByExpr, OrderByOptions, Value, VisitMut,
    VisitorMut,
};

/// How a call is written for the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// The function of that name, with the same arguments.
    Same(&'static str),
    /// `f(a, b)`: the value of `a` where `b` is greatest, or least.
    Extreme { greatest: bool },
    /// `f(text, pattern, group)`: a part of the first match.
    Extract,
}

/// Names that the engine does not have.
const MEANINGS: &[(&str, Meaning)] = &[
    ("arg_max", Meaning::Extreme { greatest: true }),
    ("arg_min", Meaning::Extreme { greatest: false }),
    ("argmax", Meaning::Extreme { greatest: true }),
    ("argmin", Meaning::Extreme { greatest: false }),
    ("max_by", Meaning::Extreme { greatest: true }),
    ("min_by", Meaning::Extreme { greatest: false }),
    ("list_value", Meaning::Same("make_array")),
    ("percentile", Meaning::Same("percentile_cont")),
    ("quantile", Meaning::Same("percentile_cont")),
    ("regexp_extract", Meaning::Extract),
    ("regexp_matches", Meaning::Same("regexp_like")),
    ("strftime", Meaning::Same("to_char")),
];

/// The names of these functions, for completion and suggestions.
pub(in crate::engine) const SPELLINGS: [&str; MEANINGS.len()] = {
    let mut names = [""; MEANINGS.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = MEANINGS[at].0;
        at += 1;
    }
    names
};

/// Replaces the calls in a statement.
pub(super) fn replace(statement: &mut Statement) {
    let statement = match statement {
        Statement::Statement(statement) => statement,
        Statement::Explain(explain) => return replace(&mut explain.statement),
        _ => return,
    };
    // It never breaks.
    let _: ControlFlow<()> = statement.visit(&mut Calls);
}

struct Calls;

impl VisitorMut for Calls {
    type Break = ();

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        numbers::make_exact(expression);
        if let Expr::Function(call) = expression
            && let Some(meaning) = meaning(&call.name)
        {
            match meaning {
                Meaning::Same(name) => call.name = named(name),
                Meaning::Extreme { greatest } => extreme(call, greatest),
                Meaning::Extract => {
                    if let Some(extract) = extract(call) {
                        *expression = extract;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }
}

fn meaning(name: &ObjectName) -> Option<Meaning> {
    let [part] = name.0.as_slice() else { return None };
    let name = &part.as_ident()?.value;
    MEANINGS.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, meaning)| *meaning)
}

fn named(name: &str) -> ObjectName {
    ObjectName::from(vec![Ident::new(name)])
}

/// The arguments, if all are plain expressions.
fn arguments(call: &Function) -> Option<Vec<Expr>> {
    let FunctionArguments::List(list) = &call.args else { return None };
    let plain = |arg: &FunctionArg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    };
    list.args.iter().map(plain).collect()
}

fn list(args: Vec<Expr>, clauses: Vec<FunctionArgumentClause>) -> FunctionArguments {
    let args = args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).collect();
    FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses })
}

/// `first_value(a ORDER BY b DESC, a) FILTER (WHERE a IS NOT NULL AND b IS NOT NULL)`: of several rows with
/// the extreme, the one with the least `a`, so that the answer does not depend on threads.
fn extreme(call: &mut Function, greatest: bool) {
    let Some([value, by]) = arguments(call).and_then(|args| <[Expr; 2]>::try_from(args).ok()) else { return };
    let sorted = |expr: &Expr, ascending| OrderByExpr {
        expr: expr.clone(),
        options: OrderByOptions { asc: Some(ascending), nulls_first: None },
        with_fill: None,
    };
    let order = FunctionArgumentClause::OrderBy(vec![sorted(&by, !greatest), sorted(&value, true)]);
    let both = and(Expr::IsNotNull(Box::new(value.clone())), Expr::IsNotNull(Box::new(by)));
    let filter = match call.filter.take() {
        Some(filter) => and(Expr::Nested(filter), both),
        None => both,
    };
    call.name = named("first_value");
    call.args = list(vec![value], vec![order]);
    call.filter = Some(Box::new(filter));
}

fn and(left: Expr, right: Expr) -> Expr {
    binary(left, BinaryOperator::And, right)
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}

/// `array_element(regexp_match(text, '(' || pattern || ')'), group + 1)`: group 0 is the whole match.
fn extract(call: &Function) -> Option<Expr> {
    let mut args = arguments(call)?.into_iter();
    let (text, pattern) = (args.next()?, args.next()?);
    let quoted = |text: &str| Expr::Value(Value::SingleQuotedString(text.to_owned()).into());
    let number = |n: &str| Expr::Value(Value::Number(n.to_owned(), false).into());
    let group = args.next().unwrap_or_else(|| number("0"));
    let open = binary(quoted("("), BinaryOperator::StringConcat, Expr::Nested(Box::new(pattern)));
    let whole = binary(open, BinaryOperator::StringConcat, quoted(")"));
    let apply = |name, args| {
        Expr::Function(Function { name: named(name), args: list(args, Vec::new()), ..call.clone() })
    };
    let found = apply("regexp_match", [text, whole].into_iter().chain(args).collect());
    let index = binary(Expr::Nested(Box::new(group)), BinaryOperator::Plus, number("1"));
    Some(apply("array_element", vec![found, index]))
}

#[cfg(test)]
mod tests {
    use crate::engine::sql::parse;

    #[test]
    fn calls_are_written_for_the_engine() {
        let of = |sql: &str| parse(sql, None).unwrap().statement.to_string();
        assert_eq!(of("SELECT quantile(x, 0.9) FROM t"), "SELECT percentile_cont(x, 0.9) FROM t");
        assert_eq!(
            of("SELECT Arg_Max(a, b) FROM t"),
            "SELECT first_value(a ORDER BY b DESC, a ASC) FILTER (WHERE a IS NOT NULL AND b IS NOT NULL) FROM t"
        );
        assert_eq!(
            of("SELECT regexp_extract(a, 'x(y)', 1) FROM t"),
            "SELECT array_element(regexp_match(a, '(' || ('x(y)') || ')'), (1) + 1) FROM t"
        );
        // Not with other arguments: the engine says what is wrong.
        assert_eq!(of("SELECT arg_max(a) FROM t"), "SELECT arg_max(a) FROM t");
        assert_eq!(of("EXPLAIN SELECT quantile(x, 0.9)"), "EXPLAIN SELECT percentile_cont(x, 0.9)");
    }
}
