//! `pintle check --client`: a client judged by its visits to a scripted server.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream as BlockingStream};
use std::process::Stdio;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use pintle::http::client::BoxIo;
use pintle::runtime::{BoxFuture, random_bytes};
use pintle_check::{CheckOptions, ClientServer, Report, StdioServer, Visitor, check_client};
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::args::{Settings, UsageError};
use crate::exit::{CliError, Exit};
use crate::live::Live;
use crate::screen::Screen;

/// Stands for the URL of the scripted server.
const URL: &str = "{url}";
/// Stands for the command of the scripted server.
const SERVER: &str = "{server}";

/// How long relays may take to end after the client.
const RELAY_TIMEOUT: Duration = Duration::from_secs(2);
/// Length of the token of a relay, in hexadecimal digits.
const TOKEN_CHARS: usize = 32;

/// The way to the judged client.
#[derive(Debug)]
pub(crate) enum ClientSource {
    /// A program that is started for each visit.
    Program(Vec<String>),
    /// A client that the user starts.
    Any,
    /// This process is the server that a client has started, and relays its streams.
    Relay(String),
}

/// Judges a client.
///
/// # Errors
///
/// [`CliError`] if the client cannot be judged.
pub(super) async fn judge(
    program: Option<&[String]>,
    options: CheckOptions,
    settings: &Settings,
) -> Result<Report, CliError> {
    match program {
        Some(words) => Ok(check_client(&visitor(words, settings)?, options).await?),
        None => visits(options).await,
    }
}

/// Waits for visits until the user presses Ctrl-C.
async fn visits(options: CheckOptions) -> Result<Report, CliError> {
    let server = ClientServer::bind(options).await?;
    let live = Live::new(Screen::look().notes);
    live.note(&format!("A server of each revision: {}", server.url()));
    live.note("A server of one revision, or one that does an unusual thing:");
    for url in server.scene_urls() {
        live.note(&format!("  {url}"));
    }
    live.note("Visit them with the client. Ctrl-C ends the visits, and prints the findings.");
    let end: BoxFuture<'_, ()> = Box::pin(async {
        // Without a signal to wait for, the visits end at once.
        let _ = tokio::signal::ctrl_c().await;
    });
    Ok(server.serve(end).await?)
}

fn visitor(words: &[String], settings: &Settings) -> Result<Visitor, CliError> {
    if words.is_empty() {
        return Err(UsageError("no client to start behind `--`".to_owned()).into());
    }
    let has = |mark: &str| words.iter().any(|word| word.contains(mark));
    let client = Arc::new(Client {
        words: words.to_vec(),
        env: settings.env.clone(),
        shows_stderr: settings.shows_stderr,
    });
    match (has(URL), has(SERVER)) {
        (true, true) => Err(UsageError(format!(
            "the client has both {URL} and {SERVER}; judge one transport at a time"
        ))
        .into()),
        (true, false) => Ok(Visitor::http(move |url| {
            let client = Arc::clone(&client);
            Box::pin(async move { client.visit_url(&url).await.unwrap_or(false) })
        })),
        (false, true) => Ok(Visitor::stdio(move |server| {
            let client = Arc::clone(&client);
            Box::pin(async move { client.start_server(server).await.unwrap_or(false) })
        })),
        (false, false) => Ok(Visitor::stdio(move |server| {
            let client = Arc::clone(&client);
            Box::pin(async move { client.speak(server).await.unwrap_or(false) })
        })),
    }
}

/// The program of a client.
struct Client {
    words: Vec<String>,
    env: Vec<(String, String)>,
    shows_stderr: bool,
}

impl Client {
    fn start(&self, words: &[String], piped: bool) -> io::Result<Child> {
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let stream = || match piped {
            true => Stdio::piped(),
            false => Stdio::null(),
        };
        Command::new(program)
            .args(arguments)
            .envs(self.env.iter().cloned())
            .stdin(stream())
            .stdout(stream())
            .stderr(match self.shows_stderr {
                true => Stdio::inherit(),
                false => Stdio::null(),
            })
            .kill_on_drop(true)
            .spawn()
    }

    /// The client visits a URL among its arguments.
    async fn visit_url(&self, url: &str) -> io::Result<bool> {
        let words: Vec<String> = self
            .words
            .iter()
            .map(|word| word.replace(URL, url))
            .collect();
        Ok(self.start(&words, false)?.wait().await?.success())
    }

    /// The client speaks on its own standard streams.
    async fn speak(&self, server: StdioServer) -> io::Result<bool> {
        let mut child = self.start(&self.words, true)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Ok(false);
        };
        server
            .serve(BoxIo::new(tokio::io::join(output, input)))
            .await;
        Ok(child.wait().await?.success())
    }

    /// The client starts the server: a relay of this program, which connects to `server`.
    async fn start_server(&self, server: StdioServer) -> io::Result<bool> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let token = token()?;
        let address = format!("{}-{token}", listener.local_addr()?.port());
        let mut child = self.start(&self.with_relay(&address)?, false)?;
        let mut relays = JoinSet::new();
        let status = loop {
            tokio::select! {
                status = child.wait() => break status?,
                accepted = listener.accept() => {
                    let (stream, _) = accepted?;
                    relays.spawn(serve(stream, token.clone(), server.clone()));
                }
            }
        };
        let ended = async { while relays.join_next().await.is_some() {} };
        // A relay that does not end is dropped.
        let _ = timeout(RELAY_TIMEOUT, ended).await;
        Ok(status.success())
    }

    /// Replaces the mark of the server: a whole word by words, a part of a word by a text.
    fn with_relay(&self, address: &str) -> io::Result<Vec<String>> {
        let program: OsString = std::env::current_exe()?.into();
        let program = program.to_string_lossy().into_owned();
        let relay = [
            program,
            "check".to_owned(),
            "--client".to_owned(),
            "--relay".to_owned(),
            address.to_owned(),
        ];
        let mut words = Vec::new();
        for word in &self.words {
            match word == SERVER {
                true => words.extend(relay.iter().cloned()),
                false => words.push(word.replace(SERVER, &relay.join(" "))),
            }
        }
        Ok(words)
    }
}

fn token() -> io::Result<String> {
    let bytes: [u8; TOKEN_CHARS / 2] = random_bytes().map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Serves a relay that knows the token.
async fn serve(mut stream: TcpStream, token: String, server: StdioServer) {
    let mut given = [0; TOKEN_CHARS];
    let read = timeout(RELAY_TIMEOUT, stream.read_exact(&mut given)).await;
    if matches!(read, Ok(Ok(_))) && given == *token.as_bytes() {
        server.serve_relay(BoxIo::new(stream)).await;
    }
}

/// Relays the standard streams of this process to the scripted server.
///
/// # Errors
///
/// [`CliError`] without a scripted server at the address.
pub(super) fn relay(address: &str) -> Result<(), CliError> {
    let bad = || CliError::new(Exit::Usage, "invalid --relay: pintle starts it for itself");
    let (port, token) = address.split_once('-').ok_or_else(bad)?;
    let port: u16 = port.parse().map_err(|_| bad())?;
    let mut server = BlockingStream::connect((Ipv4Addr::LOCALHOST, port))?;
    let mut to_server = server.try_clone()?;
    to_server.write_all(token.as_bytes())?;
    thread::spawn(move || {
        // The end of the connection ends the other direction, which reports it.
        let _ = io::copy(&mut io::stdin().lock(), &mut to_server);
        let _ = to_server.write_all(StdioServer::END_OF_INPUT);
    });
    let mut output = io::stdout().lock();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match server.read(&mut buffer)? {
            0 => return Ok(()),
            count => {
                output.write_all(buffer.get(..count).unwrap_or_default())?;
                output.flush()?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(words: &[&str]) -> Client {
        Client {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            env: Vec::new(),
            shows_stderr: false,
        }
    }

    #[test]
    fn the_mark_of_the_server_becomes_words_or_a_text() {
        let words = client(&["c", "{server}"])
            .with_relay("1-a")
            .expect("a program");
        assert_eq!(words[2..], ["check", "--client", "--relay", "1-a"]);
        let words = client(&["c", "--server={server}"])
            .with_relay("1-a")
            .expect("a program");
        assert!(
            words[1].ends_with(" check --client --relay 1-a"),
            "{words:?}"
        );
    }

    #[test]
    fn a_client_of_two_transports_is_a_wrong_use() {
        let settings = Settings::default();
        let words = ["c", "{url}", "{server}"].map(str::to_owned);
        assert_eq!(
            visitor(&words, &settings).expect_err("two").exit(),
            Exit::Usage
        );
        assert_eq!(
            visitor(&[], &settings).expect_err("none").exit(),
            Exit::Usage
        );
        assert!(visitor(&["c".to_owned()], &settings).is_ok());
    }

    #[test]
    fn a_relay_needs_a_port_and_a_token() {
        for address in ["", "1", "x-a", "70000-a"] {
            assert!(relay(address).is_err(), "{address}");
        }
    }
}
