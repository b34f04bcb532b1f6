//! Sorts rows that are mostly in the order of time. Not for rows of several batches.

/// A stable permutation that sorts rows by time: only of the rows that have to move, usually not many.
pub(crate) struct Reorder(Vec<Section>);

/// The rows from `begin` on are replaced by `rows`.
struct Section {
    begin: usize,
    rows: Vec<usize>,
}

impl Reorder {
    /// Finds the rows that are out of order.
    pub fn of(times: &[i64]) -> Self {
        if times.is_sorted() {
            return Self(Vec::new());
        }
        // Rows can be sorted separately from later ones if none of those is earlier.
        let mut earliest_from = times.to_vec();
        let mut earliest = i64::MAX;
        for time in earliest_from.iter_mut().rev() {
            earliest = earliest.min(*time);
            *time = earliest;
        }
        let (mut sections, mut begin, mut latest) = (Vec::new(), 0, i64::MIN);
        for (row, time) in times.iter().enumerate() {
            latest = latest.max(*time);
            if earliest_from.get(row + 1).is_none_or(|behind| latest <= *behind) {
                if row > begin {
                    let mut rows: Vec<usize> = (begin..=row).collect();
                    rows.sort_by_key(|row| times.get(*row).copied());
                    sections.push(Section { begin, rows });
                }
                (begin, latest) = (row + 1, i64::MIN);
            }
        }
        Self(sections)
    }

    pub fn apply<T: Copy>(&self, column: &mut [T]) {
        for Section { begin, rows } in &self.0 {
            let moved: Vec<T> = rows.iter().filter_map(|row| column.get(*row).copied()).collect();
            column.iter_mut().skip(*begin).zip(moved).for_each(|(row, moved)| *row = moved);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_moved_into_order(times in prop::collection::vec(0i64..30, 0..40)) {
            let mut rows: Vec<(i64, usize)> = times.iter().copied().zip(0..).collect();
            let reorder = Reorder::of(&times);
            prop_assert!(reorder.0.iter().all(|s| s.rows.first() != Some(&s.begin) || s.rows.len() > 1));
            reorder.apply(&mut rows);
            let mut expected = rows.clone();
            expected.sort();
            prop_assert_eq!(rows, expected);
        }
    }
}
