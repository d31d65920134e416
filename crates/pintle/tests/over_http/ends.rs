//! The end of a request, as its handler and its tasks can read it.

use std::pin::pin;
use std::time::Duration;

use pintle::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::guest::{Guest, MODERN, REVISIONS};

/// The channel to which handlers report.
type Reports = UnboundedSender<&'static str>;

/// Reports an event. The test may have ended.
fn report(reports: &Reports, event: &'static str) {
    let _ = reports.send(event);
}

/// Reports in its `drop` why the request has ended.
struct Guard(Context, Reports);

impl Drop for Guard {
    fn drop(&mut self) {
        let why = match (self.0.is_cancelled(), self.0.is_suspended()) {
            (true, false) => "cancelled",
            (false, true) => "suspended",
            (false, false) => "ended",
            (true, true) => "both",
        };
        // The test may have ended.
        let _ = self.1.send(why);
    }
}

/// Holds a guard until it is cancelled.
#[tool]
async fn waits(ctx: Context, reports: State<Reports>) {
    let _guard = Guard(ctx.clone(), Reports::clone(&reports));
    ctx.progress(1.0, None, ()).await;
    std::future::pending().await
}

/// Holds a guard until its time is up.
#[tool(timeout = "1s")]
async fn hangs(ctx: Context, reports: State<Reports>) {
    let _guard = Guard(ctx, Reports::clone(&reports));
    std::future::pending().await
}

#[derive(Deserialize, JsonSchema)]
struct Size {
    meters: u32,
}

/// Holds a guard above a question.
#[tool]
async fn asks(ctx: Context, reports: State<Reports>) -> Result<u32> {
    let _guard = Guard(ctx.clone(), Reports::clone(&reports));
    let size = ctx.elicit::<Size>("How long is the ship?").await?;
    Ok(size.accepted().map_or(0, |size| size.meters))
}

/// Begins work above a question, and finishes it with the answer if that is more than 0.
#[tool]
async fn undoes(ctx: Context, reports: State<Reports>) -> Result<u32> {
    let undo = ctx.undo(|| report(&reports, "undone"));
    let size = ctx.elicit::<Size>("How long is the ship?").await?;
    let meters = size.accepted().map_or(0, |size| size.meters);
    if meters == 0 {
        return Err("a ship has a length".into());
    }
    undo.disarm();
    report(&reports, "finished");
    Ok(meters)
}

/// Begins work, and is cancelled or stopped by its time limit.
#[tool(timeout = "1s")]
async fn stops(ctx: Context, reports: State<Reports>) {
    let _undo = ctx.undo(|| report(&reports, "undone"));
    ctx.progress(1, 2, ()).await;
    std::future::pending().await
}

/// Starts a task that reports the end of the request. Returns when the task waits for it.
async fn watch(cx: Context, reports: &Reports) {
    let reports = Reports::clone(reports);
    let (waits, is_waiting) = oneshot::channel();
    tokio::spawn(async move {
        let mut end = pin!(cx.cancelled());
        tokio::select! {
            biased;
            () = &mut end => {}
            () = std::future::ready(()) => drop(waits.send(())),
        }
        end.await;
        let _ = reports.send("the task knows");
    });
    is_waiting.await.expect("the request is open");
}

/// Starts a task that outlives it, and waits.
#[tool]
async fn spawns(ctx: Context, reports: State<Reports>) {
    watch(ctx.clone(), &reports).await;
    ctx.progress(1.0, None, ()).await;
    std::future::pending().await
}

/// Starts a task that outlives it, and returns.
#[tool]
async fn returns(ctx: Context, reports: State<Reports>) -> &'static str {
    watch(ctx, &reports).await;
    "done"
}

fn server() -> (Server, UnboundedReceiver<&'static str>) {
    let (reports, received) = unbounded_channel();
    let server = Server::new("ends", "1").state::<Reports>(reports).tools::<(
        waits,
        hangs,
        asks,
        undoes,
        stops,
        spawns,
        returns,
    )>();
    (server, received)
}

// spec: 2026-07-28 N-CANC-03
#[tokio::test(start_paused = true)]
async fn a_guard_distinguishes_a_cancelled_request_from_a_time_limit() {
    for revision in REVISIONS {
        let (server, mut received) = server();
        let mut guest = Guest::of(server, revision).await;
        guest.cancel("waits").await;
        assert_eq!(received.recv().await, Some("cancelled"), "{revision}");
        guest.call("hangs", json!({})).await;
        assert_eq!(received.recv().await, Some("ended"), "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_guard_above_a_question_reads_that_the_handler_runs_again() {
    let (server, mut received) = server();
    let mut guest = Guest::of(server, MODERN).await;
    let able =
        json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } } });
    let call = json!({ "name": "asks", "arguments": {}, "_meta": able });
    let asked = guest.ask("tools/call", call.clone()).await;
    let result = &asked[0]["result"];
    assert_eq!(result["resultType"], "input_required", "{asked:?}");
    assert_eq!(received.recv().await, Some("suspended"));

    let names = result["inputRequests"].as_object().expect("questions");
    let name = names.keys().next().expect("a question");
    let mut retry = call;
    retry["inputResponses"][name] = json!({ "action": "accept", "content": { "meters": 9 } });
    retry["requestState"] = result["requestState"].clone();
    let answered = guest.ask("tools/call", retry).await;
    assert_eq!(
        answered[0]["result"]["content"][0]["text"], "9",
        "{answered:?}"
    );
    assert_eq!(received.recv().await, Some("ended"));
}

#[tokio::test(start_paused = true)]
async fn a_spawned_task_can_wait_for_the_end_of_its_request() {
    const LONGEST: Duration = Duration::from_secs(60);
    for revision in REVISIONS {
        let (server, mut received) = server();
        let mut guest = Guest::of(server, revision).await;
        guest.cancel("spawns").await;
        let notified = timeout(LONGEST, received.recv()).await;
        assert_eq!(notified, Ok(Some("the task knows")), "{revision}");
        guest.call("returns", json!({})).await;
        let notified = timeout(LONGEST, received.recv()).await;
        assert_eq!(notified, Ok(Some("the task knows")), "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn work_is_undone_after_a_cancellation_and_a_time_limit() {
    for revision in REVISIONS {
        let (server, mut received) = server();
        let mut guest = Guest::of(server, revision).await;
        guest.cancel("stops").await;
        assert_eq!(received.recv().await, Some("undone"), "{revision}");
        guest.call("stops", json!({})).await;
        assert_eq!(received.recv().await, Some("undone"), "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn work_is_not_undone_by_a_question_and_only_if_it_fails_afterwards() {
    for (meters, expected) in [(9, "finished"), (0, "undone")] {
        let (server, mut received) = server();
        let mut guest = Guest::of(server, MODERN).await;
        let able = json!({
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } }
        });
        let mut call = json!({ "name": "undoes", "arguments": {}, "_meta": able });
        let asked = guest.ask("tools/call", call.clone()).await;
        let result = &asked[0]["result"];
        assert_eq!(result["resultType"], "input_required", "{asked:?}");
        assert!(received.try_recv().is_err(), "the question undoes nothing");
        let names = result["inputRequests"].as_object().expect("questions");
        let name = names.keys().next().expect("a question");
        call["inputResponses"][name] =
            json!({ "action": "accept", "content": { "meters": meters } });
        call["requestState"] = result["requestState"].clone();
        guest.ask("tools/call", call).await;
        assert_eq!(received.recv().await, Some(expected));
        assert!(received.try_recv().is_err(), "the function runs once");
    }
}
