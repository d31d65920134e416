//! How long a task lives: at work, while it asks, and after its end.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::tasks::peer::{CORE, MODERN, Peer, call, id_of, text};
use crate::tasks::tools::{Seen, server};

const BOTH: [&str; 2] = [CORE, MODERN];

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The time that the task is kept for, from its creation on, in milliseconds.
fn ttl(task: &Value) -> u64 {
    let ttl = task.get("ttl").unwrap_or(&task["ttlMs"]);
    ttl.as_u64().expect("a number of milliseconds")
}

/// What a request about the task is answered with once it is gone.
async fn is_gone(peer: &mut Peer, task: &Value) -> bool {
    peer.request("tasks/get", id_of(task)).await["error"]["code"] == -32602
}

// spec: 2025-11-25 TASK-47
// spec: 2026-07-28 X-TASK-19
#[tokio::test(start_paused = true)]
async fn a_task_without_a_requested_ttl_runs_to_its_end() {
    for revision in BOTH {
        let mut peer = Peer::connect(server(&Seen::default()), revision).await;
        let task = peer.start("wait", json!({ "seconds": 900 })).await;
        assert_eq!(ttl(&task), 300_000);
        sleep(seconds(700)).await;
        let later = peer.look(&task).await;
        assert_eq!(later["status"], "working", "{revision}");
        assert!(ttl(&later) >= 1_000_000, "{revision}: {later}");
        assert_eq!(peer.ended(&task).await["status"], "completed");

        sleep(seconds(298)).await;
        assert_eq!(peer.look(&task).await["status"], "completed");
        sleep(seconds(3)).await;
        assert!(is_gone(&mut peer, &task).await, "{revision}");
    }
}

// spec: 2025-11-25 TASK-48, TASK-73, AMB-89
#[tokio::test(start_paused = true)]
async fn a_requested_ttl_ends_the_work_with_a_reason() {
    let seen = Seen::default();
    let mut peer = Peer::connect(server(&seen), CORE).await;
    let mut params = call("wait", json!({ "seconds": 60 }));
    params["task"] = json!({ "ttl": 10_000 });
    let task = peer.result("tools/call", params).await["task"].take();
    let waiting = peer.begin("tasks/result", id_of(&task)).await;
    sleep(Duration::from_millis(9_900)).await;
    let working = peer.look(&task).await;
    assert_eq!(
        (&working["status"], ttl(&working)),
        (&json!("working"), 10_000)
    );

    sleep(Duration::from_millis(200)).await;
    let failed = peer.look(&task).await;
    let reason = json!("the task has not ended within its ttl of 10s");
    assert_eq!(
        (&failed["status"], &failed["statusMessage"]),
        (&json!("failed"), &reason)
    );
    let error = peer.answer_to(waiting).await["error"].take();
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!(-32603), &reason)
    );
    assert_eq!(seen.dropped.load(Ordering::SeqCst), 1);

    sleep(seconds(10)).await;
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let error = peer.error(method, id_of(&task)).await;
        assert_eq!(error["code"], -32602, "{method}");
    }
}

// spec: 2026-07-28 X-TASK-15
#[tokio::test(start_paused = true)]
async fn a_question_without_an_answer_fails_the_task_with_a_reason() {
    for revision in BOTH {
        let mut peer = Peer::connect(server(&Seen::default()), revision).await;
        let task = peer.start("asks", json!({})).await;
        sleep(seconds(299)).await;
        assert_eq!(peer.look(&task).await["status"], "input_required");
        sleep(seconds(2)).await;
        let failed = peer.look(&task).await;
        assert_eq!(failed["status"], "failed", "{revision}");
        let reason = "no answer has arrived within 300s";
        assert_eq!(failed["statusMessage"], reason);
        assert_eq!(text_of_error(&mut peer, &task).await, reason);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_gives_the_next_question_its_own_time() {
    let mut peer = Peer::connect(server(&Seen::default()), MODERN).await;
    let task = peer.start("asks", json!({})).await;
    for _ in 0..2 {
        let asked = peer.asked(&task).await;
        let key = asked.as_object().and_then(|asked| asked.keys().next());
        let wrong = json!({ "action": "accept", "content": { "name": 7 } });
        sleep(seconds(290)).await;
        let mut update = id_of(&task);
        update["inputResponses"] = json!({ key.expect("a question"): wrong });
        peer.result("tasks/update", update).await;
    }
    peer.asked(&task).await;
    assert_eq!(peer.look(&task).await["status"], "input_required");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_runs_for_too_long_fails_with_a_reason() {
    for revision in BOTH {
        let mut options = crate::tasks::tools::options();
        options.run_timeout = seconds(1_000);
        let seen = Seen::default();
        let mut peer = Peer::connect(server(&seen).tasks(options), revision).await;
        let task = peer.start("wait", json!({ "seconds": 2_000 })).await;
        sleep(seconds(998)).await;
        assert_eq!(peer.look(&task).await["status"], "working");
        sleep(seconds(3)).await;
        let failed = peer.look(&task).await;
        let reason = json!("the task has run for 1000s, the longest it may");
        assert_eq!(
            (&failed["status"], &failed["statusMessage"]),
            (&json!("failed"), &reason)
        );
        assert_eq!(seen.dropped.load(Ordering::SeqCst), 1);
        assert_eq!(text_of_error(&mut peer, &task).await, reason);
    }
}

/// The message of the error that the task ended with.
async fn text_of_error(peer: &mut Peer, task: &Value) -> Value {
    if peer.revision == MODERN {
        return peer.look(task).await["error"]["message"].take();
    }
    peer.error("tasks/result", id_of(task)).await["message"].take()
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_client_without_tasks_has_no_ttl() {
    let mut peer = Peer::connect(server(&Seen::default()), MODERN).await;
    peer.capabilities = json!({});
    let result = peer
        .result("tools/call", call("wait", json!({ "seconds": 900 })))
        .await;
    assert_eq!(text(&result), "waited 900 s");
}
