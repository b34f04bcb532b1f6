//! Which send belongs to which receive: by a key that both have. Not what they say about clocks.

use crate::words::words;
use std::collections::BTreeMap;

/// A send or a receive, as one of several clocks saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// The number of the clock.
    pub clock: usize,
    /// What it showed, in ticks.
    pub time: i64,
    /// What the message is known by.
    pub key: String,
}

words! {
    /// What became of a message.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Fate {
        /// It says something about two clocks.
        Used = "used",
        /// Nobody has received it.
        NotReceived = "not_received",
        /// Nobody has sent it.
        NotSent = "not_sent",
        /// It was sent or received more than once.
        Ambiguous = "ambiguous",
        /// It was received by the clock that has sent it.
        Own = "own",
        /// It contradicts others.
        Refused = "refused",
    }
}

/// A message, or a part of one: a send, a receive, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// What it is known by.
    pub key: String,
    /// Number and time of the clock that sent it.
    pub sent: Option<(usize, i64)>,
    /// Number and time of the clock that received it.
    pub received: Option<(usize, i64)>,
    /// What became of it.
    pub fate: Fate,
}

/// Puts sends and receives together. Each is in one of the messages, which are in the order of keys; a send
/// that several clocks received is in one for each.
pub fn matched(sent: Vec<Sighting>, received: Vec<Sighting>) -> Vec<Message> {
    let mut by_key: BTreeMap<String, [Vec<(usize, i64)>; 2]> = BTreeMap::new();
    for (side, sightings) in [sent, received].into_iter().enumerate() {
        for Sighting { clock, time, key } in sightings {
            if let Some(of_side) = by_key.entry(key).or_default().get_mut(side) {
                of_side.push((clock, time));
            }
        }
    }
    let mut messages = Vec::new();
    for (key, [sent, received]) in by_key {
        let is_twice = |clock: usize| received.iter().filter(|(other, _)| *other == clock).count() > 1;
        let mut push = |sent, received, fate| {
            messages.push(Message { key: key.clone(), sent, received, fate });
        };
        match sent.as_slice() {
            [] => received.iter().for_each(|received| push(None, Some(*received), Fate::NotSent)),
            [only] => {
                for (clock, time) in &received {
                    let fate = match (*clock == only.0, is_twice(*clock)) {
                        (true, _) => Fate::Own,
                        (_, true) => Fate::Ambiguous,
                        (_, false) => Fate::Used,
                    };
                    push(Some(*only), Some((*clock, *time)), fate);
                }
                if received.is_empty() {
                    push(Some(*only), None, Fate::NotReceived);
                }
            }
            several => {
                several.iter().for_each(|sent| push(Some(*sent), None, Fate::Ambiguous));
                received.iter().for_each(|received| push(None, Some(*received), Fate::Ambiguous));
            }
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(clock: usize, time: i64, key: &str) -> Sighting {
        Sighting { clock, time, key: key.to_owned() }
    }

    #[test]
    fn each_send_and_receive_is_accounted_for() {
        let sent = vec![of(0, 1, "a"), of(0, 2, "lost"), of(1, 3, "twice"), of(1, 4, "twice"), of(0, 5, "b")];
        let received = vec![
            of(1, 10, "a"),
            of(2, 11, "a"),
            of(1, 12, "new"),
            of(0, 13, "twice"),
            of(1, 14, "b"),
            of(1, 15, "b"),
        ];
        let messages = matched(sent, received);
        let lines: Vec<String> = messages
            .iter()
            .map(|m| {
                let time = |of: Option<(usize, i64)>| of.map_or(-1, |(_, time)| time);
                format!("{} {} {} {}", m.key, time(m.sent), time(m.received), m.fate.as_str())
            })
            .collect();
        assert_eq!(
            lines,
            [
                "a 1 10 used",
                "a 1 11 used",
                "b 5 14 ambiguous",
                "b 5 15 ambiguous",
                "lost 2 -1 not_received",
                "new -1 12 not_sent",
                "twice 3 -1 ambiguous",
                "twice 4 -1 ambiguous",
                "twice -1 13 ambiguous",
            ]
        );
    }

    #[test]
    fn what_a_clock_sends_to_itself_says_nothing() {
        let messages = matched(vec![of(0, 1, "a")], vec![of(0, 2, "a"), of(1, 3, "a")]);
        assert_eq!(messages.iter().map(|m| m.fate).collect::<Vec<_>>(), [Fate::Own, Fate::Used]);
    }
}
