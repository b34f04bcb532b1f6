//! The parts of response times, before and after → what made a response time change. Not whether it did (see
//! `judge`).

use std::collections::{HashMap, HashSet};

use super::summary::Side;
use super::within;

/// A change of a part is sure beyond so many standard errors: by chance once in 16,000 parts.
const SURE: f64 = 4.0;
/// Share of all explained change below which a cause is not named before what only follows from others.
const MINOR: f64 = 0.1;
/// Entities that wait for each other in a row, at most.
const DEEPEST: usize = 16;

/// Why an entity spends the time of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// It runs itself: the name is what it executes, e.g. a runnable.
    Own,
    /// It cannot run as another entity runs: the name is that entity. Only what that one executes counts,
    /// as its own waits do not hold this one up.
    Behind,
    /// It waits until another entity has done something (an event, a lock): the name is that entity. All of
    /// its response time counts, its waits too.
    Awaits,
}

/// A part of the response time of an entity: mean ticks per instance. The parts of an entity add up to its
/// mean response time.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What kind of time, for reports: `executes`, `ready behind`, …
    pub kind: String,
    /// Of what or whom.
    pub name: String,
    /// What the kind means here.
    pub origin: Origin,
    /// Mean ticks per instance before.
    pub before: f64,
    /// After.
    pub after: f64,
    /// Standard error of after − before, greater where it is known from few recordings; 0 if the numbers are
    /// exact.
    pub error: f64,
}

impl Part {
    /// A part from the samples of both sides: ticks of each instance, 0 for instances without it. A side
    /// without samples has none of it.
    pub fn of(kind: &str, name: &str, origin: Origin, before: &Side, after: &Side) -> Self {
        Self {
            kind: kind.to_owned(),
            name: name.to_owned(),
            origin,
            before: before.mean().unwrap_or(0.0),
            after: after.mean().unwrap_or(0.0),
            error: within::error(before, after, SURE),
        }
    }

    fn change(&self) -> f64 {
        self.after - self.before
    }

    fn is_sure(&self) -> bool {
        self.change().abs() > SURE * self.error
    }
}

/// An entity, and what its response time is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// Task or ISR.
    pub entity: String,
    /// Its parts, each kind and name once.
    pub parts: Vec<Part>,
}

/// A possible cause of a change.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    /// Whose part it is.
    pub entity: String,
    /// Kind and name of the part.
    pub kind: String,
    /// Likewise.
    pub name: String,
    /// What the kind means.
    pub origin: Origin,
    /// How many ticks of the change of the mean response time it accounts for, about: the change of the
    /// part, times how often the entity meets it per instance.
    pub explains: f64,
    /// Whether the part changed by more than chance. Causes that are not sure come last, for information.
    pub sure: bool,
    /// From the entity that is explained to that of the cause.
    pub path: Vec<String>,
}

/// An entity on the way from an effect to its cause.
struct Place<'a> {
    entity: &'a str,
    /// How often what it executes is met per instance of the entity that is explained.
    factor: f64,
    /// Whether its waits count as well.
    whole: bool,
    path: Vec<String>,
}

/// What made the response time of an entity change: causes, the first one first.
///
/// The way goes from the parts of the entity to the entities that it was behind or waited for, and to their
/// parts. What somebody executes is a cause; a wait behind somebody is a consequence as far as what that
/// one executes explains it. So the ranks are:
///
/// 1. executions that changed for sure, by how much of the change they explain;
/// 2. waits that changed for sure, by how much nothing explains: who was waited for executes as before, but
///    comes more often or at other times;
/// 3. executions that explain less than a tenth of what all causes explain, or that pull into the other
///    direction;
/// 4. what is not sure, by size in standard errors.
///
/// Empty if the entity is not among the responses. Time: proportional to all parts.
pub fn first_cause(entity: &str, responses: &[Response]) -> Vec<Cause> {
    let known: HashMap<&str, &Response> = responses.iter().map(|one| (one.entity.as_str(), one)).collect();
    let Some(response) = known.get(entity) else { return Vec::new() };
    let mut places = vec![Place {
        entity: &response.entity,
        factor: 1.0,
        whole: true,
        path: vec![response.entity.clone()],
    }];
    let (mut seen, mut found) = (HashSet::from([entity]), Vec::new());
    let mut next = 0;
    while let Some(place) = places.get(next) {
        let mut further = Vec::new();
        if let Some(response) = known.get(place.entity) {
            for part in &response.parts {
                of_part(part, place, &known, &mut found, &mut further);
            }
        }
        next += 1;
        // Those that are met most often first: an entity that is met in two ways is followed once.
        further.sort_by(|a: &Place, b: &Place| b.factor.total_cmp(&a.factor));
        places.extend(further.into_iter().filter(|one| seen.insert(one.entity)));
    }
    ranked(found, response)
}

/// The cause that a part is, and where it leads to.
fn of_part<'a>(
    part: &'a Part,
    place: &Place<'a>,
    known: &HashMap<&'a str, &'a Response>,
    found: &mut Vec<(Cause, f64)>,
    further: &mut Vec<Place<'a>>,
) {
    if part.origin != Origin::Own && !place.whole {
        return;
    }
    let mut rest = part.change();
    if let Some(other) = known.get(part.name.as_str()).filter(|_| part.origin != Origin::Own) {
        let whole = part.origin == Origin::Awaits;
        let counted = || other.parts.iter().filter(|one| whole || one.origin == Origin::Own);
        let time: f64 = counted().map(|one| one.before + one.after).sum();
        let met = if time > 0.0 { (part.before + part.after) / time } else { 0.0 };
        rest -= met * counted().filter(|one| one.is_sure()).map(Part::change).sum::<f64>();
        if place.path.len() < DEEPEST && other.entity != place.entity {
            let path = place.path.iter().cloned().chain([other.entity.clone()]).collect();
            further.push(Place { entity: &other.entity, factor: place.factor * met, whole, path });
        }
    }
    let of_own = part.origin == Origin::Own;
    // What is left of a wait is not sure if most of it is explained.
    let sure = part.is_sure() && (of_own || rest.abs() > (SURE * part.error).max(0.5 * part.change().abs()));
    let scores = part.change().abs() / part.error.max(f64::MIN_POSITIVE);
    let cause = Cause {
        entity: place.entity.to_owned(),
        kind: part.kind.clone(),
        name: part.name.clone(),
        origin: part.origin,
        explains: place.factor * rest,
        sure,
        path: place.path.clone(),
    };
    found.push((cause, scores));
}

fn ranked(mut found: Vec<(Cause, f64)>, response: &Response) -> Vec<Cause> {
    let change: f64 = response.parts.iter().map(Part::change).sum();
    let error = response.parts.iter().map(|part| part.error.powi(2)).sum::<f64>().sqrt();
    let is_known = change.abs() > SURE * error;
    let all: f64 = found.iter().filter(|(one, _)| one.sure).map(|(one, _)| one.explains.abs()).sum();
    let rank = |cause: &Cause| match cause {
        one if !one.sure => 3,
        one if is_known && one.explains * change < 0.0 => 2,
        one if one.origin == Origin::Own && one.explains.abs() >= MINOR * all => 0,
        one if one.origin != Origin::Own => 1,
        _ => 2,
    };
    let weight = |(cause, scores): &(Cause, f64)| if cause.sure { cause.explains.abs() } else { *scores };
    found.sort_by(|a, b| {
        rank(&a.0)
            .cmp(&rank(&b.0))
            .then_with(|| weight(b).total_cmp(&weight(a)))
            .then_with(|| (&a.0.entity, &a.0.kind, &a.0.name).cmp(&(&b.0.entity, &b.0.kind, &b.0.name)))
    });
    found.into_iter().map(|(cause, _)| cause).collect()
}
