//! Reading capabilities as peers really write them.
//!
//! A capability is an object. Some peers write `true` and `false`. Some languages write an empty
//! object as an empty array. All of these are read. For `#[serde(default, deserialize_with =
//! "…")]`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Reads a capability: an object, or `true` for an object without members; false and null
/// are absence.
///
/// # Errors
///
/// If the member has another type.
pub(super) fn capability<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    deserializer.deserialize_any(PresenceVisitor(PhantomData))
}

struct PresenceVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for PresenceVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a capability: an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Option<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Some)
    }

    fn visit_bool<E: Error>(self, is_present: bool) -> Result<Option<T>, E> {
        Ok(is_present.then(T::default))
    }

    fn visit_unit<E: Error>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _empty: A) -> Result<Option<T>, A::Error> {
        Ok(Some(T::default()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::ServerCapabilities;

    // spec: 2025-11-25 AMB-12
    #[test]
    fn capabilities_are_read_as_peers_write_them() {
        let wire = r#"{"logging":true,"completions":[],"prompts":false,"tools":null,
            "resources":{"subscribe":true,"x":1},"unknown":true}"#;
        let read: ServerCapabilities = serde_json::from_str(wire).unwrap();

        assert_eq!(
            serde_json::to_value(read).unwrap(),
            json!({"resources": {"subscribe": true, "x": 1}, "completions": {}, "logging": {},
                "unknown": true})
        );
    }

    #[test]
    fn a_text_is_rejected_as_a_capability() {
        let read = serde_json::from_value::<ServerCapabilities>;
        assert!(read(json!({"tools": "yes"})).is_err());
    }
}
