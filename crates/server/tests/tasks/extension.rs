//! Since 2026-07-28 tasks are an extension, and the server decides.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use crate::tasks::peer::{MODERN, Peer, able, call, id_of, named, text};
use crate::tasks::tools::{Seen, server};

async fn peer() -> Peer {
    Peer::connect(server(&Seen::default()), MODERN).await
}

fn answers(key: &str, answer: Value) -> Value {
    json!({ "inputResponses": { key: answer } })
}

fn with_id(task: &Value, mut params: Value) -> Value {
    params["taskId"] = task["taskId"].clone();
    params
}

// spec: 2026-07-28 X-TASK-01, X-TASK-34
#[tokio::test(start_paused = true)]
async fn a_server_with_a_tool_that_runs_as_a_task_advertises_the_extension() {
    let peer = peer().await;
    let capabilities = &peer.welcome["capabilities"];
    assert_eq!(
        capabilities["extensions"]["io.modelcontextprotocol/tasks"],
        json!({})
    );
    assert_eq!(capabilities["tasks"], Value::Null);
}

// spec: 2026-07-28 X-TASK-02, X-TASK-07, X-TASK-08, X-TASK-16, X-TASK-19
#[tokio::test(start_paused = true)]
async fn a_call_that_takes_long_is_answered_with_a_task() {
    let mut peer = peer().await;
    let task = peer.start("wait", json!({ "seconds": 60 })).await;
    assert_eq!(task["status"], "working");
    assert_eq!(
        (&task["ttlMs"], &task["pollIntervalMs"]),
        (&json!(300_000), &json!(1_000))
    );
    for gone in [
        "task",
        "ttl",
        "pollInterval",
        "result",
        "error",
        "inputRequests",
        "requestState",
    ] {
        assert!(task.get(gone).is_none(), "{gone}: {task}");
    }
    assert!(
        task["createdAt"]
            .as_str()
            .is_some_and(|at| at.ends_with('Z'))
    );
    assert_eq!(task["createdAt"], task["lastUpdatedAt"]);

    let seen = peer.look(&task).await;
    assert_eq!(
        (&seen["status"], &seen["resultType"]),
        (&json!("working"), &json!("complete"))
    );
    assert!(seen.get("result").is_none() && seen.get("requestState").is_none());

    let ended = peer.ended(&task).await;
    assert_eq!(
        (&ended["status"], text(&ended["result"])),
        (&json!("completed"), "waited 60 s")
    );
    assert!(ended["result"].get("resultType").is_none());
    assert!(ended["result"].get("_meta").is_none(), "{ended}");
    assert!(ended["lastUpdatedAt"].as_str() > ended["createdAt"].as_str());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ends_soon_is_answered_at_once() {
    let mut peer = peer().await;
    let result = peer
        .result("tools/call", call("wait", json!({ "seconds": 0 })))
        .await;
    assert_eq!(
        (&result["resultType"], text(&result)),
        (&json!("complete"), "waited 0 s")
    );
}

// spec: 2026-07-28 X-TASK-09
#[tokio::test(start_paused = true)]
async fn a_task_is_there_when_its_handle_is() {
    let mut peer = peer().await;
    for _ in 0..20 {
        let task = peer.start("wait", json!({ "seconds": 9 })).await;
        assert_eq!(peer.look(&task).await["taskId"], task["taskId"]);
    }
}

// spec: 2026-07-28 X-TASK-03, X-TASK-06
#[tokio::test(start_paused = true)]
async fn a_client_without_the_extension_waits_or_is_refused() {
    let mut peer = peer().await;
    peer.capabilities = json!({ "elicitation": {} });
    let result = peer
        .result("tools/call", call("wait", json!({ "seconds": 60 })))
        .await;
    assert_eq!(
        (&result["resultType"], text(&result)),
        (&json!("complete"), "waited 60 s")
    );
    let error = peer.error("tools/call", call("must", json!({}))).await;
    assert_eq!(error["code"], -32021);
    let needed = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    assert_eq!(error["data"]["requiredCapabilities"], needed);
}

// spec: 2026-07-28 X-TASK-11
#[tokio::test(start_paused = true)]
async fn the_wish_of_an_older_client_changes_nothing() {
    let mut peer = peer().await;
    for task in [
        json!({ "ttl": 60_000 }),
        json!("nonsense"),
        json!({ "ttl": -1 }),
    ] {
        let mut params = call("plain", json!({}));
        params["task"] = task;
        assert_eq!(text(&peer.result("tools/call", params).await), "plain");
    }
}

// spec: 2026-07-28 X-TASK-14
#[tokio::test(start_paused = true)]
async fn a_tool_that_fails_has_completed() {
    let mut peer = peer().await;
    let task = peer.start("fails", json!({})).await;
    let ended = peer.ended(&task).await;
    assert_eq!(ended["status"], "completed");
    assert_eq!(ended["result"]["isError"], true);
    assert_eq!(ended["statusMessage"], "no tide table");
}

// spec: 2026-07-28 X-TASK-13, X-TASK-15
#[tokio::test(start_paused = true)]
async fn a_protocol_error_and_a_panic_fail_the_task() {
    let mut peer = peer().await;
    for (tool, code) in [("breaks", -32042), ("panics", -32603)] {
        let task = peer.start(tool, json!({})).await;
        let ended = peer.ended(&task).await;
        assert_eq!(
            (&ended["status"], &ended["error"]["code"]),
            (&json!("failed"), &json!(code))
        );
        assert_eq!(ended["statusMessage"], ended["error"]["message"]);
        assert!(ended.get("result").is_none());
    }
}

// spec: 2026-07-28 X-TASK-16, X-TASK-24, X-TASK-25
#[tokio::test(start_paused = true)]
async fn a_question_waits_in_the_task_until_it_is_answered() {
    let mut peer = peer().await;
    let task = peer.start("asks", json!({})).await;
    let asked = peer.asked(&task).await;
    let (key, question) = asked
        .as_object()
        .expect("a map")
        .iter()
        .next()
        .expect("one");
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "Who?");
    let update = with_id(&task, answers(key, named("Ada")));
    let receipt = peer.result("tasks/update", update).await;
    assert_eq!(receipt["resultType"], "complete");
    assert!(receipt.get("taskId").is_none() && receipt.get("status").is_none());
    let ended = peer.ended(&task).await;
    assert_eq!(text(&ended["result"]), "hello Ada");
}

// spec: 2026-07-28 X-TASK-16, X-TASK-26
#[tokio::test(start_paused = true)]
async fn questions_asked_together_are_open_together_and_answered_one_by_one() {
    let mut peer = peer().await;
    let task = peer.start("two", json!({})).await;
    let asked = peer.asked(&task).await;
    let keys: Vec<&String> = asked.as_object().expect("a map").keys().collect();
    assert_eq!(keys.len(), 2, "{asked}");
    let update = with_id(&task, answers(keys[0], named("Ada")));
    peer.result("tasks/update", update.clone()).await;
    let left = peer.look(&task).await;
    assert_eq!(left["status"], "input_required");
    let left: Vec<&String> = left["inputRequests"]
        .as_object()
        .expect("a map")
        .keys()
        .collect();
    assert_eq!(left, [keys[1]]);
    // What is answered, or never was asked, is ignored.
    peer.result("tasks/update", update).await;
    let nonsense = json!({ "inputResponses": { "nobody": { "ignored": true }, keys[1]: 7 } });
    peer.result("tasks/update", with_id(&task, nonsense)).await;
    assert_eq!(peer.look(&task).await["status"], "input_required");
    peer.result(
        "tasks/update",
        with_id(&task, answers(keys[1], named("Bob"))),
    )
    .await;
    assert_eq!(text(&peer.ended(&task).await["result"]), "Ada and Bob");
}

// spec: 2026-07-28 X-TASK-24
#[tokio::test(start_paused = true)]
async fn a_wrong_answer_is_asked_again_under_another_key() {
    let mut peer = peer().await;
    let task = peer.start("asks", json!({})).await;
    let mut keys = Vec::new();
    for name in [json!(7), json!(8), json!("Ada")] {
        let asked = peer.asked(&task).await;
        let key = asked
            .as_object()
            .expect("a map")
            .keys()
            .next()
            .expect("one")
            .clone();
        assert!(!keys.contains(&key), "{key} again");
        let answer = json!({ "action": "accept", "content": { "name": name } });
        peer.result("tasks/update", with_id(&task, answers(&key, answer)))
            .await;
        keys.push(key);
    }
    assert_eq!(text(&peer.ended(&task).await["result"]), "hello Ada");
}

// spec: 2026-07-28 X-TASK-10, N-MRTR-31
#[tokio::test(start_paused = true)]
async fn what_is_asked_before_the_task_begins_is_asked_of_the_request() {
    let mut peer = peer().await;
    let params = call("first", json!({}));
    let asked = peer.result("tools/call", params.clone()).await;
    assert_eq!(asked["resultType"], "input_required");
    assert!(asked.get("taskId").is_none() && asked["inputRequests"]["before"].is_object());
    let mut retry = params;
    retry["requestState"] = asked["requestState"].clone();
    retry["inputResponses"] = json!({ "before": named("Ada") });
    let task = peer.result("tools/call", retry).await;
    assert_eq!(task["resultType"], "task");
    assert!(task.get("requestState").is_none() && task.get("inputRequests").is_none());
    let asked = peer.asked(&task).await;
    let key = asked
        .as_object()
        .expect("a map")
        .keys()
        .next()
        .expect("one");
    assert_eq!(asked[key]["params"]["message"], "After?");
    peer.result("tasks/update", with_id(&task, answers(key, named("Bob"))))
        .await;
    assert_eq!(text(&peer.ended(&task).await["result"]), "Ada then Bob");
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_returns_its_questions_asks_in_the_task() {
    let mut peer = peer().await;
    let task = peer.start("returns", json!({})).await;
    let asked = peer.asked(&task).await;
    let key = asked
        .as_object()
        .expect("a map")
        .keys()
        .next()
        .expect("one");
    peer.result("tasks/update", with_id(&task, answers(key, named("Ada"))))
        .await;
    assert_eq!(text(&peer.ended(&task).await["result"]), "kept \"Ada\"");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_taken_back_is_open_no_more() {
    let mut peer = peer().await;
    let task = peer.start("gives_up", json!({})).await;
    peer.asked(&task).await;
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(peer.look(&task).await["status"], "working");
    assert_eq!(text(&peer.ended(&task).await["result"]), "gave up");
}

// spec: 2026-07-28 X-TASK-28
#[tokio::test(start_paused = true)]
async fn a_task_that_is_cancelled_stops_and_stays_so() {
    let seen = Seen::default();
    let mut peer = Peer::connect(server(&seen), MODERN).await;
    let task = peer.start("wait", json!({ "seconds": 60 })).await;
    let receipt = peer.result("tasks/cancel", id_of(&task)).await;
    assert_eq!(receipt["resultType"], "complete");
    for part in ["taskId", "status", "result", "error", "inputRequests"] {
        assert!(receipt.get(part).is_none(), "{part}");
    }
    assert_eq!(peer.look(&task).await["status"], "cancelled");
    assert_eq!(
        seen.dropped.load(Ordering::SeqCst),
        1,
        "the handler is dropped"
    );
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(peer.look(&task).await["status"], "cancelled");
    assert_eq!(peer.result("tasks/cancel", id_of(&task)).await, receipt);
}

// spec: 2026-07-28 X-TASK-20
// hardening: H-22
#[tokio::test(start_paused = true)]
async fn a_task_that_is_not_there_is_invalid() {
    let mut peer = peer().await;
    let task = peer.start("wait", json!({ "seconds": 60 })).await;
    let mut other = task["taskId"].as_str().expect("an id").to_owned();
    let last = if other.ends_with('0') { "1" } else { "0" };
    other.replace_range(other.len() - 1.., last);
    for id in [json!(other), json!("nonsense"), json!(""), json!("../x")] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let error = peer
                .error(method, json!({ "taskId": id, "inputResponses": {} }))
                .await;
            assert_eq!(error["code"], -32602, "{method} {id}");
        }
    }
}

// spec: 2026-07-28 X-TASK-21
#[tokio::test(start_paused = true)]
async fn only_clients_with_the_extension_ask_about_tasks() {
    let mut peer = peer().await;
    let task = peer.start("wait", json!({ "seconds": 60 })).await;
    peer.capabilities = json!({});
    for id in [task["taskId"].clone(), json!("nonsense")] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let error = peer
                .error(method, json!({ "taskId": id, "inputResponses": {} }))
                .await;
            assert_eq!(error["code"], -32021, "{method} {id}");
        }
    }
    peer.capabilities = able();
    assert_eq!(peer.look(&task).await["status"], "working");
}

// spec: 2026-07-28 X-TASK-16, X-TASK-23
#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_be_asked_is_told_what_it_lacks() {
    let mut peer = peer().await;
    let task = peer.start("asks", json!({})).await;
    peer.asked(&task).await;
    peer.capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let error = peer.error("tasks/get", id_of(&task)).await;
    assert_eq!(error["code"], -32021);
    assert!(error["data"]["requiredCapabilities"]["elicitation"].is_object());
    let task = peer.start("asks", json!({})).await;
    let ended = peer.ended(&task).await;
    assert_eq!(
        (&ended["status"], &ended["error"]["code"]),
        (&json!("failed"), &json!(-32021))
    );
}

// spec: 2026-07-28 X-TASK-33
#[tokio::test(start_paused = true)]
async fn methods_of_the_core_are_gone() {
    let mut peer = peer().await;
    let task = peer.start("wait", json!({ "seconds": 60 })).await;
    for method in ["tasks/result", "tasks/list", "tasks/nonsense"] {
        assert_eq!(
            peer.error(method, id_of(&task)).await["code"],
            -32601,
            "{method}"
        );
    }
}

// spec: 2026-07-28 X-TASK-31
#[tokio::test(start_paused = true)]
async fn a_task_is_silent() {
    let mut peer = peer().await;
    peer.log_level = Some("debug");
    let mut params = call("tells", json!({}));
    params["_meta"] = json!({ "progressToken": "p" });
    let task = peer.result("tools/call", params).await;
    assert_eq!(text(&peer.ended(&task).await["result"]), "told");
    assert_eq!(peer.notices, Vec::<Value>::new());
}

// spec: 2026-07-28 X-TASK-39
#[tokio::test(start_paused = true)]
async fn a_task_goes_on_without_the_conversation_it_began_in() {
    let app = server(&Seen::default()).build().expect("the server starts");
    let mut peer = Peer::join(&app, MODERN, able()).await;
    let task = peer.start("wait", json!({ "seconds": 60 })).await;
    drop(peer);
    let mut other = Peer::join(&app, MODERN, able()).await;
    assert_eq!(text(&other.ended(&task).await["result"]), "waited 60 s");
}
