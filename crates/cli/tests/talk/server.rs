//! A server in the test's own process, behind a socket.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pintle::http::{HttpServer, ServeHttp as _};
use pintle::model::{CreateMessageParams, Freshness, LoggingLevel, SamplingMessage};
use pintle::prelude::*;
use pintle::runtime::{PipeOptions, serve_tcp};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A running server. Dropping it ends the server.
pub(crate) struct Served {
    pub(crate) url: String,
    pub(crate) task: JoinHandle<()>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves the tools of these tests on a free port.
pub(crate) async fn serve() -> Served {
    serve_this(server()).await
}

/// Serves the same tools, with lists that may be cached.
pub(crate) async fn serve_fresh() -> Served {
    let minute = Duration::from_secs(60);
    serve_this(server().list_freshness(Freshness::public(minute))).await
}

async fn serve_this(server: Server) -> Served {
    let app = Arc::new(server.build().expect("starts"));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let task = tokio::spawn(async move {
        let ended = serve_tcp(app, listener, PipeOptions::default()).await;
        panic!("the server ended: {ended:?}");
    });
    Served {
        url: format!("tcp://{address}"),
        task,
    }
}

/// Serves the same over HTTP.
pub(crate) async fn serve_http() -> Served {
    let service = server().into_http().expect("starts");
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = HttpServer::bind(service, address).await.expect("a port");
    let address = server.address().expect("an address");
    Served {
        url: format!("http://{address}/mcp"),
        task: tokio::spawn(server.run()),
    }
}

pub(crate) fn server() -> Server {
    Server::new("workbench", "1.0")
        .title("Workbench\u{1b}[2J")
        .instructions("Measure twice.")
        .tools::<(add, repeat, fail, odd, picture)>()
        .tools::<(greet, sign_in, ask_model, steps, tell, hold)>()
        .tools::<(add_tool, write_note)>()
        .tools::<(sand, lacquer, glue, greet_later)>()
        .resources::<(note, scan)>()
        .prompts::<(review,)>()
        .resource_updates()
        .logging()
}

/// Adds two or more numbers.
#[tool(read_only)]
async fn add(
    /// The first one.
    a: f64,
    /// The second one.
    #[arg(min = 0)]
    b: i64,
    /// More of them.
    #[arg(default)]
    more: Vec<i64>,
) -> f64 {
    a + b as f64 + more.iter().sum::<i64>() as f64
}

/// Returns the text.
#[tool(read_only)]
async fn repeat(text: String) -> String {
    text
}

/// Fails on each call.
#[tool]
async fn fail() -> Result<String> {
    Err("the saw is blunt".into())
}

/// Returns control characters of a terminal.
#[tool]
async fn odd() -> String {
    "\u{1b}]0;owned\u{7}plain".to_owned()
}

/// Draws a picture.
#[tool]
async fn picture() -> ContentBlock {
    ContentBlock::image(b"\x89PNG\r\n\x1a\nrest", "image/png")
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

/// Asks who is there.
#[tool]
async fn greet(ctx: Context) -> Result<String> {
    match ctx.elicit::<Name>("Who is there?").await? {
        Answer::Accepted(Name { name }) => Ok(format!("hello {name}")),
        Answer::Declined => Ok("as you like".to_owned()),
        Answer::Cancelled => Ok("gone".to_owned()),
    }
}

/// Asks the user to visit a URL.
#[tool]
async fn sign_in(ctx: Context) -> Result<String> {
    match ctx
        .elicit_url("Sign in.", "https://sign-in.example/")
        .await?
    {
        Answer::Accepted(()) => Ok("signed in".to_owned()),
        _ => Ok("not signed in".to_owned()),
    }
}

/// Asks a model.
#[tool]
async fn ask_model(ctx: Context) -> Result<String> {
    let question = CreateMessageParams::new(vec![SamplingMessage::user("six by nine?")], 10);
    let message = ctx.sample(question).await?;
    Ok(message.model)
}

/// Takes steps, and reports each as progress.
#[tool]
async fn steps(ctx: Context) -> &'static str {
    ctx.progress(1.0, Some(2.0), "half\u{1b}way").await;
    ctx.progress(2.0, Some(2.0), "there").await;
    "done"
}

/// Runs until the call is cancelled.
#[tool]
async fn hold(ctx: Context) -> &'static str {
    ctx.progress(0.0, None, "holding").await;
    std::future::pending().await
}

/// Adds a tool.
#[tool]
async fn add_tool(name: String, server: State<ServerHandle>) -> Result<String> {
    let tool = Tool::new(&name).handler(|| std::future::ready("here"));
    server.add_tool(tool)?;
    Ok(name)
}

/// Writes into a note.
#[tool]
async fn write_note(name: String, server: State<ServerHandle>) -> String {
    server.changes().resource(format!("bench://notes/{name}"));
    name
}

/// Sends log messages.
#[tool]
async fn tell(ctx: Context) -> &'static str {
    ctx.log(LoggingLevel::Debug, None, "a shaving");
    ctx.log(LoggingLevel::Warning, Some("saw"), "it is \u{1b}blunt");
    "told"
}

/// Sands, which may be a task.
#[tool(task = optional)]
async fn sand(ctx: Context) -> &'static str {
    ctx.begin_task().await;
    "sanded"
}

/// Lacquers, which is a task.
#[tool(task = required)]
async fn lacquer(ctx: Context) -> Result<String> {
    ctx.begin_task().await;
    Err("the lacquer is dry".into())
}

/// Waits for the glue without end.
#[tool(task = optional)]
async fn glue(ctx: Context) -> String {
    ctx.begin_task().await;
    std::future::pending().await
}

/// Asks who is there, in a task.
#[tool(task = optional)]
async fn greet_later(ctx: Context) -> Result<String> {
    ctx.begin_task().await;
    match ctx.elicit::<Name>("Who is there?").await? {
        Answer::Accepted(Name { name }) => Ok(format!("hello {name}")),
        _ => Ok("as you like".to_owned()),
    }
}

/// A note on the workbench.
#[resource("bench://notes/{name}", complete(name = names))]
async fn note(name: String) -> Result<String, NotFound> {
    match name.as_str() {
        "glue" => Ok("Let it dry.".to_owned()),
        _ => Err(NotFound),
    }
}

async fn names(typed: String) -> Vec<String> {
    let names = ["glue", "grain", "saw"].into_iter();
    names
        .filter(|name| name.starts_with(&typed))
        .map(str::to_owned)
        .collect()
}

/// The bytes of a picture.
#[resource("bench://scan", mime = "image/png")]
async fn scan() -> Vec<u8> {
    b"\x89PNG\r\n\x1a\n".to_vec()
}

/// Reviews a piece of work.
#[prompt(complete(work = names))]
async fn review(
    /// The work to review.
    work: String,
    tone: Option<String>,
) -> Vec<PromptMessage> {
    let tone = tone.unwrap_or_else(|| "kindly".to_owned());
    vec![PromptMessage::user(format!("Review the {work} {tone}."))]
}
