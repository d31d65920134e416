//! A request that was posted to a session, and the reply to it.
//!
//! A poll of the response polls the handler. A client that disconnects does not cancel its request:
//! the handler becomes a task, and its messages wait for the client to resume.
//!
//! # States
//!
//! ```text
//!               the answer has left, or the request was cancelled
//!           ┌──────────────────────────────────────────────────────► Over
//! Reading ──┤
//!           └──────────────────────────────────────────────────────► Detached
//!               another reader took the lane, or the handler closed the stream
//! ```
//!
//! A drop has a different effect in each state:
//!
//! - `Reading`: a handler that is not finished becomes a task, and the request goes on. Without one,
//!   the unread rest of a finished reply moves to the replay buffer. If there is nothing to move, the
//!   request is cancelled and its lane is closed, unless another reader took the lane.
//! - `Over`: the lane is closed.
//! - `Detached`: there is no effect, because the post released the lane when it entered this state.

use std::sync::Arc;
use std::task::{Context, Poll};

use pintle_proto::{IncomingRequest, RequestKey, Ticket};
use pintle_runtime::{EngineHandle, Service};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::Session;
use super::lanes::PostEvent;
use crate::rules::event_id::EventId;
use crate::server::events::{MessageSource, OutgoingMessage};
use crate::server::exchange::{Handler, RequestExtras, handler};

/// The number of a post as the reader of its reply. Readers that resume have higher numbers.
const FIRST_READER: u32 = 0;

/// The reader of one reply.
pub(in crate::server) struct Post<S: Service> {
    session: Arc<Session>,
    service: Arc<S>,
    // Empty once the handler exists, because `start` moves it into the handler.
    extras: RequestExtras,
    key: RequestKey,
    // Polled outside of the lock of the session, because the handler locks the session itself. A
    // handler that is still here has not answered, because it answers in its last poll.
    handler: Option<Handler>,
    // `Over` and `Detached` are final, because no message for this post follows in either state.
    stage: Stage,
}

/// The state of a post. Closed by design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Reading,
    /// The answer has left, or will not follow.
    Over,
    /// The request continues without this post. The event id is where its client resumes, unless the
    /// client knows it already.
    Detached(Option<EventId>),
}

impl<S: Service> Post<S> {
    /// Reads the reply to a request that the session has accepted.
    pub(in crate::server) fn new(
        session: Arc<Session>,
        service: Arc<S>,
        extras: RequestExtras,
        key: RequestKey,
    ) -> Self {
        Self {
            session,
            service,
            extras,
            key,
            handler: None,
            stage: Stage::Reading,
        }
    }

    /// Returns true if the client would resume for the answer, given an event id.
    pub(in crate::server) fn primes(&self) -> bool {
        self.session.lock().lanes.primes()
    }

    fn start(&mut self, ticket: Ticket, incoming: Box<IncomingRequest>) {
        let outlet: Arc<dyn EngineHandle> = Arc::clone(&self.session) as _;
        let extras = std::mem::take(&mut self.extras);
        self.handler = Some(handler(&self.service, outlet, extras, ticket, incoming));
    }

    /// Returns a message that is ready, or else polls the handler for one.
    fn next_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<OutgoingMessage>> {
        loop {
            // A request that has just started is polled at once, because nothing else waits on its lane.
            let next = self.session.next_reply(self.key, FIRST_READER);
            if let Some(next) = next
                && let Poll::Ready(message) = self.act(next)
            {
                return Poll::Ready(message);
            }
            self.poll_handler(cx);
            let next = self.session.poll_reply(self.key, FIRST_READER, cx);
            if let Poll::Ready(message) = self.act(std::task::ready!(next)) {
                return Poll::Ready(message);
            }
        }
    }

    fn act(&mut self, next: PostEvent) -> Poll<Option<OutgoingMessage>> {
        match next {
            PostEvent::Start(ticket, incoming) => {
                self.start(ticket, incoming);
                return Poll::Pending;
            }
            PostEvent::Send(message) => {
                if message.verdict.is_some() {
                    self.stage = Stage::Over;
                }
                return Poll::Ready(Some(message));
            }
            PostEvent::Stop => {
                self.stage = Stage::Over;
                self.handler = None;
            }
            PostEvent::Detach => self.detach_client(),
        }
        Poll::Ready(None)
    }

    fn detach_client(&mut self) {
        let beginning = self.session.open_reply_stream(self.key);
        self.leave();
        self.stage = Stage::Detached(beginning);
    }

    fn poll_handler(&mut self, cx: &mut Context<'_>) {
        if let Some(handler) = &mut self.handler
            && handler.as_mut().poll(cx).is_ready()
        {
            self.handler = None;
        }
    }

    /// Leaves the lane to a client that resumes, or else closes it.
    fn leave(&mut self) {
        let (session, key) = (Arc::clone(&self.session), self.key);
        if self.detach() {
            return;
        }
        session.change(|state| {
            let lanes = &mut state.lanes;
            if lanes.is_reader(key, FIRST_READER) && !lanes.keep_rest(key, &session.bounds.replay) {
                state.engine.cancel_request(key);
                state.lanes.close(key);
            }
        });
    }

    /// Lets the handler continue without a reader. Returns false without a handler.
    fn detach(&mut self) -> bool {
        let start = self.session.lock().lanes.take_start(self.key);
        if let Some((ticket, incoming)) = start {
            self.start(ticket, incoming);
        }
        let (Some(handler), Ok(runtime)) = (self.handler.take(), Handle::try_current()) else {
            return false;
        };
        let (session, key) = (&self.session, self.key);
        session.lock().lanes.is_wanted(key) && session.detach(&runtime, key, FIRST_READER, handler)
    }
}

impl Session {
    /// Moves the handler of a request to a task. Returns false if the request was cancelled.
    pub(super) fn detach(
        &self,
        runtime: &Handle,
        key: RequestKey,
        reader: u32,
        handler: Handler,
    ) -> bool {
        // The handler waits until its lane has recorded it. It is spawned outside of the lock, because
        // a runtime that is ending drops it here, and its drop may lock the session.
        let (go, may_go) = oneshot::channel();
        let task = runtime.spawn(async move {
            if may_go.await.is_ok() {
                handler.await;
            }
        });
        let is_wanted = self.change(|state| {
            let task = task.abort_handle();
            state.lanes.detach(key, reader, task, &self.bounds)
        });
        is_wanted && go.send(()).is_ok()
    }
}

impl<S: Service> MessageSource for Post<S> {
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<OutgoingMessage>> {
        match self.stage {
            Stage::Reading => self.next_message(cx),
            Stage::Over | Stage::Detached(_) => Poll::Ready(None),
        }
    }

    fn is_owed(&self) -> bool {
        self.session.lock().is_over
    }

    fn beginning(&mut self) -> Option<EventId> {
        match self.stage {
            Stage::Reading => self.session.open_reply_stream(self.key),
            Stage::Detached(beginning) => beginning,
            Stage::Over => None,
        }
    }
}

impl<S: Service> Drop for Post<S> {
    fn drop(&mut self) {
        match self.stage {
            Stage::Reading => self.leave(),
            Stage::Over => self.session.change(|state| {
                state.engine.cancel_request(self.key);
                state.lanes.close(self.key);
            }),
            Stage::Detached(_) => {}
        }
    }
}
