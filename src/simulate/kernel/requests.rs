//! When the handlers of a core are requested: by the timer, and by the arrivals of a model. Not what a
//! request does (see `interrupts`).

use super::Handlers;
use crate::simulate::model::{Arrivals, Model};
use crate::simulate::random_numbers::RandomNumbers;
use std::collections::VecDeque;

/// When a handler is requested.
#[derive(Debug)]
pub struct Source<'m> {
    pub handler: usize,
    /// Its next request; none if there is no more.
    pub next: Option<i64>,
    arrivals: Requests<'m>,
    /// The number of the random numbers that it takes.
    chance: usize,
    /// How many requests were taken.
    count: usize,
    /// The last requests: of a curve, as many as it can still count.
    recent: VecDeque<i64>,
    /// Whose turn it is of the times in turn that are more than its distance.
    position: u64,
}

#[derive(Debug)]
enum Requests<'m> {
    Timer { first: i64, period: i64 },
    Isr(&'m Arrivals),
}

/// The sources of a core.
pub fn sources<'m>(
    model: &'m Model,
    handlers: &Handlers,
    core: usize,
    chances: &mut [RandomNumbers],
) -> Vec<Source<'m>> {
    let mut sources = Vec::new();
    for (number, isr) in model.isrs.iter().enumerate().filter(|(_, isr)| isr.core == core) {
        let chance = model.tasks.len() + number;
        let arrivals = Requests::Isr(&isr.arrivals);
        let mut source = Source::new(number, arrivals, chance);
        source.next = source.request(chances);
        sources.push(source);
    }
    let has_timer = model.alarms.iter().any(|alarm| alarm.core == core)
        || model.schedule_tables.iter().any(|table| table.core == core);
    if has_timer {
        let handler = handlers.timer(core);
        let (first, chance) = (model.os.tick, model.tasks.len() + handler);
        let arrivals = Requests::Timer { first, period: first + model.os.timer_drift };
        sources.push(Source { next: Some(first), ..Source::new(handler, arrivals, chance) });
    }
    sources
}

impl<'m> Source<'m> {
    fn new(handler: usize, arrivals: Requests<'m>, chance: usize) -> Self {
        Self { handler, next: None, arrivals, chance, count: 0, recent: VecDeque::new(), position: 0 }
    }

    /// Takes the next request, and finds the one after it.
    pub fn take(&mut self, chances: &mut [RandomNumbers]) -> i64 {
        let at = self.next.unwrap_or(i64::MAX);
        self.count += 1;
        if !matches!(self.arrivals, Requests::Isr(Arrivals::Curve { .. })) {
            self.recent.clear();
        }
        self.recent.push_back(at);
        // A request that is not later than the one before is taken with it.
        self.next = self.request(chances).map(|next| next.max(at));
        at
    }

    /// The request after those that were taken.
    fn request(&mut self, chances: &mut [RandomNumbers]) -> Option<i64> {
        let (count, before) = (self.count as i64, self.recent.back().copied());
        let random = chances.get_mut(self.chance);
        match &self.arrivals {
            Requests::Timer { first, period } => first.checked_add(period.checked_mul(count)?),
            Requests::Isr(Arrivals::Periodic { offset, period, jitter }) => {
                let late = random.map_or(0, |random| random.between(0, *jitter));
                offset.checked_add(period.checked_mul(count)?)?.checked_add(late)
            }
            Requests::Isr(Arrivals::Sporadic { offset, distance, more }) => match before {
                Some(before) => {
                    let more = random.map_or(0, |random| more.next(random, &mut self.position));
                    before.checked_add((distance + more).max(1))
                }
                None => Some(*offset),
            },
            Requests::Isr(Arrivals::At(instants)) => instants.get(self.count).copied(),
            Requests::Isr(Arrivals::Curve { offset, limits }) => {
                let Some(before) = before else { return Some(*offset) };
                let most = limits.iter().map(|(n, _)| *n as usize).max().unwrap_or(1);
                while self.recent.len() > most {
                    self.recent.pop_front();
                }
                // At most n in any span: the n-th request before must be out of it.
                let earliest = limits.iter().filter_map(|(n, span)| {
                    let place = self.recent.len().checked_sub(*n as usize)?;
                    self.recent.get(place)?.checked_add(*span)
                });
                Some(earliest.max().unwrap_or(before).max(before + 1))
            }
        }
    }
}
