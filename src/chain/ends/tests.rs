//! Latencies by their definitions over whole lists, of the paths that `follow` finds.

use super::super::{Cause, Event, Follower, Instance, Outcome};
use super::*;

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// What a follower finds in random events of a chain of some steps, all of `Instance::Any`: stimuli,
/// responses with the stimulus that each shows, and latencies.
fn followed(seed: u64) -> (Vec<i64>, Vec<(i64, i64)>, Vec<Latency>) {
    let mut random = Random(seed);
    let steps = 2 + random.below(3) as usize;
    let mut follower = Follower::new(vec![Instance::Any; steps]);
    let (mut ends, mut found) = (Ends::default(), Vec::new());
    let (mut stimuli, mut responses, mut time) = (Vec::new(), Vec::new(), -5_i64);
    for _ in 0..random.below(60) {
        time += random.below(4) as i64;
        let step = random.below(steps as u64) as usize;
        if step == 0 {
            if stimuli.last() == Some(&time) {
                continue;
            }
            stimuli.push(time);
            ends.stimulus(time);
        }
        let mut out = Vec::new();
        let event =
            Event { step, time, process: None, instance: None, overlaps: false, cause: Cause::Latest };
        follower.push(event, &mut out);
        for way in out.iter().filter(|way| matches!(way.outcome, Outcome::Used | Outcome::Repeated)) {
            let end = *way.times.last().unwrap();
            responses.push((way.begin, end));
            ends.response(way.begin, end, &mut found);
        }
    }
    (stimuli, responses, found)
}

fn of(found: &[Latency], definition: Definition) -> Vec<(i64, i64)> {
    let of_it = found.iter().filter(|latency| latency.of == definition);
    of_it.map(|latency| (latency.begin, latency.end)).collect()
}

fn longest(latencies: &[(i64, i64)]) -> Option<i64> {
    latencies.iter().map(|(begin, end)| end - begin).max()
}

#[test]
fn they_are_what_the_definitions_say_and_reaction_is_age() {
    let (mut compared, mut greatest) = (0, 0);
    for seed in 0..10_000 {
        let (stimuli, responses, found) = followed(seed);
        let answer = |s: i64| responses.iter().find(|(shown, _)| *shown >= s).copied();
        let answered: Vec<_> = stimuli.iter().filter_map(|s| Some((*s, answer(*s)?))).collect();
        let first_to_first: Vec<_> = answered.iter().map(|(s, (_, r))| (*s, *r)).collect();
        assert_eq!(of(&found, Definition::FirstToFirst), first_to_first);
        assert_eq!(of(&found, Definition::LastToLast), responses);
        let news: Vec<_> =
            stimuli.iter().filter_map(|s| answer(*s).filter(|(shown, _)| shown == s)).collect();
        assert_eq!(of(&found, Definition::LastToFirst), news);
        // The first stimulus with the same answer as the one that is shown.
        let first = |shown: i64| answered.iter().find(|(_, (other, _))| *other == shown).unwrap().0;
        let first_to_last: Vec<_> = responses.iter().map(|(s, r)| (first(*s), *r)).collect();
        assert_eq!(of(&found, Definition::FirstToLast), first_to_last);

        // Forward, from each stimulus after the first one that is shown.
        let shown = responses.first().map_or(i64::MAX, |(s, _)| *s);
        let before = |s: i64| stimuli.iter().filter(|other| **other < s).max().copied().unwrap();
        let reactions = answered.iter().filter(|(s, _)| *s > shown).map(|(s, (_, r))| (before(*s), *r));
        let reactions: Vec<_> = reactions.collect();
        assert_eq!(of(&found, Definition::ReactionWithWait), reactions);
        // Backward, from each response with newer data to what was shown before.
        let ages: Vec<_> = news.windows(2).map(|pair| (pair[0].0, pair[1].1)).collect();
        assert_eq!(of(&found, Definition::AgeUntilReplaced), ages);

        assert_eq!(longest(&reactions), longest(&ages), "seed {seed}");
        compared += u32::from(!ages.is_empty());
        greatest = longest(&ages).unwrap_or(0).max(greatest);
    }
    assert!(compared > 5000 && greatest > 30, "{compared} {greatest}");
}

#[test]
fn one_group_by_hand() {
    let (mut ends, mut found) = (Ends::default(), Vec::new());
    for time in [0, 10, 20] {
        ends.stimulus(time);
    }
    ends.response(10, 13, &mut found);
    ends.response(10, 18, &mut found);
    for time in [30, 40] {
        ends.stimulus(time);
    }
    ends.response(40, 41, &mut found);
    let of = |definition| of(&found, definition);
    assert_eq!(of(Definition::FirstToFirst), [(0, 13), (10, 13), (20, 41), (30, 41), (40, 41)]);
    assert_eq!(of(Definition::LastToLast), [(10, 13), (10, 18), (40, 41)]);
    assert_eq!(of(Definition::FirstToLast), [(0, 13), (0, 18), (20, 41)]);
    assert_eq!(of(Definition::LastToFirst), [(10, 13), (40, 41)]);
    // Right after 10 something happened that 20 took; the response to it is at 41. Until then 10 was shown.
    assert_eq!(of(Definition::ReactionWithWait), [(10, 41), (20, 41), (30, 41)]);
    assert_eq!(of(Definition::AgeUntilReplaced), [(10, 41)]);
}

#[test]
fn a_cut_ends_groups_and_older_responses_are_ages_only() {
    let (mut ends, mut found) = (Ends::default(), Vec::new());
    ends.stimulus(i64::MIN);
    ends.response(i64::MIN, i64::MAX, &mut found);
    assert_eq!(of(&found, Definition::LastToLast), [(i64::MIN, i64::MAX)]);
    ends.cut();
    found.clear();
    // Two stimuli of one tick are one: a second response that shows the other is no news.
    for time in [1, 2, 2] {
        ends.stimulus(time);
    }
    ends.response(2, 4, &mut found);
    ends.response(2, 5, &mut found);
    ends.response(1, 6, &mut found);
    assert_eq!(of(&found, Definition::LastToLast), [(2, 4), (2, 5), (1, 6)]);
    assert_eq!(of(&found, Definition::FirstToLast), [(1, 4), (1, 5)]);
    assert_eq!(of(&found, Definition::LastToFirst), [(2, 4)]);
    assert!(of(&found, Definition::ReactionWithWait).is_empty(), "{found:?}");
    assert!(of(&found, Definition::AgeUntilReplaced).is_empty(), "{found:?}");
}
