//! Once started, a state is held until something happens. Not for other templates.

use super::{Held, Hidden, Role, Tally, Witness};

/// See [`Template::Hold`](super::Template::Hold).
#[derive(Debug, Clone)]
pub(super) struct Hold {
    /// All ticks before this one are judged.
    now: i64,
    held: Held,
    /// The latest end of the state, if it is not held.
    ended: Option<Witness>,
    obligation: Option<Obligation>,
    /// Those that are over, and depend on what the state was since no gap hides it.
    undecided: Undecided,
    /// A gap may hide a `start` that no recorded `until` followed.
    unseen: bool,
    /// The same, of ticks of which the next record of the state says whether it was held.
    unseen_undecided: bool,
    hidden: Hidden,
}

#[derive(Debug, Clone, Copy)]
struct Obligation {
    start: Witness,
    /// It was counted, as violated or as unknown.
    is_counted: bool,
    /// A gap may hide the `until`.
    may_be_over: bool,
    /// At one of its ticks a gap hides whether the state is held.
    is_doubtful: bool,
    /// The first of its ticks at which it is unknown whether the state is held, and the next record of the
    /// state decides; and whether it was in force then.
    quiet: Option<(i64, bool)>,
}

/// Obligations that are over, of which the next record of the state says whether they were violated.
#[derive(Debug, Clone, Default)]
struct Undecided {
    /// The first ones.
    first: Vec<Obligation>,
    /// How many more; by whether they are doubtful, and whether they were in force.
    more: [[u64; 2]; 2],
}

impl Undecided {
    fn push(&mut self, obligation: Obligation, most: usize) {
        if self.first.len() < most {
            self.first.push(obligation);
            return;
        }
        let is_sure = obligation.quiet.is_some_and(|(_, is_sure)| is_sure);
        self.more[usize::from(obligation.is_doubtful)][usize::from(is_sure)] += 1;
    }

    /// The state was held.
    fn was_held(&mut self, tally: &mut Tally) {
        let ([sure, doubtful], first) = (self.more, std::mem::take(&mut self.first));
        self.more = Default::default();
        let doubts = first.iter().filter(|obligation| obligation.is_doubtful).count() as u64;
        tally.counts.unknown += doubts + doubtful.iter().sum::<u64>();
        tally.counts.kept += first.len() as u64 - doubts + sure.iter().sum::<u64>();
    }

    /// It was not, as `by` says.
    fn was_not_held(&mut self, by: Witness, tally: &mut Tally) {
        for obligation in self.first.drain(..) {
            obligation.was_not_held(by, tally);
        }
        for [unsure, sure] in std::mem::take(&mut self.more) {
            tally.counts.violated += sure;
            tally.counts.unknown += unsure;
            tally.counts.missing += unsure;
        }
    }

    /// That is never known.
    fn stay_unknown(&mut self, tally: &mut Tally) {
        tally.counts.unknown += self.first.len() as u64 + self.more.as_flattened().iter().sum::<u64>();
        *self = Self::default();
    }
}

impl Obligation {
    /// The state was not held since it is unknown.
    fn was_not_held(&self, by: Witness, tally: &mut Tally) {
        match self.quiet {
            Some((tick, true)) => tally.violated(self.start.time, tick, [self.start, by]),
            Some((_, false)) => tally.unknown(true),
            None => {}
        }
    }
}

impl Hold {
    /// `begin`: of the recording.
    pub fn new(begin: i64) -> Self {
        Self {
            now: begin,
            held: Held::Unknown,
            ended: None,
            obligation: None,
            undecided: Undecided::default(),
            unseen: false,
            unseen_undecided: false,
            hidden: Hidden::default(),
        }
    }

    /// The state is not held.
    pub fn begin_without(&mut self) {
        self.held = Held::No;
    }

    pub fn record(&mut self, role: Role, at: Witness, tally: &mut Tally) {
        self.advance(at.time, tally);
        match role {
            Role::A => self.started(at, tally),
            Role::B => {
                self.over(tally);
                self.unseen = self.hidden.has(Role::A);
            }
            Role::From => self.state(Held::Yes, at, tally),
            Role::To => self.state(Held::No, at, tally),
        }
    }

    /// What is known of the ticks since the last record, which are over.
    fn advance(&mut self, time: i64, tally: &mut Tally) {
        if time <= self.now {
            return;
        }
        let tick = std::mem::replace(&mut self.now, time);
        if self.held == Held::Yes {
            return;
        }
        let is_quiet = !self.hidden.has_span();
        if self.held == Held::Unknown && is_quiet {
            self.unseen_undecided |= self.unseen;
        } else {
            tally.counts.blind += u64::from(std::mem::take(&mut self.unseen));
        }
        let Some(obligation) = self.obligation.as_mut().filter(|obligation| !obligation.is_counted) else {
            return;
        };
        match self.held {
            Held::Unknown if is_quiet => {
                obligation.quiet.get_or_insert((tick, !obligation.may_be_over));
            }
            Held::Unknown => obligation.is_doubtful = true,
            _ if obligation.may_be_over => {
                obligation.is_counted = true;
                tally.unknown(true);
            }
            _ => {
                obligation.is_counted = true;
                let start = obligation.start;
                tally.violated(start.time, tick, [start].into_iter().chain(self.ended));
            }
        }
    }

    fn started(&mut self, start: Witness, tally: &mut Tally) {
        if self.obligation.is_some_and(|obligation| !obligation.may_be_over) {
            return;
        }
        self.over(tally);
        let may_be_over = self.hidden.has(Role::B);
        self.obligation =
            Some(Obligation { start, is_counted: false, may_be_over, is_doubtful: false, quiet: None });
    }

    /// `until` is here, or may have been.
    fn over(&mut self, tally: &mut Tally) {
        let Some(obligation) = self.obligation.take().filter(|obligation| !obligation.is_counted) else {
            return;
        };
        match obligation {
            Obligation { quiet: Some(_), .. } => self.undecided.push(obligation, tally.most),
            Obligation { is_doubtful: true, .. } => tally.unknown(false),
            Obligation { .. } => tally.counts.kept += 1,
        }
    }

    fn state(&mut self, held: Held, at: Witness, tally: &mut Tally) {
        if self.hidden.has_span() {
            // It may change again at once.
            return;
        }
        if self.held == Held::Unknown {
            let quiet = self.obligation.as_ref().filter(|obligation| obligation.quiet.is_some()).copied();
            let unseen = std::mem::take(&mut self.unseen_undecided);
            tally.counts.blind += u64::from(unseen && held == Held::Yes);
            if held == Held::No {
                self.undecided.was_held(tally);
            } else {
                self.undecided.was_not_held(at, tally);
                quiet.iter().for_each(|obligation| obligation.was_not_held(at, tally));
            }
            if let Some(obligation) = self.obligation.as_mut().filter(|_| quiet.is_some()) {
                obligation.quiet = None;
                obligation.is_counted |= held == Held::Yes;
            }
        }
        if held != self.held {
            self.ended = (held == Held::No).then_some(at);
        }
        self.held = held;
    }

    pub fn hide(&mut self, hidden: Hidden, time: i64, tally: &mut Tally) {
        self.advance(time, tally);
        if hidden.has_span() {
            self.undecided.stay_unknown(tally);
            tally.counts.blind += u64::from(std::mem::take(&mut self.unseen_undecided));
            (self.held, self.ended) = (Held::Unknown, None);
        }
        if let Some(obligation) = self.obligation.as_mut() {
            if hidden.has_span() {
                obligation.is_doubtful |= obligation.quiet.take().is_some();
            }
            obligation.may_be_over |= hidden.has(Role::B);
        }
        self.unseen |= hidden.has(Role::A) && !self.hidden.has(Role::A);
        self.hidden = hidden;
    }

    pub fn finish(&mut self, end: i64, tally: &mut Tally) {
        self.advance(end, tally);
        if self.obligation.take().is_some_and(|obligation| !obligation.is_counted) {
            tally.open(self.held == Held::No);
        }
        tally.counts.blind += u64::from(self.unseen || self.unseen_undecided);
        self.undecided.stay_unknown(tally);
    }
}
