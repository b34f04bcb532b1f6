//! When a checkpoint is due. Each level folds eight pieces of the level below, so that a recording is written
//! once per level, and the log of n commits has at most seven pieces per level. Not how it is made (see
//! `fold`).

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

#[cfg(test)]
mod tests {
    use super::*;

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
