//! The scopes that the principal of a request lacks.

use std::collections::BTreeSet;

use http::request::Parts;
use pintle_model::jsonrpc::Message;
use pintle_model::method::{Method, ReadResource};
use pintle_runtime::{MissingScopes, Principal, Service};

use super::Endpoint;
use crate::rules::params_preview::ParamsPreview;

impl<S: Service> Endpoint<S> {
    /// Returns the scopes that the principal of a request lacks.
    pub(in crate::server) fn missing_scopes(
        &self,
        parts: &Parts,
        message: &Message<'_>,
        outline: &ParamsPreview<'_>,
    ) -> Option<MissingScopes> {
        let principal = parts.extensions.get::<Principal>()?;
        let Message::Request(request) = message else {
            return None;
        };
        if let Some(subject) = outline.subject(&request.method) {
            return self
                .service
                .missing_scopes(&request.method, &subject, principal);
        }
        // A subscription needs the scopes of a read, because changes reveal the content.
        let followed = outline.followed(&request.method);
        all_missing(
            followed
                .iter()
                .filter_map(|uri| {
                    self.service
                        .missing_scopes(ReadResource::NAME, uri, principal)
                })
                .collect(),
        )
    }
}

/// One refusal for several; none for none.
pub(in crate::server) fn all_missing(missing: Vec<MissingScopes>) -> Option<MissingScopes> {
    let all: BTreeSet<Box<str>> = missing
        .iter()
        .flat_map(|MissingScopes(scopes)| scopes.to_vec())
        .collect();
    (!all.is_empty()).then(|| MissingScopes(all.into_iter().collect()))
}
