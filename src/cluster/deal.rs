//! Deals recordings to tasks, so that each has about as many bytes. Not what a task does.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::store::Recording;
use std::sync::Arc;

/// The names of the recordings for each of `tasks` tasks, or less if there are not as many recordings: the
/// largest first, each to the task that has the least bytes.
pub(super) fn deal(recordings: &[Arc<Recording>], tasks: usize) -> Vec<Vec<String>> {
    let tasks = tasks.clamp(1, recordings.len().max(1));
    let mut by_size: Vec<(u64, usize)> =
        recordings.iter().map(|recording| recording.bytes()).zip(0..).collect();
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
        share.into_iter().filter_map(|place| recordings.get(place)).map(|r| r.name.clone()).collect()
    };
    shares.into_iter().map(names).collect()
}
