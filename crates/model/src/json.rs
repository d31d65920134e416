//! Plain JSON, where the protocol allows any value.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::read::{Members, Object, Read, ReadError, read_by_build};

/// A JSON object whose members keep their order.
pub type JsonObject = Map<String, Value>;

impl Object for JsonObject {
    const EXPECTED: &'static str = "a map";

    fn build(members: &mut dyn Members<'_>) -> Result<Self, ReadError> {
        let mut object = Self::new();
        while let Some(name) = members.next_name()? {
            object.insert(name.into_owned(), members.value()?);
        }
        Ok(object)
    }
}

read_by_build!(JsonObject);

/// Reads the members of an object and rejects duplicate names.
pub(crate) fn once_per_name<V: Read>(
    members: &mut dyn Members<'_>,
) -> Result<BTreeMap<String, V>, ReadError> {
    let mut values = BTreeMap::new();
    while let Some(name) = members.next_name()? {
        if values.contains_key(&*name) {
            return Err(ReadError::Value(format!("duplicate name {name:?}")));
        }
        values.insert(name.into_owned(), V::read(members)?);
    }
    Ok(values)
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
