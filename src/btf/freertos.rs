//! Names of tasks as FreeRTOS loggers write them, with a number in front: `[core/id]name` or `(id)name`. Not
//! how their events are read (see `derive`).

/// Whether a name has a number in front: `[0/0001]Main` or `(0001)Main`.
pub fn is_numbered(name: &str) -> bool {
    let inner =
        |open, close| name.strip_prefix(open).and_then(|n: &str| n.split_once(close)).map(|(inner, _)| inner);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match (inner('[', ']'), inner('(', ')')) {
        (Some(inner), _) => inner.split_once('/').is_some_and(|(core, id)| digits(core) && digits(id)),
        (_, Some(inner)) => digits(inner),
        _ => false,
    }
}

/// A name without what is in brackets in front of it.
pub fn bare(name: &str) -> &str {
    let rest = match name.chars().next() {
        Some('[') => name.split_once(']'),
        Some('(') => name.split_once(')'),
        _ => None,
    };
    rest.map_or(name, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_brackets() {
        assert!(["[0/0001]Main", "(0001)Main", "[0/0000]"].into_iter().all(is_numbered));
        assert!(!["[idle]", "(x)", "Core_0", "[0]", ""].into_iter().any(is_numbered));
        assert_eq!(["[0/0001]Main", "(0001)Main", "Main"].map(bare), ["Main"; 3]);
    }
}
