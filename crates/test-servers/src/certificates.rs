//! An authority, and a certificate for `localhost`.

use std::path::Path;
use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

/// Writes `ca.pem`, `server.crt` and `server.key` to a folder. All servers of a process have the same ones, so
/// the servers of a cluster accept each other.
pub(crate) fn write(folder: &Path) {
    static FILES: OnceLock<[(&str, String); 3]> = OnceLock::new();
    for (name, text) in FILES.get_or_init(files) {
        std::fs::write(folder.join(name), text).expect("writes");
    }
}

fn files() -> [(&'static str, String); 3] {
    let mut params = CertificateParams::new(Vec::new()).expect("parameters");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    // A certificate whose issuer has its own name is taken for a self-signed one.
    params
        .distinguished_name
        .push(DnType::CommonName, "authority");
    let key = KeyPair::generate().expect("a key");
    let authority = CertifiedIssuer::self_signed(params, key).expect("signs");

    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let certificate = params.signed_by(&key, &authority).expect("signs");
    [
        ("ca.pem", pem("CERTIFICATE", authority.der())),
        ("server.crt", pem("CERTIFICATE", certificate.der())),
        ("server.key", pem("PRIVATE KEY", &key.serialize_der())),
    ]
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}
