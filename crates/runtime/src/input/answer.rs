//! The answer of a user.

/// Reaction of the user to a question. Closed: the protocol has these three.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<T> {
    /// The user answered the question.
    Accepted(T),
    /// The user declined to answer.
    Declined,
    /// The user dismissed the question without an answer.
    Cancelled,
}

impl<T> Answer<T> {
    /// The answer, if there is one.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(answer) => Some(answer),
            Self::Declined | Self::Cancelled => None,
        }
    }
}
