//! The seam between a client and whatever carries its messages.
//!
//! A client's engine and its transport meet in a [`Wire`]: the transport takes what is to be sent
//! with [`Wire::next`], hands in what arrived with [`Wire::receive`], and says what it lost with
//! [`Wire::lose`]. That is all of it; the transport knows no method, decodes no result, keeps no
//! table of calls that it does not need itself.
//!
//! # Writing a transport
//!
//! [`Connect`] says how to reach a server, as often as it takes; [`Transport::run`] moves messages
//! for one conversation, until its end:
//!
//! - **Order.** Messages are sent in the order in which [`Wire::next`] gives them. A transport that
//!   sends each message by itself need not wait for the answer to one before it sends the next; in
//!   a revision with sessions everything after `notifications/initialized` waits until that was
//!   accepted.
//! - **What is sent** is an [`Outgoing`]: bytes, and what they are. A pipe writes the bytes, unless
//!   there are none. HTTP posts them, with headers from the [`CallHead`] of a call and from the
//!   revision.
//! - **A call given up** is [`Kind::Cancel`]. Where the end of the exchange says so (2026-07-28 over
//!   HTTP) the transport closes the exchange and sends nothing; elsewhere it sends the bytes, if
//!   there are any, and stops waiting in any case. A call that [`Wire::is_waiting`] denies has
//!   ended: whatever still comes for it is dropped by the engine.
//! - **What arrives** goes in as text, one message at a time, cut but not parsed. What arrives on
//!   the exchange of one call and is the only message there goes in with [`Wire::receive_reply`],
//!   so that an error without an id finds its call. A JSON-RPC body counts under any HTTP status
//!   except 401, 403, and 5xx as the answer to `server/discover`: those are [`Loss`]es.
//! - **What is lost** is said per call with [`Wire::lose`]; what is lost altogether is the error of
//!   [`Transport::run`]. A session that the server has forgotten is lost altogether: the call
//!   that was refused for it is lost with [`Loss::SessionLost`] first, so that it can be made again,
//!   then [`Transport::run`] ends with the same; the client opens another conversation, on a
//!   transport of its own. When the exchange of a call ends
//!   without its answer, the call is lost; where streams can be resumed, only after that failed.
//! - **Bounds.** The size of a message is bounded while it is read ([`Loss::TooLarge`]); reading
//!   pauses while [`Wire::has_room`] says no. Calls time out in the engine, which then says
//!   [`Kind::Cancel`]; a transport's own waits (for a connection, for a response's head) are its own.
//! - **The end.** When [`Wire::next`] gives nothing, the client is done, and the cancellations of
//!   its open calls were given out before: the transport sends what it has, closes in its way (end
//!   of input, DELETE) within its own grace, and returns. Dropping the future of
//!   [`Transport::run`] must leave nothing behind that runs on.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pintle_model::{JsonObject, Revision};
use pintle_proto::lifecycle::Binding;
use pintle_proto::{CallHead, CallId, Frame, Kind, TransportError};

use crate::param_header::ParamHeader;
use crate::peer::Peer;

#[cfg(doc)]
use pintle_proto::Loss;

/// Moves the messages of one conversation.
pub trait Transport: Send + 'static {
    /// Moves messages until the client is done with [`Wire::next`], or nothing can be moved any
    /// more.
    ///
    /// # Errors
    ///
    /// Whatever ended the conversation before the client did. A server that ends it in good order
    /// is a [`Loss::Disconnected`], too: calls that wait cannot be answered.
    fn run(self, wire: Wire) -> impl Future<Output = Result<(), TransportError>> + Send;
}

/// Reaches a server, again and again.
pub trait Connect: Send + Sync + 'static {
    /// What moves the messages of one conversation.
    type Transport: Transport;

    /// Prepares one conversation: starts the process, opens the socket. A binding that connects
    /// with each message does nothing here.
    ///
    /// # Errors
    ///
    /// Why the server cannot be reached.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves nothing behind.
    fn connect(&self) -> impl Future<Output = Result<Self::Transport, TransportError>> + Send;

    /// How the server's era is told: from one ordered stream of messages, or from HTTP answers.
    fn binding(&self) -> Binding {
        Binding::Pipe
    }

    /// A name for the server that another run of the program finds again: the verdict on its era
    /// is kept under it. None where it is not worth keeping.
    fn key(&self) -> Option<String> {
        None
    }

    /// Whom the server takes the client for, as far as the transport authorizes it: private results
    /// that are kept are for this principal only. None where nobody is authorized.
    fn principal(&self) -> Option<String> {
        None
    }

    /// The arguments that calls of a tool with this input schema repeat outside of the message.
    ///
    /// # Errors
    ///
    /// What is wrong with the schema's annotations: the tool is not offered to the user then.
    fn param_headers(&self, _input_schema: &JsonObject) -> Result<Vec<ParamHeader>, String> {
        Ok(Vec::new())
    }
}

/// A message to send, and what it is.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outgoing {
    /// Its bytes. Nothing is to be sent when there are none.
    pub frame: Frame,
    /// What it is: a call, the end of one, an answer, or a notification.
    pub kind: Kind,
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

type Tap = Arc<dyn Fn(Crossing<'_>) + Send + Sync>;

/// A message that crosses a wire, as text. Closed: there are two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crossing<'m> {
    /// To the server.
    Sent(&'m [u8]),
    /// From the server; it may be anything, also what is no message.
    Received(&'m [u8]),
}

impl Wire {
    pub(crate) fn new(peer: Peer) -> Self {
        Self { peer, tap: None }
    }

    /// The same end, on which somebody listens in: messages are shown as they cross, each way in
    /// order. A [`Connect`] that wraps another one uses it. What listened before no longer does.
    ///
    /// Messages hold whatever the conversation is about, secrets included.
    #[must_use]
    pub fn tapped(mut self, tap: impl Fn(Crossing<'_>) + Send + Sync + 'static) -> Self {
        self.tap = Some(Arc::new(tap));
        self
    }

    /// Waits for the next message to send; none when the client is done.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost. Only one task may wait at a time.
    pub async fn next(&self) -> Option<Outgoing> {
        poll_fn(|task| self.poll_next(task)).await
    }

    /// As [`Wire::next`].
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

    /// Takes in the text of one message.
    pub fn receive(&self, text: &[u8]) {
        self.show(Crossing::Received(text));
        let now = now();
        self.peer.act(|engine| drop(engine.handle_text(now, text)));
    }

    /// Takes in the text of the one message that came in answer to `call`, apart from all others.
    pub fn receive_reply(&self, call: CallId, text: &[u8]) {
        self.show(Crossing::Received(text));
        let now = now();
        self.peer
            .act(|engine| drop(engine.handle_reply(now, call, text)));
    }

    /// Says that a call is lost.
    pub fn lose(&self, call: CallId, error: impl Into<TransportError>) {
        let error = error.into();
        self.peer.act(|engine| engine.lose_call(call, error));
    }

    /// Whether anybody still waits for the answer to a call.
    pub fn is_waiting(&self, call: CallId) -> bool {
        self.peer.look(|engine| engine.is_waiting(call))
    }

    /// Whether more messages should be read.
    pub fn has_room(&self) -> bool {
        self.peer.look(|engine| engine.has_room())
    }

    /// What has no bytes is not sent.
    fn show_sent(&self, outgoing: &Outgoing) {
        if self.tap.is_some() && !outgoing.frame.is_empty() {
            self.show(Crossing::Sent(&outgoing.frame.to_vec()));
        }
    }

    fn show(&self, crossing: Crossing<'_>) {
        if let Some(tap) = &self.tap {
            tap(crossing);
        }
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wire")
    }
}

fn now() -> std::time::Instant {
    tokio::time::Instant::now().into_std()
}

/// A connector of any type.
#[derive(Clone)]
pub struct BoxConnect(Arc<dyn DynConnect>);

/// A transport of any type.
pub struct BoxTransport(Box<dyn DynTransport>);

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

trait DynConnect: Send + Sync {
    fn connect_dyn(&self) -> BoxFuture<'_, Result<BoxTransport, TransportError>>;
    fn binding_dyn(&self) -> Binding;
    fn key_dyn(&self) -> Option<String>;
    fn principal_dyn(&self) -> Option<String>;
    fn param_headers_dyn(&self, input_schema: &JsonObject) -> Result<Vec<ParamHeader>, String>;
}

trait DynTransport: Send {
    fn run_dyn(self: Box<Self>, wire: Wire) -> BoxFuture<'static, Result<(), TransportError>>;
}

impl<C: Connect> DynConnect for C {
    fn connect_dyn(&self) -> BoxFuture<'_, Result<BoxTransport, TransportError>> {
        Box::pin(async { self.connect().await.map(BoxTransport::new) })
    }

    fn binding_dyn(&self) -> Binding {
        self.binding()
    }

    fn key_dyn(&self) -> Option<String> {
        self.key()
    }

    fn principal_dyn(&self) -> Option<String> {
        self.principal()
    }

    fn param_headers_dyn(&self, input_schema: &JsonObject) -> Result<Vec<ParamHeader>, String> {
        self.param_headers(input_schema)
    }
}

impl<T: Transport> DynTransport for T {
    fn run_dyn(self: Box<Self>, wire: Wire) -> BoxFuture<'static, Result<(), TransportError>> {
        Box::pin(async { self.run(wire).await })
    }
}

impl BoxConnect {
    /// Hides the type of a connector.
    pub fn new(connect: impl Connect) -> Self {
        Self(Arc::new(connect))
    }
}

impl BoxTransport {
    /// Hides the type of a transport.
    pub fn new(transport: impl Transport) -> Self {
        Self(Box::new(transport))
    }
}

impl Connect for BoxConnect {
    type Transport = BoxTransport;

    async fn connect(&self) -> Result<BoxTransport, TransportError> {
        self.0.connect_dyn().await
    }

    fn binding(&self) -> Binding {
        self.0.binding_dyn()
    }

    fn key(&self) -> Option<String> {
        self.0.key_dyn()
    }

    fn principal(&self) -> Option<String> {
        self.0.principal_dyn()
    }

    fn param_headers(&self, input_schema: &JsonObject) -> Result<Vec<ParamHeader>, String> {
        self.0.param_headers_dyn(input_schema)
    }
}

impl Transport for BoxTransport {
    async fn run(self, wire: Wire) -> Result<(), TransportError> {
        self.0.run_dyn(wire).await
    }
}

impl fmt::Debug for BoxConnect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxConnect")
    }
}

impl fmt::Debug for BoxTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxTransport")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use pintle_model::{ClientCapabilities, Implementation, Revision};
    use pintle_proto::Connection;

    use super::Crossing;
    use crate::peer::Peer;

    #[tokio::test]
    async fn whoever_listens_in_is_shown_what_crosses() {
        let identity = Implementation::new("t", "1");
        let engine = Connection::client(identity, ClientCapabilities::default(), Arc::default());
        let peer = Peer::new(engine);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let wire = peer.wire().tapped(move |crossing| {
            let (way, text) = match crossing {
                Crossing::Sent(text) => ('>', text),
                Crossing::Received(text) => ('<', text),
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
