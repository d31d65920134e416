//! The rows: their requests, and a check of each response.

/// A method or a tool, and its transport and revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Row {
    StdioEcho,
    Http2025Echo,
    Http2026Echo,
    Http2026List,
    Http2026Progress,
}

/// The text of an echo.
const TEXT: &str = "The quick brown fox jumps over the lazy dog.";

/// The members with which a request of 2026-07-28 states its terms.
const TERMS: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"shipped","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}"#;

impl Row {
    pub(crate) const ALL: [Self; 5] = [
        Self::StdioEcho,
        Self::Http2025Echo,
        Self::Http2026Echo,
        Self::Http2026List,
        Self::Http2026Progress,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::StdioEcho => "stdio-echo",
            Self::Http2025Echo => "http-2025-echo",
            Self::Http2026Echo => "http-2026-echo",
            Self::Http2026List => "http-2026-list",
            Self::Http2026Progress => "http-2026-progress",
        }
    }

    pub(crate) fn is_stdio(self) -> bool {
        self == Self::StdioEcho
    }

    /// Whether the calls belong to a session.
    pub(crate) fn has_session(self) -> bool {
        matches!(self, Self::StdioEcho | Self::Http2025Echo)
    }

    /// Number of calls that are sent before the first response is read.
    pub(crate) fn in_flight(self) -> usize {
        match self {
            Self::Http2026Progress => 8,
            _ => 16,
        }
    }

    /// Number of rounds of the short run and of the long run.
    pub(crate) fn rounds(self) -> [usize; 2] {
        match self {
            Self::Http2026Progress => [5, 20],
            _ => [25, 150],
        }
    }

    fn method(self) -> &'static str {
        match self {
            Self::Http2026List => "tools/list",
            _ => "tools/call",
        }
    }

    /// The tool, if one is called.
    fn tool(self) -> Option<&'static str> {
        match self {
            Self::Http2026List => None,
            Self::Http2026Progress => Some("progress"),
            _ => Some("echo"),
        }
    }

    /// The message of the call with this id.
    pub(crate) fn message(self, id: usize) -> String {
        let target = match self {
            Self::Http2026List => String::new(),
            Self::Http2026Progress => r#","name":"progress","arguments":{"steps":100}"#.to_owned(),
            _ => format!(r#","name":"echo","arguments":{{"text":"{TEXT}"}}"#),
        };
        let meta = match self {
            Self::Http2026Progress => format!(r#""_meta":{{"progressToken":{id},{TERMS}}}"#),
            _ if self.has_session() => String::new(),
            _ => format!(r#""_meta":{{{TERMS}}}"#),
        };
        let params = format!("{meta}{target}");
        let params = params.trim_start_matches(',');
        let method = self.method();
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#)
    }

    /// The headers that repeat parts of the message.
    pub(crate) fn headers(self) -> String {
        if self.has_session() {
            return "mcp-protocol-version: 2025-11-25\r\n".to_owned();
        }
        let method = self.method();
        let name = self
            .tool()
            .map_or(String::new(), |tool| format!("mcp-name: {tool}\r\n"));
        format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{name}")
    }

    /// Whether this is the whole response to the call with this id.
    pub(crate) fn is_answered_by(self, id: usize, body: &str) -> bool {
        let has_id =
            body.contains(&format!(r#""id":{id},"#)) && !body.contains(r#""isError":true"#);
        has_id
            && match self {
                Self::Http2026List => body.contains(r#""tool_099""#),
                Self::Http2026Progress => {
                    body.matches("notifications/progress").count() == 100 && body.contains("done")
                }
                _ => body.contains(TEXT),
            }
    }
}
