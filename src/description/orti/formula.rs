//! The C expressions of ORTI attributes over traced values: which variables they need, and their values. Not
//! their grammar (see `formula_parser`) and not their arithmetic (see `evaluation`).

use super::evaluation::{FormulaError, Op, run};
use super::formula_parser;

/// A compiled formula: postfix code with forward jumps only, so evaluation neither recurses nor loops.
#[derive(Debug, Clone)]
pub struct Formula {
    code: Vec<Op>,
    variables: Vec<String>,
}

impl Formula {
    /// Compiles a formula.
    ///
    /// # Errors
    /// When the text is not in the subset, nests deeper than 64, or has more than 4096 characters.
    pub fn parse(text: &str) -> Result<Formula, FormulaError> {
        let mut code = formula_parser::compile(text)?;
        let mut variables: Vec<String> = Vec::new();
        for op in &mut code {
            let Op::Path(texts) = op else { continue };
            let [name] = texts.as_mut_slice() else { continue };
            let place = variables.iter().position(|v| v == name).unwrap_or_else(|| {
                variables.push(std::mem::take(name));
                variables.len() - 1
            });
            *op = Op::Variable(place);
        }
        Ok(Formula { code, variables })
    }

    /// The canonical paths (see [`canonical_path`]) of the variables it reads, in order of first use: the
    /// static ones and the operands of computed indices. For a formula that needs an address: those it names.
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    /// False when it needs an address (`&x`, `*p`, `sizeof`, a string), which no trace of values has.
    pub fn is_evaluable(&self) -> bool {
        !self.code.iter().any(|op| matches!(op, Op::Opaque(_)))
    }

    /// True if an index depends on a traced variable, so that further variables are only known at run time.
    pub fn has_dynamic_paths(&self) -> bool {
        self.code.iter().any(|op| matches!(op, Op::Path(_)))
    }

    /// The part before the first computed index of each dynamic path, e.g. `EE_ORTI_th_priority` of
    /// `EE_ORTI_th_priority[EE_stkfirst]`; inner paths come before those that use them.
    pub fn dynamic_bases(&self) -> Vec<String> {
        let mut bases: Vec<String> = Vec::new();
        for op in &self.code {
            if let Op::Path(texts) = op
                && let Some(base) = texts.first()
                && !bases.contains(base)
            {
                bases.push(base.clone());
            }
        }
        bases
    }

    /// The value, or `None` if it depends on something unknown, needs an address, divides by zero, shifts by
    /// less than 0 or more than 63, or indexes by less than 0. `get` returns the value of an index in
    /// [`Formula::variables`], `dynamic` that of a whole path with a computed index.
    ///
    /// Sides of `?:`, `&&` and `||` that C would not evaluate may be unknown. `==` and `!=` treat 32-bit
    /// values as C does if one is unsigned: `-1 == 0xFFFFFFFF`.
    pub fn eval(
        &self,
        get: &dyn Fn(usize) -> Option<i64>,
        dynamic: &dyn Fn(&str) -> Option<i64>,
    ) -> Option<i64> {
        match self.code.as_slice() {
            [Op::Variable(place)] => get(*place),
            code => run(code, get, dynamic),
        }
    }
}

/// The canonical spelling of a variable path: no blanks, `.` for `->`, decimal indices (`a -> b [ 0x1 ]` is
/// `a.b[1]`). `None` if the text is not a path with constant indices.
pub fn canonical_path(text: &str) -> Option<String> {
    let formula = Formula::parse(text).ok()?;
    match formula.code.as_slice() {
        [Op::Variable(_)] => formula.variables.into_iter().next(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_one_spelling() {
        assert_eq!(canonical_path(" a -> b [ 0x1 ] "), Some("a.b[1]".into()));
        assert_eq!(canonical_path("(a[2-1]).c"), Some("a[1].c".into()));
        assert!(
            ["", "a[i]", "1", "a + 0", "&a", "(int)a", "a b", "a[-1]", "::a"]
                .iter()
                .all(|t| canonical_path(t).is_none())
        );
    }
}
