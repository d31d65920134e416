//! Pictures, sounds and other bytes: how a terminal draws them, and names for their files.

use pintle::model::Base64;

use super::sixel::sixels;
use crate::screen::Graphics;

/// Maximum number of base64 characters in one command of kitty.
const CHUNK: usize = 4096;

/// Maximum length of the part of a file name that a server chooses, in bytes.
const STEM: usize = 40;

/// A picture, a sound, or other bytes.
#[derive(Debug, PartialEq)]
pub(crate) struct Media {
    /// The kind for captions: `image`, `audio` or `resource`.
    pub(crate) kind: &'static str,
    /// The media type that the server reports, safe to print.
    pub(crate) mime: String,
    pub(crate) bytes: Vec<u8>,
}

impl Media {
    /// Returns a line that describes the bytes and names their place.
    pub(crate) fn caption(&self, place: &str) -> String {
        format!(
            "[{}, {}, {} bytes: {place}]",
            self.kind,
            self.mime,
            self.bytes.len()
        )
    }
}

/// Returns the escape sequence that draws a picture, or nothing if the terminal cannot draw it.
pub(crate) fn drawn(media: &Media, graphics: Graphics) -> Option<String> {
    if media.kind != "image" {
        return None;
    }
    // Encoded again, so that no text of a server reaches the terminal.
    let encoded = Base64::encode(&media.bytes);
    match graphics {
        Graphics::Kitty if is_png(&media.bytes) => Some(kitty(encoded.as_str())),
        Graphics::Sixel => sixels(&media.bytes),
        Graphics::Iterm if is_picture(&media.bytes) => Some(format!(
            "\u{1b}]1337;File=inline=1;size={}:{}\u{7}\n",
            media.bytes.len(),
            encoded.as_str()
        )),
        _ => None,
    }
}

fn kitty(encoded: &str) -> String {
    let mut commands = String::with_capacity(encoded.len() + 64);
    let chunks = encoded.as_bytes().chunks(CHUNK);
    let last = chunks.len().saturating_sub(1);
    for (index, chunk) in chunks.enumerate() {
        let how = if index == 0 { "a=T,f=100," } else { "" };
        let more = u8::from(index != last);
        let chunk = str::from_utf8(chunk).unwrap_or_default();
        commands.push_str(&format!("\u{1b}_G{how}m={more};{chunk}\u{1b}\\"));
    }
    commands.push('\n');
    commands
}

fn is_png(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x89PNG\r\n\x1a\n")
}

fn is_picture(bytes: &[u8]) -> bool {
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    is_png(bytes) || is_webp || bytes.starts_with(b"\xff\xd8\xff") || bytes.starts_with(b"GIF8")
}

/// Returns a name for a file. It cannot name another directory, because it has no separators.
pub(crate) fn file_name(stem: &str, number: usize, media: &Media) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut name: String = stem.chars().filter(is_plain).take(STEM).collect();
    if name.is_empty() {
        name.push_str("pintle");
    }
    format!("{name}-{number}.{}", ending(&media.mime))
}

fn ending(mime: &str) -> &'static str {
    match mime.split(';').next().unwrap_or_default().trim() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/ogg" => "ogg",
        "audio/flac" => "flac",
        "application/pdf" => "pdf",
        "application/zip" => "zip",
        "application/json" => "json",
        "text/plain" => "txt",
        _ => "bin",
    }
}
