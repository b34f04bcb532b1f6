//! Scans whose files differ much in size: large files are split, so that all threads have about as much to
//! read. The rows of each group stay in order. Not for scans that several threads read in one order (see
//! `in_order`).

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::ExecutionPlan;

/// Fewer bytes than this, about a row group, are not worth a group of their own.
const MIN_GROUP_BYTES: i64 = 8 << 20;

/// DataFusion does this itself only for rows without an order.
pub(super) fn balance_scans(plan: Arc<dyn ExecutionPlan>, threads: usize) -> Result<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        let found = balanced(&node, threads);
        Ok(found.map_or_else(|| Transformed::no(node), Transformed::yes))
    })
    .data()
}

fn balanced(plan: &Arc<dyn ExecutionPlan>, threads: usize) -> Option<Arc<dyn ExecutionPlan>> {
    let source = plan.downcast_ref::<DataSourceExec>().map(DataSourceExec::data_source);
    let config = source.and_then(|s| s.downcast_ref::<FileScanConfig>())?;
    // A stated partitioning is there for a reason.
    if config.limit.is_some() || config.output_partitioning.is_some() {
        return None;
    }
    let groups = split(&config.file_groups, threads, MIN_GROUP_BYTES)?;
    let config = FileScanConfigBuilder::from(config.clone()).with_file_groups(groups).build();
    Some(DataSourceExec::from_data_source(config))
}

/// The groups, with large ones split into pieces of one thread's share; `None` if there are none.
fn split(groups: &[FileGroup], threads: usize, least: i64) -> Option<Vec<FileGroup>> {
    let total: i64 = groups.iter().flat_map(FileGroup::iter).map(|file| length(bounds(file))).sum();
    let share = (total / i64::try_from(threads).ok()?.max(1)).max(least);
    let mut pieces = Vec::new();
    for group in groups {
        let (mut piece, mut bytes) = (Vec::new(), 0);
        let mut left: i64 = group.iter().map(|file| length(bounds(file))).sum();
        for file in group.iter() {
            let (mut begin, end) = bounds(file);
            // A piece ends where it is full, unless next to nothing would remain.
            while left > share - bytes + least / 2 && end - begin > share - bytes {
                let cut = begin + share - bytes;
                if cut > begin {
                    piece.push(file.clone().with_range(begin, cut));
                }
                pieces.push(FileGroup::new(std::mem::take(&mut piece)));
                left -= cut - begin;
                (begin, bytes) = (cut, 0);
            }
            piece.push(match begin == bounds(file).0 {
                true => file.clone(),
                false => file.clone().with_range(begin, end),
            });
            bytes += end - begin;
            left -= end - begin;
        }
        pieces.push(FileGroup::new(piece));
    }
    (pieces.len() > groups.len()).then_some(pieces)
}

/// The bytes of a file that are read: row groups that begin there.
fn bounds(file: &PartitionedFile) -> (i64, i64) {
    let size = i64::try_from(file.object_meta.size).unwrap_or(i64::MAX);
    file.range.as_ref().map_or((0, size), |range| (range.start, range.end))
}

fn length((begin, end): (i64, i64)) -> i64 {
    (end - begin).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn groups(of: &[&[u64]]) -> Vec<FileGroup> {
        let mut number = 0;
        let mut file = |size: &u64| {
            number += 1;
            PartitionedFile::new(format!("{number}"), *size)
        };
        of.iter().map(|sizes| FileGroup::new(sizes.iter().map(&mut file).collect())).collect()
    }

    fn shown(groups: &[FileGroup]) -> Vec<Vec<(String, i64, i64)>> {
        let file = |f: &PartitionedFile| {
            let (begin, end) = bounds(f);
            (f.object_meta.location.to_string(), begin, end)
        };
        groups.iter().map(|g| g.iter().map(file).collect()).collect()
    }

    #[test]
    fn a_large_file_next_to_a_small_one_is_cut() {
        let piece = |name: &str, begin, end| (name.to_owned(), begin, end);
        let split = split(&groups(&[&[134], &[6]]), 2, 8).unwrap();
        assert_eq!(
            shown(&split),
            [vec![piece("1", 0, 70)], vec![piece("1", 70, 134)], vec![piece("2", 0, 6)]]
        );
    }

    #[test]
    fn what_is_balanced_or_small_stays() {
        assert!(split(&groups(&[&[70], &[66]]), 2, 8).is_none());
        assert!(split(&groups(&[&[7], &[1]]), 2, 8).is_none());
        assert!(split(&groups(&[&[30, 40], &[66]]), 1, 8).is_none());
        assert!(split(&[], 2, 8).is_none());
    }

    proptest! {
        #[test]
        fn every_byte_is_read_once_and_in_order(
            sizes in prop::collection::vec(prop::collection::vec(0u64..200, 1..4), 1..5),
            threads in 1usize..5,
        ) {
            let of: Vec<&[u64]> = sizes.iter().map(Vec::as_slice).collect();
            let before = groups(&of);
            if let Some(after) = split(&before, threads, 16) {
                let total: u64 = sizes.iter().flatten().sum();
                let share = (total as i64 / threads as i64).max(16);
                let mut joined: Vec<(String, i64, i64)> = Vec::new();
                for group in shown(&after) {
                    prop_assert!(!group.is_empty());
                    prop_assert!(group.iter().map(|p| p.2 - p.1).sum::<i64>() <= share + 8);
                    for piece in group {
                        match joined.last_mut() {
                            Some(last) if last.0 == piece.0 => {
                                prop_assert_eq!(last.2, piece.1);
                                last.2 = piece.2;
                            }
                            _ => joined.push(piece),
                        }
                    }
                }
                prop_assert_eq!(joined, shown(&before).concat());
            }
        }
    }
}
