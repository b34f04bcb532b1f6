//! Chains of events: which last step follows from which first one. Every step has to do with the latest event of the step
//! before it, as a reader of a signal gets the latest write. Not for finding the events.

/// How long one occurrence of a chain took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Latency {
    /// Time of the first step.
    pub begin: i64,
    /// Time of the last step.
    pub end: i64,
}

/// What became of all occurrences of a chain.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Paths {
    /// For each first step, the first last step that follows from it or from a later first step: what an observer waits for.
    pub reactions: Vec<Latency>,
    /// For each last step, the first step that it follows from.
    pub ages: Vec<Latency>,
    /// First steps of which no last step is the consequence: another one came before they were taken up.
    pub lost: u64,
    /// Last steps that follow from the same first step as the last step before.
    pub repeated: u64,
}

/// When an event happened, and its number, which orders events of one instant.
pub(super) type Moment = (i64, i64);

/// `steps`: the events of every step, ascending.
pub(super) fn paths(steps: &[Vec<Moment>]) -> Paths {
    let mut paths = Paths::default();
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else { return paths };
    // For each event of the step at hand, the number of the first step that it follows from.
    let mut origins: Vec<Option<usize>> = (0..first.len()).map(Some).collect();
    for pair in steps.windows(2) {
        let [before, step] = pair else { continue };
        let latest = |event: &Moment| before.partition_point(|b| b < event).checked_sub(1);
        origins =
            step.iter().map(|event| latest(event).and_then(|n| origins.get(n).copied().flatten())).collect();
    }
    let mut previous = None;
    let mut waiting = 0;
    for ((end, _), origin) in last.iter().zip(&origins) {
        let Some(origin) = *origin else { continue };
        let Some((begin, _)) = first.get(origin) else { continue };
        paths.ages.push(Latency { begin: *begin, end: *end });
        if previous == Some(origin) {
            paths.repeated += 1;
            continue;
        }
        // Origins never fall: all first steps up to this one have had their answer now.
        let answered = first.get(waiting..=origin).unwrap_or_default();
        paths.reactions.extend(answered.iter().map(|(begin, _)| Latency { begin: *begin, end: *end }));
        paths.lost += (origin - waiting) as u64;
        waiting = origin + 1;
        previous = Some(origin);
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latencies(of: &[Latency]) -> Vec<(i64, i64)> {
        of.iter().map(|l| (l.begin, l.end)).collect()
    }

    fn paths(steps: &[Vec<i64>]) -> Paths {
        let numbered = |times: &Vec<i64>| times.iter().copied().zip(0..).collect();
        super::paths(&steps.iter().map(numbered).collect::<Vec<_>>())
    }

    #[test]
    fn events_of_one_instant_follow_from_each_other_in_their_order() {
        let after = super::paths(&[vec![(5, 1)], vec![(5, 2)]]);
        assert_eq!((latencies(&after.ages), after.lost), (vec![(5, 5)], 0));
        assert_eq!(super::paths(&[vec![(5, 2)], vec![(5, 1)]]), Paths::default());
    }

    #[test]
    fn each_step_takes_the_latest_of_the_step_before() {
        // Sensor every 10, filter every 15, actuator every 20.
        let paths = paths(&[vec![0, 10, 20, 30], vec![5, 21, 35], vec![6, 26, 46, 66]]);
        // 6 <- 5 <- 0; 26 <- 21 <- 20; 46 <- 35 <- 30; 66 <- 35 <- 30.
        assert_eq!(latencies(&paths.ages), [(0, 6), (20, 26), (30, 46), (30, 66)]);
        assert_eq!(latencies(&paths.reactions), [(0, 6), (10, 26), (20, 26), (30, 46)]);
        assert_eq!((paths.lost, paths.repeated), (1, 1));
    }

    #[test]
    fn what_has_no_cause_or_no_effect_is_left_out() {
        let paths = paths(&[vec![10, 50], vec![5, 12], vec![6, 13]]);
        assert_eq!((latencies(&paths.ages), latencies(&paths.reactions)), (vec![(10, 13)], vec![(10, 13)]));
        assert_eq!((paths.lost, paths.repeated), (0, 0), "nobody knows what becomes of 50");
        assert_eq!(super::paths(&[vec![], vec![(1, 1)]]), Paths::default());
    }
}
