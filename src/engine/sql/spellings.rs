//! Functions under the names of other databases, as calls of those that the engine has, and exact ones in
//! place of sketches that depend on the number of threads. Not for functions that no name of the engine
//! stands for (see `functions`).

use std::ops::ControlFlow;

use super::numbers;
use super::refusals::refused;
use datafusion::common::{DataFusionError, Result, Span};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArgumentList, FunctionArguments, Ident, ObjectName, OrderByExpr, OrderByOptions, Spanned, Value,
    VisitMut, VisitorMut,
};

/// How a call is written for the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// The function of that name, with the same arguments.
    Same(&'static str),
    /// The percentile itself, without the number of groups that a sketch of it has.
    Percentile,
    /// `f(a, b)`: the value of `a` where `b` is greatest, or least.
    Extreme { greatest: bool },
    /// `f(text, pattern, group)`: a part of the first match.
    Extract,
}

/// Names that the engine does not have, or for a value that would depend on the number of threads.
const MEANINGS: &[(&str, Meaning)] = &[
    ("approx_median", Meaning::Same("median")),
    ("approx_percentile_cont", Meaning::Percentile),
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
///
/// # Errors
/// For a call with arguments that the function does not have, or whose value would not always be the same.
pub(super) fn replace(statement: &mut Statement) -> Result<()> {
    let statement = match statement {
        Statement::Statement(statement) => statement,
        Statement::Explain(explain) => return replace(&mut explain.statement),
        _ => return Ok(()),
    };
    match statement.visit(&mut Calls) {
        ControlFlow::Break(error) => Err(*error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Calls;

impl VisitorMut for Calls {
    type Break = Box<DataFusionError>;

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<Self::Break> {
        numbers::make_exact(expression);
        if let Expr::Function(call) = &*expression
            && let Some((message, hint)) = misused(call)
        {
            let span = Span::try_from_sqlparser_span(call.name.span());
            return ControlFlow::Break(Box::new(refused(message, span, hint)));
        }
        if let Expr::Function(call) = expression
            && let Some(meaning) = meaning(&call.name)
        {
            match meaning {
                Meaning::Same(name) => call.name = named(name),
                Meaning::Percentile => {
                    if let FunctionArguments::List(list) = &mut call.args {
                        list.args.truncate(if call.within_group.is_empty() { 2 } else { 1 });
                    }
                    call.name = named("percentile_cont");
                }
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

/// What is wrong with a call, and the next step.
fn misused(call: &Function) -> Option<(String, &'static str)> {
    let [part] = call.name.0.as_slice() else { return None };
    let name = part.as_ident()?.value.to_lowercase();
    if name == "approx_percentile_cont_with_weight" {
        let message = format!("the value of '{name}' would depend on the number of threads");
        return Some((message, "percentile_cont(x, 0.9), of rows that unnest(range(0, weight)) repeats"));
    }
    let FunctionArguments::List(list) = &call.args else { return None };
    // The engine panics on them.
    if call.over.is_some() && list.args.is_empty() && ["first_value", "last_value"].contains(&name.as_str()) {
        return Some((format!("'{name}' takes 1 argument, not 0"), "first_value(x) OVER (ORDER BY y)"));
    }
    match meaning(&call.name)? {
        Meaning::Extreme { .. } if list.args.len() != 2 => {
            let message = format!("'{name}' takes 2 arguments, not {}", list.args.len());
            Some((message, "arg_max(a, b) is the a of the greatest b; for several: ORDER BY b DESC LIMIT 3"))
        }
        _ => None,
    }
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
    use crate::engine::sql::{ParseOptions, parse};

    #[test]
    fn calls_are_written_for_the_engine() {
        let of = |sql: &str| parse(sql, ParseOptions::default()).unwrap().statement.to_string();
        assert_eq!(of("SELECT quantile(x, 0.9) AS y FROM t"), "SELECT percentile_cont(x, 0.9) AS y FROM t");
        assert_eq!(
            of("SELECT Arg_Max(a, b) AS y FROM t"),
            "SELECT first_value(a ORDER BY b DESC, a ASC) FILTER (WHERE a IS NOT NULL AND b IS NOT NULL) AS y FROM t"
        );
        assert_eq!(
            of("SELECT regexp_extract(a, 'x(y)', 1) AS y FROM t"),
            "SELECT array_element(regexp_match(a, '(' || ('x(y)') || ')'), (1) + 1) AS y FROM t"
        );
        assert_eq!(of("EXPLAIN SELECT quantile(x, 0.9) AS y"), "EXPLAIN SELECT percentile_cont(x, 0.9) AS y");
        assert_eq!(
            of("SELECT approx_median(x) AS a, approx_percentile_cont(x, 0.9, 100) AS b, \
                approx_percentile_cont(0.9, 100) WITHIN GROUP (ORDER BY x) AS c FROM t"),
            "SELECT median(x) AS a, percentile_cont(x, 0.9) AS b, \
             percentile_cont(0.9) WITHIN GROUP (ORDER BY x) AS c FROM t"
        );
        for bad in ["arg_max(a)", "min_by(a, b, 3)", "approx_percentile_cont_with_weight(a, b, 0.9)"] {
            assert!(parse(&format!("SELECT {bad} FROM t"), ParseOptions::default()).is_err(), "{bad}");
        }
    }
}
