//! Digests of values that telemetry must not contain.

use std::fmt::Write as _;

use ring::digest::{SHA256, digest};

/// Length of the digest of a session id, in bytes: enough to find the session's other spans.
const SESSION_BYTES: usize = 8;

/// The digest of a session id. The id itself admits its bearer, so it must not reach a collector.
pub(crate) fn of_session(id: &[u8]) -> String {
    hex(&digest(&SHA256, id).as_ref()[..SESSION_BYTES])
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing into a `String` does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_digest_has_16_digits_and_not_the_id() {
        // The first 8 bytes of SHA-256 of "abc" (FIPS 180-2).
        assert_eq!(of_session(b"abc"), "ba7816bf8f01cfea");
    }
}
