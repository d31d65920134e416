//! All concurrent work of one conversation, in one future.
//!
//! Every message is a separate POST. The response to a call is read concurrently with other work. All
//! work stops when the future is dropped.
//!
//! # The gate
//!
//! ```text
//!            notifications/initialized          it is done, and there is
//!            is to be posted                    one endpoint
//!   Open ──────────────────────────► Confirming ────────────────────────► Listening
//!    ▲                                   │                                    │
//!    │      it is done, and there are    │    the stream is open or refused,  │
//!    │      two endpoints                ▼    or STREAM_FIRST has passed      ▼
//!    └───────────────────────────────────┴────────────────────────────────────┘
//! ```
//!
//! Messages leave the wire only while the gate is open. Posts that already run are not affected.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::{AbortHandle, Abortable, Either};
use futures_util::stream::FuturesUnordered;
use pintle_model::jsonrpc::Message;
use pintle_model::method::{Initialize, Initialized, Method, Notice};
use pintle_model::{Feature, Revision};
use pintle_proto::{CallId, Frame, TransmitKind, TransportError, TransportErrorKind};
use pintle_runtime::Outgoing;
use tokio::sync::oneshot;
use tokio::time::{Timeout, timeout};

use crate::client::answer::ResponseError;
use crate::client::events::Events;
use crate::client::exchange::PostedCall;
use crate::client::failure::HttpTransportError;
use crate::client::http_client::HttpClient;
use crate::client::http_conversation::{HttpConversation, SessionState};
use crate::client::resume::{End, ResumeError};

/// How long calls wait for the session's stream: what the server asks while it answers them may
/// travel there.
const STREAM_FIRST: Duration = Duration::from_secs(1);

/// The concurrent work of a conversation.
pub(crate) struct Multiplexer<F> {
    conversation: Arc<HttpConversation<F>>,
    // Has calls only, because the client cancels nothing else.
    abort_by_call: BTreeMap<CallId, AbortHandle>,
    /// Number of notices and answers that are being posted.
    // Falls once for each rise, because this work is never aborted.
    posts: usize,
    // Closed from the post of `notifications/initialized` on, because separate posts have no order.
    gate: Gate,
    /// The revision of the handshake, if there was one.
    handshaken: Option<Revision>,
}

/// Whether messages leave the wire. Closed.
enum Gate {
    Open,
    /// `notifications/initialized` is being posted; later messages wait.
    // Left after a failed post as well, because no caller waits for the result of a notice.
    Confirming,
    /// The stream of the session is being opened; messages wait for a moment.
    // Bounded by `STREAM_FIRST`, because a server may delay the head of the stream.
    Listening(Pin<Box<Timeout<oneshot::Receiver<()>>>>),
}

/// A unit of concurrent work. Closed.
enum Work {
    Call(PostedCall),
    /// A notice or an answer.
    Notify(SessionState, Bytes),
    /// The notice that ends the handshake.
    Confirm(SessionState, Bytes),
    /// The stream of the session; notifies once the stream is open or refused.
    Listen(SessionState, oneshot::Sender<()>),
    /// The one stream of the older transport.
    Hear(Events),
}

/// The result of a unit of work. Closed.
enum Done {
    Called(CallId, Result<(), HttpTransportError>),
    /// The server uses the older transport; the call is sent there.
    Moved(PostedCall, Events),
    Notified(Result<(), HttpTransportError>),
    Confirmed(SessionState, Result<(), HttpTransportError>),
    Listened(HttpTransportError),
    Heard(HttpTransportError),
}

/// An event of the loop. Closed.
enum Happened {
    Done(Done),
    Aborted,
    GateOpened,
    Outgoing(Option<Outgoing>),
}

impl<F: HttpClient> Multiplexer<F> {
    pub(crate) fn new(conversation: Arc<HttpConversation<F>>) -> Self {
        Self {
            conversation,
            abort_by_call: BTreeMap::new(),
            posts: 0,
            gate: Gate::Open,
            handshaken: None,
        }
    }

    /// Moves messages until the client is done.
    ///
    /// # Errors
    ///
    /// The error that ended the conversation.
    pub(crate) async fn run(mut self) -> Result<(), TransportError> {
        let conversation = Arc::clone(&self.conversation);
        let mut ongoing = FuturesUnordered::new();
        loop {
            let takes = self.takes();
            let is_listening = matches!(self.gate, Gate::Listening(_));
            let happened = tokio::select! {
                // Finished work first, because it makes room for more.
                biased;
                Some(done) = ongoing.next(), if !ongoing.is_empty() => {
                    let done: Result<Done, _> = done;
                    done.map_or(Happened::Aborted, Happened::Done)
                }
                () = self.gate.opened(), if is_listening => Happened::GateOpened,
                outgoing = conversation.wire.next(), if takes => Happened::Outgoing(outgoing),
                // The end of the session cancels messages that were not sent in time.
                () = conversation.wire.closing(), if !takes => Happened::Outgoing(None),
            };
            let works = match happened {
                Happened::Outgoing(Some(outgoing)) => [self.take(outgoing), None],
                Happened::Outgoing(None) => break,
                Happened::Done(done) => self.after(done)?,
                Happened::Aborted => [None, None],
                Happened::GateOpened => {
                    self.gate = Gate::Open;
                    [None, None]
                }
            };
            for work in works.into_iter().flatten() {
                let (handle, registration) = AbortHandle::new_pair();
                if let Work::Call(call) = &work {
                    self.abort_by_call.insert(call.id, handle);
                }
                let performed = perform(Arc::clone(&conversation), work);
                ongoing.push(Abortable::new(performed, registration));
            }
        }
        self.close(ongoing).await;
        Ok(())
    }

    fn takes(&self) -> bool {
        matches!(self.gate, Gate::Open) && self.posts < self.conversation.limits.max_open_posts
    }

    /// Returns the work for a message.
    fn take(&mut self, outgoing: Outgoing) -> Option<Work> {
        self.conversation.taken.notify_waiters();
        let Outgoing {
            frame,
            kind,
            call,
            revision,
            ..
        } = outgoing;
        let has_handshake = revision.is_some_and(|revision| revision.has(Feature::Handshake));
        if has_handshake {
            self.handshaken = revision;
        }
        if let TransmitKind::Cancel(call) = kind {
            if let Some(running) = self.abort_by_call.remove(&call) {
                running.abort();
            }
            // Without a handshake, the end of the exchange cancels the call already.
            if !has_handshake {
                return None;
            }
        }
        let body = whole(frame).filter(|body| !body.is_empty())?;
        if let (TransmitKind::Call(id), Some(head)) = (kind, call) {
            return Some(Work::Call(PostedCall::new(id, head, body)));
        }
        self.posts += 1;
        let state = self.conversation.state(revision);
        if has_handshake && is_confirmation(&body) {
            self.gate = Gate::Confirming;
            return Some(Work::Confirm(state, body));
        }
        Some(Work::Notify(state, body))
    }

    /// Handles the result of a unit of work, and returns the work that follows.
    ///
    /// # Errors
    ///
    /// The error that ends the conversation.
    fn after(&mut self, done: Done) -> Result<[Option<Work>; 2], TransportError> {
        match done {
            Done::Called(call, answered) => {
                self.abort_by_call.remove(&call);
                if let Err(failure) = answered {
                    let error = TransportError::from(failure);
                    self.conversation.wire.lose(call, error.clone());
                    unless_over(error)?;
                }
            }
            Done::Moved(call, events) => {
                return Ok([Some(Work::Hear(events)), Some(Work::Call(call))]);
            }
            Done::Notified(notified) => {
                self.posts -= 1;
                self.note(notified)?;
            }
            Done::Confirmed(state, confirmed) => {
                self.posts -= 1;
                self.note(confirmed)?;
                return Ok([self.listen(state), None]);
            }
            Done::Listened(failure) => self.note(Err(failure))?,
            Done::Heard(failure) => return Err(failure.into()),
        }
        Ok([None, None])
    }

    /// Logs the failure of a notice, because no caller waits for its result.
    fn note(&self, result: Result<(), HttpTransportError>) -> Result<(), TransportError> {
        if let Err(failure) = result {
            tracing::debug!(error = %failure, "a message was not taken");
            unless_over(failure.into())?;
        }
        Ok(())
    }

    fn listen(&mut self, state: SessionState) -> Option<Work> {
        if self.conversation.has_two_endpoints() {
            self.gate = Gate::Open;
            return None;
        }
        let (opened, opening) = oneshot::channel();
        self.gate = Gate::Listening(Box::pin(timeout(STREAM_FIRST, opening)));
        Some(Work::Listen(state, opened))
    }

    /// Drops running calls, waits for notices to leave, and ends the session.
    async fn close<O>(mut self, mut ongoing: FuturesUnordered<O>)
    where
        O: Future<Output = Result<Done, futures_util::future::Aborted>>,
    {
        for running in self.abort_by_call.values() {
            running.abort();
        }
        let end = async {
            while self.posts > 0 {
                match ongoing.next().await {
                    Some(Ok(Done::Notified(_) | Done::Confirmed(..))) => self.posts -= 1,
                    Some(_) => {}
                    None => break,
                }
            }
            self.conversation.say_goodbye(self.handshaken).await;
        };
        // The client does not wait longer for a slow server.
        let _ = timeout(self.conversation.limits.close_timeout, end).await;
    }
}

/// Returns an error for a lost session, which ends the conversation.
fn unless_over(error: TransportError) -> Result<(), TransportError> {
    match error.kind() {
        TransportErrorKind::SessionLost => Err(error),
        _ => Ok(()),
    }
}

impl Gate {
    async fn opened(&mut self) {
        if let Self::Listening(opening) = self {
            // The stream is open, refused or late: calls leave now.
            let _ = opening.as_mut().await;
        }
    }
}

/// Performs a unit of work. Only the future of a call is not boxed, because most work is a call.
fn perform<F: HttpClient>(
    conversation: Arc<HttpConversation<F>>,
    work: Work,
) -> impl Future<Output = Done> + Send {
    match work {
        Work::Call(call) => Either::Left(answer(conversation, call)),
        work => Either::Right(Box::pin(perform_rare(conversation, work))),
    }
}

async fn perform_rare<F: HttpClient>(conversation: Arc<HttpConversation<F>>, work: Work) -> Done {
    match work {
        Work::Call(call) => answer(conversation, call).await,
        Work::Notify(state, body) => Done::Notified(conversation.deliver(&state, &body).await),
        Work::Confirm(state, body) => {
            let confirmed = conversation.deliver(&state, &body).await;
            Done::Confirmed(state, confirmed)
        }
        Work::Listen(state, opened) => {
            // The receiver may be gone.
            let opened = || opened.send(()).unwrap_or_default();
            Done::Listened(conversation.listen(&state, opened).await)
        }
        Work::Hear(mut events) => {
            Done::Heard(match conversation.hear_out(None, &mut events).await {
                Err(broken) => broken.into(),
                Ok(End::Answered | End::Cut | End::Unreachable | End::Refused(_)) => {
                    ResumeError::Ended.into()
                }
            })
        }
    }
}

/// Makes a call. If the server rejects it as unknown, tries the older transport.
#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` has a second copy of the call in its future"
)]
fn answer<F: HttpClient>(
    conversation: Arc<HttpConversation<F>>,
    call: PostedCall,
) -> impl Future<Output = Done> + Send {
    async move {
        match conversation.exchange(&call).await {
            Err(HttpTransportError::Trouble(trouble))
                if call.is(Initialize::NAME)
                    && !conversation.has_two_endpoints()
                    && trouble.suggests_two_endpoints() =>
            {
                Box::pin(try_two_endpoints(conversation, call, trouble)).await
            }
            answered => Done::Called(call.id, answered),
        }
    }
}

async fn try_two_endpoints<F: HttpClient>(
    conversation: Arc<HttpConversation<F>>,
    call: PostedCall,
    trouble: ResponseError,
) -> Done {
    let state = conversation.state(None);
    match conversation.open_two_endpoints(&state).await {
        Ok(events) => Done::Moved(call, events),
        // It does not show which transport the server has.
        Err(error) if error.is_passing() || is_broken(&error) => Done::Called(call.id, Err(error)),
        Err(error) => {
            tracing::debug!(%error, "the server does not speak the older transport either");
            let answered = conversation.accept_error(&call, trouble);
            Done::Called(call.id, answered)
        }
    }
}

/// Returns true if the connection failed.
fn is_broken(error: &HttpTransportError) -> bool {
    let kind = error.loss();
    matches!(
        kind,
        TransportErrorKind::Disconnected | TransportErrorKind::Unreachable
    )
}

/// A message in one piece.
fn whole(frame: Frame) -> Option<Bytes> {
    let pieces = frame.into_pieces();
    let mut filled = pieces.iter().filter(|piece| !piece.is_empty());
    match (filled.next(), filled.next()) {
        (first, None) => first.cloned(),
        _ => Some(pieces.concat().into()),
    }
}

fn is_confirmation(body: &[u8]) -> bool {
    let parsed = Message::parse(body);
    matches!(parsed, Ok(Message::Notification(notice)) if notice.method == Initialized::NAME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::web::WebClient;

    fn size_of_future<A, B, F>(_: impl FnOnce(A, B) -> F) -> usize {
        size_of::<F>()
    }

    // The C library allocates blocks of more than 1,032 bytes more slowly.
    #[test]
    fn the_work_of_one_call_is_a_small_future() {
        let size = size_of_future(perform::<WebClient>);
        assert!(size <= 1_000, "{size} bytes");
    }
}
