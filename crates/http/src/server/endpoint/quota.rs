//! The quota of the requests in a body.

use pintle_runtime::{BoxFuture, Service};

use super::reading::{Reading, requests_of};
use super::{Endpoint, EndpointResponse};
use crate::server::peers::Peer;

impl<S: Service> Endpoint<S> {
    /// Counts the requests in a body for their peer, if there is a quota. The future returns the refusal above it.
    pub(in crate::server) fn check_quota<'a>(
        &'a self,
        reading: &Reading<'_>,
        peer: &'a Peer,
    ) -> Option<BoxFuture<'a, Option<EndpointResponse>>> {
        let quotas = self.quotas.as_ref()?;
        let (requests, id) = requests_of(reading);
        (requests > 0).then(|| {
            Box::pin(async move {
                let admitted = quotas
                    .admit(self.shared().map(|shared| &**shared), peer, requests)
                    .await;
                let rest = admitted.err()?;
                Some(self.above_quota(id.as_ref(), rest))
            }) as BoxFuture<'_, _>
        })
    }
}
