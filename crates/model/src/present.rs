//! Members where presence means something. For `object!`.

use serde_json::Value;

use crate::read::{ReadError, Source};

/// Reads a member that was sent: an explicit `null` is `Some(Value::Null)`, not `None`.
///
/// # Errors
///
/// If the member is not JSON.
pub(crate) fn value(source: &mut dyn Source<'_>) -> Result<Option<Value>, ReadError> {
    source.value().map(Some)
}
