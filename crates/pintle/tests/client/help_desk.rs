//! The server under test, and its clients.

use std::time::Duration;

use pintle::client::{Client, ClientBuilder, EraMode, InProcess, in_process};
use pintle::model::{
    BooleanSchema, ContentBlock, CreateMessageParams, CreateMessageResult, ElicitSchema,
    NumberSchema, Revision, SamplingMessage, StringSchema,
};
use pintle::prelude::*;
use pintle::server::App;
use serde_json::json;

/// A server whose tools are named after their behavior.
pub(crate) fn server() -> Server {
    Server::new("desk", "1.0.0")
        .instructions("Knock.")
        .tools::<(
            add,
            fail,
            steps,
            hang,
            deploy,
            sign,
            think,
            where_am_i,
            loud,
        )>()
        .resources::<(hours,)>()
        .prompts::<(triage,)>()
        .logging()
        .resource_updates()
}

/// Adds two numbers.
#[tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Fails with an error.
#[tool]
async fn fail() -> Result<String> {
    Err("the desk is on fire".into())
}

/// Reports each step.
#[tool]
async fn steps(n: u32, ctx: Context) -> String {
    for step in 1..=n {
        ctx.progress(f64::from(step), Some(f64::from(n)), ()).await;
    }
    "done".to_owned()
}

/// Waits without end.
#[tool]
async fn hang() -> String {
    std::future::pending().await
}

/// Asks two questions.
#[tool]
async fn deploy(ctx: Context) -> Result<String> {
    let schema = ElicitSchema::new()
        .required("place", StringSchema::new())
        .optional("times", NumberSchema::integer());
    let schema: ElicitSchema = {
        let mut schema = json!(schema);
        schema["properties"]["place"]["default"] = json!("here");
        serde_json::from_value(schema)?
    };
    let Answer::Accepted(first) = ctx.elicit_form("Where?", schema).await? else {
        return Ok("left alone".to_owned());
    };
    let sure = ElicitSchema::new().required("sure", BooleanSchema::new());
    match ctx.elicit_form("Sure?", sure).await? {
        Answer::Accepted(_) => Ok(format!(
            "deployed {}",
            first["place"].as_str().unwrap_or("?")
        )),
        _ => Ok("not sure".to_owned()),
    }
}

/// Sends the user to a URL.
#[tool]
async fn sign(url: String, ctx: Context) -> Result<String> {
    Ok(match ctx.elicit_url("Sign here.", url).await? {
        Answer::Accepted(()) => "signed",
        Answer::Declined => "declined",
        Answer::Cancelled => "cancelled",
    }
    .to_owned())
}

/// Asks the model.
#[tool]
async fn think(ctx: Context) -> Result<String> {
    let question = CreateMessageParams::new(vec![SamplingMessage::user("?")], 10);
    let message: CreateMessageResult = ctx.sample(question).await?;
    Ok(message.model)
}

/// Asks for the roots.
#[tool]
async fn where_am_i(ctx: Context) -> Result<String> {
    let roots = ctx.list_roots().await?;
    let uris: Vec<_> = roots.into_iter().map(|root| root.uri).collect();
    Ok(uris.join(" "))
}

/// Logs two messages.
#[tool]
async fn loud(ctx: Context) {
    ctx.log(LoggingLevel::Debug, None, "quiet");
    ctx.log(LoggingLevel::Error, Some("desk"), json!({ "loud": true }));
}

/// The opening hours.
#[resource("desk://hours")]
async fn hours() -> &'static str {
    "always"
}

/// Sorts a case.
#[prompt]
async fn triage(case: String) -> String {
    format!("Sort {case}.")
}

/// Every revision, and the automatic choice.
pub(crate) fn modes() -> impl Iterator<Item = EraMode> {
    let pinned = Revision::ALL.into_iter().map(EraMode::Pinned);
    pinned.chain([EraMode::Auto])
}

/// A server in process.
pub(crate) fn target() -> InProcess<App> {
    in_process(server()).expect("a server")
}

/// A client without handlers for questions.
pub(crate) async fn client(mode: EraMode) -> Client {
    connect(Client::builder(), mode).await
}

/// A client, connected.
pub(crate) async fn connect(builder: ClientBuilder, mode: EraMode) -> Client {
    within(builder.mode(mode).connect(target()))
        .await
        .expect("a server")
}

/// Waits at most an hour of virtual time; a future that is pending then never ends.
pub(crate) async fn within<T>(future: impl IntoFuture<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(3_600), future)
        .await
        .expect("in time")
}

/// The text of a result.
pub(crate) fn text(content: &[ContentBlock]) -> &str {
    match content {
        [ContentBlock::Text(text)] => &text.text,
        other => panic!("one text, not {other:?}"),
    }
}
