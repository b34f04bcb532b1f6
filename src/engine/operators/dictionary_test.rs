//! Tests a name in a dictionary: is it a constant, does it mean a word? The entries of the dictionary are
//! tested, the rows by their keys. Not for names that are strings, which DataFusion tests itself.

use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{Array, AsArray, BooleanArray, RecordBatch, UInt32Array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::kernels::cmp::eq;
use arrow::compute::{not, or};
use arrow::datatypes::{DataType, Schema, UInt32Type};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{ColumnarValue, Operator};
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};

use crate::engine::functions::words::NameTest;
use crate::names::Memo;

/// `name = 'constant'`, `name <> 'constant'`, or a function that tests words: `is_action(name, 'start')`.
#[derive(Debug)]
pub(in crate::engine) struct DictionaryTest {
    name: Arc<dyn PhysicalExpr>,
    test: NameTest,
    negated: bool,
    /// Which entries of a dictionary pass. One for each thread that is testing.
    memos: Mutex<Vec<Memo<bool>>>,
}

impl DictionaryTest {
    /// The same test over a dictionary, if `expr` tests a column.
    pub fn of(expr: &Arc<dyn PhysicalExpr>) -> Option<Self> {
        let found = |name: &Arc<dyn PhysicalExpr>, test, negated| {
            let new = || Self { name: Arc::clone(name), test, negated, memos: Mutex::default() };
            name.is::<Column>().then(new)
        };
        if let Some(call) = expr.downcast_ref::<ScalarFunctionExpr>() {
            let (name, words) = call.args().split_first()?;
            let words = words.iter().map(literal).collect::<Option<Vec<_>>>()?;
            return found(name, NameTest::of_call(call.name(), words.into_iter())?, false);
        }
        let binary = expr.downcast_ref::<BinaryExpr>()?;
        let negated = match binary.op() {
            Operator::Eq => false,
            Operator::NotEq => true,
            _ => return None,
        };
        let (name, constant) = match (binary.left(), binary.right()) {
            (name, constant) if name.is::<Column>() => (name, constant),
            (constant, name) => (name, constant),
        };
        found(name, NameTest::Equals(literal(constant)?), negated)
    }

    pub fn column(&self) -> &Arc<dyn PhysicalExpr> {
        &self.name
    }

    fn memos(&self) -> std::sync::MutexGuard<'_, Vec<Memo<bool>>> {
        // A panic of another thread leaves no half-changed memo: memos are removed while they change.
        self.memos.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn literal(expr: &Arc<dyn PhysicalExpr>) -> Option<String> {
    match expr.downcast_ref::<Literal>()?.value() {
        ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)) => Some(text.clone()),
        _ => None,
    }
}

impl PhysicalExpr for DictionaryTest {
    fn data_type(&self, _: &Schema) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn nullable(&self, input: &Schema) -> Result<bool> {
        self.name.nullable(input)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let names = self.name.evaluate(batch)?.into_array(batch.num_rows())?;
        let names = names.as_dictionary_opt::<UInt32Type>();
        let Some((names, entries)) = names.and_then(|n| Some((n, n.values().as_string_opt::<i32>()?))) else {
            return internal_err!("a name to be compared is not in a dictionary");
        };
        let mut memo = self.memos().pop().unwrap_or_default();
        memo.follow(entries, |entry| self.test.accepts(entry));
        let keys = names.keys();
        let mut equal_keys = memo.values().iter().zip(0..).filter(|(equal, _)| **equal).map(|(_, key)| key);
        let equal = match equal_keys.next() {
            Some(key) => {
                // If two dictionaries were merged, they may have an entry twice.
                let found = equal_keys.try_fold(eq(keys, &UInt32Array::new_scalar(key))?, |found, key| {
                    or(&found, &eq(keys, &UInt32Array::new_scalar(key))?)
                })?;
                if self.negated { not(&found)? } else { found }
            }
            None => {
                let all = if self.negated { BooleanBuffer::new_set } else { BooleanBuffer::new_unset };
                BooleanArray::new(all(keys.len()), keys.nulls().cloned())
            }
        };
        self.memos().push(memo);
        Ok(ColumnarValue::Array(Arc::new(equal)))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.name]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let Ok([name]) = <[_; 1]>::try_from(children) else { return internal_err!("one name is compared") };
        let (test, negated) = (self.test.clone(), self.negated);
        Ok(Arc::new(Self { name, test, negated, memos: Mutex::default() }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for DictionaryTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.test {
            NameTest::Equals(text) => {
                write!(f, "{} {} {text}", self.name, if self.negated { "!=" } else { "=" })
            }
            words => write!(f, "{} means {words}", self.name),
        }
    }
}

impl PartialEq for DictionaryTest {
    fn eq(&self, other: &Self) -> bool {
        self.name.eq(&other.name) && self.test == other.test && self.negated == other.negated
    }
}

impl Eq for DictionaryTest {}

impl Hash for DictionaryTest {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (&self.name, &self.test, self.negated).hash(state);
    }
}
