//! The handlers of the client: questions wait for the page, and notifications become events.

use std::sync::Arc;

use pintle_client::{ClientBuilder, FormQuestion, SamplingError, UrlQuestion};
use pintle_model::{CreateMessageParams, CreateMessageResult, Implementation, JsonObject};
use pintle_proto::Change;
use pintle_runtime::Answer;
use serde_json::{Value, json};

use crate::feed::Feed;
use crate::questions::Questions;

/// Registers the handlers of the page.
pub(crate) fn register(
    builder: ClientBuilder,
    feed: &Arc<Feed>,
    questions: &Arc<Questions>,
) -> ClientBuilder {
    let (forms, visits, samples) = (
        Arc::clone(questions),
        Arc::clone(questions),
        Arc::clone(questions),
    );
    let asked = builder
        // The page shows the defaults, and the user may remove one.
        .fill_form_defaults(false)
        .on_elicit(move |form| fill(Arc::clone(&forms), form))
        .on_elicit_url(move |visit| self::visit(Arc::clone(&visits), visit))
        .on_sample_with_tools(move |params| sample(Arc::clone(&samples), params));
    notified(asked, feed)
}

fn notified(builder: ClientBuilder, feed: &Arc<Feed>) -> ClientBuilder {
    let (logs, changes, visits, tools) = (
        Arc::clone(feed),
        Arc::clone(feed),
        Arc::clone(feed),
        Arc::clone(feed),
    );
    builder
        .on_log(move |message| logs.add(&json!({ "type": "log", "message": message })))
        .on_change(move |change| changes.add(&change_event(&change)))
        .on_visit_complete(move |id| visits.add(&json!({ "type": "visitEnd", "id": id })))
        .on_notice(move |notice| {
            let method = notice.method.as_str();
            tools.add(&json!({ "type": "notice", "method": method }));
        })
}

fn change_event(change: &Change) -> Value {
    let (list, uri) = match change {
        Change::Tools => (Some("tools"), None),
        Change::Prompts => (Some("prompts"), None),
        Change::Resources => (Some("resources"), None),
        Change::Resource(uri) => (None, Some(uri)),
    };
    json!({ "type": "change", "list": list, "uri": uri })
}

async fn fill(questions: Arc<Questions>, form: FormQuestion) -> Answer<JsonObject> {
    let question = json!({
        "kind": "form",
        "server": server_name(form.server.as_deref()),
        "message": form.message,
        "schema": form.schema,
        "defaults": form.defaults,
    });
    decided(questions.ask(question).await, |answer| {
        match answer.get("content") {
            Some(Value::Object(content)) => content.clone(),
            _ => JsonObject::new(),
        }
    })
}

async fn visit(questions: Arc<Questions>, visit: UrlQuestion) -> Answer<()> {
    let question = json!({
        "kind": "url",
        "server": server_name(visit.server.as_deref()),
        "message": visit.message,
        "url": visit.url,
        "host": visit.host,
        "isSuspicious": visit.is_suspicious,
        "elicitationId": visit.elicitation_id,
    });
    decided(questions.ask(question).await, |_| ())
}

/// Reads the user's decision. Without one the question is cancelled.
fn decided<T>(answer: Option<Value>, content: impl FnOnce(&Value) -> T) -> Answer<T> {
    let Some(answer) = answer else {
        return Answer::Cancelled;
    };
    match answer.get("action").and_then(Value::as_str) {
        Some("accept") => Answer::Accepted(content(&answer)),
        Some("decline") => Answer::Declined,
        _ => Answer::Cancelled,
    }
}

async fn sample(
    questions: Arc<Questions>,
    params: CreateMessageParams,
) -> Result<CreateMessageResult, SamplingError> {
    let question = json!({ "kind": "sampling", "params": params });
    let answer = questions.ask(question).await;
    let message = answer.and_then(|mut answer| answer.get_mut("message").map(Value::take));
    let Some(message) = message else {
        return Err(SamplingError::Refused);
    };
    // Other crates decode it from a text. From a value, the program would have the code of its types twice.
    serde_json::from_str(&message.to_string())
        .map_err(|error| SamplingError::Failed(format!("invalid message: {error}")))
}

fn server_name(server: Option<&Implementation>) -> Option<&str> {
    server.map(|server| server.title.as_deref().unwrap_or(&server.name))
}
