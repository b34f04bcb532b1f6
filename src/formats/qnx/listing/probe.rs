//! Whether a text is a listing of traceprinter. Decides by content alone, never by the file's name.

use super::super::super::text::Line;
use super::event::begins_event;

const PROBED_LINES: usize = 200;

/// True if `head`, the first bytes of a file, is a listing: it begins with its title, or most of its lines
/// that are not arguments are events.
pub fn probe(head: &[u8]) -> bool {
    let (mut events, mut others, mut at) = (0, 0, 0);
    for number in 0..PROBED_LINES {
        if at >= head.len() {
            break;
        }
        let (line, next) = Line::take(head, at, number);
        at = next;
        // The last line may be cut off by the end of `head`.
        if !line.terminated && events + others > 0 {
            break;
        }
        let text = line.text.trim_ascii();
        if text.starts_with(b"TRACEPRINTER version") && events + others == 0 {
            return true;
        }
        match text {
            [] => {}
            _ if begins_event(text) => events += 1,
            // Arguments of the previous event.
            _ if events > 0 && text.len() < line.text.len() && text.contains(&b':') => {}
            _ => others += 1,
        }
    }
    events > others
}
