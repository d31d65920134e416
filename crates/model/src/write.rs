//! Writing JSON: what `serde_json` writes, byte for byte, with two differences in how.
//!
//! - Text is searched for what must be escaped eight bytes at a time. A large text costs a fraction.
//! - Large base64 is not copied: it is put between two pieces of text, as the bytes it is kept in.
//!
//! Numbers and raw JSON are written by `serde_json` itself.

mod compound;
mod key;
mod quote;
mod shared;
mod writer;

use bytes::Bytes;
use serde::Serialize;

pub(crate) use shared::{SHARED, lend};
use writer::Writer;

/// Why a value could not be written.
pub type WriteError = serde_json::Error;

/// Adds a value to `out`.
///
/// # Errors
///
/// As [`serde_json::to_writer`]: when the value itself refuses, or a key is no text.
pub fn write_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<(), WriteError> {
    value.serialize(Writer::new(out))
}

/// As [`write_json`], but the first large run of base64 may be left out: where it belongs, and it.
///
/// # Errors
///
/// As [`write_json`].
pub fn write_json_apart<T: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    value: &T,
) -> Result<Option<(usize, Bytes)>, WriteError> {
    let mut apart = None;
    value.serialize(Writer::apart(out, &mut apart))?;
    Ok(apart)
}

#[cfg(test)]
mod tests;
