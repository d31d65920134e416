//! A server that allocates nothing once it is warm, so that only the client's work is counted.
//!
//! A thread with two buffers: it searches the bytes of a request for the members it needs.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// Wire of a frugal server. Closed: these are the client's two wires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// A message per line.
    Lines,
    /// The Streamable HTTP transport.
    Http,
}

/// Serves every connection in a thread, for as long as the process lives; where.
///
/// # Panics
///
/// If this machine has no loopback.
pub fn serve(wire: Wire) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = stream.set_nodelay(true);
            std::thread::spawn(move || serve_one(wire, stream));
        }
    });
    address
}

fn serve_one(wire: Wire, stream: TcpStream) {
    match wire {
        Wire::Lines => serve_lines(stream),
        Wire::Http => serve_http(stream),
    }
}

/// The text that the server returns for any call.
pub(crate) const SAID: &str = "hello, world";

/// Where a request is kept until it is whole, in bytes.
const REQUEST: usize = 16 << 10;

const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"frugal","version":"1"},"ttlMs":0,"cacheScope":"private"}"#;
const INITIALIZED: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"frugal","version":"1"}}"#;
const TOOLS: &str = r#"{"resultType":"complete","tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}],"ttlMs":0,"cacheScope":"private"}"#;
const ECHOED: &str =
    r#"{"resultType":"complete","content":[{"type":"text","text":"hello, world"}]}"#;

/// Answers messages, one per line.
fn serve_lines(mut stream: impl Read + Write) {
    let mut kept = Kept::new();
    let mut reply = Vec::with_capacity(REQUEST);
    while let Some(end) = kept.fill_until(&mut stream, b"\n") {
        reply.clear();
        if answer(&kept.bytes[..end], &mut reply) {
            reply.push(b'\n');
            if stream.write_all(&reply).is_err() {
                return;
            }
        }
        kept.consume(end);
    }
}

/// Answers HTTP requests of one connection after the other's end.
fn serve_http(mut stream: impl Read + Write) {
    let mut kept = Kept::new();
    let (mut body, mut reply) = (Vec::with_capacity(REQUEST), Vec::with_capacity(REQUEST));
    while let Some(head) = kept.fill_until(&mut stream, b"\r\n\r\n") {
        let length = content_length(&kept.bytes[..head]);
        let is_post = kept.bytes.starts_with(b"POST");
        if !kept.fill_to(&mut stream, head + length) {
            return;
        }
        body.clear();
        reply.clear();
        let said = &kept.bytes[head..head + length];
        let status = match (is_post, is_post && answer(said, &mut body)) {
            (true, true) => "200 OK",
            (true, false) => "202 Accepted",
            (false, _) => "405 Method Not Allowed",
        };
        let session = match find(said, b"\"initialize\"") {
            Some(_) => "mcp-session-id: s\r\n",
            None => "",
        };
        // Writes into the existing buffer.
        let written = write!(
            reply,
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{session}content-length: {}\r\n\r\n",
            body.len()
        );
        reply.extend_from_slice(&body);
        if written.and_then(|()| stream.write_all(&reply)).is_err() {
            return;
        }
        kept.consume(head + length);
    }
}

/// Writes the answer to a message; whether there is one.
fn answer(said: &[u8], reply: &mut Vec<u8>) -> bool {
    let Some(id) = id_of(said) else {
        return false;
    };
    let is = |method: &str| find(said, method.as_bytes()).is_some();
    let result = match () {
        () if is("\"tools/call\"") => ECHOED,
        () if is("\"tools/list\"") => TOOLS,
        () if is("\"initialize\"") => INITIALIZED,
        () => DISCOVERED,
    };
    for part in [
        &b"{\"jsonrpc\":\"2.0\",\"id\":"[..],
        id,
        b",\"result\":",
        result.as_bytes(),
        b"}",
    ] {
        reply.extend_from_slice(part);
    }
    true
}

fn id_of(said: &[u8]) -> Option<&[u8]> {
    let at = find(said, b"\"id\":")? + 5;
    let rest = &said[at..];
    let end = rest.iter().position(|byte| matches!(byte, b',' | b'}'))?;
    Some(&rest[..end])
}

fn content_length(head: &[u8]) -> usize {
    const NAME: &[u8] = b"content-length: ";
    let Some(at) = find(head, NAME) else {
        return 0;
    };
    let digits = head[at + NAME.len()..].iter();
    let digits = digits.take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0'))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

/// Bytes that were read and not consumed.
struct Kept {
    bytes: Vec<u8>,
}

impl Kept {
    fn new() -> Self {
        Self {
            bytes: Vec::with_capacity(2 * REQUEST),
        }
    }

    /// Reads until `mark` is there; where it ends, or none at the end of the stream.
    fn fill_until(&mut self, stream: &mut impl Read, mark: &[u8]) -> Option<usize> {
        loop {
            if let Some(at) = find(&self.bytes, mark) {
                return Some(at + mark.len());
            }
            self.fill(stream)?;
        }
    }

    fn fill_to(&mut self, stream: &mut impl Read, length: usize) -> bool {
        while self.bytes.len() < length {
            if self.fill(stream).is_none() {
                return false;
            }
        }
        true
    }

    fn fill(&mut self, stream: &mut impl Read) -> Option<()> {
        let mut part = [0; REQUEST];
        let read = stream.read(&mut part).ok().filter(|read| *read > 0)?;
        self.bytes.extend_from_slice(&part[..read]);
        Some(())
    }

    fn consume(&mut self, length: usize) {
        self.bytes.drain(..length);
    }
}
