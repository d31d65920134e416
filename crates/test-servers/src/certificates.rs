//! An authority, and a certificate for `localhost`.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

/// Writes `ca.pem`, `server.crt` and `server.key` to a folder.
pub(crate) fn write(folder: &Path) {
    let mut params = CertificateParams::new(Vec::new()).expect("parameters");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let authority = CertifiedIssuer::self_signed(params, key).expect("signs");

    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let certificate = params.signed_by(&key, &authority).expect("signs");
    for (name, label, der) in [
        ("ca.pem", "CERTIFICATE", authority.der().to_vec()),
        ("server.crt", "CERTIFICATE", certificate.der().to_vec()),
        ("server.key", "PRIVATE KEY", key.serialize_der()),
    ] {
        let text = STANDARD.encode(der);
        let pem = format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n");
        std::fs::write(folder.join(name), pem).expect("writes");
    }
}
