use pintle_model::method::{Complete, Method};
use pintle_model::{CompleteParams, CompletionReference, Error, ErrorCode};
use pintle_proto::Reply;
use pintle_runtime::{Extensions, Principal, Service};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::testing::context_with;
use crate::{App, Resource, Server};

/// A server with a fixed resource and two templates, and one resource that needs a scope.
fn app() -> App {
    let page = |uri: &'static str| Resource::new(uri, uri).reader(async || "text");
    Server::new("library", "1")
        .add_resource(page("books://hours"))
        .add_resource(page("hidden://ledger").scopes(["audit"]))
        .add_resource(page("hidden://{file}").scopes(["audit"]))
        .add_resource(page("books://{title}").complete("title", ["emma", "persuasion"]))
        .add_resource(page("books://{title}/{page}").complete("page", ["1", "12"]))
        .build()
        .expect("starts")
}

/// The values that a client without scopes gets for a variable of a reference.
async fn values(uri: &str, variable: &str, typed: &str) -> Result<Value, Error> {
    let reference = CompletionReference::resource_template(uri);
    let params = CompleteParams::new(reference, variable, typed);
    let principal = Principal::new("eve", ["read"]);
    let cx = context_with(Some(principal), Extensions::new(), |request| {
        request.method = Complete::NAME.into();
        request.params = (&*to_raw_value(&params).expect("JSON")).into();
    });
    let Reply::Complete(rendered) = app().call(cx).await? else {
        panic!("a completion is complete");
    };
    let answer: Value = serde_json::from_slice(&rendered.json()).expect("JSON");
    Ok(answer["completion"]["values"].clone())
}

// spec: 2025-11-25 COMP-02
// spec: 2026-07-28 N-COMP-02
#[tokio::test]
async fn a_fixed_resource_has_no_values() {
    assert_eq!(values("books://hours", "title", "").await, Ok(json!([])));
}

// spec: 2025-11-25 COMP-02
// spec: 2026-07-28 N-COMP-02
#[tokio::test]
async fn a_uri_of_a_template_is_completed_as_the_template() {
    for uri in ["books://{title}", "books://emma"] {
        assert_eq!(
            values(uri, "title", "em").await,
            Ok(json!(["emma"])),
            "{uri}"
        );
        assert_eq!(values(uri, "page", "").await, Ok(json!([])), "{uri}");
    }
    for uri in ["books://{title}/{page}", "books://emma/3"] {
        let pages = values(uri, "page", "1").await;
        assert_eq!(pages, Ok(json!(["1", "12"])), "{uri}");
    }
}

// spec: 2025-11-25 COMP-05, COMP-08 (disclosure), AMB-65 (reference)
// spec: 2026-07-28 N-COMP-04, N-COMP-06 (disclosure)
#[tokio::test]
async fn a_uri_of_no_visible_resource_is_an_error() {
    let unknown = [
        "films://emma",
        "books://{other}",
        "books://{title}/{other}",
        "hidden://ledger",
        "hidden://{file}",
        "hidden://secrets",
    ];
    for uri in unknown {
        let error = values(uri, "title", "").await.expect_err(uri);
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{uri}");
        let expected = format!("unknown resource or resource template: {uri}");
        assert_eq!(error.message, expected);
    }
}
