//! Listeners that follow tasks of the extension.

use std::sync::Arc;
use std::time::Duration;

use pintle_store::Store;
use serde_json::{Value, json};

use crate::tasks::guest::Guest;
use crate::tasks::peer::{MODERN, Peer, able, call, id_of, named};
use crate::tasks::remote::Remote;
use crate::tasks::tools::{Seen, server};

const LISTEN: &str = "subscriptions/listen";

fn follow(task: &Value) -> Value {
    json!({ "notifications": { "taskIds": [task["taskId"]] } })
}

// spec: 2026-07-28 X-TASK-29
#[tokio::test(start_paused = true)]
async fn a_listener_hears_all_of_the_tasks_it_follows() {
    let mut peer = Peer::connect(server(&Seen::default()), MODERN).await;
    let other = peer.start("wait", json!({ "seconds": 1 })).await;
    let task = peer.start("asks", json!({})).await;
    peer.asked(&task).await;
    let listen = peer.begin(LISTEN, follow(&task)).await;
    peer.settle().await;
    let acknowledged = peer.notices("notifications/subscriptions/acknowledged");
    assert_eq!(
        acknowledged[0]["notifications"],
        json!({ "taskIds": [task["taskId"]] })
    );
    let asked = peer.asked(&task).await;
    let key = asked
        .as_object()
        .expect("a map")
        .keys()
        .next()
        .expect("one");
    let mut update = id_of(&task);
    update["inputResponses"] = json!({ key: named("Ada") });
    peer.result("tasks/update", update).await;
    let ended = peer.ended(&task).await;
    peer.ended(&other).await;
    peer.settle().await;
    let notices = peer.notices("notifications/tasks");
    let statuses: Vec<&Value> = notices.iter().map(|task| &task["status"]).collect();
    assert_eq!(statuses, ["working", "completed"]);
    for notice in &notices {
        assert_eq!(notice["taskId"], task["taskId"]);
        let subscription = &notice["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(subscription, &json!(listen));
        assert!(notice.get("resultType").is_none() && notice["ttlMs"].is_u64());
    }
    assert_eq!(notices[1]["result"], ended["result"]);
}

// spec: 2026-07-28 X-TASK-29
#[tokio::test(start_paused = true)]
async fn a_listener_hears_what_a_task_asks() {
    let mut peer = Peer::connect(server(&Seen::default()), MODERN).await;
    let task = peer.start("gives_up", json!({})).await;
    peer.begin(LISTEN, follow(&task)).await;
    tokio::time::sleep(std::time::Duration::from_secs(90)).await;
    peer.settle().await;
    let notices = peer.notices("notifications/tasks");
    let statuses: Vec<&Value> = notices.iter().map(|task| &task["status"]).collect();
    assert_eq!(
        statuses,
        ["working", "completed"],
        "it asked before anybody listened"
    );
    let task = peer.start("asks", json!({})).await;
    let asked = peer.asked(&task).await;
    assert_eq!(asked.as_object().map(serde_json::Map::len), Some(1));
}

// spec: 2026-07-28 X-TASK-13, X-TASK-29
#[tokio::test(start_paused = true)]
async fn notices_of_a_task_leave_in_the_order_of_its_changes() {
    let store = Arc::new(Remote::default());
    let shared = Arc::clone(&store) as Arc<dyn Store>;
    let mut peer = Peer::connect(server(&Seen::default()).store(shared), MODERN).await;
    let task = peer.start("asks", json!({})).await;
    let asked = peer.asked(&task).await;
    peer.begin(LISTEN, follow(&task)).await;
    peer.settle().await;

    let update = answer_that_is_asked_for_again(&task, &asked);
    // The handler learns of the answer, and asks again, before the answer is acknowledged.
    store.delay_next_acknowledgement(Duration::from_secs(1));
    peer.result("tasks/update", update).await;
    peer.settle().await;
    let notices = peer.notices("notifications/tasks");
    let statuses: Vec<&Value> = notices.iter().map(|task| &task["status"]).collect();
    assert_eq!(statuses, ["working", "input_required"]);
}

/// Answers the open question of a task with an answer that leads to the same question again.
fn answer_that_is_asked_for_again(task: &Value, asked: &Value) -> Value {
    let key = asked.as_object().and_then(|asked| asked.keys().next());
    let wrong = json!({ "action": "accept", "content": { "name": 7 } });
    let mut update = id_of(task);
    update["inputResponses"] = json!({ key.expect("one"): wrong });
    update
}

// spec: 2026-07-28 X-TASK-13, X-TASK-29
#[tokio::test(start_paused = true)]
async fn a_late_answer_of_the_store_shows_no_state_before_the_latest_notice() {
    let store = Arc::new(Remote::default());
    let shared = Arc::clone(&store) as Arc<dyn Store>;
    let mut peer = Peer::connect(server(&Seen::default()).store(shared), MODERN).await;
    let task = peer.start("gives_up", json!({})).await;
    peer.asked(&task).await;
    peer.begin(LISTEN, follow(&task)).await;
    peer.settle().await;

    // The task ends its question while the answer with that question is on its way.
    tokio::time::sleep(Duration::from_secs(58)).await;
    store.delay_next_read(Duration::from_secs(4));
    let seen = peer.look(&task).await;
    let notices = peer.notices("notifications/tasks");
    assert_eq!(notices.last().expect("a notice")["status"], "working");
    assert_eq!(seen["status"], "working");
}

// spec: 2026-07-28 X-TASK-13, X-TASK-29
#[tokio::test(start_paused = true)]
async fn a_notice_shows_no_state_before_the_latest_answer() {
    let near = Arc::new(Remote::default());
    let here = server(&Seen::default()).store(Arc::clone(&near) as Arc<dyn Store>);
    let there = server(&Seen::default()).store(near.other_connection());
    let mut runner = Peer::connect(there, MODERN).await;
    let mut peer = Peer::connect(here, MODERN).await;
    let task = runner.start("asks", json!({})).await;
    let asked = runner.asked(&task).await;
    peer.begin(LISTEN, follow(&task)).await;
    peer.settle().await;

    // The other replica learns of the answer, and asks again, before the answer is acknowledged.
    near.delay_next_acknowledgement(Duration::from_secs(2));
    let answer = answer_that_is_asked_for_again(&task, &asked);
    let updating = peer.begin("tasks/update", answer).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(peer.look(&task).await["status"], "input_required");
    assert_eq!(peer.notices("notifications/tasks").len(), 0);
    peer.answer_to(updating).await;
    peer.settle().await;
    let notices = peer.notices("notifications/tasks");
    let statuses: Vec<&Value> = notices.iter().map(|task| &task["status"]).collect();
    assert_eq!(statuses, ["input_required"]);
}

// spec: 2026-07-28 X-TASK-30
#[tokio::test(start_paused = true)]
async fn only_a_client_with_the_extension_follows_tasks() {
    let mut peer = Peer::connect(server(&Seen::default()), MODERN).await;
    let task = peer.start("asks", json!({})).await;
    peer.capabilities = json!({ "elicitation": {} });
    let error = peer.error(LISTEN, follow(&task)).await;
    assert_eq!(error["code"], -32021);
    let needed = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    assert_eq!(error["data"]["requiredCapabilities"], needed);
}

// spec: 2026-07-28 X-TASK-12, X-TASK-29
// hardening: H-21
#[tokio::test(start_paused = true)]
async fn a_client_cannot_follow_the_task_of_another_principal() {
    let server = server(&Seen::default());
    let app = server.build().expect("the server starts");
    let mut ada = Guest::new(&app, "ada");
    let task = ada.request("tools/call", call("asks", json!({}))).await["result"].take();
    let mut listeners: Vec<Guest> = ["ada", "eve", ""].map(|name| Guest::new(&app, name)).into();
    for listener in &mut listeners {
        listener.request(LISTEN, follow(&task)).await;
        assert_eq!(listener.notices.len(), 1, "acknowledged");
    }
    ada.request("tasks/cancel", id_of(&task)).await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let received = listeners.iter_mut().map(|listener| {
        listener.take_in();
        listener.notices.len() - 1
    });
    assert!(received.eq([1, 0, 0]));
    let mut pipe = Peer::join(&app, MODERN, able()).await;
    let own = pipe.start("asks", json!({})).await;
    assert_eq!(pipe.look(&own).await["taskId"], own["taskId"]);
}
