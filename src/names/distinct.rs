//! Names of columns for files that need each name once. Not for results on a screen, where two columns may
//! have one name.

use std::collections::HashSet;

/// The names, the later ones of equal names with a number: `core`, `core_1`, `core_2`. A name that is there
/// already is not given again.
pub(crate) fn distinct<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let given: HashSet<&str> = names.clone().collect();
    let mut taken = HashSet::new();
    let own = |name: &str| {
        if taken.insert(name.to_owned()) {
            return name.to_owned();
        }
        let mut numbered = (1_u64..).map(|n| format!("{name}_{n}"));
        let free = numbered.find(|other| !given.contains(other.as_str()) && taken.insert(other.clone()));
        free.unwrap_or_default()
    };
    names.map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::distinct;

    #[test]
    fn later_ones_of_equal_names_get_numbers() {
        let of = |names: &[&str]| distinct(names.iter().copied());
        assert_eq!(of(&["a", "b"]), ["a", "b"]);
        assert_eq!(of(&["a", "a", "b", "a"]), ["a", "a_1", "b", "a_2"]);
        assert_eq!(of(&["a", "a", "a_1", "A"]), ["a", "a_2", "a_1", "A"]);
    }
}
