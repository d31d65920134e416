//! Questions that the client makes tasks of, in 2025-11-25.

use std::time::Duration;

use pintle_model::{CreateMessageParams, SamplingMessage};
use pintle_runtime::{Answer, AskError, Context};
use pintle_server::{Server, Tool};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::questions::peer::{LEGACY, MODERN, Peer, able, accept, text, tool};

const MINUTE: Duration = Duration::from_secs(60);

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

async fn hello(cx: Context) -> Result<String, AskError> {
    match cx.elicit::<Name>("Who?").as_task(5 * MINUTE).await? {
        Answer::Accepted(Name { name }) => Ok(format!("hello {name}")),
        _ => Ok("hello".to_owned()),
    }
}

async fn think(cx: Context) -> Result<String, AskError> {
    let question = vec![SamplingMessage::user("Think")];
    let ask = cx
        .sample(CreateMessageParams::new(question, 10))
        .as_task(5 * MINUTE);
    let answer = ask.await?;
    Ok(answer.content.blocks()[0]
        .as_text()
        .unwrap_or("?")
        .to_owned())
}

fn server() -> Server {
    Server::new("asks", "1.0.0")
        .add_tool(Tool::new("hello").handler(hello))
        .add_tool(Tool::new("think").handler(think))
}

/// A client that makes tasks of both kinds of questions.
async fn patient(tasks: Value) -> Peer {
    let mut capabilities = able();
    capabilities["tasks"] = tasks;
    Peer::connect(server(), "2025-11-25", capabilities).await
}

fn all() -> Value {
    json!({ "requests": { "elicitation": { "create": {} }, "sampling": { "createMessage": {} } },
        "cancel": {} })
}

fn task(status: &str) -> Value {
    json!({ "taskId": "t1", "status": status, "createdAt": "2025-11-25T10:00:00Z",
        "lastUpdatedAt": "2025-11-25T10:00:00Z", "ttl": 300_000, "pollInterval": 5_000 })
}

/// Calls a tool, and turns its question into a task.
async fn begin_question_task(peer: &mut Peer, name: &str) -> i64 {
    let id = peer.begin("tools/call", tool(name)).await;
    let asked = peer.receive().await;
    assert_eq!(asked["params"]["task"], json!({ "ttl": 300_000 }));
    peer.answer_to(&asked, json!({ "task": task("working") }))
        .await;
    id
}

/// Answers a request of this method about the task, and says when it came.
async fn expect(peer: &mut Peer, method: &str, result: Value) -> Instant {
    let asked = peer.receive().await;
    assert_eq!(asked["method"], method, "{asked}");
    assert_eq!(
        asked["params"],
        json!({ "taskId": "t1" }),
        "nothing but the task"
    );
    peer.answer_to(&asked, result).await;
    Instant::now()
}

// spec: 2025-11-25 TASK-04, TASK-14, TASK-15, TASK-20, TASK-21, TASK-22, TASK-26, TASK-56
#[tokio::test(start_paused = true)]
async fn a_task_is_asked_for_as_often_as_it_says_and_then_for_its_answer() {
    let mut peer = patient(all()).await;
    let id = begin_question_task(&mut peer, "hello").await;
    let began = Instant::now();
    for round in 1..=3 {
        let at = expect(&mut peer, "tasks/get", task("working")).await;
        assert_eq!(at - began, Duration::from_secs(5 * round));
    }
    expect(&mut peer, "tasks/get", task("completed")).await;
    expect(&mut peer, "tasks/result", accept(json!({ "name": "Ada" }))).await;
    let answered = peer.receive().await;
    assert_eq!(
        (&answered["id"], text(&answered)),
        (&json!(id), "hello Ada")
    );
}

// spec: 2025-11-25 TASK-26
#[tokio::test(start_paused = true)]
async fn a_model_may_think_in_a_task_too() {
    let mut peer = patient(all()).await;
    begin_question_task(&mut peer, "think").await;
    expect(&mut peer, "tasks/get", task("completed")).await;
    let answer = json!({ "role": "assistant", "model": "m",
        "content": { "type": "text", "text": "hm" } });
    expect(&mut peer, "tasks/result", answer).await;
    assert_eq!(text(&peer.receive().await), "hm");
}

// spec: 2025-11-25 TASK-28, TASK-29
#[tokio::test(start_paused = true)]
async fn what_the_client_tells_of_a_task_is_heard_and_not_relied_on() {
    let mut peer = patient(all()).await;
    begin_question_task(&mut peer, "hello").await;
    let began = Instant::now();
    let tell = |status: &str| json!({ "jsonrpc": "2.0", "method": "notifications/tasks/status", "params": task(status) });
    let mut other = tell("completed");
    other["params"]["taskId"] = json!("t2");
    peer.send(&other).await;
    let asked = expect(&mut peer, "tasks/get", task("working")).await;
    assert_eq!(
        asked - began,
        Duration::from_secs(5),
        "it is asked for as ever"
    );
    peer.send(&tell("completed")).await;
    let asked = expect(&mut peer, "tasks/result", accept(json!({ "name": "Ada" }))).await;
    assert_eq!(asked - began, Duration::from_secs(5), "at once");
    assert_eq!(text(&peer.receive().await), "hello Ada");
}

// spec: 2025-11-25 TASK-40
#[tokio::test(start_paused = true)]
async fn a_task_that_waits_for_us_is_asked_for_its_answer_at_once() {
    let mut peer = patient(all()).await;
    begin_question_task(&mut peer, "hello").await;
    expect(&mut peer, "tasks/get", task("input_required")).await;
    expect(&mut peer, "tasks/result", json!({ "action": "decline" })).await;
    assert_eq!(text(&peer.receive().await), "hello");
}

#[tokio::test(start_paused = true)]
async fn a_failed_task_has_a_reason() {
    let mut peer = patient(all()).await;
    begin_question_task(&mut peer, "hello").await;
    expect(&mut peer, "tasks/get", task("failed")).await;
    let asked = peer.receive().await;
    assert_eq!(asked["method"], "tasks/result");
    let error = json!({ "code": -32603, "message": "the screen broke" });
    peer.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error }))
        .await;
    assert!(text(&peer.receive().await).contains("the screen broke"));
}

// spec: 2025-11-25 TASK-05, TASK-06, TASK-14
#[tokio::test(start_paused = true)]
async fn a_client_that_makes_no_tasks_of_this_is_asked_plainly() {
    let ada = |_: &str, params: &Value| {
        assert_eq!(params.get("task"), None);
        accept(json!({ "name": "Ada" }))
    };
    let other = json!({ "requests": { "sampling": { "createMessage": {} } }, "cancel": {} });
    for tasks in [json!({}), other] {
        let mut peer = patient(tasks).await;
        let answered = peer.complete("tools/call", tool("hello"), ada).await;
        assert_eq!(text(&answered), "hello Ada");
    }
    for revision in [LEGACY[2], MODERN] {
        let mut capabilities = able();
        capabilities["tasks"] = all();
        let mut peer = Peer::connect(server(), revision, capabilities).await;
        let answered = peer.complete("tools/call", tool("hello"), ada).await;
        assert_eq!(text(&answered), "hello Ada", "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_answers_at_once_all_the_same_is_understood() {
    let mut peer = patient(all()).await;
    let ada = |_: &str, params: &Value| {
        assert_eq!(params["task"], json!({ "ttl": 300_000 }));
        accept(json!({ "name": "Ada" }))
    };
    let answered = peer.complete("tools/call", tool("hello"), ada).await;
    assert_eq!(text(&answered), "hello Ada");
}

// spec: 2025-11-25 TASK-07, TASK-69, CANC-04, CANC-05
#[tokio::test(start_paused = true)]
async fn a_task_that_nobody_waits_for_is_cancelled_where_that_can_be_done() {
    for can_cancel in [true, false] {
        let mut tasks = all();
        if !can_cancel {
            tasks.as_object_mut().expect("members").remove("cancel");
        }
        let mut peer = patient(tasks).await;
        let id = begin_question_task(&mut peer, "hello").await;
        // It is followed by now.
        expect(&mut peer, "tasks/get", task("working")).await;
        peer.send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": id } }),
        )
        .await;
        if can_cancel {
            expect(&mut peer, "tasks/cancel", task("cancelled")).await;
        }
        let pong = peer.request("ping", json!({})).await;
        assert!(pong["result"].is_object(), "and nothing else is said");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_is_waited_for_as_long_as_it_is_kept() {
    let mut peer = patient(all()).await;
    begin_question_task(&mut peer, "hello").await;
    let began = Instant::now();
    loop {
        let message = peer.receive().await;
        match message["method"].as_str() {
            Some("tasks/get") => peer.answer_to(&message, task("working")).await,
            Some("tasks/cancel") => peer.answer_to(&message, task("cancelled")).await,
            Some("notifications/cancelled") => {}
            _ => {
                assert!(text(&message).contains("300s"), "{message}");
                break;
            }
        }
    }
    assert_eq!(began.elapsed(), 5 * MINUTE);
}
