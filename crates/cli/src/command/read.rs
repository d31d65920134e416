//! `pintle read`: prints the contents of resources.

use std::path::PathBuf;

use crate::args::Format;
use crate::conversation::Conversation;
use crate::exit::CliError;
use crate::output::{self, Saving};
use crate::show;

/// Resources to read.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) uris: Vec<String>,
    pub(crate) save: Option<PathBuf>,
}

/// Reads resources, one after the other.
pub(crate) async fn run(conversation: &Conversation, reading: &Reading) -> Result<(), CliError> {
    for uri in &reading.uris {
        let call = conversation.client.read_resource(uri);
        let result = conversation.make(call).await?;
        let screen = &conversation.screen;
        if conversation.format == Format::Json {
            output::json(screen, &result)?;
            continue;
        }
        let stem = uri.rsplit('/').next().unwrap_or(uri);
        let stem = stem.split('.').next().unwrap_or(stem);
        // A pipe gets the content unchanged, as from any program that downloads a file.
        let saving = Saving::new(stem, reading.save.as_deref()).or_as_it_is();
        output::parts(
            screen,
            show::contents(&result.contents, screen.output),
            saving,
        )?;
    }
    Ok(())
}
