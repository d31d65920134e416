//! Tools that run as tasks.

use std::time::Duration;

use pintle::model::{ElicitSchema, Error, ErrorCode, PrimitiveSchema, StringSchema};
use pintle::prelude::*;
use pintle::server::ProtocolError;
use serde_json::json;
use tokio::time::sleep;

pub(super) fn offer(server: Server) -> Server {
    server.tools::<(
        greet,
        slow_compute,
        failing_job,
        protocol_error_job,
        confirm_delete,
        multi_input,
        test_tool_with_task,
    )>()
}

/// Welcomes a person by name.
#[tool(read_only)]
async fn greet(
    /// The name of the person.
    name: String,
) -> String {
    format!("Hello, {name}!")
}

/// Computes for a while.
#[tool(read_only, task = optional)]
async fn slow_compute(
    /// The duration in seconds.
    seconds: u64,
    /// The label of the result.
    label: Option<String>,
) -> String {
    sleep(Duration::from_secs(seconds)).await;
    format!("{} took {seconds} s", label.as_deref().unwrap_or("it"))
}

/// Fails after a second.
#[tool(read_only, task = required)]
async fn failing_job(cx: Context) -> Result<String> {
    cx.begin_task().await;
    sleep(Duration::from_secs(1)).await;
    Err("the job failed".into())
}

/// Fails with a protocol error.
#[tool(read_only, task = optional)]
async fn protocol_error_job(cx: Context) -> Result<String, ProtocolError> {
    cx.begin_task().await;
    let error = Error::new(ErrorCode::INTERNAL_ERROR, "the job broke");
    Err(ProtocolError::from(error))
}

/// Asks for a confirmation before it would delete a file.
#[tool(destructive, task = optional)]
async fn confirm_delete(
    cx: Context,
    /// The name of the file.
    filename: String,
) -> Result<String> {
    cx.begin_task().await;
    let confirm: PrimitiveSchema = serde_json::from_value(json!({ "type": "boolean" }))?;
    let form = ElicitSchema::new().required("confirm", confirm);
    let answer = cx.elicit_form(format!("Delete {filename}?"), form).await?;
    let content = answer.accepted().unwrap_or_default();
    Ok(match content.get("confirm") {
        Some(confirm) if *confirm == json!(true) => format!("{filename} deleted"),
        _ => format!("{filename} kept"),
    })
}

/// Asks two questions at once.
#[tool(read_only, task = optional)]
async fn multi_input(cx: Context) -> Result<String> {
    cx.begin_task().await;
    let (first, second) = tokio::join!(
        name(&cx, "first", "Who is the first?"),
        name(&cx, "second", "Who is the second?"),
    );
    Ok(format!("{} and {}", first?, second?))
}

/// Asks for a name, then goes on as a task.
#[tool(read_only, task = required)]
async fn test_tool_with_task(cx: Context) -> Result<String> {
    let name = name(&cx, "user_name", "What is your name?").await?;
    cx.begin_task().await;
    Ok(format!("Hello, {name}!"))
}

async fn name(cx: &Context, key: &str, message: &str) -> Result<String> {
    let form = ElicitSchema::new().required("name", StringSchema::new());
    let answer = cx.elicit_form(message, form).named(key).await?;
    let content = answer.accepted().unwrap_or_default();
    let name = content.get("name").and_then(|name| name.as_str());
    Ok(name.unwrap_or("nobody").to_owned())
}
