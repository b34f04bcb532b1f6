//! `payload['tid']`, `payload['callers'][1]`: a part of a text of JSON, as text. Not the writing of such
//! texts (see `formats`).

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StringViewArray};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{DFSchema, Result, internal_err};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawFieldAccessExpr};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, GetFieldAccess, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, TypeSignature, Volatility, lit,
};
use serde::Deserializer as _;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// `json_part(text, name)`, `json_part(text, number)`: the part of an object or a list. A text without its
/// quotes, anything else as it is written. NULL if the part is missing or `null`, and if the text is no
/// object or list.
pub(super) fn json_part() -> ScalarUDF {
    ScalarUDF::from(JsonPart::new())
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct JsonPart {
    signature: Signature,
}

impl JsonPart {
    fn new() -> Self {
        let with = |part| TypeSignature::Exact(vec![DataType::Utf8View, part]);
        let forms = vec![with(DataType::Utf8View), with(DataType::Int64)];
        Self { signature: Signature::one_of(forms, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for JsonPart {
    fn name(&self) -> &str {
        "json_part"
    }

    /// As it is written: the column of `payload['tid']` is called so.
    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        let names = args.iter().map(|arg| match arg {
            Expr::Literal(value, _) => value.to_string(),
            other => other.schema_name().to_string(),
        });
        let names: Vec<String> = names.collect();
        Ok(format!(
            "{}[{}]",
            names.first().map_or("", String::as_str),
            names.get(1).map_or("", String::as_str)
        ))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [texts, parts] = &arrays[..] else { return internal_err!("json_part has two arguments") };
        let Some(texts) = texts.as_string_view_opt() else {
            return internal_err!("json_part is called with a text");
        };
        let found: StringViewArray = match (parts.as_string_view_opt(), parts.as_primitive_opt::<Int64Type>())
        {
            (Some(names), _) => {
                texts.iter().zip(names).map(|(text, name)| part(text?, Part::Named(name?))).collect()
            }
            (_, Some(numbers)) => {
                texts.iter().zip(numbers).map(|(text, number)| part(text?, Part::Numbered(number?))).collect()
            }
            _ => return internal_err!("json_part is called with a name or a number"),
        };
        Ok(ColumnarValue::Array(Arc::new(found) as ArrayRef))
    }
}

/// Plans `text['name']` and `text[1]` for texts.
#[derive(Debug)]
pub(in crate::engine) struct JsonParts;

impl ExprPlanner for JsonParts {
    fn plan_field_access(
        &self,
        access: RawFieldAccessExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawFieldAccessExpr>> {
        let is_text = matches!(
            access.expr.get_type(schema)?,
            DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8
        );
        let part = match &access.field_access {
            GetFieldAccess::NamedStructField { name } if is_text => lit(name.clone()),
            GetFieldAccess::ListIndex { key } if is_text => key.as_ref().clone(),
            _ => return Ok(PlannerResult::Original(access)),
        };
        Ok(PlannerResult::Planned(json_part().call(vec![access.expr, part])))
    }
}

/// Which part of an object or list.
#[derive(Debug, Clone, Copy)]
enum Part<'k> {
    Named(&'k str),
    /// From 1, as SQL counts.
    Numbered(i64),
}

fn part(text: &str, part: Part<'_>) -> Option<String> {
    let mut json = serde_json::Deserializer::from_str(text);
    let found = match part {
        Part::Named(_) => json.deserialize_map(Pick(part)),
        Part::Numbered(_) => json.deserialize_seq(Pick(part)),
    };
    let found = found.ok()??.get();
    match found.as_bytes().first() {
        Some(b'n') => None,
        Some(b'"') => serde_json::from_str(found).ok(),
        _ => Some(found.to_owned()),
    }
}

/// Takes one part as it is written, and passes over the others.
struct Pick<'k>(Part<'k>);

impl<'de> Visitor<'de> for Pick<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Part::Named(wanted) = self.0 else { return Ok(None) };
        let mut found = None;
        while let Some(is_wanted) = map.next_key_seed(IsName(wanted))? {
            if is_wanted && found.is_none() {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let Part::Numbered(wanted) = self.0 else { return Ok(None) };
        let (mut number, mut found) = (0, None);
        while let Some(value) = list.next_element()? {
            number += 1;
            found = if number == wanted { Some(value) } else { found };
        }
        Ok(found)
    }
}

/// Whether a name is this one.
struct IsName<'k>(&'k str);

impl<'de> DeserializeSeed<'de> for IsName<'_> {
    type Value = bool;

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for IsName<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn parts_are_texts() {
        let text = r#"{"tid": 7, "name": "a\n\"b\"", "list": [1, "x", null], "none": null, "deep": {"x": -1.5}, "tid": 8}"#;
        let named = |name| part(text, Part::Named(name));
        assert_eq!(named("tid").as_deref(), Some("7"), "the first one");
        assert_eq!(named("name").as_deref(), Some("a\n\"b\""));
        assert_eq!((named("none"), named("missing")), (None, None));
        assert_eq!(part(&named("deep").unwrap(), Part::Named("x")).as_deref(), Some("-1.5"));
        let list = named("list").unwrap();
        let of_list = |number| part(&list, Part::Numbered(number));
        assert_eq!([0, 1, 2, 3, 4].map(of_list), [None, Some("1".into()), Some("x".into()), None, None]);
        for other in ["", "7", "no", "{", "[1]"] {
            assert_eq!(part(other, Part::Named("tid")), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn every_text_comes_back(name: String, text: String) {
            let value = json!({"other": [name.clone()], name.clone(): text.clone()});
            let expected = if name == "other" { None } else { Some(text) };
            let found = part(&Value::to_string(&value), Part::Named(&name));
            prop_assert_eq!(found.filter(|_| name != "other"), expected);
        }
    }
}
