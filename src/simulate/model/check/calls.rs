//! That no runnable calls itself, also not through others, and that calls are not too deep. Not what the
//! called steps do.

use super::{Checks, MOST_NESTED, Owner, each_step};
use crate::error::Result;
use crate::simulate::model::Step;

/// How deep calls and nested steps may be together. The checks follow them by recursion.
const DEEPEST: usize = 128;

/// What is known about a runnable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    Not,
    Open,
    /// How deep its steps and calls are.
    Depth(usize),
}

impl Checks<'_> {
    pub(super) fn calls(self) -> Result<()> {
        let mut visits = vec![Visit::Not; self.model.runnables.len()];
        let mut path = Vec::new();
        (0..visits.len()).try_for_each(|ix| self.visit(ix, 0, &mut visits, &mut path).map(drop))
    }

    /// The depth of a runnable. `path` are the runnables that call each other up to it, together `above`
    /// deep.
    fn visit(self, ix: usize, above: usize, visits: &mut [Visit], path: &mut Vec<usize>) -> Result<usize> {
        if let Some(Visit::Depth(depth)) = visits.get(ix) {
            return Ok(*depth);
        }
        let Some(body) = self.runnable(ix) else { return Ok(0) };
        path.push(ix);
        if let Some(visit) = visits.get_mut(ix) {
            *visit = Visit::Open;
        }
        let mut deepest = 0;
        each_step(body.steps, body.places, 1, &mut |step, line, depth| {
            let Step::Call { runnable } = step else {
                deepest = deepest.max(depth);
                return Ok(());
            };
            if visits.get(*runnable) == Some(&Visit::Open) {
                let from = path.iter().position(|on| on == runnable).unwrap_or(0);
                let cycle = self.names_of(path.get(from..).unwrap_or_default().iter().chain([runnable]));
                let message = format!("runnables call each other in a cycle: {cycle}");
                return self.mistake(line, message, "a runnable that calls itself never ends: remove a call");
            }
            // Of a runnable that is known, only its depth says how deep it is.
            let is_deep = above + depth >= DEEPEST;
            if !is_deep {
                deepest = deepest.max(depth + self.visit(*runnable, above + depth, visits, path)?);
            }
            if is_deep || deepest > DEEPEST - MOST_NESTED {
                let message = format!("calls are too deep below {} '{}'", body.owner.kind(), body.name);
                let hint = format!("calls and steps in steps are at most {} deep", DEEPEST - MOST_NESTED);
                return self.mistake(line, message, hint);
            }
            Ok(())
        })?;
        path.pop();
        if let Some(visit) = visits.get_mut(ix) {
            *visit = Visit::Depth(deepest);
        }
        Ok(deepest)
    }

    /// `R_1 → R_2`
    pub(super) fn names_of<'r>(self, runnables: impl Iterator<Item = &'r usize>) -> String {
        let names = runnables.filter_map(|ix| Some(self.model.runnables.get(*ix)?.name.as_str()));
        names.collect::<Vec<_>>().join(" → ")
    }

    /// The runnables that some step calls.
    pub(super) fn called(self) -> Vec<bool> {
        let mut called = vec![false; self.model.runnables.len()];
        self.mark(
            &mut |_, step| if let Step::Call { runnable } = step { Some(*runnable) } else { None },
            &mut called,
        );
        called
    }

    /// Marks what steps name, by `of`.
    pub(super) fn mark(self, of: &mut dyn FnMut(Owner, &Step) -> Option<usize>, marks: &mut [bool]) {
        for body in self.bodies() {
            // No visit fails.
            let _ = each_step(body.steps, body.places, 1, &mut |step, _, _| {
                if let Some(mark) = of(body.owner, step).and_then(|ix| marks.get_mut(ix)) {
                    *mark = true;
                }
                Ok(())
            });
        }
    }
}
