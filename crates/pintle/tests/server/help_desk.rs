//! The server under test: a help desk with one item of every kind.

use pintle::model::{Annotations, CallToolResult, Icon, ResourceContents, Role};
use pintle::prelude::*;
use pintle::server::{Image, OtherArguments, ProtocolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The server of a help desk.
pub(crate) fn server() -> Server {
    Server::new("help-desk", "4.5.6")
        .title("Help desk")
        .instructions("Ask for a ticket first.")
        .state(Desk {
            greeting: "good morning",
        })
        .tools::<(greet, count, is_open, close, ticket, tickets, photo)>()
        .tools::<(recording, everything, by_hand, fail, refuse, work)>()
        .resources::<(hours, logo, ticket_page)>()
        .prompts::<(triage, escalate)>()
        .logging()
        .resource_updates()
}

/// The state that the handlers share.
pub(crate) struct Desk {
    greeting: &'static str,
}

/// The urgency of a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Urgency {
    Low,
    High,
}

/// A ticket as data.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Ticket {
    number: u32,
    urgency: Urgency,
}

/// Welcomes a person by name.
#[tool(
    title = "Greet",
    read_only,
    idempotent,
    open_world = false,
    icon = "https://example.com/hello.png"
)]
async fn greet(
    /// The name of the person.
    #[arg(min_len = 1, max_len = 20)]
    name: String,
    desk: State<Desk>,
) -> String {
    format!("{}, {name}", desk.greeting)
}

/// Counts to a number.
#[tool]
async fn count(#[arg(min = 0, max = 10)] to: u32) -> u32 {
    to
}

/// Returns whether the desk is open.
#[tool]
async fn is_open() -> bool {
    true
}

/// Closes the desk.
#[tool(destructive)]
async fn close() {}

/// Opens a ticket.
#[tool]
async fn ticket(#[arg(rename = "urgency")] how_urgent: Urgency) -> Json<Ticket> {
    Json(Ticket {
        number: 1,
        urgency: how_urgent,
    })
}

/// Lists all tickets.
#[tool]
async fn tickets() -> Json<Vec<u32>> {
    Json(vec![1, 2])
}

/// Shows the desk.
#[tool]
async fn photo() -> Image {
    Image::png([1, 2, 3])
}

/// Plays the melody of the queue.
#[tool]
async fn recording() -> ContentBlock {
    ContentBlock::audio([1, 2], "audio/wav")
}

/// Returns content of every kind.
#[tool]
async fn everything() -> Vec<ContentBlock> {
    let urgent = Annotations::default()
        .with_audience([Role::User])
        .with_priority(1.0);
    vec![
        ContentBlock::text("a ticket").with_annotations(urgent),
        ContentBlock::resource(
            ResourceContents::text("desk://tickets/1", "open").with_mime_type("text/plain"),
        ),
        ContentBlock::resource_link("desk://hours", "hours"),
    ]
}

/// Answers by hand.
#[tool]
async fn by_hand() -> CallToolResult {
    CallToolResult::structured(json!({ "made": "by hand" }))
}

/// Fails with an error.
#[tool]
async fn fail() -> Result<String> {
    Err("the printer is out of paper".into())
}

/// Makes a protocol error, on purpose.
#[tool]
async fn refuse() -> Result<String, ProtocolError> {
    Err(ProtocolError(pintle::model::Error::invalid_params(
        "not today",
    )))
}

/// Works, and reports its progress.
#[tool]
async fn work(ctx: Context) -> &'static str {
    ctx.progress(1.0, Some(3.0), "begun").await;
    ctx.progress(1.0, Some(3.0), "no further").await;
    ctx.progress(2.5, Some(3.0), ()).await;
    ctx.log(LoggingLevel::Debug, Some("desk"), "looked it up");
    ctx.log(
        LoggingLevel::Warning,
        Some("desk"),
        json!({ "paper": "low" }),
    );
    "done"
}

/// When the desk is open.
#[resource("desk://hours", title = "Hours", mime = "text/plain")]
async fn hours() -> &'static str {
    "9 to 5"
}

/// The desk's logo.
#[resource("desk://logo", mime = "image/png")]
async fn logo() -> Vec<u8> {
    vec![1, 2, 3]
}

/// One ticket as JSON.
#[resource("desk://tickets/{number}", mime = "application/json", complete(number = numbers))]
async fn ticket_page(number: u32) -> Result<Json<Ticket>, NotFound> {
    match number {
        1 | 2 => Ok(Json(Ticket {
            number,
            urgency: Urgency::Low,
        })),
        _ => Err(NotFound),
    }
}

fn numbers(typed: String) -> Vec<String> {
    (1..=250)
        .map(|number| number.to_string())
        .filter(|number| number.starts_with(&typed))
        .collect()
}

/// Sorts a ticket.
#[prompt(title = "Triage", complete(urgency = urgencies, team = teams))]
async fn triage(
    /// The problem as reported.
    report: String,
    /// The urgency of the ticket.
    urgency: Option<Urgency>,
    /// The team that handles it.
    team: Option<String>,
) -> Vec<PromptMessage> {
    let urgency = urgency.unwrap_or(Urgency::Low);
    let team = team.unwrap_or_else(|| "anybody".into());
    let page = ResourceContents::text("desk://tickets/1", "open").with_mime_type("text/plain");
    vec![
        PromptMessage::user(ContentBlock::text(format!(
            "{report} ({urgency:?}, {team})"
        ))),
        PromptMessage::user(ContentBlock::resource(page)),
        PromptMessage::assistant(ContentBlock::image([1, 2, 3], "image/png")),
    ]
}

const fn urgencies() -> [&'static str; 2] {
    ["low", "high"]
}

fn teams(typed: String, given: OtherArguments) -> Vec<String> {
    let urgency = given.get("urgency").unwrap_or("any");
    vec![format!("{typed}-{urgency}")]
}

/// Fails with an error that must stay secret.
#[prompt]
async fn escalate() -> Result<String> {
    Err("the secret number of the manager is 12345".into())
}

/// A picture for a server.
pub(crate) fn icon() -> Icon {
    Icon::new("https://example.com/desk.png")
}
