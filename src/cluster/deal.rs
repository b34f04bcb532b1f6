//! Deals recordings to tasks, so that each has about as many bytes, and few places of the log to look into.
//! Not what a task does.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::store::Recording;
use std::sync::Arc;

/// What is dealt is a run of recordings whose names follow each other, as in the log; a run has this part of
/// the bytes of a task, or is one recording.
const PART_OF_TASK: u64 = 4;

/// The names of the recordings for each of `tasks` tasks, or less if there are not as many recordings: the
/// largest runs first, each to the task that has the least bytes.
pub(super) fn deal(recordings: &[Arc<Recording>], tasks: usize) -> Vec<Vec<String>> {
    let sized: Vec<_> = recordings.iter().map(|r| (r.name.clone(), r.bytes())).collect();
    deal_by_bytes(&sized, tasks)
}

/// The same, of names with so many bytes each.
pub(super) fn deal_by_bytes(all: &[(String, u64)], tasks: usize) -> Vec<Vec<String>> {
    let tasks = tasks.clamp(1, all.len().max(1));
    let mut runs = runs(all, tasks);
    runs.sort_by_key(|(bytes, run)| (Reverse(*bytes), run.first().copied()));
    let mut loads: BinaryHeap<Reverse<(u64, usize, usize)>> =
        (0..tasks).map(|n| Reverse((0, 0, n))).collect();
    let mut shares = vec![Vec::new(); tasks];
    for (bytes, run) in runs {
        let Some(Reverse((load, count, task))) = loads.pop() else { break };
        loads.push(Reverse((load + bytes, count + run.len(), task)));
        shares[task].extend(run);
    }
    let names = |mut share: Vec<usize>| {
        share.sort_unstable();
        share.into_iter().filter_map(|place| all.get(place)).map(|(name, _)| name.clone()).collect()
    };
    shares.into_iter().map(names).collect()
}

/// Runs of places, with their bytes, at least as many as tasks.
fn runs(all: &[(String, u64)], tasks: usize) -> Vec<(u64, Vec<usize>)> {
    let mut by_name: Vec<usize> = (0..all.len()).collect();
    by_name.sort_by_key(|place| &all[*place].0);
    let total: u64 = all.iter().map(|(_, bytes)| bytes).sum();
    let least = total / (tasks as u64 * PART_OF_TASK);
    let mut runs: Vec<(u64, Vec<usize>)> = Vec::new();
    for place in by_name {
        let bytes = all[place].1;
        match runs.last_mut() {
            Some((sum, run)) if *sum + bytes <= least => {
                *sum += bytes;
                run.push(place);
            }
            _ => runs.push((bytes, vec![place])),
        }
    }
    runs
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
        assert!(loads.iter().max().unwrap() - loads.iter().min().unwrap() < 2000, "{loads:?}");
        let mut names = shares.concat();
        names.sort();
        assert_eq!(names, sized.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
        assert!(shares.iter().all(|share| share.is_sorted()), "in the order of the database");
        let number = |name: &String| name[1..].parse::<usize>().unwrap();
        let begins = |share: &Vec<String>| {
            1 + share.windows(2).filter(|pair| number(&pair[0]) + 1 != number(&pair[1])).count()
        };
        let runs: usize = shares.iter().map(begins).sum();
        assert!(runs <= 7 * 6, "{runs} runs");
        assert_eq!(deal_by_bytes(&sized[..2], 7).len(), 2);
        assert_eq!(deal_by_bytes(&[], 7), [Vec::<String>::new()]);
    }
}
