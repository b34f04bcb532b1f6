//! Checks whether the two halves of an ORTI file fit: declarations, duplicates, formulas. Not for syntax.

use super::findings::Findings;
use super::formula::Formula;
use super::model::{AttributeKind, AttributeType, EnumValue, Object, Orti};
use crate::diagnostics::{Severity, excerpt};
use std::collections::{HashMap, HashSet};

/// The declared attributes by kind of object and by name; the last declaration wins.
type Declared<'a> = HashMap<&'a str, HashMap<&'a str, &'a AttributeType>>;

/// Adds contradictions to `findings`.
pub(super) fn check(orti: &Orti, findings: &mut Findings) {
    if orti.koil_version.is_none() {
        let message = "no VERSION section with KOIL".to_owned();
        findings.push((1, 1), Severity::Warning, "missing-version", message);
    }
    if orti.implementation.is_none() {
        let message = "no IMPLEMENTATION section, so the meaning of values is unknown".to_owned();
        findings.push((1, 1), Severity::Error, "missing-implementation", message);
    }
    let declared = declarations(orti, findings);
    objects(orti, &declared, findings);
}

fn declarations<'a>(orti: &'a Orti, findings: &mut Findings) -> Declared<'a> {
    let mut declared = Declared::new();
    for object_type in &orti.types {
        let is_declared = declared.contains_key(object_type.name.as_str());
        if is_declared {
            duplicate(findings, object_type.line, "declaration of", &object_type.name);
        }
        let attributes = declared.entry(&object_type.name).or_default();
        let mut seen = HashSet::new();
        for attribute in &object_type.attributes {
            if !seen.insert(attribute.name.as_str()) {
                duplicate(findings, attribute.line, "declaration of", &attribute.name);
            }
            labels(attribute, findings);
            attributes.insert(&attribute.name, attribute);
        }
    }
    declared
}

fn duplicate(findings: &mut Findings, line: u32, what: &str, name: &str) {
    let message = format!("a second {what} '{}'; the last one wins", excerpt(name.as_bytes()));
    findings.push((line, 1), Severity::Warning, "duplicate-declaration", message);
}

/// Labels may repeat on purpose (two READY states), or because a generator had no better name.
fn labels(attribute: &AttributeType, findings: &mut Findings) {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for element in attribute.elements() {
        *counts.entry(&element.label).or_default() += 1;
    }
    let mut repeated: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 1).collect();
    repeated.sort_unstable();
    for (label, count) in repeated {
        let (label, name) = (excerpt(label.as_bytes()), excerpt(attribute.name.as_bytes()));
        let message = format!("{count} values of {name} are labelled '{label}'");
        findings.push((attribute.line, 1), Severity::Info, "duplicate-label", message);
    }
    for element in attribute.elements() {
        if let EnumValue::Formula(text) = &element.value {
            let what = format!("the value of label '{}'", excerpt(element.label.as_bytes()));
            formula(text, &what, (attribute.line, 1), findings);
        }
    }
}

fn formula(text: &str, what: &str, place: (u32, u32), findings: &mut Findings) {
    if let Err(error) = Formula::parse(text) {
        let message = format!("{what} is no formula: {error}");
        findings.push(place, Severity::Warning, "unparsable-formula", message);
    }
}

fn objects(orti: &Orti, declared: &Declared<'_>, findings: &mut Findings) {
    let mut undeclared: HashSet<(&str, &str)> = HashSet::new();
    let mut seen: HashSet<(&str, &str)> = HashSet::new();
    for object in &orti.objects {
        let kind = excerpt(object.kind.as_bytes());
        if !seen.insert((&object.kind, &object.name)) {
            let message = format!("a second {kind} '{}'", excerpt(object.name.as_bytes()));
            findings.push((object.line, 1), Severity::Warning, "duplicate-object", message);
        }
        duplicate_attributes(object, findings);
        let Some(attributes) = declared.get(object.kind.as_str()) else {
            if undeclared.insert((&object.kind, "")) {
                let message = format!("objects of kind {kind} are not declared");
                findings.push((object.line, 1), Severity::Warning, "missing-declaration", message);
            }
            continue;
        };
        for attribute in &object.attributes {
            let place = (attribute.line, attribute.column);
            let name = excerpt(attribute.name.as_bytes());
            match attributes.get(attribute.name.as_str()).map(|t| &t.kind) {
                Some(AttributeKind::String) => {}
                Some(AttributeKind::CType(_) | AttributeKind::Enum { .. }) => {
                    formula(&attribute.text, &name, place, findings);
                }
                None if undeclared.insert((&object.kind, &attribute.name)) => {
                    let message = format!("{kind} declares no attribute {name}");
                    findings.push(place, Severity::Warning, "undeclared-attribute", message);
                }
                None => {}
            }
        }
    }
}

fn duplicate_attributes(object: &Object, findings: &mut Findings) {
    let mut seen = HashSet::new();
    for attribute in &object.attributes {
        if !seen.insert((attribute.name.as_str(), attribute.index)) {
            let name = excerpt(attribute.name.as_bytes());
            let message = format!("a second {name} in this object; the last one wins");
            let place = (attribute.line, attribute.column);
            findings.push(place, Severity::Warning, "duplicate-attribute", message);
        }
    }
}
