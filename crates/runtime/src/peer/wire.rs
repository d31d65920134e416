//! The transport's end of a conversation: messages to send, and messages received.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use pintle_model::Revision;
use pintle_proto::{CallHead, CallId, Frame, TransmitKind, TransportError};

use super::Peer;

/// A message to send, and its role.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outgoing {
    /// The bytes of the message. If it is empty, nothing is sent.
    pub frame: Frame,
    /// The role of the message: a call, the end of one, an answer, or a notification.
    pub kind: TransmitKind,
    /// More about a call.
    pub call: Option<CallHead>,
    /// The revision it is written in; none for a handshake.
    pub revision: Option<Revision>,
}

/// A transport's end of a conversation. Clones are the same end.
#[derive(Clone)]
pub struct Wire {
    peer: Peer,
    tap: Option<Tap>,
}

type Tap = Arc<dyn Fn(TappedMessage<'_>) + Send + Sync>;

/// A message that crosses a wire, as text. Closed: there are two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TappedMessage<'m> {
    /// To the server.
    Sent(&'m [u8]),
    /// From the server; it may be any text, also an invalid message.
    Received(&'m [u8]),
}

impl Wire {
    pub(super) fn new(peer: Peer) -> Self {
        Self { peer, tap: None }
    }

    /// Adds a tap: it is called with each message as it crosses, in the order of each direction. A
    /// [`Connect`](crate::Connect) that wraps another one uses it. A new tap is called after the
    /// earlier ones.
    ///
    /// Messages have all content of the conversation, secrets included.
    #[must_use]
    pub fn tapped(mut self, tap: impl Fn(TappedMessage<'_>) + Send + Sync + 'static) -> Self {
        self.tap = Some(match self.tap.take() {
            Some(earlier) => Arc::new(move |message| {
                earlier(message);
                tap(message);
            }),
            None => Arc::new(tap),
        });
        self
    }

    /// Waits for the next message to send; `None` when the client is done.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost. Only one task may wait at a time.
    pub async fn next(&self) -> Option<Outgoing> {
        poll_fn(|task| self.poll_next(task)).await
    }

    /// Polls for the next message to send, as [`Wire::next`] does.
    pub fn poll_next(&self, task: &mut Context<'_>) -> Poll<Option<Outgoing>> {
        let next = self.peer.poll_outgoing(task);
        if let Poll::Ready(Some(outgoing)) = &next {
            self.show_sent(outgoing);
        }
        next
    }

    /// Waits until the client is closing, for a transport that accepts no more messages until
    /// earlier ones are sent.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost. Only the task that waits with [`Wire::next`] may wait here.
    pub async fn closing(&self) {
        poll_fn(|task| self.peer.poll_closing(task)).await;
    }

    /// The next message to send, if there is one now.
    pub fn try_next(&self) -> Option<Outgoing> {
        self.peer
            .try_outgoing()
            .inspect(|outgoing| self.show_sent(outgoing))
    }

    /// Passes the text of one message to the engine.
    pub fn receive(&self, text: &[u8]) {
        self.receive_at(now(), text);
    }

    /// As [`Wire::receive`], for a message that was read at `now`.
    pub(crate) fn receive_at(&self, now: Instant, text: &[u8]) {
        self.show(TappedMessage::Received(text));
        self.peer
            .with_engine_mut(|engine| drop(engine.handle_text(now, text)));
    }

    /// Passes the text of the only message on the exchange of `call` to the engine.
    pub fn receive_reply(&self, call: CallId, text: &[u8]) {
        self.show(TappedMessage::Received(text));
        let now = now();
        self.peer
            .with_engine_mut(|engine| drop(engine.handle_reply(now, call, text)));
    }

    /// Fails a call that the transport lost.
    pub fn lose(&self, call: CallId, error: impl Into<TransportError>) {
        let error = error.into();
        self.peer
            .with_engine_mut(|engine| engine.fail_call(call, error));
    }

    /// Whether a caller still waits for the answer to a call.
    pub fn is_waiting(&self, call: CallId) -> bool {
        self.peer.with_engine(|engine| engine.is_waiting(call))
    }

    /// Whether more messages should be read.
    pub fn has_room(&self) -> bool {
        self.peer.with_engine(|engine| engine.can_read())
    }

    /// Lets the callers run that were woken by an answer, because each of them may make another
    /// call: the calls then leave together.
    pub(crate) async fn let_callers_run(&self) {
        let mut has_waited = false;
        poll_fn(|task| {
            if has_waited || !self.peer.with_engine(|engine| engine.has_outcomes()) {
                return Poll::Ready(());
            }
            has_waited = true;
            // Puts this task behind the callers. `yield_now` would also poll the reactor.
            task.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    /// Shows a message to the tap, unless it is empty and therefore not sent.
    fn show_sent(&self, outgoing: &Outgoing) {
        if self.tap.is_some() && !outgoing.frame.is_empty() {
            self.show(TappedMessage::Sent(&outgoing.frame.to_vec()));
        }
    }

    fn show(&self, message: TappedMessage<'_>) {
        if let Some(tap) = &self.tap {
            tap(message);
        }
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wire")
    }
}

pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use pintle_model::{ClientCapabilities, Implementation, Revision};
    use pintle_proto::Connection;

    use super::TappedMessage;
    use crate::peer::Peer;

    #[tokio::test]
    async fn each_tap_of_a_wire_is_called() {
        let identity = Implementation::new("t", "1");
        let engine = Connection::client(identity, ClientCapabilities::default(), Arc::default());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut wire = Peer::new(engine).wire();
        for name in ["first", "second"] {
            let log = Arc::clone(&seen);
            wire = wire.tapped(move |_| log.lock().expect("whole").push(name));
        }
        wire.receive(b"nonsense");
        assert_eq!(*seen.lock().expect("whole"), ["first", "second"]);
    }

    #[tokio::test]
    async fn a_tap_is_called_with_every_message() {
        let identity = Implementation::new("t", "1");
        let engine = Connection::client(identity, ClientCapabilities::default(), Arc::default());
        let peer = Peer::new(engine);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let wire = peer.wire().tapped(move |message| {
            let (way, text) = match message {
                TappedMessage::Sent(text) => ('>', text),
                TappedMessage::Received(text) => ('<', text),
            };
            let text = String::from_utf8(text.to_vec()).expect("text");
            log.lock().expect("whole").push((way, text));
        });
        let offered = Revision::LATEST_LEGACY;
        let call = peer.open(|engine, now| engine.initialize(now, offered));
        let clone = wire.clone();
        let sent = clone.try_next().expect("a handshake");
        wire.receive(b"nonsense");
        drop(call);

        let seen = seen.lock().expect("whole");
        let sent = String::from_utf8(sent.frame.to_vec()).expect("text");
        assert_eq!(*seen, [('>', sent), ('<', "nonsense".to_owned())]);
    }
}
