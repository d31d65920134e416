//! A session of 2024-11-05 whose messages arrive at three replicas. Its id is sealed with the keys in the store.

use std::sync::Arc;

use http::Request;
use http_body_util::BodyExt as _;
use pintle::http::{ResponseBody, SseService};
use pintle::prelude::*;
use pintle::server::{App, StateBackend};
use pintle::store::Store;
use serde_json::{Value, json};
use tower_service::Service as _;

use super::request;
use super::store::Counted;
use crate::over_http::guest::service;

/// Returns its text.
#[tool(read_only)]
async fn echo(text: String) -> String {
    text
}

async fn replica(store: &Arc<Counted>) -> SseService<App> {
    let store = Arc::clone(store) as Arc<dyn Store>;
    let state = StateBackend::open(store, None).await.expect("opens");
    let server = Server::new("harbour", "1.0.0")
        .tool::<echo>()
        .state_backend(state);
    service(server).sse("/messages")
}

async fn send(
    replica: &SseService<App>,
    method: &str,
    uri: &str,
    body: String,
) -> http::Response<ResponseBody> {
    let request = Request::builder()
        .method(method)
        .uri(uri)
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(body);
    let mut replica = replica.clone();
    let sent = replica.call(request.expect("a request")).await;
    sent.expect("never fails")
}

/// Returns the data of the next event.
async fn next(stream: &mut ResponseBody) -> String {
    let frame = stream.frame().await.expect("an event");
    let data = frame.expect("never fails").into_data().expect("data");
    let text = String::from_utf8_lossy(&data).into_owned();
    let data = text.lines().find_map(|line| line.strip_prefix("data: "));
    data.expect("one event").to_owned()
}

#[tokio::test(start_paused = true)]
async fn messages_at_three_replicas_reach_a_stream_with_a_sealed_id() {
    let store = Arc::new(Counted::new());
    let mut replicas = Vec::new();
    for _ in 0..3 {
        replicas.push(replica(&store).await);
    }
    let opened = send(&replicas[0], "GET", "/sse", String::new()).await;
    assert_eq!(opened.status(), 200);
    let mut stream = opened.into_body();
    let place = next(&mut stream).await;
    let client = json!({ "name": "t", "version": "1" });
    let params = json!({ "protocolVersion": "2024-11-05", "capabilities": {},
        "clientInfo": client });
    let call = |text: &str| {
        let params = json!({ "name": "echo", "arguments": { "text": text } });
        request(1, "tools/call", params)
    };
    for (number, message) in [
        request(0, "initialize", params),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        call("at the third"),
        call("at the home"),
        call("at the second"),
    ]
    .into_iter()
    .enumerate()
    {
        let replica = &replicas[(number + 1) % 3];
        let accepted = send(replica, "POST", &place, message.to_string()).await;
        assert_eq!(accepted.status(), 202, "{message}");
        if message["id"].is_null() {
            continue;
        }
        let answer: Value = serde_json::from_str(&next(&mut stream).await).expect("JSON");
        assert!(answer["error"].is_null(), "{answer}");
        if let Some(text) = message["params"]["arguments"]["text"].as_str() {
            assert_eq!(answer["result"]["content"][0]["text"], text);
        }
    }
    // Another number opens nothing.
    let forged = place.replace('=', "=A");
    let refused = send(&replicas[1], "POST", &forged, call("forged").to_string()).await;
    assert_eq!(refused.status(), 404);
}
