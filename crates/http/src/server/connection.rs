//! One connection: as patient with its peer as the limits say, and ended well.

use std::convert::Infallible;
use std::pin::pin;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use pintle_runtime::{Service, Shutdown};
use tokio::io::{AsyncRead, AsyncWrite};

use super::patient::{Patience, Patient};
use super::site::{Front, FrontBody};
use super::turn::{Closing, Turns};
use super::{HttpLimits, HttpService};

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
        let turns = Turns::default();
        let patient = Patient::new(stream, Patience::from(limits), turns.clone());
        let answer = service_fn(|request| self.answer(request, &turns));
        let mut connection = pin!(protocol(limits).serve_connection(TokioIo::new(patient), answer));
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

    async fn answer(
        &self,
        request: Request<Incoming>,
        turns: &Turns,
    ) -> Result<Response<Closing<FrontBody>>, Infallible> {
        let turn = turns.take();
        let answer = self.front.answer(request).await;
        Ok(answer.map(|body| Closing::new(body, turn)))
    }
}

fn protocol(limits: &HttpLimits) -> http1::Builder {
    let mut protocol = http1::Builder::new();
    protocol
        // The stream sees to it: hyper has one time for a head and for the wait before it.
        .header_read_timeout(None)
        // hyper does not go below this.
        .max_buf_size(limits.head_bytes.max(8 << 10));
    if limits.head_lines != HYPERS_OWN_LINES {
        protocol.max_headers(limits.head_lines);
    }
    protocol
}
