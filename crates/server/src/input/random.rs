//! Randomness that nobody guesses, from the system.

use super::seal::SealError;

/// Random bytes.
#[cfg(target_os = "linux")]
pub(super) fn draw<const N: usize>() -> Result<[u8; N], SealError> {
    use rustix::rand::{GetRandomFlags, getrandom};
    let mut bytes = [0; N];
    let drawn = getrandom(&mut bytes, GetRandomFlags::empty()).map_err(|_| SealError)?;
    // The system gives up to 256 bytes whole.
    if drawn == N {
        Ok(bytes)
    } else {
        Err(SealError)
    }
}

/// Random bytes.
#[cfg(not(target_os = "linux"))]
pub(super) fn draw<const N: usize>() -> Result<[u8; N], SealError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| SealError)?;
    Ok(bytes)
}
