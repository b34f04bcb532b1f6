//! Alignment of clocks: what messages between two control units say about their clocks → the time of one as
//! that of the other, and how far off it can be. Not where messages come from (see `ops::align`).
//!
//! # What is known
//!
//! No effect is before its cause. A message that was sent when the reference clock showed *x*, and received
//! when the other one showed *y*, says that the other clock showed at most *y* at *x*; a message back says
//! "at least". Let *f(x)* be what the other clock shows at *x*. A clock runs at a rate of its own, which
//! wanders:
//! *f* rises by (*s* ± *w*) for each tick of the reference, for some *s* that nobody knows and a wander *w*
//! that is assumed. All *f* that agree with this and with the messages are possible. [`band`] has, for each
//! *x*, the least and the greatest of them. With *w* = 0 these are the lines between the points, whose
//! extremes the convex hull has ([`rates`]; M. Jabbarifar, M. Dagenais, LIANA, 2015; Trace Compass takes the
//! middle of the extremes, too).
//!
//! # What is claimed
//!
//! The aligned time is that of the middle of the extreme lines, or, where no line agrees with all messages,
//! of a curve of pieces that does. It is never the truth; [`Alignment::bounds`] has the truth between them,
//! as long as the wander is not more than assumed.

mod alignment;
mod band;
mod hull;
mod messages;
mod points;
mod rates;

pub use alignment::{Alignment, Model};
pub use messages::{Fate, Message, Sighting, matched};
pub use points::{Limit, Limits};

#[cfg(test)]
mod tests;
