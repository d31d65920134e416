//! From a Rust type to the restricted schema of a form.

use pintle_model::{ElicitSchema, JsonObject, PrimitiveSchema};
use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Value, json};

use super::error::AskError;
use super::requested::not_flat;

/// Keywords that a field of a form may have.
const KEYWORDS: [&str; 14] = [
    "type",
    "title",
    "description",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "default",
    "enum",
    "oneOf",
    "minItems",
    "maxItems",
];
/// The formats that clients know.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// The form of `T`.
pub(super) fn schema_of<T: JsonSchema>() -> Result<ElicitSchema, AskError> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
        settings.contract = Contract::Deserialize;
    });
    let root = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    let Some(Value::Object(properties)) = root.get("properties") else {
        return Err(AskError::Invalid(
            "its type is not a struct with fields".to_owned(),
        ));
    };
    let required: Vec<&str> = root
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    properties
        .iter()
        .try_fold(ElicitSchema::new(), |form, (name, schema)| {
            let field = field(name, schema)?;
            Ok(if required.contains(&name.as_str()) {
                form.required(name, field)
            } else {
                form.optional(name, field)
            })
        })
}

fn field(name: &str, schema: &Value) -> Result<PrimitiveSchema, AskError> {
    let unusable = || AskError::Invalid(not_flat(name));
    let schema = primitive(schema).ok_or_else(unusable)?;
    match serde_json::from_value(Value::Object(schema)) {
        Ok(PrimitiveSchema::Unknown(_)) | Err(_) => Err(unusable()),
        Ok(field) => Ok(field),
    }
}

/// The schema of one field in the words of forms.
fn primitive(schema: &Value) -> Option<JsonObject> {
    let schema = without_null(schema.as_object()?.clone());
    let mut field: JsonObject = KEYWORDS
        .iter()
        .filter_map(|keyword| Some(((*keyword).to_owned(), schema.get(*keyword)?.clone())))
        .collect();
    field.retain(|keyword, value| match keyword.as_str() {
        "format" => value
            .as_str()
            .is_some_and(|format| FORMATS.contains(&format)),
        "default" => !value.is_null(),
        _ => true,
    });
    if let Some(branches) = schema.get("oneOf").and_then(Value::as_array) {
        field.insert("oneOf".to_owned(), choices(branches)?.into());
        field.insert("type".to_owned(), "string".into());
    }
    if let Some(word) = schema.get("const") {
        field.insert("enum".to_owned(), json!([word]));
    }
    if let Some(items) = schema.get("items") {
        field.insert("items".to_owned(), Value::Object(items_of(items)?));
    }
    Some(field)
}

/// Returns the items of a list of choices: titled choices are alternatives there.
fn items_of(items: &Value) -> Option<JsonObject> {
    let mut items = primitive(items)?;
    items.retain(|keyword, _| ["type", "enum", "oneOf"].contains(&keyword.as_str()));
    if let Some(choices) = items.remove("oneOf") {
        items.clear();
        items.insert("anyOf".to_owned(), choices);
    }
    Some(items)
}

/// An optional field is one that may be left out, not one that may be null.
fn without_null(mut schema: JsonObject) -> JsonObject {
    if let Some(Value::Array(branches)) = schema.remove("anyOf") {
        let is_null = |branch: &Value| branch.get("type").is_some_and(|kind| kind == "null");
        if let Some(Value::Object(branch)) = branches.into_iter().find(|branch| !is_null(branch)) {
            for (keyword, value) in branch {
                schema.entry(keyword).or_insert(value);
            }
        }
    }
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            schema["type"] = kind.clone();
        }
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    schema
}

/// Returns the choices of an enum whose variants have docs, which become the titles.
fn choices(branches: &[Value]) -> Option<Vec<Value>> {
    let mut choices = Vec::new();
    for branch in branches {
        if let Some(word) = branch.get("const").and_then(Value::as_str) {
            let title = branch.get("title").or_else(|| branch.get("description"));
            let title = title.and_then(Value::as_str).unwrap_or(word);
            choices.push(json!({ "const": word, "title": title.trim_end_matches('.') }));
            continue;
        }
        for word in branch.get("enum")?.as_array()? {
            choices.push(json!({ "const": word, "title": word }));
        }
    }
    Some(choices)
}

#[cfg(test)]
mod tests {
    // The fields are read by the derived schema only.
    #![allow(dead_code)]

    use super::*;

    #[derive(JsonSchema)]
    #[schemars(rename_all = "lowercase")]
    enum Size {
        Small,
        Large,
    }

    #[derive(JsonSchema)]
    enum Class {
        /// Seats at a lower price.
        Economy,
        /// Seats with more room.
        Business,
    }

    #[derive(JsonSchema)]
    struct Order {
        /// Name of the passenger.
        #[schemars(length(min = 1, max = 40), regex(pattern = "^[a-z]+$"))]
        name: String,
        #[schemars(email)]
        mail: Option<String>,
        #[schemars(range(min = 1, max = 9))]
        count: u8,
        share: Option<f64>,
        #[schemars(default = "yes")]
        gift: bool,
        size: Size,
        class: Option<Class>,
        #[schemars(length(min = 1))]
        sizes: Vec<Size>,
        classes: Option<Vec<Class>>,
    }

    fn yes() -> bool {
        true
    }

    // spec: 2026-07-28 N-ELIC-05
    // spec: 2025-11-25 ELIC-16, ELIC-17, ELIC-18, ELIC-19, ELIC-20
    #[test]
    fn every_kind_of_field_comes_from_a_type() {
        let titled = json!([
            { "const": "Economy", "title": "Seats at a lower price" },
            { "const": "Business", "title": "Seats with more room" }
        ]);
        let schema = json!(schema_of::<Order>().expect("a form"));
        let expected = json!({
            "name": { "type": "string", "description": "Name of the passenger.", "minLength": 1,
                "maxLength": 40, "pattern": "^[a-z]+$" },
            "mail": { "type": "string", "format": "email" },
            "count": { "type": "integer", "minimum": 1, "maximum": 9 },
            "share": { "type": "number" },
            "gift": { "type": "boolean", "default": true },
            "size": { "type": "string", "enum": ["small", "large"] },
            "class": { "type": "string", "oneOf": titled },
            "sizes": { "type": "array", "minItems": 1,
                "items": { "type": "string", "enum": ["small", "large"] } },
            "classes": { "type": "array", "items": { "anyOf": titled } }
        });
        for (name, field) in expected.as_object().expect("fields") {
            assert_eq!(&schema["properties"][name], field, "{name}");
        }
        assert_eq!(
            schema["required"],
            json!(["name", "count", "size", "sizes"])
        );
    }

    #[derive(JsonSchema)]
    struct Filled {
        #[schemars(title = "Name", default = "name")]
        name: String,
        #[schemars(default = "count")]
        count: u8,
        #[schemars(default = "share")]
        share: f64,
        #[schemars(default = "size")]
        size: Size,
        #[schemars(default = "sizes", length(min = 1, max = 2))]
        sizes: Vec<Size>,
        #[schemars(extend("format" = "uri"))]
        home: String,
        #[schemars(extend("format" = "date"))]
        day: Option<String>,
        #[schemars(extend("format" = "date-time"))]
        at: Option<String>,
        #[schemars(extend("format" = "ipv4"))]
        address: Option<String>,
    }

    fn name() -> String {
        "Ada".to_owned()
    }

    fn count() -> u8 {
        3
    }

    fn share() -> f64 {
        0.5
    }

    fn size() -> &'static str {
        "small"
    }

    fn sizes() -> [&'static str; 1] {
        ["large"]
    }

    // spec: 2026-07-28 N-ELIC-05
    // spec: 2025-11-25 ELIC-17, ELIC-18, ELIC-19, ELIC-20
    #[test]
    fn defaults_titles_bounds_and_formats_come_from_a_type_too() {
        let schema = json!(schema_of::<Filled>().expect("a form"));
        let expected = json!({
            "name": { "type": "string", "title": "Name", "default": "Ada" },
            "count": { "type": "integer", "minimum": 0, "maximum": 255, "default": 3 },
            "share": { "type": "number", "default": 0.5 },
            "size": { "type": "string", "enum": ["small", "large"], "default": "small" },
            "sizes": { "type": "array", "minItems": 1, "maxItems": 2, "default": ["large"],
                "items": { "type": "string", "enum": ["small", "large"] } },
            "home": { "type": "string", "format": "uri" },
            "day": { "type": "string", "format": "date" },
            "at": { "type": "string", "format": "date-time" },
            "address": { "type": "string" }
        });
        for (name, field) in expected.as_object().expect("fields") {
            assert_eq!(&schema["properties"][name], field, "{name}");
        }
        assert_eq!(
            schema["required"],
            json!(["home"]),
            "what has a default may be left out"
        );
    }

    #[test]
    fn a_nested_form_is_refused_and_its_field_named() {
        #[derive(JsonSchema)]
        struct Nested {
            order: Order,
        }
        let error = schema_of::<Nested>().expect_err("it is nested");
        assert!(error.to_string().contains("\"order\""), "{error}");
        assert!(schema_of::<String>().is_err());
    }
}
