//! Several replicas of one server over one store, in one process.

mod changes;
mod homes;
mod quotas;
mod store;

use std::sync::Arc;
use std::time::Duration;

use http::Request;
use http_body_util::BodyExt as _;
use pintle::http::{HttpService, ResponseBody};
use pintle::prelude::*;
use pintle::server::{App, Changes, StateBackend};
use pintle::store::Store;
use serde_json::{Value, json};
use tokio::time::sleep;
use tower_service::Service as _;

use crate::over_http::guest::service;
use store::Counted;

/// Longer than the reading of the news without a wake-up.
const A_WHILE: Duration = Duration::from_secs(6);

/// One process of the server.
struct Replica {
    service: HttpService<App>,
    changes: Changes,
}

/// The notices that a client receives on one stream.
struct Notices(ResponseBody);

/// Starts replicas over one store.
async fn replicas<const N: usize>(store: &Arc<Counted>) -> [Replica; N] {
    let mut replicas = Vec::new();
    for _ in 0..N {
        let store = Arc::clone(store) as Arc<dyn Store>;
        let state = StateBackend::open(store, None).await.expect("opens");
        let server = Server::new("harbour", "1.0.0")
            .resource_updates()
            .dynamic()
            .state_backend(state);
        let changes = server.handle().changes().clone();
        let service = service(server);
        replicas.push(Replica { service, changes });
    }
    replicas.try_into().ok().expect("as many")
}

impl Replica {
    /// Sends a request with these headers. Without a message it is a GET.
    async fn send(
        &self,
        message: Option<Value>,
        headers: &[(&str, &str)],
    ) -> http::Response<ResponseBody> {
        let method = if message.is_some() { "POST" } else { "GET" };
        let mut request = Request::builder()
            .method(method)
            .uri("http://localhost/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = message.map(|message| message.to_string());
        let request = request.body(body.unwrap_or_default()).expect("a request");
        let mut service = self.service.clone();
        service.call(request).await.expect("never fails")
    }

    /// Opens a session of a revision with a handshake.
    async fn open(&self) -> String {
        let client = json!({ "name": "t", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": client });
        let message = request(0, "initialize", params);
        let opened = self.send(Some(message), &[]).await;
        let id = opened.headers().get("mcp-session-id").expect("a session");
        id.to_str().expect("visible").to_owned()
    }

    /// Sends a request of a session, and returns the status and the body.
    async fn ask(&self, session: &str, method: &str, params: Value) -> (u16, String) {
        let headers = in_session(session);
        let answer = self.send(Some(request(1, method, params)), &headers).await;
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.expect("never fails");
        let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
        (status, text)
    }

    /// Opens the stream of a session.
    async fn stream(&self, session: &str) -> Notices {
        let answer = self.send(None, &in_session(session)).await;
        assert_eq!(answer.status(), 200);
        Notices(answer.into_body())
    }

    /// Listens with a filter, as a client of the revision without sessions.
    async fn listen(&self, filter: Value) -> Notices {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {} });
        let params = json!({ "notifications": filter, "_meta": meta });
        let message = request(1, "subscriptions/listen", params);
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "subscriptions/listen"),
        ];
        let answer = self.send(Some(message), &headers).await;
        assert_eq!(answer.status(), 200);
        Notices(answer.into_body())
    }
}

impl Notices {
    /// Returns the methods of the messages that arrive in a while, with the URI if there is one.
    async fn arrived(&mut self) -> Vec<String> {
        let mut arrived = Vec::new();
        let until = tokio::time::Instant::now() + A_WHILE;
        while let Ok(Some(frame)) = tokio::time::timeout_at(until, self.0.frame()).await {
            let data = frame.expect("never fails").into_data().expect("data");
            let text = String::from_utf8_lossy(&data).into_owned();
            let lines = text.lines().filter_map(|line| line.strip_prefix("data:"));
            for line in lines.map(str::trim).filter(|line| !line.is_empty()) {
                let message: Value = serde_json::from_str(line).expect("JSON");
                let name = message["method"].as_str().unwrap_or("an answer");
                let name = name.strip_prefix("notifications/").unwrap_or(name);
                let uri = message["params"]["uri"].as_str().unwrap_or_default();
                arrived.push(format!("{name} {uri}").trim().to_owned());
            }
        }
        arrived
    }
}

fn request(id: u32, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn in_session(session: &str) -> [(&str, &str); 2] {
    [
        ("mcp-session-id", session),
        ("mcp-protocol-version", "2025-11-25"),
    ]
}

/// Waits until the replicas have joined.
async fn settle() {
    sleep(A_WHILE).await;
}
