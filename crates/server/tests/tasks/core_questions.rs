//! In 2025-11-25 a task asks through whoever waits for its result.

use serde_json::{Value, json};

use crate::tasks::peer::{CORE, Peer, able, call, id_of, named, text};
use crate::tasks::tools::{Seen, server};

const RELATED: &str = "io.modelcontextprotocol/related-task";

async fn peer() -> Peer {
    Peer::connect(server(&Seen::default()), CORE).await
}

/// Waits until the task says that it asks.
async fn until_asking(peer: &mut Peer, task: &Value) {
    while peer.look(task).await["status"] != "input_required" {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

// spec: 2025-11-25 TASK-38, TASK-39, TASK-41, TASK-53, TASK-54
#[tokio::test(start_paused = true)]
async fn a_question_of_a_task_is_asked_on_the_wait_for_its_result() {
    let mut peer = peer().await;
    let task = peer.start("asks", json!({})).await;
    until_asking(&mut peer, &task).await;
    peer.settle().await;
    assert_eq!(peer.questions, Vec::<Value>::new(), "nobody waits yet");
    let waiting = peer.begin("tasks/result", id_of(&task)).await;
    let question = peer.question().await;
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(
        question["params"]["_meta"],
        json!({ RELATED: { "taskId": task["taskId"] } })
    );
    assert!(question["params"]["requestedSchema"]["properties"]["name"].is_object());
    peer.reply(&question, named("Ada")).await;
    assert_eq!(text(&peer.answer_to(waiting).await["result"]), "hello Ada");
    assert_eq!(peer.look(&task).await["status"], "completed");
}

// spec: 2025-11-25 AMB-91
#[tokio::test(start_paused = true)]
async fn a_question_is_asked_once_however_many_wait() {
    let mut peer = peer().await;
    let task = peer.start("asks", json!({})).await;
    let one = peer.begin("tasks/result", id_of(&task)).await;
    let other = peer.begin("tasks/result", id_of(&task)).await;
    let question = peer.question().await;
    peer.settle().await;
    assert_eq!(peer.questions, Vec::<Value>::new());
    peer.reply(&question, named("Ada")).await;
    for waiting in [one, other] {
        assert_eq!(text(&peer.answer_to(waiting).await["result"]), "hello Ada");
    }
}

// spec: 2025-11-25 AMB-49, AMB-91, TASK-24
#[tokio::test(start_paused = true)]
async fn the_next_wait_asks_what_the_last_one_left_open() {
    let mut peer = peer().await;
    let task = peer.start("asks", json!({})).await;
    let first = peer.begin("tasks/result", id_of(&task)).await;
    let question = peer.question().await;
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": first } });
    peer.send(&notice).await;
    peer.settle().await;
    let notices = peer.notices("notifications/cancelled");
    assert_eq!(
        notices[0]["requestId"], question["id"],
        "the question is taken back"
    );
    assert_eq!(peer.look(&task).await["status"], "input_required");
    let second = peer.begin("tasks/result", id_of(&task)).await;
    let question = peer.question().await;
    peer.reply(&question, named("Ada")).await;
    assert_eq!(text(&peer.answer_to(second).await["result"]), "hello Ada");
}

// spec: 2025-11-25 AMB-91
#[tokio::test(start_paused = true)]
async fn another_session_may_answer_when_the_first_is_gone() {
    let app = server(&Seen::default()).build().expect("the server starts");
    let mut peer = Peer::join(&app, CORE, able()).await;
    let task = peer.start("asks", json!({})).await;
    peer.begin("tasks/result", id_of(&task)).await;
    peer.question().await;
    drop(peer);
    let mut peer = Peer::join(&app, CORE, able()).await;
    let waiting = peer.begin("tasks/result", id_of(&task)).await;
    let question = peer.question().await;
    peer.reply(&question, named("Ada")).await;
    assert_eq!(text(&peer.answer_to(waiting).await["result"]), "hello Ada");
}

// spec: 2025-11-25 AMB-92
#[tokio::test(start_paused = true)]
async fn a_task_asks_for_input_until_nothing_is_open() {
    let mut peer = peer().await;
    let task = peer.start("two", json!({})).await;
    let waiting = peer.begin("tasks/result", id_of(&task)).await;
    let (first, second) = (peer.question().await, peer.question().await);
    peer.reply(&second, named("Bob")).await;
    peer.settle().await;
    assert_eq!(peer.look(&task).await["status"], "input_required");
    peer.reply(&first, named("Ada")).await;
    assert_eq!(
        text(&peer.answer_to(waiting).await["result"]),
        "Ada and Bob"
    );
}

// spec: 2025-11-25 TASK-52
#[tokio::test(start_paused = true)]
async fn what_goes_wrong_with_a_question_is_told_as_in_a_plain_call() {
    for mistake in ["error", "nonsense"] {
        let mut peer = peer().await;
        let mut outcomes = Vec::new();
        for is_task in [false, true] {
            let id = if is_task {
                let task = peer.start("asks", json!({})).await;
                peer.begin("tasks/result", id_of(&task)).await
            } else {
                peer.begin("tools/call", call("asks", json!({}))).await
            };
            let question = peer.question().await;
            let mut reply = json!({ "jsonrpc": "2.0", "id": question["id"] });
            if mistake == "error" {
                reply["error"] = json!({ "code": -32000, "message": "nobody is there" });
            } else {
                reply["result"] = json!({ "action": "accept", "content": { "name": 7 } });
            }
            peer.send(&reply).await;
            let mut result = peer.answer_to(id).await["result"].take();
            result["_meta"].take();
            outcomes.push(result);
        }
        assert_eq!(outcomes[0]["isError"], true, "{mistake}");
        assert_eq!(outcomes[0], outcomes[1], "{mistake}");
    }
}

// spec: 2025-11-25 TASK-52
#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_be_asked_hears_so_in_the_result() {
    let app = server(&Seen::default()).build().expect("the server starts");
    let mut peer = Peer::join(&app, CORE, json!({})).await;
    let task = peer.start("asks", json!({})).await;
    let result = peer.result("tasks/result", id_of(&task)).await;
    let plain = peer.result("tools/call", call("asks", json!({}))).await;
    assert_eq!(
        (text(&result), &result["isError"]),
        (text(&plain), &plain["isError"])
    );
}
