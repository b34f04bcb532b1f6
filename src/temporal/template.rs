//! The templates of requirements in time, what they mean, and which records they look at. Not for judging.

use std::fmt;

/// The number of an event or a state. Numbers are dense, from 0; the caller knows the names. Events and
/// states have numbers of their own: event 3 has nothing to do with state 3, except for the cores they happen
/// on (see [`Monitor::place`](super::Monitor::place)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub u32);

impl Symbol {
    /// Numbers are less than this: a table has an entry for each.
    pub const END: u32 = 1 << 20;
}

/// When something is forbidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum During {
    /// After an event `from`, before the next event `to`. A `from` in between changes nothing, as does a `to`
    /// outside.
    Between {
        /// Begins it.
        from: Symbol,
        /// Ends it.
        to: Symbol,
    },
    /// After the begin of a state, before its end. Begins and ends alternate. So the first record of the
    /// state after an edge or a gap says what it was since then.
    State(Symbol),
}

/// A requirement. Times and lengths of time are ticks. Events are those of the recording, unless said
/// otherwise. *Before* and *after* are the order of the records, also within a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Template {
    /// After `a`, `b` within `within`.
    ///
    /// *For each event `a` there is an event `b` after it, with `time(b) - time(a) <= within`.* One `b`
    /// answers all `a` before it. Obligation: an `a`. Violated from `time(a)` to `time(a) + within`; witness:
    /// `a`.
    Response {
        /// What has to be answered.
        a: Symbol,
        /// The answer.
        b: Symbol,
        /// Longest time, included; 0 or more.
        within: i64,
    },
    /// `a` never during something.
    ///
    /// *In no interval of `during` is there an event `a`*, of intervals that reach into the recording, and of
    /// `a` that are not before it. An `a` that begins an interval is not in it.
    /// Obligation: an interval. Violated from its begin (or from when on it is known to have been in force)
    /// to the first `a`; witnesses: its begin, if recorded, `a`, and the end of the state if that said so. An
    /// interval that is recorded to begin, and may have ended in a gap, is over at the next `from`.
    Absence {
        /// What is forbidden.
        a: Symbol,
        /// When.
        during: During,
    },
    /// At most `at_most` events `a` in any window of time.
    ///
    /// *For each time `x`, at most `at_most` events `a` have `x <= time(a) < x + window`.* It is enough to
    /// look at windows that begin with an `a`. Obligation: an `a`, with those after it in the window that it
    /// begins. Violated from `time(a)` to the time of the first `a` that is too many; witnesses: the two.
    Rate {
        /// What is counted.
        a: Symbol,
        /// Most events in a window.
        at_most: u32,
        /// Length of the window, half-open; 1 or more.
        window: i64,
    },
    /// `a` and `b` alternate.
    ///
    /// *For each event `a` or `b`, the next event `a` or `b` after it, if there is one, is the other one.*
    /// Either may be the first. Obligation: an `a` or `b`. Violated from it to the next one; witnesses: the
    /// two. What the last one is followed by is open.
    Alternation {
        /// One of the two.
        a: Symbol,
        /// The other one.
        b: Symbol,
    },
    /// Once `start` happened, the state `held` is held until `until`.
    ///
    /// *For each event `start`, and the first event `until` after it, `held` is held at all ticks `x` with
    /// `time(start) <= x < time(until)`*; at all later ticks if there is no `until`. What a state is at a
    /// tick is what it is after the last record of that tick: nothing that begins and ends within a tick
    /// counts. `until` need not come. Obligation: a `start` that does not follow another one without `until`
    /// in between; nor a gap that may hide it. Violated from `time(start)` to the first tick without the
    /// state; witnesses: `start`, and the record that says that it is not held, if there is one.
    Hold {
        /// From when on.
        start: Symbol,
        /// The state.
        held: Symbol,
        /// To when.
        until: Symbol,
    },
}

/// Why a template is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// `within` is less than 0.
    NegativeTime,
    /// `window` is less than 1.
    NoWindow,
    /// An event alternates with itself, or what ends an interval begins it or is forbidden in it.
    SameSymbol,
    /// The number of a symbol is not less than [`Symbol::END`].
    LargeSymbol,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NegativeTime => "a time is less than 0",
            Self::NoWindow => "a window has no length",
            Self::SameSymbol => "two events of a template have to be different",
            Self::LargeSymbol => "too many symbols",
        })
    }
}

impl std::error::Error for Mistake {}

/// What a record is to a template. In this order, if it is several: an event that answers and asks answers
/// those before it; one that is forbidden and begins an interval is not in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// Ends an interval or state.
    To,
    /// `b`, or `until`.
    B,
    /// `a`, or `start`.
    A,
    /// Begins an interval or state.
    From,
}

/// A set of roles: those that a gap may hide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Hidden(u8);

impl Hidden {
    pub fn has(self, role: Role) -> bool {
        self.0 & (1 << role as u8) != 0
    }

    pub fn insert(&mut self, role: Role) {
        self.0 |= 1 << role as u8;
    }

    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Begins or ends of the interval or state.
    pub fn has_span(self) -> bool {
        self.has(Role::From) || self.has(Role::To)
    }
}

impl Template {
    /// The records that the template looks at: roles, symbols, and whether it is a state.
    pub(super) fn roles(&self) -> Vec<(Role, Symbol, bool)> {
        let state = |state: Symbol| [(Role::To, state, true), (Role::From, state, true)];
        match *self {
            Self::Response { a, b, .. } | Self::Alternation { a, b } => {
                vec![(Role::B, b, false), (Role::A, a, false)]
            }
            Self::Absence { a, during: During::Between { from, to } } => {
                vec![(Role::To, to, false), (Role::A, a, false), (Role::From, from, false)]
            }
            Self::Absence { a, during: During::State(held) } => {
                let [to, from] = state(held);
                vec![to, (Role::A, a, false), from]
            }
            Self::Rate { a, .. } => vec![(Role::A, a, false)],
            Self::Hold { start, held, until } => {
                let [to, from] = state(held);
                vec![to, (Role::B, until, false), (Role::A, start, false), from]
            }
        }
    }

    /// # Errors
    /// See [`Mistake`].
    pub(super) fn check(&self) -> Result<(), Mistake> {
        match *self {
            Self::Response { within, .. } if within < 0 => return Err(Mistake::NegativeTime),
            Self::Rate { window, .. } if window < 1 => return Err(Mistake::NoWindow),
            Self::Alternation { a, b } if a == b => return Err(Mistake::SameSymbol),
            Self::Absence { a, during: During::Between { from, to } } if to == from || to == a => {
                return Err(Mistake::SameSymbol);
            }
            _ => {}
        }
        let large = self.roles().iter().any(|(_, symbol, _)| symbol.0 >= Symbol::END);
        if large { Err(Mistake::LargeSymbol) } else { Ok(()) }
    }
}
