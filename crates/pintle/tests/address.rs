//! Clients of servers behind a URL, against a server that a test scripts: in memory, on a paused
//! clock.

mod headers;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use pintle::client::Client;
use pintle::http::client::{
    EndpointUrl, HttpClient, HttpClientBody, HttpClientError, HttpClientOptions, HttpConnect,
};
use pintle::runtime::sync::Mutex;
use serde_json::{Value, json};

type Script = Box<dyn Fn(&Said) -> (u16, Value) + Send + Sync>;

/// A server with a script.
pub(crate) struct Origin {
    script: Script,
    received: Mutex<Vec<Said>>,
}

/// A request to the server.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Value,
}

impl Said {
    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

impl Origin {
    /// A server that speaks the latest revision. `script` returns the answers: a status, and a `result`
    /// or an `error`.
    pub(crate) fn new(script: impl Fn(&Said) -> (u16, Value) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            script: Box::new(script),
            received: Mutex::default(),
        })
    }

    /// The requests of a method, in order.
    pub(crate) fn received(&self, method: &str) -> Vec<Said> {
        let received = self.received.lock();
        received
            .iter()
            .filter(|said| said.method() == method)
            .cloned()
            .collect()
    }

    /// A client of the server.
    pub(crate) async fn client(self: &Arc<Self>) -> Client {
        let url = EndpointUrl::parse("https://origin.example/mcp").expect("a URL");
        let options = HttpClientOptions::default();
        let target = HttpConnect::over(Arc::clone(self), url, &options).expect("no header");
        Client::connect(target).await.expect("a conversation")
    }
}

impl HttpClient for Origin {
    async fn fetch(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<HttpClientBody>, HttpClientError> {
        let (parts, body) = request.into_parts();
        let said = Said {
            headers: parts.headers,
            body: serde_json::from_slice(&body).expect("a message"),
        };
        let (status, mut answer) = match said.method() {
            "server/discover" => (200, json!({ "result": discovered() })),
            _ => (self.script)(&said),
        };
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = said.body["id"].clone();
        self.received.lock().push(said);
        let mut response = Response::new(HttpClientBody::whole(answer.to_string()));
        *response.status_mut() = StatusCode::from_u16(status).expect("a status");
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        Ok(response)
    }
}

fn discovered() -> Value {
    json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
        "ttlMs": 0, "cacheScope": "private",
    })
}
