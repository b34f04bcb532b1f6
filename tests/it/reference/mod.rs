//! Pages of reference that are made from what the program knows, and the check that they are up to date. Not
//! the pages that people write.

mod library;
mod tables;

use crate::support::root;

#[test]
fn generated_docs_are_up_to_date() {
    let pages =
        [("tables", tables::docs()), ("library", library::docs()), ("shell", btfdb::internals::shell_docs())];
    for (page, docs) in pages {
        let path = root().join(format!("docs/{page}.md"));
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &docs).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == docs, "docs/{page}.md is old; run the tests with UPDATE_DOCS=1");
    }
}
