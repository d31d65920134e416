//! The server of these tests: tools that take their time, ask, and fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pintle_model::{
    ElicitParams, Error, ErrorCode, InputRequests, InputRequired, LoggingLevel, Outcome,
    TaskSupport,
};
use pintle_runtime::{Answer, Context};
use pintle_server::{ProtocolError, Server, TaskOptions, Tool, ToolReply};
use tokio::time::sleep;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Wait {
    /// In seconds.
    seconds: u64,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

/// What can be seen of handlers from outside.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub(crate) started: Arc<AtomicUsize>,
    pub(crate) dropped: Arc<AtomicUsize>,
    pub(crate) booked: Arc<AtomicUsize>,
}

/// Counts a handler that is dropped before its end.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

pub(crate) fn options() -> TaskOptions {
    TaskOptions::default()
}

pub(crate) fn server(seen: &Seen) -> Server {
    let (optional, required) = (TaskSupport::Optional, TaskSupport::Required);
    Server::new("works", "1.0.0")
        .logging()
        .add_tool(Tool::new("plain").handler(async || "plain"))
        .add_tool(
            Tool::new("never")
                .task(TaskSupport::Forbidden)
                .handler(async || "never"),
        )
        .add_tool(wait(seen).task(optional.clone()))
        .add_tool(
            Tool::new("must")
                .task(required)
                .handler(async |cx: Context| {
                    cx.begin_task().await;
                    "done"
                }),
        )
        .add_tool(
            Tool::new("fails")
                .task(optional.clone())
                .handler(async |cx: Context| {
                    cx.begin_task().await;
                    Err::<(), _>("no tide table")
                }),
        )
        .add_tool(
            Tool::new("breaks")
                .task(optional.clone())
                .handler(async |cx: Context| {
                    cx.begin_task().await;
                    Err::<(), _>(ProtocolError::from(Error::new(
                        ErrorCode(-32042),
                        "visit first",
                    )))
                }),
        )
        .add_tool(Tool::new("panics").task(optional.clone()).handler(
            async |cx: Context| -> String {
                cx.begin_task().await;
                panic!("a handler panics")
            },
        ))
        .add_tool(Tool::new("asks").task(optional.clone()).handler(asks))
        .add_tool(
            Tool::new("asks_often")
                .task(optional.clone())
                .handler(asks_often),
        )
        .add_tool(Tool::new("two").task(optional.clone()).handler(two))
        .add_tool(Tool::new("first").task(optional.clone()).handler(first))
        .add_tool(
            Tool::new("gives_up")
                .task(optional.clone())
                .handler(gives_up),
        )
        .add_tool(Tool::new("returns").task(optional.clone()).handler(returns))
        .add_tool(booking(seen).task(optional.clone()))
        .add_tool(Tool::new("tells").task(optional.clone()).handler(tells))
        .add_tool(Tool::new("lingers").task(optional).handler(lingers))
}

/// How long after its end a tool still tells of its progress.
pub(crate) const LINGERS: Duration = Duration::from_secs(1);

fn wait(seen: &Seen) -> Tool {
    let seen = seen.clone();
    Tool::new("wait").handler(move |wait: Wait| {
        let seen = seen.clone();
        async move {
            seen.started.fetch_add(1, Ordering::SeqCst);
            let dropped = Dropped(seen.dropped);
            sleep(Duration::from_secs(wait.seconds)).await;
            std::mem::forget(dropped);
            format!("waited {} s", wait.seconds)
        }
    })
}

async fn asks(cx: Context) -> Result<String, pintle_runtime::AskError> {
    cx.begin_task().await;
    let name = cx.elicit::<Name>("Who?").named("who").await?;
    Ok(match name {
        Answer::Accepted(Name { name }) => format!("hello {name}"),
        Answer::Declined => "declined".to_owned(),
        Answer::Cancelled => "cancelled".to_owned(),
    })
}

/// How many questions `asks_often` has.
pub(crate) const OFTEN: usize = 4;

async fn asks_often(cx: Context) -> Result<String, pintle_runtime::AskError> {
    cx.begin_task().await;
    for nth in 1..=OFTEN {
        let name = format!("who {nth}");
        cx.elicit::<Name>("Who?").named(&name).await?;
    }
    Ok(format!("asked {OFTEN} times"))
}

async fn two(cx: Context) -> Result<String, pintle_runtime::AskError> {
    cx.begin_task().await;
    let (one, other) = tokio::join!(
        cx.elicit::<Name>("First?").named("first"),
        cx.elicit::<Name>("Second?").named("second"),
    );
    let name = |answer: Answer<Name>| answer.accepted().map_or("nobody".into(), |it| it.name);
    Ok(format!("{} and {}", name(one?), name(other?)))
}

/// Asks before it becomes a task, and after.
async fn first(cx: Context) -> Result<String, pintle_runtime::AskError> {
    let before = cx.elicit::<Name>("Before?").named("before").await?;
    cx.begin_task().await;
    let after = cx.elicit::<Name>("After?").named("after").await?;
    let name = |answer: Answer<Name>| answer.accepted().map_or("nobody".into(), |it| it.name);
    Ok(format!("{} then {}", name(before), name(after)))
}

/// Takes its question back after a minute.
async fn gives_up(cx: Context) -> String {
    cx.begin_task().await;
    let asked = tokio::time::timeout(Duration::from_secs(60), cx.elicit::<Name>("Who?"));
    let answer = if asked.await.is_ok() {
        "answered"
    } else {
        "gave up"
    };
    sleep(Duration::from_secs(10)).await;
    answer.to_owned()
}

/// Returns its questions itself.
async fn returns(cx: Context) -> ToolReply {
    cx.begin_task().await;
    let responses = cx.input_responses();
    let Some(answer) = responses.get("who") else {
        let schema = serde_json::from_value(serde_json::json!({
            "type": "object", "properties": { "name": { "type": "string" } }
        }));
        let question = ElicitParams::form("Who?", schema.expect("a form"));
        let mut requests = InputRequests::new();
        requests.insert("who", question);
        let asked = InputRequired::asking(requests).with_state("kept");
        return Ok(Outcome::InputRequired(asked));
    };
    let text = format!(
        "{} {}",
        cx.request_state().unwrap_or_default(),
        answer["content"]["name"]
    );
    Ok(Outcome::Complete(pintle_model::CallToolResult::text(text)))
}

/// Does something once, then asks.
fn booking(seen: &Seen) -> Tool {
    let seen = seen.clone();
    Tool::new("books").handler(move |cx: Context| {
        let seen = seen.clone();
        async move {
            cx.begin_task().await;
            seen.started.fetch_add(1, Ordering::SeqCst);
            let book = async { seen.booked.fetch_add(1, Ordering::SeqCst) + 1 };
            let number = cx.once("book", book).await;
            let name = cx.elicit::<Name>("Who?").named("who").await?;
            let name = name.accepted().map(|name| name.name).unwrap_or_default();
            Ok::<_, pintle_runtime::AskError>(format!("booking {number} for {name}"))
        }
    })
}

async fn tells(cx: Context) -> &'static str {
    cx.begin_task().await;
    for step in 1..=3 {
        cx.progress(f64::from(step), Some(3.0), "step").await;
        cx.log(LoggingLevel::Warning, None, format!("step {step}"));
        sleep(Duration::from_secs(1)).await;
    }
    "told"
}

/// Ends, and leaves somebody behind who goes on telling of progress.
async fn lingers(cx: Context) -> &'static str {
    cx.progress(1.0, Some(2.0), "before the end").await;
    let late = cx.clone();
    tokio::spawn(async move {
        sleep(LINGERS).await;
        late.progress(2.0, Some(2.0), "after it").await;
    });
    "ended"
}
