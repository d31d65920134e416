//! What can be wrong with a message.

use std::fmt;

use pintle_model::Revision;

/// Something that is wrong with a message, or unusual.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Oddity {
    /// The line is not UTF-8.
    NotUtf8,
    /// The line is not JSON, for example a log that a server prints to standard output.
    NotJson,
    /// The line is JSON, but not a message of JSON-RPC.
    NotJsonRpc(String),
    /// The line is empty.
    EmptyLine,
    /// The line is longer than the limit for stored lines. It was passed on, but not read.
    TooLong,
    /// The stream ended in the middle of a line.
    NoLineEnd,
    /// A request with this id still runs.
    DuplicateId,
    /// A request with this id has run before.
    ReusedId,
    /// The id of an answer belongs to no request.
    UnknownId,
    /// The request was answered before.
    SecondAnswer,
    /// The request was cancelled before its answer.
    AnswerAfterCancel,
    /// The revision in use does not have the method.
    WrongRevision(Revision),
    /// The request precedes the handshake, and does not state a revision.
    BeforeHandshake,
    /// The method belongs to the other side.
    WrongSide,
    /// This side states a revision that this program does not know.
    UnsupportedRevision(String),
    /// The message states another revision than the session has.
    OtherRevision {
        /// The revision of the message.
        stated: Revision,
        /// The revision of the session.
        session: Revision,
    },
    /// The revision in use has no batches.
    Batch,
    /// Too many requests run, so that the answer to this one is not awaited.
    NotTracked,
}

impl Oddity {
    /// Returns the name in recordings and JSON output.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotUtf8 => "not_utf8",
            Self::NotJson => "not_json",
            Self::NotJsonRpc(_) => "not_json_rpc",
            Self::EmptyLine => "empty_line",
            Self::TooLong => "too_long",
            Self::NoLineEnd => "no_line_end",
            Self::DuplicateId => "duplicate_id",
            Self::ReusedId => "reused_id",
            Self::UnknownId => "unknown_id",
            Self::SecondAnswer => "second_answer",
            Self::AnswerAfterCancel => "answer_after_cancel",
            Self::WrongRevision(_) => "wrong_revision",
            Self::BeforeHandshake => "before_handshake",
            Self::WrongSide => "wrong_side",
            Self::UnsupportedRevision(_) => "unsupported_revision",
            Self::OtherRevision { .. } => "other_revision",
            Self::Batch => "batch",
            Self::NotTracked => "not_tracked",
        }
    }
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotJsonRpc(reason) => return write!(f, "not a message of JSON-RPC: {reason}"),
            Self::WrongRevision(revision) => {
                return write!(f, "revision {revision} does not have this method");
            }
            Self::UnsupportedRevision(name) => {
                return write!(f, "revision {name:.32} is not supported");
            }
            Self::OtherRevision { stated, session } => {
                return write!(
                    f,
                    "it states revision {stated}, but the session has {session}"
                );
            }
            Self::NotUtf8 => "not UTF-8",
            Self::NotJson => "not JSON",
            Self::EmptyLine => "an empty line",
            Self::TooLong => "too long to be read; it was passed on",
            Self::NoLineEnd => "the stream ended in this line",
            Self::DuplicateId => "a request with this id still runs",
            Self::ReusedId => "a request with this id has run before",
            Self::UnknownId => "no request has this id",
            Self::SecondAnswer => "the request was answered before",
            Self::AnswerAfterCancel => "the request was cancelled before",
            Self::BeforeHandshake => "no handshake precedes it, and it states no revision",
            Self::WrongSide => "the method belongs to the other side",
            Self::Batch => "the revision has no batches",
            Self::NotTracked => "too many requests run; its answer is not awaited",
        })
    }
}
