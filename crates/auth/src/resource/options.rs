//! The bounds of whoever verifies tokens.

use std::time::Duration;

/// Bounds of a resource server: each with its default, unit and reason.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ResourceLimits {
    /// Size of a token, in bytes; default 16 KiB. A larger one is not looked at: 401.
    pub token_bytes: usize,
    /// How far the clocks of issuer and server may be apart; default 60 s.
    pub skew: Duration,
    /// How long one verification may take, everything fetched included; default 10 s. Then 503.
    pub verify_time: Duration,
    /// Size of a document of the issuer, in bytes; default 1 MiB. A larger one is an error: 503.
    pub document_bytes: usize,
    /// Keys of one issuer; default 100. More are not looked at.
    pub keys: usize,
    /// How long the keys of an issuer are used before they are fetched again; default 15 min. A key
    /// that was withdrawn is trusted for no longer.
    pub keys_life: Duration,
    /// Pause between two fetches of the keys; default 10 s. Tokens with made-up keys must not make
    /// work for the issuer, and one that is down is not asked over and over.
    pub keys_pause: Duration,
    /// How long tokens are asked about where the issuer's document says, before it is read again;
    /// default 15 min, and no longer than [`keys_pause`](Self::keys_pause) once no answer came from
    /// there: issuers move.
    pub endpoint_life: Duration,
    /// How long an issuer's word about a token is good, at most; default 30 s. A token that was
    /// revoked is trusted for no longer.
    pub introspection_life: Duration,
    /// Tokens whose introspection is remembered; default 1 024. At the limit the oldest is forgotten.
    pub introspected: usize,
    /// Introspections at the same time; default 32. More wait, within [`verify_time`](Self::verify_time).
    /// Half of them are for tokens that were active before.
    pub introspections: usize,
    /// How long a stream stays open on a token that does not say when it ends; default 1 h. Then its
    /// client shows the token again: it may have been revoked.
    pub stream_life: Duration,
    /// How old a DPoP proof may be, or how far ahead of our clock; default 5 min.
    pub proof_age: Duration,
    /// DPoP proofs that are remembered, so that none is used twice; default 262 144. At the
    /// limit the newcomer is refused: 503.
    pub proofs: usize,
    /// DPoP proofs of one principal that are remembered; default 65 536, a quarter of
    /// [`proofs`](Self::proofs), so that one principal does not shut out the others: 503.
    pub max_proofs_per_principal: usize,
    /// How long a nonce for DPoP proofs is good; default 5 min.
    pub nonce_life: Duration,
}

impl Default for ResourceLimits {
    fn default() -> Self {
        Self {
            token_bytes: 16 << 10,
            skew: Duration::from_secs(60),
            verify_time: Duration::from_secs(10),
            document_bytes: 1 << 20,
            keys: 100,
            keys_life: Duration::from_secs(15 * 60),
            keys_pause: Duration::from_secs(10),
            endpoint_life: Duration::from_secs(15 * 60),
            introspection_life: Duration::from_secs(30),
            introspected: 1_024,
            introspections: 32,
            stream_life: Duration::from_secs(60 * 60),
            proof_age: Duration::from_secs(5 * 60),
            proofs: 262_144,
            max_proofs_per_principal: 65_536,
            nonce_life: Duration::from_secs(5 * 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A default is part of the public interface: changing one is a deliberate act.
    #[test]
    fn defaults_are_what_the_documentation_promises() {
        let limits = ResourceLimits::default();
        assert_eq!(
            (limits.token_bytes, limits.document_bytes),
            (16_384, 1_048_576)
        );
        assert_eq!(
            (limits.skew.as_secs(), limits.verify_time.as_secs()),
            (60, 10)
        );
        assert_eq!(limits.keys, 100);
        assert_eq!(
            (limits.keys_life.as_secs(), limits.keys_pause.as_secs()),
            (900, 10)
        );
        assert_eq!(limits.endpoint_life.as_secs(), 900);
        assert_eq!(limits.introspection_life.as_secs(), 30);
        assert_eq!((limits.introspected, limits.introspections), (1_024, 32));
        assert_eq!((limits.proof_age.as_secs(), limits.proofs), (300, 262_144));
        assert_eq!(limits.max_proofs_per_principal, 65_536);
        assert_eq!(limits.nonce_life.as_secs(), 300);
        assert_eq!(limits.stream_life.as_secs(), 3_600);
    }
}
