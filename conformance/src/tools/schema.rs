//! A tool whose schema uses rare keywords.

use pintle::model::JsonObject;
use pintle::prelude::*;
use serde_json::{Value, json};

pub(super) fn offer(server: Server) -> Server {
    let tool = Tool::new("json_schema_2020_12_tool")
        .description("Has a schema that must come out as it was written.")
        .input_schema(schema())
        .handler(async || "The arguments are as the schema wants them");
    server.add_tool(tool)
}

fn schema() -> JsonObject {
    let mut schema = JsonObject::new();
    schema.insert(
        "$schema".into(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    schema.insert("type".into(), json!("object"));
    schema.insert("$defs".into(), json!({ "address": address() }));
    schema.insert("properties".into(), properties());
    schema.insert(
        "allOf".into(),
        json!([{ "anyOf": [needs("phone"), needs("email")] }]),
    );
    schema.insert("if".into(), is_by_phone());
    schema.insert("then".into(), needs("phone"));
    schema.insert("else".into(), needs("email"));
    schema.insert("additionalProperties".into(), json!(false));
    schema
}

fn address() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "$anchor": "addressDef",
        "type": "object",
        "properties": { "street": text, "city": text },
    })
}

fn properties() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "name": text,
        "address": { "$ref": "#/$defs/address" },
        "contactMethod": { "type": "string", "enum": ["phone", "email"] },
        "phone": text,
        "email": text,
    })
}

fn is_by_phone() -> Value {
    json!({
        "properties": { "contactMethod": { "const": "phone" } },
        "required": ["contactMethod"],
    })
}

fn needs(property: &str) -> Value {
    json!({ "required": [property] })
}
