//! When a checkpoint is due. Each level folds eight pieces of the level below, so that a recording is written
//! once per level, and the log of n commits has at most seven pieces per level. Not how it is made (see
//! `fold`).

/// Pieces of one level that are one piece of the next.
pub(super) const FOLD: u64 = 8;

/// How many levels of checkpoints may end with this commit.
pub(super) fn levels(number: u64) -> u32 {
    if number == 0 {
        0
    } else {
        (1..).take_while(|level| number.is_multiple_of(FOLD.pow(*level))).count() as u32
    }
}

/// The level of the checkpoint that this commit completes, if it completes one.
pub(in crate::store) fn due_level(number: u64) -> Option<u32> {
    Some(levels(number)).filter(|level| *level > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_eighth_commit_completes_a_checkpoint() {
        let due: Vec<_> = [1, 7, 8, 9, 16, 63, 64, 72, 512, 1024].map(due_level).to_vec();
        let expected = [None, None, Some(1), None, Some(1), None, Some(2), Some(1), Some(3), Some(3)];
        assert_eq!(due, expected);
    }
}
