//! Texts of errors of the engine → words for users: no names of its own types, no values as Rust prints them,
//! and other ways to write what it does not have. Not for the kind or the place of an error (see `failure`).

/// How the engine classifies its errors; it may do so more than once.
const CLASSES: [&str; 10] = [
    "Error during planning: ",
    "Execution error: ",
    "This feature is not implemented: ",
    "Schema error: ",
    "Arrow error: ",
    "External error: ",
    "Internal error: ",
    "Optimizer rule ",
    "Cast error: ",
    "Invalid argument error: ",
];
/// The most bytes of a text.
const MOST: usize = 1000;
/// What follows is for developers of the engine.
const FOR_DEVELOPERS: [&str; 2] = ["\nThis issue was likely caused by a bug", "\n\nbacktrace:"];

/// The text without what only developers of the engine understand.
pub(super) fn plain(text: &str) -> String {
    let mut text = FOR_DEVELOPERS.iter().fold(text, |text, end| text.split(end).next().unwrap_or(text));
    // The last cause says most.
    text = text.rsplit("\ncaused by\n").next().unwrap_or(text).trim();
    let mut missing = false;
    while let Some((class, rest)) = CLASSES.iter().find_map(|c| text.strip_prefix(c).map(|rest| (*c, rest))) {
        missing |= class == "This feature is not implemented: ";
        text = rest;
    }
    let text = shortened(words(&without_values(text)));
    match missing {
        true if text.is_empty() => "this is not supported".into(),
        true => format!("not supported: {text}"),
        false => text,
    }
}

/// The text up to the first value as Rust prints it: `Ident { value: "x" }`, `Some(1)`.
fn without_values(text: &str) -> String {
    let bytes = text.as_bytes();
    let begins_value = |at: usize| {
        let open = match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b' '), Some(b'{')) => true,
            (Some(b'('), _) => text.get(..at).is_some_and(|t| t.ends_with("Some") || t.ends_with("Literal")),
            _ => false,
        };
        if !open {
            return false;
        }
        let name =
            text.get(..at).map_or("", |t| t.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or(t));
        name.starts_with(char::is_uppercase) && name.chars().any(char::is_lowercase)
    };
    let Some(at) = (0..bytes.len()).find(|at| begins_value(*at)) else { return text.to_owned() };
    let before = text.get(..at).unwrap_or("");
    let before = before.trim_end_matches(|c: char| !c.is_whitespace());
    before.trim_end_matches([' ', ':', ',', '(', '[']).to_owned()
}

/// A text of at most [`MOST`] bytes: errors repeat values, which can have any length.
pub(super) fn shortened(text: String) -> String {
    if text.len() <= MOST {
        return text;
    }
    let (begin, end) = (text.floor_char_boundary(MOST / 2), text.ceil_char_boundary(text.len() - MOST / 4));
    format!("{} … {}", text.get(..begin).unwrap_or(""), text.get(end..).unwrap_or(""))
}

/// Names of types as SQL has them, no list of candidates, and no classes of errors within.
fn words(text: &str) -> String {
    let text = text.split("\n\tCandidate functions:").next().unwrap_or(text);
    let text = text.replace("\n\t", " ").replace('\n', " ").replace("Internal error: ", "");
    let text = ["arrow_array::array::", "arrow_array::types::", "arrow_schema::"]
        .iter()
        .fold(text, |text, path| text.replace(path, ""));
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let name = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        out.push_str(sql_type(name));
        out.push_str(word.get(name.len()..).unwrap_or(""));
    }
    out.trim().to_owned()
}

/// The name in SQL of a type of Arrow; other words stay.
pub(super) fn sql_type(name: &str) -> &str {
    match name {
        "Utf8" | "LargeUtf8" | "Utf8View" => "VARCHAR",
        "Int64" => "BIGINT",
        "Int32" => "INTEGER",
        "Float64" => "DOUBLE",
        "Boolean" => "BOOLEAN",
        other => other,
    }
}

/// Another way to write what failed with that text.
pub(super) fn hint(text: &str) -> Option<&'static str> {
    const HINTS: [(&[&str], &str); 8] = [
        (
            &["the text '", "is no value of type"],
            "a text is compared with a text: write the number in quotes, e.g. recording = '7'",
        ),
        (
            &["MATCH_CONDITION"],
            "the state at an instant: SELECT … FROM as_of(events, states, key), see docs/library.md",
        ),
        (
            &["must be in GROUP BY", "appear in the GROUP BY"],
            "add the column to GROUP BY, or take e.g. max(…) or any_value(…) of it",
        ),
        (
            &["Unterminated string literal", "Unterminated double quoted"],
            "texts are in single quotes; a quote in a text is doubled: 'it''s'",
        ),
        (&["Expected close delimiter '\"'"], "names are in double quotes, texts in single quotes"),
        (
            &["Unexpected character"],
            "quotes are ' and \", and minus is -; texts from documents may have others",
        ),
        (&["coerce", "coercion"], "CAST(x AS BIGINT), or another type, makes both sides alike"),
        (&["Expected: end of statement"], "statements are separated by ;"),
    ];
    HINTS.iter().find(|(signs, _)| signs.iter().any(|sign| text.contains(sign))).map(|(_, hint)| *hint)
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn users_see_no_values_of_rust() {
        assert_eq!(
            plain(
                "This feature is not implemented: GetFieldAccess not supported by ExprPlanner: RawFieldAccessExpr { field_access: 1 }"
            ),
            "not supported: GetFieldAccess not supported by ExprPlanner"
        );
        assert_eq!(plain("This feature is not implemented: Ident { value: \"x\" }"), "this is not supported");
        assert_eq!(plain("Error during planning: a {b} c"), "a {b} c");
        assert_eq!(
            plain("type_coercion\ncaused by\nError during planning: no Utf8View + Int64"),
            "no VARCHAR + BIGINT"
        );
    }
}
