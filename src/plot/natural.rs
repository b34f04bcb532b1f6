//! The order of names for people, in which T_2 comes before T_10.

use std::cmp::Ordering;

/// Digits in names are compared as numbers.
pub(super) fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let (x, y) = match (left.chars().next(), right.chars().next()) {
            (None, None) => return a.cmp(b),
            (None, _) => return Ordering::Less,
            (_, None) => return Ordering::Greater,
            (Some(x), Some(y)) => (x, y),
        };
        if x.is_ascii_digit() && y.is_ascii_digit() {
            let (m, rest) = digits(left);
            let (n, other) = digits(right);
            let order = m.len().cmp(&n.len()).then(m.cmp(n));
            if order != Ordering::Equal {
                return order;
            }
            (left, right) = (rest, other);
        } else if x != y {
            return x.cmp(&y);
        } else {
            left = left.get(x.len_utf8()..).unwrap_or_default();
            right = right.get(y.len_utf8()..).unwrap_or_default();
        }
    }
}

/// The leading digits of a text without leading zeros, and the rest.
fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    (digits.trim_start_matches('0'), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count() {
        let mut names = ["T_10", "T_2", "T_02", "a", "T", "T_2b", "T_1_3", "T_1_20"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["T", "T_1_3", "T_1_20", "T_02", "T_2", "T_2b", "T_10", "a"]);
    }
}
