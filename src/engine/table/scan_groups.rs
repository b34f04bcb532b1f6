//! Which files a scan reads, in which order, and which of them one thread reads one after the other, so that
//! the rows of a thread stay sorted. Not for opening the files.

/// What the grouping needs to know of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// Files of one stream of rows (recording, and core where the table has one) have the same number.
    pub stream: usize,
    /// Least and greatest value of the first sort column; `None` for an unsorted table or an empty file.
    pub bounds: Option<(i64, i64)>,
    pub bytes: u64,
}

/// Groups of files (by index), and whether the rows of every group are sorted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Groups {
    /// Each is read by one thread, in this order.
    pub groups: Vec<Vec<usize>>,
    /// True when each group is in the sort order of its table.
    pub sorted: bool,
}

/// Maximum number of sorted groups per thread: every group keeps a file open during the merge.
const GROUPS_PER_THREAD: usize = 16;

/// Groups `parts` for `threads` threads; keeps streams together if `sorted` (every file is sorted).
///
/// Files of one stream follow each other in a group if the first sort value of the later one is greater than
/// the last of the earlier one. If they overlap or touch, the later one begins a group of its own.
pub(super) fn group(parts: &[Part], threads: usize, sorted: bool) -> Groups {
    if sorted {
        let mut groups = chains(parts);
        if groups.len() <= threads.max(1) * GROUPS_PER_THREAD {
            split_longest(&mut groups, threads);
            return Groups { groups, sorted: true };
        }
    }
    Groups { groups: evenly(parts, threads), sorted: false }
}

fn chains(parts: &[Part]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    let key = |i: &usize| parts.get(*i).map(|p| (p.stream, p.bounds));
    order.sort_by_key(key);
    let mut chains: Vec<Vec<usize>> = Vec::new();
    let mut end: Option<(usize, i64)> = None;
    for i in order {
        let Some(part) = parts.get(i) else { continue };
        let follows = matches!((end, part.bounds), (Some((stream, end)), Some((begin, _)))
            if stream == part.stream && end < begin);
        match chains.last_mut() {
            Some(chain) if follows => chain.push(i),
            _ => chains.push(vec![i]),
        }
        end = part.bounds.map(|(_, last)| (part.stream, last));
    }
    chains
}

/// Halves the longest chains until every thread has one; the engine splits a single file by byte ranges.
fn split_longest(groups: &mut Vec<Vec<usize>>, threads: usize) {
    while groups.len() < threads {
        let Some(longest) = groups.iter_mut().max_by_key(|g| g.len()).filter(|g| g.len() > 1) else { return };
        let tail = longest.split_off(longest.len() / 2);
        groups.push(tail);
    }
}

/// Consecutive files, with about the same number of bytes in each group.
fn evenly(parts: &[Part], threads: usize) -> Vec<Vec<usize>> {
    let total: u64 = parts.iter().map(|p| p.bytes).sum();
    let share = (total / threads.max(1) as u64).max(1);
    let (mut groups, mut bytes) = (Vec::<Vec<usize>>::new(), 0);
    for (i, part) in parts.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if bytes < share => group.push(i),
            _ => {
                groups.push(vec![i]);
                bytes = 0;
            }
        }
        bytes += part.bytes;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(stream: usize, begin: i64, end: i64) -> Part {
        Part { stream, bounds: Some((begin, end)), bytes: 10 }
    }

    #[test]
    fn consecutive_parts_of_a_stream_are_one_group() {
        let parts = [part(1, 20, 29), part(0, 0, 9), part(0, 10, 19), part(1, 30, 39)];
        assert_eq!(group(&parts, 2, true), Groups { groups: vec![vec![1, 2], vec![0, 3]], sorted: true });
    }

    #[test]
    fn overlapping_or_touching_parts_begin_a_new_group() {
        let parts = [part(0, 0, 10), part(0, 10, 20), part(0, 15, 30), part(0, 31, 40)];
        assert_eq!(group(&parts, 1, true).groups, [vec![0], vec![1], vec![2, 3]]);
    }

    #[test]
    fn long_chains_are_split_for_more_threads() {
        let parts: Vec<_> = (0..4).map(|i| part(0, i * 10, i * 10 + 9)).collect();
        assert_eq!(group(&parts, 2, true).groups, [vec![0, 1], vec![2, 3]]);
        assert_eq!(group(&parts[..1], 2, true).groups, [vec![0]]);
    }

    #[test]
    fn too_many_streams_are_not_kept_sorted() {
        let parts: Vec<_> = (0..100).map(|i| part(i, 0, 9)).collect();
        let g = group(&parts, 2, true);
        assert!(!g.sorted && g.groups.len() == 2, "{g:?}");
        assert_eq!(g.groups.concat(), (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn no_parts_no_groups() {
        assert_eq!(group(&[], 2, true).groups, Vec::<Vec<usize>>::new());
        assert_eq!(group(&[], 0, false).groups, Vec::<Vec<usize>>::new());
    }
}
