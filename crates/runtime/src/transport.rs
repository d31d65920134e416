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
//!   except 401, 403, and 5xx as the answer to `server/discover`: those are [`TransportErrorKind`]es.
//! - **What is lost** is said per call with [`Wire::lose`]; what is lost altogether is the error of
//!   [`Transport::run`]. A session that the server has forgotten is lost altogether: the call
//!   that was refused for it is lost with [`TransportErrorKind::SessionLost`] first, so that it can be made again,
//!   then [`Transport::run`] ends with the same; the client opens another conversation, on a
//!   transport of its own. When the exchange of a call ends
//!   without its answer, the call is lost; where streams can be resumed, only after that failed.
//! - **Bounds.** The size of a message is bounded while it is read ([`TransportErrorKind::TooLarge`]); reading
//!   pauses while [`Wire::has_room`] says no. Calls time out in the engine, which then says
//!   [`Kind::Cancel`]; a transport's own waits (for a connection, for a response's head) are its own.
//! - **The end.** When [`Wire::next`] gives nothing, the client is done, and the cancellations of
//!   its open calls were given out before: the transport sends what it has, closes in its way (end
//!   of input, DELETE) within its own grace, and returns. Dropping the future of
//!   [`Transport::run`] must leave nothing behind that runs on.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use pintle_model::JsonObject;
use pintle_proto::TransportError;
use pintle_proto::lifecycle::Binding;

use crate::future::BoxFuture;
use crate::param_header::ParamHeader;
use crate::peer::Wire;

#[cfg(doc)]
use crate::peer::Outgoing;
#[cfg(doc)]
use pintle_proto::TransportErrorKind;

/// Moves the messages of one conversation.
pub trait Transport: Send + 'static {
    /// Moves messages until the client is done with [`Wire::next`], or nothing can be moved any
    /// more.
    ///
    /// # Errors
    ///
    /// Whatever ended the conversation before the client did. A server that ends it in good order
    /// is a [`TransportErrorKind::Disconnected`], too: calls that wait cannot be answered.
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

/// A connector of any type.
#[derive(Clone)]
pub struct BoxConnect(Arc<dyn DynConnect>);

/// A transport of any type.
pub struct BoxTransport(Box<dyn DynTransport>);

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
