//! Time and random bytes for the state machines.

use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pintle_runtime::{RandomnessError, random_bytes};

use crate::secret::Secret;

/// The time and the random bytes of one step. Each is for one step: bytes that are used twice can
/// be guessed.
#[derive(Debug, Clone)]
pub struct FlowContext {
    /// The time of day.
    pub now: SystemTime,
    random: Secret<[u8; 96]>,
}

impl FlowContext {
    /// A moment of these random bytes.
    pub fn new(now: SystemTime, random: [u8; 96]) -> Self {
        Self {
            now,
            random: Secret::new(random),
        }
    }

    /// This moment, with bytes from the system.
    ///
    /// # Errors
    ///
    /// [`RandomnessError`].
    pub fn draw() -> Result<Self, RandomnessError> {
        Ok(Self::new(SystemTime::now(), random_bytes()?))
    }

    /// Returns a PKCE code verifier of 256 random bits.
    pub(crate) fn verifier(&self) -> Secret {
        self.text(0, 32).into()
    }

    /// 192 bits: by which the end of a visit is recognized.
    pub(crate) fn state(&self) -> String {
        self.text(32, 56)
    }

    /// 128 bits: the id of an assertion.
    pub(crate) fn assertion_id(&self) -> String {
        self.text(56, 72)
    }

    /// 128 bits: the id of a proof.
    pub(crate) fn proof_id(&self) -> String {
        self.text(72, 88)
    }

    fn text(&self, from: usize, to: usize) -> String {
        URL_SAFE_NO_PAD.encode(&self.random.reveal()[from..to])
    }
}
