//! Handlers that panic, hang or are slow: the client is answered and the endpoint lives on, in
//! every revision and with or without sessions.

use std::time::Duration;

use pintle_http::{HttpOptions, LegacyMode};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::common::{
    Ask, Endpoint, endpoint_within, initialize, legacy, modern_tool, notice, post,
};

/// How a client speaks to the endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientKind {
    Session(&'static str),
    Sessionless(&'static str),
    Modern,
}

const CLIENT_KINDS: [ClientKind; 7] = [
    ClientKind::Session("2025-03-26"),
    ClientKind::Session("2025-06-18"),
    ClientKind::Session("2025-11-25"),
    ClientKind::Sessionless("2025-03-26"),
    ClientKind::Sessionless("2025-06-18"),
    ClientKind::Sessionless("2025-11-25"),
    ClientKind::Modern,
];

/// How a handler fails its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HandlerError {
    PanicsAtOnce,
    PanicsLater,
    HangsAndIsCancelled,
    HangsAndLosesItsClient,
    IsTooSlow,
}

const HANDLER_ERRORS: [HandlerError; 5] = [
    HandlerError::PanicsAtOnce,
    HandlerError::PanicsLater,
    HandlerError::HangsAndIsCancelled,
    HandlerError::HangsAndLosesItsClient,
    HandlerError::IsTooSlow,
];

/// No handler may take longer.
const TIMEOUT: Duration = Duration::from_secs(10);

struct Client {
    endpoint: Endpoint,
    client_kind: ClientKind,
    session: Option<String>,
}

impl Client {
    async fn connect(endpoint: Endpoint, client_kind: ClientKind) -> Self {
        let mut client = Self {
            endpoint,
            client_kind,
            session: None,
        };
        if let ClientKind::Session(revision) = client_kind {
            let opened = initialize(revision).of(&client.endpoint).await;
            let id = opened.headers()["mcp-session-id"].to_str().expect("text");
            client.session = Some(id.to_owned());
            let confirmed = client.put(notice("notifications/initialized"));
            assert_eq!(confirmed.json(&client.endpoint).await.0, 202);
        }
        client
    }

    fn put(&self, ask: Ask) -> Ask {
        match (self.client_kind, &self.session) {
            (ClientKind::Session(revision), Some(id)) => {
                ask.in_session(id).with("mcp-protocol-version", revision)
            }
            (ClientKind::Sessionless(revision), _) => ask.with("mcp-protocol-version", revision),
            _ => ask,
        }
    }

    fn tool(&self, id: i64, name: &str, arguments: Value) -> Ask {
        if self.client_kind == ClientKind::Modern {
            return modern_tool(id, name, arguments);
        }
        let params = json!({ "name": name, "arguments": arguments });
        self.put(legacy(id, "tools/call", params))
    }

    async fn cancel(&self, request: i64) {
        let params = json!({ "requestId": request });
        let body =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        let ask = match self.client_kind {
            ClientKind::Modern => post(body.to_string()).with("mcp-protocol-version", "2026-07-28"),
            _ => self.put(post(body.to_string())),
        };
        assert_eq!(ask.json(&self.endpoint).await.0, 202);
    }

    /// Sends a request that fails, and checks the result.
    async fn cause(&self, handler_error: HandlerError) {
        match handler_error {
            HandlerError::PanicsAtOnce => self.expect_error("panic").await,
            HandlerError::PanicsLater => self.expect_error("panic later").await,
            HandlerError::IsTooSlow => self.expect_error("slow").await,
            HandlerError::HangsAndIsCancelled => self.cancel_a_call().await,
            HandlerError::HangsAndLosesItsClient => {
                let call = self.tool(7, "hang", json!({})).json(&self.endpoint);
                assert!(timeout(Duration::from_secs(1), call).await.is_err());
            }
        }
    }

    async fn expect_error(&self, tool: &str) {
        let arguments = json!({ "seconds": 1000 });
        let (status, body) = self.tool(7, tool, arguments).json(&self.endpoint).await;
        assert_eq!((status, &body["id"]), (200, &json!(7)), "{body}");
        assert_eq!(body["error"]["code"], json!(-32603));
        assert!(!body.to_string().contains("secret"), "{body}");
    }

    /// A session ends the response at once. Without a session, the notification has no target, so the
    /// total timeout ends the call.
    async fn cancel_a_call(&self) {
        let call = self.tool(7, "hang", json!({})).of(&self.endpoint);
        let cancelling = async {
            sleep(Duration::from_secs(1)).await;
            self.cancel(7).await;
        };
        let (response, ()) = tokio::join!(call, cancelling);
        let kind = response.headers()["content-type"].to_str().expect("text");
        let expected = match self.client_kind {
            ClientKind::Session(_) => "text/event-stream",
            ClientKind::Sessionless(_) | ClientKind::Modern => "application/json",
        };
        assert_eq!(kind, expected);
    }
}

// hardening: H-138, H-182, H-183
#[tokio::test(start_paused = true)]
async fn a_failing_handler_does_not_affect_other_clients() {
    for client_kind in CLIENT_KINDS {
        for handler_error in HANDLER_ERRORS {
            let mut options = HttpOptions::default();
            if matches!(client_kind, ClientKind::Sessionless(_)) {
                options.legacy = LegacyMode::Sessionless;
            }
            let (endpoint, calls) = endpoint_within(TIMEOUT, options);
            let client = Client::connect(endpoint, client_kind).await;
            client.cause(handler_error).await;
            let echo = client.tool(8, "echo", json!({ "still": "here" }));
            let (status, body) = echo.json(&client.endpoint).await;
            assert_eq!(
                (status, &body["id"]),
                (200, &json!(8)),
                "{client_kind:?} {handler_error:?}"
            );
            assert!(
                body["result"].is_object(),
                "{client_kind:?} {handler_error:?} {body}"
            );
            sleep(TIMEOUT).await;
            let left = (calls.started(), calls.dropped() + calls.finished());
            assert_eq!(
                left,
                (2, 2),
                "no handler stays behind: {client_kind:?} {handler_error:?}"
            );
        }
    }
}
