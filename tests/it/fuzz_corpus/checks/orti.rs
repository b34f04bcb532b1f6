//! Promises of the ORTI reader, its formulas, and the files that complete an ORTI file.

use btfdb::internals::orti::{
    Finding, Formula, Oil, OilObject, Orti, OsHeader, Symbols, Width, canonical_path,
};

/// An ORTI file is read to its end, whatever its content. Findings are within it and in order. Every value
/// that is a formula evaluates.
pub fn koil_parse(data: &[u8]) {
    let orti = Orti::parse(data);
    lie_within(&orti.findings, data);
    for object in &orti.objects {
        for attribute in &object.attributes {
            assert!(attribute.line >= object.line && attribute.column >= 1, "{attribute:?}");
            evaluates(&attribute.text);
        }
    }
}

/// A text is refused with a column, or is a formula that keeps the promises of one. A second line is the C
/// type to narrow values to.
pub fn formula(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (text, c_type) = text.split_once('\n').unwrap_or((&text, ""));
    evaluates(text);
    for value in OPERANDS {
        let once = Width::of(c_type).apply(value);
        assert_eq!(Width::of(c_type).apply(once), once, "narrowing {value} to '{c_type}' twice");
    }
    if let Some(path) = canonical_path(text) {
        assert_eq!(canonical_path(&path), Some(path.clone()), "{text}");
    }
}

/// An OS header is read to its end. Findings are within it, and definitions have names.
pub fn os_header(data: &[u8]) {
    let header = OsHeader::parse(data);
    lie_within(&header.findings, data);
    let numbered =
        [&header.tasks, &header.alarms, &header.counters, &header.spinlocks, &header.core_spinlocks];
    let mut names: Vec<&str> = numbered.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    names.extend(header.resources.iter().map(|resource| resource.name.as_str()));
    names.extend(header.events.iter().map(|(name, _)| name.as_str()));
    assert!(names.iter().all(|name| !name.is_empty() && !name.contains(char::is_whitespace)), "{names:?}");
}

/// An OIL file is read to its end. Findings are within it, objects are found by their names, and reading the
/// file again only adds attributes.
pub fn oil(data: &[u8]) {
    let mut oil = Oil::default();
    lie_within(&oil.add(data, "a"), data);
    let objects = oil.objects.clone();
    for (_, finding) in oil.check() {
        lie_within(&[finding], data);
    }
    for object in &objects {
        assert_eq!(oil.object(&object.kind, &object.name), Some(object));
    }
    oil.add(data, "b");
    let names =
        |objects: &[OilObject]| objects.iter().map(|o| (o.kind.clone(), o.name.clone())).collect::<Vec<_>>();
    assert_eq!(names(&objects), names(&oil.objects));
}

/// Every symbol that was read has a name.
pub fn symbols(data: &[u8]) {
    let (symbols, findings) = Symbols::parse(data);
    lie_within(&findings, data);
    assert!(symbols.iter().all(|(_, name)| !name.is_empty()));
}

/// Values at which integer arithmetic goes wrong, if it does.
const OPERANDS: [i64; 12] =
    [0, 1, -1, 2, 63, 64, 255, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, i64::MAX, i64::MIN];

/// A formula that is one has canonical variables, does not depend on what it did not need to know, and gives
/// nothing when it needs an address.
fn evaluates(text: &str) {
    let formula = match Formula::parse(text) {
        Ok(formula) => formula,
        Err(error) => return assert!((1..=text.chars().count() + 1).contains(&(error.column as usize))),
    };
    for path in formula.variables() {
        assert_eq!(canonical_path(path).as_ref(), Some(path), "in {text}");
    }
    assert!(formula.dynamic_bases().is_empty() != formula.has_dynamic_paths(), "{text}");
    for round in 0..OPERANDS.len() {
        let operand = |place: usize| OPERANDS[(place * 5 + round) % OPERANDS.len()];
        let element = |path: &str| operand(path.bytes().map(usize::from).sum());
        let known = |place: usize| !(place + round).is_multiple_of(3);
        let whole = formula.eval(&|place| Some(operand(place)), &|path| Some(element(path)));
        let partial = formula.eval(&|place| known(place).then(|| operand(place)), &|path| {
            known(path.len()).then(|| element(path))
        });
        assert!(partial.is_none() || partial == whole, "{text}: {partial:?} becomes {whole:?}");
        let shown = formula.eval(&|_| None, &|_| None);
        assert!(shown.is_none() || shown == whole, "{text}: a constant depends on values");
    }
}

/// Findings are in order and within the text.
fn lie_within(findings: &[Finding], data: &[u8]) {
    let lines = 1 + data.iter().filter(|byte| **byte == b'\n').count();
    for finding in findings {
        let inside = finding.line >= 1 && finding.line as usize <= lines && finding.column >= 1;
        assert!(inside, "{finding:?} lies outside of {lines} lines");
    }
    assert!(findings.is_sorted_by_key(|finding| (finding.line, finding.column)));
}
