//! Whether a text is a BTF trace, and its dialect. Decides by content alone, never by the file's name.

use super::super::text::{Line, without_bom};
use super::header::Keyword;
use crate::btf::freertos;

/// Number of lines to check.
const PROBED_LINES: usize = 1000;

/// True if `head`, the first bytes of a file, is BTF: a parameter of BTF comes before anything but comments,
/// or most lines are events.
pub fn probe(head: &[u8]) -> bool {
    let (mut events, mut others) = (0, 0);
    for line in lines(head) {
        let text = line.trim_ascii();
        match text {
            [] => {}
            [b'#', ..] => {
                let known = std::str::from_utf8(text).ok().and_then(Keyword::split).is_some();
                if known && others == 0 {
                    return true;
                }
            }
            _ if is_event(text) => events += 1,
            _ => others += 1,
        }
    }
    events > others
}

/// Time, source, instance, type, target, instance, action: numbers where numbers belong.
fn is_event(text: &[u8]) -> bool {
    let fields: Vec<&[u8]> = text.splitn(8, |b| *b == b',').map(|f| f.trim_ascii()).collect();
    let number = |n: usize| {
        fields.get(n).and_then(|f| std::str::from_utf8(f).ok()).and_then(|f| f.parse::<i64>().ok())
    };
    let name = |n: usize| fields.get(n).is_some_and(|f| !f.is_empty());
    let instance = |n: usize| number(n).is_some() || fields.get(n).is_some_and(|f| f.is_empty());
    number(0).is_some() && name(1) && instance(2) && name(3) && name(4) && instance(5) && name(6)
}

/// True if the trace is of a FreeRTOS logger: it says so, or its tasks are named `[core/id]name` or
/// `(id)name`. Its events are interpreted differently (see [`crate::derive`]).
pub fn speaks_freertos(head: &[u8]) -> bool {
    let mut tasks = 0;
    for line in lines(head) {
        let Ok(text) = std::str::from_utf8(line) else { continue };
        if let Some((Keyword::Creator, value)) = Keyword::split(text)
            && value.to_ascii_lowercase().contains("freertos")
        {
            return true;
        }
        let mut fields = text.split(',').map(str::trim);
        if fields.nth(3) == Some("T") && fields.next().is_some_and(freertos::is_numbered) {
            tasks += 1;
        }
    }
    tasks > 0
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    // The last line may be cut off by the end of `head`.
    let is_whole = |line: &Line<'_>| line.terminated || line.number == 0;
    Line::all(head).take(PROBED_LINES).filter(is_whole).map(|line| without_bom(line.text))
}
