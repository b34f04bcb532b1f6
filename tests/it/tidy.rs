//! Invariants of the source that no compiler checks (see `src/lib.rs`).

use crate::support::{relative, root, rust_files};
use std::path::PathBuf;

/// Lines of code that hold `word`, comments left out.
fn uses(word: &str, allowed: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in rust_files("src") {
        let test = path.contains("/tests") || path.ends_with("tests.rs");
        if test || allowed.iter().any(|a| path.starts_with(a)) {
            continue;
        }
        let lines =
            text.lines().enumerate().filter(|(_, l)| !l.trim_start().starts_with("//") && l.contains(word));
        found.extend(lines.map(|(n, l)| format!("{path}:{}: {}", n + 1, l.trim())));
    }
    found
}

#[test]
fn every_file_says_what_it_is_for_and_none_is_too_long() {
    for dir in ["src", "tests"] {
        for (path, text) in rust_files(dir) {
            assert!(text.starts_with("//!"), "{path} does not begin with what it is for");
            let lines = text.lines().count();
            assert!(lines <= 800, "{path} has {lines} lines");
        }
    }
}

/// What is drawn, fitted or tested is the same on every machine: the precision of these functions is up to
/// the machine, that of the crate `libm` is not.
#[test]
fn numbers_do_not_depend_on_the_machine() {
    let words = "ln ln_1p log10 log2 exp exp_m1 powf cbrt sin cos".split(' ');
    let calls: Vec<String> = words.map(|word| format!(".{word}(")).collect();
    let mut found = Vec::new();
    for (path, text) in rust_files("src") {
        let rooms = ["src/chance", "src/regress/", "src/simulate/", "src/tail/"];
        if !rooms.iter().any(|room| path.starts_with(room)) || path.contains("/tests") {
            continue;
        }
        let product = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let lines = product.lines().enumerate();
        let open = lines.filter(|(_, line)| calls.iter().any(|call| line.contains(call)));
        found.extend(open.map(|(n, line)| format!("{path}:{}: {}", n + 1, line.trim())));
    }
    assert_eq!(found, Vec::<String>::new());
}

/// Lines of the source and of the tests, each with its place.
fn lines_of_text() -> Vec<(String, String)> {
    let files = rust_files("src").into_iter().chain(rust_files("tests"));
    let lines = |(path, text): (String, String)| {
        let place = |(n, line): (usize, &str)| (format!("{path}:{}", n + 1), line.to_owned());
        text.lines().enumerate().map(place).collect::<Vec<_>>()
    };
    files.flat_map(lines).collect()
}

/// rustfmt breaks code at this width, and leaves comments alone. Rows of tables cannot be broken.
#[test]
fn comments_are_as_wide_as_code_at_most() {
    let is_prose = |line: &str| {
        let line = line.trim_start();
        line.starts_with("//") && !line.starts_with("//! |") && !line.starts_with("/// |")
    };
    let lines = lines_of_text().into_iter();
    let wide = lines.filter(|(_, line)| line.chars().count() > 110 && is_prose(line));
    assert_eq!(wide.map(|(place, _)| place).collect::<Vec<_>>(), Vec::<String>::new());
}

/// Words of a dialect of our own that the code once had, and what to write in their place.
const DIALECT: &[(&str, &str)] = &[
    ("beside", "next to, in addition to"),
    ("crew", "worker pool"),
    ("lane", "stage"),
    ("quarter", "part"),
    ("told", "dictionary delta, reported, stated"),
    ("usual", "common, standard, default"),
];

/// The words of identifiers in a line, without texts: `FewRows::asked_by` has `few`, `rows`, `asked`, `by`.
fn words_of_identifiers(line: &str) -> Vec<String> {
    let code = line.split("//").next().unwrap_or_default();
    let mut spaced = String::new();
    for c in code.split('"').step_by(2).flat_map(|part| part.chars().chain([' '])) {
        if c.is_uppercase() && !spaced.ends_with(char::is_uppercase) {
            spaced.push(' ');
        }
        spaced.push(c);
    }
    let words = spaced.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[test]
fn identifiers_are_field_terms() {
    // A column of table `kernel_buffer`.
    let column = ("src/formats/qnx/rows.rs", "told");
    let mut found = Vec::new();
    for (place, line) in lines_of_text() {
        for word in words_of_identifiers(&line) {
            let dialect = DIALECT.iter().find(|(bad, _)| word == *bad || word == format!("{bad}s"));
            let is_column = place.starts_with(column.0) && word == column.1;
            if let (Some((_, good)), false) = (dialect, is_column) {
                found.push(format!("{place}: {word}; {good}"));
            }
        }
    }
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(words_of_identifiers("FewRows::asked_by(\"text\")"), ["few", "rows", "asked", "by"]);
}

#[test]
fn only_the_engine_names_datafusion() {
    assert_eq!(uses("datafusion", &["src/engine/"]), Vec::<String>::new());
}

#[test]
fn only_the_command_line_prints_or_exits() {
    for word in ["println!(", "print!(", "process::exit", "std::env::args"] {
        assert_eq!(uses(word, &["src/cli/"]), Vec::<String>::new());
    }
}

#[test]
fn the_mapper_knows_no_files_and_no_parquet() {
    for word in ["std::fs", "parquet::", "std::path"] {
        let found: Vec<_> = uses(word, &[])
            .into_iter()
            .filter(|l| l.starts_with("src/map/") || l.starts_with("src/derive/"))
            .collect();
        assert_eq!(found, Vec::<String>::new());
    }
}

#[test]
fn arrow_schemas_are_made_in_one_place() {
    let found: Vec<_> =
        uses("Field::new(", &["src/schema/"]).into_iter().filter(|l| !l.contains("/tests")).collect();
    let results = ["src/cluster/", "src/engine/", "src/metrics/", "src/render/", "src/require/passed.rs"];
    let outside: Vec<_> = found.into_iter().filter(|l| !results.iter().any(|r| l.starts_with(r))).collect();
    assert_eq!(outside, Vec::<String>::new(), "columns are declared in schemas/ only");
}

#[test]
fn one_version_of_the_columnar_crates() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    for name in ["arrow", "parquet", "datafusion", "object_store"] {
        let line = format!("name = \"{name}\"\n");
        assert_eq!(lock.matches(&line).count(), 1, "{name} must be there once: its types cross our modules");
    }
}

/// Files spell actions, types and the environment in many ways: `is_action`, `is_type` and `is_environment`
/// in SQL and `parse_tolerant` in Rust know them all.
#[test]
fn words_of_btf_are_compared_by_what_they_mean() {
    let quote = ["'", "\""];
    let compared =
        ["action = ", "action <> ", "action IN (", "target_type = ", "target_type <> ", "target_type IN ("];
    let mut bad: Vec<String> = compared.iter().map(|word| format!("{word}'")).collect();
    bad.extend(["action == ", "target_type == "].map(|word| format!("{word}\"")));
    bad.extend(
        quote.iter().flat_map(|q| ["mtalimitexceeded", "boundedmigration"].map(|w| format!("{q}{w}{q}"))),
    );
    bad.extend(["= 'SIM'", "<> 'SIM'", "== \"SIM\""].map(str::to_owned));
    // A simulation shares nothing with what it is the truth for, not even words.
    let own = "src/simulate/reference.rs";
    let spelled = |path: &str| path.starts_with("src/btf/spec/") || path == own || path.contains("/tests");
    let mut files = rust_files("src");
    for area in std::fs::read_dir(root().join("queries")).unwrap().map(|e| e.unwrap().path()) {
        for file in std::fs::read_dir(area).into_iter().flatten().map(|e| e.unwrap().path()) {
            files.push((relative(&file), std::fs::read_to_string(&file).unwrap()));
        }
    }
    let mut found = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| !spelled(path)) {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in
            code.lines().filter(|line| !line.contains("is_action(") && !line.trim_start().starts_with("//"))
        {
            if let Some(word) = bad.iter().find(|word| line.contains(word.as_str())) {
                found.push(format!("{path}: {word}"));
            }
        }
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn nothing_is_left_unfinished() {
    for word in ["todo!(", "unimplemented!(", "FIXME"] {
        assert_eq!(uses(word, &[]), Vec::<String>::new());
    }
    // A test that does not run is no test, wherever it stands.
    for (path, text) in rust_files("src").into_iter().chain(rust_files("tests")) {
        assert!(
            !text.lines().any(|l| l.trim_start().starts_with("#[ignore")),
            "{path} has a test that is skipped"
        );
    }
}

#[test]
fn the_checks_above_can_find_something() {
    assert!(!uses("std::fs", &[]).is_empty());
    assert!(uses("std::fs", &["src"]).is_empty());
}

/// The words of the statements in the SQL tests, by file.
fn asked() -> Vec<(String, Vec<String>)> {
    let files = std::fs::read_dir(root().join("tests/slt")).unwrap().map(|e| e.unwrap().path());
    let files = files.filter(|f| f.extension().is_some_and(|e| e == "slt"));
    let words = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().filter(|l| !l.starts_with('#'));
        let words = lines.flat_map(|l| l.split(|c: char| !(c.is_alphanumeric() || "_{}".contains(c))));
        (relative(&path), words.map(str::to_owned).collect())
    };
    files.map(words).collect()
}

#[test]
fn every_view_and_metric_is_asked_for_values_and_for_what_always_holds() {
    let (always, values): (Vec<_>, Vec<_>) =
        asked().into_iter().partition(|(file, _)| file.ends_with("/every_recording.slt"));
    let mut missing = Vec::new();
    let areas = std::fs::read_dir(root().join("queries")).unwrap().map(|area| area.unwrap().path());
    for area in areas.filter(|area| area.is_dir()) {
        for file in std::fs::read_dir(&area).unwrap() {
            let name = file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
            let word = if area.ends_with("metrics") { format!("{{{name}}}") } else { name };
            for (files, what) in [(&always, "every_recording.slt"), (&values, "the other files")] {
                if !files.iter().any(|(_, words)| words.contains(&word)) {
                    missing.push(format!("{word} in {what}"));
                }
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "tests/slt does not ask for them");
}
