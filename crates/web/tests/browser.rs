//! Sends the requests of a browser.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pintle_showcase::ShowcaseOptions;
use pintle_web::{OneTarget, Target, Targets, Web, WebOptions};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// An event that takes longer will not come.
const LATE: Duration = Duration::from_secs(60);

/// A page, and a browser that has its URL.
pub(crate) struct Browser {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    serving: Option<JoinHandle<()>>,
}

/// A response of the page, as text.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Browser {
    /// Opens the page of some servers.
    pub(crate) async fn open(targets: impl Targets, options: WebOptions) -> Self {
        let web = Web::bind(([127, 0, 0, 1], 0).into(), targets, options);
        let web = web.await.expect("listens");
        let mut browser = Self::at(&web.url());
        let serving = tokio::spawn(web.serve(std::future::pending()));
        browser.serving = Some(serving);
        browser
    }

    /// Opens a page that another program serves.
    pub(crate) fn at(url: &str) -> Self {
        let rest = url.strip_prefix("http://").expect("http");
        let (address, token) = rest.split_once("/#").expect("a token");
        Self {
            address: address.parse().expect("an address"),
            token: token.to_owned(),
            serving: None,
        }
    }

    /// Opens the page of the showcase.
    pub(crate) async fn showcase(options: WebOptions) -> Self {
        Self::open(showcase().await, options).await
    }

    /// Returns the headers of a request of the page.
    pub(crate) fn headers(&self) -> Vec<(&'static str, String)> {
        vec![
            ("Host", self.address.to_string()),
            ("Origin", format!("http://{}", self.address)),
            ("Pintle-Token", self.token.clone()),
            ("Content-Type", "application/json".to_owned()),
        ]
    }

    /// Sends a request of the page, and returns its answer.
    pub(crate) async fn post(&self, name: &str, body: Value) -> Value {
        let body = body.to_string();
        let path = format!("/api/{name}");
        let response = self.send("POST", &path, &self.headers(), &body).await;
        serde_json::from_str(&response.body).unwrap_or_else(|_| panic!("{response:?}"))
    }

    /// Connects to the showcase, in a revision.
    pub(crate) async fn connect(&self, revision: &str) -> Value {
        let body = json!({ "target": "showcase", "revision": revision });
        let connected = self.post("connect", body).await;
        assert_eq!(connected["server"]["revision"], revision, "{connected}");
        connected
    }

    /// Waits for an event of a type, after those of number `after`. Returns the event.
    pub(crate) async fn event(&self, kind: &str, after: u64) -> Value {
        let found = timeout(LATE, self.next_event(kind, after)).await;
        found.unwrap_or_else(|_| panic!("no event {kind}"))
    }

    async fn next_event(&self, kind: &str, mut after: u64) -> Value {
        loop {
            let page = self.post("events", json!({ "after": after })).await;
            let events = page["events"].as_array().expect("events");
            if let Some(event) = events.iter().find(|event| event["type"] == kind) {
                return event.clone();
            }
            after = page["next"].as_u64().expect("a number");
        }
    }

    /// Sends any request on a connection of its own.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, String)],
        body: &str,
    ) -> Response {
        let mut stream = self.begin(method, path, headers, body).await;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.expect("a response");
        let text = String::from_utf8(bytes).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).expect("a status");
        Response {
            status: status.parse().expect("a number"),
            head: head.to_lowercase(),
            body: body.to_owned(),
        }
    }

    /// Sends a request, and does not wait for the response.
    pub(crate) async fn begin(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, String)],
        body: &str,
    ) -> TcpStream {
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        let mut stream = TcpStream::connect(self.address).await.expect("connects");
        // A server that rejects the head may close before the body arrived.
        let _ = stream.write_all(text.as_bytes()).await;
        stream
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if let Some(serving) = &self.serving {
            serving.abort();
        }
    }
}

/// Returns the showcase as the only server.
pub(crate) async fn showcase() -> OneTarget {
    let service = pintle_showcase::service(ShowcaseOptions::default()).await;
    let service = Arc::new(service.expect("starts"));
    let connect = pintle_client::InProcess::new(service);
    OneTarget::from(Target::new(
        "showcase",
        pintle_runtime::BoxConnect::new(connect),
    ))
}
