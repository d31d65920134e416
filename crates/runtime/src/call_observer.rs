//! The seam of a client for telemetry: an observer of its requests and conversations.

use std::any::Any;
use std::fmt;

use pintle_model::{Meta, RequestId, Revision};
use pintle_proto::PeerCallError;
use pintle_proto::lifecycle::Binding;
use serde_json::value::RawValue;

/// Observes the requests and the conversations of a client. The client calls it in place, so it must not block.
///
/// Requests that open a conversation, and the pings of a client, are not observed.
pub trait CallObserver: fmt::Debug + Send + Sync + 'static {
    /// Begins the observation of a request that is about to be sent. The observer may add members to the `_meta` of the
    /// request. Members that belong to the protocol's own envelope are replaced.
    fn begin(&self, request: &ObservedRequest<'_>, meta: &mut Meta) -> Box<dyn RequestObserver>;

    /// Begins the observation of a conversation. The client drops the value when the conversation ends.
    fn open(&self, conversation: ObservedConversation) -> Box<dyn Any + Send + Sync>;
}

/// Observes one request of a client. A request that its caller drops has no end: the observer is dropped.
pub trait RequestObserver: Send {
    /// Receives the JSON-RPC id under which the request is sent.
    fn sent(&mut self, _id: &RequestId) {}

    /// Ends the observation.
    fn end(self: Box<Self>, end: RequestEnd<'_>);
}

/// A request that is observed.
#[derive(Debug)]
#[non_exhaustive]
pub struct ObservedRequest<'a> {
    /// The method of the request.
    pub method: &'a str,
    /// The parameters as JSON text, without `_meta`.
    pub params: &'a [u8],
    /// The conversation of the request.
    pub conversation: ObservedConversation,
}

impl<'a> ObservedRequest<'a> {
    /// Describes a request.
    pub fn new(method: &'a str, params: &'a [u8], conversation: ObservedConversation) -> Self {
        Self {
            method,
            params,
            conversation,
        }
    }
}

/// A conversation that is observed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ObservedConversation {
    /// The revision of the conversation.
    pub revision: Revision,
    /// The transport of the conversation.
    pub binding: Binding,
    /// The address of the server; `None` for a pipe.
    pub server: Option<ServerAddress>,
}

impl ObservedConversation {
    /// Describes a conversation without the address of its server.
    pub fn new(revision: Revision, binding: Binding) -> Self {
        Self {
            revision,
            binding,
            server: None,
        }
    }

    /// Adds the address of the server.
    #[must_use]
    pub fn server(mut self, address: Option<ServerAddress>) -> Self {
        self.server = address;
        self
    }
}

/// The address of a server, as its client was configured: the name is not resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress {
    /// A DNS name, or an IP address without brackets.
    pub host: Box<str>,
    /// The TCP port.
    pub port: u16,
}

/// The end of a request. Closed: a request is answered, is not answered, or was not sent.
#[derive(Debug)]
pub enum RequestEnd<'a> {
    /// The server sent this result.
    Result(&'a RawValue),
    /// The server sent an error or no valid answer.
    Failed(&'a PeerCallError),
    /// The request was not sent.
    NotSent,
}
