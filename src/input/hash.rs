//! The SHA-256 of an input: as its bytes are read, or beside the reading of its text, which costs a fraction of that (see
//! [`super::rounds`]). Beside it, that is for who reads a text alone and in order; compressed inputs are hashed as they are
//! read, since their text is not what is hashed. A library makes blocks that come in two parts, and all of them where the processor
//! has no instructions for it; its hasher is not used, as it does not give away its state between two blocks.

use sha2::compress256;

use super::rounds::Rounds;
use super::{Digest, Source};
use crate::error::{Error, ErrorKind, Result};

/// What SHA-256 takes at once, in bytes.
const BLOCK: usize = 64;

/// The state before the first block (FIPS 180-4, §5.3.3).
const START: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// The hash of what was seen so far.
#[derive(Debug, Clone)]
pub(super) struct Hash {
    state: [u32; 8],
    /// What was seen of a block that is not whole.
    open: Vec<u8>,
    bytes: u64,
}

impl Default for Hash {
    fn default() -> Self {
        Self { state: START, open: Vec::with_capacity(BLOCK), bytes: 0 }
    }
}

impl Hash {
    /// Takes what comes next.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        let (blocks, rest) = self.fill(bytes);
        self.blocks(blocks);
        self.bytes += (blocks.len() * BLOCK) as u64;
        self.open.extend_from_slice(rest);
        self.bytes += rest.len() as u64;
    }

    /// How much was seen, in bytes, and its hash in lower-case hexadecimal.
    pub(super) fn finish(mut self) -> (u64, String) {
        // A set bit, zeros and the number of bits make the last block whole (FIPS 180-4, §5.1.1).
        let bytes = self.bytes;
        let length = (bytes * 8).to_be_bytes();
        let zeros = (2 * BLOCK - 1 - length.len() - self.open.len()) % BLOCK;
        self.update(&[&[0x80], &[0; BLOCK][..zeros], &length[..]].concat());
        (bytes, self.state.iter().map(|word| format!("{word:08x}")).collect())
    }

    /// Takes what makes the open block whole, and gives the blocks behind it and what is left then.
    fn fill<'b>(&mut self, bytes: &'b [u8]) -> (&'b [[u8; BLOCK]], &'b [u8]) {
        let missing = (BLOCK - self.open.len()) % BLOCK;
        let (now, later) = bytes.split_at(missing.min(bytes.len()));
        self.open.extend_from_slice(now);
        self.bytes += now.len() as u64;
        if let Ok(block) = <[u8; BLOCK]>::try_from(self.open.as_slice()) {
            compress256(&mut self.state, &[block.into()]);
            self.open.clear();
        }
        later.as_chunks()
    }

    /// Takes whole blocks, when none is open.
    fn blocks(&mut self, blocks: &[[u8; BLOCK]]) {
        match Rounds::new(&self.state) {
            Some(mut rounds) => {
                for block in blocks {
                    (0..4).for_each(|number| rounds.quarter(number, block));
                }
                self.state = rounds.state();
            }
            None => {
                blocks
                    .iter()
                    .for_each(|block| compress256(&mut self.state, std::slice::from_ref(block.into())));
            }
        }
    }
}

/// The hash of an input that the reader of its text makes.
#[derive(Debug)]
pub struct HashBeside {
    /// `None` when it is made elsewhere after all, or not at all.
    hash: Option<Hash>,
}

impl Source {
    /// Leaves the hash to who reads the chunks, all of them and in order; to be called before the first is taken.
    pub fn hash_beside(&mut self) -> HashBeside {
        let beside = self.index == 0 && self.decoder.leave_hash();
        HashBeside { hash: beside.then(Hash::default) }
    }
}

impl HashBeside {
    /// For an input of which nothing was read yet.
    pub fn of_nothing() -> Self {
        Self { hash: Some(Hash::default()) }
    }

    /// Begins the next chunk. All of it is hashed when what is returned is dropped.
    pub fn chunk<'a>(&'a mut self, bytes: &'a [u8]) -> Beside<'a> {
        let Some(hash) = &mut self.hash else { return Beside::nothing() };
        let (blocks, rest) = hash.fill(bytes);
        hash.bytes += (blocks.len() * BLOCK) as u64;
        let rounds = Rounds::new(&hash.state);
        Beside { hash: Some(hash), rounds, blocks, rest }
    }

    /// The digest of the input with its hash.
    ///
    /// # Errors
    /// [`ErrorKind::Bug`] when not all of the input was hashed.
    pub fn complete(self, digest: Digest) -> Result<Digest> {
        let Some(hash) = self.hash else { return Ok(digest) };
        let (bytes, sha256) = hash.finish();
        if bytes != digest.bytes {
            let message = format!("{bytes} of the {} bytes of an input were hashed", digest.bytes);
            return Err(Error::new(ErrorKind::Bug, message));
        }
        Ok(Digest { bytes, sha256: Some(sha256) })
    }
}

/// The hash of a chunk in the making.
#[derive(Debug)]
pub struct Beside<'a> {
    hash: Option<&'a mut Hash>,
    /// `None` where steps do nothing.
    rounds: Option<Rounds>,
    blocks: &'a [[u8; BLOCK]],
    rest: &'a [u8],
}

/// Steps of a [`Beside`], one after the other.
#[derive(Debug, Clone)]
pub struct Steps<'s> {
    rounds: Option<Rounds>,
    blocks: &'s [[u8; BLOCK]],
}

impl<'a> Beside<'a> {
    /// For who reads a text that is hashed elsewhere, or not at all.
    pub fn nothing() -> Self {
        Self { hash: None, rounds: None, blocks: &[], rest: &[] }
    }

    /// A quarter of a block, if there is one: to be called four times in a line of some 60 bytes, with other work between.
    #[inline(always)]
    pub fn step(&mut self) {
        self.during(Steps::step);
    }

    /// Many steps. `work` should be a loop that gives them to nothing that is not inlined: then they stay in registers.
    #[inline(always)]
    pub fn during<T>(&mut self, work: impl FnOnce(&mut Steps<'a>) -> T) -> T {
        let mut steps = Steps { rounds: self.rounds, blocks: self.blocks };
        let done = work(&mut steps);
        Steps { rounds: self.rounds, blocks: self.blocks } = steps;
        done
    }
}

impl<'s> Steps<'s> {
    /// As [`Beside::step`].
    #[inline(always)]
    pub fn step(&mut self) {
        if let (Some(rounds), Some(block)) = (&self.rounds, self.blocks.first()) {
            self.quarter(rounds.done(), block);
        }
    }

    /// The next block, if there is one and it is not begun: to be given to [`Steps::quarter`] with 0, 1, 2 and 3. That is what four
    /// steps do; nothing has to be asked between them.
    #[inline(always)]
    pub fn block(&self) -> Option<&'s [u8; BLOCK]> {
        self.blocks.first().filter(|_| self.rounds.is_some_and(|rounds| rounds.done() == 0))
    }

    /// How many bytes there are in the blocks that are not done.
    #[inline(always)]
    pub fn left(&self) -> usize {
        self.blocks.len() * BLOCK
    }

    /// That quarter of the block which [`Steps::block`] gave, when those before it are done.
    #[inline(always)]
    pub fn quarter(&mut self, number: u8, block: &[u8; BLOCK]) {
        if let Some(rounds) = &mut self.rounds {
            rounds.quarter(number, block);
        }
        if number == 3 {
            self.blocks = self.blocks.split_first().map_or(&[], |(_, later)| later);
        }
    }

    /// Ends the block that was begun, if one was.
    pub fn settle(&mut self) {
        while self.rounds.is_some_and(|rounds| rounds.done() != 0) {
            self.step();
        }
    }
}

impl Drop for Beside<'_> {
    fn drop(&mut self) {
        self.during(|steps| steps.settle());
        let Some(hash) = &mut self.hash else { return };
        if let Some(rounds) = &self.rounds {
            hash.state = rounds.state();
        }
        hash.blocks(self.blocks);
        hash.update(self.rest);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sha2::{Digest as _, Sha256};

    use super::*;

    fn expected(bytes: &[u8]) -> (u64, String) {
        let hash = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        (bytes.len() as u64, hash)
    }

    /// The examples of FIPS 180-2, appendix B.
    #[test]
    fn published_examples() {
        let of = |bytes: &[u8]| {
            let mut hash = Hash::default();
            hash.update(bytes);
            hash.finish().1
        };
        assert_eq!(of(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let two_blocks = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(of(two_blocks), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        let million = vec![b'a'; 1_000_000];
        assert_eq!(of(&million), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }

    #[test]
    fn what_was_not_seen_is_an_error() {
        let mut beside = HashBeside::of_nothing();
        drop(beside.chunk(b"half"));
        let digest = Digest { bytes: 8, sha256: None };
        assert_eq!(beside.complete(digest).unwrap_err().kind(), ErrorKind::Bug);
    }

    proptest! {
        /// However the input is cut, and however far its reader asks for steps.
        #[test]
        fn beside_is_as_before(chunks: Vec<(Vec<u8>, u8)>, long in 0usize..400, steps in 0usize..40) {
            let mut beside = HashBeside::of_nothing();
            let mut update = Hash::default();
            let long = (vec![b'x'; long], steps as u8);
            for (bytes, steps) in chunks.iter().chain([&long, &long]) {
                let mut chunk = beside.chunk(bytes);
                for step in 0..*steps {
                    chunk.during(|steps| match steps.block().filter(|_| step % 3 > 0) {
                        Some(block) => (0..=step % 4).for_each(|number| steps.quarter(number, block)),
                        None if step % 5 == 0 => steps.settle(),
                        None => steps.step(),
                    });
                }
                drop(chunk);
                update.update(bytes);
            }
            let all: Vec<u8> = chunks.iter().chain([&long, &long]).flat_map(|c| c.0.clone()).collect();
            let (bytes, sha256) = expected(&all);
            prop_assert_eq!(update.finish(), (bytes, sha256.clone()));
            let digest = Digest { bytes, sha256: None };
            prop_assert_eq!(beside.complete(digest).unwrap().sha256, Some(sha256));
        }
    }
}
