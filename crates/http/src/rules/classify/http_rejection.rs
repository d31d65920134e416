//! A request that is turned away: status, and the error that says why.

use http::StatusCode;
use pintle_model::jsonrpc::InvalidMessage;
use pintle_model::{Error, ErrorCode, Feature, RequestId, Revision};
use pintle_runtime::MissingScopes;

use crate::rules::cause::{self, Cause};
use crate::rules::headers::HeaderError;
use crate::rules::status::{Stage, status_of};

/// What a refused request is answered with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HttpRejection {
    pub(crate) status: StatusCode,
    /// Absent where HTTP alone refuses: 403, 405, 406, 415.
    pub(crate) error: Option<Box<Error>>,
    /// Why HTTP refuses; absent beside an error.
    pub(crate) cause: Option<&'static Cause>,
    /// The request it answers, when its id could be read.
    pub(crate) id: Option<RequestId>,
    /// The verbs that would do, with 405.
    pub(crate) allow: Option<&'static str>,
    /// What the principal lacks, with 403.
    pub(crate) scopes: Option<MissingScopes>,
}

impl HttpRejection {
    /// A refusal by HTTP alone.
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

    /// 403, naming all scopes that the request takes.
    pub(crate) fn scopes(missing: MissingScopes) -> Self {
        Self {
            scopes: Some(missing),
            ..Self::because(&cause::SCOPES)
        }
    }

    /// 405, naming what is served instead.
    pub(crate) fn verb(allow: &'static str) -> Self {
        Self {
            allow: Some(allow),
            ..Self::because(&cause::METHOD)
        }
    }

    /// An error of the protocol, with the status it has at admission.
    pub(crate) fn error(error: Error) -> Self {
        Self {
            error: Some(Box::new(error.clone())),
            ..Self::bare(status_of(error.code, Stage::Admission))
        }
    }

    /// A text that is no message.
    pub(crate) fn malformed(malformed: InvalidMessage) -> Self {
        let error: &Error = &malformed.error;
        Self {
            id: malformed.id,
            ..Self::error(error.clone())
        }
    }

    /// A header that cannot be read.
    pub(crate) fn fault(fault: HeaderError) -> Self {
        Self::error(Error::new(ErrorCode::HEADER_MISMATCH, fault.to_string()))
    }

    /// 404, the same for a session that ended and for one that never was.
    pub(crate) fn no_such_session() -> Self {
        let error = Error::invalid_request("no such session; open one with initialize");
        Self {
            status: StatusCode::NOT_FOUND,
            ..Self::error(error)
        }
    }

    /// 400: what followed an event is not known, or not any more. Not 404, which would look like the
    /// end of the session.
    pub(crate) fn no_such_event() -> Self {
        Self::error(Error::invalid_request(
            "the stream of this event cannot be resumed",
        ))
    }

    /// 400: a session must be named.
    pub(crate) fn session_required() -> Self {
        Self::error(Error::invalid_request(
            "header mcp-session-id is missing; open a session with initialize",
        ))
    }

    /// A revision that is not served under these terms.
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

    /// The same, as an answer to a request.
    pub(crate) fn with_id(mut self, id: Option<RequestId>) -> Self {
        self.id = self.id.or(id);
        self
    }
}
