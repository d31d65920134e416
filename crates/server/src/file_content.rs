//! Files as results: pictures, and everything else as the contents of a resource.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use pintle_model::{ContentBlock, ResourceContents};

use crate::ask_code::AskCode;
use crate::resource::{HERE, IntoReadResult, ReadOutcome, percent_encoded};
use crate::tool::{Image, IntoToolResult, ToolReply, blocking};

/// Largest file that is read: 16 MiB.
const MAX_FILE_BYTES: u64 = 16 << 20;

impl Image {
    /// Reads a picture from a file of at most 16 MiB. Its first bytes must be those of PNG, JPEG, GIF or WebP.
    ///
    /// # Errors
    ///
    /// - The error of the file system. A directory, a pipe or a device is [`ErrorKind::InvalidInput`].
    /// - [`ErrorKind::FileTooLarge`] for a larger file.
    /// - [`ErrorKind::InvalidData`] for another form. Use [`Image::new`] for it.
    pub async fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let bytes = blocking(move || read(&path)).await?;
        let known = media_type(&bytes).filter(|it| it.starts_with("image/"));
        let unknown = || io::Error::new(ErrorKind::InvalidData, "not PNG, JPEG, GIF or WebP");
        Ok(Self::new(bytes, known.ok_or_else(unknown)?))
    }
}

/// The content of a file, with its media type. A tool returns it as an embedded resource, and a resource as its
/// contents.
///
/// ```
/// use pintle_server::{FileContent, Tool};
///
/// let tool = Tool::new("report")
///     .handler(async || FileContent::open("target/report.pdf").await);
/// # assert!(tool.check().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    name: String,
    uri: Option<String>,
    mime: Cow<'static, str>,
    bytes: Vec<u8>,
}

impl FileContent {
    /// Reads a file of at most 16 MiB.
    ///
    /// In the result of a tool the URI is `file:///` and the name of the file, without its directories. A resource
    /// has its own URI. The first bytes show the media types of PNG, JPEG, GIF, WebP and PDF. Other files are
    /// `text/plain` if they are UTF-8, or `application/octet-stream`.
    ///
    /// # Errors
    ///
    /// - The error of the file system. A directory, a pipe or a device is [`ErrorKind::InvalidInput`].
    /// - [`ErrorKind::FileTooLarge`] for a larger file.
    pub async fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let bytes = blocking(move || read(&path)).await?;
        let mime = media_type(&bytes).unwrap_or_else(|| other_type(&bytes));
        Ok(Self {
            name,
            uri: None,
            mime: Cow::Borrowed(mime),
            bytes,
        })
    }

    /// Sets the URI.
    #[must_use]
    pub fn uri(mut self, uri: impl Into<String>) -> Self {
        self.uri = Some(uri.into());
        self
    }

    /// Sets the media type, such as `text/csv`.
    #[must_use]
    pub fn mime(mut self, mime: impl Into<Cow<'static, str>>) -> Self {
        self.mime = mime.into();
        self
    }
}

impl FileContent {
    fn at(self, uri: String) -> ResourceContents {
        let uri = self.uri.unwrap_or(uri);
        let contents = match String::from_utf8(self.bytes) {
            Ok(text) => ResourceContents::text(uri, text),
            Err(error) => ResourceContents::blob(uri, error.as_bytes()),
        };
        contents.with_mime_type(self.mime)
    }
}

impl From<FileContent> for ContentBlock {
    fn from(file: FileContent) -> Self {
        let uri = format!("file:///{}", percent_encoded(&file.name));
        Self::resource(file.at(uri))
    }
}

impl IntoReadResult for FileContent {
    const ASK_CODE: Option<AskCode> = None;

    fn into_read_result(self) -> ReadOutcome {
        self.at(HERE.to_owned()).into_read_result()
    }
}

impl IntoToolResult for FileContent {
    const ASK_CODE: Option<AskCode> = None;

    fn into_tool_result(self) -> ToolReply {
        ContentBlock::from(self).into_tool_result()
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Before the file is opened, because that waits for the other end of a pipe.
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "not a regular file",
        ));
    }
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::new(
            ErrorKind::FileTooLarge,
            "the file has more than 16 MiB",
        ));
    }
    Ok(bytes)
}

/// Returns the media type that the first bytes show.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        [b'%', b'P', b'D', b'F', b'-', ..] => Some("application/pdf"),
        _ => None,
    }
}

fn other_type(bytes: &[u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(_) => "text/plain",
        Err(_) => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests;
