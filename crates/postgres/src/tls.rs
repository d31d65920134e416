//! TLS of connections: rustls over ring.

mod binding;
mod verify;

use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_rustls::{TlsConnector, client::TlsStream as Encrypted};

use crate::connect_error::ConnectError;
use crate::target::{TlsFiles, TlsMode};
use verify::Lenient;

/// Makes the TLS of each connection. A connection without TLS does not use it.
#[derive(Clone)]
pub(crate) struct Tls(Option<Arc<ClientConfig>>);

impl Tls {
    /// Reads the certificates. The call reads files.
    ///
    /// # Errors
    ///
    /// [`ConnectError::Certificate`] if a file cannot be read.
    pub(crate) fn read(mode: TlsMode, files: &TlsFiles) -> Result<Self, ConnectError> {
        if mode == TlsMode::Disable {
            return Ok(Self(None));
        }
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("ring has the safe versions of TLS");
        let roots = Arc::new(roots(files)?);
        let verifier = || {
            let builder = WebPkiServerVerifier::builder_with_provider(
                Arc::clone(&roots),
                Arc::clone(&provider),
            );
            builder
                .build()
                .map_err(|error| unreadable("ca", files.ca.as_deref(), &error))
        };
        let is_unverified = mode == TlsMode::Require && files.ca.is_none();
        let builder = match mode {
            _ if is_unverified => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Lenient::any(provider))),
            TlsMode::VerifyFull => builder.with_webpki_verifier(verifier()?),
            _ => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Lenient::any_name(verifier()?))),
        };
        let mut config = match identity(files)? {
            Some((chain, key)) => builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| unreadable("key", files.key.as_deref(), &error))?,
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Self(Some(Arc::new(config))))
    }
}

fn unreadable(
    parameter: &'static str,
    path: Option<&Path>,
    error: &dyn std::error::Error,
) -> ConnectError {
    ConnectError::Certificate {
        parameter,
        path: path.map_or_else(|| "the system".to_owned(), |it| it.display().to_string()),
        reason: error.to_string(),
    }
}

/// Returns the authorities of the file, or else of the system.
fn roots(files: &TlsFiles) -> Result<RootCertStore, ConnectError> {
    let mut roots = RootCertStore::empty();
    let Some(path) = &files.ca else {
        let found = rustls_native_certs::load_native_certs();
        for error in &found.errors {
            tracing::debug!(%error, "an authority of the system cannot be read");
        }
        roots.add_parsable_certificates(found.certs);
        return Ok(roots);
    };
    for certificate in chain("ca", path)? {
        let added = roots.add(certificate);
        added.map_err(|error| unreadable("ca", Some(path), &error))?;
    }
    Ok(roots)
}

fn chain(
    parameter: &'static str,
    path: &Path,
) -> Result<Vec<CertificateDer<'static>>, ConnectError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let found = found.map_err(|error| unreadable(parameter, Some(path), &error))?;
    if found.is_empty() {
        let error = io::Error::new(
            io::ErrorKind::InvalidData,
            "it has no certificate in PEM form",
        );
        return Err(unreadable(parameter, Some(path), &error));
    }
    Ok(found)
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// Returns the certificate of this client with its key.
fn identity(files: &TlsFiles) -> Result<Option<Identity>, ConnectError> {
    match (&files.cert, &files.key) {
        (None, None) => Ok(None),
        (Some(cert), Some(key)) => {
            let found = PrivateKeyDer::from_pem_file(key);
            let found = found.map_err(|error| unreadable("key", Some(key), &error))?;
            Ok(Some((chain("cert", cert)?, found)))
        }
        _ => {
            let reason = "`cert` and `key` need each other".to_owned();
            Err(ConnectError::Url { reason })
        }
    }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Stream;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        let Some(config) = &self.0 else {
            return Ok(Handshake(None));
        };
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(Handshake(Some((Arc::clone(config), name))))
    }
}

/// One handshake. Without TLS it has no content.
pub(crate) struct Handshake(Option<(Arc<ClientConfig>, ServerName<'static>)>);

impl TlsConnect<Socket> for Handshake {
    type Stream = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let (config, name) = self.0.ok_or_else(|| io::Error::other("TLS is disabled"))?;
            let stream = TlsConnector::from(config).connect(name, socket).await?;
            Ok(Stream(stream))
        })
    }
}

/// An encrypted connection.
pub(crate) struct Stream(Encrypted<Socket>);

impl TlsStream for Stream {
    fn channel_binding(&self) -> ChannelBinding {
        let certificates = self.0.get_ref().1.peer_certificates();
        let hash = certificates.and_then(|all| binding::end_point(all.first()?));
        hash.map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
