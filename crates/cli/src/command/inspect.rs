//! `pintle inspect`: everything about a server.

use pintle::model::Feature;

use super::list::offers;
use crate::conversation::Conversation;
use crate::exit::Failure;
use crate::output;
use crate::plan::Format;
use crate::show;

/// Prints who the server is, what it speaks, what it can, and what it offers.
pub(crate) async fn run(conversation: &Conversation) -> Result<(), Failure> {
    let offers = offers(conversation, &[]).await?;
    let Some(server) = conversation.client.server() else {
        return Err(Failure::NotFound("the server has gone".to_owned()));
    };
    let described = show::Server {
        identity: server.identity.as_deref(),
        capabilities: &server.capabilities,
        instructions: server.instructions.as_deref(),
        revision: server.revision.to_string(),
        supported: &server.supported,
        era: match server.revision.has(Feature::Handshake) {
            true => "legacy",
            false => "modern",
        },
    };
    let screen = &conversation.screen;
    match conversation.format {
        Format::Json => output::json(screen, &described.json(&offers)),
        Format::Text => output::result(show::server(&described, &offers, screen.output).as_bytes()),
    }
}
