//! A simulated system as ERIKA Enterprise v2: every access of the kernels, and the files that describe it.
//! Not how they are written (see `writer`).

mod names;
mod orti;

use super::form::Form;
use super::writer::{KnownNames, Writer};
use crate::simulate::kernel::access::{Function, Variable};
use crate::simulate::kernel::{Handlers, NONE};
use crate::simulate::model::Model;
use std::io::Write;

pub use orti::description;

/// The names of a model, and those that were used.
pub struct Names<'m> {
    model: &'m Model,
    handlers: &'m Handlers,
    variables: KnownNames<Variable>,
    functions: KnownNames<(Function, usize)>,
}

impl<'m> Names<'m> {
    pub fn new(model: &'m Model, handlers: &'m Handlers, form: &'static Form) -> Self {
        let (variables, functions) = (KnownNames::of_variables(form), KnownNames::of_functions(form));
        Self { model, handlers, variables, functions }
    }

    pub fn data<W: Write>(
        &mut self,
        out: &mut Writer<W>,
        at: (usize, i64),
        variable: Variable,
        write: bool,
        value: u32,
    ) {
        let model = self.model;
        let name = self.variables.of(variable, |text| names::variable(text, variable, model));
        let value = match variable {
            Variable::RunningIsr2 if value == NONE => 0,
            Variable::RunningIsr2 => names::address(value),
            _ => value,
        };
        out.data(at, name, write, value);
    }

    pub fn function<W: Write>(
        &mut self,
        out: &mut Writer<W>,
        at: (usize, i64),
        function: Function,
        entry: bool,
    ) {
        let (model, handlers, core) = (self.model, self.handlers, at.0);
        let write = |text: &mut Vec<u8>| names::function(text, function, model, handlers, core).map(|()| 0);
        out.function(at, self.functions.of((function, core), write), entry);
    }
}
