//! Handlers during a request and after its end.

#![expect(
    deprecated,
    reason = "rmcp deprecates log messages, and handlers send them"
)]

use std::sync::Arc;

use pintle::prelude::*;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, tool, tool_handler, tool_router};
use serde_json::json;
use tokio::sync::{Mutex, mpsc};

use crate::peer::Peer;

const LEGACY: &str = "2025-11-25";

/// A handler whose work outlives its requests, and reports to a later one.
struct Watchman {
    reports: Arc<Mutex<mpsc::Receiver<String>>>,
    reporter: mpsc::Sender<String>,
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Watchman {
    fn new() -> Self {
        let (reporter, reports) = mpsc::channel(1);
        Self {
            reports: Arc::new(Mutex::new(reports)),
            reporter,
            tool_router: Self::tool_router(),
        }
    }

    #[tool(description = "Waits for its cancellation.")]
    async fn wait(&self, context: RequestContext<RoleServer>) {
        let (reporter, ct) = (self.reporter.clone(), context.ct.clone());
        tokio::spawn(async move {
            ct.cancelled().await;
            reporter.send("cancelled".to_owned()).await
        });
        std::future::pending().await
    }

    #[tool(description = "Keeps the peer of its request.")]
    async fn keep(&self, context: RequestContext<RoleServer>) {
        let (reporter, ct) = (self.reporter.clone(), context.ct.clone());
        tokio::spawn(async move {
            ct.cancelled().await;
            let sent = context.peer.notify_tool_list_changed().await;
            reporter.send(format!("sent: {}", sent.is_ok())).await
        });
    }

    #[tool(description = "Returns the next report.")]
    async fn report(&self) -> String {
        let report = self.reports.lock().await.recv().await;
        report.unwrap_or_default()
    }

    #[tool(description = "Logs a message.")]
    async fn log(&self, context: RequestContext<RoleServer>) -> String {
        let message = LoggingMessageNotificationParam::new(LoggingLevel::Error, json!("fire"));
        let logged = context.peer.notify_logging_message(message).await;
        format!("{:?}", logged.is_ok())
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Watchman {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_logging();
        ServerConfig::new(capabilities.build())
    }
}

#[tokio::test]
async fn a_cancelled_request_cancels_its_token() {
    let mut peer = Peer::of(pintle_rmcp::server(Watchman::new()), LEGACY).await;
    let id = peer.request("tools/call", json!({ "name": "wait" })).await;
    let params = json!({ "requestId": id });
    let cancelled = "notifications/cancelled";
    peer.send(&json!({ "jsonrpc": "2.0", "method": cancelled, "params": params }))
        .await;
    let report = peer.call("report", json!({})).await;
    assert_eq!(report["content"][0]["text"], "cancelled");
}

#[tokio::test]
async fn a_kept_peer_is_closed_after_its_request() {
    let mut peer = Peer::of(pintle_rmcp::server(Watchman::new()), LEGACY).await;
    peer.call("keep", json!({})).await;
    let report = peer.call("report", json!({})).await;
    assert_eq!(report["content"][0]["text"], "sent: false");
}

#[tokio::test]
async fn log_messages_reach_a_client_that_requested_them() {
    let mut peer = Peer::of(pintle_rmcp::server(Watchman::new()), LEGACY).await;
    peer.result("logging/setLevel", json!({ "level": "warning" }))
        .await;
    let logged = peer.call("log", json!({})).await;
    assert_eq!(logged["content"][0]["text"], "true");
    let message = peer.receive_method("notifications/message").await;
    assert_eq!(
        message["params"],
        json!({ "level": "error", "data": "fire" })
    );
}

#[tokio::test]
async fn a_handler_is_mounted_beside_other_tools() {
    let server = Server::new("port", "1")
        .add_tool(Tool::new("horn").handler(async || "tuut"))
        .mount("watch", pintle_rmcp::server(Watchman::new()));
    let mut peer = Peer::of(server, LEGACY).await;
    peer.call("watch_keep", json!({})).await;
    let report = peer.call("watch_report", json!({})).await;
    assert_eq!(report["content"][0]["text"], "sent: false");
    let horn = peer.call("horn", json!({})).await;
    assert_eq!(horn["content"][0]["text"], "tuut");
}
