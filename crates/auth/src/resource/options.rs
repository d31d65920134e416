//! Limits and timeouts of a resource server.

use std::time::Duration;

/// Limits of a resource server: each with its default, unit and reason.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ResourceLimits {
    /// Size of a token, in bytes; default 16 KiB. A larger one is not looked at: 401.
    pub max_token_bytes: usize,
    /// How far the clocks of issuer and server may be apart; default 60 s.
    pub max_clock_skew: Duration,
    /// Longest wait for the verification of a token, with all fetches; default 10 s. Then 503.
    pub verify_timeout: Duration,
    /// Size of a document of the issuer, in bytes; default 1 MiB. A larger one is an error: 503.
    pub max_document_bytes: usize,
    /// Keys of one issuer; default 100. Later keys are ignored.
    pub max_keys: usize,
    /// How long the keys of an issuer are used before they are fetched again; default 15 min. A key
    /// that was withdrawn is trusted for no longer.
    pub keys_ttl: Duration,
    /// Pause between two fetches of the keys; default 10 s. It limits the load on the
    /// issuer by tokens with invented keys, and the requests to an issuer that is down.
    pub keys_fetch_interval: Duration,
    /// How long the introspection endpoint of the issuer's metadata is used before it is read again;
    /// default 15 min, and no longer than [`keys_fetch_interval`](Self::keys_fetch_interval) after it
    /// sent no valid response, because the issuer may have moved it.
    pub endpoint_ttl: Duration,
    /// How long an active token is cached; default 30 s. A revoked token is not accepted longer.
    pub introspection_ttl: Duration,
    /// Active tokens in the cache; default 1 024. At the limit the oldest is dropped.
    pub max_cached_introspections: usize,
    /// Introspections at the same time; default 32. More wait, within [`verify_timeout`](Self::verify_timeout).
    /// Half of them are for tokens that were active before.
    pub max_running_introspections: usize,
    /// How long a stream stays open if its token has no expiry; default 1 h. The client then sends the
    /// token again, because it may have been revoked.
    pub stream_ttl: Duration,
    /// How old a DPoP proof may be, or how far ahead of our clock; default 5 min.
    pub proof_ttl: Duration,
    /// Stored DPoP proofs, so that each is valid once; default 262 144. At the limit a new proof is
    /// rejected: 503.
    pub max_proofs: usize,
    /// Stored DPoP proofs of one principal; default 65 536, a quarter of
    /// [`max_proofs`](Self::max_proofs), so that one principal cannot use the whole cache: 503.
    pub max_proofs_per_principal: usize,
    /// How long a nonce for DPoP proofs is valid; default 5 min.
    pub nonce_ttl: Duration,
}

impl Default for ResourceLimits {
    fn default() -> Self {
        Self {
            max_token_bytes: 16 << 10,
            max_clock_skew: Duration::from_secs(60),
            verify_timeout: Duration::from_secs(10),
            max_document_bytes: 1 << 20,
            max_keys: 100,
            keys_ttl: Duration::from_secs(15 * 60),
            keys_fetch_interval: Duration::from_secs(10),
            endpoint_ttl: Duration::from_secs(15 * 60),
            introspection_ttl: Duration::from_secs(30),
            max_cached_introspections: 1_024,
            max_running_introspections: 32,
            stream_ttl: Duration::from_secs(60 * 60),
            proof_ttl: Duration::from_secs(5 * 60),
            max_proofs: 262_144,
            max_proofs_per_principal: 65_536,
            nonce_ttl: Duration::from_secs(5 * 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A default is part of the public interface: changing one is a deliberate act.
    #[test]
    fn defaults_match_the_documentation() {
        let limits = ResourceLimits::default();
        assert_eq!(
            (limits.max_token_bytes, limits.max_document_bytes),
            (16_384, 1_048_576)
        );
        assert_eq!(
            (
                limits.max_clock_skew.as_secs(),
                limits.verify_timeout.as_secs()
            ),
            (60, 10)
        );
        assert_eq!(limits.max_keys, 100);
        assert_eq!(
            (
                limits.keys_ttl.as_secs(),
                limits.keys_fetch_interval.as_secs()
            ),
            (900, 10)
        );
        assert_eq!(limits.endpoint_ttl.as_secs(), 900);
        assert_eq!(limits.introspection_ttl.as_secs(), 30);
        assert_eq!(
            (
                limits.max_cached_introspections,
                limits.max_running_introspections
            ),
            (1_024, 32)
        );
        assert_eq!(
            (limits.proof_ttl.as_secs(), limits.max_proofs),
            (300, 262_144)
        );
        assert_eq!(limits.max_proofs_per_principal, 65_536);
        assert_eq!(limits.nonce_ttl.as_secs(), 300);
        assert_eq!(limits.stream_ttl.as_secs(), 3_600);
    }
}
