//! Who goes before whom, as far as a recording shows it: for processes whose priorities nobody describes.
//! Not numbers for priorities (see `reconstruct::priorities`): two processes that never met have no order
//! here, so that each is taken to delay the other one.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A process of a system: an index of the list of all.
pub type ProcessId = usize;

/// Of more processes no order is made: it has a place for each two of them.
const MOST: usize = 4096;

/// The place of a process in an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Which process.
    pub process: ProcessId,
    /// The order of all.
    pub order: Arc<Order>,
}

/// Which processes have a higher priority than others. With fixed priorities that is an order: what follows
/// from two observations is part of it. Observations that contradict each other say nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct Order {
    /// By process: all that it is above.
    below: Vec<BTreeSet<ProcessId>>,
}

impl Order {
    /// The order that follows from whom each process passed; `None` if nothing was seen. One with the lower
    /// priority cannot take the core from another one, nor start before one that has been ready for longer;
    /// so each such observation counts.
    pub fn seen(passed: &[BTreeSet<ProcessId>]) -> Option<Arc<Self>> {
        if passed.len() > MOST || passed.iter().all(BTreeSet::is_empty) {
            return None;
        }
        let below = (0..passed.len()).map(|from| reached(passed, from)).collect();
        Some(Arc::new(Self { below }))
    }

    /// How the priority of one compares to that of the other one, as far as was seen.
    pub fn compare(&self, one: ProcessId, other: ProcessId) -> Option<Ordering> {
        let is_above = |high: ProcessId, low| self.below.get(high).is_some_and(|below| below.contains(&low));
        match (is_above(one, other), is_above(other, one)) {
            (true, false) => Some(Ordering::Greater),
            (false, true) => Some(Ordering::Less),
            _ => None,
        }
    }
}

/// All that a process is above, directly or not.
fn reached(passed: &[BTreeSet<ProcessId>], from: ProcessId) -> BTreeSet<ProcessId> {
    let (mut all, mut to_do) = (BTreeSet::new(), vec![from]);
    while let Some(next) = to_do.pop() {
        for low in passed.get(next).into_iter().flatten() {
            if all.insert(*low) {
                to_do.push(*low);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(seen: &[(ProcessId, ProcessId)]) -> Option<Arc<Order>> {
        let mut passed = vec![BTreeSet::new(); 4];
        for (high, low) in seen {
            passed[*high].insert(*low);
        }
        Order::seen(&passed)
    }

    #[test]
    fn what_follows_from_two_observations_is_known() {
        let order = order(&[(0, 1), (1, 2)]).unwrap();
        assert_eq!(order.compare(0, 2), Some(Ordering::Greater));
        assert_eq!(order.compare(2, 0), Some(Ordering::Less));
        assert_eq!((order.compare(0, 3), order.compare(1, 1)), (None, None), "they never met");
    }

    #[test]
    fn what_is_contradicted_is_not_known() {
        let order = order(&[(0, 1), (1, 2), (2, 0), (2, 3)]).unwrap();
        assert_eq!((order.compare(0, 1), order.compare(0, 2), order.compare(1, 2)), (None, None, None));
        assert_eq!(order.compare(0, 3), Some(Ordering::Greater));
    }

    #[test]
    fn nothing_seen_is_no_order() {
        assert!(order(&[]).is_none());
    }
}
