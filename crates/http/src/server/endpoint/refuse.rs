//! Refusals of an endpoint: each is logged, then answered.

use std::time::Duration;

use http::StatusCode;
use http::request::Parts;
use pintle_model::RequestId;
use pintle_runtime::Service;

use super::{Endpoint, EndpointResponse};
use crate::rules::cause::{self, Cause};
use crate::rules::classify::HttpRejection;
use crate::server::peers::{BodyRejection, Excess};
use crate::server::reply;
use crate::server::sessions::OpenSessionError;

impl<S: Service> Endpoint<S> {
    pub(in crate::server) fn reject(&self, rejection: HttpRejection) -> EndpointResponse {
        self.refusals.log_rejection(&rejection, None);
        reply::reject(rejection)
    }

    pub(in crate::server) fn reject_head(
        &self,
        rejection: HttpRejection,
        parts: &Parts,
    ) -> EndpointResponse {
        self.refusals.log_rejection(&rejection, Some(parts));
        reply::reject(rejection)
    }

    pub(in crate::server) fn refuse(&self, cause: &'static Cause) -> EndpointResponse {
        self.refusals.log(cause, None);
        reply::refusal(cause)
    }

    pub(in crate::server) fn busy(&self, cause: &'static Cause) -> EndpointResponse {
        self.refusals.log(cause, None);
        reply::busy(cause)
    }

    pub(in crate::server) fn unreadable(&self, unread: BodyRejection) -> EndpointResponse {
        self.refusals.log(reply::cause_of(unread), None);
        reply::unreadable(unread)
    }

    /// Refuses a request above a limit of open requests, with an error of JSON-RPC.
    pub(in crate::server) fn crowded(
        &self,
        id: Option<&RequestId>,
        cause: &'static Cause,
    ) -> EndpointResponse {
        self.refusals.log(cause, None);
        reply::crowded(id, cause.status)
    }

    /// Refuses requests above the quota of their peer.
    pub(in crate::server) fn above_quota(
        &self,
        id: Option<&RequestId>,
        rest: Duration,
    ) -> EndpointResponse {
        self.refusals.log(&cause::QUOTA, None);
        reply::above_quota(id, rest)
    }

    /// Refuses a request whose session cannot be opened.
    pub(in crate::server) fn unopened(&self, error: OpenSessionError) -> EndpointResponse {
        match error {
            OpenSessionError::Full(Excess::InTotal) => self.busy(&cause::TOO_MANY_SESSIONS),
            OpenSessionError::Full(Excess::OfPeer) => self.busy(&cause::TOO_MANY_SESSIONS_OF_PEER),
            OpenSessionError::NoRandomness => reply::bare(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }
}

/// The cause for a stream above a limit.
pub(in crate::server) fn stream_cause(excess: Excess) -> &'static Cause {
    match excess {
        Excess::InTotal => &cause::TOO_MANY_STREAMS,
        Excess::OfPeer => &cause::TOO_MANY_STREAMS_OF_PEER,
    }
}

/// The cause for a request above a limit.
pub(in crate::server) fn call_cause(excess: Excess) -> &'static Cause {
    match excess {
        Excess::InTotal => &cause::TOO_MANY_CALLS,
        Excess::OfPeer => &cause::TOO_MANY_CALLS_OF_PEER,
    }
}
