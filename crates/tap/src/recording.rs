//! The format of recordings: JSON Lines.
//!
//! The first line is the header: `{"pintle_recording":1,"started":"…","transport":"stdio","secrets":"redacted"}`.
//! Each further line is a message, with these members:
//!
//! | member | value |
//! |---|---|
//! | `ms` | time since the start, in milliseconds |
//! | `to` | the receiver: `server` or `client` |
//! | `session` | the number of the session; absent if there is only one |
//! | `stream` | the number of the HTTP exchange, which a request shares with its answer; absent on stdio |
//! | `message` | the message, unchanged except redacted secrets |
//! | `text` | in place of `message`: a line that is not JSON |
//! | `bytes` | in place of `message`: the size of a line that is too long |
//! | `odd` | codes of its oddities; absent without any |
//!
//! A last line `{"end":…}` states the reason of the end: `closed` or `full`. Readers ignore members and lines that
//! they do not know. A file of `pintle call --trace` has the same lines without a header, and is a recording, too.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::SystemTime;

use pintle_model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::observer::Direction;

/// The version of the format that this crate writes and reads.
pub const RECORDING_VERSION: u32 = 1;
/// Default size limit of a recording, in bytes.
pub const MAX_RECORDING_BYTES: u64 = 256 << 20;

/// The first line.
#[derive(Debug, Serialize)]
struct Header<'a> {
    pintle_recording: u32,
    started: Timestamp,
    transport: &'a str,
    secrets: &'a str,
}

/// A line of a message, to write.
#[derive(Debug, Serialize)]
pub(crate) struct Row<'a> {
    pub(crate) ms: f64,
    pub(crate) to: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stream: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) odd: Vec<&'static str>,
}

/// Writes a recording.
pub struct Recorder {
    to: Box<dyn Write + Send>,
    /// Bytes that may still be written.
    room: u64,
    is_full: bool,
}

impl Recorder {
    /// Creates a file, or empties it. Only its owner may read it (mode 0600 on Unix). After `max_bytes` the
    /// recording ends.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn create(path: &Path, max_bytes: u64) -> io::Result<Self> {
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        #[cfg(unix)]
        {
            // The file may have existed with another mode. A device, for example, cannot change.
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            let is_file = file.metadata()?.is_file();
            if is_file {
                file.set_permissions(mode)?;
            }
        }
        Ok(Self::new(file, max_bytes))
    }

    /// Writes to any writer.
    pub fn new(to: impl Write + Send + 'static, max_bytes: u64) -> Self {
        Self {
            to: Box::new(to),
            room: max_bytes,
            is_full: false,
        }
    }

    pub(crate) fn begin(
        &mut self,
        started: SystemTime,
        transport: &str,
        has_secrets: bool,
    ) -> io::Result<()> {
        self.line(&Header {
            pintle_recording: RECORDING_VERSION,
            started: Timestamp::from(started),
            transport,
            secrets: if has_secrets { "kept" } else { "redacted" },
        })
    }

    /// Writes a line. Returns false if the recording has just become full.
    pub(crate) fn row(&mut self, row: &Row<'_>) -> io::Result<bool> {
        if self.is_full {
            return Ok(true);
        }
        self.line(row)?;
        if self.is_full {
            self.end_line("full")?;
        }
        Ok(!self.is_full)
    }

    pub(crate) fn end(&mut self) -> io::Result<()> {
        match self.is_full {
            true => self.to.flush(),
            false => self.end_line("closed"),
        }
    }

    fn end_line(&mut self, reason: &str) -> io::Result<()> {
        writeln!(self.to, "{{\"end\":\"{reason}\"}}")?;
        self.to.flush()
    }

    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(line)?;
        line.push(b'\n');
        let size = line.len() as u64;
        match self.room.checked_sub(size) {
            Some(room) => self.room = room,
            None => {
                self.is_full = true;
                return Ok(());
            }
        }
        self.to.write_all(&line)
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("room", &self.room)
            .finish_non_exhaustive()
    }
}

/// A message of a recording.
#[derive(Debug, Clone)]
pub struct RecordedMessage {
    /// Time since the start, in milliseconds.
    pub ms: f64,
    /// The side that gets the message.
    pub direction: Direction,
    /// The number of the session; 0 if there is only one.
    pub session: u64,
    /// The number of the HTTP exchange, if there is one.
    pub stream: Option<u64>,
    /// The message, without secrets unless they were kept.
    pub message: Value,
}

/// The messages of a recording. Lines that are not JSON, or were too long, are absent.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Recording {
    /// The messages, in their order.
    pub messages: Vec<RecordedMessage>,
    /// The number of lines without a message: noise, and lines that were too long.
    pub skipped: u64,
    /// Whether the recording ended at its size limit, or without its last line.
    pub is_cut: bool,
}

/// Why a recording cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file cannot be read.
    Io(io::Error),
    /// A line is not JSON.
    Json {
        /// The number of the line, from 1.
        line: usize,
        /// The error of the parser.
        source: serde_json::Error,
    },
    /// The file is not a recording.
    NotARecording,
    /// The file has a newer version of the format.
    Version(u64),
    /// The file is larger than the limit.
    TooLarge {
        /// The limit, in bytes.
        max_bytes: u64,
    },
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the recording cannot be read: {error}"),
            Self::Json { line, source } => {
                write!(f, "line {line} of the recording is not JSON: {source}")
            }
            Self::NotARecording => f.write_str("the file is not a recording"),
            Self::Version(version) => write!(
                f,
                "the recording has version {version} of the format; this program reads version {RECORDING_VERSION}"
            ),
            Self::TooLarge { max_bytes } => {
                write!(f, "the recording has more than {max_bytes} bytes")
            }
        }
    }
}

impl std::error::Error for RecordingError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Json { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// A line, as it is read. Unknown members are ignored.
#[derive(Debug, Deserialize)]
struct Read {
    #[serde(default)]
    pintle_recording: Option<u64>,
    #[serde(default)]
    end: Option<String>,
    #[serde(default)]
    ms: Option<f64>,
    #[serde(default)]
    to: Option<String>,
    #[serde(default)]
    session: u64,
    #[serde(default)]
    stream: Option<u64>,
    #[serde(default)]
    message: Option<Value>,
}

impl Recording {
    /// Reads a file, at most [`MAX_RECORDING_BYTES`] of it.
    ///
    /// # Errors
    ///
    /// [`RecordingError`], if it is not a recording, or is larger.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        let file = File::open(path).map_err(RecordingError::Io)?;
        // The header and the last line may exceed the limit of the writer a little.
        let max_bytes = MAX_RECORDING_BYTES + 4096;
        let length = file.metadata().map_err(RecordingError::Io)?.len();
        if length > max_bytes {
            return Err(RecordingError::TooLarge { max_bytes });
        }
        Self::read(io::BufReader::new(io::Read::take(file, max_bytes)))
    }

    /// Reads a recording.
    ///
    /// # Errors
    ///
    /// [`RecordingError`], if it is not a recording.
    pub fn read(from: impl BufRead) -> Result<Self, RecordingError> {
        let mut recording = Self {
            is_cut: true,
            ..Self::default()
        };
        let mut is_first = true;
        let mut broken = None;
        for (index, line) in from.lines().enumerate() {
            let line = line.map_err(RecordingError::Io)?;
            if line.trim().is_empty() {
                continue;
            }
            // Only the last line may be incomplete, because its writer was killed.
            if let Some(error) = broken.take() {
                return Err(error);
            }
            // The parser would accept a list of values, too.
            let is_object = line.trim_start().starts_with('{');
            match serde_json::from_str(&line) {
                Ok(_) if is_first && !is_object => return Err(RecordingError::NotARecording),
                Ok(read) => recording.add(read, std::mem::take(&mut is_first))?,
                Err(_) if is_first => return Err(RecordingError::NotARecording),
                Err(source) => {
                    let line = index + 1;
                    broken = Some(RecordingError::Json { line, source });
                }
            }
        }
        match is_first {
            true => Err(RecordingError::NotARecording),
            false => Ok(recording),
        }
    }

    fn add(&mut self, read: Read, is_first: bool) -> Result<(), RecordingError> {
        let direction = match read.to.as_deref() {
            Some("server") => Some(Direction::ToServer),
            Some("client") => Some(Direction::ToClient),
            _ => None,
        };
        match (read.pintle_recording, direction) {
            (Some(version), _) if version != u64::from(RECORDING_VERSION) => {
                return Err(RecordingError::Version(version));
            }
            (None, None) if is_first => return Err(RecordingError::NotARecording),
            (None, None) => self.is_cut &= read.end.as_deref() != Some("closed"),
            (None, Some(direction)) => match read.message {
                Some(message) => self.messages.push(RecordedMessage {
                    ms: read.ms.unwrap_or_default(),
                    direction,
                    session: read.session,
                    stream: read.stream,
                    message,
                }),
                None => self.skipped += 1,
            },
            (Some(_), _) => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
