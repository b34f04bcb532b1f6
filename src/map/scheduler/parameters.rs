//! The parameters of an event, read from the text of column `payload` of `trace_event`. Not which of them
//! matter (see `meanings`). Nothing is copied that the text has: a tree of `serde_json::Value` for every
//! event took half of the time of a mapping.

use crate::description::Parameter;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor, value::SeqAccessDeserializer};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// The values of an object of JSON, in its order.
#[derive(Debug, Default)]
pub(super) struct Parameters<'a>(Vec<Entry<'a>>);

/// The value of a parameter.
#[derive(Debug)]
pub(super) enum Given<'a> {
    Unsigned(u64),
    /// Less than 0.
    Negative(i64),
    Text(Cow<'a, str>),
    Object(Parameters<'a>),
    /// A list, a truth value, a real number, nothing.
    Other(Value),
}

impl<'a> Parameters<'a> {
    /// Reads the parameters of the next event, in place of these; false if the text is not an object.
    pub fn read(&mut self, payload: &'a str) -> bool {
        self.0.clear();
        let mut deserializer = serde_json::Deserializer::from_str(payload);
        InPlace(&mut self.0).deserialize(&mut deserializer).is_ok() && deserializer.end().is_ok()
    }

    fn get(&self, name: &str) -> Option<&Given<'a>> {
        // Of values of one name, the last one counts, as in `payload['name']` of SQL.
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, given)| given)
    }

    fn find(&self, names: &Parameter) -> Option<&Given<'a>> {
        names.alternatives().iter().find_map(|path| {
            let (last, outer) = path.split_last()?;
            let within = outer.iter().try_fold(self, |object, name| match object.get(name)? {
                Given::Object(inner) => Some(inner),
                _ => None,
            });
            within?.get(last)
        })
    }

    pub fn number(&self, names: &Parameter) -> Option<u64> {
        match self.find(names)? {
            Given::Unsigned(value) => Some(*value),
            // The value has a name: its number has one, too.
            Given::Text(_) => names.numbers().iter().find_map(|name| match self.get(name)? {
                Given::Unsigned(value) => Some(*value),
                _ => None,
            }),
            _ => None,
        }
    }

    pub fn signed(&self, names: &Parameter) -> Option<i64> {
        match self.find(names)? {
            Given::Unsigned(value) => i64::try_from(*value).ok(),
            Given::Negative(value) => Some(*value),
            _ => None,
        }
    }

    pub fn text(&self, names: &Parameter) -> Option<&str> {
        match self.find(names)? {
            Given::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Any value as text: the text itself, or as JSON writes it.
    pub fn printed(&self, names: &Parameter) -> Option<String> {
        Some(match self.find(names)? {
            Given::Unsigned(value) => value.to_string(),
            Given::Negative(value) => value.to_string(),
            Given::Text(text) => text.clone().into_owned(),
            Given::Object(_) => return None,
            Given::Other(value) => value.to_string(),
        })
    }
}

type Entry<'a> = (Cow<'a, str>, Given<'a>);

/// Reads an object to where another one was: most events have several parameters, and none has to be
/// allocated.
struct InPlace<'i, 'a>(&'i mut Vec<Entry<'a>>);

impl<'de> DeserializeSeed<'de> for InPlace<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for InPlace<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((Name(name), given)) = map.next_entry()? {
            self.0.push((name, given));
        }
        Ok(())
    }
}

/// A key, borrowed unless it has escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl<'de> Deserialize<'de> for Given<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Given<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
                Ok(Given::Unsigned(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
                Ok(u64::try_from(value).map_or(Given::Negative(value), Given::Unsigned))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
                Ok(Given::Other(value.into()))
            }

            fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
                Ok(Given::Other(value.into()))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Given::Other(Value::Null))
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Given::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Given::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Value::deserialize(SeqAccessDeserializer::new(list)).map(Given::Other)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let mut inner = Parameters::default();
                InPlace(&mut inner.0).visit_map(map).map(|()| Given::Object(inner))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same by a tree of values.
    fn naive(payload: &Value, names: &str) -> Option<Value> {
        let of_path = |name: &str| name.split('.').try_fold(payload, |value, part| value.get(part));
        names.split('|').find_map(of_path).cloned()
    }

    fn naive_number(payload: &Value, names: &str) -> Option<u64> {
        match naive(payload, names)? {
            Value::String(_) => {
                names.split('|').find_map(|name| payload.get(format!("{name}.value"))?.as_u64())
            }
            value => value.as_u64(),
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<u64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            Just(Value::Null),
            "[a-c\"\\\\\u{7}ä]{0,4}".prop_map(Value::from),
        ];
        let key = prop::sample::select(vec!["a", "b", "c", "a.value", "b.value", "x\ny"]);
        leaf.prop_recursive(3, 20, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::hash_map(key.clone().prop_map(str::to_owned), inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_are_those_of_a_tree(payload in values()) {
            let text = payload.to_string();
            // Real numbers are not read to the last bit, here and there.
            let payload: Value = serde_json::from_str(&text).unwrap();
            let mut of = Parameters::default();
            let before = r#"{"a":1,"b":{"a":"x"}}"#;
            prop_assert!(of.read(before), "{}", before);
            prop_assert_eq!(of.read(&text), payload.is_object());
            if !payload.is_object() {
                return Ok(());
            }
            for names in ["a", "b", "a|b", "a.b|b.a", "a.b.c|c", "c.a|a.value", "d"] {
                let names_of = Parameter::from(names.to_owned());
                let tree = naive(&payload, names);
                prop_assert_eq!(of.number(&names_of), naive_number(&payload, names), "{}", names);
                prop_assert_eq!(of.signed(&names_of), tree.as_ref().and_then(Value::as_i64), "{}", names);
                prop_assert_eq!(of.text(&names_of), tree.as_ref().and_then(Value::as_str), "{}", names);
                let printed = tree.filter(|tree| !tree.is_object()).map(|tree| match tree {
                    Value::String(text) => text,
                    other => other.to_string(),
                });
                prop_assert_eq!(of.printed(&names_of), printed, "{}", names);
            }
        }
    }
}
