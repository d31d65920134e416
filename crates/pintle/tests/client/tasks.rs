//! Tasks from the side of the caller: a plain result, or a handle for later.

mod handle;
mod own;
mod plain;

use std::time::Duration;

use pintle::client::{Client, ClientBuilder, EraMode, InProcess, Task, TaskCall};
use pintle::model::{CreateMessageParams, Revision, SamplingMessage};
use pintle::prelude::*;
use pintle::server::App;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::client::help_desk::within;

/// The revisions that have tasks.
const BOTH: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];
const CORE: Revision = Revision::V2025_11_25;
const SECOND: Duration = Duration::from_secs(1);

/// A server with slow tools.
fn yard() -> App {
    let server =
        Server::new("yard", "1.0.0")
            .tools::<(quick, slow, paint, ask_first, fail_slowly, poll_us, think)>();
    server.build().expect("a server")
}

/// Answers at once.
#[tool(read_only)]
async fn quick() -> &'static str {
    "quick"
}

/// Runs for this number of seconds.
#[tool(task = optional)]
async fn slow(seconds: u32) -> String {
    tokio::time::sleep(seconds * SECOND).await;
    format!("after {seconds} s")
}

/// Requires a task.
#[tool(task = required)]
async fn paint(cx: Context) -> &'static str {
    for coat in 1..=3 {
        tokio::time::sleep(SECOND).await;
        cx.progress(f64::from(coat), Some(3.0), ()).await;
    }
    "painted"
}

#[derive(Deserialize, JsonSchema)]
struct Colour {
    colour: String,
}

/// Asks twice while it works.
#[tool(task = optional)]
async fn ask_first(cx: Context) -> Result<String> {
    cx.begin_task().await;
    tokio::time::sleep(2 * SECOND).await;
    let first = cx.elicit::<Colour>("Which colour?").await?;
    tokio::time::sleep(2 * SECOND).await;
    let second = cx.elicit::<Colour>("And inside?").await?;
    match (first, second) {
        (Answer::Accepted(out), Answer::Accepted(inside)) => {
            Ok(format!("{}, {} inside", out.colour, inside.colour))
        }
        _ => Ok("left as it is".to_owned()),
    }
}

/// Fails after a delay.
#[tool(task = optional)]
async fn fail_slowly() -> Result<String> {
    tokio::time::sleep(2 * SECOND).await;
    Err("out of paint".into())
}

/// Asks a question that the client may answer with a task.
#[tool]
async fn poll_us(cx: Context) -> Result<String> {
    let asked = cx.elicit::<Colour>("Which colour?").as_task(60 * SECOND);
    match asked.await? {
        Answer::Accepted(Colour { colour }) => Ok(colour),
        Answer::Declined => Ok("declined".to_owned()),
        Answer::Cancelled => Ok("cancelled".to_owned()),
    }
}

/// Lets a model think in a task.
#[tool]
async fn think(cx: Context) -> Result<String> {
    let question = CreateMessageParams::new(vec![SamplingMessage::user("?")], 10);
    let message = cx.sample(question).as_task(60 * SECOND).await?;
    Ok(message.model)
}

/// A client of its own server.
async fn client(builder: ClientBuilder, revision: Revision) -> Client {
    of(&yard(), builder, revision).await
}

async fn of(yard: &App, builder: ClientBuilder, revision: Revision) -> Client {
    within(
        builder
            .mode(EraMode::Pinned(revision))
            .connect(InProcess::new(yard.clone())),
    )
    .await
    .expect("a server")
}

/// Begins a call that becomes a task.
async fn create_task(call: TaskCall) -> Task {
    let start = within(call).await.expect("it begins");
    start.task().expect("a task").clone()
}
