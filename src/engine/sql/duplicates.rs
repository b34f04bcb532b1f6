//! Columns of a result that have one name, which the engine refuses: the later ones get names of their own
//! for it, and are shown as typed. Not for subqueries, whose columns are used by name.

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, WildcardAdditionalOptions,
};

/// Names the later ones of equal columns in the lists of SELECT of a query. Returns the places in the list of
/// the first SELECT where a name is no longer that of the column, and the name to show.
pub(super) fn set_apart(body: &mut SetExpr) -> Vec<(usize, String)> {
    match body {
        SetExpr::Select(select) => in_list(select),
        SetExpr::Query(query) => set_apart(&mut query.body),
        SetExpr::SetOperation { left, right, .. } => {
            set_apart(right);
            set_apart(left)
        }
        _ => Vec::new(),
    }
}

fn in_list(select: &mut Select) -> Vec<(usize, String)> {
    let plain = WildcardAdditionalOptions::default();
    let is_wildcard =
        |item: &&SelectItem| !matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. });
    // Columns between two wildcards are not counted, so that they could not be shown as typed.
    let mut wildcards = select.projection.iter().filter(is_wildcard);
    let (wildcard, None) = (wildcards.next().cloned(), wildcards.next()) else { return Vec::new() };
    let one_table = matches!(select.from.as_slice(), [from] if from.joins.is_empty());
    // The columns that a wildcard has for sure.
    let of_wildcard = |expr: &Expr| match (&wildcard, expr) {
        (Some(SelectItem::Wildcard(options)), Expr::Identifier(_) | Expr::CompoundIdentifier(_)) => {
            *options == plain
        }
        (
            Some(SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(table), options)),
            Expr::CompoundIdentifier(parts),
        ) => {
            let table = table.to_string().to_lowercase();
            *options == plain && matches!(parts.as_slice(), [of, _] if of.to_string().to_lowercase() == table)
        }
        (Some(SelectItem::QualifiedWildcard(_, options)), Expr::Identifier(_)) => {
            one_table && *options == plain
        }
        _ => false,
    };
    let (mut seen, mut shown): (Vec<String>, _) = (Vec::new(), Vec::new());
    for (at, item) in select.projection.iter_mut().enumerate() {
        let (expr, name) = match &*item {
            SelectItem::UnnamedExpr(expr) => (expr, column(expr)),
            SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias)),
            _ => continue,
        };
        let key = match (item_alias(item), expr) {
            (None, Expr::CompoundIdentifier(_)) if !one_table => expr.to_string().to_lowercase(),
            _ => name.map_or_else(|| expr.to_string().to_lowercase(), folded),
        };
        let again = seen.contains(&key) || item_alias(item).is_none() && of_wildcard(expr);
        if !again {
            seen.push(key);
            continue;
        }
        if let Some(name) = name {
            shown.push((at, folded(name)));
        }
        let hidden = format!("{key} ({})", at + 1);
        let (expr, alias) = (expr.clone(), Ident::with_quote('"', hidden));
        *item = SelectItem::ExprWithAlias { expr, alias };
    }
    shown
}

fn item_alias(item: &SelectItem) -> Option<&Ident> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias),
        _ => None,
    }
}

/// The name of a column.
fn column(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    }
}

/// A name as the engine reads it.
fn folded(name: &Ident) -> String {
    if name.quote_style.is_some() { name.value.clone() } else { name.value.to_lowercase() }
}
