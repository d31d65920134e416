//! Writing JSON: what `serde_json` writes, byte for byte.
//!
//! Text is searched for what must be escaped eight bytes at a time: a large text costs a fraction.
//! Numbers and raw JSON are written by `serde_json` itself.

mod around;
mod compound;
mod key;
mod memory;
mod quote;
mod writer;

use serde::Serialize;

pub use around::write_around;
pub(crate) use quote::quoted;
pub(crate) use writer::Writer;

/// Error of writing a value.
pub type WriteError = serde_json::Error;

/// Adds a value to `out`.
///
/// # Errors
///
/// As [`serde_json::to_writer`]: if the value itself fails, or a key is not text.
pub fn write_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<(), WriteError> {
    value.serialize(Writer::new(out))
}

#[cfg(test)]
mod tests;
