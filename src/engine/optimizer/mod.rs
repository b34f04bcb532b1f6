//! Optimizer rules over logical plans: what is written in plain SQL becomes a node of our own. Not for rules over physical plans
//! (see `operators`).

mod as_of_join;

pub(super) use as_of_join::FindLatest;
