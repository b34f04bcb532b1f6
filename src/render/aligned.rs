//! Lines of cells in columns, padded with blanks: the text tables of all commands. Not their content.

/// The number of characters.
pub(super) fn length(text: &str) -> usize {
    text.chars().count()
}

/// The width of each column: that of its longest cell.
#[cfg(feature = "engine")]
pub(crate) fn widths<const N: usize>(rows: &[[String; N]]) -> [usize; N] {
    let mut widths = [0; N];
    for row in rows {
        widths.iter_mut().zip(row).for_each(|(width, cell)| *width = length(cell).max(*width));
    }
    widths
}

/// Appends one line of cells, two blanks between columns, none at the end. Long cells push the rest to the
/// right. `right` says which columns are right-aligned.
pub(crate) fn line(out: &mut String, cells: &[impl AsRef<str>], widths: &[usize], right: &[bool]) {
    let start = out.len();
    for ((cell, width), right) in cells.iter().zip(widths).zip(right) {
        let cell = cell.as_ref();
        let padding = " ".repeat(width.saturating_sub(length(cell)));
        let (before, after) = if *right { (padding.as_str(), "") } else { ("", padding.as_str()) };
        for part in [before, cell, after, "  "] {
            out.push_str(part);
        }
    }
    out.truncate(start + out.get(start..).map_or(0, |line| line.trim_end().len()));
    out.push('\n');
}
