//! Public keys of an issuer that are given, not fetched.

use bytes::Bytes;
use pintle_runtime::{Fetch, FetchError, FetchRequest, FetchResponse};

use super::ResourceLimits;
use super::jwk::KeySet;
use super::uri::RequireBearerError;

/// A key set that answers every request for keys.
pub(super) struct FixedKeys(Bytes);

impl FixedKeys {
    /// Creates the source of a JSON Web Key Set.
    ///
    /// # Errors
    ///
    /// If the text is not a key set, or has no public key for signatures.
    pub(super) fn new(set: Bytes, limits: &ResourceLimits) -> Result<Self, RequireBearerError> {
        let fits = set.len() <= limits.max_document_bytes;
        let usable = |set: KeySet| !set.is_empty();
        if fits && KeySet::read(&set, limits.max_keys).is_some_and(usable) {
            return Ok(Self(set));
        }
        Err(RequireBearerError::KeySet)
    }
}

impl Fetch for FixedKeys {
    async fn fetch(&self, _: FetchRequest) -> Result<FetchResponse, FetchError> {
        Ok(FetchResponse::new(200, self.0.clone()))
    }
}
