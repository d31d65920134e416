//! What is asked, and on which wire.

use serde_json::{Value, json};

/// How a server is reached. Closed: the three ways that every server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// Lines, 2025-11-25.
    Stdio,
    /// HTTP in a session, 2025-11-25.
    Session,
    /// HTTP without one, 2026-07-28.
    Modern,
}

/// What is asked. Closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    Echo,
    List,
    Text,
}

impl Wire {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Session => "HTTP, in a session:",
            Self::Modern => "HTTP, 2026-07-28:",
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
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::List => "a list of 100 tools",
            Self::Text => "a text of 64 KiB",
        }
    }

    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::List => "tools/list",
            Self::Echo | Self::Text => "tools/call",
        }
    }

    pub(crate) fn tool(self) -> Option<&'static str> {
        match self {
            Self::Echo => Some("echo"),
            Self::Text => Some("big_text"),
            Self::List => None,
        }
    }

    /// What every answer has in it.
    pub(crate) fn mark(self) -> &'static str {
        match self {
            Self::Echo => "hello, world",
            Self::List => "tool_050",
            Self::Text => "000900 The quick brown fox",
        }
    }

    /// The request, as a client on `wire` makes it.
    pub(crate) fn message(self, wire: Wire) -> String {
        let mut params = match self {
            Self::Echo => json!({ "name": "echo", "arguments": { "text": "hello, world" } }),
            Self::Text => json!({ "name": "big_text", "arguments": {} }),
            Self::List => json!({}),
        };
        if wire == Wire::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "beside", "version": "1.0.0" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
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
