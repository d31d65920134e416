//! The trusted certificates.

use std::sync::Arc;

use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The trusted certificates: those that the system trusts (`SSL_CERT_FILE` and `SSL_CERT_DIR` apply),
/// and those added here.
#[derive(Clone)]
pub struct Tls {
    with_system: bool,
    own: Vec<CertificateDer<'static>>,
    /// Shared by all clones, because reading the certificates of the system is slow.
    config: Arc<OnceCell<Arc<ClientConfig>>>,
}

/// A text that does not contain valid certificates.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no certificates in PEM form: {reason}")]
pub struct CertificateError {
    reason: Box<str>,
}

impl Tls {
    /// Trusts the certificates in a PEM text as well.
    ///
    /// # Errors
    ///
    /// [`CertificateError`] if the text has no certificate, or a damaged one.
    pub fn and_authorities(mut self, pem: &[u8]) -> Result<Self, CertificateError> {
        let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let found = read.map_err(|error| CertificateError {
            reason: error.to_string().into(),
        })?;
        let mut store = RootCertStore::empty();
        let (good, bad) = store.add_parsable_certificates(found.iter().cloned());
        if good == 0 || bad > 0 {
            let reason = format!("{good} can be read and {bad} cannot").into();
            return Err(CertificateError { reason });
        }
        self.own.extend(found);
        self.config = Arc::default();
        Ok(self)
    }

    /// Trusts only the certificates that were added.
    #[must_use]
    pub fn without_system(mut self) -> Self {
        self.with_system = false;
        self.config = Arc::default();
        self
    }

    /// Returns the configuration, which is created on first use.
    pub(crate) async fn config(&self) -> Arc<ClientConfig> {
        let made = self.config.get_or_init(|| async {
            let tls = self.clone();
            let made = spawn_blocking(move || tls.roots()).await;
            Arc::new(configured(made.unwrap_or_else(|_| RootCertStore::empty())))
        });
        Arc::clone(made.await)
    }

    /// Skips certificates of the system that cannot be read, as browsers do.
    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(self.own.iter().cloned());
        if self.with_system {
            let found = rustls_native_certs::load_native_certs();
            for error in &found.errors {
                tracing::debug!(%error, "an authority of the system cannot be read");
            }
            roots.add_parsable_certificates(found.certs);
        }
        roots
    }
}

fn configured(roots: RootCertStore) -> ClientConfig {
    let provider: CryptoProvider = ring::default_provider();
    let builder = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .expect("ring speaks the versions of TLS that are safe");
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

impl Default for Tls {
    fn default() -> Self {
        Self {
            with_system: true,
            own: Vec::new(),
            config: Arc::default(),
        }
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls")
            .field("with_system", &self.with_system)
            .field("own", &self.own.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_whole_certificates_is_refused() {
        let damaged = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for text in [&b""[..], b"no PEM", damaged] {
            assert!(Tls::default().and_authorities(text).is_err());
        }
    }
}
