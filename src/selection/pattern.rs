//! Names of entities as users write them: lists with commas, and patterns with `*` (any characters) and `?`
//! (one character). Not for what is done with the entities that fit.

/// True for a name that stands for others. A name with such a character also stands for itself.
pub(crate) fn is_pattern(word: &str) -> bool {
    word.contains(['*', '?'])
}

/// The names and patterns of a list.
pub(crate) fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// True if the name, or the pattern, is that of an entity.
pub(crate) fn fits(word: &str, name: &str) -> bool {
    if !is_pattern(word) {
        return word == name;
    }
    let (word, name): (Vec<char>, Vec<char>) = (word.chars().collect(), name.chars().collect());
    // Where the last `*` is, and how much of the name it took: only that one has to be tried again.
    let (mut at, mut seen, mut star) = (0, 0, None);
    while seen < name.len() {
        match word.get(at) {
            Some('*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(c) if *c == '?' || Some(c) == name.get(seen) => {
                at += 1;
                seen += 1;
            }
            _ => match star {
                Some((before, taken)) => {
                    star = Some((before, taken + 1));
                    (at, seen) = (before + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    word.iter().skip(at).all(|c| *c == '*')
}

/// True if the name, or the pattern, is that of a handler which several cores have: `Core_0.NAME` (rule I9 of
/// docs/mapping.md).
pub(crate) fn fits_on_core(word: &str, process: &str) -> bool {
    process.match_indices('.').any(|(dot, _)| fits(word, &process[dot + 1..]))
}

/// A pattern for LIKE in SQL.
pub(crate) fn like(word: &str) -> String {
    let mut like = String::with_capacity(word.len());
    for c in word.chars() {
        match c {
            '*' => like.push('%'),
            '?' => like.push('_'),
            '%' | '_' | '\\' => like.extend(['\\', c]),
            c => like.push(c),
        }
    }
    like
}

/// A regular expression for the names of a list.
pub(crate) fn regex(list: &str) -> String {
    let mut regex = String::from("(?s)^(");
    for (n, word) in words(list).enumerate() {
        if n > 0 {
            regex.push('|');
        }
        for c in word.chars() {
            match c {
                '*' => regex.push_str(".*"),
                '?' => regex.push('.'),
                c if "\\.+()|[]{}^$".contains(c) => regex.extend(['\\', c]),
                c => regex.push(c),
            }
        }
    }
    regex.push_str(")$");
    regex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_in_a_shell() {
        for (word, name, fit) in [
            ("T_1", "T_1", true),
            ("T_1", "T_10", false),
            ("T_*", "T_10", true),
            ("T_?", "T_10", false),
            ("T_?", "T_1", true),
            ("*", "", true),
            ("*_1*", "ISR_10_1", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b", "a-b-c", false),
            ("?", "ä", true),
            ("f*", "f*", true),
            ("t_*", "T_1", false),
        ] {
            assert_eq!(fits(word, name), fit, "{word} {name}");
        }
    }

    #[test]
    fn handlers_fit_behind_the_name_of_their_core() {
        for (word, process, fit) in [
            ("timer", "Core_0.timer", true),
            ("t*r", "Core_0.timer", true),
            ("imer", "Core_0.timer", false),
            ("timer", "timer", false),
        ] {
            assert_eq!(fits_on_core(word, process), fit, "{word} {process}");
        }
    }

    #[test]
    fn patterns_are_written_for_sql() {
        assert_eq!(like("T_*5%?"), "T\\_%5\\%_");
        assert_eq!(regex("T_1, ISR.*"), "(?s)^(T_1|ISR\\..*)$");
        assert_eq!(words(" a,,b* ").collect::<Vec<_>>(), ["a", "b*"]);
    }
}
