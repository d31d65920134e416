//! A rejected request: the status, and the error that states the reason.

use http::StatusCode;
use pintle_model::jsonrpc::InvalidMessage;
use pintle_model::{Error, ErrorCode, Feature, RequestId, Revision};
use pintle_runtime::MissingScopes;

use crate::rules::cause::{self, Cause};
use crate::rules::headers::HeaderError;
use crate::rules::status::{Stage, status_of};

/// The response to a rejected request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HttpRejection {
    pub(crate) status: StatusCode,
    /// The JSON-RPC error. Absent for rejections by HTTP alone: 403, 405, 406, 415.
    pub(crate) error: Option<Box<Error>>,
    /// The reason of a rejection by HTTP alone.
    pub(crate) cause: Option<&'static Cause>,
    /// The id of the request, if it could be read.
    pub(crate) id: Option<RequestId>,
    /// The allowed methods, with 405.
    pub(crate) allow: Option<&'static str>,
    /// The scopes that the principal lacks, with 403.
    pub(crate) scopes: Option<MissingScopes>,
}

impl HttpRejection {
    /// Creates a rejection by HTTP alone.
    pub(crate) fn because(cause: &'static Cause) -> Self {
        Self {
            cause: Some(cause),
            ..Self::bare(cause.status)
        }
    }

    fn bare(status: StatusCode) -> Self {
        Self {
            status,
            error: None,
            cause: None,
            id: None,
            allow: None,
            scopes: None,
        }
    }

    /// Creates a 403 that names all scopes of the request.
    pub(crate) fn scopes(missing: MissingScopes) -> Self {
        Self {
            scopes: Some(missing),
            ..Self::because(&cause::SCOPES)
        }
    }

    /// Creates a 405 that names the allowed methods.
    pub(crate) fn verb(allow: &'static str) -> Self {
        Self {
            allow: Some(allow),
            ..Self::because(&cause::METHOD)
        }
    }

    /// Creates a rejection by a protocol error, with its status at admission.
    pub(crate) fn error(error: Error) -> Self {
        Self {
            error: Some(Box::new(error.clone())),
            ..Self::bare(status_of(error.code, Stage::Admission))
        }
    }

    /// Creates the rejection of a text that is not a message.
    pub(crate) fn malformed(malformed: InvalidMessage) -> Self {
        let error: &Error = &malformed.error;
        Self {
            id: malformed.id,
            ..Self::error(error.clone())
        }
    }

    /// Creates the rejection of a header that cannot be read.
    pub(crate) fn fault(fault: HeaderError) -> Self {
        Self::error(Error::new(ErrorCode::HEADER_MISMATCH, fault.to_string()))
    }

    /// Creates a 404, the same for sessions that ended and for unknown ones.
    pub(crate) fn no_such_session() -> Self {
        let error = Error::invalid_request("no such session; open one with initialize");
        Self {
            status: StatusCode::NOT_FOUND,
            ..Self::error(error)
        }
    }

    /// Creates a 400 for an event whose later messages are not stored. It is not 404, which means the
    /// end of the session.
    pub(crate) fn no_such_event() -> Self {
        Self::error(Error::invalid_request(
            "the stream of this event cannot be resumed",
        ))
    }

    /// Creates a 400 for a missing session id.
    pub(crate) fn session_required() -> Self {
        Self::error(Error::invalid_request(
            "header mcp-session-id is missing; open a session with initialize",
        ))
    }

    /// Creates the rejection of a revision that is not served.
    pub(crate) fn revision(requested: &str, legacy_too: bool) -> Self {
        let served = |revision: &Revision| legacy_too || revision.has(Feature::Envelope);
        let supported: Vec<_> = Revision::ALL
            .iter()
            .rev()
            .filter(|r| served(r))
            .map(|r| r.as_str())
            .collect();
        Self::error(Error::unsupported_revision(&supported, requested))
    }

    /// Adds the id of the request.
    pub(crate) fn with_id(mut self, id: Option<RequestId>) -> Self {
        self.id = self.id.or(id);
        self
    }
}
