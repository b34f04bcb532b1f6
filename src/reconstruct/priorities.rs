//! Who goes first → numbers for priorities. Not how that is seen in events (see `contention`).

use std::collections::{BTreeMap, BTreeSet};

/// A task in the order: any number that names it.
pub type Node = usize;

/// More tasks that meet are no system with priorities; an order of all of them would take too long.
const MOST_NODES: usize = 400;

/// What is known about the order of the tasks of one core: how often one went before another.
#[derive(Debug, Clone, Default)]
pub struct Order {
    /// The first one took the core from the second one, or passed it.
    pub wins: BTreeMap<(Node, Node), u64>,
    /// The first one kept the core, although the second one was ready.
    pub stays: BTreeMap<(Node, Node), u64>,
}

/// What the order says about one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rank {
    /// From 1; a higher one runs first.
    pub priority: u32,
    /// Contention that agree with it.
    pub agree: u64,
    /// Contention that do not.
    pub differ: u64,
}

impl Order {
    /// Priorities of so many tasks: as few different ones as what was seen allows. Of observations that
    /// contradict each other the more frequent ones count; who takes a core says more than who keeps it.
    pub fn ranks(&self, tasks: usize) -> Vec<Rank> {
        let met: BTreeSet<Node> =
            self.wins.keys().chain(self.stays.keys()).flat_map(|(high, low)| [*high, *low]).collect();
        if met.len() > MOST_NODES {
            return vec![Rank { priority: 1, ..Rank::default() }; tasks];
        }
        let numbers: BTreeMap<Node, Node> = met.iter().enumerate().map(|(ix, task)| (*task, ix)).collect();
        let number = |task: Node| numbers.get(&task).copied().unwrap_or(0);
        let mut above = Above::new(met.len());
        for edges in [&self.wins, &self.stays] {
            // The other way round must be seen less often.
            let mut clear: Vec<(u64, Node, Node)> = edges
                .iter()
                .map(|((high, low), times)| {
                    let back = edges.get(&(*low, *high)).copied().unwrap_or(0);
                    (times.saturating_sub(back), *high, *low)
                })
                .filter(|(margin, ..)| *margin > 0)
                .collect();
            clear.sort_unstable_by(|a, b| b.0.cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
            for (_, high, low) in clear {
                above.add(number(high), number(low));
            }
        }
        let of_met = above.levels();
        let level = |task: Node| numbers.get(&task).and_then(|ix| of_met.get(*ix)).copied().unwrap_or(1);
        let levels: Vec<u32> = (0..tasks).map(level).collect();
        let mut ranks: Vec<Rank> =
            levels.iter().map(|priority| Rank { priority: *priority, ..Rank::default() }).collect();
        for (edges, strict) in [(&self.wins, true), (&self.stays, false)] {
            for ((high, low), times) in edges {
                let fits = if strict { level(*high) > level(*low) } else { level(*high) >= level(*low) };
                for task in [high, low] {
                    if let Some(rank) = ranks.get_mut(*task) {
                        *if fits { &mut rank.agree } else { &mut rank.differ } += times;
                    }
                }
            }
        }
        ranks
    }
}

/// A relation without cycles: who is above whom.
struct Above {
    tasks: usize,
    below: Vec<bool>,
}

impl Above {
    fn new(tasks: usize) -> Self {
        Self { tasks, below: vec![false; tasks.saturating_mul(tasks)] }
    }

    fn has(&self, high: Node, low: Node) -> bool {
        self.below.get(high * self.tasks + low) == Some(&true)
    }

    /// Adds a pair and what follows from it, unless the contrary is known.
    fn add(&mut self, high: Node, low: Node) {
        if high == low
            || high >= self.tasks
            || low >= self.tasks
            || self.has(low, high)
            || self.has(high, low)
        {
            return;
        }
        let over: Vec<Node> = (0..self.tasks).filter(|task| *task == high || self.has(*task, high)).collect();
        let under: Vec<Node> = (0..self.tasks).filter(|task| *task == low || self.has(low, *task)).collect();
        for high in &over {
            for low in &under {
                if let Some(known) = self.below.get_mut(high * self.tasks + low) {
                    *known = true;
                }
            }
        }
    }

    /// One more than the highest one below.
    fn levels(&self) -> Vec<u32> {
        let mut levels = vec![1u32; self.tasks];
        for _ in 0..self.tasks {
            let before = levels.clone();
            for high in 0..self.tasks {
                let under = (0..self.tasks).filter(|low| self.has(high, *low));
                let highest = under.filter_map(|low| levels.get(low)).max().map_or(1, |level| level + 1);
                if let Some(level) = levels.get_mut(high) {
                    *level = highest;
                }
            }
            if levels == before {
                break;
            }
        }
        levels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn priorities(wins: &[(Node, Node, u64)], stays: &[(Node, Node, u64)], tasks: usize) -> Vec<u32> {
        let map = |edges: &[(Node, Node, u64)]| edges.iter().map(|(a, b, n)| ((*a, *b), *n)).collect();
        let order = Order { wins: map(wins), stays: map(stays) };
        order.ranks(tasks).iter().map(|rank| rank.priority).collect()
    }

    #[test]
    fn the_order_follows_the_meetings() {
        assert_eq!(priorities(&[(0, 1, 5), (1, 2, 3)], &[], 4), [3, 2, 1, 1]);
        // Who is never interrupted by a ready task is above it.
        assert_eq!(priorities(&[], &[(2, 0, 3)], 3), [1, 1, 2]);
        // A task that cannot be preempted keeps the core, and is below all the same.
        assert_eq!(priorities(&[(0, 1, 2)], &[(1, 0, 9)], 2), [2, 1]);
    }

    #[test]
    fn of_contradictions_the_more_frequent_ones_count() {
        assert_eq!(priorities(&[(0, 1, 5), (1, 0, 2)], &[], 2), [2, 1]);
        assert_eq!(priorities(&[(0, 1, 2), (1, 0, 2)], &[], 2), [1, 1]);
        assert_eq!(priorities(&[(0, 1, 5), (1, 2, 4), (2, 0, 1)], &[], 3), [3, 2, 1]);
        let order = Order { wins: [((0, 1), 5), ((1, 0), 2)].into(), ..Order::default() };
        assert_eq!(
            order.ranks(2),
            [Rank { priority: 2, agree: 5, differ: 2 }, Rank { priority: 1, agree: 5, differ: 2 }]
        );
    }
}
