//! The driver of byte streams: one connection, one task, any number of handlers.

mod driver;
mod handlers;
mod held;
pub(crate) mod incoming;
mod intake;
pub(crate) mod outgoing;
mod timer;

use std::future::poll_fn;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use pintle_proto::frame::Framing;
use pintle_proto::{Connection, Limits, PeerIdentity};

use crate::context::Context;
use crate::engine_handle::{EngineHandle, SharedEngine};
use crate::future::deadline_after;
use crate::run::run;
use crate::service::Service;
use crate::shutdown::Shutdown;
use driver::Driver;
use handlers::Handlers;
use intake::Intake;

/// The limits of a pipe.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PipeOptions {
    /// The limits of the conversation.
    pub limits: Arc<Limits>,
    /// Size of one line, in bytes; default 16 MiB. A longer one is dropped and reported.
    pub max_line_bytes: usize,
    /// Unsent bytes at which reading pauses; default 16 MiB.
    pub max_unsent_bytes: usize,
    /// How long a peer may leave unsent bytes unread; default 30 s. The conversation ends then.
    pub write_timeout: Duration,
    /// Bytes of lines that wait while [`Limits::max_waiting_requests`] requests do; default 1 MiB.
    ///
    /// They are read so that answers to our questions and cancellations are found among them;
    /// beyond it reading pauses.
    pub max_held_bytes: usize,
    /// How long a peer may take to open the conversation, by a handshake or by a request that
    /// states its terms. There is no limit by default, because a process is started by its peer. Sockets
    /// default to [`Limits::handshake_timeout`].
    pub opening_timeout: Option<Duration>,
    /// How long running handlers may finish after the end of input; default 3 s. Questions of
    /// handlers to the peer end at once then.
    pub drain_timeout: Duration,
    /// Whether other clients use the service over connections of their own; default false. Tasks
    /// cannot be listed then, because the server cannot distinguish these clients. Sockets set it.
    pub is_shared: bool,
    /// Signal that ends the driver before its input ends.
    pub shutdown: Shutdown,
}

impl Default for PipeOptions {
    fn default() -> Self {
        Self {
            limits: Arc::default(),
            max_line_bytes: 16 << 20,
            max_unsent_bytes: 16 << 20,
            write_timeout: Duration::from_secs(30),
            max_held_bytes: 1 << 20,
            opening_timeout: None,
            drain_timeout: Duration::from_secs(3),
            is_shared: false,
            shutdown: Shutdown::never(),
        }
    }
}

/// How a pipe came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PipeEnd {
    /// The peer closed its end, and everything owed was answered.
    EndOfInput,
    /// As [`PipeEnd::EndOfInput`], but handlers were cut off.
    Cut,
    /// The peer stopped reading.
    WriteTimedOut,
    /// The peer did not open the conversation in time.
    OpeningTimedOut,
    /// The shutdown of the options began.
    Shutdown,
}

/// Serves one peer over a pair of byte streams, until it is gone.
///
/// Messages are lines of JSON. Messages that are read together are answered together. A handler is
/// first polled in place. If it has to wait it continues as a task of its own, so it never delays
/// the others. The hooks of the service do not run, because it may have other conversations: see
/// [`Service::start`].
///
/// # Errors
///
/// Any error of reading or writing.
///
/// # Cancellation
///
/// Dropping the future ends the conversation at once: handlers are dropped, nothing is answered.
pub async fn serve_pipe<S, R, W>(
    service: Arc<S>,
    reader: R,
    writer: W,
    options: PipeOptions,
) -> io::Result<PipeEnd>
where
    S: Service,
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let peer = if options.is_shared {
        PeerIdentity::Anonymous
    } else {
        PeerIdentity::Only
    };
    let engine = Connection::server(service.profile(), Arc::clone(&options.limits))
        .with_framing(Framing::Line);
    let mut engine = engine.with_peer(peer);
    let opening = options
        .opening_timeout
        .map(|wait| deadline_after(Instant::now(), wait));
    engine.expect_opening(opening.map(Instant::into_std));
    let conversation = Arc::new(SharedEngine::new(engine));
    let weak = Arc::downgrade(&conversation);
    service.attach(weak as Weak<dyn EngineHandle>);
    let notified = Arc::clone(&service);
    let engine: Arc<dyn EngineHandle> = Arc::clone(&conversation) as _;
    let make = move |ticket, incoming| {
        let cx = Context::new(incoming, Arc::clone(&engine));
        run(Arc::clone(&service), ticket, cx)
    };
    let handlers = Handlers::new(options.limits.max_running_requests, make);
    let intake = Intake::new(notified, conversation, handlers, &options);
    let mut driver = Driver::new(reader, writer, intake, options);
    poll_fn(|cx| driver.poll(cx)).await
}
