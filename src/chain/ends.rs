//! How long a chain takes, by which of its first and last steps are looked at: first to first, last to last,
//! first to last, last to first. One pass. Not for what follows from what (see `follow`).
//!
//! A *stimulus* is a first step, a *response* a last step; a response *shows* the stimulus that it follows
//! from. A stimulus is *answered by* the first response that shows it or a later one. Stimuli that one
//! response answers are a *group*: the last of them is shown, the others were overwritten. Then for a group
//! with stimuli `s1 <= … <= sn` and responses `r1 <= … <= rm`, which show `sn`:
//!
//! | name | samples | also called |
//! |---|---|---|
//! | first to first | `r1 - si`, one per stimulus; `r1 - s1` is the longest | reaction |
//! | last to last | `rj - sn`, one per response; `rm - sn` is the longest | data age |
//! | last to first | `r1 - sn`, one per group | |
//! | first to last | `rj - s1`, one per response | |
//! | reaction with wait | `r1 - s`, `s` the stimulus before `si`; one per stimulus | maximum reaction time |
//! | age until replaced | `r - sn`, `r` the first response of the next group; one per group | maximum data age |
//!
//! The names of the first four are those of Feiertag et al., *A Compositional Framework for End-to-End Path
//! Delay Calculation of Automotive Systems under Different Path Semantics* (2008). The last two begin with
//! what happened right after a stimulus was taken, and had to wait for the next one; and end right before a
//! response is replaced by one with newer data. They are of complete chains: from the first group to the
//! last one. Their greatest values are the same (Günzel et al., *On the Equivalence of Maximum Reaction Time
//! and Maximum Data Age for Cause-Effect Chains*, 2023).
//!
//! A response that shows an earlier stimulus than one before it, as instances overtook each other, is a
//! sample of *last to last* only.

use std::collections::VecDeque;

/// Which first and last steps a latency is between; see the [module](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Definition {
    /// How long each stimulus waits for the first response to it or to a later one.
    FirstToFirst,
    /// How old what a response shows is.
    LastToLast,
    /// From the first stimulus of a group to each of its responses.
    FirstToLast,
    /// From the stimulus that is shown to the first response that shows it.
    LastToFirst,
    /// From a stimulus that was just missed to the response to the next one.
    ReactionWithWait,
    /// How old what a response shows is when newer data replaces it.
    AgeUntilReplaced,
}

impl Definition {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FirstToFirst => "first_to_first",
            Self::LastToLast => "last_to_last",
            Self::FirstToLast => "first_to_last",
            Self::LastToFirst => "last_to_first",
            Self::ReactionWithWait => "reaction_with_wait",
            Self::AgeUntilReplaced => "age_until_replaced",
        }
    }
}

/// A latency: from a stimulus to a response, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latency {
    pub of: Definition,
    /// Time of the stimulus.
    pub begin: i64,
    /// Time of the response.
    pub end: i64,
}

/// Finds the latencies of one chain. Memory holds the stimuli that are not answered yet.
#[derive(Debug, Clone, Default)]
pub struct Ends {
    /// Stimuli that are not answered, in order.
    waiting: VecDeque<i64>,
    /// The first and the last stimulus of the latest group.
    group: Option<(i64, i64)>,
}

impl Ends {
    /// A first step, in the order of time.
    pub fn stimulus(&mut self, time: i64) {
        self.waiting.push_back(time);
    }

    /// A last step at `response` that follows from the first step at `stimulus`, in the order of responses.
    /// All stimuli up to `stimulus` were given before; those of one tick are of one group.
    pub fn response(&mut self, stimulus: i64, response: i64, out: &mut Vec<Latency>) {
        let mut add = |of: Definition, begin: i64| out.push(Latency { of, begin, end: response });
        add(Definition::LastToLast, stimulus);
        if let Some((first, last)) = self.group
            && stimulus <= last
        {
            if stimulus == last {
                // Another one of the same tick.
                while self.waiting.pop_front_if(|time| *time <= stimulus).is_some() {
                    add(Definition::FirstToFirst, stimulus);
                }
                add(Definition::FirstToLast, first);
            }
            return;
        }
        // What was missed before the first group is not known to be complete.
        let mut before = self.group.map(|(_, last)| last);
        if let Some(shown) = before {
            add(Definition::AgeUntilReplaced, shown);
        }
        let mut first = stimulus;
        while let Some(time) = self.waiting.pop_front_if(|time| *time <= stimulus) {
            first = first.min(time);
            add(Definition::FirstToFirst, time);
            if let Some(before) = before.as_mut() {
                add(Definition::ReactionWithWait, *before);
                *before = time;
            }
        }
        add(Definition::FirstToLast, first);
        add(Definition::LastToFirst, stimulus);
        self.group = Some((first, stimulus));
    }

    /// A gap, or the end of the recording: later responses do not follow from earlier stimuli.
    pub fn cut(&mut self) {
        self.waiting.clear();
        self.group = None;
    }
}

#[cfg(test)]
mod tests;
