//! The state of a mapper at the end of a recording, as JSON: one form for all mappers. A name in it is an
//! object with one key, `{"@": "Task_A"}`, so that people can read it, and a mapper with other ids can
//! continue from it. Not the content of a state, which each mapper defines, nor where it is stored.

use super::Mapper;
use crate::btf::NameId;
use crate::error::{Error, ErrorKind, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedState {
    mapper: String,
    version: u32,
    state: Value,
}

impl SavedState {
    /// Puts the names of `mapper` into a state of it.
    pub fn of<M: Mapper>(mapper: &M, state: &M::State) -> Result<Self> {
        let mut state = serde_json::to_value(state)
            .map_err(|e| Error::new(ErrorKind::Bug, "a mapper has a state that is no JSON").because(e))?;
        each_name(&mut state, &mut |name| {
            let id = NameId::deserialize(&*name).unwrap_or_default();
            *name = json!({ NAME: mapper.names().text(id) });
        });
        Ok(Self { mapper: M::NAME.to_owned(), version: M::STATE_VERSION, state })
    }

    /// Resumes `mapper` from this state. Fails when it is of another mapper, or of another application.
    #[allow(
        dead_code,
        reason = "ops::continued maps the whole again; a test shows that what is stored is enough to map on from"
    )]
    pub fn resume<M: Mapper>(mut self, mapper: &mut M) -> Result<()> {
        if (self.mapper.as_str(), self.version) != (M::NAME, M::STATE_VERSION) {
            return Err(Error::database(format!(
                "the stored state is of mapper '{}' {}, not of '{}' {}",
                self.mapper,
                self.version,
                M::NAME,
                M::STATE_VERSION
            ))
            .hint("map the recording that it is of again"));
        }
        each_name(&mut self.state, &mut |name| {
            let id = mapper.names_mut().intern(name.get(NAME).and_then(Value::as_str).unwrap_or_default());
            *name = json!(id);
        });
        let state = serde_json::from_value(self.state)
            .map_err(|e| Error::database("the stored state cannot be read").because(e))?;
        mapper.resume(state)
    }
}

/// The key of the object that stands for a name, as [`NameId`] is serialised.
const NAME: &str = "@";

/// Passes each object that stands for a name to `change`.
fn each_name(value: &mut Value, change: &mut impl FnMut(&mut Value)) {
    match value {
        Value::Object(fields) if fields.len() == 1 && fields.contains_key(NAME) => change(value),
        Value::Object(fields) => fields.values_mut().for_each(|field| each_name(field, change)),
        Value::Array(items) => items.iter_mut().for_each(|item| each_name(item, change)),
        _ => {}
    }
}

/// A map whose keys are not texts, as a list of pairs in the order of the keys.
pub(super) mod pairs {
    use super::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::HashMap;
    use std::hash::{BuildHasher, Hash};

    pub fn serialize<K, V, H, S>(map: &HashMap<K, V, H>, serializer: S) -> Result<S::Ok, S::Error>
    where
        K: Serialize + Ord,
        V: Serialize,
        S: Serializer,
    {
        let mut pairs: Vec<(&K, &V)> = map.iter().collect();
        pairs.sort_unstable_by_key(|(key, _)| *key);
        pairs.serialize(serializer)
    }

    pub fn deserialize<'de, K, V, H, D>(deserializer: D) -> Result<HashMap<K, V, H>, D::Error>
    where
        K: Deserialize<'de> + Eq + Hash,
        V: Deserialize<'de>,
        H: BuildHasher + Default,
        D: Deserializer<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(deserializer)?.into_iter().collect())
    }
}
