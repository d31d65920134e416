//! A server whose questions become tasks of the client, and its requests about them.

use std::time::Duration;

use pintle_client::{Client, ClientBuilder, ClientOptions, EraMode, SamplingError};
use pintle_model::{CreateMessageResult, JsonObject, Revision};
use pintle_testkit::HostileServer;
use serde_json::{Value, json};

use super::legacy;
use crate::client::within;

const SECOND: Duration = Duration::from_secs(1);

/// A server that sends the messages it receives in `x/say`.
fn puppet() -> HostileServer {
    legacy(json!({}), |out, incoming| {
        if incoming["method"] == "x/say" {
            out.send(incoming["params"]["message"].clone());
        }
        if incoming["method"].is_string() && incoming.get("id").is_some() {
            out.reply(incoming, json!({}));
        }
    })
}

/// A client whose model needs as many seconds as `maxTokens` has tokens.
fn thinking() -> ClientBuilder {
    let builder = Client::builder().mode(EraMode::Pinned(Revision::V2025_11_25));
    builder.answer_in_tasks().on_sample(|asked| async move {
        tokio::time::sleep(Duration::from_secs(asked.max_tokens)).await;
        match asked.max_tokens {
            13 => Err(SamplingError::Refused),
            14 => panic!("as asked"),
            words => Ok(CreateMessageResult::new("x".repeat(words as usize), "m")),
        }
    })
}

async fn open(builder: ClientBuilder) -> (HostileServer, Client) {
    let server = puppet();
    let client = within(builder.connect(server.clone())).await;
    (server, client.expect("it opens"))
}

/// Makes the server ask, and does not wait for the answer.
async fn ask(client: &Client, id: u32, method: &str, params: Value) {
    let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let mut incoming = JsonObject::new();
    incoming.insert("message".to_owned(), message);
    within(client.request_raw("x/say", incoming))
        .await
        .expect("said");
}

/// The client's answer to the request `id`, if it was sent by now.
async fn answer(server: &HostileServer, client: &Client, id: u32) -> Option<Value> {
    within(client.ping()).await.expect("it is there");
    let mut received = server.received().into_iter();
    received.find(|incoming| incoming["id"] == id && incoming.get("method").is_none())
}

async fn asked(
    server: &HostileServer,
    client: &Client,
    id: u32,
    method: &str,
    params: Value,
) -> Value {
    ask(client, id, method, params).await;
    answer(server, client, id).await.expect("an answer at once")
}

fn question(words: u32, task: Value) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": "?" } });
    json!({ "messages": [message], "maxTokens": words, "task": task })
}

const SAMPLE: &str = "sampling/createMessage";

/// Sends a question that the client turns into a task, and returns the task.
async fn create_task(
    server: &HostileServer,
    client: &Client,
    id: u32,
    words: u32,
    task: Value,
) -> Value {
    let answer = asked(server, client, id, SAMPLE, question(words, task)).await;
    answer["result"]["task"].clone()
}

// spec: 2025-11-25 TASK-16, TASK-17, TASK-18, TASK-32, TASK-33, TASK-35, TASK-44, TASK-45, TASK-47, TASK-51, TASK-58
#[tokio::test(start_paused = true)]
async fn a_question_is_answered_with_a_task_and_its_result_follows() {
    let (server, client) = open(thinking()).await;
    let task = create_task(&server, &client, 901, 5, json!({ "ttl": 60_000 })).await;
    assert_eq!(
        (&task["status"], &task["ttl"]),
        (&json!("working"), &json!(60_000))
    );
    assert!(task["createdAt"].is_string() && task["lastUpdatedAt"].is_string());
    let id = json!({ "taskId": task["taskId"] });
    ask(&client, 902, "tasks/result", id.clone()).await;
    assert_eq!(answer(&server, &client, 902).await, None, "it waits");
    tokio::time::sleep(6 * SECOND).await;
    let result = answer(&server, &client, 902).await.expect("an answer")["result"].clone();
    assert_eq!(result["content"]["text"], "xxxxx");
    let related = json!({ "io.modelcontextprotocol/related-task": id });
    assert_eq!(result["_meta"], related);
    let now = asked(&server, &client, 903, "tasks/get", id.clone()).await;
    assert_eq!(
        (&now["result"]["status"], now["result"].get("_meta")),
        (&json!("completed"), None)
    );
    let again = asked(&server, &client, 904, "tasks/result", id).await;
    assert_eq!(again["result"], result, "as often as it is asked for");
    let notices: Vec<_> = server
        .received()
        .into_iter()
        .filter(|incoming| incoming["method"] == "notifications/tasks/status")
        .collect();
    assert_eq!(notices.len(), 1);
    assert_eq!(
        (
            &notices[0]["params"]["status"],
            notices[0]["params"].get("_meta")
        ),
        (&json!("completed"), None)
    );
}

// spec: 2025-11-25 TASK-71, TASK-78, AMB-85
#[tokio::test(start_paused = true)]
async fn a_task_fails_with_the_error_of_its_question() {
    let (server, client) = open(thinking()).await;
    for (words, code) in [(13, -1), (14, -32603)] {
        let task = create_task(&server, &client, 900 + words, words, json!({})).await;
        tokio::time::sleep(20 * SECOND).await;
        let id = json!({ "taskId": task["taskId"] });
        let now = asked(&server, &client, 1_000 + words, "tasks/get", id.clone()).await;
        assert_eq!(now["result"]["status"], "failed");
        assert!(now["result"]["statusMessage"].is_string());
        let result = asked(&server, &client, 1_100 + words, "tasks/result", id).await;
        assert_eq!(result["error"]["code"], code);
    }
}

// spec: 2025-11-25 TASK-37, TASK-64, TASK-65, TASK-66, TASK-67, AMB-85
#[tokio::test(start_paused = true)]
async fn a_task_is_cancelled_once_and_stays_so() {
    let (server, client) = open(thinking()).await;
    let task = create_task(&server, &client, 901, 5, json!({})).await;
    let id = json!({ "taskId": task["taskId"] });
    let cancelled = asked(&server, &client, 902, "tasks/cancel", id.clone()).await;
    assert_eq!(cancelled["result"]["status"], "cancelled");
    tokio::time::sleep(10 * SECOND).await;
    let now = asked(&server, &client, 903, "tasks/get", id.clone()).await;
    assert_eq!(now["result"]["status"], "cancelled");
    let result = asked(&server, &client, 904, "tasks/result", id.clone()).await;
    assert_eq!(result["error"]["code"], -32000);
    let again = asked(&server, &client, 905, "tasks/cancel", id).await;
    assert_eq!(again["error"]["code"], -32602);
}

// spec: 2025-11-25 TASK-46, TASK-48, TASK-73, AMB-88, AMB-89
#[tokio::test(start_paused = true)]
async fn a_task_is_stored_for_the_requested_ttl_within_bounds() {
    let mut options = ClientOptions::default();
    options.max_client_task_ttl = 20 * SECOND;
    let (server, client) = open(thinking().options(options)).await;
    let table = [
        (json!(0), 1_000),
        (json!(5_000), 5_000),
        (json!(20_000), 20_000),
        (json!(20_001), 20_000),
        (Value::Null, 20_000),
    ];
    for (at, (wish, granted)) in (0..).zip(table) {
        // The model needs longer than the lifetime of the task.
        let task = create_task(&server, &client, 900 + at, 100, json!({ "ttl": wish })).await;
        assert_eq!(task["ttl"], granted, "{wish}");
        let id = json!({ "taskId": task["taskId"] });
        ask(&client, 1_000 + at, "tasks/result", id.clone()).await;
        tokio::time::sleep(Duration::from_millis(granted - 1)).await;
        assert_eq!(answer(&server, &client, 1_000 + at).await, None);
        tokio::time::sleep(Duration::from_millis(2)).await;
        let waited = answer(&server, &client, 1_000 + at)
            .await
            .expect("an answer");
        assert_eq!(waited["error"]["code"], -32602);
        let now = asked(&server, &client, 1_100 + at, "tasks/get", id).await;
        assert_eq!(now["error"]["code"], -32602);
    }
    let refused = asked(&server, &client, 1_200, SAMPLE, question(1, json!("yes"))).await;
    assert_eq!(refused["error"]["code"], -32602);
}

// spec: 2025-11-25 TASK-60, TASK-61, TASK-63, TASK-74, TASK-86 (limits and cleaning)
#[tokio::test(start_paused = true)]
async fn tasks_are_bounded_and_listed() {
    let mut options = ClientOptions::default();
    options.max_client_tasks = 60;
    let (server, client) = open(thinking().options(options)).await;
    for at in 0..60 {
        let task = create_task(&server, &client, 2_000 + at, 5, json!({ "ttl": 60_000 })).await;
        assert!(task["taskId"].is_string(), "{at}");
    }
    let refused = asked(&server, &client, 3_000, SAMPLE, question(5, json!({}))).await;
    assert_eq!(refused["error"]["code"], -32603);
    let first = asked(&server, &client, 3_001, "tasks/list", json!({})).await["result"].clone();
    let cursor = json!({ "cursor": first["nextCursor"] });
    let rest = asked(&server, &client, 3_002, "tasks/list", cursor).await["result"].clone();
    let count = |page: &Value| page["tasks"].as_array().expect("tasks").len();
    assert_eq!(
        (count(&first), count(&rest), rest.get("nextCursor")),
        (50, 10, None)
    );
    let bad = asked(
        &server,
        &client,
        3_003,
        "tasks/list",
        json!({ "cursor": "x" }),
    )
    .await;
    assert_eq!(bad["error"]["code"], -32602);
    tokio::time::sleep(61 * SECOND).await;
    let task = create_task(&server, &client, 3_004, 5, json!({})).await;
    assert!(task["taskId"].is_string(), "there is room again");
}

#[tokio::test(start_paused = true)]
async fn the_stored_bytes_of_answers_are_bounded() {
    let mut options = ClientOptions::default();
    let answer = json!(CreateMessageResult::new("x".repeat(10), "m"));
    options.max_client_task_bytes = 2 * answer.to_string().len();
    let (server, client) = open(thinking().options(options)).await;
    for (at, status) in [(1, "completed"), (2, "completed"), (3, "failed")] {
        let task = create_task(&server, &client, 900 + at, 10, json!({})).await;
        tokio::time::sleep(11 * SECOND).await;
        let id = json!({ "taskId": task["taskId"] });
        let now = asked(&server, &client, 1_000 + at, "tasks/get", id).await;
        assert_eq!(now["result"]["status"], status, "{at}: {now}");
    }
}

// spec: 2025-11-25 TASK-34, TASK-81, TASK-83, TASK-84, AMB-94
#[tokio::test(start_paused = true)]
async fn a_conversation_has_tasks_of_its_own() {
    let (one, first) = open(thinking()).await;
    let (other, second) = open(thinking()).await;
    let task = create_task(&one, &first, 901, 5, json!({})).await;
    let id = task["taskId"].as_str().expect("text");
    assert_eq!(id.len(), 32);
    let twin = create_task(&one, &first, 902, 5, json!({})).await;
    assert_ne!(task["taskId"], twin["taskId"]);
    for (at, method) in (910..).zip(["tasks/get", "tasks/result", "tasks/cancel"]) {
        let foreign = asked(&other, &second, at, method, json!({ "taskId": id })).await;
        let nobodys = asked(&other, &second, at + 50, method, json!({ "taskId": "x" })).await;
        assert_eq!(foreign["error"]["code"], -32602);
        assert_eq!(foreign["error"], nobodys["error"]);
    }
    let listed = asked(&other, &second, 920, "tasks/list", json!({})).await;
    assert_eq!(listed["result"]["tasks"], json!([]));
}

// spec: 2025-11-25 TASK-06, TASK-07, TASK-30
#[tokio::test(start_paused = true)]
async fn without_a_word_of_tasks_a_question_is_one_as_any_other() {
    let builder = Client::builder().mode(EraMode::Pinned(Revision::V2025_11_25));
    let builder = builder.on_sample(async |_| Ok(CreateMessageResult::new("x", "m")));
    let (server, client) = open(builder).await;
    let opening = server
        .received()
        .into_iter()
        .find(|incoming| incoming["method"] == "initialize");
    assert_eq!(
        opening.expect("a handshake")["params"]["capabilities"].get("tasks"),
        None
    );
    let incoming = asked(&server, &client, 901, SAMPLE, question(1, json!({}))).await;
    assert_eq!(incoming["result"]["content"]["text"], "x");
    for (at, method) in (910..).zip(["tasks/get", "tasks/result", "tasks/cancel", "tasks/list"]) {
        let incoming = asked(&server, &client, at, method, json!({ "taskId": "x" })).await;
        assert_eq!(incoming["error"]["code"], -32601, "{method}");
    }
}

// spec: 2025-11-25 TASK-53, TASK-54
#[tokio::test(start_paused = true)]
async fn the_answer_to_a_question_of_a_task_names_the_task() {
    let (server, client) = open(thinking()).await;
    let related = json!({ "io.modelcontextprotocol/related-task": { "taskId": "theirs" } });
    let mut params = question(0, Value::Null);
    params["_meta"] = related.clone();
    let incoming = asked(&server, &client, 901, SAMPLE, params).await;
    assert_eq!(incoming["result"]["_meta"], related);
}
