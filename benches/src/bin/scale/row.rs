//! The rows of the table, and the requests of each.

use pintle_bench::table::grouped;
use serde_json::{Value, json};

/// How a server is reached. Closed: the three ways that every server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// Lines of standard input and output, 2025-11-25.
    Stdio,
    /// HTTP with a session for each connection, 2025-11-25.
    Session,
    /// HTTP without sessions, 2026-07-28.
    Modern,
}

/// Measured requests. Closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// A short text.
    Echo,
    /// The list of all tools.
    List,
    /// A call of the last tool of the list.
    Last,
    /// A result of so many bytes.
    Text(usize),
}

/// One line of the table: a server of some size, and the load on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) wire: Wire,
    pub(crate) ask: Ask,
    /// Tools of the server.
    pub(crate) tools: usize,
    /// Worker threads of the server.
    pub(crate) threads: usize,
    /// Connections with one request at a time each; on stdio requests in flight.
    pub(crate) lanes: usize,
}

/// The first id of a request. All ids have the same number of digits, so answers have the same size.
pub(crate) const FIRST_ID: u64 = 1_000_000_000;

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"scale","version":"1.0.0"}}}"#;
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

impl Row {
    /// All rows, in their order.
    pub(crate) fn all() -> Vec<Self> {
        let http = [Wire::Session, Wire::Modern];
        let mut rows: Vec<_> = http.into_iter().flat_map(Self::of_connections).collect();
        for wire in [Wire::Session, Wire::Modern, Wire::Stdio] {
            rows.extend(Self::of_tools(wire));
        }
        for wire in [Wire::Session, Wire::Modern, Wire::Stdio] {
            rows.extend(Self::of_sizes(wire));
        }
        rows
    }

    fn of_connections(wire: Wire) -> Vec<Self> {
        let row = |(threads, lanes)| Self {
            wire,
            ask: Ask::Echo,
            tools: 100,
            threads,
            lanes,
        };
        let threads_and_lanes = [(1, 1), (2, 1), (1, 16), (2, 16), (1, 256), (2, 256)];
        threads_and_lanes.map(row).to_vec()
    }

    fn of_tools(wire: Wire) -> Vec<Self> {
        let row = |(ask, tools)| Self {
            wire,
            ask,
            tools,
            threads: 1,
            lanes: 16,
        };
        let list = [(Ask::List, 10), (Ask::List, 1_000)];
        list.into_iter()
            .chain([(Ask::Last, 10), (Ask::Last, 1_000)])
            .map(row)
            .collect()
    }

    fn of_sizes(wire: Wire) -> Vec<Self> {
        let row = |bytes| Self {
            wire,
            ask: Ask::Text(bytes),
            tools: 10,
            threads: 1,
            lanes: if wire == Wire::Stdio { 16 } else { 4 },
        };
        [1 << 10, 64 << 10, 1 << 20, 16 << 20].map(row).to_vec()
    }

    /// The name in the table.
    pub(crate) fn name(&self) -> String {
        let wire = self.wire.name();
        match self.ask {
            Ask::Echo => format!(
                "{wire}, {}, {}",
                counted(self.lanes, "connection"),
                counted(self.threads, "thread")
            ),
            Ask::List => format!("{wire}, list of {} tools", grouped(self.tools)),
            Ask::Last => format!("{wire}, call of the last of {} tools", grouped(self.tools)),
            Ask::Text(bytes) if bytes < 1 << 20 => format!("{wire}, text of {} KiB", bytes >> 10),
            Ask::Text(bytes) => format!("{wire}, text of {} MiB", bytes >> 20),
        }
    }

    /// The settings of the server.
    pub(crate) fn settings(&self) -> Vec<String> {
        let sized = [
            format!("tools={}", self.tools),
            format!("threads={}", self.threads),
        ];
        self.wire.mode().into_iter().chain(sized).collect()
    }

    /// The name of the called tool, which is also the value of the header `Mcp-Name`.
    pub(crate) fn tool(&self) -> Option<String> {
        match self.ask {
            Ask::Echo => Some("echo".into()),
            Ask::Text(_) => Some("text".into()),
            Ask::Last => Some(format!("tool_{:03}", self.tools - 1)),
            Ask::List => None,
        }
    }

    pub(crate) fn method(&self) -> &'static str {
        match self.ask {
            Ask::List => "tools/list",
            _ => "tools/call",
        }
    }

    /// The text of the request before its id, and after it.
    pub(crate) fn request(&self) -> (String, String) {
        let mut params = self.params();
        if self.wire == Wire::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "scale", "version": "1.0.0" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let method = self.method();
        let after = format!(r#","method":"{method}","params":{params}}}"#);
        (r#"{"jsonrpc":"2.0","id":"#.into(), after)
    }

    fn params(&self) -> Value {
        let arguments = match self.ask {
            Ask::List => return json!({}),
            Ask::Echo => json!({ "text": "hello, world" }),
            Ask::Last => json!({ "key": "hello, world", "limit": 1, "verbose": true }),
            Ask::Text(bytes) => json!({ "bytes": bytes }),
        };
        json!({ "name": self.tool(), "arguments": arguments })
    }

    /// Returns true if a result is the complete expected result.
    pub(crate) fn is_result(&self, result: &Value) -> bool {
        let text = result["content"][0]["text"].as_str();
        match self.ask {
            Ask::Echo | Ask::Last => text == Some("hello, world"),
            Ask::Text(bytes) => text.map(str::len) == Some(bytes),
            Ask::List => result["tools"].as_array().map(Vec::len) == Some(self.tools),
        }
    }
}

impl Wire {
    fn name(self) -> &'static str {
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

    /// The word of the command line that selects it, after the address.
    fn mode(self) -> Option<String> {
        match self {
            Self::Stdio => None,
            Self::Session => Some("stateful".into()),
            Self::Modern => Some("stateless".into()),
        }
    }
}

fn counted(number: usize, name: &str) -> String {
    match number {
        1 => format!("1 {name}"),
        more => format!("{more} {name}s"),
    }
}
