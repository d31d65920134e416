//! Whose a task is, and how many there may be.

use std::sync::Arc;
use std::time::Duration;

use pintle_server::{App, TaskOptions};
use pintle_store::{MemoryStore, StoreLimits};
use serde_json::{Value, json};

use crate::tasks::guest::Guest;
use crate::tasks::peer::{CORE, MODERN, Peer, able, call, id_of, text};
use crate::tasks::tools::{Seen, options, server};

fn app(options: TaskOptions) -> App {
    let server = server(&Seen::default()).tasks(options);
    server.build().expect("the server starts")
}

fn core_call(name: &str, arguments: Value) -> Value {
    let mut params = call(name, arguments);
    params["task"] = json!({});
    params
}

// spec: 2026-07-28 X-TASK-12, X-TASK-20
// spec: 2025-11-25 TASK-79, TASK-83, AMB-94
// hardening: H-21
#[tokio::test(start_paused = true)]
async fn a_task_of_another_principal_does_not_exist() {
    let app = app(options());
    let (mut ada, mut eve) = (Guest::new(&app, "ada"), Guest::new(&app, "eve"));
    let mut nobody = Guest::new(&app, "");
    let task = ada.request("tools/call", call("asks", json!({}))).await["result"].take();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let unknown = json!({ "taskId": "0".repeat(44), "inputResponses": {} });
    let mut params = id_of(&task);
    params["inputResponses"] = json!({});
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        for other in [&mut eve, &mut nobody] {
            let error = other.request(method, params.clone()).await["error"].take();
            assert_eq!(error["code"], -32602, "{method}");
            let never = other.request(method, unknown.clone()).await["error"].take();
            assert_eq!(error, never, "{method}");
        }
    }
    for method in ["tasks/get", "tasks/update"] {
        let own = ada.request(method, params.clone()).await;
        assert!(own["error"].is_null(), "{own}");
    }
    let (mut ada, mut eve) = (
        Guest::core(&app, "ada").await,
        Guest::core(&app, "eve").await,
    );
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        assert_eq!(
            eve.raw(method, params.clone()).await["error"]["code"],
            -32602,
            "{method}"
        );
    }
    let listed = eve.raw("tasks/list", json!({})).await;
    assert_eq!(listed["result"]["tasks"], json!([]));
    let listed = ada.raw("tasks/list", json!({})).await;
    assert_eq!(listed["result"]["tasks"][0]["taskId"], task["taskId"]);
    assert_eq!(
        ada.raw("tasks/get", id_of(&task)).await["result"]["status"],
        "input_required"
    );
}

// hardening: H-22
#[tokio::test(start_paused = true)]
async fn whoever_tries_ids_is_told_of_no_task_for_a_while() {
    let mut options = options();
    options.max_failed_lookups_per_principal = 2;
    let app = app(options);
    let (mut ada, mut eve) = (Guest::new(&app, "ada"), Guest::new(&app, "eve"));
    let begin = call("asks", json!({}));
    let hers = ada.request("tools/call", begin.clone()).await["result"].take();
    let own = eve.request("tools/call", begin).await["result"].take();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let guess = json!({ "taskId": "0".repeat(44) });
    for (name, code) in [
        (id_of(&own), Value::Null),
        (guess.clone(), json!(-32602)),
        (id_of(&own), Value::Null),
        (id_of(&hers), json!(-32602)),
        // That is the limit: from here on nothing says which of them are there.
        (guess.clone(), json!(-32603)),
        (id_of(&hers), json!(-32603)),
        (id_of(&own), json!(-32603)),
    ] {
        let answer = eve.request("tasks/get", name.clone()).await;
        assert_eq!(answer["error"]["code"], code, "{name}: {answer}");
    }
    for method in ["tasks/update", "tasks/cancel"] {
        let mut params = id_of(&own);
        params["inputResponses"] = json!({});
        let error = eve.request(method, params).await["error"].take();
        assert_eq!(error["code"], -32603, "{method}: {error}");
    }
    let mut core = Guest::core(&app, "eve").await;
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let error = core.raw(method, id_of(&own)).await["error"].take();
        assert_eq!(error["code"], -32603, "{method}: {error}");
    }
    let others = ada.request("tasks/get", id_of(&hers)).await;
    assert!(others["error"].is_null(), "{others}");
    tokio::time::sleep(Duration::from_secs(60)).await;
    let after = eve.request("tasks/get", id_of(&own)).await;
    assert!(after["error"].is_null(), "{after}");
    let after = eve.request("tasks/get", guess).await;
    assert_eq!(after["error"]["code"], -32602, "{after}");
}

// hardening: H-22
#[tokio::test(start_paused = true)]
async fn nobody_in_particular_stops_nobody_else() {
    let mut options = options();
    options.max_failed_lookups_per_principal = 2;
    let app = app(options);
    let (mut one, mut other) = (Guest::new(&app, ""), Guest::new(&app, ""));
    let created = one.request("tools/call", call("asks", json!({}))).await;
    let guess = json!({ "taskId": "0".repeat(44) });
    for _ in 0..5 {
        let answer = other.request("tasks/get", guess.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let answer = one.request("tasks/get", id_of(&created["result"])).await;
    assert!(answer["error"].is_null(), "{answer}");
}

// spec: 2025-11-25 TASK-82, TASK-84, AMB-93
// hardening: H-21
#[tokio::test(start_paused = true)]
async fn tasks_are_listed_only_to_clients_that_can_be_told_apart() {
    let app = app(options());
    let mut nobody = Guest::core(&app, "").await;
    nobody.raw("tools/call", core_call("asks", json!({}))).await;
    let error = nobody.raw("tasks/list", json!({})).await["error"].take();
    assert_eq!(error["code"], -32601);
    let params = json!({ "protocolVersion": CORE, "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" } });
    for (name, has_list) in [("", false), ("ada", true)] {
        let mut guest = Guest::new(&app, name);
        let welcome = guest.raw("initialize", params.clone()).await;
        let tasks = &welcome["result"]["capabilities"]["tasks"];
        assert_eq!(
            (tasks["list"].is_object(), tasks["cancel"].is_object()),
            (has_list, true)
        );
    }
    let pipe = Peer::join(&app, CORE, able()).await;
    assert!(pipe.welcome["capabilities"]["tasks"]["list"].is_object());
}

// spec: 2025-11-25 TASK-77, TASK-86 (limits and cleaning)
// hardening: H-195
#[tokio::test(start_paused = true)]
async fn more_tasks_than_there_is_room_for_are_refused_or_run_as_calls() {
    let mut options = options();
    options.max_active_per_principal = 2;
    let app = app(options);
    let mut core = Peer::join(&app, CORE, able()).await;
    for _ in 0..2 {
        core.start("wait", json!({ "seconds": 60 })).await;
    }
    let more = core_call("wait", json!({ "seconds": 60 }));
    let error = core.error("tools/call", more.clone()).await;
    assert_eq!(error["code"], -32603);
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|text| text.contains("too many tasks"))
    );
    let mut modern = Peer::join(&app, MODERN, able()).await;
    let result = modern
        .result("tools/call", call("wait", json!({ "seconds": 5 })))
        .await;
    assert_eq!(text(&result), "waited 5 s");
    assert_eq!(
        modern.error("tools/call", call("must", json!({}))).await["code"],
        -32603
    );
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert!(core.result("tools/call", more).await["task"].is_object());
    modern.start("wait", json!({ "seconds": 60 })).await;
}

// spec: 2025-11-25 TASK-86 (limits and cleaning)
#[tokio::test(start_paused = true)]
async fn tasks_that_have_ended_take_room_until_they_expire() {
    let mut options = options();
    options.max_stored_per_principal = 2;
    let mut peer = Peer::join(&app(options), CORE, able()).await;
    for _ in 0..2 {
        let task = peer.start("must", json!({})).await;
        peer.ended(&task).await;
    }
    assert_eq!(
        peer.error("tools/call", core_call("must", json!({}))).await["code"],
        -32603
    );
    tokio::time::sleep(Duration::from_secs(300)).await;
    peer.start("must", json!({})).await;
}

#[tokio::test(start_paused = true)]
async fn a_store_without_room_refuses_a_task() {
    let mut limits = StoreLimits::default();
    // The mark of the replica as a holder, and the index and the record of one task.
    limits.max_entries = 3;
    let store = Arc::new(MemoryStore::new(limits));
    let server = server(&Seen::default()).store(store);
    let mut peer = Peer::connect(server, CORE).await;
    peer.start("wait", json!({ "seconds": 60 })).await;
    assert_eq!(
        peer.error("tools/call", core_call("must", json!({}))).await["code"],
        -32603
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_that_asks_too_much_at_once_fails() {
    for (most, status) in [(2, "input_required"), (1, "failed")] {
        let mut options = options();
        options.max_questions = most;
        let mut peer = Peer::join(&app(options), MODERN, able()).await;
        let task = peer.start("two", json!({})).await;
        peer.settle().await;
        let seen = peer.look(&task).await;
        assert_eq!(seen["status"], status, "{seen}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_remembers_too_much_fails() {
    for (most, status) in [(10_000, "input_required"), (100, "failed")] {
        let mut options = options();
        options.max_journal_bytes = most;
        let mut peer = Peer::join(&app(options), MODERN, able()).await;
        let task = peer.start("books", json!({})).await;
        peer.settle().await;
        let seen = peer.look(&task).await;
        assert_eq!(seen["status"], status, "{seen}");
        assert_eq!(seen["error"].is_object(), status == "failed");
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_too_large_fails_the_task() {
    let result = r#"{"content":[{"type":"text","text":"done"}]}"#.len();
    for (most, status) in [(result, "completed"), (result - 1, "failed")] {
        let mut options = options();
        options.max_result_bytes = most;
        let mut peer = Peer::join(&app(options), MODERN, able()).await;
        let task = peer.start("must", json!({})).await;
        let ended = peer.ended(&task).await;
        assert_eq!(ended["status"], status, "{ended}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_grace_decides_which_calls_become_tasks() {
    let mut options = options();
    options.task_delay = Duration::from_secs(10);
    let mut peer = Peer::join(&app(options), MODERN, able()).await;
    let result = peer
        .result("tools/call", call("wait", json!({ "seconds": 9 })))
        .await;
    assert_eq!(text(&result), "waited 9 s");
    peer.start("wait", json!({ "seconds": 11 })).await;
}
