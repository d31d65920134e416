//! The driver of byte streams: one connection, one task, any number of handlers.

pub(crate) mod held;
pub(crate) mod outgoing;

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use bytes::{BufMut, Bytes};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::task::{AbortHandle, yield_now};
use tokio::time::{Instant, sleep_until};

use pintle_model::jsonrpc::{InvalidMessage, Message};
use pintle_proto::frame::{Line, Lines};
use pintle_proto::{
    Connection, Event, IncomingRequest, Input, Limits, PeerIdentity, RequestKey, Ticket,
};

use crate::context::Context;
use crate::engine_handle::{EngineHandle, SharedEngine};
use crate::future::deadline_after;
use crate::run::run;
use crate::service::Service;
use crate::shutdown::Shutdown;
use held::Held;
use outgoing::Outgoing;

/// Size of one read. Its messages are answered before the next read, so this is how far a peer can
/// exceed the limits.
const READ_BYTES: usize = 64 << 10;
/// Lines of one peer after which others get their turn: handlers that need not wait run right here.
const FAIR_LINES: usize = 16;

/// The bounds of a pipe.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PipeOptions {
    /// The bounds of the conversation.
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
/// the others.
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
    let engine = Connection::server(service.profile(), Arc::clone(&options.limits));
    let mut engine = engine.with_peer(peer);
    let opening = options
        .opening_timeout
        .map(|wait| deadline_after(Instant::now(), wait));
    engine.expect_opening(opening.map(Instant::into_std));
    let conversation = Arc::new(SharedEngine::new(engine));
    let weak = Arc::downgrade(&conversation);
    service.attach(weak as Weak<dyn EngineHandle>);
    let mut driver = Driver {
        service,
        conversation,
        reader,
        lines: Lines::new(options.max_line_bytes),
        outgoing: Outgoing::new(writer),
        handler_by_key: HashMap::new(),
        held: Held::default(),
        stalled_at: None,
        is_abandoned: false,
        options,
    };
    driver.drive().await
}

struct Driver<S, R, W> {
    service: Arc<S>,
    conversation: Arc<SharedEngine>,
    reader: R,
    lines: Lines,
    outgoing: Outgoing<W>,
    handler_by_key: HashMap<RequestKey, AbortHandle>,
    held: Held,
    stalled_at: Option<Instant>,
    is_abandoned: bool,
    options: PipeOptions,
}

/// Cause that woke the driver.
enum Woken {
    Read(usize),
    Written,
    Output,
    Deadline,
    WriteTimedOut,
    Drained,
    Shutdown,
}

impl<S, R, W> Driver<S, R, W>
where
    S: Service,
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    async fn drive(&mut self) -> io::Result<PipeEnd> {
        loop {
            self.take_held();
            self.pump();
            if self.is_abandoned {
                return Ok(PipeEnd::OpeningTimedOut);
            }
            match self.wait(None).await? {
                Woken::Read(0) => return self.drain(PipeEnd::EndOfInput).await,
                Woken::Read(_) => {
                    if self.take_lines() > FAIR_LINES {
                        yield_now().await;
                    }
                }
                Woken::Deadline => self.pass_time(),
                Woken::WriteTimedOut => return Ok(PipeEnd::WriteTimedOut),
                Woken::Shutdown => return self.drain(PipeEnd::Shutdown).await,
                Woken::Written | Woken::Output | Woken::Drained => {}
            }
        }
    }

    /// Answers the open requests without reading more, within the drain timeout.
    async fn drain(&mut self, end: PipeEnd) -> io::Result<PipeEnd> {
        let cut = deadline_after(Instant::now(), self.options.drain_timeout);
        // The last line may lack its end at the end of input. After a shutdown such a line is
        // incomplete.
        if end == PipeEnd::EndOfInput
            && let Some(Line::Text(line)) = self.lines.finish()
        {
            self.take_line(&line);
        }
        self.conversation.drive(Connection::end_listens);
        self.conversation.drive(Connection::close_input);
        loop {
            self.take_held();
            self.pump();
            let is_done = self.outgoing.is_empty()
                && self.held.is_empty()
                && self
                    .conversation
                    .drive(|engine| engine.in_flight() == 0 && !engine.has_output());
            if is_done {
                return Ok(end);
            }
            match self.wait(Some(cut)).await? {
                Woken::Deadline => self.pass_time(),
                Woken::Drained => {
                    return Ok(if end == PipeEnd::EndOfInput {
                        PipeEnd::Cut
                    } else {
                        end
                    });
                }
                Woken::WriteTimedOut => return Ok(PipeEnd::WriteTimedOut),
                _ => {}
            }
        }
    }

    /// Starts the handlers of events, then moves messages from the engine into the output.
    fn pump(&mut self) {
        while let Some(event) = self.conversation.poll_event() {
            self.handle(event);
        }
        while self.outgoing.len() < self.options.max_unsent_bytes {
            let Some(transmit) = self.conversation.poll_transmit() else {
                break;
            };
            self.outgoing.push(transmit.frame);
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Request(ticket, incoming) => self.start(ticket, incoming),
            Event::Cancelled(key) => self.stop(key),
            Event::Notification(notified) => self.service.notified(notified),
            Event::Abandoned => self.is_abandoned = true,
            _ => {}
        }
    }

    fn start(&mut self, ticket: Ticket, incoming: IncomingRequest) {
        let key = ticket.key();
        let engine: Arc<dyn EngineHandle> = Arc::clone(&self.conversation) as _;
        let cx = Context::new(incoming, engine);
        let mut handler = Box::pin(run(Arc::clone(&self.service), ticket, cx));
        // A quick handler is done now; one that waits gets a task, which polls it again at once.
        if poll_once(handler.as_mut()).is_pending() {
            self.forget_finished();
            self.handler_by_key
                .insert(key, tokio::spawn(handler).abort_handle());
        }
    }

    /// Forgets handlers that are done, now and then: when there are more than can run.
    fn forget_finished(&mut self) {
        if self.handler_by_key.len() > self.options.limits.max_running_requests {
            self.handler_by_key
                .retain(|_, handler| !handler.is_finished());
        }
    }

    fn stop(&mut self, key: RequestKey) {
        if let Some(handler) = self.handler_by_key.remove(&key) {
            handler.abort();
        }
    }

    /// Handles the lines of one read. Returns how many there were.
    fn take_lines(&mut self) -> usize {
        let mut taken = 0;
        while let Some(line) = self.lines.next_line() {
            taken += 1;
            match line {
                Line::Text(line) if self.must_hold(&line) => self.held.push(line),
                Line::Text(line) => self.take_line(&line),
                Line::TooLong => self.refuse_long_line(),
            }
            while let Some(event) = self.conversation.poll_event() {
                self.handle(event);
            }
        }
        taken
    }

    /// Whether a line waits: the engine has no room, or others wait before it.
    fn must_hold(&self, line: &Bytes) -> bool {
        let has_room = self.held.is_empty() && self.conversation.drive(|engine| engine.can_read());
        if has_room {
            return false;
        }
        let message = Message::parse_within(line, self.options.limits.max_values_per_message);
        !self.conversation.drive(|engine| match &message {
            Ok(message) => engine.is_urgent(message),
            Err(malformed) => engine.ends_call(malformed),
        })
    }

    /// Handles the lines that wait, while there is room.
    fn take_held(&mut self) {
        while self.conversation.drive(|engine| engine.can_read()) {
            let Some(line) = self.held.pop() else {
                return;
            };
            self.take_line(&line);
            while let Some(event) = self.conversation.poll_event() {
                self.handle(event);
            }
        }
    }

    fn take_line(&mut self, line: &Bytes) {
        let now = Instant::now().into_std();
        self.conversation
            .drive(|engine| engine.handle_text(now, line));
    }

    fn refuse_long_line(&mut self) {
        let error = pintle_model::Error::invalid_request(format!(
            "the message is longer than {} bytes",
            self.options.max_line_bytes
        ));
        let malformed = InvalidMessage::new(None, error);
        let now = Instant::now().into_std();
        self.conversation
            .drive(|engine| engine.handle_input(now, Input::Malformed(malformed)));
    }

    fn pass_time(&mut self) {
        let now = Instant::now().into_std();
        self.conversation
            .drive(|engine| engine.handle_input(now, Input::Timeout));
    }

    /// Waits for the first event; among ready ones, the choice is random. In any fixed order a
    /// handler that always sends would keep its cancellation from being read.
    async fn wait(&mut self, cut: Option<Instant>) -> io::Result<Woken> {
        let deadline = self.conversation.next_deadline().map(Instant::from_std);
        self.note_stall();
        let stall = self
            .stalled_at
            .map(|at| deadline_after(at, self.options.write_timeout));
        let reads = cut.is_none() && self.has_room();
        let conversation = &self.conversation;
        let is_idle = self.outgoing.is_empty();
        let mut spare = self.lines.spare().limit(READ_BYTES);
        tokio::select! {
            written = self.outgoing.write(), if !is_idle => {
                written?;
                self.stalled_at = None;
                Ok(Woken::Written)
            }
            () = poll_fn(|cx| conversation.poll_ready(cx)), if is_idle => Ok(Woken::Output),
            () = at(deadline) => Ok(Woken::Deadline),
            () = at(stall) => Ok(Woken::WriteTimedOut),
            () = at(cut) => Ok(Woken::Drained),
            () = self.options.shutdown.begun(), if cut.is_none() => Ok(Woken::Shutdown),
            read = self.reader.read_buf(&mut spare), if reads => Ok(Woken::Read(read?)),
        }
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.outgoing.len() < self.options.max_unsent_bytes
            && (self.held.bytes() < self.options.max_held_bytes
                || self.conversation.drive(|engine| engine.can_read()))
    }

    fn note_stall(&mut self) {
        if self.outgoing.is_empty() {
            self.stalled_at = None;
        } else {
            self.stalled_at.get_or_insert_with(Instant::now);
        }
    }
}

/// Ends the conversation and its handlers, on every exit of the driver.
impl<S, R, W> Drop for Driver<S, R, W> {
    fn drop(&mut self) {
        let now = Instant::now().into_std();
        self.conversation
            .drive(|engine| engine.handle_input(now, Input::Closed));
        for handler in self.handler_by_key.values() {
            handler.abort();
        }
    }
}

async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

fn poll_once(future: Pin<&mut impl Future<Output = ()>>) -> Poll<()> {
    future.poll(&mut TaskContext::from_waker(Waker::noop()))
}
