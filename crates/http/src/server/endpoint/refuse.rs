//! Refusals of an endpoint: each is logged, then answered.

use http::request::Parts;
use pintle_runtime::Service;

use super::{Endpoint, EndpointResponse};
use crate::body::BodyError;
use crate::rules::cause::Cause;
use crate::rules::classify::HttpRejection;
use crate::server::reply;

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

    pub(in crate::server) fn unreadable(&self, unread: BodyError) -> EndpointResponse {
        self.refusals.log(reply::cause_of(unread), None);
        reply::unreadable(unread)
    }
}
