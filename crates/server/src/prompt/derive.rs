//! Arguments of prompts from the fields of a type.

use pintle_model::PromptArgument;
use pintle_schema::{SchemaError, input_schema};
use schemars::JsonSchema;
use serde_json::Value;

/// The arguments that make a `T`, in the order of its fields.
pub(super) fn arguments<T: JsonSchema>() -> Result<Vec<PromptArgument>, SchemaError> {
    let schema = input_schema::<T>()?;
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|n| n == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let argument = |(name, property): (&String, &Value)| {
        let mut argument = PromptArgument::optional(name);
        argument.title = text(property, "title");
        argument.description = text(property, "description");
        argument.required = Some(is_required(name));
        argument
    };
    Ok(properties.into_iter().flatten().map(argument).collect())
}

fn text(property: &Value, member: &str) -> Option<String> {
    property
        .get(member)
        .and_then(Value::as_str)
        .map(str::to_owned)
}
