//! An HTTP server that answers as a script decides, byte for byte.
//!
//! A script returns a [`FakeResponse`] for each [`SeenRequest`]. The response can be valid or broken:
//! a stream that breaks off, a head that never ends, a connection that closes inside a character. The
//! server runs in memory, where the clock can be paused: [`FakeServer`] is a [`Dialer`], and
//! [`FakeServer::connect`] opens a connection. For clients that need sockets,
//! [`FakeServer::listen`] listens on a loopback port.
//!
//! It speaks HTTP/1.1, one request at a time on a connection.
//!
//! ```
//! use pintle_client::{CallError, Client};
//! use pintle_testkit::fake_http::{FakeServer, BodyPart, courtesy, empty, stream};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A server of 2025-11-25 that closes the connection in the middle of every answer.
//! let rude = FakeServer::new(|seen, _count| {
//!     if seen.is("tools/call") {
//!         let mut answer = stream(&[]);
//!         answer.push(BodyPart::Cut);
//!         return answer;
//!     }
//!     courtesy(seen).unwrap_or_else(|| empty(404))
//! });
//! let client = Client::connect(rude.target(&Default::default())?).await?;
//!
//! let error = client.call_tool("t", ()).await.expect_err("there is no answer");
//!
//! assert!(matches!(error, CallError::Disconnected { .. }), "{error}");
//! assert_eq!(rude.count("tools/call"), 1, "it may have been carried out");
//! # Ok(())
//! # }
//! ```

mod fake_response;
mod read;

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use pintle_http::client::{
    BoxIo, Dialer, EndpointUrl, HttpClientOptions, HttpConnect, ReservedHeaderError, UrlOrigin,
    WebClient,
};
use pintle_runtime::sync::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, duplex};
use tokio::net::TcpListener;
use tokio::time::sleep;

pub use fake_response::{
    BodyPart, FakeResponse, courtesy, empty, end, error, event, json, piece, result, stream,
    streamed, welcome, welcome_to, welcoming, with,
};
pub use read::SeenRequest;

/// Bytes that a connection in memory buffers before its writer waits.
const HELD: usize = 1 << 16;

type Script = dyn Fn(&SeenRequest, usize) -> FakeResponse + Send + Sync;

/// Answers every request as its script decides. Clones are the same server.
#[derive(Clone)]
pub struct FakeServer(Arc<Inner>);

struct Inner {
    script: Box<Script>,
    seen: Mutex<Vec<SeenRequest>>,
    connections: Mutex<Vec<UrlOrigin>>,
    opened: Mutex<usize>,
    closed: Mutex<Vec<usize>>,
}

impl FakeServer {
    /// Creates a server whose responses come from `script`. Its number counts requests from 0, over all
    /// connections.
    pub fn new(
        script: impl Fn(&SeenRequest, usize) -> FakeResponse + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Inner {
            script: Box::new(script),
            seen: Mutex::default(),
            connections: Mutex::default(),
            opened: Mutex::default(),
            closed: Mutex::default(),
        }))
    }

    /// Opens a connection in memory, which is served on the runtime of the caller.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn connect(&self) -> DuplexStream {
        let (near, far) = duplex(HELD);
        tokio::spawn(self.clone().serve(far));
        near
    }

    /// Listens on a free port of the loopback, until the runtime of the caller ends.
    ///
    /// # Errors
    ///
    /// If the system provides no port.
    pub async fn listen(&self) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let origin = self.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(origin.clone().serve(stream));
            }
        });
        Ok(address)
    }

    /// Returns the target for a client of this workspace, with the given options. The client connects
    /// to `http://127.0.0.1/mcp`.
    ///
    /// # Errors
    ///
    /// A header in the options that a caller must not set.
    pub fn target(&self, options: &HttpClientOptions) -> Result<HttpConnect, ReservedHeaderError> {
        let url = EndpointUrl::parse("http://127.0.0.1/mcp").expect("it is a URL");
        HttpConnect::over(WebClient::over(self.clone(), options), url, options)
    }

    /// Serves one connection to its end.
    pub async fn serve(self, mut stream: impl AsyncRead + AsyncWrite + Unpin + Send) {
        let connection = self.opened();
        let mut unread = Vec::new();
        while let Some(seen) = read::request(&mut stream, &mut unread).await {
            let count = self.note(&seen);
            for part in self.answer(&seen, count) {
                match part {
                    BodyPart::Bytes(bytes) if stream.write_all(&bytes).await.is_ok() => {}
                    BodyPart::Wait(time) => sleep(time).await,
                    BodyPart::Hang => {
                        let mut nothing = [0; 64];
                        while stream.read(&mut nothing).await.is_ok_and(|read| read > 0) {}
                        self.0.closed.lock().push(connection);
                        return;
                    }
                    BodyPart::Cut | BodyPart::Bytes(_) => return,
                }
            }
        }
        self.0.closed.lock().push(connection);
    }

    /// Returns the script's response to a request, for scripts that wrap other scripts.
    pub fn answer(&self, seen: &SeenRequest, count: usize) -> FakeResponse {
        (self.0.script)(seen, count)
    }

    fn opened(&self) -> usize {
        let mut opened = self.0.opened.lock();
        *opened += 1;
        *opened - 1
    }

    fn note(&self, seen: &SeenRequest) -> usize {
        let mut all = self.0.seen.lock();
        all.push(seen.clone());
        all.len() - 1
    }

    /// Every request that has arrived, in order.
    pub fn seen(&self) -> Vec<SeenRequest> {
        self.0.seen.lock().clone()
    }

    /// The first request of a verb, or of a method of MCP.
    ///
    /// # Panics
    ///
    /// If no such request has arrived.
    pub fn first(&self, what: &str) -> SeenRequest {
        let mut seen = self.seen().into_iter();
        seen.find(|seen| seen.verb == what || seen.is(what))
            .unwrap_or_else(|| panic!("no {what} came"))
    }

    /// The number of requests of a verb, or of a method of MCP.
    pub fn count(&self, what: &str) -> usize {
        let seen = self.seen();
        let of = seen
            .iter()
            .filter(|seen| seen.verb == what || seen.is(what));
        of.count()
    }

    /// The origin that the client asked for at each dial, in order.
    pub fn connections(&self) -> Vec<UrlOrigin> {
        self.0.connections.lock().clone()
    }

    /// The connections that the client has closed, by the order in which they were opened.
    pub fn closed(&self) -> Vec<usize> {
        self.0.closed.lock().clone()
    }
}

impl Dialer for FakeServer {
    fn dial(&self, origin: &UrlOrigin) -> Pin<Box<dyn Future<Output = io::Result<BoxIo>> + Send>> {
        self.0.connections.lock().push(origin.clone());
        let near = self.connect();
        Box::pin(async { Ok(BoxIo::new(near)) })
    }
}

impl fmt::Debug for FakeServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeServer")
            .field("seen", &self.0.seen.lock().len())
            .finish_non_exhaustive()
    }
}
