//! A server to ask, and short ways to ask it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use pintle_http::{HttpOptions, ResponseBody};
use pintle_model::{
    CallToolResult, ContentBlock, Error, ErrorCode, Implementation, LoggingLevel,
    ServerCapabilities,
};
use pintle_proto::{Change, IncomingNotice, Rendered, Reply, ServerProfile};
use pintle_runtime::layers::TimeoutLayer;
use pintle_runtime::{BoxService, Context, EngineHandle, ParamHeader, Principal, Service};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tower_layer::Layer;

pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The service under test, and its records for the assertions.
#[derive(Clone, Default)]
pub(crate) struct Demo {
    pub(crate) calls: Arc<Counts>,
    // All replicas publish the changes of each.
    engine_handles: Arc<Mutex<Vec<Weak<dyn EngineHandle>>>>,
}

#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) started: AtomicUsize,
    pub(crate) finished: AtomicUsize,
    pub(crate) dropped: AtomicUsize,
    pub(crate) notified: AtomicUsize,
    changed: Notify,
    gate: Notify,
}

impl Counts {
    pub(crate) fn started(&self) -> usize {
        self.started.load(Ordering::SeqCst)
    }

    pub(crate) fn finished(&self) -> usize {
        self.finished.load(Ordering::SeqCst)
    }

    pub(crate) fn dropped(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }

    pub(crate) fn notified(&self) -> usize {
        self.notified.load(Ordering::SeqCst)
    }

    /// Lets a call of the tool `gated` go on.
    pub(crate) fn open_gate(&self) {
        self.gate.notify_one();
    }

    /// Waits until as many calls have begun, or left, as it takes.
    pub(crate) async fn until(&self, is_so: impl Fn(&Self) -> bool) {
        loop {
            let changed = self.changed.notified();
            if is_so(self) {
                return;
            }
            changed.await;
        }
    }
}

/// Counts a handler in, and how it left.
struct Presence(Arc<Counts>, bool);

impl Presence {
    fn new(counts: &Arc<Counts>) -> Self {
        counts.started.fetch_add(1, Ordering::SeqCst);
        counts.changed.notify_waiters();
        Self(Arc::clone(counts), false)
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let count = if self.1 {
            &self.0.finished
        } else {
            &self.0.dropped
        };
        count.fetch_add(1, Ordering::SeqCst);
        self.0.changed.notify_waiters();
    }
}

/// Speaks to its conversation when it is dropped.
struct PartingWords(Context);

impl Drop for PartingWords {
    fn drop(&mut self) {
        self.0.log(LoggingLevel::Error, None, "farewell");
    }
}

impl Service for Demo {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        let mut presence = Presence::new(&self.calls);
        let request = cx.request();
        let params: Value = serde_json::from_str(request.params.text()).expect("an object");
        if params["name"] == "picture" {
            presence.1 = true;
            return picture(&params["arguments"], &cx).await;
        }
        let result = match request.method.as_str() {
            "tools/list" => Ok(json!({ "tools": [] })),
            "tools/call" => self.call_tool(&params, &cx).await,
            "resources/read" => Err(Error::invalid_params("no such resource")),
            method => Err(Error::method_not_found(method)),
        };
        presence.1 = true;
        let json = result?.to_string().into_bytes();
        Ok(Reply::Complete(Rendered::from_object(json.into(), None)))
    }

    fn profile(&self) -> Arc<ServerProfile> {
        let capabilities = json!({
            "tools": { "listChanged": true }, "logging": {}, "resources": { "subscribe": true, "listChanged": true },
        });
        let capabilities: ServerCapabilities =
            serde_json::from_value(capabilities).expect("capabilities");
        Arc::new(ServerProfile::new(
            Implementation::new("demo", "1.0.0"),
            capabilities,
        ))
    }

    fn notified(&self, _notified: IncomingNotice) {
        self.calls.notified.fetch_add(1, Ordering::SeqCst);
    }

    fn attach(&self, engine_handle: Weak<dyn EngineHandle>) {
        self.engine_handles
            .lock()
            .expect("no panic")
            .push(engine_handle);
    }

    fn param_headers(&self, tool: &str, principal: Option<&Principal>) -> Arc<[ParamHeader]> {
        match tool {
            "regional" if principal.is_none_or(|principal| principal.has_scope("read")) => {
                Arc::new([ParamHeader::new("Region", vec![Box::from("region")])])
            }
            _ => Arc::default(),
        }
    }
}

impl Demo {
    async fn call_tool(&self, params: &Value, cx: &Context) -> Result<Value, Error> {
        let arguments = &params["arguments"];
        match params["name"].as_str().unwrap_or_default() {
            "echo" | "regional" => Ok(text(&arguments.to_string())),
            "slow" => {
                tokio::time::sleep(Duration::from_secs(
                    arguments["seconds"].as_u64().unwrap_or(1),
                ))
                .await;
                Ok(text("done"))
            }
            "hang" => std::future::pending().await,
            "gated" => {
                self.calls.gate.notified().await;
                Ok(text("done"))
            }
            "parting words" => {
                let _speaks_when_dropped = PartingWords(cx.clone());
                std::future::pending().await
            }
            "panic" => panic!("on purpose, with a /secret/path"),
            "panic later" => {
                tokio::time::sleep(Duration::from_secs(1)).await;
                panic!("on purpose, with a /secret/path")
            }
            "progress" => {
                for step in 1..=arguments["steps"].as_u64().unwrap_or(3) {
                    cx.progress(step as f64, None, ()).await;
                }
                Ok(text("done"))
            }
            "chat" => {
                cx.progress(1.0, None, ()).await;
                tokio::time::sleep(Duration::from_secs(
                    arguments["seconds"].as_u64().unwrap_or(1),
                ))
                .await;
                Ok(text("done"))
            }
            "steady" => {
                for step in 1..=arguments["steps"].as_u64().unwrap_or(3) {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    cx.progress(step as f64, None, ()).await;
                }
                Ok(text("done"))
            }
            "part" => {
                let parted = cx.close_stream();
                tokio::time::sleep(Duration::from_secs(1)).await;
                Ok(text(&format!("parted: {parted}")))
            }
            "log" => {
                cx.log(LoggingLevel::Error, None, "said");
                Ok(text("done"))
            }
            "needy" => Err(Error::new(
                ErrorCode::MISSING_CLIENT_CAPABILITY,
                "needs sampling",
            )),
            "roots later" => {
                tokio::time::sleep(Duration::from_secs(2)).await;
                Ok(match cx.list_roots().await {
                    Ok(roots) => text(&format!("{} roots", roots.len())),
                    Err(error) => text(&error.to_string()),
                })
            }
            "roots" => Ok(match cx.list_roots().await {
                Ok(roots) => text(&format!("{} roots", roots.len())),
                Err(error) => text(&error.to_string()),
            }),
            "change" => {
                self.publish(&Change::Tools);
                Ok(text("changed"))
            }
            "update" => {
                self.publish(&Change::Resource("a:1".into()));
                Ok(text("updated"))
            }
            name => Err(Error::invalid_params(format!("unknown tool: {name}"))),
        }
    }

    fn publish(&self, change: &Change) {
        let engine_handles = self.engine_handles.lock().expect("no panic").clone();
        engine_handles
            .iter()
            .filter_map(Weak::upgrade)
            .for_each(|engine_handle| engine_handle.engine(&mut |engine| engine.publish(change)));
    }
}

/// A picture of `bytes` bytes, after `steps` notices of progress.
async fn picture(arguments: &Value, cx: &Context) -> Result<Reply, Error> {
    for step in 1..=arguments["steps"].as_u64().unwrap_or_default() {
        cx.progress(step as f64, None, ()).await;
    }
    let bytes = arguments["bytes"].as_u64().unwrap_or_default() as usize;
    let content = vec![
        ContentBlock::text("before"),
        ContentBlock::image(vec![7; bytes], "image/png"),
        ContentBlock::text("after"),
    ];
    Reply::complete(CallToolResult::new(content), cx.terms().revision)
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

pub(crate) use crate::replicated::Endpoint;

pub(crate) fn endpoint() -> Endpoint {
    endpoint_with(HttpOptions::default()).0
}

pub(crate) fn endpoint_with(options: HttpOptions) -> (Endpoint, Arc<Counts>) {
    let demo = Demo::default();
    let calls = Arc::clone(&demo.calls);
    let endpoint = Endpoint::new(&options, || BoxService::new(demo.clone()));
    (endpoint, calls)
}

/// An endpoint whose handlers may take as long as `timeout`.
pub(crate) fn endpoint_within(timeout: Duration, options: HttpOptions) -> (Endpoint, Arc<Counts>) {
    let demo = Demo::default();
    let calls = Arc::clone(&demo.calls);
    let layer = TimeoutLayer::new(timeout);
    let endpoint = Endpoint::new(&options, || BoxService::new(layer.layer(demo.clone())));
    (endpoint, calls)
}

/// A request about to be made.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) verb: &'static str,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

pub(crate) fn ask(verb: &'static str) -> Ask {
    let ask = Ask {
        verb,
        headers: Vec::new(),
        body: Vec::new(),
    };
    ask.with("host", "127.0.0.1:8000")
}

pub(crate) fn post(body: impl Into<Vec<u8>>) -> Ask {
    let mut ask = ask("POST")
        .with("content-type", "application/json")
        .with("accept", "application/json, text/event-stream");
    ask.body = body.into();
    ask
}

/// A request of 2026-07-28, with everything it must have.
pub(crate) fn modern(id: impl Into<Value>, method: &str, params: Value) -> Ask {
    let mut params = params;
    params["_meta"][VERSION] = json!("2026-07-28");
    params["_meta"][CAPABILITIES] = json!({});
    let subject = params
        .get("name")
        .or(params.get("uri"))
        .and_then(Value::as_str)
        .map(str::to_owned);
    let body = json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params });
    let ask = post(body.to_string())
        .with("mcp-protocol-version", "2026-07-28")
        .with("mcp-method", method);
    match subject {
        Some(subject) => ask.with("mcp-name", &subject),
        None => ask,
    }
}

pub(crate) fn modern_tool(id: impl Into<Value>, name: &str, arguments: Value) -> Ask {
    modern(
        id,
        "tools/call",
        json!({ "name": name, "arguments": arguments }),
    )
}

pub(crate) fn list() -> Ask {
    modern(7, "tools/list", json!({}))
}

/// A request of the handshake era.
pub(crate) fn legacy(id: impl Into<Value>, method: &str, params: Value) -> Ask {
    post(
        json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
            .to_string(),
    )
}

pub(crate) fn initialize(revision: &str) -> Ask {
    let client = json!({ "name": "test", "version": "0" });
    legacy(
        0,
        "initialize",
        json!({ "protocolVersion": revision, "capabilities": { "roots": {} }, "clientInfo": client }),
    )
}

pub(crate) fn notice(method: &str) -> Ask {
    post(json!({ "jsonrpc": "2.0", "method": method }).to_string())
}

impl Ask {
    /// Adds a header.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Puts a header in place of those of this name.
    pub(crate) fn having(self, name: &str, value: &str) -> Self {
        self.without(name).with(name, value)
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers
            .retain(|(own, _)| !own.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn in_session(self, id: &str) -> Self {
        self.having("mcp-session-id", id)
    }

    pub(crate) fn request(self) -> Request<Full<Bytes>> {
        let mut request = Request::builder().method(self.verb).uri("/mcp");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request
            .body(Full::new(self.body.into()))
            .expect("a request")
    }

    pub(crate) async fn of(self, endpoint: &Endpoint) -> Response<ResponseBody> {
        endpoint.call(self.request()).await
    }

    /// Returns the status and the answer, from JSON or a stream; null without one, or if it is text.
    pub(crate) async fn json(self, endpoint: &Endpoint) -> (u16, Value) {
        let response = self.of(endpoint).await;
        let status = response.status().as_u16();
        (status, body_json(response).await)
    }

    /// The messages of an answer that is a stream of events.
    pub(crate) async fn events(self, endpoint: &Endpoint) -> Vec<Value> {
        let response = self.of(endpoint).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let bytes = body_bytes(response).await;
        messages(std::str::from_utf8(&bytes).expect("text"))
    }
}

async fn body_bytes(response: Response<ResponseBody>) -> Bytes {
    let body = response.into_body().collect().await;
    body.expect("a body").to_bytes()
}

pub(crate) async fn body_json(response: Response<ResponseBody>) -> Value {
    let kind = response.headers().get("content-type").cloned();
    let is_stream = kind
        .as_ref()
        .is_some_and(|kind| kind == "text/event-stream");
    let is_text = kind.is_some_and(|kind| kind == "text/plain; charset=utf-8");
    let bytes = body_bytes(response).await;
    if bytes.is_empty() || is_text {
        return Value::Null;
    }
    if is_stream {
        let mut said = messages(std::str::from_utf8(&bytes).expect("text"));
        return said.pop().unwrap_or_default();
    }
    serde_json::from_slice(&bytes).expect("JSON")
}

/// Returns the messages in a piece of an event stream. Priming events are skipped.
pub(crate) fn messages(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| !data.is_empty())
        .map(|data| serde_json::from_str(data).expect("one message per event"))
        .collect()
}

/// The next piece of a stream.
pub(crate) async fn piece(body: &mut ResponseBody) -> Option<String> {
    let frame = body.frame().await?.expect("it never fails");
    Some(String::from_utf8(frame.into_data().expect("data").to_vec()).expect("text"))
}

/// Opens a session and confirms it.
pub(crate) async fn open(endpoint: &Endpoint) -> String {
    open_speaking(endpoint, "2025-11-25").await
}

/// Opens a session of a revision and confirms it.
pub(crate) async fn open_speaking(endpoint: &Endpoint, revision: &str) -> String {
    let response = initialize(revision).of(endpoint).await;
    assert_eq!(response.status(), StatusCode::OK);
    let id = response.headers()["mcp-session-id"]
        .to_str()
        .expect("text")
        .to_owned();
    let confirmed = notice("notifications/initialized")
        .in_session(&id)
        .of(endpoint)
        .await;
    assert_eq!(confirmed.status(), StatusCode::ACCEPTED);
    id
}

/// Opens a stream of a session, and reads its priming event.
pub(crate) async fn listen(endpoint: &Endpoint, id: &str) -> ResponseBody {
    let response = get().in_session(id).of(endpoint).await;
    assert_eq!(response.status(), StatusCode::OK);
    let mut body = response.into_body();
    let first = piece(&mut body).await.expect("where to come back to");
    assert!(messages(&first).is_empty(), "{first}");
    body
}

/// A request for a stream.
pub(crate) fn get() -> Ask {
    ask("GET").with("accept", "text/event-stream")
}
