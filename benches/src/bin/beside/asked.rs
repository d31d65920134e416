//! The measured requests, and their wires.

use serde_json::{Value, json};

/// How a server is reached. Closed: the three ways that every server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// Lines of standard input and output, 2025-11-25.
    Stdio,
    /// HTTP in a session, 2025-11-25.
    Session,
    /// HTTP without one, 2026-07-28.
    Modern,
}

/// Measured requests. Closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    Echo,
    List,
    Text,
    Image,
    Resource,
    Progress,
}

/// Number of progress notifications per call.
const STEPS: usize = 100;

impl Wire {
    pub(crate) const ALL: [Self; 3] = [Self::Stdio, Self::Session, Self::Modern];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Session => "HTTP 2025-11-25",
            Self::Modern => "HTTP 2026-07-28",
        }
    }

    pub(crate) fn revision(self) -> &'static str {
        match self {
            Self::Stdio | Self::Session => "2025-11-25",
            Self::Modern => "2026-07-28",
        }
    }
}

impl Ask {
    pub(crate) const ALL: [Self; 6] = [
        Self::Echo,
        Self::List,
        Self::Text,
        Self::Image,
        Self::Resource,
        Self::Progress,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::List => "list of 100",
            Self::Text => "text 64 KiB",
            Self::Image => "picture 1 MiB",
            Self::Resource => "resource 1 MiB",
            Self::Progress => "100 steps",
        }
    }

    /// How many times an echo it takes, roughly.
    pub(crate) fn weight(self) -> usize {
        match self {
            Self::Echo => 1,
            Self::List | Self::Text => 10,
            Self::Progress => 20,
            Self::Image | Self::Resource => 50,
        }
    }

    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::List => "tools/list",
            Self::Resource => "resources/read",
            _ => "tools/call",
        }
    }

    /// Returns the value of the header `Mcp-Name`.
    pub(crate) fn target(self) -> Option<&'static str> {
        match self {
            Self::Echo => Some("echo"),
            Self::Text => Some("big_text"),
            Self::Image => Some("big_image"),
            Self::Progress => Some("progress"),
            Self::Resource => Some("bench://text/1m"),
            Self::List => None,
        }
    }

    /// Returns true if an answer is the complete expected answer.
    pub(crate) fn is_answered_by(self, answer: &str) -> bool {
        match self {
            Self::Echo => answer.contains("hello, world"),
            Self::List => answer.contains("tool_050"),
            Self::Text => answer.len() > 64 << 10,
            Self::Image => answer.len() > 4 << 18 && answer.contains("image/png"),
            Self::Resource => answer.len() > 1 << 20,
            Self::Progress => answer.matches("notifications/progress").count() == STEPS,
        }
    }

    fn params(self) -> Value {
        let name = self.target();
        match self {
            Self::List => json!({}),
            Self::Resource => json!({ "uri": name }),
            Self::Echo => json!({ "name": name, "arguments": { "text": "hello, world" } }),
            Self::Progress => json!({
                "name": name,
                "arguments": { "steps": STEPS },
                "_meta": { "progressToken": "p" },
            }),
            Self::Text | Self::Image => json!({ "name": name, "arguments": {} }),
        }
    }

    /// The request, as a client on `wire` makes it.
    pub(crate) fn message(self, wire: Wire) -> String {
        let mut params = self.params();
        if wire == Wire::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "beside", "version": "1.0.0" });
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        request(self.method(), &params)
    }
}

pub(crate) fn initialize() -> String {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "beside", "version": "1.0.0" },
    });
    request("initialize", &params)
}

pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn request(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}
