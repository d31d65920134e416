//! Messages between replicas, and the replies to them.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use pintle_model::errors;
use pintle_store::StoreError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::replica_id::ReplicaId;
use crate::future::BoxFuture;

/// A message to one replica, or an entry of the news for all: a kind, and a body in JSON.
///
/// Replicas of several versions share a fleet. A recipient that cannot read a body replies
/// [`ReplicaReply::NotFound`]. `Debug` omits the body.
#[derive(Clone)]
pub struct ReplicaMessage {
    kind: Cow<'static, str>,
    body: Box<RawValue>,
}

/// The reply of a recipient.
///
/// `Debug` omits the data.
#[derive(Clone)]
#[non_exhaustive]
pub enum ReplicaReply {
    /// The recipient acted.
    Done,
    /// The replica has no such thing, no recipient of the kind, or cannot read the message.
    NotFound,
    /// The recipient acted, and the requester needs this.
    Data(Box<RawValue>),
}

/// The part of a program that receives messages of one kind: see
/// [`Fleet::set_recipient`](super::Fleet::set_recipient).
pub trait Recipient: Send + Sync {
    /// Acts on a message. The reply is sent if the message is a request.
    ///
    /// The messages of a replica are polled for the first time in the order in which it sent them.
    /// After that they run beside each other. The future is dropped after
    /// [`FleetOptions::receive_timeout`](super::FleetOptions::receive_timeout).
    ///
    /// The sender may have ended, and may no longer wait for the reply. The message is not a
    /// permission: compare the owner of the session or task in it.
    fn receive(&self, from: ReplicaId, message: ReplicaMessage) -> BoxFuture<'_, ReplicaReply>;
}

errors! {
    /// The reason why a message has no reply.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum DeliveryError {
        /// The replica is absent. It may have received the message before its end.
        Absent => "the replica is absent",
        /// The reply did not arrive within
        /// [`FleetOptions::reply_timeout`](super::FleetOptions::reply_timeout). The recipient may have acted.
        TimedOut => "the replica did not reply in time",
        /// Too many requests wait for a reply. The message was not sent.
        TooManyRequests {
            /// Maximum number of requests.
            limit: usize,
        } => "too many requests wait for replies of other replicas; the limit is {limit}",
        /// The store failed. The recipient may have acted.
        Store(error: StoreError) => "cannot reach the inbox of the replica" (source: error),
    }
}

impl ReplicaMessage {
    /// Creates a message. The kind names its recipient and the form of its body. It is not empty.
    ///
    /// # Errors
    ///
    /// If the body cannot be written as JSON.
    pub fn new(kind: &'static str, body: &impl Serialize) -> Result<Self, serde_json::Error> {
        let body = serde_json::value::to_raw_value(body)?;
        Ok(Self::from_parts(kind.into(), body))
    }

    pub(super) fn from_parts(kind: Cow<'static, str>, body: Box<RawValue>) -> Self {
        Self { kind, body }
    }

    /// Creates the entry which means that everything may have changed.
    pub(super) fn everything() -> Self {
        Self::from_parts(Cow::Borrowed(""), RawValue::NULL.to_owned())
    }

    pub(super) fn is_everything(&self) -> bool {
        self.kind.is_empty()
    }

    /// Returns the kind.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Reads the body.
    ///
    /// # Errors
    ///
    /// If the body has another form, because another version wrote it.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.body.get())
    }

    /// The bytes of the kind and the body.
    pub(super) fn size(&self) -> usize {
        self.kind.len() + self.body.get().len()
    }

    pub(super) fn body(&self) -> &RawValue {
        &self.body
    }
}

impl ReplicaReply {
    /// Creates a reply with data.
    ///
    /// # Errors
    ///
    /// If the data cannot be written as JSON.
    pub fn data(data: &impl Serialize) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(data).map(Self::Data)
    }

    /// Reads the data. `None` if the reply has none, or data of another form.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        match self {
            Self::Data(data) => serde_json::from_str(data.get()).ok(),
            Self::Done | Self::NotFound => None,
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Done => "Done",
            Self::NotFound => "NotFound",
            Self::Data(data) => data.get(),
        }
    }
}

impl PartialEq for ReplicaMessage {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.body.get() == other.body.get()
    }
}

impl Eq for ReplicaMessage {}

impl Hash for ReplicaMessage {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
        self.body.get().hash(state);
    }
}

impl fmt::Debug for ReplicaMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplicaMessage")
            .field("kind", &self.kind)
            .field("bytes", &self.body.get().len())
            .finish()
    }
}

impl Eq for ReplicaReply {}

impl PartialEq for ReplicaReply {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other) && self.text() == other.text()
    }
}

impl fmt::Debug for ReplicaReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Done => "Done",
            Self::NotFound => "NotFound",
            Self::Data(_) => "Data(…)",
        })
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn debug_output_of_a_message_and_a_reply_hides_the_content() {
        let message = ReplicaMessage::new("cancel", &"secret").expect("JSON");
        let reply = ReplicaReply::data(&"secret").expect("JSON");
        let text = format!("{message:?} {reply:?}");
        assert_eq!(
            text,
            r#"ReplicaMessage { kind: "cancel", bytes: 8 } Data(…)"#
        );
    }

    #[test]
    fn a_body_of_another_form_cannot_be_read() {
        let message = ReplicaMessage::new("cancel", &"x").expect("JSON");
        assert_eq!(message.read::<String>().expect("a text"), "x");
        assert!(message.read::<u32>().is_err());
        let reply = ReplicaReply::data(&7).expect("JSON");
        assert_eq!(reply.read::<u32>(), Some(7));
        assert_eq!(reply.read::<String>(), None);
        assert_eq!(ReplicaReply::Done.read::<u32>(), None);
    }
}
