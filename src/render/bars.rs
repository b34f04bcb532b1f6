//! Counts as bars of text, for people. Not for what is counted.

use std::fmt::Write as _;

/// Minimum and maximum length of a bar in characters.
const MIN_BAR: usize = 10;
const MAX_BAR: usize = 60;
/// Parts of a character, in eighths.
const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// One line per count, at most `width` characters wide if that leaves room for a short bar: its label, a bar,
/// the count, and its share of all. No colours, and no escape sequences, so that it can go into a file.
pub fn bars(rows: &[(String, u64)], width: usize) -> String {
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let label_width = widest(&mut rows.iter().map(|(label, _)| label.chars().count()));
    let counts: Vec<String> = rows.iter().map(|(_, count)| count.to_string()).collect();
    let count_width = widest(&mut counts.iter().map(String::len));
    let room = width.saturating_sub(2 + label_width + 2 + 2 + count_width + 2 + "100.0 %".len());
    let room = room.clamp(MIN_BAR, MAX_BAR);
    let greatest = rows.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let all: u128 = rows.iter().map(|(_, count)| u128::from(*count)).sum::<u128>().max(1);
    let mut out = String::new();
    for ((label, count), number) in rows.iter().zip(&counts) {
        let bar = bar(*count, greatest, room);
        let padding = " ".repeat(room - bar.chars().count().min(room));
        let share = 100.0 * *count as f64 / all as f64;
        // Writing to a string cannot fail.
        let _ =
            writeln!(out, "  {label:>label_width$}  {bar}{padding}  {number:>count_width$}  {share:>5.1} %");
    }
    out
}

/// A bar with the length of the count relative to the greatest one; a count above 0 is always visible.
fn bar(count: u64, greatest: u64, room: usize) -> String {
    let eighths = u128::from(count) * 8 * room as u128 / u128::from(greatest);
    let eighths = usize::try_from(eighths).unwrap_or(0).max(usize::from(count > 0));
    let part = PARTS.get(eighths % 8).copied().unwrap_or_default();
    "█".repeat(eighths / 8) + part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_aligned_and_fit() {
        let rows = [("2 us".to_owned(), 2), ("10 us".to_owned(), 16), ("1 ms".to_owned(), 0)];
        // 40 - 2 - 5 - 2 - 2 - 2 - 2 - 7 = 18 characters for 16: 2 take 2.25, two characters and two eighths.
        assert_eq!(
            bars(&rows, 40),
            "   2 us  ██▎                  2   11.1 %\n  10 us  ██████████████████  16   88.9 %\n   \
             1 ms                       0    0.0 %\n"
        );
        assert!(bars(&rows, 40).lines().all(|l| l.chars().count() == 40));
        assert_eq!(bars(&[], 40), "");
    }

    #[test]
    fn what_is_there_can_be_seen_and_nothing_overflows() {
        let text = bars(&[("a".into(), 1), ("b".into(), u64::MAX)], 0);
        assert!(text.lines().next().unwrap().contains('▏'), "{text}");
        assert_eq!(bar(u64::MAX, u64::MAX, 60), "█".repeat(60));
    }
}
