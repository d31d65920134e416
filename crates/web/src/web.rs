//! The server of the page.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use pintle_runtime::{BoxFuture, RandomnessError};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::backend::Backend;
use crate::guard::Guard;
use crate::options::WebOptions;
use crate::respond::Responder;
use crate::target::Targets;
use crate::token::Token;

/// Maximum time for the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum number of headers of a request.
const MAX_HEADERS: usize = 64;
/// Maximum size of the head of a request, in bytes.
const MAX_HEADER_BYTES: usize = 16 << 10;
/// Pause after a failed accept, for example without free file descriptors.
const ACCEPT_DELAY: Duration = Duration::from_millis(100);

/// The page of one user, on an address of this machine.
pub struct Web {
    listener: TcpListener,
    responder: Arc<Responder>,
    max_connections: usize,
}

/// The reason why the page is not served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebError {
    /// The address is not loopback, so that other machines could use the page.
    #[error("{0} is not a loopback address")]
    Exposed(SocketAddr),
    /// The address cannot be listened on.
    #[error("the address cannot be listened on")]
    Listen(#[source] io::Error),
    /// The system has no randomness for the token.
    #[error("the system has no randomness for the token")]
    Randomness(#[source] RandomnessError),
}

impl Web {
    /// Listens on a loopback address. Port 0 is any free port.
    ///
    /// # Errors
    ///
    /// [`WebError`].
    pub async fn bind(
        address: SocketAddr,
        targets: impl Targets,
        options: WebOptions,
    ) -> Result<Self, WebError> {
        Self::open(address, Backend::new(Box::new(targets), options)).await
    }

    // Not generic, as [`Web::accept`]: so that other crates do not compile it again.
    async fn open(address: SocketAddr, backend: Backend) -> Result<Self, WebError> {
        if !address.ip().is_loopback() {
            return Err(WebError::Exposed(address));
        }
        let token = Token::draw().map_err(WebError::Randomness)?;
        let listener = TcpListener::bind(address).await.map_err(WebError::Listen)?;
        let address = listener.local_addr().map_err(WebError::Listen)?;
        Ok(Self {
            listener,
            max_connections: backend.options.max_connections,
            responder: Arc::new(Responder::new(Guard::new(address, token), backend)),
        })
    }

    /// Returns the URL of the page. Its fragment is the token: a user who has it can do everything that the page can.
    pub fn url(&self) -> String {
        self.responder.url()
    }

    /// Serves until `stop` is complete. Then the connection to the server is closed.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let responder = Arc::clone(&self.responder);
        // Dropping it ends the connections.
        let accept = self.accept();
        tokio::select! {
            () = accept => {}
            () = stop => {}
        }
        responder.close().await;
    }

    fn accept(self) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let permits = Arc::new(Semaphore::new(self.max_connections));
            let mut connections = JoinSet::new();
            while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
                while connections.try_join_next().is_some() {}
                match self.listener.accept().await {
                    Ok((stream, _)) => {
                        let responder = Arc::clone(&self.responder);
                        let served: BoxFuture<'static, ()> = Box::pin(async move {
                            connection(stream, responder).await;
                            drop(permit);
                        });
                        connections.spawn(served);
                    }
                    Err(_) => tokio::time::sleep(ACCEPT_DELAY).await,
                }
            }
        })
    }
}

async fn connection(stream: TcpStream, responder: Arc<Responder>) {
    // Responses are small and must not wait for each other.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: http::Request<Incoming>| {
        let responder = Arc::clone(&responder);
        async move { Ok::<_, std::convert::Infallible>(responder.respond(request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    // A broken connection has no other reader than the browser.
    let _ = served.await;
}
