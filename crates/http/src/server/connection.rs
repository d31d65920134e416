//! One connection: as patient with its peer as the limits say, and ended well.

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use pintle_runtime::{Service, Shutdown};
use tokio::io::{AsyncRead, AsyncWrite};

use super::patient::Patient;
use super::site::{Front, FrontBody};
use super::{HttpLimits, HttpService};

/// Longer than any connection lives: hyper adds its time-outs to the clock, which has an end.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// The headers hyper takes without being told; telling it costs an allocation per request.
const HYPERS_OWN_LINES: usize = 100;

/// What one connection needs to know.
pub(super) struct Connection<S> {
    pub(super) service: HttpService<S>,
    pub(super) front: Front<S>,
    pub(super) closed: Shutdown,
}

impl<S: Service> Connection<S> {
    pub(super) async fn serve(self, stream: impl AsyncRead + AsyncWrite + Unpin) {
        let limits = &self.service.options().limits;
        let io = TokioIo::new(Patient::new(stream, limits.write_stall));
        let answer = service_fn(|request| self.answer(request));
        let mut connection = pin!(protocol(limits).serve_connection(io, answer));
        let closed = &mut self.closed.clone();
        let end = tokio::select! {
            biased;
            end = connection.as_mut() => end,
            () = closed.begun() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = end {
            tracing::debug!(%error, "a connection ended early");
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<FrontBody>, Infallible> {
        Ok(self.front.answer(request).await)
    }
}

fn protocol(limits: &HttpLimits) -> http1::Builder {
    let mut protocol = http1::Builder::new();
    protocol
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time.min(FOR_EVER))
        // hyper does not go below this.
        .max_buf_size(limits.head_bytes.max(8 << 10));
    if limits.head_lines != HYPERS_OWN_LINES {
        protocol.max_headers(limits.head_lines);
    }
    protocol
}
