//! Tools, resources and prompts that are methods of one value.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pintle::prelude::*;
use pintle::server::{Args, NotFound};
use serde_json::json;

use crate::server::peer::{MODERN, Peer, REVISIONS};

/// A desk that counts closed tickets.
#[derive(Default)]
struct Desk {
    closed: AtomicU32,
}

#[tools]
impl Desk {
    const FEW: u32 = 1;

    fn count(&self) -> u32 {
        self.closed.load(Ordering::Relaxed)
    }

    /// Closes tickets.
    #[tool(idempotent, title = "Close")]
    async fn close(
        &self,
        /// How many.
        #[arg(default = Self::FEW, min = 1)]
        tickets: u32,
        ctx: Context,
    ) -> Result<String> {
        ctx.progress(1.0, None, ()).await;
        self.closed.fetch_add(tickets, Ordering::Relaxed);
        Ok(format!("{} closed", self.count()))
    }

    /// Copies nothing; its name is that of a method of `Arc`.
    #[tool(name = "copy")]
    fn clone(&self) -> u32 {
        self.count()
    }

    #[tool]
    async fn keep(self: Arc<Self>, all: Args<BTreeMap<String, u8>>) -> String {
        format!("{} {:?}", self.count(), all.0)
    }

    #[tool(blocking)]
    fn wait(&self) -> u32 {
        self.count()
    }

    /// Does not use the value.
    #[pintle::tool(read_only)]
    async fn greet(name: String) -> String {
        format!("hello, {name}")
    }

    #[resource("desk://closed/{unit}", complete(unit = ["tickets"]))]
    async fn closed(&self, unit: String) -> std::result::Result<String, NotFound> {
        match &*unit {
            "tickets" => Ok(self.count().to_string()),
            _ => Err(NotFound),
        }
    }

    /// Asks for a summary.
    #[prompt]
    async fn summary(&self, style: Option<String>) -> Vec<PromptMessage> {
        let style = style.unwrap_or_else(|| "short".to_owned());
        vec![PromptMessage::user(format!("{} {style}", self.count()))]
    }

    #[cfg(any())]
    #[tool]
    async fn absent(&self, missing: Missing) {}
}

// spec: 2026-07-28 N-TOOL-01
#[tokio::test]
async fn the_methods_of_a_value_share_it() {
    for revision in REVISIONS {
        let desk = Arc::new(Desk::default());
        let server = Server::new("desk", "1").methods(Arc::clone(&desk));
        let mut peer = Peer::of(server, revision).await;
        let text = async |peer: &mut Peer, tool: &str, arguments| {
            peer.call(tool, arguments).await["content"][0]["text"].take()
        };
        let closed = text(&mut peer, "close", json!({ "tickets": 2 })).await;
        assert_eq!(closed, "2 closed", "{revision}");
        assert_eq!(text(&mut peer, "close", json!({})).await, "3 closed");
        assert_eq!(text(&mut peer, "copy", json!({})).await, "3");
        assert_eq!(text(&mut peer, "wait", json!({})).await, "3");
        let kept = text(&mut peer, "keep", json!({ "a": 1 })).await;
        assert_eq!(kept, r#"3 {"a": 1}"#, "{revision}");
        let greeted = text(&mut peer, "greet", json!({ "name": "Ada" })).await;
        assert_eq!(greeted, "hello, Ada", "{revision}");
        let read = json!({ "uri": "desk://closed/tickets" });
        let read = peer.result("resources/read", read).await;
        assert_eq!(read["contents"][0]["text"], "3", "{revision}");
        let prompt = peer
            .result("prompts/get", json!({ "name": "summary" }))
            .await;
        assert_eq!(prompt["messages"][0]["content"]["text"], "3 short");
        assert_eq!(desk.count(), 3, "{revision}");
    }
}

#[tokio::test]
async fn a_method_has_the_options_of_a_function() {
    let server = Server::new("desk", "1").methods(Desk::default());
    let mut peer = Peer::of(server, MODERN).await;
    let tools = peer.result("tools/list", json!({})).await;
    let names = tools["tools"].as_array().expect("tools");
    let names: Vec<_> = names.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["close", "copy", "keep", "wait", "greet"]);
    let close = &tools["tools"][0];
    assert_eq!(close["description"], "Closes tickets.");
    assert_eq!(close["title"], "Close");
    assert_eq!(close["annotations"]["idempotentHint"], true);
    let tickets = &close["inputSchema"]["properties"]["tickets"];
    assert_eq!(tickets["description"], "How many.");
    assert_eq!(
        (&tickets["minimum"], &tickets["default"]),
        (&json!(1), &json!(1))
    );
    let wrong = peer.call("close", json!({ "tickets": 0 })).await;
    assert_eq!(wrong["isError"], true, "{wrong}");
}

/// A desk with a type parameter.
struct Other<T>(T);

#[tools]
impl<T> Other<T>
where
    T: ToString + Send + Sync + 'static,
{
    #[tool]
    async fn show(&self) -> String {
        self.0.to_string()
    }
}

#[tokio::test]
async fn methods_of_a_generic_type_are_tools() {
    let server = Server::new("other", "1").methods(Other(7));
    let mut peer = Peer::of(server, MODERN).await;
    let shown = peer.call("show", json!({})).await;
    assert_eq!(shown["content"][0]["text"], "7");
}
