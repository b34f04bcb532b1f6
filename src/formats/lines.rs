//! The line of each row of a chunk. Rows in consecutive lines are stored as one run: nearly all are, and
//! lines are only needed for rows with something wrong. Not for rows that were sorted.

/// The lines of rows, in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowLines {
    /// The first row and its line; up to the next run, the line grows with the row.
    runs: Vec<(u32, u32)>,
}

impl RowLines {
    /// Sets the line of `row` (0-based within the chunk), row by row; later ones are in the following lines.
    #[inline]
    pub(super) fn put(&mut self, row: usize, line: usize) {
        let (row, line) = (row as u32, line as u32);
        // Lines without a row shift the lines of all later ones.
        if self.runs.last().is_none_or(|(first, at)| line - at != row - first) {
            self.runs.push((row, line));
        }
    }

    /// The 0-based line of a row within the chunk; undefined for rows that do not exist.
    pub fn line(&self, row: usize) -> u32 {
        let row = row as u32;
        let behind = self.runs.partition_point(|(first, _)| *first <= row);
        let run = behind.checked_sub(1).and_then(|run| self.runs.get(run));
        run.map_or(0, |(first, line)| line + (row - first))
    }

    /// Moves the rows from `at` on to a new value.
    pub fn split_off(&mut self, at: usize) -> Self {
        let line = self.line(at);
        let keep = self.runs.partition_point(|(first, _)| (*first as usize) < at);
        let later = self.runs.split_off(keep).into_iter().map(|(first, line)| (first - at as u32, line));
        let mut runs: Vec<_> = later.collect();
        if runs.first().is_none_or(|(first, _)| *first > 0) {
            runs.insert(0, (0, line));
        }
        Self { runs }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The same as a list of all lines.
        #[test]
        fn every_row_keeps_its_line(lines in prop::collection::btree_set(0usize..60, 0..40), at in 0usize..40) {
            let all: Vec<u32> = lines.iter().map(|line| *line as u32).collect();
            let mut rows = RowLines::default();
            lines.iter().enumerate().for_each(|(row, line)| rows.put(row, *line));
            prop_assert!((0..all.len()).all(|row| rows.line(row) == all[row]));
            let at = at.min(all.len());
            let behind = rows.split_off(at);
            prop_assert!((0..at).all(|row| rows.line(row) == all[row]));
            prop_assert!((at..all.len()).all(|row| behind.line(row - at) == all[row]));
        }
    }
}
