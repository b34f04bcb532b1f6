//! `docs/unsafe.md` lists all `unsafe` code, and proofs that rest on features of the processor name the right
//! ones. Not whether a proof is right, and not the other invariants of the source (see `tidy`).

use crate::support::{root, rust_files};
use std::collections::{BTreeMap, BTreeSet};

/// How often code has the word `unsafe`, by file. Comments and texts do not count.
fn uses() -> BTreeMap<String, usize> {
    let folders = ["src", "build", "tests", "benches", "examples", "fuzz"];
    let files = folders.iter().flat_map(|folder| rust_files(folder));
    let files = files.filter(|(path, _)| !path.starts_with("fuzz/target/"));
    files.map(|(path, text)| (path, count(&text))).filter(|(_, count)| *count > 0).collect()
}

fn count(text: &str) -> usize {
    let code = |line: &str| line.split('"').step_by(2).collect::<Vec<_>>().join(" ");
    let words = |code: &str| {
        let code = code.split("//").next().unwrap_or_default();
        code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| *word == "unsafe").count()
    };
    text.lines().map(|line| words(&code(line))).sum()
}

/// The rows of the table: file and number. A file may have several rows.
fn listed(document: &str) -> BTreeMap<String, usize> {
    let mut listed = BTreeMap::new();
    for line in document.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let [_, file, function, number, purpose, proof, tests, ""] = cells[..] else {
            panic!("not the cells of the table: {line}")
        };
        assert!([function, purpose, proof, tests].iter().all(|cell| !cell.is_empty()), "empty cell: {line}");
        *listed.entry(file.trim_matches('`').to_owned()).or_default() += number.parse::<usize>().unwrap();
    }
    listed
}

#[test]
fn the_list_of_unsafe_code_is_complete() {
    let document = std::fs::read_to_string(root().join("docs/unsafe.md")).unwrap();
    assert_eq!(uses(), listed(&document), "found, and listed in docs/unsafe.md");
}

#[test]
fn unsafe_code_is_found_in_code_only() {
    let code =
        ["unsafe { f() }", "unsafe fn g() {}", "a(unsafe { 1 }, unsafe { 2 })", "unsafe impl Send for X {}"];
    assert_eq!(count(&code.join("\n")), 5);
    let other = ["// unsafe", "#[expect(unsafe_code)]", "let text = QunsafeQ;"].join("\n").replace('Q', "\"");
    assert_eq!(count(&other), 0);
}

/// The features in `before…"name,name"…` of every such place in a text.
fn features(text: &str, before: &str) -> BTreeSet<String> {
    let lists = text.split(before).skip(1).filter_map(|rest| rest.split('"').next());
    lists.flat_map(|list| list.split(',')).map(str::to_owned).collect()
}

/// A function with other features than those that are asked for would be called on processors without them.
#[test]
fn functions_have_the_features_that_are_asked_for() {
    let files: BTreeMap<_, _> = rust_files("src").into_iter().collect();
    let attribute = "target_feature(enable = \"";
    let sse2 = "src/formats/text/stops.rs";
    for (path, text) in &files {
        let detected = match path.as_str() {
            // Without a question, because the function is there only if the program is compiled for it.
            path if path == sse2 => features(text, "target_feature = \""),
            _ => features(&files["src/formats/text/vectors.rs"], "is_x86_feature_detected!(\""),
        };
        let enabled = features(text, attribute);
        assert!(enabled.is_subset(&detected), "{path}: {enabled:?}, of which only {detected:?} are certain");
    }
    assert!(files.values().any(|text| features(text, attribute).len() > 1));
}
