//! Load over HTTP: connections with one request at a time each.

use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use pintle_bench::process::Result;

use crate::answer::{Checks, message};
use crate::row::{FIRST_ID, INITIALIZE, INITIALIZED, Row, Wire};

/// Bytes that one read of a connection asks for.
const READ_BYTES: usize = 64 << 10;

/// The connections of a row.
pub(crate) struct Connections(Vec<Connection>);

impl Connections {
    /// Opens the connections, each with a session of its own where the revision has sessions.
    pub(crate) async fn open(row: Row, address: &str) -> Result<Self> {
        let mut connections = Vec::new();
        for _ in 0..row.lanes {
            connections.push(Connection::open(row, address).await?);
        }
        Ok(Self(connections))
    }

    /// Sends requests until `end`, at least one on each connection. Returns the latency of each.
    pub(crate) async fn run(&mut self, end: Instant) -> Result<Vec<Duration>> {
        let mut running = JoinSet::new();
        for connection in self.0.drain(..) {
            running.spawn_local(connection.run(end));
        }
        let mut times = Vec::new();
        while let Some(ended) = running.join_next().await {
            let (connection, its_times) = ended??;
            self.0.push(connection);
            times.extend(its_times);
        }
        Ok(times)
    }
}

struct Connection {
    stream: BufReader<TcpStream>,
    /// The whole request. Its id is replaced for each call, and has always the same size.
    request: Vec<u8>,
    id_at: usize,
    next_id: u64,
    checks: Checks,
    line: String,
    body: Vec<u8>,
}

/// The parts of a response head that matter.
#[derive(Default)]
struct Head {
    is_success: bool,
    length: usize,
    is_chunked: bool,
    is_stream: bool,
    session: Option<String>,
}

impl Connection {
    async fn open(row: Row, address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut connection = Self {
            stream: BufReader::with_capacity(READ_BYTES, stream),
            request: Vec::new(),
            id_at: 0,
            next_id: FIRST_ID,
            checks: Checks::new(row),
            line: String::new(),
            body: Vec::new(),
        };
        let session = match row.wire {
            Wire::Session => connection.initialize(address).await?,
            _ => String::new(),
        };
        let (before, after) = row.request();
        let body = format!("{before}{FIRST_ID}{after}");
        let head = head(address, &(headers(&row) + &session), body.len());
        connection.id_at = head.len() + before.len();
        connection.request = (head + &body).into_bytes();
        Ok(connection)
    }

    /// Performs the handshake, and returns the header of the session.
    async fn initialize(&mut self, address: &str) -> Result<String> {
        self.request = (head(address, "", INITIALIZE.len()) + INITIALIZE).into_bytes();
        let session = self.exchange().await?.session.ok_or("no session")?;
        let headers = format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n");
        self.request = (head(address, &headers, INITIALIZED.len()) + INITIALIZED).into_bytes();
        self.exchange().await?;
        Ok(format!("Mcp-Session-Id: {session}\r\n"))
    }

    async fn run(mut self, end: Instant) -> Result<(Self, Vec<Duration>)> {
        let mut times = Vec::new();
        loop {
            times.push(self.call().await?);
            if Instant::now() >= end {
                return Ok((self, times));
            }
        }
    }

    async fn call(&mut self) -> Result<Duration> {
        let id = self.next_id;
        self.next_id += 1;
        let digits = id.to_string();
        self.request[self.id_at..][..digits.len()].copy_from_slice(digits.as_bytes());
        let begin = Instant::now();
        let head = self.exchange().await?;
        let time = begin.elapsed();
        self.checks
            .check(id, message(&self.body, head.is_stream)?)?;
        Ok(time)
    }

    /// Sends the request and reads its response.
    async fn exchange(&mut self) -> Result<Head> {
        self.stream.get_mut().write_all(&self.request).await?;
        let head = self.head().await?;
        self.body.clear();
        self.extend(head.length).await?;
        if head.is_chunked {
            while self.chunk().await? > 0 {}
        }
        match head.is_success {
            true => Ok(head),
            false => Err(format!("an error: {:.300}", String::from_utf8_lossy(&self.body)).into()),
        }
    }

    async fn head(&mut self) -> Result<Head> {
        self.line().await?;
        let mut head = Head {
            is_success: self.line.starts_with("HTTP/1.1 20"),
            ..Head::default()
        };
        loop {
            self.line().await?;
            let Some((name, value)) = self.line.trim_end().split_once(": ") else {
                return Ok(head);
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => head.length = value.parse()?,
                "content-type" => head.is_stream = value.starts_with("text/event-stream"),
                "transfer-encoding" => head.is_chunked = true,
                "mcp-session-id" => head.session = Some(value.to_owned()),
                _ => {}
            }
        }
    }

    /// Reads a chunk of the body, and returns its size. The last one has none.
    async fn chunk(&mut self) -> Result<usize> {
        self.line().await?;
        let size = usize::from_str_radix(self.line.trim_end(), 16)?;
        self.extend(size).await?;
        // The line break after each chunk.
        self.line().await?;
        Ok(size)
    }

    async fn line(&mut self) -> Result<()> {
        self.line.clear();
        match self.stream.read_line(&mut self.line).await? {
            0 => Err("the server has closed the connection".into()),
            _ => Ok(()),
        }
    }

    /// Reads so many bytes of the body.
    async fn extend(&mut self, size: usize) -> Result<()> {
        self.body.reserve(size);
        let mut part = (&mut self.stream).take(size as u64);
        match part.read_to_end(&mut self.body).await? {
            read if read == size => Ok(()),
            _ => Err("the server has closed the connection in a body".into()),
        }
    }
}

fn head(address: &str, headers: &str, length: usize) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {length}\r\n\r\n"
    )
}

/// The headers of the protocol for a request of the row.
fn headers(row: &Row) -> String {
    let mut headers = format!("MCP-Protocol-Version: {}\r\n", row.wire.revision());
    if row.wire == Wire::Modern {
        headers += &format!("Mcp-Method: {}\r\n", row.method());
        let name = row.tool().map(|name| format!("Mcp-Name: {name}\r\n"));
        headers += &name.unwrap_or_default();
    }
    headers
}
