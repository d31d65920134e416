//! The tools of `scale-server`: an echo, a text of any size, and others up to a number.

use std::sync::LazyLock;

use rmcp::handler::server::common::schema_for_type;
use rmcp::handler::server::router::tool::{ToolRoute, ToolRouter};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::Tool;
use rmcp::{ErrorData, schemars};

use crate::{Called, Echo, Filler, filler, payload, said};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    /// Size of the text, up to 16 MiB
    bytes: usize,
}

async fn echo(Parameters(Echo { text }): Parameters<Echo>) -> Called {
    said(text)
}

async fn text(Parameters(Text { bytes }): Parameters<Text>) -> Called {
    let too_large = || ErrorData::invalid_params("the text is larger than 16 MiB", None);
    said(payload::text_of(bytes).ok_or_else(too_large)?)
}

/// A router of so many tools, at least the two that have work to do.
///
/// It does for each tool what the code of the attribute `tool` does: a constant name and description,
/// and the schema of a type out of its cache.
pub(crate) fn router<S: Send + Sync + 'static>(tools: usize) -> ToolRouter<S> {
    let mut router = ToolRouter::new();
    let tool = Tool::new("echo", "Returns its text.", schema_for_type::<Echo>());
    router.add_route(ToolRoute::new(tool, echo));
    let tool = Tool::new("text", "Returns so much text.", schema_for_type::<Text>());
    router.add_route(ToolRoute::new(tool, text));
    for [name, description] in FILLERS.iter().take(tools.saturating_sub(2)) {
        let schema = schema_for_type::<Filler>();
        let tool = Tool::new(name.as_str(), description.as_str(), schema);
        router.add_route(ToolRoute::new(tool, filler));
    }
    router
}

/// Names and descriptions of the other tools.
static FILLERS: LazyLock<Vec<[String; 2]>> = LazyLock::new(|| {
    let filler = |at: usize| {
        let work = "looks up a record by its key and returns a short text.";
        [format!("tool_{at:03}"), format!("Filler tool {at}: {work}")]
    };
    (2..1_000).map(filler).collect()
});
