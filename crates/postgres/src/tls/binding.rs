//! Channel binding of RFC 5929: SCRAM includes the hash of the certificate of the server.

use ring::digest::{Algorithm, SHA256, SHA384, SHA512, digest};

/// The algorithms of signatures, as the content of their object identifier, and the hash of each.
// RFC 5929, section 4.1: SHA-256 stands for MD5 and SHA-1. Servers with other algorithms have no binding.
const HASHES: [(&[u8], &Algorithm); 8] = [
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 5], &SHA256), // sha1WithRSAEncryption
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11], &SHA256),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 12], &SHA384),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 13], &SHA512),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 1], &SHA256), // ecdsa-with-SHA1
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2], &SHA256),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 3], &SHA384),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 4], &SHA512),
];

/// Returns the hash of a certificate in DER form, or `None` if its algorithm has no defined hash.
pub(super) fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    let identifier = algorithm(certificate)?;
    let (_, hash) = HASHES.iter().find(|(known, _)| *known == identifier)?;
    Some(digest(hash, certificate).as_ref().to_vec())
}

/// Returns the object identifier of the signature: the first element of the second element.
fn algorithm(certificate: &[u8]) -> Option<&[u8]> {
    let (content, _) = element(certificate, 0x30)?;
    let (_, rest) = element(content, 0x30)?;
    let (signature, _) = element(rest, 0x30)?;
    element(signature, 0x06).map(|(identifier, _)| identifier)
}

/// Splits an element of this tag into its content and the bytes behind it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, first], rest) = der.split_first_chunk()?;
    if found != tag {
        return None;
    }
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            let length = bytes
                .iter()
                .fold(0, |length, byte| length << 8 | usize::from(*byte));
            (length, rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384};

    use super::*;

    fn certificate(algorithm: &'static rcgen::SignatureAlgorithm) -> Vec<u8> {
        let key = KeyPair::generate_for(algorithm).expect("a key");
        let names = vec!["x".repeat(200)];
        let params = CertificateParams::new(names).expect("a name");
        params.self_signed(&key).expect("signs").der().to_vec()
    }

    #[test]
    fn the_hash_is_the_hash_of_the_signature() {
        for (algorithm, hash) in [
            (&PKCS_ECDSA_P256_SHA256, &SHA256),
            (&PKCS_ECDSA_P384_SHA384, &SHA384),
        ] {
            let der = certificate(algorithm);
            let expected = digest(hash, &der);
            assert_eq!(end_point(&der).as_deref(), Some(expected.as_ref()));
        }
    }

    #[test]
    fn a_certificate_without_a_known_hash_has_no_binding() {
        let der = certificate(&rcgen::PKCS_ED25519);
        assert_eq!(end_point(&der), None);
        let der = certificate(&PKCS_ECDSA_P256_SHA256);
        for length in 0..der.len() {
            assert!(algorithm(&der[..length]).is_none());
        }
    }
}
