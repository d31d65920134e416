//! Unpredictable random bytes, from the system.

use pintle_model::errors;

errors! {
    /// The operating system has no randomness.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct RandomnessError => "the system has no randomness to give";
}

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
