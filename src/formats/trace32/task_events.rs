//! The words for events of functions, tasks and interrupts in the CSVFunc and TASKEVENTS exports, and the
//! kinds under which they are stored. Not the lines with these words (see [`super::functions`]).

/// The words for the kinds of function events: [`super::ExportRows::kind`] is an index into this list.
pub const FUNCTION_KINDS: [&str; 17] = [
    "entry",
    "exit",
    "isr_entry",
    "isr_exit",
    "switch",
    "activate",
    "schedule",
    "start",
    "stop",
    "terminate",
    "preempt",
    "resume",
    "wait",
    "release",
    "runnable_start",
    "runnable_stop",
    "other",
];

pub(super) const ENTRY: u8 = 0;
pub(super) const EXIT: u8 = 1;
pub(super) const ISR_ENTRY: u8 = 2;
pub(super) const ISR_EXIT: u8 = 3;
/// The kind of all unknown words.
pub(super) const OTHER: u8 = 16;

/// The words of the exports and their kinds. CSVFunc: entry and exit of functions and interrupts, and
/// `switch` to a task. TASKEVENTS: the fourteen events of Lauterbach's manual "Trace Export for Third-Party
/// Timing Tools".
const WORDS: [(&[u8], u8); 18] = [
    (b"fentry", ENTRY),
    (b"fexit", EXIT),
    (b"ientry", ISR_ENTRY),
    (b"iexit", ISR_EXIT),
    (b"switch", 4),
    (b"activate", 5),
    (b"schedule", 6),
    (b"start", 7),
    (b"stop", 8),
    (b"terminate", 9),
    (b"preempt", 10),
    (b"resume", 11),
    (b"wait", 12),
    (b"release", 13),
    (b"runnablestart", 14),
    (b"runnablestop", 15),
    (b"isrstart", ISR_ENTRY),
    (b"isrend", ISR_EXIT),
];

/// The kind that an event word stands for, in any case; `None` for an unknown word.
pub(super) fn kind_of(word: &[u8]) -> Option<u8> {
    WORDS.iter().find(|(known, _)| word.eq_ignore_ascii_case(known)).map(|(_, kind)| *kind)
}

/// True for a word that only the function export has.
pub(super) fn is_function_word(word: &[u8]) -> bool {
    kind_of(word).is_some_and(|kind| kind <= ISR_EXIT) && !word.to_ascii_lowercase().starts_with(b"isr")
}

/// True if `word` could be the start of an event word that was cut off.
pub(super) fn is_event_prefix(word: &[u8]) -> bool {
    WORDS.iter().any(|(known, _)| known.get(..word.len()).is_some_and(|k| k.eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_the_kinds_of_their_name() {
        for (word, kind) in [
            ("fentry", "entry"),
            ("FEXIT", "exit"),
            ("ientry", "isr_entry"),
            ("iexit", "isr_exit"),
            ("isrstart", "isr_entry"),
            ("isrend", "isr_exit"),
            ("runnablestart", "runnable_start"),
            ("runnablestop", "runnable_stop"),
        ] {
            let found = kind_of(word.as_bytes()).map(|k| FUNCTION_KINDS[usize::from(k)]);
            assert_eq!(found, Some(kind));
        }
        for kind in &FUNCTION_KINDS[4..14] {
            assert_eq!(kind_of(kind.as_bytes()).map(|k| FUNCTION_KINDS[usize::from(k)]), Some(*kind));
        }
        assert_eq!(FUNCTION_KINDS[usize::from(OTHER)], "other");
        assert_eq!(kind_of(b"fentry-tail"), None);
    }

    #[test]
    fn function_words_and_prefixes() {
        assert!(is_function_word(b"iexit") && !is_function_word(b"isrend") && !is_function_word(b"start"));
        assert!(is_event_prefix(b"fexi") && is_event_prefix(b"") && !is_event_prefix(b"fexitt"));
    }
}
