//! Plain JSON, where the protocol allows any value.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

/// A JSON object whose members keep their order.
pub type JsonObject = Map<String, Value>;

/// Reads an object and rejects duplicate names.
pub(crate) struct OncePerName<V>(pub(crate) PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for OncePerName<V> {
    type Value = BTreeMap<String, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            if values.contains_key(&name) {
                return Err(A::Error::custom(format_args!("duplicate name {name:?}")));
            }
            values.insert(name, map.next_value()?);
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::json;

    use super::*;
    use crate::{
        CallToolParams, CompleteParams, GetPromptParams, ListParams, ReadResourceParams,
        SetLevelParams,
    };

    fn again<T: DeserializeOwned + Serialize>(wire: &Value) -> Value {
        let read: T = serde_json::from_value(wire.clone()).expect("parameters");
        serde_json::to_value(read).expect("JSON")
    }

    // spec: 2026-07-28 N-VER-07
    #[test]
    fn unknown_members_of_parameters_are_written_back() {
        let wire = json!({
            "name": "n", "uri": "a:", "cursor": "c", "level": "info", "x": [1],
            "ref": {"type": "ref/prompt", "name": "n", "x": 1},
            "argument": {"name": "n", "value": "v", "x": 1},
            "context": {"arguments": {}, "x": 1}
        });
        assert_eq!(again::<CallToolParams>(&wire), wire);
        assert_eq!(again::<GetPromptParams>(&wire), wire);
        assert_eq!(again::<ReadResourceParams>(&wire), wire);
        assert_eq!(again::<ListParams>(&wire), wire);
        assert_eq!(again::<CompleteParams>(&wire), wire);
        assert_eq!(again::<SetLevelParams>(&wire), wire);
    }
}
