//! A server in a process of its own, and the client of it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{ChildStdin, ChildStdout};
use std::time::Duration;

use pintle_bench::process::{Process, Result};

use crate::asked::{Ask, INITIALIZED, Wire, initialize};

/// A server, and a conversation with it.
pub(crate) struct Peer {
    server: Process,
    link: Link,
    wire: Wire,
}

enum Link {
    Pipe(ChildStdin, BufReader<ChildStdout>),
    Web {
        stream: BufReader<TcpStream>,
        host: String,
        session: Option<String>,
    },
}

impl Peer {
    /// Starts a server and opens a conversation where there is one to open.
    pub(crate) fn start(command: &Path, wire: Wire) -> Result<Self> {
        let mut peer = match wire {
            Wire::Stdio => Self::on_a_pipe(command)?,
            Wire::Session => Self::on_the_web(command, wire, "stateful")?,
            Wire::Modern => Self::on_the_web(command, wire, "stateless")?,
        };
        if wire != Wire::Modern {
            peer.send(&initialize(), None)?;
            peer.receive()?;
            peer.send(INITIALIZED, None)?;
            if wire == Wire::Session {
                peer.receive()?;
            }
        }
        Ok(peer)
    }

    fn on_a_pipe(command: &Path) -> Result<Self> {
        let (server, stdin, stdout) = Process::on_pipes(command, &[])?;
        Ok(Self {
            server,
            link: Link::Pipe(stdin, BufReader::new(stdout)),
            wire: Wire::Stdio,
        })
    }

    fn on_the_web(command: &Path, wire: Wire, mode: &str) -> Result<Self> {
        let (server, host, stream) = Process::on_http(command, &[mode.to_owned()])?;
        Ok(Self {
            server,
            link: Link::Web {
                stream: BufReader::with_capacity(128 << 10, stream),
                host,
                session: None,
            },
            wire,
        })
    }

    /// Asks so many times, one after the other.
    pub(crate) fn ask(&mut self, ask: Ask, times: usize) -> Result<()> {
        let message = ask.message(self.wire);
        for _ in 0..times {
            self.send(&message, Some(ask))?;
            let answer = self.answer()?;
            if !ask.is_answered_by(&answer) {
                let start: String = answer.chars().take(300).collect();
                return Err(format!("the answer is wrong: {start}").into());
            }
        }
        Ok(())
    }

    /// CPU time of the server so far.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        self.server.cpu()
    }

    fn send(&mut self, message: &str, ask: Option<Ask>) -> Result<()> {
        match &mut self.link {
            Link::Pipe(stdin, _) => stdin.write_all(format!("{message}\n").as_bytes())?,
            Link::Web {
                stream,
                host,
                session,
            } => {
                let head = head(host, self.wire, session.as_deref(), ask, message.len());
                stream.get_mut().write_all((head + message).as_bytes())?;
            }
        }
        Ok(())
    }

    /// An answer, with the notices before it.
    fn answer(&mut self) -> Result<String> {
        let mut all = self.receive()?;
        // Over HTTP they come with their answer, or instead of it.
        while self.wire == Wire::Stdio && !is_answer(all.lines().next_back()) {
            all += &self.receive()?;
        }
        Ok(all)
    }

    fn receive(&mut self) -> Result<String> {
        match &mut self.link {
            Link::Pipe(_, stdout) => {
                let mut line = String::new();
                match stdout.read_line(&mut line)? {
                    0 => Err("the server has ended".into()),
                    _ => Ok(line),
                }
            }
            Link::Web {
                stream, session, ..
            } => read_answer(stream, session),
        }
    }
}

fn is_answer(line: Option<&str>) -> bool {
    line.is_some_and(|line| !line.contains("\"method\""))
}

fn head(host: &str, wire: Wire, session: Option<&str>, ask: Option<Ask>, length: usize) -> String {
    let mut head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n"
    );
    if session.is_some() || wire == Wire::Modern {
        head += &format!("MCP-Protocol-Version: {}\r\n", wire.revision());
    }
    if let Some(session) = session {
        head += &format!("Mcp-Session-Id: {session}\r\n");
    }
    if let (Wire::Modern, Some(ask)) = (wire, ask) {
        head += &format!("Mcp-Method: {}\r\n", ask.method());
        head += &ask
            .target()
            .map(|name| format!("Mcp-Name: {name}\r\n"))
            .unwrap_or_default();
    }
    head + "\r\n"
}

/// Reads one answer: of a known length, or in chunks.
fn read_answer(stream: &mut impl BufRead, session: &mut Option<String>) -> Result<String> {
    let (mut length, mut is_chunked) = (0, false);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Err("the server has closed the connection".into());
        }
        let Some((name, value)) = line.trim_end().split_once(':') else {
            match line.trim_end() {
                "" => break,
                _ => continue,
            }
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse()?,
            "transfer-encoding" => is_chunked = true,
            "mcp-session-id" => *session = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    while is_chunked {
        let mut size = String::new();
        stream.read_line(&mut size)?;
        let size = usize::from_str_radix(size.trim(), 16)?;
        let start = body.len();
        body.resize(start + size + 2, 0);
        stream.read_exact(&mut body[start..])?;
        body.truncate(start + size);
        is_chunked = size > 0;
    }
    Ok(String::from_utf8(body)?)
}
