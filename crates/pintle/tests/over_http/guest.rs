//! A client over HTTP without a socket: it sends requests to the tower service.

use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use pintle::http::{HttpService, ResponseBody, ServeHttp as _};
use pintle::prelude::*;
use pintle::server::App;
use serde_json::{Value, json};
use tower_service::Service as _;

/// Every revision that is served over Streamable HTTP.
pub(crate) const REVISIONS: [&str; 4] = ["2025-03-26", "2025-06-18", "2025-11-25", MODERN];
/// The revision without sessions.
pub(crate) const MODERN: &str = "2026-07-28";

/// A client of one revision.
pub(crate) struct Guest {
    service: HttpService<App>,
    revision: &'static str,
    session: Option<String>,
    next_id: i64,
    /// The principal that its requests are authorized for.
    principal: Option<Principal>,
}

/// A server as a tower service.
pub(crate) fn service(server: Server) -> HttpService<App> {
    server.into_http().expect("starts")
}

impl Guest {
    pub(crate) async fn of(server: Server, revision: &'static str) -> Self {
        Self::on(service(server), revision).await
    }

    /// A client of a shared endpoint; it performs the handshake if its revision has one.
    pub(crate) async fn on(service: HttpService<App>, revision: &'static str) -> Self {
        Self::of_principal(service, revision, None).await
    }

    /// A client whose requests are authorized for `principal`.
    pub(crate) async fn of_principal(
        service: HttpService<App>,
        revision: &'static str,
        principal: Option<Principal>,
    ) -> Self {
        let mut guest = Self {
            service,
            revision,
            session: None,
            next_id: 0,
            principal,
        };
        if revision != MODERN {
            guest.shake_hands().await;
        }
        guest
    }

    async fn shake_hands(&mut self) {
        let client = json!({ "name": "t", "version": "1" });
        let params =
            json!({ "protocolVersion": self.revision, "capabilities": {}, "clientInfo": client });
        let request = self.request("initialize", params);
        let response = self.post(&request).await;
        let session = response.headers().get("mcp-session-id").expect("a session");
        self.session = Some(session.to_str().expect("visible").to_owned());
        let welcome = messages(response).await;
        assert_eq!(welcome[0]["result"]["protocolVersion"], self.revision);
        let ready = self
            .post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        assert_eq!(ready.status(), StatusCode::ACCEPTED);
    }

    /// Sends later requests to another replica.
    pub(crate) fn moves(&mut self, service: HttpService<App>) {
        self.service = service;
    }

    /// Changes the principal of later requests.
    pub(crate) fn becomes(&mut self, principal: Option<Principal>) {
        self.principal = principal;
    }

    pub(crate) fn has_session(&self) -> bool {
        self.session.is_some()
    }

    /// Returns all messages for a request: notifications first, the answer last.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Vec<Value> {
        let request = self.request(method, params);
        messages(self.post(&request).await).await
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Vec<Value> {
        let params =
            json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": "p" } });
        self.ask("tools/call", params).await
    }

    /// Calls a tool, and cancels the call after its first progress notification. The revision decides
    /// how: by the end of the stream, or by a notification.
    pub(crate) async fn cancel(&mut self, tool: &str) {
        let request = self.request(
            "tools/call",
            json!({ "name": tool, "_meta": { "progressToken": "p" } }),
        );
        let mut body = self.post(&request).await.into_body();
        let first = body
            .frame()
            .await
            .expect("a stream")
            .expect("never fails")
            .into_data()
            .expect("data");
        assert!(
            String::from_utf8_lossy(&first).contains("notifications/progress"),
            "{first:?}"
        );
        if self.has_session() {
            let params = json!({ "requestId": request["id"] });
            let cancelled =
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            assert_eq!(self.post(&cancelled).await.status(), StatusCode::ACCEPTED);
            let rest = body.collect().await.expect("never fails").to_bytes();
            assert!(
                !String::from_utf8_lossy(&rest).contains("data: {"),
                "{rest:?}"
            );
        }
    }

    pub(crate) fn request(&mut self, method: &str, mut params: Value) -> Value {
        self.next_id += 1;
        if self.revision == MODERN {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
            let able = &mut params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
            if able.is_null() {
                *able = json!({});
            }
        }
        json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params })
    }

    pub(crate) async fn post(&mut self, message: &Value) -> Response<ResponseBody> {
        self.post_as(message, message["method"].as_str()).await
    }

    /// Posts a message without the headers of the newest revision.
    pub(crate) async fn post_bare(&mut self, message: &Value) -> Response<ResponseBody> {
        let request = Request::post("http://localhost/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(message.to_string());
        let request = request.expect("a request");
        self.service.call(request).await.expect("never fails")
    }

    /// Posts a message with a header that names a method.
    pub(crate) async fn post_as(
        &mut self,
        message: &Value,
        method: Option<&str>,
    ) -> Response<ResponseBody> {
        let mut request = Request::post("http://localhost/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if let Some(session) = &self.session {
            request = request
                .header("mcp-session-id", session)
                .header("mcp-protocol-version", self.revision);
        }
        if self.revision == MODERN {
            let repeated = [
                ("mcp-method", &json!(method)),
                ("mcp-name", &message["params"]["name"]),
                ("mcp-name", &message["params"]["uri"]),
                ("mcp-name", &message["params"]["taskId"]),
                ("mcp-param-text", &message["params"]["arguments"]["text"]),
            ];
            request = request.header("mcp-protocol-version", MODERN);
            for (header, value) in repeated
                .into_iter()
                .filter_map(|(header, value)| Some((header, value.as_str()?)))
            {
                request = request.header(header, value);
            }
        }
        let mut request = request.body(message.to_string()).expect("a request");
        if let Some(principal) = &self.principal {
            request.extensions_mut().insert(principal.clone());
        }
        self.service.call(request).await.expect("never fails")
    }
}

/// The messages of a response, which is JSON or a stream of events.
pub(crate) async fn messages(response: Response<ResponseBody>) -> Vec<Value> {
    let is_stream = response.headers()["content-type"] == "text/event-stream";
    let body = response
        .into_body()
        .collect()
        .await
        .expect("never fails")
        .to_bytes();
    let body = std::str::from_utf8(&body).expect("text");
    let parse =
        |text: &str| serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {text:?}"));
    match is_stream {
        true => body
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .map(str::trim)
            .filter(|data| !data.is_empty())
            .map(parse)
            .collect(),
        false => vec![parse(body)],
    }
}
