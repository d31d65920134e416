//! Questions of handlers to clients of the handshake era.

use http::StatusCode;
use pintle_http::{HttpOptions, LegacyMode};
use serde_json::{Value, json};

use crate::common::{Endpoint, endpoint, endpoint_with, legacy, messages, open, piece, post};

fn roots(id: i64) -> crate::common::Ask {
    legacy(
        id,
        "tools/call",
        json!({ "name": "roots", "arguments": {} }),
    )
}

async fn respond(endpoint: &Endpoint, session: &str, id: &Value) -> StatusCode {
    let result = json!({ "roots": [{ "uri": "file:///a" }] });
    let response = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    let post = post(response.to_string()).in_session(session);
    post.of(endpoint).await.status()
}

// spec: 2025-11-25 TRANS-HTTP-10, TRANS-HTTP-13
#[tokio::test(start_paused = true)]
async fn a_question_is_sent_on_its_request_stream_and_answered_by_a_post() {
    let endpoint = endpoint();
    let session = open(&endpoint).await;
    let asking = roots(1).in_session(&session).of(&endpoint).await;
    assert_eq!(asking.headers()["content-type"], "text/event-stream");
    let mut stream = asking.into_body();
    let asked = messages(&piece(&mut stream).await.expect("a question"));
    assert_eq!(asked[0]["method"], "roots/list");

    let status = respond(&endpoint, &session, &asked[0]["id"]).await;
    assert_eq!(status, StatusCode::ACCEPTED);

    let answered = messages(&piece(&mut stream).await.expect("an answer"));
    assert_eq!(answered[0]["id"], 1);
    assert_eq!(answered[0]["result"]["content"][0]["text"], "1 roots");
    assert_eq!(piece(&mut stream).await, None);
}

// spec: 2025-11-25 ELIC-51
#[tokio::test(start_paused = true)]
async fn another_session_cannot_answer_a_question() {
    let endpoint = endpoint();
    let (session, other) = (open(&endpoint).await, open(&endpoint).await);
    let asking = roots(1).in_session(&session).of(&endpoint).await;
    let mut stream = asking.into_body();
    let asked = messages(&piece(&mut stream).await.expect("a question"));
    respond(&endpoint, &other, &asked[0]["id"]).await;
    let taken_back = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 1 } });
    post(taken_back.to_string())
        .in_session(&session)
        .of(&endpoint)
        .await;
    let withdrawn = messages(&piece(&mut stream).await.expect("a word on the question"));
    assert_eq!(withdrawn[0]["method"], "notifications/cancelled");
    assert_eq!(withdrawn[0]["params"]["requestId"], asked[0]["id"]);
    assert_eq!(piece(&mut stream).await, None, "nobody has answered");
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_when_the_endpoint_closes() {
    let endpoint = endpoint();
    let session = open(&endpoint).await;
    let asking = roots(1).in_session(&session).of(&endpoint).await;
    let mut stream = asking.into_body();
    let asked = messages(&piece(&mut stream).await.expect("a question"));
    assert_eq!(asked[0]["method"], "roots/list");
    let closed_at = tokio::time::Instant::now();
    endpoint.close();
    let mut last = Value::Null;
    let reading = async {
        while let Some(text) = piece(&mut stream).await {
            last = messages(&text).pop().unwrap_or(Value::Null);
        }
    };
    let ended = tokio::time::timeout(std::time::Duration::from_secs(5), reading).await;
    assert!(ended.is_ok(), "the stream ends");
    assert_eq!(last["id"], 1, "the request is answered: {last}");
    let waited = closed_at.elapsed();
    assert!(waited.is_zero(), "the answer came after {waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_client_without_a_session_is_not_asked() {
    let mut options = HttpOptions::default();
    options.legacy = LegacyMode::Sessionless;
    let (endpoint, _) = endpoint_with(options);
    let (status, body) = roots(1).json(&endpoint).await;
    assert_eq!(status, 200);
    let text = &body["result"]["content"][0]["text"];
    assert_eq!(text, "the client does not support roots");
}
