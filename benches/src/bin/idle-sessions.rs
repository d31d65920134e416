//! What an idle session costs: resident memory of a server, before, with and after many of them.
//!
//! ```text
//! cargo build --profile dist -p pintle-bench
//! target/dist/idle-sessions [--sessions N] [--streams] [--beside COMMAND]...
//! ```
//!
//! Opens N sessions of 2025-11-25 (10,000 by default), each with its handshake done, on
//! one connection; with `--streams` each opens its GET stream as well, on a connection of its own.
//! Then it ends them by DELETE, and does all of it again, twice. Each command is measured as it is,
//! and once more with an allocator without caches (glibc). Memory that stays resident there is held
//! by the server itself. Each command is started as `COMMAND http HOST:PORT stateful` and serves
//! `/mcp`. `bench-server`, which lies beside this program, comes first. Linux only.
#![allow(clippy::print_stdout, reason = "it is a program for people")]

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{}},"clientInfo":{"name":"idle-sessions","version":"1.0.0"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// Makes glibc return freed memory to the system at once.
const KEEP_NOTHING: (&str, &str) = (
    "GLIBC_TUNABLES",
    "glibc.malloc.mxfast=0:glibc.malloc.tcache_count=0:glibc.malloc.trim_threshold=131072",
);
/// How often all sessions are opened and ended.
const ROUNDS: usize = 3;
/// How long a server may take to listen, or to give memory back.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() -> Result<()> {
    let asked = Asked::read(std::env::args().skip(1))?;
    for command in &asked.commands {
        println!("{}", command.display());
        measure(Server::start(command, None)?, &asked)?;
        println!("{}, nothing kept by the allocator", command.display());
        measure(Server::start(command, Some(KEEP_NOTHING))?, &asked)?;
    }
    Ok(())
}

/// Arguments of the command line.
struct Asked {
    sessions: usize,
    streams: bool,
    commands: Vec<PathBuf>,
}

impl Asked {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let own = std::env::current_exe()?.with_file_name("bench-server");
        let mut asked = Self {
            sessions: 10_000,
            streams: false,
            commands: vec![own],
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--sessions" => asked.sessions = words.next().ok_or("how many?")?.parse()?,
                "--streams" => asked.streams = true,
                "--beside" => asked.commands.push(words.next().ok_or("which?")?.into()),
                other => return Err(format!("unknown: {other}").into()),
            }
        }
        Ok(asked)
    }
}

fn measure(server: Server, asked: &Asked) -> Result<()> {
    // The first session pays for what a server makes once.
    Sessions::open(server.address, 1, asked.streams)?.end()?;
    let before = server.settled()?;
    let mut left = before;
    let mut grown = 0;
    for _ in 0..ROUNDS {
        let begun = server.resident()?;
        let open = Sessions::open(server.address, asked.sessions, asked.streams)?;
        let with = server.settled()?;
        open.end()?;
        let after = server.settled()?;
        grown = after.saturating_sub(left);
        left = after;
        println!(
            "  {} sessions{}: {} KiB before, {} KiB with them, {} KiB after: {} bytes each",
            asked.sessions,
            if asked.streams { " and streams" } else { "" },
            begun >> 10,
            with >> 10,
            after >> 10,
            with.saturating_sub(before) / asked.sessions as u64,
        );
    }
    println!(
        "  the last time leaves {} KiB more than the one before",
        grown >> 10
    );
    Ok(())
}

/// A running server.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(command: &PathBuf, setting: Option<(&str, &str)>) -> Result<Self> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let child = Command::new(command)
            .args(["http", &address.to_string(), "stateful"])
            .envs(setting)
            .stdout(Stdio::null())
            .spawn()?;
        let server = Self { child, address };
        let began = Instant::now();
        while TcpStream::connect(address).is_err() {
            if began.elapsed() > PATIENCE {
                return Err("the server does not listen".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Resident memory, in bytes.
    fn resident(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|line| line.split_whitespace().next());
        Ok(kibibytes.ok_or("no VmRSS")?.parse::<u64>()? << 10)
    }

    /// Resident memory once it has stopped changing.
    fn settled(&self) -> Result<u64> {
        let began = Instant::now();
        let mut last = self.resident()?;
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let now = self.resident()?;
            if now == last || began.elapsed() > PATIENCE {
                return Ok(now);
            }
            last = now;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The open sessions of a server.
struct Sessions {
    address: SocketAddr,
    ids: Vec<String>,
    streams: Vec<TcpStream>,
}

impl Sessions {
    fn open(address: SocketAddr, count: usize, with_streams: bool) -> Result<Self> {
        let mut peer = Peer::connect(address)?;
        let mut open = Self {
            address,
            ids: Vec::with_capacity(count),
            streams: Vec::new(),
        };
        for _ in 0..count {
            let opened = peer.ask("POST", None, INITIALIZE)?;
            let id = opened.session.ok_or("no session was opened")?;
            peer.ask("POST", Some(&id), INITIALIZED)?;
            if with_streams {
                open.streams.push(listen(address, &id)?);
            }
            open.ids.push(id);
        }
        Ok(open)
    }

    fn end(self) -> Result<()> {
        drop(self.streams);
        let mut peer = Peer::connect(self.address)?;
        for id in &self.ids {
            peer.ask("DELETE", Some(id), "")?;
        }
        Ok(())
    }
}

/// Opens a stream, up to the end of its head.
fn listen(address: SocketAddr, id: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(head("GET", address, Some(id), 0).as_bytes())?;
    let mut reader = BufReader::new(stream);
    let answer = Answer::read_head(&mut reader)?;
    answer.check()?;
    Ok(reader.into_inner())
}

/// A connection that asks one thing after another.
struct Peer {
    address: SocketAddr,
    reader: BufReader<TcpStream>,
}

impl Peer {
    fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let reader = BufReader::new(stream);
        Ok(Self { address, reader })
    }

    fn ask(&mut self, verb: &str, id: Option<&str>, body: &str) -> Result<Answer> {
        let text = head(verb, self.address, id, body.len()) + body;
        self.reader.get_mut().write_all(text.as_bytes())?;
        let answer = Answer::read_head(&mut self.reader)?;
        answer.skip_body(&mut self.reader)?;
        answer.check()?;
        Ok(answer)
    }
}

fn head(verb: &str, address: SocketAddr, id: Option<&str>, length: usize) -> String {
    let accept = match verb {
        "GET" => "text/event-stream",
        _ => "application/json, text/event-stream",
    };
    let mut head = format!(
        "{verb} /mcp HTTP/1.1\r\nhost: {address}\r\naccept: {accept}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n"
    );
    if let Some(id) = id {
        head += &format!("mcp-session-id: {id}\r\nmcp-protocol-version: 2025-11-25\r\n");
    }
    head + "\r\n"
}

/// Parts of a response that the measurement needs.
struct Answer {
    status: u16,
    session: Option<String>,
    length: usize,
    is_chunked: bool,
}

impl Answer {
    fn read_head(reader: &mut impl BufRead) -> Result<Self> {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let status = line.split(' ').nth(1).ok_or("no answer")?.parse()?;
        let mut answer = Self {
            status,
            session: None,
            length: 0,
            is_chunked: false,
        };
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                return Ok(answer);
            };
            match (name.to_ascii_lowercase().as_str(), value.trim()) {
                ("content-length", value) => answer.length = value.parse()?,
                ("transfer-encoding", value) => answer.is_chunked = value == "chunked",
                ("mcp-session-id", value) => answer.session = Some(value.to_owned()),
                _ => {}
            }
        }
    }

    fn skip_body(&self, reader: &mut impl BufRead) -> Result<()> {
        if !self.is_chunked {
            return Ok(skip(reader, self.length as u64)?);
        }
        let mut line = String::new();
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let length = u64::from_str_radix(line.trim(), 16)?;
            skip(reader, length + 2)?;
            if length == 0 {
                return Ok(());
            }
        }
    }

    fn check(&self) -> Result<()> {
        if (200..300).contains(&self.status) {
            return Ok(());
        }
        Err(format!("answered {}", self.status).into())
    }
}

fn skip(reader: &mut impl Read, length: u64) -> io::Result<()> {
    io::copy(&mut reader.take(length), &mut io::sink()).map(|_| ())
}
