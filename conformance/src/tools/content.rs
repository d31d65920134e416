//! Tools that return every kind of content.

use pintle::model::ResourceContents;
use pintle::prelude::*;
use pintle::server::Image;

use crate::sample::{PIXEL, SILENCE};

pub(super) fn offer(server: Server) -> Server {
    server.tools::<(
        test_simple_text,
        test_image_content,
        test_audio_content,
        test_embedded_resource,
        test_multiple_content_types,
        test_error_handling,
    )>()
}

/// Returns a text.
#[tool(read_only)]
async fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Returns a picture.
#[tool(read_only)]
async fn test_image_content() -> Image {
    Image::png(PIXEL)
}

/// Returns a sound.
#[tool(read_only)]
async fn test_audio_content() -> ContentBlock {
    ContentBlock::audio(SILENCE, "audio/wav")
}

/// Returns a resource inside the result.
#[tool(read_only)]
async fn test_embedded_resource() -> ContentBlock {
    let text = "This is an embedded resource content.";
    let contents = ResourceContents::text("test://embedded-resource", text);
    ContentBlock::resource(contents.with_mime_type("text/plain"))
}

/// Returns a text, a picture and a resource.
#[tool(read_only)]
async fn test_multiple_content_types() -> Vec<ContentBlock> {
    let json = r#"{"test":"data","value":123}"#;
    let contents = ResourceContents::text("test://mixed-content-resource", json);
    vec![
        ContentBlock::text("Multiple content types test:"),
        Image::png(PIXEL).into(),
        ContentBlock::resource(contents.with_mime_type("application/json")),
    ]
}

/// Fails with an error text for the model.
#[tool(read_only)]
async fn test_error_handling() -> Result<(), &'static str> {
    Err("This tool intentionally returns an error for testing")
}
