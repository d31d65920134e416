//! Tools that need input in one round or several.

use pintle::model::{
    CallToolResult, CreateMessageParams, ElicitParams, ElicitSchema, InputRequests, InputRequired,
    Outcome, PrimitiveSchema, SamplingMessage, StringSchema,
};
use pintle::prelude::*;
use serde_json::json;

pub(super) fn offer(server: Server) -> Server {
    server.tools::<(
        test_input_required_result_elicitation,
        test_input_required_result_sampling,
        test_input_required_result_list_roots,
        test_input_required_result_request_state,
        test_input_required_result_multiple_inputs,
        test_input_required_result_multi_round,
        test_input_required_result_tampered_state,
        test_input_required_result_capabilities,
    )>()
}

/// Asks for a word under `key`.
async fn word(cx: &Context, key: &str, field: &str, message: &str) -> Result<String> {
    let form = ElicitSchema::new().required(field, StringSchema::new());
    let answer = cx.elicit_form(message, form).named(key).await?;
    let content = answer.accepted().unwrap_or_default();
    let word = content.get(field).and_then(|word| word.as_str());
    Ok(word.unwrap_or("nobody").to_owned())
}

fn sampling(prompt: &str, max_tokens: u64) -> CreateMessageParams {
    CreateMessageParams::new(vec![SamplingMessage::user(prompt)], max_tokens)
}

/// Asks for a name and welcomes the user.
#[tool(read_only)]
async fn test_input_required_result_elicitation(cx: Context) -> Result<String> {
    let name = word(&cx, "user_name", "name", "What is your name?").await?;
    Ok(format!("Hello, {name}!"))
}

/// Asks the client's model.
#[tool(read_only)]
async fn test_input_required_result_sampling(cx: Context) -> Result<String> {
    let question = sampling("What is the capital of France?", 100);
    let sampled = cx.sample(question).named("capital_question").await?;
    let text = sampled
        .content
        .blocks()
        .first()
        .and_then(ContentBlock::as_text);
    Ok(text.unwrap_or_default().to_owned())
}

/// Names the client's roots.
#[tool(read_only)]
async fn test_input_required_result_list_roots(cx: Context) -> Result<String> {
    let roots = cx.list_roots().named("client_roots").await?;
    let uris: Vec<String> = roots.into_iter().map(|root| root.uri).collect();
    Ok(format!("Roots: {}", uris.join(", ")))
}

/// Asks three questions at once.
#[tool(read_only)]
async fn test_input_required_result_multiple_inputs(cx: Context) -> Result<String> {
    let (name, greeting, roots) = tokio::join!(
        word(&cx, "user_name", "name", "What is your name?"),
        cx.sample(sampling("Generate a greeting", 50))
            .named("greeting"),
        cx.list_roots().named("client_roots"),
    );
    let (name, greeting, roots) = (name?, greeting?, roots?);
    let text = greeting
        .content
        .blocks()
        .first()
        .and_then(ContentBlock::as_text);
    let text = text.unwrap_or_default();
    Ok(format!("{name}: {text} ({} roots)", roots.len()))
}

/// Asks one question after the other.
#[tool(read_only)]
async fn test_input_required_result_multi_round(cx: Context) -> Result<String> {
    let name = word(&cx, "step1", "name", "What is your name?").await?;
    let color = word(&cx, "step2", "color", "What is your favorite color?").await?;
    Ok(format!("{name} likes {color}"))
}

/// Asks, and reads its own state in the next round.
#[tool(read_only)]
async fn test_input_required_result_request_state(cx: Context) -> Outcome<CallToolResult> {
    confirm(&cx)
}

/// Asks, and rejects a state that was changed between the rounds.
#[tool(read_only)]
async fn test_input_required_result_tampered_state(cx: Context) -> Outcome<CallToolResult> {
    confirm(&cx)
}

/// The explicit form: the handler returns the question and the state to remember.
fn confirm(cx: &Context) -> Outcome<CallToolResult> {
    let is_answered = cx.input_responses().get("confirm").is_some();
    if is_answered && cx.request_state().as_deref() == Some("asked") {
        return Outcome::Complete(CallToolResult::text("state-ok"));
    }
    let ok: PrimitiveSchema = pintle::model::BooleanSchema::new().into();
    let form = ElicitSchema::new().required("ok", ok);
    let mut requests = InputRequests::new();
    requests.insert("confirm", ElicitParams::form("Please confirm", form));
    Outcome::InputRequired(InputRequired::asking(requests).with_state("asked"))
}

/// Asks only the questions that the client can answer.
#[tool(read_only)]
async fn test_input_required_result_capabilities(cx: Context) -> Result<String> {
    let capabilities = &cx.terms().capabilities;
    let mut told = Vec::new();
    if capabilities.sampling.is_some() {
        let sampled = cx
            .sample(sampling("Generate a greeting", 50))
            .named("greeting")
            .await?;
        told.push(json!(sampled.content).to_string());
    }
    if capabilities.has_form_elicitation() {
        told.push(word(&cx, "user_name", "name", "What is your name?").await?);
    }
    Ok(told.join(", "))
}
