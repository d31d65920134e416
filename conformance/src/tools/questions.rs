//! Tools that ask the client, as the suite requires in revisions where a question is a request.

use pintle::model::{CreateMessageParams, ElicitSchema, JsonObject, SamplingMessage};
use pintle::prelude::*;
use serde_json::json;

pub(super) fn offer(server: Server) -> Server {
    server.tools::<(
        test_sampling,
        test_elicitation,
        test_elicitation_sep1034_defaults,
        test_elicitation_sep1330_enums,
    )>()
}

/// Passes a prompt on to the client's model.
#[tool(read_only)]
async fn test_sampling(
    cx: Context,
    /// The prompt for the model.
    prompt: String,
) -> Result<String> {
    let messages = vec![SamplingMessage::user(prompt)];
    let sampled = cx.sample(CreateMessageParams::new(messages, 100)).await?;
    let text = sampled
        .content
        .blocks()
        .first()
        .and_then(ContentBlock::as_text);
    Ok(format!("LLM response: {}", text.unwrap_or_default()))
}

/// Asks for the name and the address of the user.
#[tool(read_only)]
async fn test_elicitation(
    cx: Context,
    /// The message for the user.
    message: String,
) -> Result<String> {
    let schema = form(json!({
        "username": { "type": "string", "description": "The user's name" },
        "email": { "type": "string", "description": "The user's e-mail address" }
    }))?;
    let schema = schema_requiring(schema, ["username", "email"]);
    let answer = cx.elicit_form(message, schema).await?;
    Ok(format!("User response: {}", told(answer)))
}

/// Asks with a default for every kind of field.
#[tool(read_only)]
async fn test_elicitation_sep1034_defaults(cx: Context) -> Result<String> {
    let schema = form(json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true }
    }))?;
    completed(cx, schema).await
}

/// Asks with every kind of choice.
#[tool(read_only)]
async fn test_elicitation_sep1330_enums(cx: Context) -> Result<String> {
    let titled = json!([
        { "const": "value1", "title": "First Option" },
        { "const": "value2", "title": "Second Option" },
        { "const": "value3", "title": "Third Option" }
    ]);
    let schema = form(json!({
        "untitledSingle": { "type": "string", "enum": ["option1", "option2", "option3"] },
        "titledSingle": { "type": "string", "oneOf": titled },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]
        },
        "untitledMulti": {
            "type": "array",
            "items": { "type": "string", "enum": ["option1", "option2", "option3"] }
        },
        "titledMulti": { "type": "array", "items": { "anyOf": titled } }
    }))?;
    completed(cx, schema).await
}

async fn completed(cx: Context, schema: ElicitSchema) -> Result<String> {
    let answer = cx.elicit_form("Please fill in the form", schema).await?;
    Ok(format!("Elicitation completed: {}", told(answer)))
}

fn form(properties: serde_json::Value) -> Result<ElicitSchema> {
    let schema = json!({ "type": "object", "properties": properties });
    Ok(serde_json::from_value(schema)?)
}

fn schema_requiring<const N: usize>(mut schema: ElicitSchema, names: [&str; N]) -> ElicitSchema {
    schema.required = Some(names.map(str::to_owned).into());
    schema
}

fn told(answer: Answer<JsonObject>) -> String {
    match answer {
        Answer::Accepted(content) => format!("action=accept, content={}", json!(content)),
        Answer::Declined => "action=decline, content={}".to_owned(),
        Answer::Cancelled => "action=cancel, content={}".to_owned(),
    }
}
