//! Inputs and outputs of a conversation.

mod params;

use std::sync::Arc;
use std::time::Instant;

use bytes::{Buf, Bytes};
use serde_json::value::RawValue;

use pintle_model::jsonrpc::{InvalidMessage, Message};
use pintle_model::method::MethodName;
use pintle_model::{ErrorCode, ProgressToken, RequestId};

use crate::error::PeerCallError;
use crate::terms::Terms;

pub use params::{Members, Params};

/// Input of a conversation. Closed: a conversation has no other inputs.
#[derive(Debug)]
pub enum Input<'a> {
    /// A message arrived.
    Message(Message<'a>),
    /// Input arrived that is not a valid message.
    Malformed(InvalidMessage),
    /// The instant of the last [`Output::Wait`] has come.
    Timeout,
    /// The peer is gone: nothing more will arrive or leave.
    Closed,
}

/// Action for the driver of a conversation. Closed, so that drivers handle all of them.
#[derive(Debug)]
pub enum Output {
    /// Send this message.
    Transmit(Transmit),
    /// Act on this.
    Event(Event),
    /// Nothing to do until more input, or until this instant.
    Wait(Option<Instant>),
}

/// An event for the owner of a conversation.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A request was admitted; the ticket must be answered. The request is boxed, because an event moves often.
    Request(Ticket, Box<IncomingRequest>),
    /// A notification that the engine does not handle itself. Boxed for the same reason.
    Notification(Box<IncomingNotice>),
    /// This request was cancelled: drop its handler, because the answer would be discarded.
    Cancelled(RequestKey),
    /// One of our calls has ended.
    Settled(CallId, Result<Box<RawValue>, PeerCallError>),
    /// The handshake is complete.
    Opened(Arc<Terms>),
    /// The handshake was not completed in time: end the connection.
    Abandoned,
}

/// A request of the peer, among all requests of one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey(pub(crate) u64);

impl RequestKey {
    /// A key that no request has, for work that continues without its request.
    pub const NONE: Self = Self(0);

    /// The first request of a conversation.
    pub(crate) const FIRST: Self = Self(1);
}

/// Identity of the peer of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerIdentity {
    /// The one peer there is, as on a pipe.
    #[default]
    Only,
    /// The principal that was authorized under this name.
    Principal(Arc<str>),
    /// An anonymous peer; it cannot be distinguished from other anonymous peers.
    Anonymous,
}

impl PeerIdentity {
    /// A peer that was authorized, or an anonymous one.
    pub fn authorized(principal: Option<&str>) -> Self {
        principal.map_or(Self::Anonymous, |id| Self::Principal(id.into()))
    }

    /// The name that the peer was authorized under.
    #[inline]
    pub fn principal(&self) -> Option<&str> {
        match self {
            Self::Principal(id) => Some(id),
            Self::Only | Self::Anonymous => None,
        }
    }
}

/// One of our calls, among all calls of one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(crate) u64);

/// The obligation to answer one request. It cannot be copied: it is spent by answering.
#[derive(Debug)]
#[must_use = "an admitted request is owed an answer"]
pub struct Ticket {
    pub(crate) key: RequestKey,
}

impl Ticket {
    /// Which request is owed the answer.
    #[inline]
    pub fn key(&self) -> RequestKey {
        self.key
    }
}

/// A request that was admitted.
#[derive(Debug)]
#[non_exhaustive]
pub struct IncomingRequest {
    /// Its name within the conversation.
    pub key: RequestKey,
    /// The method that is requested.
    pub method: MethodName,
    /// The parameters of the method.
    pub params: Params,
    /// The terms on which the request is served.
    pub terms: Arc<Terms>,
    /// The token for progress, if the peer requested progress.
    pub progress_token: Option<ProgressToken>,
}

impl IncomingRequest {
    /// A request without parameters, for work that continues without its message.
    pub fn new(key: RequestKey, method: MethodName, terms: Arc<Terms>) -> Self {
        Self {
            key,
            method,
            params: Params::default(),
            terms,
            progress_token: None,
        }
    }
}

/// A notification that arrived.
#[derive(Debug)]
#[non_exhaustive]
pub struct IncomingNotice {
    /// The method of the notice.
    pub method: MethodName,
    /// The parameters of the method.
    pub params: Params,
    /// The terms of the session, if one was agreed.
    pub terms: Option<Arc<Terms>>,
}

/// A message on its way out.
#[derive(Debug)]
#[non_exhaustive]
pub struct Transmit {
    /// The destination of the message.
    pub lane: Lane,
    /// The role of the message on its lane.
    pub kind: TransmitKind,
    /// The bytes of the message.
    pub frame: Frame,
}

/// Where an outgoing message belongs. Pipes ignore it, HTTP maps it to streams. Closed by design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// The reply to one request of the peer.
    Reply(RequestKey),
    /// The session as a whole.
    Session,
}

/// Role of a message on its lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransmitKind {
    /// The last message of a reply lane.
    Answer(AnswerStatus),
    /// A message on the way; more follow.
    Notice(DropPolicy),
    /// One of our calls.
    Call(CallId),
    /// A cancellation of one of a client's calls. It has no bytes where the server is not notified
    /// by a message: then nothing is sent, and the transport only stops the call.
    Cancel(CallId),
}

/// How a request ended, for bindings that show it outside the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerStatus {
    /// With a result.
    Result,
    /// Refused before anything ran.
    Rejected(ErrorCode),
    /// With an error of its handler.
    Failed(ErrorCode),
}

/// Rule for a notice when its queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropPolicy {
    /// The notice is never dropped.
    Never,
    /// A queued notice with the same fingerprint replaces this one.
    Merge(u64),
    /// The latest of one request is enough.
    KeepLatest(RequestKey),
    /// The oldest may be lost.
    DropOldest,
    /// The newest may be refused.
    RefuseNew,
}

/// The bytes of one message, in up to three parts so that a shared body is never copied.
#[derive(Debug, Clone)]
pub struct Frame(Shape);

// Small, because a message moves often on its way out.
#[derive(Debug, Clone)]
enum Shape {
    /// The message begins at `skip`: room that was kept for an envelope may be unused.
    Whole {
        bytes: Vec<u8>,
        skip: usize,
    },
    Shared(Bytes),
    Around(Box<Around>),
    /// The parts in order. Each shares its memory.
    Parts(Box<[Bytes; 3]>),
}

/// An envelope around a body that was rendered elsewhere.
#[derive(Debug, Clone)]
struct Around {
    head: Vec<u8>,
    body: Bytes,
    tail: &'static [u8],
}

impl Default for Frame {
    fn default() -> Self {
        Self::whole(Vec::new())
    }
}

impl Frame {
    /// A message in one piece.
    #[inline]
    pub fn whole(bytes: Vec<u8>) -> Self {
        Self::from_offset(bytes, 0)
    }

    /// A message in one piece that begins at `skip`.
    #[inline]
    pub(crate) fn from_offset(bytes: Vec<u8>, skip: usize) -> Self {
        Self(Shape::Whole { bytes, skip })
    }

    /// A message in one piece that shares its memory.
    #[inline]
    pub fn shared(body: Bytes) -> Self {
        Self(Shape::Shared(body))
    }

    /// An envelope around a body that was rendered elsewhere.
    pub fn around(head: Vec<u8>, body: Bytes, tail: &'static [u8]) -> Self {
        Self(Shape::Around(Box::new(Around { head, body, tail })))
    }

    /// A message in parts that share their memory.
    pub(crate) fn of_parts(parts: [Bytes; 3]) -> Self {
        Self(Shape::Parts(Box::new(parts)))
    }

    /// The same message in a form that is cloned without copying its body.
    #[must_use]
    pub fn into_shared(self) -> Self {
        match self.0 {
            Shape::Whole { bytes, skip } => Self::shared(piece_from(bytes, skip)),
            // The body is shared already, and an envelope is small.
            Shape::Shared(_) | Shape::Around(_) | Shape::Parts(_) => self,
        }
    }

    /// The parts in order; some may be empty.
    #[inline]
    pub fn parts(&self) -> [&[u8]; 3] {
        match &self.0 {
            Shape::Whole { bytes, skip } => [bytes.get(*skip..).unwrap_or_default(), &[], &[]],
            Shape::Shared(body) => [&[], body, &[]],
            Shape::Around(around) => [&around.head, &around.body, around.tail],
            Shape::Parts(parts) => parts.each_ref().map(|part| &part[..]),
        }
    }

    /// Returns the parts in order, without copying them.
    #[inline]
    pub fn into_pieces(self) -> [Bytes; 3] {
        match self.0 {
            Shape::Whole { bytes, skip } => [piece_from(bytes, skip), Bytes::new(), Bytes::new()],
            Shape::Shared(body) => [Bytes::new(), body, Bytes::new()],
            Shape::Around(around) => {
                let Around { head, body, tail } = *around;
                [head.into(), body, Bytes::from_static(tail)]
            }
            Shape::Parts(parts) => *parts,
        }
    }

    /// Returns a message that is in one piece, without copying it.
    ///
    /// # Errors
    ///
    /// The same frame, if it has several parts.
    #[inline]
    pub fn into_piece(self) -> Result<Bytes, Self> {
        match self.0 {
            Shape::Whole { bytes, skip } => Ok(piece_from(bytes, skip)),
            Shape::Shared(body) => Ok(body),
            Shape::Around(_) | Shape::Parts(_) => Err(self),
        }
    }

    /// The message in one piece. A message that is in one piece is not copied.
    #[inline]
    pub fn into_vec(self) -> Vec<u8> {
        match self.0 {
            Shape::Whole { bytes, skip: 0 } => bytes,
            _ => self.to_vec(),
        }
    }

    /// The length of the message in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.0 {
            Shape::Whole { bytes, skip } => bytes.len().saturating_sub(*skip),
            Shape::Shared(body) => body.len(),
            Shape::Around(around) => around.head.len() + around.body.len() + around.tail.len(),
            Shape::Parts(parts) => parts.iter().map(Bytes::len).sum(),
        }
    }

    /// Whether the message has no bytes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The message in one piece.
    pub fn to_vec(&self) -> Vec<u8> {
        self.parts().concat()
    }
}

/// The bytes from `skip` on, without copying them.
pub(crate) fn piece_from(bytes: Vec<u8>, skip: usize) -> Bytes {
    let mut bytes = Bytes::from(bytes);
    bytes.advance(skip.min(bytes.len()));
    bytes
}

/// Classification of a message that was received.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Received {
    /// A request: its answer leaves on the reply lane of this key, whatever it will be.
    Request(RequestKey),
    /// Another valid message.
    Accepted,
    /// An invalid message. The error, with the recovered id or none, leaves on the session lane.
    Refused(Option<RequestId>),
}
