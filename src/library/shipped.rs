//! The SQL files that ship in the binary: the metrics in `queries/metrics` and the views in the other folders
//! of `queries`. Every session has them. Not for their headers, and not for running them.

use super::file::Query;

/// One file of `queries/`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    /// `metrics`, or the area of a view. The views of `prelude` are the base of other views and metrics.
    pub folder: &'static str,
    /// Name of the metric or view: the file name without `.sql`.
    pub name: &'static str,
    pub text: &'static str,
}

/// Every file of `queries/`, listed by the build script in the order of `queries/order.txt`.
pub(super) const LIBRARY: &[Source] = include!(concat!(env!("OUT_DIR"), "/queries.rs"));

/// The parsed files of [`LIBRARY`]. A file that cannot be parsed is left out; a test finds such files.
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
