//! Which tasks are idle tasks, by their names: an operating system runs one when nothing else can run, and it
//! is no load. Not where the patterns come from (see the key `idle_tasks` of mapping profiles).

use super::freertos;

/// Patterns of names; compared without case. The last one that matches a name decides.
///
/// `*` stands for any text, `?` for one character, `#` for a number; a pattern after `!` names tasks that are
/// no idle tasks. A name also matches without what a writer puts in front of it: the core of
/// `Core_0.IDLE`, the number of `[0/0002]IDLE0` or `(0002)IDLE`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdleTasks {
    /// Each pattern in lower case, and whether the tasks that it names are idle tasks.
    patterns: Vec<(String, bool)>,
}

impl IdleTasks {
    /// By patterns, the weakest first.
    pub fn new<S: AsRef<str>>(patterns: impl IntoIterator<Item = S>) -> Self {
        let pattern = |text: S| {
            let text = text.as_ref().trim().to_lowercase();
            match text.strip_prefix('!') {
                Some(not) => (not.to_owned(), false),
                None => (text, true),
            }
        };
        Self { patterns: patterns.into_iter().map(pattern).filter(|(text, _)| !text.is_empty()).collect() }
    }

    /// Whether a task is an idle task; `None` if no pattern matches its name.
    pub fn verdict(&self, task: &str) -> Option<bool> {
        let name = task.to_lowercase();
        let bare = freertos::bare(&name);
        let of_core = bare.split_once('.').map_or(bare, |(_, task)| task);
        let names = |pattern: &str| [&name, bare, of_core].iter().any(|name| matches(pattern, name));
        self.patterns.iter().rev().find(|(pattern, _)| names(pattern)).map(|(_, idle)| *idle)
    }

    /// True if a task is an idle task by its name.
    pub fn has(&self, task: &str) -> bool {
        self.verdict(task).unwrap_or(false)
    }
}

/// One pass over the pattern: which beginnings of the name its beginning matches.
fn matches(pattern: &str, name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let mut ends = vec![false; name.len() + 1];
    if let Some(nothing) = ends.first_mut() {
        *nothing = true;
    }
    for sign in pattern.chars() {
        // Whether the pattern so far matches everything before the next character.
        let (mut before, mut now) = (false, sign == '*' && ends.first() == Some(&true));
        for (place, end) in ends.iter_mut().enumerate() {
            let last = place.checked_sub(1).and_then(|n| name.get(n));
            now = match (sign, last) {
                ('*', _) => now || *end,
                (_, None) => false,
                ('#', Some(c)) => c.is_ascii_digit() && (before || now),
                ('?', Some(_)) => before,
                (sign, Some(c)) => before && *c == sign,
            };
            before = std::mem::replace(end, now);
        }
    }
    ends.last() == Some(&true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_pattern_that_matches_decides() {
        let tasks = IdleTasks::new(["IDLE", "IDLE#", "os*idle*", "!OsIdleSpeed", " "]);
        let idle =
            ["idle", "IDLE12", "Core_1.IDLE0", "[0/0002]IDLE0", "[0002]idle7", "(0002)IDLE", "OsTaskIdle_1"];
        assert_eq!(idle.map(|name| tasks.verdict(name)), [Some(true); 7]);
        assert_eq!(tasks.verdict("OsIdleSpeed"), Some(false));
        let others = ["IDLE_A", "IDLE1a", "IdleSpeedControl", "", "[", "T_1", "Core.Idle.x"];
        assert_eq!(others.map(|name| tasks.verdict(name)), [None; 7]);
    }

    /// The obvious definition.
    fn naive(pattern: &[char], name: &[char]) -> bool {
        let digits = name.iter().take_while(|c| c.is_ascii_digit()).count();
        match pattern {
            [] => name.is_empty(),
            ['*', rest @ ..] => (0..=name.len()).any(|n| naive(rest, &name[n..])),
            ['#', rest @ ..] => (1..=digits).any(|n| naive(rest, &name[n..])),
            ['?', rest @ ..] => !name.is_empty() && naive(rest, &name[1..]),
            [c, rest @ ..] => name.first() == Some(c) && naive(rest, &name[1..]),
        }
    }

    proptest! {
        #[test]
        fn patterns_match_as_defined(pattern in "[ab0?*#]{0,7}", name in "[ab01]{0,9}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(matches(&pattern, &name), naive(&chars(&pattern), &chars(&name)));
        }
    }
}
