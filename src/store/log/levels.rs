//! When a checkpoint is due. Each level folds eight pieces of the level below, so that a recording is written
//! once per level, and the log of n commits has at most seven pieces per level. Not how it is made (see
//! `fold`).

use crate::store::layout::{LAST_COMMIT, LogFile};

/// Pieces of one level that are one piece of the next.
pub(super) const FOLD: u64 = 8;

/// How many levels of checkpoints may end with this commit.
pub(in crate::store) fn levels(number: u64) -> u32 {
    if number == 0 {
        0
    } else {
        // Eight is two to the power of three.
        number.trailing_zeros() / FOLD.ilog2()
    }
}

/// Bytes of a commit that is read as a whole. A larger one, of many recordings, has a checkpoint of its own,
/// of level 0, so that one of them is found without the others.
pub(super) const SMALL: u64 = 32 << 10;

/// The levels of the checkpoints that are due after a commit of so many bytes.
pub(in crate::store) fn due_levels(number: u64, bytes: usize) -> impl Iterator<Item = u32> {
    let own = (bytes as u64 > SMALL).then_some(0);
    own.into_iter().chain(Some(levels(number)).filter(|level| *level > 0))
}

/// The checkpoints that fold a file of the log with others, the smallest, which is the earliest, first.
pub(in crate::store) fn folded_in(file: LogFile) -> impl Iterator<Item = LogFile> {
    let next = file.level.unwrap_or(0).saturating_add(1);
    (next..=u64::BITS).map_while(move |level| {
        let fold = FOLD.checked_pow(level)?;
        let number = file.number.div_ceil(fold).checked_mul(fold).filter(|number| *number <= LAST_COMMIT)?;
        Some(LogFile { number, level: Some(level) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_folded_in_the_checkpoints_of_its_commits() {
        let of = |number, level| {
            let all = folded_in(LogFile { number, level }).map(|file| (file.number, file.level.unwrap()));
            all.take(3).collect::<Vec<_>>()
        };
        assert_eq!(of(1, None), [(8, 1), (64, 2), (512, 3)]);
        assert_eq!(of(8, None), [(8, 1), (64, 2), (512, 3)]);
        assert_eq!(of(9, Some(0)), [(16, 1), (64, 2), (512, 3)]);
        assert_eq!(of(64, Some(1)), [(64, 2), (512, 3), (4096, 4)]);
        assert_eq!(of(72, Some(1)), [(128, 2), (512, 3), (4096, 4)]);
        assert_eq!(of(LAST_COMMIT, Some(u32::MAX)), []);
        assert!(folded_in(LogFile { number: LAST_COMMIT, level: None }).count() < 64);
    }

    #[test]
    fn each_eighth_commit_completes_a_checkpoint() {
        let due =
            |bytes| [1, 7, 8, 9, 16, 63, 64, 72, 512, 1024].map(|n| due_levels(n, bytes).collect::<Vec<_>>());
        let none = Vec::new;
        let expected = [none(), none(), vec![1], none(), vec![1], none(), vec![2], vec![1], vec![3], vec![3]];
        assert_eq!(due(2000), expected);
        assert_eq!(due(40_000), expected.map(|levels| [vec![0], levels].concat()));
    }
}
