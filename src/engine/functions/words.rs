//! `is_action(action, 'trigger', …)`, `is_type(target_type, 'T', …)`, `is_environment(source)`: does a word
//! of a BTF file, in whatever spelling, mean one of these? Not what it means (see [`crate::btf::spec`]).

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanArray, StringViewArray};
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::btf::spec::{Action, EntityType, is_environment};
use crate::names::IdMap;

/// A test of one name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::engine) enum NameTest {
    /// It is this text.
    Equals(String),
    /// It means one of these actions, or is such a word of a vendor.
    Action(Vec<Action>, Vec<String>),
    /// It means one of these types, or is such a word of a vendor.
    Type(Vec<EntityType>, Vec<String>),
    /// It is a name of the environment.
    Environment,
}

impl NameTest {
    /// The test that a call makes of its first argument; `None` if it is no such function.
    pub fn of_call(function: &str, words: impl Iterator<Item = String>) -> Option<Self> {
        fn split<T>(
            words: impl Iterator<Item = String>,
            parse: impl Fn(&str) -> Option<T>,
        ) -> (Vec<T>, Vec<String>) {
            let (mut known, mut others) = (Vec::new(), Vec::new());
            for word in words {
                match parse(&word) {
                    Some(meaning) => known.push(meaning),
                    None => others.push(word),
                }
            }
            (known, others)
        }
        match function {
            "is_action" => {
                let (known, others) = split(words, Action::parse_tolerant);
                Some(Self::Action(known, others))
            }
            "is_type" => {
                let (known, others) = split(words, EntityType::parse_tolerant);
                Some(Self::Type(known, others))
            }
            "is_environment" => Some(Self::Environment),
            _ => None,
        }
    }

    /// True for a name that passes.
    pub fn accepts(&self, name: &str) -> bool {
        let other = |others: &[String]| others.iter().any(|other| other.eq_ignore_ascii_case(name));
        match self {
            Self::Equals(text) => text == name,
            Self::Action(known, others) => {
                Action::parse_tolerant(name).map_or_else(|| other(others), |action| known.contains(&action))
            }
            Self::Type(known, others) => {
                EntityType::parse_tolerant(name).map_or_else(|| other(others), |kind| known.contains(&kind))
            }
            Self::Environment => is_environment(name),
        }
    }
}

impl fmt::Display for NameTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (known, others): (Vec<_>, &[String]) = match self {
            Self::Equals(text) => (vec![text.as_str()], &[]),
            Self::Action(known, others) => (known.iter().map(|action| action.as_str()).collect(), others),
            Self::Type(known, others) => (known.iter().map(|kind| kind.as_str()).collect(), others),
            Self::Environment => (vec!["the environment"], &[]),
        };
        let words: Vec<&str> = known.into_iter().chain(others.iter().map(String::as_str)).collect();
        f.write_str(&words.join(" or "))
    }
}

/// The three functions.
pub(super) fn words() -> [ScalarUDF; 3] {
    ["is_action", "is_type", "is_environment"].map(|name| {
        ScalarUDF::from(WordFunction { name, signature: Signature::user_defined(Volatility::Immutable) })
    })
}

#[derive(Debug)]
struct WordFunction {
    name: &'static str,
    signature: Signature,
}

impl PartialEq for WordFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for WordFunction {}

impl Hash for WordFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for WordFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let words = types.len().saturating_sub(1);
        if types.is_empty() || (self.name == "is_environment") != (words == 0) {
            return plan_err!(
                "{} needs a name{}",
                self.name,
                match self.name {
                    "is_environment" => "",
                    _ => " and the words that it may mean, e.g. is_action(action, 'start', 'resume')",
                }
            );
        }
        Ok(vec![DataType::Utf8View; types.len()])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some((names, words)) = args.args.split_first() else {
            return exec_err!("{} of nothing", self.name);
        };
        let mut texts = Vec::with_capacity(words.len());
        for word in words {
            match word {
                ColumnarValue::Scalar(ScalarValue::Utf8View(Some(text)) | ScalarValue::Utf8(Some(text))) => {
                    texts.push(text.clone());
                }
                _ => return exec_err!("the words of {} are texts, e.g. 'start'", self.name),
            }
        }
        let Some(test) = NameTest::of_call(self.name, texts.into_iter()) else {
            return exec_err!("there is no function {}", self.name);
        };
        match names {
            ColumnarValue::Scalar(name) => {
                let passes = name.try_as_str().flatten().map(|name| test.accepts(name));
                Ok(ColumnarValue::Scalar(ScalarValue::Boolean(passes)))
            }
            ColumnarValue::Array(names) => match names.as_string_view_opt() {
                Some(names) => Ok(ColumnarValue::Array(Arc::new(tested(&test, names)))),
                None => exec_err!("the names of {} are texts", self.name),
            },
        }
    }
}

/// Tests each name of an array once: those with the same view are the same.
fn tested(test: &NameTest, names: &StringViewArray) -> BooleanArray {
    let mut known: IdMap<(u64, u64), bool> = IdMap::default();
    let test = |row| {
        names.is_valid(row).then(|| {
            let view = names.views().get(row).copied().unwrap_or_default();
            let key = ((view >> 64) as u64, view as u64);
            *known.entry(key).or_insert_with(|| test.accepts(names.value(row)))
        })
    };
    (0..names.len()).map(test).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(function: &str, words: &[&str]) -> NameTest {
        NameTest::of_call(function, words.iter().map(|word| (*word).to_owned())).unwrap()
    }

    #[test]
    fn every_spelling_passes_and_nothing_else() {
        let lost = test("is_action", &["mtalimitexceeded"]);
        for spelling in ["mtalimitexceeded", "mtalimitexceded", "mpalimitexceeded", "MTALIMITEXCEEDED"] {
            assert!(lost.accepts(spelling), "{spelling}");
        }
        assert!(!lost.accepts("activate") && !lost.accepts("") && !lost.accepts("idle"));
        // A word may be asked for in any spelling, too, and those of vendors are words.
        assert!(test("is_action", &["MPALIMITEXCEEDED", "idle"]).accepts("mtalimitexceded"));
        assert!(
            test("is_action", &["idle"]).accepts("Idle") && !test("is_action", &["idle"]).accepts("execute")
        );
        let isr = test("is_type", &["I"]);
        assert!(isr.accepts("ISR") && isr.accepts("isr") && isr.accepts("I") && !isr.accepts("T"));
        assert!(test("is_type", &["X"]).accepts("x") && !isr.accepts("X"));
        for name in ["SIM", "Sim", "SYSTEM", "Simulation"] {
            assert!(test("is_environment", &[]).accepts(name), "{name}");
        }
        assert!(!test("is_environment", &[]).accepts("SIM_1"));
        assert_eq!(NameTest::of_call("abs", std::iter::empty()), None);
    }

    #[test]
    fn a_column_is_tested_row_by_row() {
        let long = "requestsemaphore";
        let names =
            StringViewArray::from(vec![Some("assigned"), None, Some(long), Some("ASSIGNED"), Some(long)]);
        let found = tested(&test("is_action", &["assigned"]), &names);
        assert_eq!(found, BooleanArray::from(vec![Some(true), None, Some(false), Some(true), Some(false)]));
    }
}
