//! Following the tasks of a server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle_client::{CallError, Client, ClientOptions, Misbehavior};
use pintle_model::ProgressParams;
use pintle_proto::TransportErrorKind;
use pintle_runtime::Answer;
use pintle_testkit::HostileServer;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{core, detailed, legacy, modern, params_of, task, tools};
use crate::client::{connect, good, misbehavior, within};

const SECOND: Duration = Duration::from_secs(1);

/// A server whose task has these statuses, one for each poll.
fn going_through(statuses: &'static [&'static str]) -> HostileServer {
    let looks = AtomicUsize::new(0);
    core(move |out, message| match message["method"].as_str() {
        Some("tools/list") => out.reply(message, tools(&json!("required"))),
        Some("tools/call") => out.reply(message, json!({ "task": task("working") })),
        Some("tasks/get") => {
            let look = looks.fetch_add(1, Ordering::SeqCst);
            out.reply(message, task(statuses[look.min(statuses.len() - 1)]));
        }
        Some("tasks/result") => out.reply(message, good()),
        Some("tasks/cancel") => out.reply(message, task("cancelled")),
        Some("ping") => out.reply(message, json!({})),
        _ => {}
    })
}

async fn listed(server: &HostileServer) -> Client {
    let client = connect(server).await;
    within(client.list_tools()).await.expect("a list");
    client
}

// spec: 2025-11-25 TASK-12, TASK-14, TASK-20, TASK-21, TASK-22, TASK-26, TASK-55, TASK-56, AMB-87
#[tokio::test(start_paused = true)]
async fn a_task_is_polled_at_its_interval_and_nothing_else_is_sent() {
    let server = going_through(&["working", "working", "completed"]);
    let client = listed(&server).await;
    let began = Instant::now();
    within(client.call_tool("t", ())).await.expect("a result");
    assert_eq!(began.elapsed(), 15 * SECOND);
    assert_eq!(params_of(&server, "tools/call")[0]["task"], json!({}));
    let named = json!({ "taskId": "t1" });
    assert_eq!(params_of(&server, "tasks/get"), vec![named.clone(); 3]);
    assert_eq!(params_of(&server, "tasks/result"), [named]);
    assert_eq!(server.count("tasks/cancel"), 0);
}

// spec: 2025-11-25 PROG-12
#[tokio::test(start_paused = true)]
async fn a_call_receives_progress_of_its_own_task_until_the_result() {
    let server = core(|out, message| {
        let progress = |task: &str, step: u32| {
            let related = json!({ "io.modelcontextprotocol/related-task": { "taskId": task } });
            json!({ "progressToken": "p", "progress": step, "_meta": related })
        };
        let mut tell = |task, step| out.notify("notifications/progress", progress(task, step));
        match message["method"].as_str() {
            Some("tools/list") => out.reply(message, tools(&json!("required"))),
            Some("tools/call") => out.reply(message, json!({ "task": task("working") })),
            Some("tasks/get") => {
                tell("t1", 1);
                tell("t2", 2);
                tell("t1", 3);
                out.reply(message, task("completed"));
            }
            Some("tasks/result") => out.reply(message, good()),
            _ => {
                tell("t1", 4);
                out.reply(message, json!({}));
            }
        }
    });
    let client = listed(&server).await;
    let received = Arc::new(Mutex::new(Vec::new()));
    let observer = Arc::clone(&received);
    let observe =
        move |step: ProgressParams| observer.lock().expect("no panic").push(step.progress);
    within(client.call_tool("t", ()).on_progress(observe))
        .await
        .expect("a result");
    within(client.ping()).await.expect("an answer");
    assert_eq!(*received.lock().expect("no panic"), [1.0, 3.0]);
}

// spec: 2025-11-25 TASK-40
#[tokio::test(start_paused = true)]
async fn a_task_that_waits_for_us_is_asked_for_its_result_at_once() {
    let server = going_through(&["input_required"]);
    let client = listed(&server).await;
    within(client.call_tool("t", ())).await.expect("a result");
    assert_eq!(
        (server.count("tasks/get"), server.count("tasks/result")),
        (1, 1)
    );
}

// spec: 2025-11-25 TASK-04, TASK-05, TASK-08, TASK-09, TASK-11, TASK-30
#[tokio::test(start_paused = true)]
async fn a_call_asks_to_be_a_task_only_where_it_may() {
    let able = json!({ "requests": { "tools": { "call": {} } } });
    let table = [
        (json!({ "tools": {} }), "required", false),
        (json!({ "tools": {}, "tasks": {} }), "required", false),
        (
            json!({ "tools": {}, "tasks": { "requests": {} } }),
            "optional",
            false,
        ),
        (json!({ "tools": {}, "tasks": able }), "forbidden", false),
        (json!({ "tools": {}, "tasks": able }), "perhaps", false),
        (json!({ "tools": {}, "tasks": able }), "optional", true),
        (json!({ "tools": {}, "tasks": able }), "required", true),
    ];
    for (offers, support, is_asked) in table {
        let shown = format!("{offers} {support}");
        let server = legacy(offers, move |out, message| {
            match message["method"].as_str() {
                Some("tools/list") => out.reply(message, tools(&json!(support))),
                // The server answers without a task, although one was requested.
                _ => out.reply(message, good()),
            }
        });
        let client = connect(&server).await;
        let call = client.call_tool("t", ()).as_task().ttl(60 * SECOND);
        assert!(within(call).await.expect("a result").task().is_none());
        let asked = params_of(&server, "tools/call")[0]["task"].clone();
        let expected = if is_asked {
            json!({ "ttl": 60_000 })
        } else {
            Value::Null
        };
        assert_eq!(asked, expected, "{shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_ends_before_the_call_is_made_is_opened_again() {
    let lists = AtomicUsize::new(0);
    let server = core(move |out, message| match message["method"].as_str() {
        Some("tools/list") => {
            out.reply(message, tools(&json!("optional")));
            if lists.fetch_add(1, Ordering::SeqCst) == 0 {
                out.lose_all(TransportErrorKind::Disconnected);
            }
        }
        Some("tools/call") => out.reply(message, json!({ "task": task("working") })),
        _ => out.reply(message, json!({})),
    });
    let client = connect(&server).await;
    let start = within(client.call_tool("t", ()).as_task()).await;
    assert!(start.expect("a task").task().is_some());
    assert_eq!((server.conversations(), server.count("tools/call")), (2, 1));
}

// spec: 2026-07-28 X-TASK-11, N-TOOL-08
#[tokio::test(start_paused = true)]
async fn a_modern_call_never_asks_to_be_a_task() {
    let server = modern(|out, message| out.reply(message, good()));
    let client = connect(&server).await;
    let call = client.call_tool("t", ()).as_task().ttl(60 * SECOND);
    within(call).await.expect("a result");
    assert_eq!(params_of(&server, "tools/call")[0].get("task"), None);
    assert_eq!(server.count("tools/list"), 0);
}

// spec: 2025-11-25 TASK-28, TASK-29
#[tokio::test(start_paused = true)]
async fn a_notice_makes_the_next_look_sooner_and_is_not_believed() {
    let server = core(|out, message| match message["method"].as_str() {
        Some("tools/list") => out.reply(message, tools(&json!("required"))),
        Some("tools/call") => {
            out.reply(message, json!({ "task": task("working") }));
            for _ in 0..100 {
                let notice = json!({ "jsonrpc": "2.0", "method": "notifications/tasks/status", "params": task("completed") });
                out.send_after(2 * SECOND, notice);
            }
        }
        Some("tasks/get") => out.reply(message, task("working")),
        _ => {}
    });
    let client = listed(&server).await;
    let waited = client.call_tool("t", ()).total_timeout(4 * SECOND);
    let error = within(waited).await.unwrap_err();
    assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
    let looks = server.count("tasks/get");
    assert!((1..=3).contains(&looks), "{looks}");
    assert_eq!(server.count("tasks/result"), 0);
}

// spec: 2025-11-25 CANC-04, CANC-05, TIME-02
#[tokio::test(start_paused = true)]
async fn a_call_dropped_while_its_task_works_cancels_the_task_by_id() {
    let server = going_through(&["working"]);
    let client = listed(&server).await;
    let gone = tokio::time::timeout(SECOND, client.call_tool("t", ()).into_future()).await;
    gone.expect_err("it works");
    within(client.ping()).await.ok();
    assert_eq!(
        params_of(&server, "tasks/cancel"),
        [json!({ "taskId": "t1" })]
    );
    assert_eq!(server.count("notifications/cancelled"), 0);
}

// spec: 2025-11-25 CANC-04, CANC-05
#[tokio::test(start_paused = true)]
async fn a_call_dropped_before_its_task_exists_cancels_the_task_later() {
    let server = core(|out, message| match message["method"].as_str() {
        Some("tools/list") => out.reply(message, tools(&json!("required"))),
        Some("tools/call") => {
            let created = json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "task": task("working") } });
            out.send_after(5 * SECOND, created);
        }
        _ => out.reply(message, json!({})),
    });
    let client = listed(&server).await;
    let gone = tokio::time::timeout(SECOND, client.call_tool("t", ()).into_future()).await;
    gone.expect_err("it is not there");
    assert_eq!(server.count("tasks/cancel"), 0);
    tokio::time::sleep(10 * SECOND).await;
    assert_eq!(
        params_of(&server, "tasks/cancel"),
        [json!({ "taskId": "t1" })]
    );
    assert_eq!(server.count("notifications/cancelled"), 0);
}

// spec: 2026-07-28 X-TASK-27, N-CANC-15
#[tokio::test(start_paused = true)]
async fn a_modern_task_is_cancelled_when_its_call_times_out() {
    let server = modern(|out, message| match message["method"].as_str() {
        Some("tools/call") => out.reply(message, detailed("task", "working", json!({}))),
        Some("tasks/get") => out.reply(message, detailed("complete", "working", json!({}))),
        _ => out.reply(message, json!({ "resultType": "complete" })),
    });
    let client = connect(&server).await;
    let late = client.call_tool("t", ()).total_timeout(12 * SECOND);
    within(late).await.unwrap_err();
    within(client.ping()).await.expect("it is there");
    assert_eq!(server.count("tasks/get"), 2);
    assert_eq!(params_of(&server, "tasks/cancel")[0]["taskId"], "t1");
    assert_eq!(server.count("notifications/cancelled"), 0);
}

fn question() -> Value {
    let schema = json!({ "type": "object", "properties": {} });
    json!({ "method": "elicitation/create", "params": { "message": "?", "requestedSchema": schema } })
}

// spec: 2026-07-28 X-TASK-22, X-TASK-23
#[tokio::test(start_paused = true)]
async fn a_question_is_answered_once_although_it_is_shown_again() {
    let looks = AtomicUsize::new(0);
    let server = modern(move |out, message| match message["method"].as_str() {
        Some("tools/call") => out.reply(message, detailed("task", "input_required", json!({}))),
        Some("tasks/get") => {
            let asks = |names: &[&str]| {
                let asked: serde_json::Map<_, _> = names
                    .iter()
                    .map(|name| ((*name).to_owned(), question()))
                    .collect();
                detailed(
                    "complete",
                    "input_required",
                    json!({ "inputRequests": asked }),
                )
            };
            let next = match looks.fetch_add(1, Ordering::SeqCst) {
                0 | 1 => asks(&["a"]),
                2 => asks(&["a", "b"]),
                _ => detailed(
                    "complete",
                    "completed",
                    json!({ "result": { "content": [] } }),
                ),
            };
            out.reply(message, next);
        }
        _ => out.reply(message, json!({ "resultType": "complete" })),
    });
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let builder = Client::builder().on_elicit(move |form| {
        count.fetch_add(1, Ordering::SeqCst);
        async { Answer::Accepted(form.defaults) }
    });
    let client = within(builder.connect(server.clone()))
        .await
        .expect("it opens");
    within(client.call_tool("t", ())).await.expect("a result");
    let accepted = json!({ "action": "accept", "content": {} });
    let updates: Vec<_> = params_of(&server, "tasks/update")
        .into_iter()
        .map(|params| (params["taskId"].clone(), params["inputResponses"].clone()))
        .collect();
    let id = json!("t1");
    assert_eq!(
        updates,
        [
            (id.clone(), json!({ "a": accepted })),
            (id, json!({ "b": accepted }))
        ]
    );
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_asks_without_end_is_left() {
    for (limit, is_enough) in [(3, false), (4, true)] {
        let looks = AtomicUsize::new(0);
        let server = modern(move |out, message| match message["method"].as_str() {
            Some("tools/call") => out.reply(message, detailed("task", "working", json!({}))),
            Some("tasks/get") => {
                let look = looks.fetch_add(1, Ordering::SeqCst);
                let next = match look {
                    0..4 => {
                        let asked = json!({ look.to_string(): question() });
                        detailed(
                            "complete",
                            "input_required",
                            json!({ "inputRequests": asked }),
                        )
                    }
                    _ => detailed(
                        "complete",
                        "completed",
                        json!({ "result": { "content": [] } }),
                    ),
                };
                out.reply(message, next);
            }
            _ => out.reply(message, json!({ "resultType": "complete" })),
        });
        let mut options = ClientOptions::default();
        options.max_questions_per_task = limit;
        let builder = Client::builder().options(options);
        let builder = builder.on_elicit(async |form| Answer::Accepted(form.defaults));
        let client = within(builder.connect(server.clone()))
            .await
            .expect("it opens");
        match within(client.call_tool("t", ())).await {
            Ok(_) => assert!(is_enough),
            Err(error) => {
                let source = misbehavior(error);
                assert!(
                    matches!(source, Misbehavior::TooManyQuestions { limit: 3 }),
                    "{source}"
                );
                within(client.ping()).await.expect("it is there");
                assert_eq!(server.count("tasks/cancel"), 1, "it is told");
            }
        }
    }
}

// spec: 2026-07-28 X-TASK-05, X-TASK-16
#[tokio::test(start_paused = true)]
async fn invalid_states_of_a_task_end_in_a_typed_error() {
    let other = json!({ "taskId": "t2" });
    let table = [
        detailed("complete", "working", other),
        detailed("complete", "completed", json!({})),
        detailed("complete", "failed", json!({})),
        detailed(
            "complete",
            "completed",
            json!({ "result": { "resultType": "task" } }),
        ),
        detailed("perhaps", "working", json!({})),
        json!({ "resultType": "complete" }),
        json!({ "resultType": "complete", "taskId": 5 }),
    ];
    for said_of_it in table {
        let shown = said_of_it.to_string();
        let server = modern(move |out, message| match message["method"].as_str() {
            Some("tools/call") => out.reply(message, detailed("task", "working", json!({}))),
            _ => out.reply(message, said_of_it.clone()),
        });
        let client = connect(&server).await;
        let error = within(client.call_tool("t", ())).await.unwrap_err();
        assert!(
            matches!(error, CallError::Misbehaved { .. }),
            "{shown}: {error}"
        );
    }
    let server = modern(|out, message| out.reply(message, detailed("task", "working", json!({}))));
    let client = connect(&server).await;
    let error = within(client.list_tools()).await.unwrap_err();
    assert!(matches!(
        misbehavior(error),
        Misbehavior::UnexpectedTask | Misbehavior::Unreadable(_) | Misbehavior::NoList(_)
    ));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_cannot_be_looked_at_is_tried_again_and_given_up() {
    for failures in [5, 6] {
        let looks = AtomicUsize::new(0);
        let server = modern(move |out, message| match message["method"].as_str() {
            Some("tools/call") => out.reply(message, detailed("task", "working", json!({}))),
            Some("tasks/get") if looks.fetch_add(1, Ordering::SeqCst) < failures => {
                out.fail(message, -32603, "out of order");
            }
            _ => out.reply(
                message,
                detailed(
                    "complete",
                    "completed",
                    json!({ "result": { "content": [] } }),
                ),
            ),
        });
        let client = connect(&server).await;
        let ended = within(client.call_tool("t", ())).await;
        assert_eq!(ended.is_ok(), failures == 5);
    }
}
