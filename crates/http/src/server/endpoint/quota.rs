//! The quota of the requests in a body.

use bytes::Bytes;
use pintle_model::RequestId;
use pintle_model::jsonrpc::Message;
use pintle_proto::Batch;
use pintle_runtime::{BoxFuture, Service};

use super::{Endpoint, EndpointResponse};
use crate::server::peers::Peer;

impl<S: Service> Endpoint<S> {
    /// Counts the requests in a body for their peer, if there is a quota. The future returns the refusal above it.
    pub(in crate::server) fn check_quota<'a>(
        &'a self,
        bytes: &Bytes,
        peer: &'a Peer,
    ) -> Option<BoxFuture<'a, Option<EndpointResponse>>> {
        let quotas = self.quotas.as_ref()?;
        let (requests, id) = requests_in(bytes, self.values());
        (requests > 0).then(|| {
            Box::pin(async move {
                let admitted = quotas.admit(self.shared.as_deref(), peer, requests).await;
                let rest = admitted.err()?;
                Some(self.above_quota(id.as_ref(), rest))
            }) as BoxFuture<'_, _>
        })
    }
}

/// The number of requests in a body, and the id of a single one. A body that is not valid counts as one.
fn requests_in(bytes: &[u8], values: usize) -> (u64, Option<RequestId>) {
    match Message::parse_within(bytes, values) {
        Ok(Message::Request(request)) => (1, Some(request.id)),
        Ok(_) => (0, None),
        Err(_) => match Batch::read(bytes, values) {
            Some(Ok(batch)) => {
                let counted = batch
                    .messages()
                    .filter(|message| matches!(message, Err(_) | Ok(Message::Request(_))));
                (counted.count() as u64, None)
            }
            _ => (1, None),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_count_and_other_messages_do_not() {
        let (request, notice) = (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, NOTICE);
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let batch = format!("[{request},{notice},{answer},{request},7]");
        let silent = format!("[{notice},{answer}]");
        for (body, expected) in [
            (request, 1),
            (notice, 0),
            (answer, 0),
            (&batch, 3),
            (&silent, 0),
            ("{", 1),
            ("[]", 1),
        ] {
            assert_eq!(requests_in(body.as_bytes(), 1_000).0, expected, "{body}");
        }
    }

    const NOTICE: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
}
