//! Text in a drawing: its width, and how to shorten it so that it fits. Not for where it goes.

/// Widths of the characters from U+0020 to U+007E of DejaVu Sans, in thousandths of the size. It and Verdana
/// are the widest common sans-serif fonts: text that fits in them fits in others.
const WIDTHS: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636,
    636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295,
    295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838,
    500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521,
    392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/// The fonts of a drawing: the one of the widths, and fallbacks.
pub(super) const FAMILY: &str = "'DejaVu Sans',Verdana,Geneva,sans-serif";

fn thousandths(c: char) -> i64 {
    let known = (c as usize).checked_sub(0x20).and_then(|n| WIDTHS.get(n));
    match known {
        Some(width) => i64::from(*width),
        // Only some letters beyond ASCII are wider than an em; East Asian ones are one em wide.
        None => 1000,
    }
}

/// The width of a text in hundredths of a pixel, for a font of that size in the same unit.
pub(super) fn width(text: &str, size: i64) -> i64 {
    text.chars().map(thousandths).sum::<i64>() * size / 1000
}

/// The text, or as much of its begin and end as fits, with an ellipsis: names often differ at the end.
pub(super) fn fitted(text: &str, room: i64, size: i64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let all: Vec<char> = text.chars().collect();
    for kept in (2..all.len()).rev() {
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        let short: String =
            all.iter().take(head).chain(['…'].iter()).chain(all.iter().skip(all.len() - tail)).collect();
        if width(&short, size) <= room {
            return short;
        }
    }
    String::new()
}

/// The words of a text in lines that are no wider than the room, except for single long words.
pub(super) fn lines(text: &str, room: i64, size: i64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(word, size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(fitted(word, room, size)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // i is 278, M 863 thousandths.
        assert_eq!((width("iM", 1000), width("", 1000), width("~", 1200)), (1141, 0, 1005));
    }

    #[test]
    fn what_does_not_fit_loses_its_middle() {
        let size = 1000;
        assert_eq!(fitted("Task", 10_000, size), "Task");
        assert_eq!(fitted("T_EngineControl_10ms", width("T_Eng…_10ms", size), size), "T_Eng…_10ms");
        assert_eq!(fitted("abc", 0, size), "");
        assert_eq!(fitted("", 0, size), "");
    }

    #[test]
    fn lines_break_between_words() {
        let size = 1000;
        assert_eq!(lines("a bb ccc", width("a bb", size), size), ["a bb", "ccc"]);
        assert_eq!(lines("  ", 10, size), Vec::<String>::new());
    }
}
