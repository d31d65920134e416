//! The answer of a user.

/// What the user did with a question. Closed: there is nothing else to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<T> {
    /// Answered it.
    Accepted(T),
    /// Said no.
    Declined,
    /// Went away without an answer.
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
