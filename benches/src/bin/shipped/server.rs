//! The server under valgrind, and the connections to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Result;
use crate::calls::Row;

/// Longest time for the start of the server, and for each of its responses.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Delay between two attempts to connect to a server that starts.
const RETRY_DELAY: Duration = Duration::from_millis(5);

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"shipped","version":"1.0.0"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A running server. Dropping it kills the process.
pub(crate) struct Server {
    child: Child,
    out: PathBuf,
    link: Link,
    next_id: usize,
}

enum Link {
    Stdio(ChildStdin, BufReader<ChildStdout>),
    Http {
        address: String,
        connections: Vec<BufReader<TcpStream>>,
        /// The header of the session, or nothing.
        session: String,
    },
}

impl Server {
    /// Starts the server and opens the connections of a row.
    pub(crate) fn start(program: &Path, row: Row) -> Result<Self> {
        let out = std::env::temp_dir().join(format!("shipped-{}", std::process::id()));
        // The server cannot report a port that it chose, so a free one is chosen here.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let words: &[&str] = match row.is_stdio() {
            true => &["stdio"],
            false => &["http", &address, "both"],
        };
        let mut child = Command::new("valgrind")
            .args(["--tool=callgrind", "--quiet"])
            .arg(format!("--callgrind-out-file={}", out.display()))
            .arg(program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("valgrind cannot be started: {error}"))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (stdin, stdout) = stdin.zip(stdout).ok_or("the process has no pipes")?;
        let link = match row.is_stdio() {
            true => Link::Stdio(stdin, BufReader::new(stdout)),
            false => Link::Http {
                connections: (0..row.in_flight())
                    .map(|_| connect(&address).map(BufReader::new))
                    .collect::<Result<_>>()?,
                address,
                session: String::new(),
            },
        };
        let mut server = Self {
            child,
            out,
            link,
            next_id: 1,
        };
        if row.has_session() {
            server.initialize(row)?;
        }
        Ok(server)
    }

    fn initialize(&mut self, row: Row) -> Result<()> {
        match &mut self.link {
            Link::Stdio(stdin, stdout) => {
                writeln!(stdin, "{INITIALIZE}")?;
                stdout.read_line(&mut String::new())?;
                writeln!(stdin, "{INITIALIZED}")?;
            }
            Link::Http {
                address,
                connections,
                session,
            } => {
                let first = connections.first_mut().ok_or("no connection")?;
                post(first, address, &row.headers(), INITIALIZE)?;
                let (head, _) = response(first)?;
                let id = head
                    .lines()
                    .find_map(|line| line.strip_prefix("mcp-session-id: "));
                *session = format!("mcp-session-id: {}\r\n", id.ok_or("no session")?);
                let headers = format!("{}{session}", row.headers());
                post(first, address, &headers, INITIALIZED)?;
                response(first)?;
            }
        }
        Ok(())
    }

    /// Sends one call on each connection, then reads and checks all responses.
    pub(crate) fn call_all(&mut self, row: Row) -> Result<()> {
        let first = self.next_id;
        let ids = first..first + row.in_flight();
        self.next_id = ids.end;
        match &mut self.link {
            Link::Stdio(stdin, stdout) => {
                let lines: Vec<String> = ids.clone().map(|id| row.message(id) + "\n").collect();
                stdin.write_all(lines.concat().as_bytes())?;
                for id in ids {
                    let mut line = String::new();
                    stdout.read_line(&mut line)?;
                    check(row, id, &line)?;
                }
            }
            Link::Http {
                address,
                connections,
                session,
            } => {
                let headers = format!("{}{session}", row.headers());
                for (connection, id) in connections.iter_mut().zip(ids.clone()) {
                    post(connection, address, &headers, &row.message(id))?;
                }
                for (connection, id) in connections.iter_mut().zip(ids) {
                    let (_, body) = response(connection)?;
                    check(row, id, &body)?;
                }
            }
        }
        Ok(())
    }

    /// Ends the server and returns its instructions.
    pub(crate) fn total(mut self) -> Result<u64> {
        if let Link::Http { connections, .. } = &mut self.link {
            connections.clear();
        }
        let pid = self.child.id().to_string();
        // Valgrind writes its total when the process ends by this signal.
        Command::new("kill").args(["-TERM", &pid]).status()?;
        self.child.wait()?;
        let text = std::fs::read_to_string(&self.out)?;
        std::fs::remove_file(&self.out)?;
        let total = text.lines().find_map(|line| {
            let total = line.strip_prefix("summary:");
            total.or(line.strip_prefix("totals:"))?.trim().parse().ok()
        });
        total.ok_or_else(|| "valgrind has written no total".into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error means that the process has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn check(row: Row, id: usize, body: &str) -> Result<()> {
    match row.is_answered_by(id, body) {
        true => Ok(()),
        false => Err(format!("a wrong response to call {id}: {body:.300}").into()),
    }
}

/// Connects as soon as the server listens.
fn connect(address: &str) -> Result<TcpStream> {
    let end = Instant::now() + TIME_LIMIT;
    loop {
        match TcpStream::connect(address) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(TIME_LIMIT))?;
                return Ok(stream);
            }
            Err(error) if Instant::now() >= end => return Err(error.into()),
            Err(_) => std::thread::sleep(RETRY_DELAY),
        }
    }
}

fn post(
    connection: &mut BufReader<TcpStream>,
    address: &str,
    headers: &str,
    body: &str,
) -> Result<()> {
    let length = body.len();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-length: {length}\r\n\r\n{body}"
    );
    Ok(connection.get_mut().write_all(request.as_bytes())?)
}

/// Reads a response; returns its head and its body.
fn response(connection: &mut BufReader<TcpStream>) -> Result<(String, String)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if connection.read_line(&mut head)? == 0 {
            return Err(format!("the connection ended: {head}").into());
        }
    }
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let body = match length {
        Some(length) => exactly(connection, length.parse()?)?,
        None if head.contains("transfer-encoding: chunked") => chunks(connection)?,
        None => Vec::new(),
    };
    Ok((head, String::from_utf8(body)?))
}

fn exactly(connection: &mut BufReader<TcpStream>, length: usize) -> Result<Vec<u8>> {
    let mut body = vec![0; length];
    connection.read_exact(&mut body)?;
    Ok(body)
}

fn chunks(connection: &mut BufReader<TcpStream>) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut size = String::new();
        connection.read_line(&mut size)?;
        let size = usize::from_str_radix(size.trim(), 16)?;
        body.append(&mut exactly(connection, size)?);
        // The line break after each chunk.
        exactly(connection, 2)?;
        if size == 0 {
            return Ok(body);
        }
    }
}
