//! Texts in SQL statements that are made here: one, and lists of them. Not for values that the engine takes
//! as parameters, nor for what a user writes.

/// A text as a literal.
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Texts as the literals of a list, without its brackets.
pub(crate) fn literals<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> String {
    let literals: Vec<String> = texts.into_iter().map(|text| literal(text.as_ref())).collect();
    literals.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_doubled() {
        assert_eq!(literal("R'x'"), "'R''x'''");
        assert_eq!(literals(["a", "it's"]), "'a', 'it''s'");
        assert_eq!(literals(Vec::<String>::new()), "");
    }
}
