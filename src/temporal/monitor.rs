//! The monitor: records in order → a judgement of each template. It knows which template looks at which
//! symbol, and what open gaps may hide. Not for what a template means.

use std::fmt;

use super::absence::Absence;
use super::alternation::Alternation;
use super::hold::Hold;
use super::rate::Rate;
use super::response::Response;
use super::template::{Hidden, Mistake, Role, Symbol, Template};
use super::verdict::{Judgement, Tally, Violation, Witness};

/// Most violations of a template that are listed, unless [`Monitor::keep`] says otherwise.
const MOST: usize = 1000;
/// The route of a symbol that no template looks at.
const NOWHERE: u32 = u32::MAX;

/// Judges templates over one recording, in one pass; see the [module](super).
///
/// A monitor may be cloned, and the clone finished, to see what would be said if the recording ended here.
#[derive(Debug, Clone)]
pub struct Monitor {
    now: i64,
    /// How many records there were.
    records: u64,
    events: Routes,
    states: Routes,
    parts: Vec<Part>,
    /// Gaps that are open; one per core at most.
    gaps: Vec<Gap>,
    /// The first end of an open gap.
    next_end: Option<i64>,
    /// Cores of symbols that do not happen on all of them.
    places: Vec<(Symbol, Vec<u32>)>,
}

/// Which templates look at a symbol.
#[derive(Debug, Clone, Default)]
struct Routes {
    /// By symbol: a number in `lists`, or `NOWHERE`.
    of: Vec<u32>,
    lists: Vec<Vec<(usize, Role)>>,
}

/// A template at work.
#[derive(Debug, Clone)]
struct Part {
    judge: Judge,
    tally: Tally,
    roles: Vec<(Role, Symbol, bool)>,
    /// What open gaps may hide.
    hidden: Hidden,
}

#[derive(Debug, Clone)]
enum Judge {
    Response(Response),
    Absence(Absence),
    Rate(Rate),
    Alternation(Alternation),
    Hold(Hold),
}

#[derive(Debug, Clone, Copy)]
struct Gap {
    end: i64,
    /// `None`: all.
    core: Option<u32>,
}

/// A record that is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// It is before one that was taken, which is at this time.
    Backwards {
        /// In ticks.
        now: i64,
    },
    /// A gap that ends before it begins.
    Reversed,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Backwards { now } => write!(f, "it is before the last record, which is at {now}"),
            Self::Reversed => f.write_str("the gap ends before it begins"),
        }
    }
}

impl std::error::Error for Refused {}

impl Routes {
    fn add(&mut self, symbol: Symbol, part: usize, role: Role) {
        // `Template::check` bounds it.
        let symbol = symbol.0 as usize;
        if self.of.len() <= symbol {
            self.of.resize(symbol + 1, NOWHERE);
        }
        let Some(route) = self.of.get_mut(symbol) else { return };
        if *route == NOWHERE {
            *route = self.lists.len() as u32;
            self.lists.push(Vec::new());
        }
        if let Some(list) = self.lists.get_mut(*route as usize) {
            list.push((part, role));
        }
    }

    fn get(&self, symbol: Symbol) -> Option<&[(usize, Role)]> {
        match self.of.get(symbol.0 as usize) {
            None | Some(&NOWHERE) => None,
            Some(route) => self.lists.get(*route as usize).map(Vec::as_slice),
        }
    }
}

impl Part {
    fn new(template: &Template, begin: i64) -> Self {
        let judge = match *template {
            Template::Response { within, .. } => Judge::Response(Response::new(within)),
            Template::Absence { during, .. } => Judge::Absence(Absence::new(during, begin)),
            Template::Rate { at_most, window, .. } => Judge::Rate(Rate::new(at_most, window)),
            Template::Alternation { .. } => Judge::Alternation(Alternation::default()),
            Template::Hold { .. } => Judge::Hold(Hold::new(begin)),
        };
        Self { judge, tally: Tally::new(MOST), roles: template.roles(), hidden: Hidden::default() }
    }

    fn record(&mut self, role: Role, at: Witness) {
        let tally = &mut self.tally;
        match &mut self.judge {
            Judge::Response(judge) => judge.record(role, at, tally),
            Judge::Absence(judge) => judge.record(role, at, tally),
            Judge::Rate(judge) => judge.record(role, at, tally),
            Judge::Alternation(judge) => judge.record(role, at, tally),
            Judge::Hold(judge) => judge.record(role, at, tally),
        }
    }

    /// `next`: what the next record would be, if it came at once.
    fn hide(&mut self, hidden: Hidden, next: Witness) {
        if hidden == self.hidden {
            return;
        }
        self.hidden = hidden;
        let tally = &mut self.tally;
        match &mut self.judge {
            Judge::Response(judge) => judge.hide(hidden, next, tally),
            Judge::Absence(judge) => judge.hide(hidden, next.time),
            Judge::Rate(judge) => judge.hide(hidden, next, tally),
            Judge::Alternation(judge) => judge.hide(hidden, tally),
            Judge::Hold(judge) => judge.hide(hidden, next.time, tally),
        }
    }

    fn finish(mut self, end: i64) -> Judgement {
        let tally = &mut self.tally;
        match &mut self.judge {
            Judge::Response(judge) => judge.finish(end, tally),
            Judge::Absence(judge) => judge.finish(tally),
            Judge::Rate(judge) => judge.finish(end, tally),
            Judge::Alternation(judge) => judge.finish(tally),
            Judge::Hold(judge) => judge.finish(end, tally),
        }
        self.tally.judgement()
    }
}

impl Monitor {
    /// A monitor of a recording that begins at `begin`, in ticks.
    ///
    /// # Errors
    /// For a template that is none, with its number.
    pub fn new(templates: &[Template], begin: i64) -> Result<Self, (usize, Mistake)> {
        let mut monitor = Self {
            now: begin,
            records: 0,
            events: Routes::default(),
            states: Routes::default(),
            parts: Vec::with_capacity(templates.len()),
            gaps: Vec::new(),
            next_end: None,
            places: Vec::new(),
        };
        for (number, template) in templates.iter().enumerate() {
            template.check().map_err(|mistake| (number, mistake))?;
            let part = Part::new(template, begin);
            for (role, symbol, is_state) in &part.roles {
                let routes = if *is_state { &mut monitor.states } else { &mut monitor.events };
                routes.add(*symbol, number, *role);
            }
            monitor.parts.push(part);
        }
        Ok(monitor)
    }

    /// The event and the state of this number happen on these cores only, so that gaps of other cores do not
    /// hide them. Without this, a gap of any core may. To be said before the first gap.
    pub fn place(&mut self, symbol: Symbol, cores: &[u32]) {
        self.places.push((symbol, cores.to_vec()));
    }

    /// The state is not held when the recording begins. To be said before all records. That it is held, a
    /// record of its begin says.
    pub fn begin_without(&mut self, state: Symbol) {
        for (part, _) in self.states.get(state).unwrap_or_default() {
            match self.parts.get_mut(*part).map(|part| &mut part.judge) {
                Some(Judge::Absence(judge)) => judge.begin_without(),
                Some(Judge::Hold(judge)) => judge.begin_without(),
                _ => {}
            }
        }
    }

    /// How many violations of each template are listed. The first 1000, if it is not said.
    pub fn keep(&mut self, most: usize) {
        self.parts.iter_mut().for_each(|part| part.tally.most = most);
    }

    /// An event of a symbol at a time in ticks.
    ///
    /// # Errors
    /// If it is before a record that was taken. It is left out then.
    #[inline]
    pub fn event(&mut self, time: i64, symbol: Symbol) -> Result<(), Refused> {
        let at = self.next(time)?;
        if self.events.get(symbol).is_some() {
            self.deliver(at, symbol, None);
        }
        Ok(())
    }

    /// The begin or the end of a state at a time in ticks. A begin while it is held, or an end while it is
    /// not, changes nothing. What was before the first one, and after a gap, follows from it.
    ///
    /// # Errors
    /// If it is before a record that was taken. It is left out then.
    #[inline]
    pub fn state(&mut self, time: i64, state: Symbol, is_begin: bool) -> Result<(), Refused> {
        let at = self.next(time)?;
        if self.states.get(state).is_some() {
            self.deliver(at, state, Some(is_begin));
        }
        Ok(())
    }

    /// A gap from now on: of a core, or of all. Anything may have happened there that is not recorded, with a
    /// time from `begin` to `end`, both included, in ticks. It is open until a record at `end` or later.
    /// Records in it are known to have happened. Gaps may overlap.
    ///
    /// # Errors
    /// If it begins before a record that was taken, or ends before it begins. It is left out then.
    pub fn gap(&mut self, begin: i64, end: i64, core: Option<u32>) -> Result<(), Refused> {
        if begin < self.now {
            return Err(Refused::Backwards { now: self.now });
        }
        if end < begin {
            return Err(Refused::Reversed);
        }
        self.now = begin;
        self.close(begin);
        match self.gaps.iter_mut().find(|gap| gap.core == core) {
            Some(gap) => gap.end = gap.end.max(end),
            None => self.gaps.push(Gap { end, core }),
        }
        self.hide(begin);
        Ok(())
    }

    /// The violations of a template that were found since the last call, at most as many as are listed; the
    /// first template has number 0. They are not in the judgement any more, but counted there.
    pub fn take_violations(&mut self, template: usize) -> Vec<Violation> {
        self.parts
            .get_mut(template)
            .map(|part| std::mem::take(&mut part.tally.violations))
            .unwrap_or_default()
    }

    /// The recording ends at `end`, in ticks: what happens then or later may not be recorded. One judgement
    /// per template, in their order. An end before the last record is that of the last record.
    pub fn finish(mut self, end: i64) -> Vec<Judgement> {
        let end = end.max(self.now);
        self.close(end);
        self.parts.into_iter().map(|part| part.finish(end)).collect()
    }

    #[inline]
    fn next(&mut self, time: i64) -> Result<Witness, Refused> {
        if time < self.now {
            return Err(Refused::Backwards { now: self.now });
        }
        self.now = time;
        let index = self.records;
        self.records += 1;
        Ok(Witness { time, index })
    }

    /// A record that a template looks at. `begins`: of a state.
    fn deliver(&mut self, at: Witness, symbol: Symbol, begins: Option<bool>) {
        if self.next_end.is_some_and(|end| end <= at.time) {
            // It is not in the index yet when a gap ends before it.
            self.records = at.index;
            self.close(at.time);
            self.records = at.index + 1;
        }
        let routes = if begins.is_some() { &self.states } else { &self.events };
        let role_of = begins.map(|begins| if begins { Role::From } else { Role::To });
        for (part, role) in routes.get(symbol).unwrap_or_default() {
            if role_of.is_none_or(|wanted| wanted == *role)
                && let Some(part) = self.parts.get_mut(*part)
            {
                part.record(*role, at);
            }
        }
    }

    /// Ends the gaps that end at `time` or before, one end after the other.
    fn close(&mut self, time: i64) {
        while let Some(end) = self.next_end.filter(|end| *end <= time) {
            self.gaps.retain(|gap| gap.end > end);
            self.hide(end);
        }
    }

    /// Says to all templates what the open gaps may hide from `time` on.
    fn hide(&mut self, time: i64) {
        self.next_end = self.gaps.iter().map(|gap| gap.end).min();
        let may_hide = |symbol: Symbol| {
            let mut places = self.places.iter().filter(|(placed, _)| *placed == symbol).peekable();
            let is_everywhere = places.peek().is_none();
            let on = |core: u32| places.clone().any(|(_, cores)| cores.contains(&core));
            self.gaps.iter().any(|gap| is_everywhere || gap.core.is_none_or(on))
        };
        let next = Witness { time, index: self.records };
        for part in &mut self.parts {
            let mut hidden = Hidden::default();
            part.roles
                .iter()
                .filter(|(_, symbol, _)| may_hide(*symbol))
                .for_each(|(role, ..)| hidden.insert(*role));
            part.hide(hidden, next);
        }
    }
}
