//! Tasks between clients and servers with different forms of tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pintle::client::{CallError, Client, ClientBuilder, EraMode, InProcess, TaskStart};
use pintle::model::{ErrorCode, Revision, TaskStatus};
use pintle::prelude::*;
use pintle::runtime::IntoService;
use pintle::server::ProtocolError;
use pintle_proxy::{Proxy, ProxyOptions};
use serde_json::{Value, json};

use crate::server::{answering, text};

const LEGACY: Revision = Revision::LATEST_LEGACY;
const MODERN: Revision = Revision::LATEST;
/// The pairs with different forms of tasks.
const PAIRS: [(Revision, Revision); 2] = [(MODERN, LEGACY), (LEGACY, MODERN)];

/// The calls that were dropped before their end.
#[derive(Default)]
pub(crate) struct Dropped(AtomicUsize);

impl Dropped {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Works for a while.
#[tool(task = optional)]
async fn work(cx: Context, seconds: u64, dropped: State<Arc<Dropped>>) -> String {
    struct OnDrop(Option<Arc<Dropped>>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            if let Some(dropped) = self.0.take() {
                dropped.0.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
    let mut guard = OnDrop(Some(Arc::clone(&dropped)));
    cx.begin_task().await;
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    guard.0 = None;
    "done".to_owned()
}

/// Runs as a plain call.
#[tool]
async fn simple() -> String {
    "plain".to_owned()
}

/// Runs as a task only.
#[tool(task = required)]
async fn strict(cx: Context) -> String {
    cx.begin_task().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    "strict".to_owned()
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Seat {
    seat: String,
}

/// Asks for a seat, twice.
#[tool(task = optional)]
async fn reserve(cx: Context) -> Result<String, String> {
    cx.begin_task().await;
    let mut seats = Vec::new();
    for message in ["Which seat?", "And then?"] {
        match cx.elicit::<Seat>(message).await {
            Ok(Answer::Accepted(Seat { seat })) => seats.push(seat),
            Ok(_) => return Err("declined".to_owned()),
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(seats.join(" "))
}

/// Fails as a tool does.
#[tool(task = optional)]
async fn fail(cx: Context) -> Result<String, String> {
    cx.begin_task().await;
    Err("it broke".to_owned())
}

/// Fails with an error of the protocol.
#[tool(task = optional)]
async fn refuse(cx: Context) -> Result<String, ProtocolError> {
    cx.begin_task().await;
    let error = pintle::model::Error::new(ErrorCode(-32050), "refused");
    Err(ProtocolError::from(error))
}

/// A client of a proxy of a server with tasks.
struct Tasked {
    client: Client,
    proxy: Proxy,
    dropped: Arc<Dropped>,
}

/// A server with tasks, and its dropped calls.
pub(crate) fn server_with_tasks() -> (Server, Arc<Dropped>) {
    let dropped = Arc::<Dropped>::default();
    let server = Server::new("desk", "1.0.0")
        .state(Arc::clone(&dropped))
        .tools::<(work, strict, reserve, fail, refuse)>()
        .tool::<simple>();
    (server, dropped)
}

async fn tasked(
    builder: ClientBuilder,
    (of_client, of_server): (Revision, Revision),
    options: ProxyOptions,
) -> Tasked {
    let (server, dropped) = server_with_tasks();
    let app = server.into_service().expect("a valid server");
    let proxy = Proxy::builder(move |client| {
        let client = client.mode(EraMode::Pinned(of_server));
        client.connect_lazily(InProcess::new(app.clone()))
    });
    let proxy = proxy.options(options).connect().await.expect("a server");
    let client = builder.mode(EraMode::Pinned(of_client));
    let client = client.connect(InProcess::new(proxy.clone())).await;
    Tasked {
        client: client.expect("a proxy"),
        proxy,
        dropped,
    }
}

async fn plain(pair: (Revision, Revision)) -> Tasked {
    tasked(answering(), pair, ProxyOptions::default()).await
}

/// Sends a request. Returns its result, or the code of its error.
async fn request(client: &Client, method: &str, params: Value) -> Result<Value, i64> {
    let sent = client.forward(method, &params.to_string()).await;
    let sent = sent.map_err(|error: CallError| error.answer().expect("an error").code.0)?;
    Ok(serde_json::from_str(sent.get()).expect("JSON"))
}

/// Begins a task that works for a number of seconds.
async fn begin(client: &Client, seconds: u64) -> pintle::client::Task {
    let call = client.call_tool("work", json!({ "seconds": seconds }));
    match call.as_task().await.expect("a task") {
        TaskStart::Task(task) => task,
        TaskStart::Done(result) => panic!("{result:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_reaches_its_end_in_the_form_of_the_client() {
    for pair in PAIRS {
        let tasked = plain(pair).await;
        let task = begin(&tasked.client, 30).await;
        let polled = task.refresh().await.expect("a task");
        assert_eq!(polled.status, TaskStatus::Working, "{pair:?}");
        let result = task.wait().await.expect("a result");
        assert_eq!(text(&result), "done", "{pair:?}");
        let ended = task.refresh().await.expect("a task");
        assert_eq!(ended.status, TaskStatus::Completed, "{pair:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_ends_at_once_is_a_plain_result_for_a_modern_client() {
    let tasked = plain(PAIRS[0]).await;
    let call = tasked.client.call_tool("work", json!({ "seconds": 0 }));
    let start = call.as_task().await.expect("a result");
    assert!(start.task().is_none());
    assert_eq!(text(&start.result().await.expect("a result")), "done");
}

#[tokio::test(start_paused = true)]
async fn the_questions_of_a_task_reach_the_client() {
    for pair in PAIRS {
        let tasked = plain(pair).await;
        let start = tasked.client.call_tool("reserve", ()).as_task().await;
        let start = start.expect("a task");
        assert!(start.task().is_some(), "{pair:?}");
        let result = start.result().await.expect("a result");
        assert_eq!(text(&result), "1A 2A", "{pair:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_that_of_the_call() {
    for pair in PAIRS {
        let tasked = plain(pair).await;
        let failed = tasked.client.call_tool("fail", ()).as_task().await;
        let failed = failed.expect("a task").result().await.expect("a result");
        assert!(failed.has_failed(), "{pair:?}");
        assert_eq!(text(&failed), "it broke", "{pair:?}");
        let refused = tasked.client.call_tool("refuse", ()).as_task().await;
        let refused = match refused {
            Ok(start) => start.result().await,
            Err(error) => Err(error),
        };
        let refused = refused.expect_err("an error");
        let code = refused.answer().map(|error| error.code.0);
        assert_eq!(code, Some(-32050), "{pair:?} {refused:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_is_cancelled_at_the_server() {
    for pair in PAIRS {
        let tasked = plain(pair).await;
        let task = begin(&tasked.client, 3_000).await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        task.cancel().await.expect("cancelled");
        tokio::time::sleep(Duration::from_secs(5)).await;
        let polled = task.refresh().await.expect("a task");
        assert_eq!(polled.status, TaskStatus::Cancelled, "{pair:?}");
        assert_eq!(tasked.dropped.0.load(Ordering::SeqCst), 1, "{pair:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_a_task_only_is_called_by_each_client() {
    let call = json!({ "name": "strict" });
    let legacy = plain((LEGACY, MODERN)).await;
    let result = request(&legacy.client, "tools/call", call.clone()).await;
    assert_eq!(result.expect("a result")["content"][0]["text"], "strict");
    let modern = plain((MODERN, LEGACY)).await;
    let without = modern.client.forward("tools/call", &call.to_string());
    let without = without.capabilities(Arc::default()).await;
    let refused = without.expect_err("an error");
    assert_eq!(refused.answer().map(|error| error.code.0), Some(-32021));
    let result = modern.client.call_tool("strict", ()).await;
    assert_eq!(text(&result.expect("a result")), "strict");
}

#[tokio::test(start_paused = true)]
async fn a_modern_call_with_a_request_for_a_task_is_a_plain_call() {
    let tasked = plain(PAIRS[0]).await;
    let call = json!({ "name": "simple", "task": { "ttl": 1_000 } });
    let result = request(&tasked.client, "tools/call", call).await;
    assert_eq!(result.expect("a result")["content"][0]["text"], "plain");
}

#[tokio::test(start_paused = true)]
async fn a_task_belongs_to_the_session_that_began_it() {
    for pair in PAIRS {
        let tasked = plain(pair).await;
        let task = begin(&tasked.client, 30).await;
        let other = answering().mode(EraMode::Pinned(pair.0));
        let other = other.connect(InProcess::new(tasked.proxy.clone())).await;
        let other = other.expect("a proxy");
        let named = json!({ "taskId": task.id() });
        for method in ["tasks/get", "tasks/cancel"] {
            let refused = request(&other, method, named.clone()).await;
            assert_eq!(refused.map(drop), Err(-32602), "{pair:?} {method}");
        }
        assert!(request(&tasked.client, "tasks/get", named).await.is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_of_the_core_lists_its_tasks_until_their_time_is_over() {
    let mut options = ProxyOptions::default();
    (options.max_tasks, options.max_task_ttl) = (2, Duration::from_secs(100));
    let tasked = tasked(answering(), (LEGACY, MODERN), options).await;
    let first = begin(&tasked.client, 30).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    begin(&tasked.client, 3_000).await;
    let call = json!({ "name": "work", "arguments": { "seconds": 1 }, "task": {} });
    let refused = request(&tasked.client, "tools/call", call).await;
    assert_eq!(refused.map(drop), Err(-32603));
    let listed = request(&tasked.client, "tasks/list", json!({})).await;
    let listed = listed.expect("a list");
    assert_eq!(listed["tasks"].as_array().expect("tasks").len(), 2);
    assert_eq!(listed["tasks"][0]["taskId"], first.id());
    assert_eq!(listed["tasks"][0]["ttl"], 100_000);
    tokio::time::sleep(Duration::from_secs(110)).await;
    let gone = request(&tasked.client, "tasks/get", json!({ "taskId": first.id() })).await;
    assert_eq!(gone.map(drop), Err(-32602));
    // The second one was still running.
    assert_eq!(tasked.dropped.0.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn results_of_tasks_have_a_limit_of_bytes() {
    let mut options = ProxyOptions::default();
    options.max_task_bytes = 10;
    let tasked = tasked(answering(), (LEGACY, MODERN), options).await;
    let task = begin(&tasked.client, 1).await;
    let refused = task.wait().await.expect_err("no room");
    assert_eq!(refused.answer().map(|error| error.code.0), Some(-32603));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_forgotten_is_followed_again() {
    let mut options = ProxyOptions::default();
    options.max_tasks = 1;
    let tasked = tasked(answering(), (MODERN, LEGACY), options).await;
    let first = tasked.client.call_tool("reserve", ()).as_task().await;
    begin(&tasked.client, 30).await;
    let result = first.expect("a task").result().await.expect("a result");
    assert_eq!(text(&result), "1A 2A");
}

#[tokio::test(start_paused = true)]
async fn each_side_declares_the_form_of_the_client() {
    for (pair, has_core) in [(PAIRS[0], false), (PAIRS[1], true)] {
        let tasked = plain(pair).await;
        let server = tasked.client.server().expect("a server");
        let offered = &server.capabilities;
        assert_eq!(offered.tasks.is_some(), has_core, "{pair:?}");
        let extension = offered.extension("io.modelcontextprotocol/tasks");
        assert_eq!(extension.is_some(), !has_core, "{pair:?}");
    }
}
