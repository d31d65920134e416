//! Plain JSON, where the protocol says "any".

use serde_json::{Map, Value};

/// A JSON object whose members keep their order.
pub type JsonObject = Map<String, Value>;

/// Members that this version does not know: kept when read, written back when sent.
pub type Extra = JsonObject;
