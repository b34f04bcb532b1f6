//! Tests of the ORTI parser with all it uses: whole files, mistakes, arbitrary input. Not for single
//! functions, whose tests are in their own files, and not for the corpus (`corpus`).

mod corpus;
mod formula;

use super::model::AttributeType;
use super::*;
use proptest::prelude::*;

/// The name of a value.
fn label(attribute: &AttributeType, value: i64) -> Option<&str> {
    let found = attribute.elements().iter().find(|e| e.value == EnumValue::Integer(value));
    found.map(|e| e.label.as_str())
}

const SMALL: &str = r#"
VERSION { KOIL = "2.2"; OSSEMANTICS = "ORTI", "2.2"; };
IMPLEMENTATION Demo {
    OS {
        TOTRACE ENUM [ "NO_TASK" = "-1", "T_1" = 0, "T_2" = 0x1 ] RUNNINGTASK[], "Running task";
        ENUM "void *" [ "NO_ISR2" = 0, "Timer" : tick = "handler", "B" = "&(isr[1])" ] RUNNINGISR2;
        CTYPE "unsigned char" LASTERROR;
    }, "The OS";
    ALARM { STRING ACTION, "what " "happens"; };
};
OS core {
    RUNNINGTASK[0] = "a[EE_" "x]";
    RUNNINGTASK[1] = "b";
    RUNNINGISR2 = "isr";
    LASTERROR = "error";
};
ALARM A { ACTION = "set EV = on T_1 ("; };
"#;

fn codes(findings: &[Finding]) -> Vec<(&'static str, u32)> {
    findings.iter().map(|f| (f.code, f.line)).collect()
}

#[test]
fn every_part_of_a_file_is_read() {
    let orti = Orti::parse(SMALL.as_bytes());
    assert_eq!(orti.findings, []);
    assert_eq!(orti.koil_version.as_deref(), Some("2.2"));
    assert_eq!(orti.semantics, Some(("ORTI".into(), "2.2".into())));
    assert_eq!(orti.implementation.as_deref(), Some("Demo"));
    assert_eq!(orti.types[0].description.as_deref(), Some("The OS"));
    let task = orti.attribute_type("OS", "RUNNINGTASK").unwrap();
    assert!(task.array && task.to_trace && task.c_type().is_none());
    assert_eq!((label(task, -1), label(task, 1), label(task, 2)), (Some("NO_TASK"), Some("T_2"), None));
    let isr = orti.attribute_type("OS", "RUNNINGISR2").unwrap();
    assert_eq!((isr.c_type(), isr.to_trace), (Some("void *"), false));
    assert_eq!(isr.elements()[1].link.as_deref(), Some("tick"));
    assert_eq!(isr.elements()[1].value, EnumValue::Formula("handler".into()));
    assert_eq!(orti.attribute_type("ALARM", "ACTION").unwrap().description.as_deref(), Some("what happens"));
    let core = orti.objects("OS").next().unwrap();
    assert_eq!((core.attributes[0].index, core.attributes[0].text.as_str()), (Some(0), "a[EE_x]"));
    assert_eq!(core.get("RUNNINGTASK").map(|a| (a.index, a.line)), Some((Some(1), 13)));
    assert_eq!(orti.objects("ALARM").next().unwrap().get("ACTION").unwrap().text, "set EV = on T_1 (");
}

/// A file of one kind of object, with something inserted into line 4 (declaration) and line 8 (information).
fn around(declaration: &str, information: &str) -> Orti {
    let text = format!(
        "VERSION {{ KOIL = \"2.1\"; }};\nIMPLEMENTATION I {{ T {{\nCTYPE A;\n{declaration}\nCTYPE Z; }}; }};\n\
         T t {{\nA = \"1\";\n{information}\nZ = \"26\";\n}};\n"
    );
    Orti::parse(text.as_bytes())
}

#[test]
fn mistakes_are_located_and_lose_no_neighbours() {
    let cases: [(&str, &str, &[&str]); 21] = [
        (r#"ENUM [ "a" = 0 "b" = 1, ] E;"#, "", &["missing-comma", "trailing-comma"]),
        (r#"ENUM [ "a" = "0" "b" = "1" ] E;"#, "", &["missing-comma"]),
        (r#"ENUM [ "a" = sym, b = 1 ] E;"#, "", &["bare-identifier-value", "unquoted-value"]),
        (r#"ENUM [ "a" = 1, "a" = 2 ] E;"#, "", &["duplicate-label"]),
        ("ENUM [ ] E;", "", &["empty-enum"]),
        ("ENUM ] E;", "", &["unexpected-token"]),
        (r#"ENUM [ "a" = ?, , "b" = 1 ] E;"#, "", &["unexpected-token", "unexpected-token"]),
        (r#"ENUM [ "a" = 99999999999999999999 ] E;"#, "", &["unexpected-token"]),
        (r#"ENUM [ "a" = "1 +" ] E;"#, "", &["unparsable-formula"]),
        ("CTYPE E", "", &["missing-semicolon"]),
        ("CTYPE A;", "", &["duplicate-declaration"]),
        ("FLOAT E;", "", &["unexpected-token"]),
        ("@@ ;", "", &["unexpected-character", "stray-semicolon"]),
        ("#define X", "", &["preprocessor-line"]),
        ("CTYPE E;", r#"E = "1""#, &["missing-semicolon"]),
        ("CTYPE E;", "E = one", &["unquoted-value", "missing-semicolon"]),
        ("CTYPE E;", r#"E = "1;"#, &["unterminated-string"]),
        ("CTYPE E;", r#"E = "(1";"#, &["unparsable-formula"]),
        ("CTYPE E;", r#"E "1";"#, &["unexpected-token"]),
        ("", r#"E = "1"; A = "2";"#, &["undeclared-attribute", "duplicate-attribute"]),
        ("", r#"}; U u { X = "1"; Y = "(";"#, &["missing-declaration"]),
    ];
    for (declaration, information, expected) in cases {
        let orti = around(declaration, information);
        let line = if information.is_empty() { 4 } else { 8 };
        let expected: Vec<_> = expected.iter().map(|code| (*code, line)).collect();
        assert_eq!(codes(&orti.findings), expected, "{declaration} {information}");
        let z = orti.objects.last().and_then(|o| o.get("Z")).map(|z| z.text.as_str());
        assert_eq!(
            (z, orti.attribute_type("T", "Z").is_some()),
            (Some("26"), true),
            "{declaration} {information}"
        );
    }
}

#[test]
fn a_broken_element_costs_only_itself() {
    let orti = around(r#"ENUM [ "a" = 0, "b" = , "c" 2, "d" = 3 4, "e" = 5 ] E;"#, "");
    let labels = orti.attribute_type("T", "E").unwrap().elements().iter().map(|e| e.label.as_str());
    assert_eq!(labels.collect::<Vec<_>>(), ["a", "d", "e"]);
    assert_eq!(codes(&orti.findings), [("unexpected-token", 4); 3]);
}

#[test]
fn missing_braces_and_sections_are_survived() {
    let text = SMALL.replace("}, \"The OS\";", "").replace("};\nALARM A", "ALARM A").replace("VERSION", "V");
    let orti = Orti::parse(text.as_bytes());
    let kinds: Vec<_> = orti.types.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(kinds, ["V", "OS", "ALARM"]);
    assert_eq!(orti.objects.len(), 2);
    let found: Vec<_> = orti.findings.iter().map(|f| f.code).collect();
    let expected = [
        "missing-version",
        "misplaced-declaration",
        "unexpected-token",
        "unexpected-token",
        "missing-brace",
        "missing-brace",
    ];
    assert_eq!(found, expected);
    let nothing = Orti::parse(b"");
    assert_eq!(codes(&nothing.findings), [("missing-version", 1), ("missing-implementation", 1)]);
    let nameless = Orti::parse(b"VERSION { KOIL = \"2\"; }; IMPLEMENTATION { T { CTYPE A; }; };");
    assert_eq!((nameless.types.len(), codes(&nameless.findings)), (1, vec![("unexpected-token", 1)]));
}

#[test]
fn byte_order_mark_line_ends_and_latin_1_are_survived() {
    let mut bytes = b"\xEF\xBB\xBF// Kern\xE4\r\n".to_vec();
    bytes.extend(SMALL.replace('\n', "\r\n").bytes());
    let orti = Orti::parse(&bytes);
    assert_eq!(codes(&orti.findings), [("not-utf8", 1)]);
    assert_eq!(orti.objects[0].attributes[0].line, 13);
}

/// Takes seconds; a step that is quadratic in the file, or one that does not advance, would take minutes.
#[test]
fn hostile_files_are_read_in_linear_time() {
    let parts = [
        "\"", "\";\n", "\\\"a;\n", "/*", "#", "a ", "a{", "{", "}", "A a{", "E[", "'", "a=", "\u{7}",
        "a=\"(", "\n", "/",
    ];
    let start = std::time::Instant::now();
    for part in parts {
        let long = part.repeat(200_000 / part.len());
        for prefix in ["", "IMPLEMENTATION I { T { ENUM [", "IMPLEMENTATION I { T { CTYPE A; }; }; T t {"] {
            let bytes = format!("{prefix}{long}");
            assert!(Orti::parse(bytes.as_bytes()).findings.len() < 5000);
        }
        OsHeader::parse(long.as_bytes());
        Symbols::parse(long.as_bytes());
    }
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        Orti::parse(&bytes);
        OsHeader::parse(&bytes);
        Symbols::parse(&bytes);
    }

    /// Every finding is inside the file, and parsing is deterministic.
    #[test]
    fn mutated_files_never_panic(
        edits in prop::collection::vec((0..SMALL.len(), 0..12_usize, "[\\[\\]{}=,;:\"/*# \nA-C0-2-]{0,4}"), 1..8),
    ) {
        let mut text = SMALL.as_bytes().to_vec();
        for (at, length, insert) in edits {
            let at = at.min(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, insert.bytes());
        }
        let orti = Orti::parse(&text);
        let lines = text.iter().filter(|b| **b == b'\n').count() as u32 + 1;
        prop_assert!(orti.findings.iter().all(|f| (1..=lines).contains(&f.line) && f.column >= 1));
        prop_assert_eq!(codes(&orti.findings), codes(&Orti::parse(&text).findings));
    }
}
