//! The resources that the suite reads.

use pintle::prelude::*;
use serde_json::json;

use crate::sample::PIXEL;

/// Offers all resources.
pub(crate) fn offer(server: Server) -> Server {
    server.resources::<(static_text, static_binary, watched_resource, template_data)>()
}

/// A constant text.
#[resource("test://static-text", name = "static-text", mime = "text/plain")]
async fn static_text() -> &'static str {
    "This is the content of the static text resource."
}

/// A constant picture.
#[resource("test://static-binary", name = "static-binary", mime = "image/png")]
async fn static_binary() -> &'static [u8] {
    PIXEL
}

/// A text that clients subscribe to.
#[resource(
    "test://watched-resource",
    name = "watched-resource",
    mime = "text/plain"
)]
async fn watched_resource() -> &'static str {
    "This is the content of the watched resource."
}

/// The data of any id.
#[resource(
    "test://template/{id}/data",
    name = "template-data",
    mime = "application/json"
)]
async fn template_data(id: PathSegment) -> String {
    let id = id.as_str();
    let data = format!("Data for ID: {id}");
    json!({ "id": id, "templateTest": true, "data": data }).to_string()
}
