//! Deals recordings to tasks, so that each has about as many bytes. Not what a task does.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::store::Recording;
use std::sync::Arc;

/// The names of the recordings for each of `tasks` tasks, or less if there are not as many recordings: the
/// largest first, each to the task that has the least bytes.
pub(super) fn deal(recordings: &[Arc<Recording>], tasks: usize) -> Vec<Vec<String>> {
    let sized: Vec<_> = recordings.iter().map(|r| (r.name.clone(), r.bytes())).collect();
    deal_by_bytes(&sized, tasks)
}

/// The same, of names with so many bytes each.
pub(super) fn deal_by_bytes(all: &[(String, u64)], tasks: usize) -> Vec<Vec<String>> {
    let tasks = tasks.clamp(1, all.len().max(1));
    let mut by_size: Vec<(u64, usize)> = all.iter().map(|(_, bytes)| *bytes).zip(0..).collect();
    by_size.sort_by_key(|(bytes, place)| (Reverse(*bytes), *place));
    let mut loads: BinaryHeap<Reverse<(u64, usize, usize)>> =
        (0..tasks).map(|n| Reverse((0, 0, n))).collect();
    let mut shares = vec![Vec::new(); tasks];
    for (bytes, place) in by_size {
        let Some(Reverse((load, count, task))) = loads.pop() else { break };
        shares[task].push(place);
        loads.push(Reverse((load + bytes, count + 1, task)));
    }
    let names = |mut share: Vec<usize>| {
        share.sort_unstable();
        share.into_iter().filter_map(|place| all.get(place)).map(|(name, _)| name.clone()).collect()
    };
    shares.into_iter().map(names).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_about_the_same_bytes() {
        let sized: Vec<_> = (0..100u64).map(|n| (format!("r{n:02}"), (n * 7919) % 1000)).collect();
        let shares = deal_by_bytes(&sized, 7);
        let bytes = |share: &Vec<String>| {
            share.iter().map(|name| sized.iter().find(|(n, _)| n == name).unwrap().1).sum::<u64>()
        };
        let loads: Vec<u64> = shares.iter().map(bytes).collect();
        assert!(loads.iter().max().unwrap() - loads.iter().min().unwrap() < 100, "{loads:?}");
        let mut names = shares.concat();
        names.sort();
        assert_eq!(names, sized.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
        assert!(shares.iter().all(|share| share.is_sorted()), "in the order of the database");
        assert_eq!(deal_by_bytes(&sized[..2], 7).len(), 2);
        assert_eq!(deal_by_bytes(&[], 7), [Vec::<String>::new()]);
    }
}
