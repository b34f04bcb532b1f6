//! `a` never during an interval or a state. Not for other templates.

use super::{During, Held, Hidden, Role, Tally, Witness};

/// See [`Template::Absence`](super::Template::Absence).
#[derive(Debug, Clone)]
pub(super) struct Absence {
    /// Begins and ends alternate, so that each says what was before it.
    alternates: bool,
    held: Held,
    /// The interval that is in force, or may be. There is one unless `held` is `No`.
    interval: Option<Interval>,
    /// Since when no gap hides begins and ends.
    quiet_since: i64,
    hidden: Hidden,
}

#[derive(Debug, Clone)]
struct Interval {
    /// `None` if only a gap or an edge may have it.
    begin: Option<Witness>,
    is_violated: bool,
    /// While it was in force, or, if that is unknown, while a gap hid whether it is.
    loud: Sight,
    /// While it is unknown whether it is in force, but no gap hides begins and ends: the next one decides.
    quiet: Sight,
}

/// What there is of `a`.
#[derive(Debug, Clone, Copy, Default)]
struct Sight {
    /// The first `a` of which it is unknown whether it is in the interval.
    seen: Option<Witness>,
    /// A gap may hide one.
    may_hide: bool,
}

impl Interval {
    fn new(begin: Option<Witness>) -> Self {
        Self { begin, is_violated: false, loud: Sight::default(), quiet: Sight::default() }
    }

    /// What was undecided stays so.
    fn merge(&mut self) {
        let quiet = std::mem::take(&mut self.quiet);
        self.loud.seen = self.loud.seen.or(quiet.seen);
        self.loud.may_hide |= quiet.may_hide;
    }

    /// It is over. `was_real`: it was in force for certain, even if its begin is not recorded.
    fn settle(&self, was_real: bool, tally: &mut Tally) {
        let is_real = was_real || self.begin.is_some();
        match self.loud {
            _ if self.is_violated => {}
            Sight { seen: Some(_), .. } => tally.unknown(true),
            Sight { may_hide: true, .. } if is_real => tally.unknown(false),
            Sight { may_hide: true, .. } => tally.counts.blind += 1,
            Sight { .. } => tally.counts.kept += u64::from(is_real),
        }
    }
}

impl Absence {
    /// `begin`: of the recording.
    pub fn new(during: During, begin: i64) -> Self {
        Self {
            alternates: matches!(during, During::State(_)),
            held: Held::Unknown,
            interval: Some(Interval::new(None)),
            quiet_since: begin,
            hidden: Hidden::default(),
        }
    }

    /// No interval is in force.
    pub fn begin_without(&mut self) {
        (self.held, self.interval) = (Held::No, None);
    }

    pub fn record(&mut self, role: Role, at: Witness, tally: &mut Tally) {
        match role {
            Role::A => self.seen(at, tally),
            Role::From => self.begun(at, tally),
            Role::To => self.ended(at, tally),
            Role::B => {}
        }
    }

    /// Whether the next begin or end says what `held` is.
    fn is_quiet(&self) -> bool {
        self.alternates && self.held == Held::Unknown && !self.hidden.has_span()
    }

    fn seen(&mut self, a: Witness, tally: &mut Tally) {
        let is_quiet = self.is_quiet();
        let Some(interval) = self.interval.as_mut().filter(|interval| !interval.is_violated) else { return };
        match (self.held, interval.begin) {
            (Held::No, _) => {}
            (Held::Yes, begin) => {
                interval.is_violated = true;
                let since = begin.map_or(self.quiet_since, |begin| begin.time);
                tally.violated(since, a.time, begin.into_iter().chain([a]));
            }
            (Held::Unknown, _) => {
                let sight = if is_quiet { &mut interval.quiet } else { &mut interval.loud };
                sight.seen.get_or_insert(a);
            }
        }
    }

    fn begun(&mut self, at: Witness, tally: &mut Tally) {
        if self.held == Held::Yes {
            return;
        }
        let is_quiet = self.is_quiet();
        if let Some(mut before) = self.interval.take() {
            if is_quiet {
                // It was not held.
                before.quiet = Sight::default();
            }
            before.merge();
            before.settle(false, tally);
        }
        (self.held, self.interval) = (Held::Yes, Some(Interval::new(Some(at))));
        self.doubt();
    }

    fn ended(&mut self, at: Witness, tally: &mut Tally) {
        // Only a quiet one was held for certain until now, if that was unknown.
        let is_quiet = self.is_quiet();
        if let Some(mut interval) = self.interval.take() {
            if let Some(a) = interval.quiet.seen.filter(|_| is_quiet && !interval.is_violated) {
                interval.is_violated = true;
                let since = self.quiet_since;
                tally.violated(since, a.time, interval.begin.into_iter().chain([a, at]));
            }
            interval.merge();
            interval.settle(is_quiet, tally);
        }
        self.held = Held::No;
        self.doubt();
    }

    pub fn hide(&mut self, hidden: Hidden, time: i64) {
        match (self.hidden.has_span(), hidden.has_span()) {
            (false, true) => self.interval.iter_mut().for_each(Interval::merge),
            (true, false) => self.quiet_since = time,
            _ => {}
        }
        self.hidden = hidden;
        self.doubt();
    }

    /// What open gaps may change at any moment.
    fn doubt(&mut self) {
        match self.held {
            Held::Yes if self.hidden.has(Role::To) => self.held = Held::Unknown,
            Held::No if self.hidden.has(Role::From) => {
                (self.held, self.interval) = (Held::Unknown, Some(Interval::new(None)));
            }
            _ => {}
        }
        let is_quiet = self.is_quiet();
        if let Some(interval) = self.interval.as_mut().filter(|_| self.hidden.has(Role::A)) {
            let sight = if is_quiet { &mut interval.quiet } else { &mut interval.loud };
            sight.may_hide = true;
        }
    }

    pub fn finish(&mut self, tally: &mut Tally) {
        let Some(mut interval) = self.interval.take().filter(|interval| !interval.is_violated) else {
            return;
        };
        interval.merge();
        match interval {
            Interval { loud: Sight { seen: Some(_), .. }, .. } => tally.unknown(true),
            Interval { begin: Some(_), .. } => tally.open(false),
            Interval { begin: None, .. } => tally.counts.blind += 1,
        }
    }
}
