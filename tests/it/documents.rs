//! What the documents promise and a machine can check: rules, fixtures, links and paths exist. Not whether a
//! text is true.

use crate::support::root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// All files below a folder of the project with one of the endings, by path, with their text.
fn files(folder: &str, endings: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| endings.iter().any(|ending| e == *ending)) {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

fn document(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// The letters of the rules in `docs/mapping.md`, one for each section.
const SECTIONS: &str = "OCATPINGESLHQJWKD";

/// The codes of rules in a text: a letter of a section and a number.
fn codes(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| {
        word.split_at_checked(1).is_some_and(|(letter, number)| {
            SECTIONS.contains(letter)
                && (1..=2).contains(&number.len())
                && number.bytes().all(|b| b.is_ascii_digit())
        })
    })
}

/// The rules of `docs/mapping.md`, each with the recordings and tests that show it.
pub fn rules() -> BTreeMap<String, Vec<String>> {
    let mut rules = BTreeMap::new();
    for line in document("docs/mapping.md").lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [code, says, source, shown] = cells[..] else { continue };
        if codes(code).next() != Some(code) {
            continue;
        }
        assert!(says.ends_with('.') && !source.is_empty(), "{line}");
        let shown: Vec<String> = shown.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        assert!(!shown.is_empty(), "nothing shows rule {code}");
        assert!(rules.insert(code.to_owned(), shown).is_none(), "rule {code} is there twice");
    }
    assert!(rules.len() > 100, "only {} rules were found", rules.len());
    rules
}

/// The comments of the mappers and of the mapping profiles, with "says what the file is for".
fn comments() -> Vec<(PathBuf, bool, String)> {
    let mut found = Vec::new();
    let profiles = files("src", &["toml"])
        .into_iter()
        .filter(|(path, _)| path.parent().is_some_and(|p| p.ends_with("profiles")));
    for (path, text) in files("src/map", &["rs"]).into_iter().chain(profiles) {
        let mark = if path.extension().is_some_and(|e| e == "rs") { "//" } else { "#" };
        for line in text.lines() {
            if let Some((_, comment)) = line.split_once(mark) {
                found.push((path.clone(), line.starts_with("//!"), comment.to_owned()));
            }
        }
    }
    found
}

#[test]
fn rules_of_the_mapping_are_those_that_the_code_names() {
    let rules = rules();
    let mut named = BTreeSet::new();
    for (path, of_file, comment) in comments() {
        for code in codes(&comment) {
            assert!(rules.contains_key(code), "{}: no rule {code} in docs/mapping.md", path.display());
            if !of_file {
                named.insert(code.to_owned());
            }
        }
        for old in ["osek rules", "part 2", "gap 1", "gap 2", "gap 3", "fact 1", "rule 4"] {
            assert!(!comment.contains(old), "{}: {comment}", path.display());
        }
    }
    let missing: Vec<&String> = rules.keys().filter(|code| !named.contains(*code)).collect();
    assert!(missing.is_empty(), "no code in src/map names the rules {missing:?}");
    for code in codes(&document("docs/mapping.md")) {
        assert!(rules.contains_key(code), "docs/mapping.md speaks of {code}, which is no rule");
    }
}

#[test]
fn what_shows_a_rule_exists() {
    let code: Vec<(PathBuf, String)> =
        files("src", &["rs"]).into_iter().chain(files("tests", &["rs"])).collect();
    let mut recordings = BTreeSet::new();
    for (rule, shown) in rules() {
        for name in shown {
            if name.contains('/') {
                assert!(
                    root().join("tests/data").join(&name).is_dir(),
                    "rule {rule}: there is no recording {name}"
                );
                recordings.insert(name);
            } else {
                let test = format!("fn {name}(");
                assert!(
                    code.iter().any(|(_, text)| text.contains(&test)),
                    "rule {rule}: there is no test {name}"
                );
            }
        }
    }
    for set in ["osek", "erika2", "hooks"] {
        for entry in std::fs::read_dir(root().join("tests/data").join(set)).unwrap() {
            let name = format!("{set}/{}", entry.unwrap().file_name().to_string_lossy());
            assert!(recordings.contains(&name), "{name} shows no rule of docs/mapping.md");
        }
    }
}

/// Every document of the project.
fn documents() -> Vec<(PathBuf, String)> {
    let at_root = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let at_root = at_root.filter(|path| path.extension().is_some_and(|e| e == "md"));
    let mut found: Vec<_> =
        at_root.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect();
    for folder in ["docs", "tests", "benches", "demo", "assets"] {
        found.extend(files(folder, &["md"]));
    }
    found
}

/// The anchor that a heading gets.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>().replace(' ', "-")
}

#[test]
fn links_lead_somewhere() {
    let mut links = 0;
    for (path, text) in documents() {
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.starts_with("http") {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            assert!(file.exists(), "{}: {target}", path.display());
            if !heading.is_empty() {
                let text = std::fs::read_to_string(&file).unwrap();
                let headings = text.lines().filter(|l| l.starts_with('#'));
                assert!(
                    headings.map(|l| anchor(l.trim_start_matches('#'))).any(|a| a == heading),
                    "{}: {target}",
                    path.display()
                );
            }
            links += 1;
        }
    }
    assert!(links > 50, "only {links} links were found");
}

/// The part of a path before the first piece that stands for a name (`src/formats/NAME/mod.rs`).
fn before_placeholder(path: &str) -> PathBuf {
    let placeholder = |piece: &str| piece.contains("NAME") || piece.contains(['*', '<', '…']);
    path.trim_end_matches('/').split('/').take_while(|piece| !placeholder(piece)).collect()
}

#[test]
fn paths_that_documents_name_exist() {
    const ROOTS: [&str; 8] =
        ["src/", "tests/", "docs/", "queries/", "schemas/", "benches/", "fuzz/", "build/"];
    let mut paths = 0;
    for name in ["CONTRIBUTING.md", "SECURITY.md", "README.md", "tests/README.md", "docs/README.md"] {
        let text = document(name);
        for code in
            text.split('`').skip(1).step_by(2).filter(|c| ROOTS.iter().any(|root| c.starts_with(root)))
        {
            let path = code.split_whitespace().next().unwrap_or_default();
            assert!(root().join(before_placeholder(path)).exists(), "{name} names {path}");
            paths += 1;
        }
    }
    assert!(paths > 10, "only {paths} paths were found");
}

/// CONTRIBUTING.md names lists of the code: "`src/export/mod.rs`: one line in `EXPORTERS`".
#[test]
fn lists_that_recipes_name_exist() {
    let mut lists = 0;
    for line in document("CONTRIBUTING.md").lines() {
        let pieces: Vec<&str> = line.split('`').collect();
        let [_, path, ": one line in ", list, ..] = pieces[..] else { continue };
        let text = document(path);
        let declared = ["const", "static"].iter().any(|word| text.contains(&format!("{word} {list}: ")));
        assert!(declared, "there is no {list} in {path}");
        lists += 1;
    }
    assert!(lists >= 4, "only {lists} lists were found");
}

#[test]
fn the_index_has_every_document() {
    let index = document("docs/README.md");
    for (path, _) in files("docs", &["md"]) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name == "README.md" || index.contains(&format!("({name})")), "{name} is not in the index");
    }
}

/// CONTRIBUTING.md says that a file in `queries/` is all that a metric or view needs.
#[test]
fn a_file_of_queries_is_in_the_library() {
    let library = document("docs/library.md");
    let queries = files("queries", &["sql"]);
    for (path, _) in &queries {
        let name = path.file_stem().unwrap().to_string_lossy();
        let entry = match path.parent().is_some_and(|folder| folder.ends_with("metrics")) {
            true => format!("\n| `{name}` | "),
            false => format!("\n### `{name}`\n"),
        };
        assert!(library.contains(&entry), "{} is not in docs/library.md", path.display());
    }
    assert!(queries.len() > 40, "only {} files were found", queries.len());
}

#[test]
fn a_term_has_one_meaning() {
    let glossary = document("docs/glossary.md");
    let terms = glossary.lines().filter_map(|l| l.strip_prefix("| ")?.split(" | ").next());
    let mut terms: Vec<&str> = terms.filter(|t| *t != "Term").flat_map(|t| t.split(", ")).collect();
    terms.sort_unstable();
    let twice: Vec<_> = terms.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty() && terms.len() > 50, "{twice:?}");
}

#[test]
fn licences_are_those_of_the_package() {
    let manifest = document("Cargo.toml");
    assert!(manifest.contains("license = \"MIT OR Apache-2.0\""));
    for (file, first) in [("LICENSE-MIT", "MIT License"), ("LICENSE-APACHE", "Apache License")] {
        let text = document(file);
        assert_eq!(text.lines().find(|l| !l.trim().is_empty()).map(str::trim), Some(first));
        assert!(Path::new(&root().join(file)).is_file());
    }
}
