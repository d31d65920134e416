//! JSON Schema 2020-12: derived from Rust types, and enforced.
//!
//! - [`input_schema`] and [`output_schema`] derive the schemas of a tool from its Rust types.
//! - [`check_input`] and [`check_output`] check schemas that were written by hand.
//! - [`subschemas`] finds the schemas in the value of a keyword.
//! - [`Validator`] enforces a schema; [`Typed`] is a schema and its validator, shared by type.
//!
//! A schema has two origins. One of ours must be enforced as a whole, so [`Validator::compile`]
//! rejects other keywords. [`Validator::compile_foreign`] reads the schema of another server,
//! lists the keywords that are not enforced, and ignores unknown ones.
//!
//! # Limits
//!
//! The official tests of JSON Schema 2020-12 pass, except those of these features:
//!
//! - `unevaluatedProperties`, `unevaluatedItems`, `$dynamicRef`, and `$id` inside a schema.
//! - Look-around, back-references and `\p{…}` in patterns.
//! - A `$ref` to another document, also by the `$id` of a subschema: always refused.
//! - Another dialect, or `$vocabulary`. In schemas of other servers draft 6, draft 7 and 2019-09 are
//!   read.
//!
//! Those of the first two lines are refused in a schema of ours, and listed as not enforced in
//! another.
//!
//! `format` is an annotation unless [`Formats::Enforced`] is chosen. Then `email`, `uri`, `date` and
//! `date-time` are checked by their form: a leap second may be at any minute, and the domain of an
//! email address may be any text without white space.

mod schema;
mod validate;

pub use schema::{
    HeaderBinding, HeaderBindingError, HeaderKind, SchemaError, Subschemas, check_foreign_dialect,
    check_input, check_output, empty_input, header_bindings, input_schema, output_schema,
    subschemas,
};
pub use validate::{
    Formats, Typed, UnenforcedKeyword, Validator, Validity, Violation, write_as_integer,
};
