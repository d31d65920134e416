//! Enforcing a schema: whether a value is what was promised, and if not, where and why.
//!
//! A schema is compiled once, when a tool is registered; checking a value then allocates only to
//! report what is wrong. The work of one check is bounded in steps, not in time, so that the same
//! value is always treated the same. What cannot be enforced is refused when compiling: a schema
//! never promises more than is checked. Not a general validator: one dialect, no remote documents.

use pintle_model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::Contract;
use serde_json::Value;

use crate::schema::{SchemaError, check_output, generate, input_schema};

pub use violation::Violation;

mod check;
mod coerce;
mod compile;
mod describe;
mod equal;
mod format;
mod needs;
mod node;
mod reader;
mod run;
mod violation;

use coerce::{Coercion, Correction};
use needs::Origin;
use node::Node;
use run::Run;

/// A compiled schema.
#[derive(Debug, Clone)]
pub struct Validator {
    // The root is the first node.
    nodes: Vec<Node>,
    needs_check: bool,
}

/// Whether `format` is an assertion or a note to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Formats {
    /// A note to the reader, as JSON Schema 2020-12 has it by default.
    #[default]
    Noted,
    /// Enforced for `email`, `uri`, `date` and `date-time`; others stay notes.
    Enforced,
}

impl Validator {
    /// Compiles a schema; `format` is noted.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] if the schema is malformed, too large, refers outside itself, or uses a
    /// keyword that is not enforced here (`unevaluatedProperties`, `$dynamicRef`, …).
    pub fn compile(schema: &JsonObject) -> Result<Self, SchemaError> {
        Self::compile_with(schema, Formats::Noted)
    }

    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// As [`Validator::compile`].
    pub fn compile_with(schema: &JsonObject, formats: Formats) -> Result<Self, SchemaError> {
        check_output(schema)?;
        Ok(Self {
            nodes: compile::compile(schema, formats)?,
            needs_check: needs::says_more(&Value::Object(schema.clone()), Origin::Written),
        })
    }

    /// Compiles the schema of arguments that are decoded as `T`.
    ///
    /// Knows what decoding enforces by itself, so that [`Validator::needs_check`] is exact where
    /// [`Validator::compile`] has to assume the worst.
    ///
    /// # Errors
    ///
    /// As [`input_schema`] and [`Validator::compile`].
    pub fn for_type<T: JsonSchema>() -> Result<Self, SchemaError> {
        let derived = generate::<T>(Contract::Deserialize);
        let mut validator = Self::compile(&input_schema::<T>()?)?;
        validator.needs_check = needs::says_more(&derived, Origin::Derived);
        Ok(validator)
    }

    /// Whether the schema says more than decoding into a Rust type enforces: lengths, ranges,
    /// patterns, and the like. If not, a value that decodes need not be checked.
    #[must_use]
    pub fn needs_check(&self) -> bool {
        self.needs_check
    }

    /// Checks a value.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in the order of the schema, 16 at most. A value that would take too
    /// many steps to check, or nests deeper than 64 levels, is wrong too.
    pub fn validate(&self, value: &Value) -> Result<(), Vec<Violation>> {
        Run::new(&self.nodes).finish(value)
    }

    /// Writes `5.0` as `5` wherever the schema asks for an integer: JSON Schema says they are the
    /// same, Rust's decoders do not.
    pub fn coerce_integers(&self, value: &mut Value) {
        Coercion::new(&self.nodes, Correction::Integers).apply(value);
    }

    /// Leaves out optional members that are null and may not be: models write them for "none".
    pub fn drop_optional_nulls(&self, value: &mut Value) {
        Coercion::new(&self.nodes, Correction::Nulls).apply(value);
    }
}

#[cfg(test)]
mod tests;
