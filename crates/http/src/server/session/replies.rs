//! The replies of a session that are not complete yet.
//!
//! # States
//!
//! ```text
//! open ──► start ──► handler runs ──► has_answer ──► is_answered ──► removed
//!                         │               │
//!                         │               └──► moved to the replay buffer, if no client reads
//!                         └──► is_cancelled ──► removed
//! ```
//!
//! A reply that is cancelled while no client reads it is removed at once. An answer without a reader
//! moves to the replay buffer if the reply is a stream, and is dropped otherwise.
//!
//! Flags that are true together while the session is not locked. The flag of the row is true; the
//! flag of the column is then always, never or possibly true.
//!
//! | | `is_read` | `is_cancelled` | `has_answer` | `is_answered` | `is_detaching` |
//! |---|---|---|---|---|---|
//! | `is_cancelled` | always | | never | never | possibly |
//! | `has_answer` | always | never | | possibly | possibly |
//! | `is_answered` | always | never | always | | possibly |
//! | `is_detaching` | possibly | possibly | possibly | possibly | |

use std::task::Waker;

use pintle_proto::frame::Framing;
use pintle_proto::{IncomingRequest, Outbox, RequestKey, Ticket};
use tokio::task::AbortHandle;

use super::bounds::Bounds;
use super::held::Held;

/// The replies, sorted by key. A new reply is appended, because keys grow.
#[derive(Debug, Default)]
pub(super) struct Replies(Vec<(RequestKey, Reply)>);

/// The response that carries a reply. Closed by design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::server) enum ReplyFormat {
    /// A response of its own, which may be a stream that its client can resume.
    #[default]
    Own,
    /// A response that it shares with other replies.
    Shared,
    /// One JSON body, which can carry only the answer.
    Single,
}

/// The reply to one request.
#[derive(Debug)]
pub(super) struct Reply {
    // Excludes `has_answer` and `detached`, because the handler starts with this ticket.
    pub(super) start: Option<(Ticket, Box<IncomingRequest>)>,
    pub(super) outbox: Outbox,
    // Implies `is_read`, because a reader that leaves clears it.
    pub(super) waker: Option<Waker>,
    // Only `Own` has a `stream`, because an event id names a place in one reply.
    pub(super) form: ReplyFormat,
    /// Its number among the streams of the session, if it is a stream.
    // Never unset, because a client may know the number from then on.
    pub(super) stream: Option<u64>,
    /// Counts its readers: a reader that resumes replaces the one before.
    // Only grows, because a reader that was replaced finds out by comparing its own number.
    pub(super) reader: u32,
    /// Whether a client reads it now.
    // False while the request goes on without a response, because a handler outlives its client.
    pub(super) is_read: bool,
    // Implies `is_read`: the reply is stored only because its reader must still learn of it. The
    // engine drops the answer of a cancelled request, so `has_answer` stays false.
    pub(super) is_cancelled: bool,
    /// Whether its answer is ready.
    // Implies `is_read`, because the rest of an unread reply leaves the table with its answer.
    pub(super) has_answer: bool,
    /// Whether its answer has left.
    // No reader can take over from then on, because nothing follows an answer.
    pub(super) is_answered: bool,
    /// Whether its reader leaves after the messages that wait now.
    // Implies `stream`, because the client must be able to resume. It may outlive its reader; a new
    // reader resets it, because it concerns only the reader of that time.
    pub(super) is_detaching: bool,
    /// The handler that continues without its post.
    // `None` once the request is cancelled, because cancelling aborts the handler.
    pub(super) detached: Option<AbortHandle>,
    /// Present if other replicas can resume the reply once it is a stream.
    pub(super) shared: Option<Box<SharedReply>>,
}

/// The part of a reply that other replicas can resume.
#[derive(Debug)]
pub(super) struct SharedReply {
    /// The id of the request, as JSON.
    pub(super) request: Box<str>,
    /// The messages that wait for the log. Present if the reply is a stream with a log.
    pub(super) held: Option<Held>,
}

impl Reply {
    fn new(form: ReplyFormat) -> Self {
        Self {
            form,
            start: None,
            // Lines, because an event begins with its event id, which a message has when it leaves.
            outbox: Outbox::framed(Framing::Line),
            waker: None,
            stream: None,
            reader: 0,
            is_read: true,
            is_cancelled: false,
            has_answer: false,
            is_answered: false,
            is_detaching: false,
            detached: None,
            shared: None,
        }
    }

    /// Returns the messages that wait for the log, if the reply is a stream with a log.
    pub(super) fn held(&mut self) -> Option<&mut Held> {
        self.shared.as_mut()?.held.as_mut()
    }

    /// Returns true if its reader is so slow that notices will be merged or dropped.
    pub(super) fn is_behind(&self, bounds: &Bounds) -> bool {
        self.is_read && self.outbox.is_full(&bounds.conversation_limits)
    }

    /// Returns true if the client is gone and cannot resume.
    pub(super) fn is_unreachable(&self) -> bool {
        !self.is_read && self.stream.is_none()
    }

    /// Returns true if the client can receive only the answer.
    pub(super) fn is_mute(&self) -> bool {
        self.form == ReplyFormat::Single || self.is_unreachable()
    }
}

impl Replies {
    pub(super) fn open(&mut self, key: RequestKey, form: ReplyFormat) -> &mut Reply {
        self.0.push((key, Reply::new(form)));
        let (_, reply) = self.0.last_mut().expect("it was added now");
        reply
    }

    pub(super) fn get(&self, key: RequestKey) -> Option<&Reply> {
        let (_, reply) = self.0.get(self.position(key)?)?;
        Some(reply)
    }

    pub(super) fn get_mut(&mut self, key: RequestKey) -> Option<&mut Reply> {
        let at = self.position(key)?;
        self.0.get_mut(at).map(|(_, reply)| reply)
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Reply> {
        self.0.iter_mut().map(|(_, reply)| reply)
    }

    pub(super) fn remove(&mut self, key: RequestKey) -> Option<Reply> {
        let at = self.position(key)?;
        Some(self.0.remove(at).1)
    }

    /// Drops a reply without moving it.
    pub(super) fn discard(&mut self, key: RequestKey) {
        if let Some(at) = self.position(key) {
            drop(self.0.drain(at..=at));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn position(&self, key: RequestKey) -> Option<usize> {
        self.0.binary_search_by_key(&key, |(key, _)| *key).ok()
    }
}
