//! A client of few lines, so that the figures are those of the servers.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

use super::Result;

/// Longest wait for bytes.
const MAX_WAIT: Duration = Duration::from_secs(30);
const SESSION: &str = "mcp-session-id: ";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

impl Era {
    pub(crate) fn revision(self) -> &'static str {
        match self {
            Self::Legacy => "2025-11-25",
            Self::Modern => "2026-07-28",
        }
    }
}

/// The method, the head lines and the body of a request.
pub(crate) struct Request {
    method: &'static str,
    head: String,
    body: String,
}

/// A connection that is kept.
pub(crate) struct Connection {
    address: SocketAddr,
    reader: BufReader<TcpStream>,
}

/// The head of a response.
pub(crate) struct Head {
    pub(crate) status: u16,
    /// The header `Retry-After`, in seconds.
    pub(crate) retry_after: Option<u64>,
    session: Option<String>,
    length: Option<usize>,
}

impl Request {
    /// A message of a session, or one that stands alone.
    fn new(session: Option<&str>, message: &Value) -> Self {
        let mut head = String::new();
        if let Some(session) = session {
            head = format!(
                "{SESSION}{session}\r\nmcp-protocol-version: {}\r\n",
                Era::Legacy.revision()
            );
        }
        let body = message.to_string();
        let method = "POST";
        Self { method, head, body }
    }

    /// A call of a tool.
    pub(crate) fn call(session: Option<&str>, tool: &str, arguments: &Value) -> Self {
        let mut params = json!({ "name": tool, "arguments": arguments });
        if session.is_none() {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": Era::Modern.revision(),
                "io.modelcontextprotocol/clientInfo": { "name": "measure", "version": "1.0.0" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let mut request = Self::new(session, &message);
        if session.is_none() {
            let revision = Era::Modern.revision();
            request.head = format!(
                "mcp-protocol-version: {revision}\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\n"
            );
        }
        request
    }

    /// A call in a session whose progress the client requests.
    pub(crate) fn with_progress(session: &str, tool: &str, arguments: &Value) -> Self {
        let meta = json!({ "progressToken": 1 });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        Self::of_session(session, "tools/call", &params)
    }

    /// A call without arguments outside of sessions.
    pub(crate) fn operations() -> Self {
        Self::call(None, "operations", &json!({}))
    }

    /// The end of a session.
    pub(crate) fn end(session: &str) -> Self {
        let mut request = Self::new(Some(session), &Value::Null);
        request.method = "DELETE";
        request.body.clear();
        request
    }

    /// A request of a session.
    pub(crate) fn of_session(session: &str, method: &str, params: &Value) -> Self {
        let message = json!({ "jsonrpc": "2.0", "id": 2, "method": method, "params": params });
        Self::new(Some(session), &message)
    }

    pub(crate) fn echo(session: Option<&str>) -> Self {
        Self::call(session, "echo", &json!({ "text": "hello" }))
    }

    /// The same request from a client that a proxy names.
    pub(crate) fn with_address(mut self, address: &str) -> Self {
        self.head += &format!("x-forwarded-for: {address}\r\n");
        self
    }

    /// The answer to a question of the server.
    pub(crate) fn answer(session: &str, id: &Value, result: &Value) -> Self {
        let message = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        Self::new(Some(session), &message)
    }
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(MAX_WAIT))?;
        let reader = BufReader::new(stream);
        Ok(Self { address, reader })
    }

    /// Opens a session, and returns its id.
    pub(crate) fn initialize(&mut self) -> Result<String> {
        let client = json!({ "name": "measure", "version": "1.0.0" });
        let params = json!({ "protocolVersion": Era::Legacy.revision(), "clientInfo": client,
            "capabilities": { "elicitation": {} } });
        let message =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let (head, _) = self.exchange(&Request::new(None, &message))?;
        let session = head.session.ok_or("no session")?;
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.exchange(&Request::new(Some(&session), &ready))?;
        Ok(session)
    }

    /// Sends a request, and returns its response, which has a length.
    pub(crate) fn exchange(&mut self, request: &Request) -> Result<(Head, Vec<u8>)> {
        self.send(request)?;
        let head = self.head()?;
        let empty = (head.status == 204).then_some(0);
        let length = head.length.or(empty);
        let mut body = vec![0; length.ok_or("the response has no length")?];
        self.reader.read_exact(&mut body)?;
        Ok((head, body))
    }

    /// Sends a call, and checks that it has a result.
    pub(crate) fn result(&mut self, request: &Request) -> Result<()> {
        self.text(request).map(drop)
    }

    /// Sends a call, and returns the text of its result.
    pub(crate) fn text(&mut self, request: &Request) -> Result<String> {
        let (head, body) = self.exchange(request)?;
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        match head.status == 200 && message.get("result").is_some() {
            true => {
                let text = &message["result"]["content"][0]["text"];
                Ok(text.as_str().unwrap_or_default().to_owned())
            }
            false => {
                Err(format!("status {}: {}", head.status, String::from_utf8_lossy(&body)).into())
            }
        }
    }

    pub(crate) fn send(&mut self, request: &Request) -> Result<()> {
        let text = format!(
            "{} /mcp HTTP/1.1\r\nhost: {}\r\naccept: application/json, text/event-stream\r\n\
             content-type: application/json\r\n{}content-length: {}\r\n\r\n{}",
            request.method,
            self.address,
            request.head,
            request.body.len(),
            request.body
        );
        self.reader.get_mut().write_all(text.as_bytes())?;
        Ok(())
    }

    /// Reads the head of a response.
    pub(crate) fn head(&mut self) -> Result<Head> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).ok_or("no status")?.parse()?;
        let mut head = Head {
            status,
            retry_after: None,
            session: None,
            length: None,
        };
        loop {
            let line = self.line()?;
            let lower = line.to_ascii_lowercase();
            if line.is_empty() {
                return Ok(head);
            }
            if lower.starts_with(SESSION) {
                head.session = Some(line[SESSION.len()..].to_owned());
            }
            if let Some(seconds) = lower.strip_prefix("retry-after: ") {
                head.retry_after = Some(seconds.parse()?);
            }
            if let Some(length) = lower.strip_prefix("content-length: ") {
                head.length = Some(length.parse()?);
            }
        }
    }

    /// Reads a stream up to the next message. The lines of its chunks are not part of it.
    pub(crate) fn message(&mut self) -> Result<Value> {
        loop {
            let line = self.line()?;
            let data = line.strip_prefix("data: ").or(line.strip_prefix("data:"));
            if let Some(data) = data.filter(|data| !data.is_empty()) {
                return Ok(serde_json::from_str(data)?);
            }
        }
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.reader.read_line(&mut line)? == 0 {
            return Err("the server closed the connection".into());
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}
