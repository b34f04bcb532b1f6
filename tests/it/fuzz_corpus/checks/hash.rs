//! Promise of the hash that is made beside the reading of a text: it is the same however the input is cut,
//! and however far its reader asks for steps, and that of a library.

use btfdb::input::{Digest, HashBeside};
use sha2::{Digest as _, Sha256};

/// Where to cut, how many steps to ask for, and the input.
pub fn hash(data: &[u8]) {
    let Some((&[cut, steps], text)) = data.split_first_chunk() else { return };
    let (head, tail) = text.split_at(usize::from(cut).min(text.len()));
    let expected: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    let hash = of(&[head, tail], usize::from(steps), text.len());
    assert_eq!(hash, Some(expected), "cut at {cut}, {steps} steps");
}

fn of(chunks: &[&[u8]], steps: usize, length: usize) -> Option<String> {
    let mut hash = HashBeside::of_nothing();
    for chunk in chunks {
        let mut beside = hash.chunk(chunk);
        (0..steps).for_each(|_| beside.step());
    }
    hash.complete(Digest { bytes: length as u64, sha256: None }).ok()?.sha256
}
