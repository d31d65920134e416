//! Reading capabilities as peers really write them.
//!
//! A capability is an object. Some peers write `true` and `false`. Some languages write an empty
//! object as an empty array. All of these are read. For `#[serde(default, deserialize_with =
//! "…")]`.

use crate::read::{Event, Kind, Object, ReadError, Source, read_as};

/// Reads a capability: an object, or `true` for an object without members; false and null
/// are absence.
///
/// # Errors
///
/// If the member has another type.
pub(super) fn capability<T: Object + Default>(
    source: &mut dyn Source<'_>,
) -> Result<Option<T>, ReadError> {
    const EXPECTED: &str = "a capability: an object";
    read_as(source, Kind::Any, EXPECTED, |event| match event {
        Event::Object(members) => T::build(members).map(Some),
        Event::Bool(is_present) => Ok(is_present.then(T::default)),
        Event::Null => Ok(None),
        Event::Array(_) => Ok(Some(T::default())),
        other => Err(other.wrong_type(EXPECTED)),
    })
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
