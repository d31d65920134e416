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
    let answer = Arc::new(endpoint).answer(Arc::new(parts), body, None);
    let size = size_of_val(&answer);
    assert!(size <= 940, "{size} bytes");
}

const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{
    "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

#[tokio::test]
async fn a_response_reuses_the_header_map_but_not_the_headers() {
    let mut request = Request::post("/mcp")
        .body(Full::new(Bytes::from(DISCOVER)))
        .expect("a request");
    let headers = request.headers_mut();
    for (name, value) in [
        ("host", "localhost"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "server/discover"),
        ("x-one", "1"),
        ("x-two", "2"),
    ] {
        headers.insert(name, value.parse().expect("a value"));
    }
    let (parts, body) = request.into_parts();
    let endpoint = Arc::new(Endpoint::new(Ready, HttpOptions::default()));
    let answer = endpoint.answer(Arc::new(parts), body, None).await;
    assert_eq!(answer.status(), StatusCode::OK);
    let names: Vec<_> = answer.headers().keys().map(|name| name.as_str()).collect();
    assert_eq!(names, ["content-type"]);
    assert!(answer.headers().capacity() >= 7);
}

#[test]
fn many_headers_and_headers_that_a_handler_has_are_not_used_again() {
    let parts = |count: usize| {
        let mut parts = Request::new(()).into_parts().0;
        parts.headers.reserve(count);
        Arc::new(parts)
    };
    assert!(spare_headers(parts(9)).capacity() >= 9);
    assert_eq!(spare_headers(parts(100)).capacity(), 0);
    let shared = parts(9);
    assert_eq!(spare_headers(Arc::clone(&shared)).capacity(), 0);
}
