//! Batches that arrive at another replica than the calls that they concern.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pintle_http::ResponseBody;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::mail::{A_WHILE, Clocked, Records, question, replicas_speaking};
use crate::common::{Ask, Counts, Endpoint, body_json, get, messages, piece, post};

const REVISION: &str = "2025-03-26";

struct Three {
    replicas: [Endpoint; 3],
    id: String,
    calls: Arc<Counts>,
    records: Arc<Records>,
    store: Arc<Clocked>,
}

/// Three replicas that know a session whose revision has batches.
async fn three() -> Three {
    let (replicas, id, calls, records, store) = replicas_speaking(REVISION, A_WHILE).await;
    Three {
        replicas,
        id,
        calls,
        records,
        store,
    }
}

impl Three {
    fn batch(&self, messages: &[Value]) -> Ask {
        post(json!(messages).to_string()).in_session(&self.id)
    }

    /// Returns the stream of a call at the first replica.
    async fn call(&self, id: i64, tool: &str) -> ResponseBody {
        let call = self.batch(&[request(id, "tools/call", json!({ "name": tool }))]);
        call.of(&self.replicas[0]).await.into_body()
    }

    /// Returns true if a call of the tool `log`, which logs an error, sends a log message.
    async fn logs(&self, replica: &Endpoint) -> bool {
        let call = request(7, "tools/call", json!({ "name": "log" }));
        let mut stream = self.batch(&[call]).of(replica).await.into_body();
        let mut all = Vec::new();
        while let Some(text) = piece(&mut stream).await {
            all.extend(messages(&text));
        }
        let is_log = |message: &Value| message["method"] == "notifications/message";
        all.iter().any(is_log)
    }
}

fn request(id: i64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn set_level(id: i64, level: &str) -> Value {
    request(id, "logging/setLevel", json!({ "level": level }))
}

fn subscribe(id: i64, uri: &str) -> Value {
    request(id, "resources/subscribe", json!({ "uri": uri }))
}

fn answer(question: &Value, roots: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "roots": roots } })
}

fn cancel(id: i64) -> Value {
    let params = json!({ "requestId": id });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
}

async fn answers(ask: Ask, replica: &Endpoint) -> Vec<Value> {
    let response = ask.of(replica).await;
    assert_eq!(response.status(), 200);
    let mut answers = body_json(response).await;
    let answers = answers.as_array_mut().expect("an array");
    answers.sort_by_key(|answer| answer["id"].as_i64());
    std::mem::take(answers)
}

async fn next(stream: &mut ResponseBody) -> Vec<Value> {
    let text = timeout(A_WHILE, piece(stream)).await.expect("in time");
    messages(&text.expect("a message"))
}

// spec: 2025-11-25 D0326-02
#[tokio::test(start_paused = true)]
async fn a_log_level_in_a_batch_is_in_force_at_all_replicas() {
    let three = three().await;
    let [first, second, third] = &three.replicas;
    for (level, is_sent) in [("emergency", false), ("debug", true)] {
        let ping = request(2, "ping", json!({}));
        let batch = three.batch(&[set_level(1, level), ping]);
        let answers = answers(batch, second).await;
        let results = [1, 2].map(|id| json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
        assert_eq!(answers, results);
        for replica in [first, second, third] {
            assert_eq!(three.logs(replica).await, is_sent, "{level}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn subscriptions_in_a_batch_are_in_force_where_the_stream_is_open() {
    let three = three().await;
    let [first, second, _] = &three.replicas;
    let mut stream = get().in_session(&three.id).of(second).await.into_body();
    let batch = three.batch(&[
        subscribe(1, "a:2"),
        subscribe(2, "a:1"),
        set_level(3, "error"),
    ]);
    assert_eq!(answers(batch, first).await.len(), 3);
    let update = request(7, "tools/call", json!({ "name": "update" }));
    answers(three.batch(&[update]), second).await;
    loop {
        if let Some(notice) = next(&mut stream).await.pop() {
            assert_eq!(notice["method"], "notifications/resources/updated");
            return;
        }
    }
}

// The other replicas are notified once, and the record is written once for each setting.
#[tokio::test(start_paused = true)]
async fn settings_of_a_batch_are_announced_together() {
    let three = three().await;
    // The first reading after 5 seconds is not counted.
    answers(three.batch(&[set_level(0, "info")]), &three.replicas[0]).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    three.records.operations();
    three.store.take_appends();
    let settings = [set_level(1, "error"), subscribe(2, "a:1")];
    answers(three.batch(&settings), &three.replicas[0]).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(three.records.operations(), 2 * 2 + 2);
    let (_, appends) = three.store.take_appends();
    assert_eq!(appends, 1 + 2 * 2, "the news, two requests, two replies");
}

#[tokio::test(start_paused = true)]
async fn without_the_store_a_setting_in_a_batch_is_answered_with_an_error() {
    let three = three().await;
    let [first, second, _] = &three.replicas;
    three.records.is_away.store(true, Ordering::SeqCst);
    let ping = request(3, "ping", json!({}));
    let settings = [set_level(1, "emergency"), subscribe(2, "a:1"), ping];
    let answers = answers(three.batch(&settings), first).await;
    let codes: Vec<_> = answers
        .iter()
        .map(|answer| &answer["error"]["code"])
        .collect();
    assert_eq!(codes, [&json!(-32603), &json!(-32603), &Value::Null]);
    three.records.is_away.store(false, Ordering::SeqCst);
    assert!(three.logs(first).await && three.logs(second).await);
}

#[tokio::test(start_paused = true)]
async fn a_setting_of_a_batch_that_is_not_announced_has_an_error() {
    let three = three().await;
    let [first, ..] = &three.replicas;
    three.store.set_away(true);
    let batch = [set_level(1, "error"), request(2, "ping", json!({}))];
    let answers = answers(three.batch(&batch), first).await;
    assert_eq!(answers[0]["error"]["code"], -32603);
    assert_eq!(answers[1]["result"], json!({}));
}

// spec: 2025-11-25 D0326-02
#[tokio::test(start_paused = true)]
async fn answers_in_a_batch_reach_their_questions_at_another_replica() {
    let three = three().await;
    let second = &three.replicas[1];
    let (mut one, mut other) = (three.call(1, "roots").await, three.call(2, "roots").await);
    let asked = [question(&mut one).await, question(&mut other).await];
    // Each crosses alone, and both have more than a message may have.
    let name = "x".repeat(40 << 10);
    let root = |uri: &str| json!([{ "uri": uri, "name": name }]);
    let batch = [
        answer(&asked[0], root("file:///a")),
        answer(&asked[1], json!([])),
    ];
    let batch = three.batch(&[batch[0].clone(), batch[1].clone(), batch[0].clone()]);
    three.store.take_appends();
    assert_eq!(batch.of(second).await.status(), 202);
    assert_eq!(three.store.take_appends().1, 1, "all of them together");
    for (stream, roots) in [(&mut one, "1 roots"), (&mut other, "0 roots")] {
        let end = next(stream).await.pop().expect("one");
        assert_eq!(end["result"]["content"][0]["text"], roots, "{end}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_of_answers_is_accepted_when_the_store_has_them() {
    let three = three().await;
    let [first, second, _] = &three.replicas;
    let (mut one, mut other) = (three.call(1, "roots").await, three.call(2, "roots").await);
    let asked = [question(&mut one).await, question(&mut other).await];
    let large = json!([{ "uri": "file:///a", "name": "x".repeat(64 << 10) }]);
    three.store.set_away(true);
    let small = asked.each_ref().map(|asked| answer(asked, json!([])));
    let refused = three.batch(&small).of(second).await;
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.headers()["retry-after"], "2");
    // At the replica of the questions they need no store.
    assert_eq!(three.batch(&small[..1]).of(first).await.status(), 202);
    next(&mut one).await;
    three.store.set_away(false);
    let mixed = [answer(&asked[0], large), small[1].clone()];
    assert_eq!(three.batch(&mixed).of(second).await.status(), 413);
    let end = next(&mut other).await.pop().expect("one");
    assert_eq!(end["result"]["content"][0]["text"], "0 roots", "{end}");
}

// spec: 2025-11-25 D0326-02
#[tokio::test(start_paused = true)]
async fn a_cancellation_in_a_batch_ends_a_call_at_another_replica() {
    let three = three().await;
    let [first, second, _] = three.replicas.clone();
    let hanging = request(9, "tools/call", json!({ "name": "hang" }));
    let hanging = three.batch(&[hanging]);
    let hanging = tokio::spawn(async move { hanging.of(&first).await.status() });
    three.calls.until(|calls| calls.started() == 1).await;
    let ping = request(1, "ping", json!({}));
    let answers = answers(three.batch(&[cancel(9), ping, cancel(8)]), &second).await;
    assert_eq!(answers.len(), 1);
    let dropped = three.calls.until(|calls| calls.dropped() == 1);
    timeout(A_WHILE, dropped).await.expect("in time");
    hanging.abort();
}
