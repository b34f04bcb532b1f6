//! The list of mutations of the mappers (`tests/mutations.toml`) fits the source: each one can be applied,
//! and every rule of the mapping has one. Not whether tests catch them, which takes a build for each:
//! `tests/mutate` finds that out.

use crate::documents::rules;
use crate::support::root;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    /// Rules of which no mutation is possible, each with the reason.
    without: BTreeMap<String, String>,
    mutation: Vec<Mutation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutation {
    rule: String,
    file: String,
    what: String,
    old: String,
    new: String,
}

fn list() -> List {
    toml::from_str(&fs::read_to_string(root().join("tests/mutations.toml")).unwrap()).unwrap()
}

/// What is wrong with a mutation of a file with this text.
fn mistakes(mutation: &Mutation, text: &str) -> Vec<&'static str> {
    let Mutation { what, old, new, .. } = mutation;
    // A mutation of unit tests would break no rule.
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let checks = [
        (text.matches(old.as_str()).count() == 1, "`old` does not occur exactly once"),
        (code.contains(old.as_str()), "`old` is not in the code"),
        (old.trim() != new.trim(), "`new` changes nothing"),
        (!what.is_empty() && !what.ends_with('.'), "`what` is no phrase"),
    ];
    checks.iter().filter(|(holds, _)| !holds).map(|(_, mistake)| *mistake).collect()
}

#[test]
fn every_mutation_can_be_applied() {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for (n, mutation) in list().mutation.iter().enumerate() {
        let place = format!("{} {} ({})", n + 1, mutation.rule, mutation.file);
        let text = fs::read_to_string(root().join(&mutation.file)).unwrap_or_default();
        found.extend(mistakes(mutation, &text).iter().map(|mistake| format!("{place}: {mistake}")));
        if !seen.insert((mutation.file.clone(), text.replacen(&mutation.old, &mutation.new, 1))) {
            found.push(format!("{place}: another mutation does the same"));
        }
    }
    assert_eq!(found, Vec::<String>::new(), "tests/mutations.toml");
}

#[test]
fn every_rule_has_a_mutation_or_a_reason() {
    let (list, rules) = (list(), rules());
    let broken: BTreeSet<&String> = list.mutation.iter().map(|mutation| &mutation.rule).collect();
    for code in broken.iter().copied().chain(list.without.keys()) {
        assert!(rules.contains_key(code), "tests/mutations.toml: {code} is no rule of docs/mapping.md");
    }
    for (code, reason) in &list.without {
        assert!(!broken.contains(code) && !reason.is_empty(), "tests/mutations.toml: [without] {code}");
    }
    let missing: Vec<&String> =
        rules.keys().filter(|code| !broken.contains(code) && !list.without.contains_key(*code)).collect();
    assert!(missing.is_empty(), "tests/mutations.toml breaks no rule of {missing:?}");
}

#[test]
fn mistakes_in_the_list_are_found() {
    let text = "a = 1; b = 1;\n#[cfg(test)]\nc = 1;";
    let mutation = |old: &str, new: &str, what: &str| {
        let [rule, file] = ["A1", "x.rs"].map(str::to_owned);
        Mutation { rule, file, what: what.into(), old: old.into(), new: new.into() }
    };
    assert!(mistakes(&mutation("a = 1", "a = 2", "a is 2"), text).is_empty());
    for (old, new, what) in [
        ("= 1", "= 2", "is there several times"),
        ("d = 1", "d = 2", "is not there"),
        ("c = 1", "c = 2", "is in a test"),
        ("a = 1", " a = 1", "changes nothing"),
        ("a = 1", "a = 2", ""),
    ] {
        assert!(!mistakes(&mutation(old, new, what), text).is_empty(), "{old}");
    }
}
