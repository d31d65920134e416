//! Members where presence means something.
//!
//! For `#[serde(default, deserialize_with = "…")]`.

use serde::de::{Deserialize, Deserializer};
use serde_json::Value;

/// Reads a member that was sent: an explicit `null` is `Some(Value::Null)`, not `None`.
///
/// # Errors
///
/// If the member is not JSON.
pub(crate) fn value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
