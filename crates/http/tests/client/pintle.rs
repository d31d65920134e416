//! Against this crate's own server.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use pintle_http::HttpOptions;
use pintle_http::client::{BoxIo, Dialer, UrlOrigin};
use pintle_model::{Feature, Revision};
use pintle_runtime::BoxFuture;
use serde_json::{Value, json};
use tokio::io::duplex;
use tokio::time::sleep;

use super::user::{Outcome, User, code, user};
use crate::common::{Endpoint, endpoint_with};

const SECOND: Duration = Duration::from_secs(1);

/// The server, in memory.
#[derive(Clone)]
struct Served(Endpoint);

impl Dialer for Served {
    fn dial(&self, _origin: &UrlOrigin) -> BoxFuture<'static, io::Result<BoxIo>> {
        let (near, far) = duplex(1 << 16);
        let endpoint = self.0.clone();
        tokio::spawn(async move {
            let service = hyper::service::service_fn(move |request| {
                let endpoint = endpoint.clone();
                async move { Ok::<_, Infallible>(endpoint.call(request).await) }
            });
            let serving = hyper::server::conn::http1::Builder::new();
            // A client that disconnects early is not an error of the server.
            drop(serving.serve_connection(TokioIo::new(far), service).await);
        });
        Box::pin(async { Ok(BoxIo::new(near)) })
    }
}

fn server() -> (Served, std::sync::Arc<crate::common::Counts>) {
    let (endpoint, counts) = endpoint_with(HttpOptions::default());
    (Served(endpoint), counts)
}

async fn ready(served: Served, revision: Revision) -> User {
    if revision.has(Feature::Envelope) {
        return User::modern(served).await;
    }
    let user = user(served).await;
    user.shake_hands(revision).await.expect("a welcome");
    user
}

fn over_one_endpoint() -> impl Iterator<Item = Revision> {
    let all = Revision::ALL.into_iter();
    all.filter(|revision| revision.has(Feature::StreamableHttp))
}

fn said(outcome: &Outcome) -> Value {
    let result = outcome.as_ref().expect("a result");
    let result: Value = serde_json::from_str(result.get()).expect("JSON");
    result["content"][0]["text"].clone()
}

fn tool(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

#[tokio::test(start_paused = true)]
async fn calls_are_answered_in_every_revision() {
    for revision in over_one_endpoint() {
        let (served, _) = server();
        let user = ready(served, revision).await;
        let calls: Vec<_> = (0..32)
            .map(|n| user.call("tools/call", tool("echo", json!({ "n": n }))))
            .collect();
        for (n, call) in calls.into_iter().enumerate() {
            let expected = json!({ "n": n }).to_string();
            assert_eq!(said(&call.outcome().await), json!(expected), "{revision}");
        }
        let unknown = user
            .call("tools/call", tool("nobody", json!({})))
            .outcome()
            .await;
        assert_eq!(code(&unknown), -32602, "{revision}");
        user.close().await.expect("a good end");
    }
}

#[tokio::test(start_paused = true)]
async fn progress_comes_before_the_result_in_every_revision() {
    for revision in over_one_endpoint() {
        let (served, _) = server();
        let user = ready(served, revision).await;
        let Value::Object(params) = tool("progress", json!({ "steps": 5 })) else {
            unreachable!()
        };
        let mut call = pintle_proto::NewCall::new("tools/call", params);
        call.wants_progress = true;
        let mut call = user.peer.call(call).expect("it may be called");
        let mut steps = Vec::new();
        loop {
            match std::future::poll_fn(|task| call.poll_step(task)).await {
                pintle_runtime::Step::Progress(progress) => steps.push(progress.progress),
                pintle_runtime::Step::Done(outcome) => {
                    assert_eq!(said(&outcome), json!("done"));
                    break;
                }
            }
        }
        assert_eq!(steps, [1.0, 2.0, 3.0, 4.0, 5.0], "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_server_asks_back_in_every_revision_with_sessions() {
    for revision in over_one_endpoint().filter(|revision| revision.has(Feature::HttpSessions)) {
        let (served, _) = server();
        let user = ready(served, revision).await;
        let roots = user
            .call("tools/call", tool("roots", json!({})))
            .outcome()
            .await;
        assert_eq!(said(&roots), json!("0 roots"), "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn changes_are_received_on_the_stream_of_the_session() {
    let (served, _) = server();
    let user = ready(served, Revision::LATEST_LEGACY).await;
    let changed = user
        .call("tools/call", tool("change", json!({})))
        .outcome()
        .await;
    assert_eq!(said(&changed), json!("changed"));
    sleep(SECOND).await;
    assert_eq!(user.received(), ["notifications/tools/list_changed"]);
}

// spec: 2026-07-28 N-CANC-01
// spec: 2025-11-25 TRANS-HTTP-27
#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_ends_its_handler_in_every_revision() {
    for revision in over_one_endpoint() {
        let (served, counts) = server();
        let user = ready(served, revision).await;
        let call = user.call("tools/call", tool("hang", json!({})));
        sleep(SECOND).await;
        assert_eq!((counts.started(), counts.dropped()), (1, 0), "{revision}");
        drop(call);
        sleep(SECOND).await;
        assert_eq!(counts.dropped(), 1, "{revision}");
    }
}

// spec: 2026-07-28 N-XHDR-02, N-XHDR-16
#[tokio::test(start_paused = true)]
async fn the_server_compares_arguments_with_annotated_headers() {
    let (served, _) = server();
    let user = ready(served, Revision::LATEST).await;
    let call = |params: Vec<(Box<str>, Box<str>)>| {
        let Value::Object(message) = tool("regional", json!({ "region": " Malm\u{f6} " })) else {
            unreachable!()
        };
        let mut call = pintle_proto::NewCall::new("tools/call", message);
        let mut routing = pintle_proto::Routing::new("regional");
        routing.params = params;
        call.routing = Some(std::sync::Arc::new(routing));
        user.peer.call(call).expect("it may be called")
    };
    let said = call(vec![("Region".into(), " Malm\u{f6} ".into())]);
    assert!(said.outcome().await.is_ok());
    let other = call(vec![("Region".into(), "Malm\u{f6}".into())]);
    assert_eq!(code(&other.outcome().await), -32020);
    let missing = call(Vec::new());
    assert_eq!(code(&missing.outcome().await), -32020);
}
