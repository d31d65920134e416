//! A server on standard streams. Standard output is ours alone.

mod threads;
#[cfg(unix)]
mod unix;

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::pipe::{PipeEnd, PipeOptions, serve_pipe};
use crate::service::Service;

/// Standard input, as a stream that only its owner reads.
pub type StandardInput = Pin<Box<dyn AsyncRead + Send>>;
/// Standard output, as a stream that only its owner writes.
pub type StandardOutput = Pin<Box<dyn AsyncWrite + Send>>;

/// Takes standard input and output, without a buffer of whole lines.
///
/// On Unix, standard output is moved away first: whatever else the process prints goes to standard
/// error, and dropping the stream closes it for the reader.
///
/// # Errors
///
/// Those of the system.
///
/// # Panics
///
/// Outside of a tokio runtime with I/O enabled.
pub fn standard_streams() -> io::Result<(StandardInput, StandardOutput)> {
    #[cfg(unix)]
    return unix::take_streams();
    #[cfg(not(unix))]
    {
        let (reader, writer) = threads::take_streams()?;
        Ok((Box::pin(reader), Box::pin(writer)))
    }
}

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
    let (reader, writer) = standard_streams()?;
    service.start().await.map_err(io::Error::other)?;
    let ended = serve_pipe(Arc::clone(&service), reader, writer, options).await;
    service.leave().await;
    service.stop().await;
    ended
}
