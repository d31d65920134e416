//! `pintle lock`: the lock file of a server.

use std::fs;
use std::path::{Path, PathBuf};

use pintle_surface::{EntryKind, Surface, SurfaceError};
use serde_json::json;

use super::list::offers;
use crate::args::Format;
use crate::conversation::Conversation;
use crate::exit::{CliError, Exit};
use crate::output;
use crate::text;

/// Writes the lock file of a server, and prints the changes of a file that was there before.
pub(super) async fn run(conversation: &Conversation, file: &Path) -> Result<(), CliError> {
    let surface = surface(conversation).await?;
    let json = surface.to_json();
    // A file that cannot be read later is not written.
    Surface::from_json(&json)?;
    let before = match file.exists() {
        true => Some(Surface::open(file).map_err(|error| of_file(file, error))?),
        false => None,
    };
    write(file, &json)?;
    let comparison = before.map(|before| before.compare(&surface));
    let shown = file.display().to_string();
    match conversation.format {
        Format::Json => output::json(
            &conversation.screen,
            &json!({ "file": shown, "tools": count(&surface, EntryKind::Tool),
                "prompts": count(&surface, EntryKind::Prompt),
                "resources": count(&surface, EntryKind::Resource),
                "resourceTemplates": count(&surface, EntryKind::ResourceTemplate),
                "changes": comparison.map(|comparison| comparison.changes().to_vec()) }),
        ),
        Format::Text => {
            let changes = comparison.map(|comparison| comparison.to_text());
            let line = format!("{}: {}\n", text::line(&shown), counts(&surface));
            output::result((changes.unwrap_or_default() + &line).as_bytes())
        }
    }
}

/// Reads the surface of the server of a conversation.
///
/// # Errors
///
/// The errors of the calls.
pub(super) async fn surface(conversation: &Conversation) -> Result<Surface, CliError> {
    let offers = offers(conversation, &[]).await?;
    let server = conversation.client.server();
    let identity = server
        .as_ref()
        .and_then(|server| server.identity.as_deref());
    let instructions = server
        .as_ref()
        .and_then(|server| server.instructions.clone());
    Ok(Surface::of_identity(identity)
        .with_instructions(instructions)
        .with_tools(offers.tools.iter().flatten())
        .with_prompts(offers.prompts.iter().flatten())
        .with_resources(offers.resources.iter().flatten())
        .with_resource_templates(offers.resource_templates.iter().flatten()))
}

/// Returns the error of a lock file with its name.
pub(super) fn of_file(file: &Path, error: SurfaceError) -> CliError {
    CliError::new(Exit::Usage, format!("{}: {error}", file.display()))
}

/// Returns the numbers of entries as a text.
pub(super) fn counts(surface: &Surface) -> String {
    let nouns = [
        (EntryKind::Tool, "tool"),
        (EntryKind::Prompt, "prompt"),
        (EntryKind::Resource, "resource"),
        (EntryKind::ResourceTemplate, "resource template"),
    ];
    nouns
        .map(|(kind, noun)| text::counted(count(surface, kind), noun))
        .join(", ")
}

fn count(surface: &Surface, kind: EntryKind) -> usize {
    surface.definitions(kind).len()
}

/// Writes a file as a whole or not at all.
fn write(file: &Path, text: &str) -> Result<(), CliError> {
    let mut draft = file.as_os_str().to_owned();
    draft.push(format!(".{}.pintle-draft", std::process::id()));
    let draft = PathBuf::from(draft);
    let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, file));
    written.map_err(|error| {
        // The first error is the one to report.
        let _ = fs::remove_file(&draft);
        CliError::new(
            Exit::Failed,
            format!("{} cannot be written: {error}", file.display()),
        )
    })
}

impl From<SurfaceError> for CliError {
    fn from(error: SurfaceError) -> Self {
        Self::new(Exit::Usage, error)
    }
}
