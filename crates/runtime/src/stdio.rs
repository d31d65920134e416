//! A server on standard streams. Standard output is ours alone.

mod threads;
#[cfg(unix)]
mod unix;

use std::io;
use std::sync::Arc;

use crate::pipe::{PipeEnd, PipeOptions, serve_pipe};
use crate::service::Service;

/// Serves the peer on standard input and output, until it is gone.
///
/// On Unix, standard output is moved away first: whatever else the process prints goes to standard
/// error, so that a stray print cannot corrupt the protocol. On other systems it is the program's
/// duty not to print.
///
/// # Errors
///
/// Whatever reading or writing fails with, and a [`StartHookError`](crate::StartHookError) of the service.
pub async fn serve_stdio<S: Service>(service: Arc<S>, options: PipeOptions) -> io::Result<PipeEnd> {
    #[cfg(unix)]
    let (reader, writer) = unix::take_streams()?;
    #[cfg(not(unix))]
    let (reader, writer) = threads::take_streams()?;
    service.start().await.map_err(io::Error::other)?;
    let ended = serve_pipe(Arc::clone(&service), reader, writer, options).await;
    service.leave().await;
    service.stop().await;
    ended
}
