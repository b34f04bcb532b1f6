//! Small pieces of objects that were read, footers and whole small files among them: what is read again costs
//! no request. Objects are never changed, so that a piece stays right; who keeps one has checked its sum. Not
//! for the log, whose files can be made again.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

/// Pieces up to this size are kept: a footer is often larger than the columns of a small file.
const LARGEST: usize = 1 << 20;
/// All of them have at most this size.
const ALL: usize = 64 << 20;

/// Pieces, by the keys of their objects.
#[derive(Default)]
pub(super) struct Pieces(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    of_objects: HashMap<String, Vec<Piece>>,
    bytes: usize,
}

struct Piece {
    begin: u64,
    bytes: Bytes,
}

impl Pieces {
    /// The bytes of a range.
    pub(super) fn get(&self, key: &str, range: &Range<u64>) -> Option<Bytes> {
        let within = |piece: &Piece| {
            let from = usize::try_from(range.start.checked_sub(piece.begin)?).ok()?;
            let to = usize::try_from(range.end.checked_sub(piece.begin)?).ok()?;
            piece.bytes.get(from..to).map(|_| piece.bytes.slice(from..to))
        };
        self.kept().of_objects.get(key)?.iter().find_map(within)
    }

    pub(super) fn keep(&self, key: &str, begin: u64, bytes: &Bytes) {
        let range = begin..begin.saturating_add(bytes.len() as u64);
        if bytes.len() > LARGEST || self.get(key, &range).is_some() {
            return;
        }
        let mut kept = self.kept();
        if kept.bytes + bytes.len() > ALL {
            *kept = Kept::default();
        }
        kept.bytes += bytes.len();
        // A piece of a larger one would keep all of it.
        let piece = Piece { begin, bytes: Bytes::copy_from_slice(bytes) };
        kept.of_objects.entry(key.to_owned()).or_default().push(piece);
    }

    /// Forgets the pieces of an object.
    pub(super) fn forget_of(&self, key: &str) {
        let mut kept = self.kept();
        let bytes = kept.of_objects.remove(key).into_iter().flatten().map(|piece| piece.bytes.len());
        kept.bytes = kept.bytes.saturating_sub(bytes.sum());
    }

    pub(super) fn forget(&self) {
        *self.kept() = Kept::default();
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_gives_its_parts_and_no_others() {
        let pieces = Pieces::default();
        pieces.keep("a", 10, &Bytes::from_static(b"0123456789"));
        assert_eq!(pieces.get("a", &(12..15)).as_deref(), Some(&b"234"[..]));
        assert_eq!(pieces.get("a", &(10..20)).as_deref(), Some(&b"0123456789"[..]));
        pieces.keep("a", 10, &Bytes::from_static(b"0123456789"));
        assert_eq!(pieces.kept().bytes, 10, "once");
        for (key, range) in [("b", 12..15), ("a", 9..15), ("a", 12..21)] {
            assert_eq!(pieces.get(key, &range), None);
        }
    }

    #[test]
    fn what_is_kept_has_a_limit() {
        let pieces = Pieces::default();
        let large = Bytes::from(vec![0; LARGEST]);
        pieces.keep("x", 0, &Bytes::from(vec![0; LARGEST + 1]));
        assert_eq!(pieces.get("x", &(0..1)), None);
        for n in 0..200 {
            pieces.keep(&n.to_string(), 0, &large);
            assert!(pieces.get(&n.to_string(), &(0..1)).is_some());
            assert!(pieces.kept().bytes <= ALL);
        }
        pieces.forget_of("199");
        assert_eq!(pieces.get("199", &(0..1)), None);
        assert!(pieces.get("198", &(0..1)).is_some());
        (0..199).for_each(|n| pieces.forget_of(&n.to_string()));
        assert_eq!(pieces.kept().bytes, 0);
    }
}
