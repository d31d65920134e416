//! Unpredictable random bytes, from the system.

use std::fmt;

/// The operating system has no randomness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RandomnessError;

impl fmt::Display for RandomnessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the system has no randomness to give")
    }
}

impl std::error::Error for RandomnessError {}

/// Draws random bytes.
///
/// # Errors
///
/// [`RandomnessError`]: nothing is better than something that can be guessed.
#[cfg(target_os = "linux")]
pub fn random_bytes<const N: usize>() -> Result<[u8; N], RandomnessError> {
    use rustix::rand::{GetRandomFlags, getrandom};
    let mut bytes = [0; N];
    let drawn = getrandom(&mut bytes, GetRandomFlags::empty()).map_err(|_| RandomnessError)?;
    // The system returns up to 256 bytes at once.
    if drawn == N {
        Ok(bytes)
    } else {
        Err(RandomnessError)
    }
}

/// Draws random bytes.
///
/// # Errors
///
/// [`RandomnessError`]: nothing is better than something that can be guessed.
#[cfg(not(target_os = "linux"))]
pub fn random_bytes<const N: usize>() -> Result<[u8; N], RandomnessError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| RandomnessError)?;
    Ok(bytes)
}

/// A name of 128 random bits: 32 hexadecimal digits.
pub(crate) fn random_name() -> Result<String, RandomnessError> {
    let bytes = random_bytes::<16>()?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
