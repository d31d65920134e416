//! Ids that cannot be guessed.

use pintle::model::Error;
use pintle::runtime::random_bytes;

/// Returns 128 random bits as text.
///
/// # Errors
///
/// -32603 if the system has no random bits.
pub(crate) fn random_id() -> Result<String, Error> {
    let bytes: [u8; 16] = random_bytes().map_err(|_| Error::internal())?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
