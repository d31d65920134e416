//! The definitions that the schemas of one operation refer to.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::error::UnsupportedOperationError;
use crate::reference::find;
use crate::schema::{References, convert};

/// A text counts as one more value for each of these bytes.
const TEXT_BYTES: usize = 64;

type Result<T> = std::result::Result<T, UnsupportedOperationError>;

/// Converts schemas, and collects the definitions that they refer to.
pub(crate) struct Definitions<'d> {
    document: &'d Value,
    is_3_0: bool,
    /// The number of values that may still be converted, for all operations.
    values_left: &'d mut usize,
    /// The names of definitions, by reference.
    names: BTreeMap<String, String>,
    taken: BTreeSet<String>,
    /// References whose schemas are not converted yet.
    pending: Vec<String>,
}

impl<'d> Definitions<'d> {
    pub(crate) fn new(document: &'d Value, is_3_0: bool, values_left: &'d mut usize) -> Self {
        Self {
            document,
            is_3_0,
            values_left,
            names: BTreeMap::new(),
            taken: BTreeSet::new(),
            pending: Vec::new(),
        }
    }

    /// Converts a schema of a parameter or of a body.
    pub(crate) fn schema(&mut self, schema: &Value) -> Result<Value> {
        convert(schema, self, 0)
    }

    /// Returns `$defs`: every schema that the converted schemas refer to.
    ///
    /// It is a loop and not a recursion, because a document may have a long chain of references.
    pub(crate) fn finish(mut self) -> Result<Map<String, Value>> {
        let mut definitions = Map::new();
        while let Some(reference) = self.pending.pop() {
            let schema = find(self.document, &reference)?;
            let converted = self.schema(schema)?;
            if let Some(name) = self.names.get(&reference) {
                definitions.insert(name.clone(), converted);
            }
        }
        definitions.sort_keys();
        Ok(definitions)
    }

    fn spend(&mut self, values: usize) -> Result<()> {
        let left = self.values_left.checked_sub(values);
        *self.values_left = left.ok_or(UnsupportedOperationError::TooManyValues)?;
        Ok(())
    }

    /// Returns a name for a reference that no other reference has.
    fn name(&mut self, reference: &str) -> String {
        let last = reference.rsplit('/').next().unwrap_or_default();
        let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "_-.".contains(*letter);
        let mut name: String = last.chars().filter(is_plain).take(64).collect();
        while name.is_empty() || !self.taken.insert(name.clone()) {
            name = format!("schema_{}", self.taken.len());
        }
        name
    }
}

impl References for Definitions<'_> {
    fn refer(&mut self, reference: &str) -> Result<String> {
        if !self.names.contains_key(reference) {
            find(self.document, reference)?;
            let name = self.name(reference);
            self.names.insert(reference.to_owned(), name);
            self.pending.push(reference.to_owned());
        }
        let name = self.names.get(reference).map_or("", String::as_str);
        Ok(format!("#/$defs/{name}"))
    }

    fn count(&mut self) -> Result<()> {
        self.spend(1)
    }

    fn count_text(&mut self, text: &str) -> Result<()> {
        self.spend(text.len() / TEXT_BYTES)
    }

    fn is_3_0(&self) -> bool {
        self.is_3_0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn recursive_schemas_and_equal_names_have_definitions() {
        let document = json!({
            "components": { "schemas": {
                "Tree": { "properties": { "left": { "$ref": "#/components/schemas/Tree" }, "leaf": { "$ref": "#/x/Tree" } } },
            } },
            "x": { "Tree": { "type": "string" } },
        });
        let mut left = 100;
        let mut definitions = Definitions::new(&document, false, &mut left);
        let schema = definitions
            .schema(&json!({ "$ref": "#/components/schemas/Tree" }))
            .expect("a schema");
        assert_eq!(schema, json!({ "$ref": "#/$defs/Tree" }));
        let expected = json!({
            "Tree": { "properties": { "left": { "$ref": "#/$defs/Tree" }, "leaf": { "$ref": "#/$defs/schema_1" } } },
            "schema_1": { "type": "string" },
        });
        assert_eq!(Value::Object(definitions.finish().expect("two")), expected);
    }

    #[test]
    fn a_long_chain_of_references_is_converted() {
        let length = 5_000;
        let schemas: Map<String, Value> = (0..length)
            .map(|n| {
                (
                    format!("S{n}"),
                    json!({ "items": { "$ref": format!("#/s/S{}", (n + 1) % length) } }),
                )
            })
            .collect();
        let document = json!({ "s": schemas });
        let mut left = 20_000;
        let mut definitions = Definitions::new(&document, false, &mut left);
        definitions
            .schema(&json!({ "$ref": "#/s/S0" }))
            .expect("a schema");
        assert_eq!(definitions.finish().expect("all").len(), length);
        let mut left = 5_000;
        let mut definitions = Definitions::new(&document, false, &mut left);
        definitions
            .schema(&json!({ "$ref": "#/s/S0" }))
            .expect("a schema");
        assert!(definitions.finish().is_err());
    }
}
