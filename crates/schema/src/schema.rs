//! From Rust types to the schemas that hosts read.
//!
//! Derived schemas are plain JSON Schema 2020-12 in the form that the strictest hosts accept:
//!
//! - no formats of Rust types,
//! - optional parameters are left out rather than null,
//! - enums as `enum`, alternatives as `anyOf`, no lists of types,
//! - references only where they are necessary.
//!
//! Hand-written schemas are checked and not changed. The module `validate` enforces schemas.

use std::sync::LazyLock;

use pintle_model::{JsonObject, Schema};
use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Value, json};

pub use check::{check_foreign_dialect, check_input, check_output};
pub use error::{HeaderBindingError, SchemaError};
pub use header::{HeaderBinding, HeaderKind, header_bindings};
pub use keywords::{Subschemas, subschemas};

mod alternatives;
pub(crate) mod check;
mod error;
mod header;
mod inline;
pub(crate) mod keywords;
mod kinds;
mod portable;
pub(crate) mod reading;
pub(crate) mod reference;

pub(crate) use check::{check_dialect, survey};

/// Makes the schema of arguments that are decoded as `T`.
///
/// Properties stand in the order of `T`'s fields; the result is the same on every call. A property
/// that may be left out is not nullable in the schema, although decoding accepts null.
///
/// # Errors
///
/// [`SchemaError`] if `T` is not decoded from an object, or an annotation on it is invalid.
pub fn input_schema<T: JsonSchema>() -> Result<JsonObject, SchemaError> {
    input_schema_of(generate::<T>(Contract::Deserialize))
}

/// Turns the output of schemars for a type of arguments into an input schema.
pub(crate) fn input_schema_of(mut schema: Value) -> Result<JsonObject, SchemaError> {
    portable::simplify(&mut schema);
    portable::drop_optional_nulls(&mut schema);
    let mut schema = flatten(schema);
    complete_root(&mut schema);
    check_input(&schema)?;
    Ok(schema)
}

/// Makes the schema of structured content that is encoded from `T`.
///
/// The root may be of any type. A value that is encoded as null is nullable in the schema, because
/// the content must satisfy it.
///
/// # Errors
///
/// [`SchemaError`] if an annotation on `T` is invalid.
pub fn output_schema<T: JsonSchema>() -> Result<JsonObject, SchemaError> {
    let mut schema = generate::<T>(Contract::Serialize);
    portable::simplify(&mut schema);
    let schema = flatten(schema);
    check_output(&schema)?;
    Ok(schema)
}

/// The schema of a tool without parameters, in the form that strict modes of hosts require.
///
/// All callers share one value. Servers do not enforce it, because some hosts send a member of their own to such tools.
#[must_use]
pub fn empty_input() -> Schema {
    static EMPTY: LazyLock<Schema> = LazyLock::new(|| {
        let schema = json!({ "type": "object", "properties": {}, "additionalProperties": false });
        into_object(schema).into()
    });
    EMPTY.clone()
}

/// Splits lists of types, moves definitions to their uses, and drops the docs of variants.
fn flatten(mut schema: Value) -> JsonObject {
    kinds::split_type_lists(&mut schema);
    let mut root = into_object(schema);
    inline::inline(&mut root);
    let mut schema = Value::Object(root);
    portable::drop_variant_docs(&mut schema);
    into_object(schema)
}

/// Returns the schema that schemars derives for `T`, before it is made portable.
pub(crate) fn generate<T: JsonSchema>(contract: Contract) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.contract = contract;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    if schema.get("title").and_then(Value::as_str) == Some(&*T::schema_name()) {
        schema
            .as_object_mut()
            .map(|schema| schema.shift_remove("title"));
    }
    schema.to_value()
}

fn into_object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(schema) => schema,
        Value::Bool(false) => into_object(json!({ "not": {} })),
        _ => JsonObject::new(),
    }
}

/// Adds `type: "object"` and `properties` to the root, which schemars often leaves out.
fn complete_root(root: &mut JsonObject) {
    if !root.contains_key("type") && has_object_branches(root) {
        root.shift_insert(0, "type".to_owned(), json!("object"));
    }
    if root.get("type").is_some_and(|kind| kind == "object") {
        root.entry("properties").or_insert_with(|| json!({}));
    }
}

fn has_object_branches(root: &JsonObject) -> bool {
    let branches = root
        .get("oneOf")
        .or_else(|| root.get("anyOf"))
        .and_then(Value::as_array);
    branches.is_some_and(|branches| {
        let is_object = |branch: &Value| branch.get("type").is_some_and(|kind| kind == "object");
        !branches.is_empty() && branches.iter().all(is_object)
    })
}

#[cfg(test)]
mod tests;
