//! Arguments of a tool that clients do not set.

use std::collections::BTreeMap;

use pintle::model::{Error, RawMembers, Schema};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::Named;

/// The hidden arguments of one tool, and the values of those that are fixed.
#[derive(Debug, Clone, Default)]
pub(super) struct Arguments(BTreeMap<String, Option<Box<RawValue>>>);

impl Arguments {
    pub(super) fn hide(&mut self, name: String) {
        self.0.entry(name).or_default();
    }

    pub(super) fn fix(&mut self, name: String, value: &Value) {
        // A value is always writable.
        self.0.insert(name, to_raw_value(value).ok());
    }

    pub(super) fn hides(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Removes the arguments from the schema of a tool.
    pub(super) fn hide_in(&self, schema: &mut Schema) {
        for name in self.0.keys() {
            if let Some(Value::Object(properties)) = schema.get_mut("properties") {
                properties.shift_remove(name);
            }
            if let Some(Value::Array(required)) = schema.get_mut("required") {
                required.retain(|other| other != name);
            }
        }
    }

    /// Returns the arguments of a call with the values that are fixed.
    ///
    /// # Errors
    ///
    /// -32602 if the arguments are not an object.
    pub(super) fn set(&self, call: &Named<'_>) -> Result<Box<RawValue>, Error> {
        let invalid = |error: serde_json::Error| Error::invalid_params(error.to_string());
        let text = call.arguments.map_or("{}", RawValue::get);
        let mut given = RawMembers::read(text).map_err(invalid)?;
        for (name, value) in &self.0 {
            given.remove(name);
            if let Some(value) = value {
                given.insert(name, &**value);
            }
        }
        let text = String::from_utf8(given.to_vec()).map_err(|_| Error::internal())?;
        RawValue::from_string(text).map_err(invalid)
    }
}
