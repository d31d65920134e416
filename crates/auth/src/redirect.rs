//! Redirect URI on a loopback port, for one sign-in.
//!
//! Spec: RFC 8252, 7.3 and 8.3.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use crate::flow::AuthorizationResponse;
use crate::form;

/// How much of a request is read, in bytes.
const HEAD_BYTES: usize = 16 << 10;
/// How long one request may take.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How many connections are served at the same time.
const CONNECTIONS: usize = 16;
/// Path of the redirect URI.
const PATH: &str = "/callback";

/// Receives one redirect on a loopback port, which other machines cannot reach.
#[derive(Debug)]
pub(crate) struct Loopback {
    listener: TcpListener,
    port: u16,
}

impl Loopback {
    /// Listens: on the port of `before` if it is free, or else on whichever is. An address that
    /// was registered once stays good with it.
    pub(crate) async fn bind(before: Option<&str>) -> io::Result<Self> {
        let preferred = before.and_then(|redirect| {
            let rest = redirect.strip_prefix("http://127.0.0.1:")?;
            rest.strip_suffix(PATH)?.parse().ok()
        });
        let listener = match preferred {
            Some(port) => match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
                Ok(listener) => listener,
                Err(_) => TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?,
            },
            None => TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?,
        };
        Self::of(listener)
    }

    /// Listens on this port, and on no other.
    pub(crate) async fn at(port: u16) -> io::Result<Self> {
        Self::of(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?)
    }

    fn of(listener: TcpListener) -> io::Result<Self> {
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    pub(crate) fn redirect(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the redirect with this state. Every other request is answered with 404. An idle
    /// connection does not delay others, because browsers open connections in advance.
    pub(crate) async fn wait_for_redirect(&self, state: &str) -> AuthorizationResponse {
        let state: Arc<str> = state.into();
        let mut open = Connections::default();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => open.add(serve(stream, Arc::clone(&state))),
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                },
                Some(ended) = open.tasks.join_next() => if let Ok(Some(query)) = ended {
                    return AuthorizationResponse::with_query(&query);
                },
            }
        }
    }
}

/// The connections that are open. They end when this is dropped.
#[derive(Default)]
struct Connections {
    tasks: JoinSet<Option<String>>,
    /// In the order in which they came.
    handles: VecDeque<AbortHandle>,
}

impl Connections {
    /// Serves one more. At the limit the oldest is closed: the user's browser sends its request at
    /// once.
    fn add(&mut self, serving: impl Future<Output = Option<String>> + Send + 'static) {
        self.handles.retain(|handle| !handle.is_finished());
        if self.handles.len() >= CONNECTIONS
            && let Some(oldest) = self.handles.pop_front()
        {
            oldest.abort();
        }
        self.handles.push_back(self.tasks.spawn(serving));
    }
}

/// Answers one request. Returns its query if it has this state.
async fn serve(mut stream: TcpStream, state: Arc<str>) -> Option<String> {
    let query = timeout(HEAD_TIME, query(&mut stream)).await.ok().flatten();
    let is_ours = |query: &String| {
        let pairs = form::read(query).unwrap_or_default();
        let mut states = pairs.iter().filter(|(name, _)| name == "state");
        states.any(|(_, value)| **value == *state)
    };
    let response = query.filter(is_ours);
    let answered = timeout(HEAD_TIME, answer(&mut stream, response.is_some())).await;
    tracing::debug!(
        answered = answered.is_ok(),
        ours = response.is_some(),
        "a browser came"
    );
    response
}

/// The query of a request for our path; none for any other.
async fn query(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut piece = [0; 1_024];
        let read = stream.read(&mut piece).await.ok()?;
        if read == 0 || head.len() + read > HEAD_BYTES {
            return None;
        }
        head.extend_from_slice(&piece[..read]);
    }
    let text = String::from_utf8(head).ok()?;
    let target = text
        .lines()
        .next()?
        .strip_prefix("GET ")?
        .split(' ')
        .next()?;
    let (path, query) = target.split_once('?')?;
    (path == PATH).then(|| query.to_owned())
}

async fn answer(stream: &mut TcpStream, is_ours: bool) -> io::Result<()> {
    let (status, text) = match is_ours {
        true => (
            "200 OK",
            "You can close this page and go back to the program.",
        ),
        false => ("404 Not Found", "There is nothing here."),
    };
    let page = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    stream.write_all(page.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn come(port: u16, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
            .await
            .expect("a port");
        stream.write_all(request.as_bytes()).await.expect("written");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        answer
    }

    // spec: 2025-11-25 AUTH-85, AUTH-95
    // spec: 2026-07-28 N-AUTH-33, N-AUTH-34
    // hardening: H-36
    #[tokio::test]
    async fn only_the_visit_that_was_begun_ends_here() {
        let loopback = Loopback::bind(None).await.expect("a port");
        assert!(
            loopback
                .listener
                .local_addr()
                .expect("an address")
                .ip()
                .is_loopback()
        );
        let port = loopback.port;
        let redirect = loopback.redirect();
        let waiting =
            tokio::spawn(async move { loopback.wait_for_redirect("s1").await.query().to_owned() });
        for strange in [
            "GET /callback?code=x&state=other HTTP/1.1\r\n\r\n",
            "GET /callback?code=x HTTP/1.1\r\n\r\n",
            "GET /callback HTTP/1.1\r\n\r\n",
            "GET /other?code=x&state=s1 HTTP/1.1\r\n\r\n",
            "POST /callback?code=x&state=s1 HTTP/1.1\r\n\r\n",
            "GET /callback?state=s1&state=s1 HTTP/1.1\r\n\r\n",
        ] {
            assert!(
                come(port, strange).await.starts_with("HTTP/1.1 404"),
                "{strange}"
            );
        }
        let huge = format!(
            "GET /callback?state=s1&x={} HTTP/1.1\r\n\r\n",
            "x".repeat(HEAD_BYTES)
        );
        assert!(!come(port, &huge).await.starts_with("HTTP/1.1 200"));
        let ours = "GET /callback?code=x&state=s1 HTTP/1.1\r\nHost: x\r\n\r\n";
        assert!(come(port, ours).await.starts_with("HTTP/1.1 200"));
        assert_eq!(waiting.await.expect("it came"), "code=x&state=s1");
        let again = Loopback::bind(Some(&redirect)).await.expect("a port");
        assert_eq!(
            again.redirect(),
            redirect,
            "the same address as before, if it is free"
        );
        let other = Loopback::bind(Some(&redirect)).await.expect("a port");
        assert_ne!(other.redirect(), redirect);
        let taken = Loopback::at(port).await.expect_err("it is not free");
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
    }

    // hardening: H-36
    #[tokio::test]
    async fn connections_that_send_nothing_delay_no_browser() {
        let loopback = Loopback::bind(None).await.expect("a port");
        let port = loopback.port;
        let waiting =
            tokio::spawn(async move { loopback.wait_for_redirect("s1").await.query().to_owned() });
        let mut silent = Vec::new();
        for _ in 0..CONNECTIONS + 3 {
            let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await;
            silent.push(stream.expect("a connection"));
        }
        let ours = "GET /callback?code=x&state=s1 HTTP/1.1\r\n\r\n";
        let came = timeout(HEAD_TIME / 2, come(port, ours)).await;
        assert!(came.expect("at once").starts_with("HTTP/1.1 200"));
        assert_eq!(waiting.await.expect("it came"), "code=x&state=s1");
        // The oldest made room, so its end came before its time.
        let mut end = [0];
        let read = timeout(HEAD_TIME / 2, silent[0].read(&mut end)).await;
        assert!(matches!(read.expect("closed"), Ok(0) | Err(_)));
    }
}
