//! The handlers of the client: questions wait for the page, and notifications become events.

use std::sync::Arc;

use pintle_client::{ClientBuilder, FormQuestion, SamplingError, UrlQuestion};
use pintle_model::{
    CreateMessageParams, CreateMessageResult, ElicitFormParams, ElicitParams, Implementation,
    InputKind, InputRequest, InputResponse, JsonObject, LogMessageParams, RawMembers,
};
use pintle_proto::Change;
use pintle_runtime::Answer;
use serde_json::Value;

use crate::asked::{Asked, decoded};
use crate::feed::Feed;
use crate::object::Object;
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
        .on_log(move |message| log(&logs, &message))
        .on_change(move |change| self::change(&changes, &change))
        .on_visit_complete(move |id| visits.add(Object::event("visitEnd").text("id", &id)))
        .on_notice(move |notice| {
            tools.add(Object::event("notice").text("method", notice.method.as_str()));
        })
}

fn log(feed: &Feed, message: &LogMessageParams) {
    let mut shown = Object::new();
    shown.text("level", message.level.as_str());
    if let Some(logger) = &message.logger {
        shown.text("logger", logger);
    }
    shown.raw("data", message.data.to_string());
    feed.add(Object::event("log").raw("message", shown.end()));
}

fn change(feed: &Feed, change: &Change) {
    let (list, uri) = match change {
        Change::Tools => (Some("tools"), None),
        Change::Prompts => (Some("prompts"), None),
        Change::Resources => (Some("resources"), None),
        Change::Resource(uri) => (None, Some(uri.as_str())),
    };
    feed.add(
        Object::event("change")
            .optional("list", list)
            .optional("uri", uri),
    );
}

/// Begins a question of a server.
fn question(kind: &str, server: Option<&Implementation>, message: &str) -> Object {
    let name = server.map(|server| server.title.as_deref().unwrap_or(&server.name));
    let mut question = Object::new();
    question
        .text("kind", kind)
        .optional("server", name)
        .text("message", message);
    question
}

async fn fill(questions: Arc<Questions>, form: FormQuestion) -> Answer<JsonObject> {
    let mut question = question("form", form.server.as_deref(), &form.message);
    question.raw("defaults", Value::Object(form.defaults).to_string());
    let params = ElicitFormParams::new("", form.schema);
    let params = InputRequest::from(ElicitParams::Form(params)).raw_params();
    let params = params.unwrap_or_default();
    let Ok(members) = RawMembers::read(params.get()) else {
        return Answer::Cancelled;
    };
    if let Some(schema) = members.get("requestedSchema") {
        question.raw("schema", schema.get());
    }
    decided(questions.ask(question).await.as_deref(), |answer| {
        let content = answer.object("content").ok().flatten();
        content.and_then(decoded).unwrap_or_default()
    })
}

async fn visit(questions: Arc<Questions>, visit: UrlQuestion) -> Answer<()> {
    let mut question = question("url", visit.server.as_deref(), &visit.message);
    question.text("url", &visit.url).text("host", &visit.host);
    question.flag("isSuspicious", visit.is_suspicious);
    question.optional("elicitationId", visit.elicitation_id.as_deref());
    decided(questions.ask(question).await.as_deref(), |_| ())
}

/// Reads the user's decision. Without one the question is cancelled.
fn decided<T>(answer: Option<&str>, content: impl FnOnce(&Asked<'_>) -> T) -> Answer<T> {
    let Some(Ok(answer)) = answer.map(|answer| Asked::read(answer.as_bytes())) else {
        return Answer::Cancelled;
    };
    match answer.optional("action").as_deref() {
        Some("accept") => Answer::Accepted(content(&answer)),
        Some("decline") => Answer::Declined,
        _ => Answer::Cancelled,
    }
}

async fn sample(
    questions: Arc<Questions>,
    params: CreateMessageParams,
) -> Result<CreateMessageResult, SamplingError> {
    let failed = |error: serde_json::Error| SamplingError::Failed(error.to_string());
    let params = InputRequest::from(params).raw_params().map_err(failed)?;
    let mut question = Object::new();
    question
        .text("kind", "sampling")
        .raw("params", params.get());
    let answer = questions.ask(question).await;
    let answer = answer
        .as_deref()
        .map(|answer| Asked::read(answer.as_bytes()));
    let message = match &answer {
        Some(Ok(answer)) => answer.object("message").ok().flatten(),
        _ => None,
    };
    let message = message.and_then(decoded).ok_or(SamplingError::Refused)?;
    match InputResponse::decode(InputKind::CreateMessage, &message) {
        Ok(InputResponse::CreateMessage(message)) => Ok(message),
        Ok(_) => Err(SamplingError::Refused),
        Err(error) => Err(SamplingError::Failed(format!("invalid message: {error}"))),
    }
}
