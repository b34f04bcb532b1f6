//! Names of a trace → names of a model: C identifiers, each used once. Not what they name.

use std::collections::BTreeSet;

/// Gives names away.
#[derive(Debug, Default)]
pub struct Namer {
    taken: BTreeSet<String>,
}

impl Namer {
    /// A name as similar to the wanted one as a model allows, that nothing else has.
    pub fn name(&mut self, wanted: &str) -> String {
        let mut name: String =
            wanted.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            name.insert(0, '_');
        }
        let mut unique = name.clone();
        let mut number = 2u32;
        while !self.taken.insert(unique.clone()) {
            unique = format!("{name}_{number}");
            number = number.saturating_add(1);
        }
        unique
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_and_stay_different() {
        let mut namer = Namer::default();
        let names = ["T_1", "T.1", "T-1", "T_1_2", "1st", "", "Tür"].map(|name| namer.name(name));
        assert_eq!(names, ["T_1", "T_1_2", "T_1_3", "T_1_2_2", "_1st", "_", "T_r"]);
    }
}
