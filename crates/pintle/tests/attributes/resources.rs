//! The items that `#[resource]` generates.

use pintle::model::{Error, Outcome, ResourceContents};
use pintle::prelude::*;
use pintle::runtime::Extensions;
use pintle::server::{ExtractContext, IntoResource};
use serde_json::json;

use crate::attributes::context::context;

async fn slugs() -> Vec<&'static str> {
    vec!["start"]
}

/// One page of the manual.
#[resource("docs://{slug}{?page}", title = "Manual", mime = "text/markdown", complete(slug = slugs, page = ["1", "2"]))]
async fn doc(
    slug: PathSegment,
    page: Option<u32>,
    pages: State<String>,
) -> Result<String, NotFound> {
    match slug.as_str() {
        "start" => Ok(format!("{} {page:?}", *pages)),
        _ => Err(NotFound),
    }
}

/// The settings of the application.
#[resource("config://app", name = "settings")]
fn config() -> &'static str {
    "quiet"
}

async fn text<T: IntoResource>(uri: &str) -> Result<String, Error> {
    let mut state = Extensions::new();
    state.insert("page".to_owned());
    let resource = T::into_resource();
    resource.check().expect("the resource can be offered");
    let context = context();
    match resource
        .read(uri, ExtractContext::new(&context, &state))
        .await?
    {
        Outcome::Complete(result) => match result.contents.first() {
            Some(ResourceContents::Text(text)) => Ok(text.text.clone()),
            other => panic!("a text was expected, not {other:?}"),
        },
        other => panic!("a result was expected, not {other:?}"),
    }
}

#[test]
fn a_template_is_listed_as_one_and_a_uri_as_a_resource() {
    let doc = doc::into_resource();
    assert!(doc.is_template() && doc.has_completers());
    assert_eq!(
        serde_json::to_value(doc.template_definition()).expect("JSON"),
        json!({
            "uriTemplate": "docs://{slug}{?page}",
            "name": "doc",
            "title": "Manual",
            "description": "One page of the manual.",
            "mimeType": "text/markdown",
        })
    );
    let config = config::into_resource();
    assert!(!config.is_template());
    let listed = serde_json::to_value(config.definition()).expect("JSON");
    assert_eq!(listed["uri"], "config://app");
    assert_eq!(listed["name"], "settings");
    assert_eq!(listed["description"], "The settings of the application.");
}

#[tokio::test]
async fn variables_are_parameters() {
    assert_eq!(
        text::<doc>("docs://start").await.expect("contents"),
        "page None"
    );
    assert_eq!(
        text::<doc>("docs://start?page=3").await.expect("contents"),
        "page Some(3)"
    );
    assert_eq!(
        text::<config>("config://app").await.expect("contents"),
        "quiet"
    );
}

#[tokio::test]
async fn a_missing_or_unsafe_resource_is_an_error() {
    for uri in [
        "docs://other",
        "docs://..%2Fetc",
        "docs://start?page=many",
        "docs://..",
    ] {
        assert!(text::<doc>(uri).await.is_err(), "{uri}");
    }
}
