use http::Request;
use http_body_util::Full;
use pintle_model::{Implementation, ServerCapabilities};
use pintle_proto::Reply;
use pintle_runtime::Context as CallContext;

use super::*;

/// A service whose handlers need no state.
struct Ready;

impl Service for Ready {
    async fn call(&self, _: CallContext) -> Result<Reply, Error> {
        Err(Error::internal())
    }

    fn profile(&self) -> Arc<ServerProfile> {
        let identity = Implementation::new("ready", "0");
        Arc::new(ServerProfile::new(identity, ServerCapabilities::default()))
    }
}

// The C library allocates blocks of more than 1,032 bytes more slowly.
#[tokio::test]
async fn the_answer_to_a_request_is_a_small_future() {
    let endpoint = Endpoint::new(Ready, HttpOptions::default());
    let (parts, body) = Request::new(Full::new(Bytes::new())).into_parts();
    let answer = endpoint.answer(Arc::new(parts), body, None);
    let size = size_of_val(&answer);
    assert!(size <= 940, "{size} bytes");
}
