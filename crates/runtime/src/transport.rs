//! The traits of a client transport: `Connect` reaches a server, `Transport` moves its messages.
//!
//! A client's engine and its transport meet in a [`Wire`]. The transport takes the messages to send
//! from [`Wire::next`], and passes received messages to [`Wire::receive`]. It reports lost calls
//! with [`Wire::lose`]. The transport knows no method, decodes no result, and has no table of calls
//! unless it needs one itself.
//!
//! # Writing a transport
//!
//! [`Connect`] reaches a server, as often as necessary; [`Transport::run`] moves messages for one
//! conversation, until its end:
//!
//! - **Order.** Messages are sent in the order of [`Wire::next`]. A transport that
//!   sends each message by itself need not wait for the answer to one before it sends the next; in
//!   a revision with sessions everything after `notifications/initialized` waits until that was
//!   accepted.
//! - **Messages to send** are [`Outgoing`] values: bytes, and their role. A pipe writes the bytes,
//!   if there are any. HTTP posts them, with headers from the [`CallHead`] of a call and from the
//!   revision.
//! - **A cancelled call** is [`TransmitKind::Cancel`]. Where the end of the exchange cancels it
//!   (2026-07-28 over HTTP), the transport closes the exchange and sends nothing. Elsewhere it
//!   sends the bytes, if there are any. In both cases it stops waiting. A call has ended if
//!   [`Wire::is_waiting`] is false: the engine drops later messages for it.
//! - **Received messages** are passed on as text, one message at a time, cut but not parsed. The
//!   only message on the exchange of one call is passed to [`Wire::receive_reply`], so that an
//!   error without an id finds its call. A JSON-RPC body is the answer under any HTTP status. The
//!   exceptions are 401, 403, and 5xx for `server/discover`: those are [`TransportErrorKind`]es.
//! - **Losses** of one call are reported with [`Wire::lose`]; the loss of all is the error of
//!   [`Transport::run`]. A session that the server does not know any more is a loss of all. First
//!   the refused call is lost with [`TransportErrorKind::SessionLost`], so that the client can
//!   repeat it. Then [`Transport::run`] ends with the same error, and the client opens another
//!   conversation on a new transport. If the exchange of a call ends without its answer, the call
//!   is lost; where streams can be resumed, only after that failed.
//! - **Bounds.** The size of a message is bounded while it is read ([`TransportErrorKind::TooLarge`]); reading
//!   pauses while [`Wire::has_room`] is false. Calls time out in the engine, which then sends
//!   [`TransmitKind::Cancel`]. A transport has its own timeouts only for connections and response
//!   headers.
//! - **The end.** When [`Wire::next`] returns `None`, the client is done, and the cancellations of
//!   its open calls came before. The transport sends its queue, closes in its way (end
//!   of input, DELETE) within its own grace, and returns. Dropping the future of
//!   [`Transport::run`] must leave nothing behind that runs on.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use pintle_model::JsonObject;
use pintle_proto::TransportError;
use pintle_proto::lifecycle::Binding;

use crate::call_observer::ServerAddress;
use crate::future::BoxFuture;
use crate::param_header::ParamHeader;
use crate::peer::Wire;

#[cfg(doc)]
use crate::peer::Outgoing;
#[cfg(doc)]
use pintle_proto::{TransmitKind, TransportErrorKind};

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
    /// The transport of one conversation.
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
    /// Dropping the future releases all resources.
    fn connect(&self) -> impl Future<Output = Result<Self::Transport, TransportError>> + Send;

    /// Returns how the server's era is detected: from one ordered stream of messages, or from HTTP
    /// responses.
    fn binding(&self) -> Binding {
        Binding::Pipe
    }

    /// Returns a name for the server that is the same in every run of the program: its era is
    /// cached under it. `None` if the era is not cached.
    fn key(&self) -> Option<String> {
        None
    }

    /// Returns the address of the server, for telemetry. `None` if the server is not reached over a network.
    fn server_address(&self) -> Option<ServerAddress> {
        None
    }

    /// Returns the principal of the client, as authorized by the transport. Cached private results
    /// belong to this principal only. `None` without authorization.
    fn principal(&self) -> Option<String> {
        None
    }

    /// The arguments that calls of a tool with this input schema repeat outside of the message.
    ///
    /// # Errors
    ///
    /// The reason why the schema's annotations are invalid: the tool is then not offered to the
    /// user.
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
    fn server_address_dyn(&self) -> Option<ServerAddress>;
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

    fn server_address_dyn(&self) -> Option<ServerAddress> {
        self.server_address()
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

    fn server_address(&self) -> Option<ServerAddress> {
        self.0.server_address_dyn()
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
