//! The framing of standard streams over TCP and Unix sockets: one conversation per connection.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::first::{First, first};
use crate::pipe::{PipeOptions, serve_pipe};
use crate::service::Service;

/// Connections that are served at the same time; more wait to be accepted.
const CONNECTIONS: usize = 1_024;
/// How long accepting pauses when the process is out of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves every connection of a TCP listener, until the options' shutdown begins.
///
/// There is no authorization on a plain socket: listen on loopback, or behind something that has.
///
/// # Errors
///
/// A [`StartHookError`](crate::StartHookError) of the service. The listener itself does not fail.
pub async fn serve_tcp<S: Service>(
    service: Arc<S>,
    listener: TcpListener,
    options: PipeOptions,
) -> io::Result<()> {
    let accept = async || {
        let (stream, _) = listener.accept().await?;
        // A disconnected peer is noticed at the next read.
        let _ = stream.set_nodelay(true);
        Ok(stream.into_split())
    };
    serve_all(service, accept, options).await
}

/// Serves every connection of a Unix listener, until the options' shutdown begins.
///
/// Who may connect is decided by the permissions of the socket's file.
///
/// # Errors
///
/// A [`StartHookError`](crate::StartHookError) of the service. The listener itself does not fail.
#[cfg(unix)]
pub async fn serve_unix<S: Service>(
    service: Arc<S>,
    listener: tokio::net::UnixListener,
    options: PipeOptions,
) -> io::Result<()> {
    let accept = async || Ok(listener.accept().await?.0.into_split());
    serve_all(service, accept, options).await
}

async fn serve_all<S, R, W, F>(
    service: Arc<S>,
    accept: impl Fn() -> F,
    options: PipeOptions,
) -> io::Result<()>
where
    S: Service,
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
    F: Future<Output = io::Result<(R, W)>>,
{
    let mut options = options;
    // A peer that never sends a message must not hold its slot without limit.
    let timeout = options.limits.handshake_timeout;
    options.opening_timeout.get_or_insert(timeout);
    options.is_shared = true;
    service.start().await.map_err(io::Error::other)?;
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let mut shutdown = options.shutdown.clone();
    let mut connections = JoinSet::new();
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else {
            return Ok(());
        };
        let accepted = match first(shutdown.begun(), accept()).await {
            First::One(()) => {
                service.leave().await;
                break;
            }
            First::Other(accepted) => accepted,
        };
        match accepted {
            Ok(stream) => {
                connections.spawn(serve_one(
                    Arc::clone(&service),
                    stream,
                    options.clone(),
                    permit,
                ));
            }
            // A peer that is gone again, or no descriptor left: the others are served on.
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
    while connections.join_next().await.is_some() {}
    service.stop().await;
    Ok(())
}

async fn serve_one<S: Service>(
    service: Arc<S>,
    (reader, writer): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    options: PipeOptions,
    _place: OwnedSemaphorePermit,
) {
    let end = serve_pipe(service, reader, writer, options).await;
    tracing::debug!(?end, "a connection ended");
}
