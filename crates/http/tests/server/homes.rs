//! Sessions of 2024-11-05 at three replicas: a message may arrive at another one than the stream.

#[path = "../../../runtime/tests/fleet/link.rs"]
#[expect(dead_code, reason = "the tests of the fleet use the rest")]
mod link;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use http_body_util::{BodyExt as _, Full};
use pintle_http::{HttpOptions, HttpService, ResponseBody, SseService};
use pintle_runtime::{BoxService, Principal};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};
use tower_service::Service as _;

use super::Replicated;
use crate::common::{Counts, Demo, initialize, legacy, messages, notice, piece};
use link::{Fault, Host, Link};

/// Longer than the join of a replica, and the expiry of its presence.
const A_WHILE: Duration = Duration::from_secs(20);
/// Largest text that crosses replicas.
const MAX_BYTES: usize = 256 << 10;

/// One of the replicas.
struct Replica {
    sse: SseService<BoxService>,
    mcp: HttpService<BoxService>,
    link: Arc<Link>,
    calls: Arc<Counts>,
}

/// A session, as its client has it.
struct Client {
    stream: ResponseBody,
    place: String,
    arrived: VecDeque<Value>,
}

/// The status and the text of a response.
type Answer = (u16, String);

fn replicas_with(options: &HttpOptions) -> [Replica; 3] {
    let (shared, host) = (Replicated::shared(), Host::new());
    [(); 3].map(|()| {
        let (demo, link) = (Demo::default(), host.link());
        let (calls, shared) = (Arc::clone(&demo.calls), shared.over(Arc::clone(&link) as _));
        let service = BoxService::new(Replicated::new(BoxService::new(demo), &shared));
        let mcp = HttpService::new(service, options.clone());
        Replica {
            sse: mcp.sse("/messages"),
            mcp,
            link,
            calls,
        }
    })
}

fn replicas() -> [Replica; 3] {
    replicas_with(&HttpOptions::default())
}

fn request(method: &str, uri: &str, text: &str) -> Request<Full<bytes::Bytes>> {
    let request = Request::builder()
        .method(method)
        .uri(uri)
        .header("host", "localhost")
        .header("content-type", "application/json");
    let body = Full::new(bytes::Bytes::from(text.to_owned()));
    request.body(body).expect("a request")
}

impl Replica {
    /// Opens a stream without a handshake.
    async fn open(&self) -> Client {
        let mut sse = self.sse.clone();
        let opened = sse.call(request("GET", "/sse", "")).await;
        let opened = opened.expect("never fails");
        assert_eq!(opened.status(), 200);
        let mut stream = opened.into_body();
        let first = piece(&mut stream).await.expect("where to post");
        let place = first.lines().find_map(|line| line.strip_prefix("data: "));
        let place = place.expect("where to post").to_owned();
        Client {
            stream,
            place,
            arrived: VecDeque::new(),
        }
    }

    async fn send(&self, request: Request<Full<bytes::Bytes>>) -> Answer {
        let answer = self.sse.clone().call(request).await;
        let answer = answer.expect("never fails");
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.expect("a body");
        let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
        (status, text)
    }

    async fn post(&self, place: &str, message: &Value) -> Answer {
        let text = message.to_string();
        self.send(request("POST", place, &text)).await
    }
}

impl Client {
    async fn next(&mut self) -> Value {
        while self.arrived.is_empty() {
            let text = timeout(A_WHILE, piece(&mut self.stream)).await;
            let text = text.expect("in time").expect("the stream goes on");
            self.arrived.extend(messages(&text));
        }
        self.arrived.pop_front().expect("one")
    }
}

fn message(ask: &crate::common::Ask) -> Value {
    serde_json::from_slice(&ask.body).expect("JSON")
}

fn call(id: i64, tool: &str) -> Value {
    let params = json!({ "name": tool, "arguments": { "id": id } });
    message(&legacy(id, "tools/call", params))
}

/// Performs the handshake of a revision, one message at each of the other replicas.
async fn session(replicas: &[Replica; 3], revision: &str) -> Client {
    let [home, second, third] = replicas;
    let mut client = home.open().await;
    let opening = message(&initialize(revision));
    assert_eq!(second.post(&client.place, &opening).await.0, 202);
    let answer = client.next().await;
    assert_eq!(answer["result"]["protocolVersion"], revision, "{answer}");
    let ready = message(&notice("notifications/initialized"));
    assert_eq!(third.post(&client.place, &ready).await.0, 202);
    client
}

#[tokio::test(start_paused = true)]
async fn posts_at_each_replica_reach_the_one_stream() {
    let replicas = replicas();
    for revision in ["2024-11-05", "2025-11-25"] {
        let mut client = session(&replicas, revision).await;
        for (replica, id) in replicas.iter().cycle().zip(1..=9) {
            let accepted = replica.post(&client.place, &call(id, "echo")).await;
            assert_eq!(accepted, (202, String::new()));
            let answer = client.next().await;
            assert_eq!(answer["id"], id);
            let text = &answer["result"]["content"][0]["text"];
            assert_eq!(*text, json!({ "id": id }).to_string());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn answers_and_cancellations_reach_the_handler_at_the_home() {
    let replicas = replicas();
    let [home, second, third] = &replicas;
    let mut client = session(&replicas, "2024-11-05").await;
    assert_eq!(second.post(&client.place, &call(1, "roots")).await.0, 202);
    let question = client.next().await;
    assert_eq!(question["method"], "roots/list");
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "roots": [] } });
    assert_eq!(third.post(&client.place, &answer).await.0, 202);
    let text = &client.next().await["result"]["content"][0]["text"];
    assert_eq!(text, "0 roots");
    assert_eq!(second.post(&client.place, &call(2, "hang")).await.0, 202);
    assert_eq!((home.calls.started(), second.calls.started()), (2, 0));
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 2 } });
    assert_eq!(third.post(&client.place, &cancel).await.0, 202);
    assert_eq!(home.calls.dropped(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_home_that_ends_its_stream_has_no_session() {
    let replicas = replicas();
    let client = session(&replicas, "2024-11-05").await;
    drop(client.stream);
    for replica in &replicas {
        let (status, text) = replica.post(&client.place, &call(1, "echo")).await;
        assert_eq!(status, 404);
        assert!(text.contains("no such session"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dead_home_is_reported_within_seconds() {
    let replicas = replicas();
    let [home, second, third] = &replicas;
    let client = session(&replicas, "2024-11-05").await;
    home.link.set(Fault::Silent);
    for replica in [second, third] {
        let began = Instant::now();
        let (status, text) = replica.post(&client.place, &call(1, "echo")).await;
        assert!(began.elapsed() <= Duration::from_secs(2));
        assert_eq!(status, 503);
        assert!(text.contains("did not reply in time"), "{text}");
    }
    sleep(A_WHILE).await;
    for replica in [second, third] {
        let began = Instant::now();
        let (status, text) = replica.post(&client.place, &call(1, "echo")).await;
        assert!(began.elapsed() < Duration::from_millis(100));
        assert_eq!(status, 404);
        assert!(text.contains("open a new stream"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_the_store_the_home_serves_and_others_answer_503() {
    let replicas = replicas();
    let [home, second, _] = &replicas;
    let mut client = session(&replicas, "2024-11-05").await;
    for replica in &replicas {
        replica.link.set(Fault::Refused);
    }
    assert_eq!(home.post(&client.place, &call(1, "echo")).await.0, 202);
    assert_eq!(client.next().await["id"], 1);
    let (status, text) = second.post(&client.place, &call(2, "echo")).await;
    assert_eq!(status, 503);
    assert!(text.contains("shared state"), "{text}");
    for replica in &replicas {
        replica.link.set(Fault::None);
    }
    sleep(A_WHILE).await;
    assert_eq!(second.post(&client.place, &call(3, "echo")).await.0, 202);
    assert_eq!(client.next().await["id"], 3);
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_cannot_join_opens_no_stream() {
    let [home, ..] = replicas();
    home.link.set(Fault::Refused);
    let (status, text) = home.send(request("GET", "/sse", "")).await;
    assert_eq!(status, 503);
    assert!(text.contains("shared state"), "{text}");
}

// hardening: H-20
#[tokio::test(start_paused = true)]
async fn an_id_of_another_kind_or_principal_finds_no_session() {
    let replicas = replicas();
    let [home, second, _] = &replicas;
    let client = session(&replicas, "2024-11-05").await;
    let opening = initialize("2025-11-25").request();
    let opened = home.mcp.clone().call(opening).await.expect("never fails");
    let other_kind = opened.headers()["mcp-session-id"].to_str().expect("text");
    let forged = "0123456789abcdef0123456789abcdef";
    for replica in [home, second] {
        for id in [other_kind, forged, "x", ""] {
            let place = format!("/messages?session_id={id}");
            assert_eq!(replica.post(&place, &call(1, "echo")).await.0, 404, "{id}");
        }
        let mut request = request("POST", &client.place, &call(1, "echo").to_string());
        let mallory = Principal::new("mallory", ["read"]);
        request.extensions_mut().insert(mallory);
        assert_eq!(replica.send(request).await.0, 404);
        let (_, id) = client.place.split_once('=').expect("an id");
        let ask = legacy(1, "tools/list", json!({})).in_session(id);
        let answer = replica.mcp.clone().call(ask.request()).await;
        assert_eq!(answer.expect("never fails").status(), 404);
    }
}

#[tokio::test(start_paused = true)]
async fn a_post_of_256_kib_crosses_and_a_larger_one_does_not() {
    let replicas = replicas();
    let [home, second, _] = &replicas;
    let mut client = session(&replicas, "2024-11-05").await;
    let text = |bytes: usize| {
        let text = call(1, "echo").to_string();
        text.clone() + &" ".repeat(bytes - text.len())
    };
    let largest = request("POST", &client.place, &text(MAX_BYTES));
    assert_eq!(second.send(largest).await.0, 202);
    assert_eq!(client.next().await["id"], 1);
    let too_large = || request("POST", &client.place, &text(MAX_BYTES + 1));
    let (status, refused) = second.send(too_large()).await;
    assert_eq!(status, 413);
    assert!(refused.contains("too large"), "{refused}");
    assert_eq!(home.send(too_large()).await.0, 202, "the home reads it");
}

// hardening: H-197
#[tokio::test(start_paused = true)]
async fn the_limits_of_the_home_hold_for_posts_elsewhere() {
    let mut options = HttpOptions::default();
    let mut limits = pintle_proto::Limits::default();
    limits.max_running_requests = 2;
    options.conversation_limits = limits.into();
    let replicas = replicas_with(&options);
    let [_, second, third] = &replicas;
    let client = session(&replicas, "2025-11-25").await;
    for (replica, id, expected) in [(second, 1, 202), (third, 2, 202), (second, 3, 429)] {
        let (status, _) = replica.post(&client.place, &call(id, "hang")).await;
        assert_eq!(status, expected);
    }
    let batch = json!([call(4, "echo"), call(5, "echo")]);
    assert_eq!(third.post(&client.place, &batch).await.0, 400);
    assert_eq!(third.post(&client.place, &json!({})).await.0, 400);
}

// Operations of the store by kind of request: a budget that does not depend on the machine.
#[tokio::test(start_paused = true)]
async fn a_post_needs_the_store_only_away_from_its_home() {
    let replicas = replicas();
    let [home, second, _] = &replicas;
    let mut client = session(&replicas, "2024-11-05").await;
    let operations = || {
        let all = replicas
            .iter()
            .map(|replica| replica.link.take_operations());
        all.sum::<usize>()
    };
    operations();
    assert_eq!(home.post(&client.place, &call(1, "echo")).await.0, 202);
    assert_eq!(operations(), 0);
    assert_eq!(second.post(&client.place, &call(2, "echo")).await.0, 202);
    assert_eq!(operations(), 4, "append and read, there and back");
    assert_eq!(client.next().await["id"], 1);
    assert_eq!(client.next().await["id"], 2);
}
