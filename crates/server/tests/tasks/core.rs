//! In 2025-11-25 tasks are part of the core, and the client decides.

use std::sync::atomic::Ordering;
use std::time::Duration;

use pintle_server::{Server, Tool};
use serde_json::{Value, json};

use crate::tasks::peer::{CORE, Peer, able, call, id_of, text};
use crate::tasks::tools::{LINGERS, Seen, server};

const RELATED: &str = "io.modelcontextprotocol/related-task";

async fn peer() -> Peer {
    Peer::connect(server(&Seen::default()), CORE).await
}

fn as_task(name: &str, arguments: Value, ttl: Value) -> Value {
    let mut params = call(name, arguments);
    params["task"] = json!({ "ttl": ttl });
    params
}

// spec: 2025-11-25 TASK-01, TASK-02, TASK-06, TASK-07, LIFE-14
#[tokio::test(start_paused = true)]
async fn tasks_are_declared_exactly_where_a_tool_can_be_one() {
    let peer = peer().await;
    let declared = json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
    assert_eq!(peer.welcome["capabilities"]["tasks"], declared);
    let extensions = &peer.welcome["capabilities"]["extensions"];
    assert_eq!(extensions["io.modelcontextprotocol/tasks"], Value::Null);

    let plain = Server::new("plain", "1.0.0").add_tool(Tool::new("plain").handler(async || "x"));
    let mut peer = Peer::connect(plain, CORE).await;
    assert_eq!(peer.welcome["capabilities"]["tasks"], Value::Null);
    let nobody = json!({ "taskId": "0".repeat(44) });
    for method in [
        "tasks/get",
        "tasks/result",
        "tasks/list",
        "tasks/cancel",
        "tasks/update",
    ] {
        assert_eq!(
            peer.error(method, nobody.clone()).await["code"],
            -32601,
            "{method}"
        );
    }
    // Who did not declare it processes the request normally.
    let result = peer
        .result("tools/call", as_task("plain", json!({}), json!(-1)))
        .await;
    assert_eq!(text(&result), "x");
}

// spec: 2025-11-25 TASK-30
#[tokio::test(start_paused = true)]
async fn a_wish_on_a_request_that_cannot_be_a_task_is_ignored() {
    let mut peer = peer().await;
    let listed = peer
        .result("tools/list", json!({ "task": { "ttl": 60_000 } }))
        .await;
    assert!(listed["tools"].is_array());
}

// spec: 2025-11-25 TASK-09, TASK-10, TASK-13, TASK-77, TOOL-08
#[tokio::test(start_paused = true)]
async fn tools_say_whether_they_run_as_tasks_and_are_called_so() {
    let mut peer = peer().await;
    let listed = peer.result("tools/list", json!({})).await;
    let mut support: Vec<(&str, &Value)> = Vec::new();
    for tool in listed["tools"].as_array().expect("tools") {
        let name = tool["name"].as_str().expect("a name");
        support.push((name, &tool["execution"]["taskSupport"]));
    }
    for said in [
        ("plain", &Value::Null),
        ("never", &json!("forbidden")),
        ("wait", &json!("optional")),
        ("must", &json!("required")),
    ] {
        assert!(support.contains(&said), "{said:?} in {support:?}");
    }
    for name in ["plain", "never"] {
        let error = peer
            .error("tools/call", as_task(name, json!({}), json!(1_000)))
            .await;
        assert_eq!(error["code"], -32601);
        assert_eq!(
            text(&peer.result("tools/call", call(name, json!({}))).await),
            name
        );
    }
    let error = peer.error("tools/call", call("must", json!({}))).await;
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!(-32601), &json!("the tool runs as a task only"))
    );
    let result = peer
        .result("tools/call", call("wait", json!({ "seconds": 3 })))
        .await;
    assert_eq!(text(&result), "waited 3 s");
}

// spec: 2025-11-25 TASK-16, TASK-17, TASK-18, TASK-35, TASK-44, TASK-45, TASK-47, TASK-49, AMB-86
#[tokio::test(start_paused = true)]
async fn a_task_is_answered_before_anything_has_run() {
    let seen = Seen::default();
    let mut peer = Peer::connect(server(&seen), CORE).await;
    let params = as_task("wait", json!({ "seconds": 60 }), json!(60_000));
    let result = peer.result("tools/call", params).await;
    assert!(result.get("content").is_none() && result.get("_meta").is_none());
    let task = &result["task"];
    assert_eq!(
        (&task["status"], &task["ttl"]),
        (&json!("working"), &json!(60_000))
    );
    assert_eq!(task["pollInterval"], 1_000);
    for at in ["createdAt", "lastUpdatedAt"] {
        assert!(
            task[at]
                .as_str()
                .is_some_and(|at| at.len() >= 20 && at.ends_with('Z'))
        );
    }
    for gone in ["ttlMs", "pollIntervalMs", "resultType"] {
        assert!(
            task.get(gone).is_none() && result.get(gone).is_none(),
            "{gone}"
        );
    }
    let seen = peer.look(task).await;
    assert_eq!(
        (&seen["taskId"], &seen["status"]),
        (&task["taskId"], &json!("working"))
    );
    assert!(seen.get("ttl").is_some() && seen["_meta"][RELATED].is_null());
}

// spec: 2025-11-25 TASK-46, TASK-47, AMB-88
#[tokio::test(start_paused = true)]
async fn the_time_to_live_is_what_was_wished_for_within_bounds() {
    let mut peer = peer().await;
    for (wish, granted) in [
        (json!(60_000), 60_000),
        (json!(0), 1_000),
        (json!(1.5e9), 86_400_000),
        (Value::Null, 300_000),
    ] {
        let params = as_task("must", json!({}), wish);
        let result = peer.result("tools/call", params).await;
        assert_eq!(result["task"]["ttl"], granted);
    }
    for wish in [json!(-1), json!("60000"), json!({})] {
        let error = peer
            .error("tools/call", as_task("must", json!({}), wish))
            .await;
        assert_eq!(error["code"], -32602);
    }
}

// spec: 2025-11-25 TASK-26, TASK-50, TASK-51, TASK-52, TASK-53, TASK-58, TASK-72
#[tokio::test(start_paused = true)]
async fn the_result_is_waited_for_and_is_that_of_the_call() {
    let mut peer = peer().await;
    let task = peer.start("wait", json!({ "seconds": 60 })).await;
    let waiting = peer.begin("tasks/result", id_of(&task)).await;
    assert!(!peer.is_answered(waiting).await);
    let mut waited = peer.answer_to(waiting).await["result"].take();
    assert_eq!(
        waited["_meta"].take(),
        json!({ RELATED: { "taskId": task["taskId"] } })
    );
    let mut plain = peer
        .result("tools/call", call("wait", json!({ "seconds": 60 })))
        .await;
    plain["_meta"].take();
    assert_eq!(waited, plain);
    assert_eq!(peer.look(&task).await["status"], "completed");
}

// spec: 2025-11-25 AMB-90
#[tokio::test(start_paused = true)]
async fn several_may_wait_and_read_again() {
    let mut peer = peer().await;
    let task = peer.start("wait", json!({ "seconds": 60 })).await;
    let one = peer.begin("tasks/result", id_of(&task)).await;
    let other = peer.begin("tasks/result", id_of(&task)).await;
    for waiting in [one, other] {
        assert_eq!(
            text(&peer.answer_to(waiting).await["result"]),
            "waited 60 s"
        );
    }
    let again = peer.result("tasks/result", id_of(&task)).await;
    assert_eq!(text(&again), "waited 60 s");
}

// spec: 2025-11-25 AMB-49
#[tokio::test(start_paused = true)]
async fn cancelling_the_wait_leaves_the_task_alone() {
    let mut peer = peer().await;
    let task = peer.start("wait", json!({ "seconds": 60 })).await;
    let waiting = peer.begin("tasks/result", id_of(&task)).await;
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": waiting } });
    peer.send(&notice).await;
    assert_eq!(peer.look(&task).await["status"], "working");
    assert_eq!(peer.ended(&task).await["status"], "completed");
    assert!(!peer.is_answered(waiting).await);
}

// spec: 2025-11-25 AMB-48
#[tokio::test(start_paused = true)]
async fn a_request_that_became_a_task_is_not_cancelled_as_a_request() {
    let mut peer = peer().await;
    let params = as_task("wait", json!({ "seconds": 60 }), json!(90_000));
    let id = peer.begin("tools/call", params).await;
    let task = peer.answer_to(id).await["result"]["task"].take();
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": id } });
    peer.send(&notice).await;
    assert_eq!(peer.ended(&task).await["status"], "completed");
}

// spec: 2025-11-25 TASK-70, TASK-78
#[tokio::test(start_paused = true)]
async fn a_tool_that_fails_fails_the_task_and_its_result_is_a_result() {
    let mut peer = peer().await;
    let task = peer.start("fails", json!({})).await;
    let ended = peer.ended(&task).await;
    assert_eq!(
        (&ended["status"], &ended["statusMessage"]),
        (&json!("failed"), &json!("no tide table"))
    );
    let result = peer.result("tasks/result", id_of(&task)).await;
    assert_eq!(
        (&result["isError"], text(&result)),
        (&json!(true), "no tide table")
    );
}

// spec: 2025-11-25 TASK-71, TASK-75, AMB-96, TASK-50
#[tokio::test(start_paused = true)]
async fn an_error_of_the_call_is_the_error_of_the_result() {
    let mut peer = peer().await;
    for (tool, code) in [("breaks", -32042), ("panics", -32603)] {
        let task = peer.start(tool, json!({})).await;
        let ended = peer.ended(&task).await;
        assert_eq!(ended["status"], "failed");
        let error = peer.error("tasks/result", id_of(&task)).await;
        assert_eq!(
            (&error["code"], &error["message"]),
            (&json!(code), &ended["statusMessage"])
        );
    }
}

// spec: 2025-11-25 TASK-37, TASK-64, TASK-65, TASK-66, TASK-67, AMB-85
#[tokio::test(start_paused = true)]
async fn a_cancelled_task_is_so_at_once_and_for_good() {
    let seen = Seen::default();
    let mut peer = Peer::connect(server(&seen), CORE).await;
    let task = peer.start("wait", json!({ "seconds": 60 })).await;
    let waiting = peer.begin("tasks/result", id_of(&task)).await;
    let cancelled = peer.result("tasks/cancel", id_of(&task)).await;
    assert_eq!(
        (&cancelled["taskId"], &cancelled["status"]),
        (&task["taskId"], &json!("cancelled"))
    );
    assert!(cancelled["_meta"][RELATED].is_null());
    let error = peer.answer_to(waiting).await["error"].take();
    let data = json!({ "taskId": task["taskId"], "status": "cancelled" });
    assert_eq!((&error["code"], &error["data"]), (&json!(-32000), &data));
    assert_eq!(seen.dropped.load(Ordering::SeqCst), 1);
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(peer.look(&task).await["status"], "cancelled");
    assert_eq!(
        peer.error("tasks/cancel", id_of(&task)).await["code"],
        -32602
    );
}

// spec: 2025-11-25 TASK-73
#[tokio::test(start_paused = true)]
async fn an_unknown_task_is_invalid() {
    let mut peer = peer().await;
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        for id in [json!("0".repeat(44)), json!("x"), json!(7), Value::Null] {
            let error = peer.error(method, json!({ "taskId": id })).await;
            assert_eq!(error["code"], -32602, "{method} {id}");
        }
    }
}

// spec: 2025-11-25 TASK-55, AMB-87
#[tokio::test(start_paused = true)]
async fn the_parameter_decides_which_task_is_meant() {
    let mut peer = peer().await;
    let one = peer.start("wait", json!({ "seconds": 60 })).await;
    let other = peer.start("must", json!({})).await;
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let mut params = id_of(&one);
        params["_meta"] = json!({ RELATED: { "taskId": other["taskId"] } });
        let answer = peer.request(method, params).await;
        assert!(
            !answer
                .to_string()
                .contains(other["taskId"].as_str().expect("an id")),
            "{answer}"
        );
    }
}

// spec: 2025-11-25 TASK-57, TASK-60, TASK-61, TASK-63, TASK-74, PAGE-03, AMB-52
#[tokio::test(start_paused = true)]
async fn tasks_are_listed_page_by_page_while_they_come_and_go() {
    let mut options = crate::tasks::tools::options();
    options.page_size = 2;
    let mut peer = Peer::connect(server(&Seen::default()).tasks(options), CORE).await;
    let empty = peer.result("tasks/list", json!({})).await;
    assert_eq!(empty["tasks"], json!([]));
    let mut ids = Vec::new();
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        let task = peer.start("wait", json!({ "seconds": 60 })).await;
        ids.push(task["taskId"].clone());
    }
    peer.result("tasks/cancel", json!({ "taskId": ids[1] }))
        .await;
    let mut listed = Vec::new();
    let mut params = json!({});
    loop {
        let page = peer.result("tasks/list", params).await;
        assert!(page["_meta"][RELATED].is_null());
        let tasks = page["tasks"].as_array().expect("tasks");
        assert!(tasks.len() <= 2 && tasks.iter().all(|task| task["ttl"].is_u64()));
        listed.extend(tasks.iter().map(|task| task["taskId"].clone()));
        // One more begins while the list is read: it comes at the end.
        if listed.len() == 2 {
            let task = peer.start("must", json!({})).await;
            ids.push(task["taskId"].clone());
        }
        match page.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => break,
        }
    }
    assert_eq!(listed, ids);
    for cursor in ["", "nonsense", "AXh4"] {
        let error = peer.error("tasks/list", json!({ "cursor": cursor })).await;
        assert_eq!(error["code"], -32602, "{cursor}");
    }
}

// spec: 2025-11-25 PROG-10, PROG-11, TASK-53, AMB-86
#[tokio::test(start_paused = true)]
async fn progress_and_logs_of_a_task_go_on_and_name_it() {
    let mut peer = peer().await;
    peer.result("logging/setLevel", json!({ "level": "info" }))
        .await;
    let mut params = as_task("tells", json!({}), json!(60_000));
    params["_meta"] = json!({ "progressToken": "p" });
    let task = peer.result("tools/call", params).await["task"].take();
    peer.ended(&task).await;
    let related = json!({ RELATED: { "taskId": task["taskId"] } });
    let progress = peer.notices("notifications/progress");
    assert_eq!(progress.len(), 3);
    for (step, notice) in (1..).zip(progress) {
        assert_eq!(
            (&notice["progress"], &notice["progressToken"]),
            (&json!(f64::from(step)), &json!("p"))
        );
        assert_eq!(notice["_meta"], related);
    }
    let logs = peer.notices("notifications/message");
    assert_eq!(logs.len(), 3);
    assert!(logs.iter().all(|log| log["_meta"] == related));
}

// spec: 2025-11-25 PROG-12
#[tokio::test(start_paused = true)]
async fn the_progress_of_a_task_ends_with_it() {
    let mut peer = peer().await;
    let mut params = as_task("lingers", json!({}), json!(60_000));
    params["_meta"] = json!({ "progressToken": "p" });
    let task = peer.result("tools/call", params).await["task"].take();
    peer.ended(&task).await;
    tokio::time::sleep(2 * LINGERS).await;
    peer.settle().await;
    let progress = peer.notices("notifications/progress");
    assert_eq!(progress.len(), 1, "{progress:?}");
}

// spec: 2025-11-25 TASK-27, TASK-36, TASK-59
#[tokio::test(start_paused = true)]
async fn the_session_is_told_how_far_a_task_has_come() {
    let mut peer = peer().await;
    let task = peer.start("asks", json!({})).await;
    let waiting = peer.begin("tasks/result", id_of(&task)).await;
    let question = peer.question().await;
    peer.reply(&question, crate::tasks::peer::named("Ada"))
        .await;
    peer.answer_to(waiting).await;
    peer.settle().await;
    let notices = peer.notices("notifications/tasks/status");
    let statuses: Vec<&Value> = notices.iter().map(|task| &task["status"]).collect();
    assert_eq!(statuses, ["input_required", "working", "completed"]);
    for notice in notices {
        assert_eq!(notice["taskId"], task["taskId"]);
        assert!(notice["ttl"].is_u64() && notice.get("_meta").is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn older_clients_see_calls_and_no_tool_that_is_always_a_task() {
    let app = server(&Seen::default()).build().expect("the server starts");
    for revision in ["2024-11-05", "2025-06-18"] {
        let mut peer = Peer::join(&app, revision, able()).await;
        let capabilities = peer.welcome["capabilities"].to_string();
        assert!(!capabilities.contains("tasks"), "{capabilities}");
        let listed = peer.result("tools/list", json!({})).await.to_string();
        assert!(!listed.contains("must") && !listed.contains("taskSupport"));
        assert_eq!(
            peer.error("tools/call", call("must", json!({}))).await["code"],
            -32602
        );
        let params = as_task("wait", json!({ "seconds": 3 }), json!(60_000));
        assert_eq!(text(&peer.result("tools/call", params).await), "waited 3 s");
        for method in [
            "tasks/get",
            "tasks/result",
            "tasks/list",
            "tasks/cancel",
            "tasks/update",
        ] {
            assert_eq!(
                peer.error(method, json!({ "taskId": "x" })).await["code"],
                -32601
            );
        }
    }
}

// spec: 2025-11-25 TASK-01
// spec: 2026-07-28 X-TASK-36
#[tokio::test(start_paused = true)]
async fn a_task_shows_the_face_of_whoever_looks() {
    let app = server(&Seen::default()).build().expect("the server starts");
    let mut core = Peer::join(&app, CORE, able()).await;
    let mut modern = Peer::join(&app, crate::tasks::peer::MODERN, able()).await;
    let task = core.start("fails", json!({})).await;
    assert_eq!(core.ended(&task).await["status"], "failed");
    let seen = modern.look(&task).await;
    assert_eq!(
        (&seen["status"], &seen["result"]["isError"]),
        (&json!("completed"), &json!(true))
    );
    let task = modern.start("wait", json!({ "seconds": 60 })).await;
    assert_eq!(core.look(&task).await["ttl"], 300_000);
    assert_eq!(
        core.result("tasks/cancel", id_of(&task)).await["status"],
        "cancelled"
    );
    assert_eq!(modern.look(&task).await["status"], "cancelled");
}
