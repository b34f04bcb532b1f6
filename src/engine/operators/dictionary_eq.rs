//! Compares a name in a dictionary with a constant: the entries of the dictionary are compared, the rows by
//! their keys. Not for names that are strings, which DataFusion compares itself.

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
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal};

use crate::names::Memo;

/// `name = 'constant'`, or `<>`.
#[derive(Debug)]
pub(in crate::engine) struct DictionaryEq {
    name: Arc<dyn PhysicalExpr>,
    constant: String,
    negated: bool,
    /// Which entries of a dictionary equal the constant. One for each thread that is comparing.
    memos: Mutex<Vec<Memo<bool>>>,
}

impl DictionaryEq {
    /// The same comparison over a dictionary, if `expr` compares a column with a text.
    pub fn of(expr: &Arc<dyn PhysicalExpr>) -> Option<Self> {
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
        let constant = match constant.downcast_ref::<Literal>()?.value() {
            ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)) => text.clone(),
            _ => return None,
        };
        let found = || Self { name: Arc::clone(name), constant, negated, memos: Mutex::default() };
        name.is::<Column>().then(found)
    }

    pub fn column(&self) -> &Arc<dyn PhysicalExpr> {
        &self.name
    }

    fn memos(&self) -> std::sync::MutexGuard<'_, Vec<Memo<bool>>> {
        // A panic of another thread leaves no half-changed memo: memos are removed while they change.
        self.memos.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PhysicalExpr for DictionaryEq {
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
        memo.follow(entries, |entry| entry == self.constant);
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
        let (constant, negated) = (self.constant.clone(), self.negated);
        Ok(Arc::new(Self { name, constant, negated, memos: Mutex::default() }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for DictionaryEq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.name, if self.negated { "!=" } else { "=" }, self.constant)
    }
}

impl PartialEq for DictionaryEq {
    fn eq(&self, other: &Self) -> bool {
        self.name.eq(&other.name) && self.constant == other.constant && self.negated == other.negated
    }
}

impl Eq for DictionaryEq {}

impl Hash for DictionaryEq {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (&self.name, &self.constant, self.negated).hash(state);
    }
}
