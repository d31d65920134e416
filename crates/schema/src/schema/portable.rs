//! From what schemars writes to what every host accepts.

use pintle_model::JsonObject;
use serde_json::{Value, json};

use super::alternatives::prefer_any_of;
use super::keywords::visit;

/// Holds the docs of an enum's variants until its definition has moved. It is not offered.
pub(super) const VARIANT_DOCS: &str = "x-pintle-variant-docs";

/// The formats that JSON Schema 2020-12 defines. Rust's own (`uint32`, `float`) are not among them.
const FORMATS: [&str; 19] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];

/// Rewrites every schema in `root` that some host would refuse.
pub(super) fn simplify(root: &mut Value) {
    visit(root, &mut |schema| {
        drop_foreign_format(schema);
        list_constant(schema);
        flatten_enum(schema);
        prefer_any_of(schema);
        open_properties(schema);
    });
}

/// Makes optional properties of every object non-null: absent is the one way to leave them out.
pub(super) fn drop_optional_nulls(root: &mut Value) {
    visit(root, &mut |schema| {
        let required = schema.get("required").cloned().unwrap_or_default();
        let is_required = |name: &str| {
            required
                .as_array()
                .is_some_and(|names| names.iter().any(|other| other == name))
        };
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        for (name, property) in properties.into_iter().flatten() {
            if let (false, Value::Object(property)) = (is_required(name), property) {
                drop_null(property);
            }
        }
    });
}

/// Removes the keyword that only we understand.
pub(super) fn drop_variant_docs(root: &mut Value) {
    visit(root, &mut |schema| {
        schema.shift_remove(VARIANT_DOCS);
    });
}

fn drop_foreign_format(schema: &mut JsonObject) {
    let format = schema.get("format").and_then(Value::as_str);
    if format.is_some_and(|format| !FORMATS.contains(&format)) {
        schema.shift_remove("format");
    }
}

/// A list of one value means the same as `const`, which strict modes of hosts refuse.
fn list_constant(schema: &mut JsonObject) {
    if schema.contains_key("enum") {
        return;
    }
    if let Some(value) = schema.get("const") {
        let list = JsonObject::from_iter([("enum".to_owned(), json!([value]))]);
        replace_keyword(schema, "const", list);
    }
}

/// `true` and `{}` mean the same; several hosts read only the second.
fn open_properties(schema: &mut JsonObject) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (_, property) in properties.into_iter().flatten() {
        if *property == Value::Bool(true) {
            *property = json!({});
        }
    }
}

fn drop_null(schema: &mut JsonObject) {
    let had_null = drop_null_type(schema) | drop_null_branch(schema);
    if !had_null {
        return;
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.shift_remove("default");
    }
}

fn drop_null_type(schema: &mut JsonObject) -> bool {
    let Some(Value::Array(types)) = schema.get_mut("type") else {
        return false;
    };
    let before = types.len();
    types.retain(|kind| kind != "null");
    let had_null = types.len() < before;
    if let [only] = types.as_slice() {
        let only = only.clone();
        schema.insert("type".to_owned(), only);
    }
    had_null
}

fn drop_null_branch(schema: &mut JsonObject) -> bool {
    ["anyOf", "oneOf"].into_iter().any(|keyword| {
        let Some(Value::Array(branches)) = schema.get_mut(keyword) else {
            return false;
        };
        let before = branches.len();
        branches.retain(|branch| *branch != json!({ "type": "null" }));
        let had_null = branches.len() < before;
        if let ([Value::Object(only)], true) = (branches.as_slice(), had_null) {
            let only = only.clone();
            replace_keyword(schema, keyword, only);
        }
        had_null
    })
}

/// Replaces one keyword by the keywords of `with`; keywords that the schema already has win.
fn replace_keyword(schema: &mut JsonObject, keyword: &str, with: JsonObject) {
    let beside = std::mem::take(schema);
    for (name, value) in &beside {
        if name != keyword {
            schema.insert(name.clone(), value.clone());
            continue;
        }
        for (name, value) in &with {
            if !beside.contains_key(name) {
                schema.insert(name.clone(), value.clone());
            }
        }
    }
}

/// Turns `oneOf` over constants into one `enum`, and the variants' docs into a list.
///
/// A variant with a title of its own is meant for a form, and keeps its branch.
fn flatten_enum(schema: &mut JsonObject) {
    let Some(Value::Array(variants)) = schema.get("oneOf") else {
        return;
    };
    let Some(names) = variants.iter().map(unit_names).collect::<Option<Vec<_>>>() else {
        return;
    };
    let docs: Vec<String> = variants.iter().filter_map(variant_doc).collect();
    let mut flat = JsonObject::new();
    if let Some(description) = described(schema, &docs) {
        flat.insert("description".to_owned(), description);
    }
    if !docs.is_empty() {
        flat.insert(VARIANT_DOCS.to_owned(), json!(docs.join("\n")));
    }
    flat.insert("type".to_owned(), json!("string"));
    flat.insert("enum".to_owned(), Value::Array(names.concat()));
    schema.shift_remove("description");
    replace_keyword(schema, "oneOf", flat);
}

/// The names in one branch of an enum, if it is nothing but names.
fn unit_names(variant: &Value) -> Option<Vec<Value>> {
    let variant = variant.as_object()?;
    let plain = variant
        .keys()
        .all(|keyword| matches!(keyword.as_str(), "type" | "enum" | "description"));
    if !plain || variant.get("type")? != "string" {
        return None;
    }
    variant.get("enum")?.as_array().cloned()
}

fn variant_doc(variant: &Value) -> Option<String> {
    let [name] = variant.get("enum")?.as_array()?.as_slice() else {
        return None;
    };
    let name = name.as_str()?;
    let doc = variant.get("description")?.as_str()?;
    Some(format!(
        "- {name}: {}",
        doc.split_whitespace().collect::<Vec<_>>().join(" ")
    ))
}

fn described(schema: &JsonObject, docs: &[String]) -> Option<Value> {
    let own = schema.get("description").and_then(Value::as_str);
    match (own, docs) {
        (None, []) => None,
        (Some(own), []) => Some(json!(own)),
        (None, docs) => Some(json!(docs.join("\n"))),
        (Some(own), docs) => Some(json!(format!("{own}\n\n{}", docs.join("\n")))),
    }
}
