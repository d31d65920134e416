//! JSON Schema 2020-12: derived from Rust types, and enforced.
//!
//! - [`input_schema`] and [`output_schema`] derive the schemas of a tool from its Rust types.
//! - [`check_input`] and [`check_output`] check schemas that were written by hand.
//! - [`Validator`] enforces a schema; [`Typed`] is a schema and its validator, shared by type.
//!
//! A schema has two origins. One of ours must be enforced as a whole, so [`Validator::compile`]
//! rejects what it cannot enforce. [`Validator::compile_foreign`] reads the schema of another
//! server, lists what it does not enforce, and ignores unknown keywords.

mod schema;
mod validate;

pub use schema::{
    HeaderBinding, HeaderFault, HeaderKind, SchemaError, check_foreign_dialect, check_input,
    check_output, empty_input, header_bindings, input_schema, output_schema,
};
pub use validate::{Formats, Typed, Unenforced, Validator, Verdict, Violation, write_as_integer};
