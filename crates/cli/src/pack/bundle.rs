//! An MCPB bundle: a zip archive with a manifest and a program. Its bytes depend on the content alone.

use std::fs::File;
use std::io::{Cursor, ErrorKind, Read as _, Write as _};
use std::path::Path;

use ring::digest::{SHA256, digest};
use serde_json::Value;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::error::PackError;

/// Maximum size of a program, in bytes.
const PROGRAM_BYTES: u64 = 256 * 1024 * 1024;

/// Compression level of deflate.
const LEVEL: i64 = 9;

/// The program of a bundle.
pub(crate) struct Binary(Vec<u8>);

impl Binary {
    /// Reads a program of at most 256 MiB.
    pub(crate) fn read(file: &Path) -> Result<Self, PackError> {
        let unreadable = |source| PackError::Unreadable {
            file: file.to_owned(),
            source,
        };
        // Before it is opened: opening a pipe waits for a writer.
        if !std::fs::metadata(file).map_err(unreadable)?.is_file() {
            return Err(unreadable(ErrorKind::InvalidInput.into()));
        }
        let mut bytes = Vec::new();
        let opened = File::open(file).map_err(unreadable)?;
        let read = opened.take(PROGRAM_BYTES + 1).read_to_end(&mut bytes);
        match read.map_err(unreadable)? as u64 > PROGRAM_BYTES {
            true => Err(unreadable(ErrorKind::FileTooLarge.into())),
            false => Ok(Self(bytes)),
        }
    }
}

/// Returns the archive of a manifest and a program.
pub(super) fn archive(
    manifest: &Value,
    entry_point: &str,
    binary: &Binary,
) -> Result<Vec<u8>, PackError> {
    let manifest = format!("{manifest:#}\n");
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    // Sorted by name, with the earliest time that an archive can have.
    let entries = [
        ("manifest.json", manifest.as_bytes(), 0o644),
        (entry_point, binary.0.as_slice(), 0o755),
    ];
    for (name, bytes, mode) in entries {
        let options = SimpleFileOptions::DEFAULT
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(LEVEL))
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(mode);
        archive.start_file(name, options)?;
        archive
            .write_all(bytes)
            .map_err(zip::result::ZipError::from)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// Returns the SHA-256 digest of bytes, in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let digest = digest(&SHA256, bytes);
    digest
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
