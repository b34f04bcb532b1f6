//! Arguments that are kept as a listing prints them, on the way to their row: batches have words only, so the
//! text travels in them. Not the reading of a listing.

use crate::qnx::{Event, Status};

/// The words that were read, and a text, as words.
pub(super) fn pack(words: &[u32], text: &str) -> Vec<u32> {
    let mut packed = vec![words.len() as u32, text.len() as u32];
    packed.extend(words);
    packed.extend(text.as_bytes().chunks(4).map(|bytes| {
        let byte = |n: usize| bytes.get(n).copied().unwrap_or(0);
        u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])
    }));
    packed
}

/// The words of an event, or those of them that were read.
pub(super) fn words<'a>(event: &Event<'a>) -> &'a [u32] {
    match (event.status, event.words) {
        (Status::Unread, [count, _, packed @ ..]) => packed.get(..*count as usize).unwrap_or_default(),
        (_, words) => words,
    }
}

/// The event with the words that were read, and its text; `None` for an event that has words only.
pub(super) fn unpack<'a>(event: &Event<'a>) -> Option<(Event<'a>, String)> {
    let [words, length, packed @ ..] = event.words else { return None };
    if event.status != Status::Unread {
        return None;
    }
    let (words, text) = packed.split_at_checked(*words as usize)?;
    let mut text: Vec<u8> = text.iter().flat_map(|word| word.to_le_bytes()).collect();
    text.truncate(*length as usize);
    let status = if words.is_empty() { Status::Unread } else { Status::Ok };
    Some((Event { status, words, ..*event }, String::from_utf8_lossy(&text).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qnx::Class;

    #[test]
    fn words_and_text_come_back() {
        for (words, text, status) in [
            (&[][..], "coid:0x1 foo:0x5", Status::Unread),
            (&[1, 2], "pid:1 tid:2 ä:3", Status::Ok),
            (&[7, 0], "", Status::Ok),
        ] {
            let packed = pack(words, text);
            let (record, cpu, flags, class, event, is64, cycles) = (0, 0, 0, Class::Comm, 1, false, 0);
            let event = Event {
                record,
                cpu,
                flags,
                class,
                event,
                is64,
                status: Status::Unread,
                cycles,
                words: &packed,
            };
            let (event_back, text_back) = unpack(&event).unwrap();
            assert_eq!(super::words(&event), words);
            assert_eq!((event_back.words, event_back.status, text_back.as_str()), (words, status, text));
            assert!(unpack(&Event { status: Status::Ok, ..event }).is_none());
        }
    }
}
