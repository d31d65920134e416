//! Enforcing a schema: checks if a value fits it, and if not, reports where and why.
//!
//! A schema is compiled once, when a tool is registered or first called. Checking a value then
//! allocates only to report violations. The work of one check is bounded in steps, not in time, so
//! that the same value always has the same result. This is not a general validator: it reads no
//! remote documents.
//!
//! - **Ours**, [`Validator::compile`]: 2020-12. A keyword that cannot be enforced is refused when
//!   compiling: a schema never promises more than is checked.
//! - **Foreign**, [`Validator::compile_foreign`]: schemas of other servers, in the dialect they
//!   name. A keyword that cannot be enforced is left out and listed, and never makes a value
//!   invalid.

use std::fmt;

use pintle_model::JsonObject;
use schemars::JsonSchema;
use serde_json::Value;

use crate::schema::reading::Reading;
use crate::schema::{SchemaError, check_dialect};

pub use coerce::write_as_integer;
pub use typed::Typed;
pub use violation::Violation;

mod check;
mod coerce;
mod compile;
mod defaults;
mod describe;
mod equal;
mod format;
mod needs;
mod node;
mod pattern;
mod reader;
mod run;
mod typed;
mod violation;

use coerce::{Coercion, Correction};
use needs::SchemaSource;
use node::Node;
use run::Run;

/// A compiled schema.
#[derive(Debug, Clone)]
pub struct Validator {
    // The root is the first node.
    nodes: Vec<Node>,
    needs_check: bool,
    unenforced: Vec<UnenforcedKeyword>,
    is_foreign: bool,
}

/// Something a foreign schema asks for that is not enforced.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnenforcedKeyword {
    /// Where, as a JSON pointer into the schema.
    pub pointer: String,
    /// The keyword that is not enforced.
    pub keyword: String,
}

impl fmt::Display for UnenforcedKeyword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at {:?}", self.keyword, self.pointer)
    }
}

/// Result of the check of one value. Closed: a check has no other results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Validity {
    /// The value fits the schema.
    Valid,
    /// Nothing is wrong with it, and the schema asks for more than is enforced.
    PartlyChecked,
    /// The value takes too many steps to check, or nests deeper than 64 levels.
    Unchecked,
    /// The violations in the order of the schema, 16 at most.
    Invalid(Vec<Violation>),
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
        check_dialect(schema)?;
        let compiled = compile::compile(schema, Reading::OURS, formats)?;
        Ok(Self {
            nodes: compiled.nodes,
            needs_check: needs::says_more(&Value::Object(schema.clone()), SchemaSource::Written),
            unenforced: compiled.unenforced,
            is_foreign: false,
        })
    }

    /// Compiles a schema that another server sent; `format` is noted.
    ///
    /// It is read in the dialect it names: draft 6, draft 7, 2019-09 or 2020-12, which is also the
    /// default. In the older ones `items` may be a list that `additionalItems` continues, and
    /// `dependencies` exist. Draft 7 ignores keywords beside `$ref`.
    ///
    /// - An unknown keyword is a note to the reader.
    /// - A keyword that is not enforced is listed in [`Validator::unenforced`], and never makes a
    ///   value invalid. These are: `unevaluatedProperties`, `unevaluatedItems`, `$dynamicRef` and
    ///   `$recursiveRef`; documents in the document (`$id`); `items` as a list in 2020-12. Patterns
    ///   are not enforced if they cannot be matched in linear time, are larger than 64 KiB, or come
    ///   after the 64th.
    /// - A value that is too large to check is [`Validity::Unchecked`], and [`Validator::validate`]
    ///   accepts it.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] if the schema is in another dialect, is malformed, nests deeper than 64
    /// levels, holds more than 10,000 schemas, or refers outside itself.
    ///
    /// Spec: [2026-07-28, JSON Schema usage][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic#json-schema-usage
    pub fn compile_foreign(schema: &JsonObject) -> Result<Self, SchemaError> {
        let reading = Reading::foreign(schema)?;
        let compiled = compile::compile(schema, reading, Formats::Noted)?;
        Ok(Self {
            nodes: compiled.nodes,
            needs_check: true,
            unenforced: compiled.unenforced,
            is_foreign: true,
        })
    }

    /// Returns the keywords of a foreign schema that are not enforced; empty for a schema of ours.
    #[must_use]
    pub fn unenforced(&self) -> &[UnenforcedKeyword] {
        &self.unenforced
    }

    /// Compiles the schema of arguments that are decoded as `T`.
    ///
    /// The rules that decoding enforces are known, so [`Validator::needs_check`] is exact where
    /// [`Validator::compile`] has to assume the worst.
    ///
    /// # Errors
    ///
    /// As [`input_schema`](crate::input_schema) and [`Validator::compile`].
    pub fn for_type<T: JsonSchema>() -> Result<Self, SchemaError> {
        Typed::derive::<T>().map(|typed| typed.validator)
    }

    /// Whether the schema has rules that decoding into a Rust type does not enforce: lengths,
    /// ranges, patterns, and the like. If not, a value that decodes need not be checked.
    #[must_use]
    pub fn needs_check(&self) -> bool {
        self.needs_check
    }

    /// Checks a value.
    #[must_use]
    pub fn check(&self, value: &Value) -> Validity {
        Run::new(&self.nodes).finish(value)
    }

    /// Checks a value.
    ///
    /// # Errors
    ///
    /// The violations in the order of the schema, 16 at most. A schema of ours also rejects a value
    /// that takes too many steps to check, or nests deeper than 64 levels.
    pub fn validate(&self, value: &Value) -> Result<(), Vec<Violation>> {
        match self.check(value) {
            Validity::Valid | Validity::PartlyChecked => Ok(()),
            Validity::Unchecked if self.is_foreign => Ok(()),
            Validity::Unchecked => Err(vec![run::too_much()]),
            Validity::Invalid(violations) => Err(violations),
        }
    }

    /// Writes `5.0` as `5` wherever the schema requires an integer: both are the same number in
    /// JSON Schema, but not for Rust's decoders.
    pub fn coerce_integers(&self, value: &mut Value) {
        Coercion::new(&self.nodes, Correction::Integers).apply(value);
    }

    /// Leaves out optional members that are null and may not be, because models write
    /// them for absent members.
    pub fn drop_optional_nulls(&self, value: &mut Value) {
        Coercion::new(&self.nodes, Correction::Nulls).apply(value);
    }
}

#[cfg(test)]
mod tests;
