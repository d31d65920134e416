//! Content of results: text to print, pictures and sounds to draw or to save.

use std::borrow::Cow;

use pintle::model::{Base64, ContentBlock, PromptMessage, ResourceContents, ResourceLink, Role};
use serde_json::Value;

use super::media::Media;
use crate::screen::{Look, Style};
use crate::text;

/// A part of a result.
#[derive(Debug, PartialEq)]
pub(crate) enum Part {
    /// Text to print, with the end of its last line.
    Text(String),
    /// A picture, a sound or other bytes.
    Media(Media),
}

/// Converts the content blocks of a result.
pub(crate) fn blocks(blocks: &[ContentBlock], look: Look) -> Vec<Part> {
    blocks.iter().map(|content| block(content, look)).collect()
}

/// Converts the contents of resources.
pub(crate) fn contents(all: &[ResourceContents], look: Look) -> Vec<Part> {
    all.iter()
        .map(|contents| resource(contents, look))
        .collect()
}

/// Converts the messages of a prompt, each below its role.
pub(crate) fn messages(all: &[PromptMessage], look: Look) -> Vec<Part> {
    let mut parts = Vec::new();
    for message in all {
        let who = match &message.role {
            Role::User => Cow::Borrowed("user"),
            Role::Assistant => Cow::Borrowed("assistant"),
            other => Cow::Owned(word(other)),
        };
        let gap = if parts.is_empty() { "" } else { "\n" };
        let who = look.paint(Style::Heading, &text::line(&who));
        parts.push(Part::Text(format!("{gap}{who}\n")));
        parts.push(block(&message.content, look));
    }
    parts
}

fn block(block: &ContentBlock, look: Look) -> Part {
    match block {
        ContentBlock::Text(content) => plain(&content.text, look),
        ContentBlock::Image(image) => media("image", &image.mime_type, &image.data, look),
        ContentBlock::Audio(audio) => media("audio", &audio.mime_type, &audio.data, look),
        ContentBlock::ResourceLink(link) => Part::Text(link_line(link, look)),
        ContentBlock::Resource(embedded) => resource(&embedded.resource, look),
        other => data(other, look),
    }
}

fn resource(contents: &ResourceContents, look: Look) -> Part {
    match contents {
        ResourceContents::Text(contents) => plain(&contents.text, look),
        ResourceContents::Blob(contents) => {
            let mime = contents
                .mime_type
                .as_deref()
                .unwrap_or("application/octet-stream");
            media("resource", mime, &contents.blob, look)
        }
        other => data(other, look),
    }
}

/// Returns the text unchanged for a file, and escaped for a terminal.
fn plain(words: &str, look: Look) -> Part {
    let mut shown = match look.is_terminal {
        true => text::clean(words).into_owned(),
        false => words.to_owned(),
    };
    if !shown.ends_with('\n') {
        shown.push('\n');
    }
    Part::Text(shown)
}

fn media(kind: &'static str, mime: &str, data: &Base64, look: Look) -> Part {
    match data.decode() {
        Ok(bytes) => Part::Media(Media {
            kind,
            mime: text::line(mime).into_owned(),
            bytes,
        }),
        Err(_) => {
            let note = format!("[{kind}, {}: not base64]", text::line(mime));
            Part::Text(look.paint(Style::Bad, &note) + "\n")
        }
    }
}

fn link_line(link: &ResourceLink, look: Look) -> String {
    let name = link.title.as_deref().unwrap_or(&link.name);
    let mut line = look.paint(Style::Name, &text::line(name));
    line.push_str("  ");
    line.push_str(&text::line(&link.uri));
    for beside in [&link.mime_type, &link.description].into_iter().flatten() {
        line.push_str("  ");
        line.push_str(&look.paint(Style::Faint, &text::line(beside)));
    }
    line.push('\n');
    line
}

/// Returns content of an unknown kind as JSON.
fn data(value: &impl serde::Serialize, look: Look) -> Part {
    let value = serde_json::to_value(value).unwrap_or(Value::Null);
    plain(&format!("{value:#}"), look)
}

fn word(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or(Value::Null);
    value.as_str().unwrap_or_default().to_owned()
}
