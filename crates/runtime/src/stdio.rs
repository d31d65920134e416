//! A server on standard streams. Standard output is ours alone.

#[cfg(target_os = "linux")]
mod pipe_writer;
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
/// On Linux, the buffer of a pipe grows to 256 KiB after the first write that does not fit, if the system permits it.
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

/// Serves the peer on standard input and output, until it is gone. Logs one warning if tools require scopes,
/// because no caller has scopes here.
///
/// On Unix, standard output is moved away first: whatever else the process prints goes to standard
/// error, so that a stray print cannot corrupt the protocol. On other systems it is the program's
/// duty not to print.
///
/// # Errors
///
/// Whatever reading or writing fails with, and a [`StartHookError`](crate::StartHookError) of the service.
pub async fn serve_stdio<S: Service>(service: Arc<S>, options: PipeOptions) -> io::Result<PipeEnd> {
    serve_streams(service, standard_streams()?, options).await
}

/// Serves the peer as [`serve_stdio`], on streams that the program has taken before: see [`standard_streams`].
///
/// # Errors
///
/// As [`serve_stdio`].
pub async fn serve_streams<S: Service>(
    service: Arc<S>,
    (reader, writer): (StandardInput, StandardOutput),
    options: PipeOptions,
) -> io::Result<PipeEnd> {
    service.start().await.map_err(io::Error::other)?;
    if let Some(names) = shortened(&service.tools_with_scopes()) {
        tracing::warn!(
            tools = %names,
            "tools are hidden: they require scopes, and callers on standard streams have none; serve them over \
             HTTP with authorization, or remove the scopes"
        );
    }
    let ended = serve_pipe(Arc::clone(&service), reader, writer, options).await;
    service.leave().await;
    service.stop().await;
    ended
}

/// Returns the first names as one line; `None` without names.
fn shortened(names: &[Box<str>]) -> Option<String> {
    let first = names.get(..NAMES).unwrap_or(names).join(", ");
    match names.len() {
        0 => None,
        all if all > NAMES => Some(format!("{first} and {} more", all - NAMES)),
        _ => Some(first),
    }
}

/// Maximum number of names in a warning.
const NAMES: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_has_at_most_twenty_names() {
        let names = |count: usize| -> Vec<Box<str>> {
            (0..count)
                .map(|number| format!("t{number}").into())
                .collect()
        };
        assert_eq!(shortened(&names(0)), None);
        assert_eq!(shortened(&names(2)).as_deref(), Some("t0, t1"));
        let all = shortened(&names(NAMES)).expect("names");
        assert!(all.ends_with("t18, t19"), "{all}");
        let more = shortened(&names(NAMES + 3)).expect("names");
        assert!(more.ends_with("t19 and 3 more"), "{more}");
    }
}
