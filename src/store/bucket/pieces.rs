//! Small pieces of objects that were read, footers and whole small files among them: what is read again costs
//! no request. Objects are never changed, so that a piece stays right. Not for the log, which grows.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::lock::Mutex as Turn;
use object_store::ObjectMeta;

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
    turns: HashMap<String, Arc<Turn<()>>>,
    bytes: usize,
}

#[derive(Clone)]
struct Piece {
    begin: u64,
    bytes: Bytes,
    /// What came with it, if it came alone.
    meta: Option<ObjectMeta>,
}

impl Pieces {
    /// The bytes of a range.
    pub(super) fn get(&self, key: &str, range: &Range<u64>) -> Option<Bytes> {
        self.find(key, range, |_| true).map(|(bytes, _)| bytes)
    }

    /// The same, with what is known of the object.
    pub(super) fn get_with_meta(&self, key: &str, range: &Range<u64>) -> Option<(Bytes, ObjectMeta)> {
        let (bytes, meta) = self.find(key, range, |piece| piece.meta.is_some())?;
        Some((bytes, meta?))
    }

    fn find(
        &self,
        key: &str,
        range: &Range<u64>,
        fits: impl Fn(&Piece) -> bool,
    ) -> Option<(Bytes, Option<ObjectMeta>)> {
        let within = |piece: &Piece| {
            let from = usize::try_from(range.start.checked_sub(piece.begin)?).ok()?;
            let to = usize::try_from(range.end.checked_sub(piece.begin)?).ok()?;
            piece.bytes.get(from..to).map(|_| (piece.bytes.slice(from..to), piece.meta.clone()))
        };
        self.kept().of_objects.get(key)?.iter().filter(|piece| fits(piece)).find_map(within)
    }

    pub(super) fn keep(&self, key: &str, begin: u64, bytes: &Bytes, meta: Option<ObjectMeta>) {
        if bytes.len() > LARGEST {
            return;
        }
        let mut kept = self.kept();
        if kept.bytes + bytes.len() > ALL {
            *kept = Kept::default();
        }
        kept.bytes += bytes.len();
        // A piece of a larger one would keep all of it.
        let piece = Piece { begin, bytes: Bytes::copy_from_slice(bytes), meta };
        kept.of_objects.entry(key.to_owned()).or_default().push(piece);
    }

    /// The turn to read of an object: who has to wait for it may find what it wants afterwards.
    pub(super) fn turn(&self, key: &str) -> Arc<Turn<()>> {
        Arc::clone(self.kept().turns.entry(key.to_owned()).or_default())
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
        pieces.keep("a", 10, &Bytes::from_static(b"0123456789"), None);
        assert_eq!(pieces.get("a", &(12..15)).as_deref(), Some(&b"234"[..]));
        assert_eq!(pieces.get("a", &(10..20)).as_deref(), Some(&b"0123456789"[..]));
        for (key, range) in [("b", 12..15), ("a", 9..15), ("a", 12..21)] {
            assert_eq!(pieces.get(key, &range), None);
        }
        assert!(pieces.get_with_meta("a", &(12..15)).is_none());
    }

    #[test]
    fn what_is_kept_has_a_limit() {
        let pieces = Pieces::default();
        let large = Bytes::from(vec![0; LARGEST]);
        pieces.keep("x", 0, &Bytes::from(vec![0; LARGEST + 1]), None);
        assert_eq!(pieces.get("x", &(0..1)), None);
        for n in 0..200 {
            pieces.keep(&n.to_string(), 0, &large, None);
            assert!(pieces.get(&n.to_string(), &(0..1)).is_some());
            assert!(pieces.kept().bytes <= ALL);
        }
    }
}
