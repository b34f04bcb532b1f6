//! The SQL that ships in the binary: metrics (`queries/metrics`), and the views that every session has (all other folders of
//! `queries`), each with a header that says what it is. Not for what a header says (see `header`), and not for running them.

use super::file::Query;

/// One file of `queries/`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    /// `metrics`, or the area of a view; `prelude` for what others are built on.
    pub folder: &'static str,
    /// Name of the view or metric: the file name without `.sql`.
    pub name: &'static str,
    /// The whole file.
    pub text: &'static str,
}

/// Every file of `queries/`, listed by the build script in the order of `queries/order.txt`.
pub(super) const LIBRARY: &[Source] = include!(concat!(env!("OUT_DIR"), "/queries.rs"));

/// All of them. A file that cannot be read is left out, which the tests do not let happen.
pub(super) fn queries() -> impl Iterator<Item = Query> {
    LIBRARY.iter().filter_map(|Source { folder, name, text }| Query::parse(folder, name, text, None).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_header_is_complete() {
        for Source { folder, name, text } in LIBRARY {
            let query = Query::parse(folder, name, text, None).unwrap_or_else(|e| panic!("{name}: {e:?}"));
            let (doc, is_metric) = match &query {
                Query::Metric(metric) => (&metric.doc, true),
                Query::View(view) => (&view.doc, false),
            };
            assert_eq!(is_metric, *folder == "metrics", "{name}");
            assert!(doc.ends_with('.') && doc.len() > 20, "{name}: {doc:?}");
        }
    }
}
