//! What a key is for.

/// A kind of sealed text. Each purpose has keys of its own, so a text of one purpose does not open
/// for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Purpose {
    /// The state of a request, which a client carries from one round to the next.
    State,
    /// The id of a session.
    SessionId,
    /// A nonce for DPoP proofs.
    Nonce,
    /// A cursor of a list.
    Cursor,
    /// A message between replicas.
    Message,
    /// A value or an event in a store. Its key is never rotated in a [ring in a
    /// store](crate::Keys::in_store), because values have no longest life.
    AtRest,
}

impl Purpose {
    pub(crate) const ALL: [Self; 6] = [
        Self::State,
        Self::SessionId,
        Self::Nonce,
        Self::Cursor,
        Self::Message,
        Self::AtRest,
    ];

    /// The text from which its key is derived. It never changes, because stored values would be lost.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::SessionId => "session-id",
            Self::Nonce => "nonce",
            Self::Cursor => "cursor",
            Self::Message => "message",
            Self::AtRest => "at-rest",
        }
    }
}
