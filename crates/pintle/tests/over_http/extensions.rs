//! Methods of an extension over HTTP, under the same rules for headers and statuses as the core.

use http::StatusCode;
use pintle::model::method::Method;
use pintle::model::{EmptyResult, Error, Feature, NoParams};
use pintle::prelude::*;
use pintle::server::ProtocolExtension;
use serde_json::json;

use crate::over_http::guest::{Guest, MODERN, REVISIONS, messages};

enum Reset {}

impl Method for Reset {
    const NAME: &'static str = "tides/reset";
    type Params = NoParams;
    type Result = EmptyResult;
}

enum Claim {}

impl Method for Claim {
    const NAME: &'static str = "claims/make";
    type Params = NoParams;
    type Result = EmptyResult;
}

async fn done() -> Result<EmptyResult, Error> {
    Ok(EmptyResult::default())
}

fn server() -> Server {
    let tides = ProtocolExtension::new("com.example/tides")
        .needs(Feature::Envelope)
        .method::<Reset, _>(done);
    let claims = ProtocolExtension::new("com.example/claims")
        .mutual()
        .method::<Claim, _>(done);
    Server::new("pilot", "1").extend(tides).extend(claims)
}

// spec: 2026-07-28 N-EXT-04, N-EXT-09, N-EXT-14, N-HTTP-22
#[tokio::test]
async fn a_method_that_is_not_there_for_a_client_is_refused_with_its_status() {
    for revision in REVISIONS {
        let mut guest = Guest::of(server(), revision).await;
        let is_modern = revision == MODERN;
        let has_extensions = revision >= "2025-11-25";
        for (method, modern, code) in [
            ("tides/reset", (StatusCode::OK, None), Some(-32601)),
            (
                "claims/make",
                (StatusCode::BAD_REQUEST, Some(-32021)),
                Some(if has_extensions { -32600 } else { -32601 }),
            ),
            (
                "tides/flood",
                (StatusCode::NOT_FOUND, Some(-32601)),
                Some(-32601),
            ),
        ] {
            let request = guest.request(method, json!({}));
            let response = guest.post(&request).await;
            let status = response.status();
            let answer = messages(response).await.pop().expect("answered");
            let found = (status, answer["error"]["code"].as_i64());
            let expected = if is_modern {
                modern
            } else {
                (StatusCode::OK, code)
            };
            assert_eq!(found, expected, "{revision} {method}: {answer}");
        }
    }
}

// spec: 2026-07-28 N-HDR-03, N-HDR-06
#[tokio::test]
async fn its_method_is_repeated_by_the_header_like_any_other() {
    let mut guest = Guest::of(server(), MODERN).await;
    let request = guest.request("tides/reset", json!({}));
    for header in [Some("tides/get"), None] {
        let response = guest.post_as(&request, header).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        assert_eq!(messages(response).await[0]["error"]["code"], -32020);
    }
    let response = guest.post_as(&request, Some("tides/reset")).await;
    assert_eq!(
        messages(response).await[0]["result"]["resultType"],
        "complete"
    );
}
