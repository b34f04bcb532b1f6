//! Promises of the headers of SQL files. The SQL below a header needs the engine.

use std::fmt::Write as _;

use btfdb::internals::sql_file::{Alias, Documented, Metric, Query, View};

/// A file is refused with a line that it has, or is a metric or a view that says what it is about. The header
/// that says the same is read as the same.
pub fn sql_file(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let query = match Query::parse("area", "name", &text, None) {
        Ok(query) => query,
        Err(mistake) => {
            let lines = text.lines().count().max(1) as u64;
            assert!((1..=lines).contains(&mistake.line) && !mistake.what.is_empty(), "{mistake:?}");
            return;
        }
    };
    let written = header(&query);
    match Query::parse("area", "name", &written, None) {
        Ok(again) => {
            assert_eq!(header(&again), written);
            assert_eq!(matches!(again, Query::Metric(_)), matches!(query, Query::Metric(_)), "{written}");
        }
        Err(mistake) => panic!("{mistake:?}\n{written}"),
    }
}

/// The header that says what a metric or view is.
fn header(query: &Query) -> String {
    let none: (&[Documented], &[Alias]) = (&[], &[]);
    let (doc, params, columns, aliases) = match query {
        Query::Metric(Metric { doc, params, aliases, sql, .. }) => {
            assert!(!sql.is_empty());
            (doc, params.as_slice(), none.0, aliases.as_slice())
        }
        Query::View(View { doc, params, columns, sql, .. }) => {
            assert!(!sql.is_empty() && !columns.is_empty());
            (doc, params.as_slice(), columns.as_slice(), none.1)
        }
    };
    assert!(!doc.is_empty(), "it does not say what it is about");
    let mut text = doc.lines().fold(String::new(), |text, paragraph| format!("{text}-- {paragraph}\n--\n"));
    if let Query::Metric(metric) = query {
        let _ = writeln!(text, "-- unit: {}", metric.unit.as_str());
        text.extend(metric.fold.map(|fold| format!("-- fold: {}\n", fold.as_str())));
        text.push_str(if metric.per_core { "-- group: core\n" } else { "" });
    }
    for (key, described) in [("param", params), ("column", columns)] {
        for Documented { name, ty, doc } in described {
            let _ = writeln!(text, "-- {key}: {name} {ty} {doc}");
        }
    }
    for Alias { name, doc } in aliases {
        let _ = writeln!(text, "-- alias: {name} {doc}");
    }
    text
}
