//! Whether a text is a Grasp trace. Decides by content alone, never by the file's name.

use super::command::{Head, head};

const PROBED_LINES: usize = 1000;

/// True if `head_bytes`, the first bytes of a file, begin a Grasp trace: it has commands of Grasp, and those
/// are more than a tenth of the lines that are neither blank nor comments. A program may print other things
/// in between.
pub fn probe(head_bytes: &[u8]) -> bool {
    let (mut commands, mut others) = (0, 0);
    for line in head_bytes.split(|b| *b == b'\n').take(PROBED_LINES) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let untagged = match text.strip_prefix('[').and_then(|t| t.split_once(']')) {
            Some((mark, behind)) if !mark.contains(' ') => behind.trim_start(),
            _ => text,
        };
        // A single word could occur in any text.
        let is_command = head(untagged) == Head::Grasp
            && untagged.contains(char::is_whitespace)
            && !untagged.starts_with("error");
        if is_command { commands += 1 } else { others += 1 }
    }
    commands > 0 && commands * 10 > others
}
