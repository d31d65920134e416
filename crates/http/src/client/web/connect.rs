//! Opening a connection: addresses, proxies, TLS, the handshake of HTTP.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use pintle_runtime::{BoxFuture, Host, NetworkScope};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::client::endpoint_url::UrlOrigin;
use crate::client::http_client::HttpClientError;
use crate::client::options::{HttpClientLimits, HttpClientOptions, Proxy, Tls};

use super::box_io::BoxIo;
use super::link::{Form, Http1Link, Link};
use super::proxy::{Proxies, ProxyRoute};
use super::tunnel::tunnel;

/// The delay before the next address is tried in parallel.
const STAGGER: Duration = Duration::from_millis(250);
/// How many addresses of one name are tried.
const ADDRESSES: usize = 16;
/// How long a silent peer is trusted to be there, and how often it is asked then.
const PROBE: Duration = Duration::from_secs(30);

/// Opens connections: to a Unix socket, through a tunnel, in memory.
pub trait Dialer: Send + Sync + 'static {
    /// Opens a connection for the host and port of `origin`.
    ///
    /// # Errors
    ///
    /// The error of the network.
    fn dial(&self, origin: &UrlOrigin) -> BoxFuture<'static, io::Result<BoxIo>>;
}

/// Opens HTTP connections.
pub(super) struct Network {
    dial: Option<Arc<dyn Dialer>>,
    proxies: Proxies,
    tls: Tls,
    limits: HttpClientLimits,
    /// The allowed addresses; `None` allows all.
    reach: Option<NetworkScope>,
}

impl Network {
    pub(super) fn new(options: &HttpClientOptions) -> Self {
        Self {
            dial: None,
            proxies: Proxies::new(&options.proxy),
            tls: options.tls.clone(),
            limits: options.limits.clone(),
            reach: None,
        }
    }

    /// One that connects to some addresses only. What a proxy connects to is up to the proxy.
    pub(super) fn within_reach(reach: NetworkScope, options: &HttpClientOptions) -> Self {
        Self {
            reach: Some(reach),
            ..Self::new(options)
        }
    }

    pub(super) fn over(dial: Arc<dyn Dialer>, options: &HttpClientOptions) -> Self {
        Self {
            dial: Some(dial),
            proxies: Proxies::new(&Proxy::None),
            ..Self::new(options)
        }
    }

    /// Opens a connection to a server.
    ///
    /// # Errors
    ///
    /// Any [`HttpClientError`]; the server has seen no request.
    pub(super) async fn connect(&self, origin: &UrlOrigin) -> Result<Link, HttpClientError> {
        let through = self.proxies.of(origin);
        let stream = match &through {
            Some(through) if origin.is_tls => self.tunnel(origin, through).await?,
            Some(through) => self.reach_proxy(origin, through).await?,
            None => self.open_stream(origin, self.reach).await?,
        };
        if origin.is_tls {
            let (stream, is_two) = self.secure(origin, stream).await?;
            return match is_two {
                true => self.handshake_http2(origin, stream).await,
                false => self.handshake_http1(origin, stream, Form::Server).await,
            };
        }
        let form = through.map_or(Form::Server, |through| Form::Proxy(through.credential));
        self.handshake_http1(origin, stream, form).await
    }

    async fn tunnel(&self, to: &UrlOrigin, proxy: &ProxyRoute) -> Result<BoxIo, HttpClientError> {
        let stream = self.reach_proxy(to, proxy).await?;
        let opening = tunnel(stream, to, proxy);
        let opened = self
            .within(to, self.limits.handshake_timeout, opening)
            .await?;
        opened.map_err(|reason| refused(to, proxy, &reason))
    }

    async fn reach_proxy(
        &self,
        to: &UrlOrigin,
        proxy: &ProxyRoute,
    ) -> Result<BoxIo, HttpClientError> {
        if !proxy.is_spoken() {
            return Err(refused(
                to,
                proxy,
                "only proxies that speak HTTP are supported",
            ));
        }
        let stream = self.open_stream(&proxy.origin, None).await?;
        if !proxy.origin.is_tls {
            return Ok(stream);
        }
        Ok(self.secure_as(&proxy.origin, stream, false).await?.0)
    }

    /// Opens a stream of bytes.
    async fn open_stream(
        &self,
        origin: &UrlOrigin,
        reach: Option<NetworkScope>,
    ) -> Result<BoxIo, HttpClientError> {
        let limit = self.limits.connect_timeout;
        let unreachable = |source| HttpClientError::Connect {
            origin: origin.clone(),
            source,
        };
        if let Some(dial) = &self.dial {
            let dialled = self.within(origin, limit, dial.dial(origin)).await?;
            return dialled.map_err(unreachable);
        }
        let opened = self.within(origin, limit, open(origin, reach)).await??;
        set_socket_options(&opened).map_err(unreachable)?;
        Ok(BoxIo::new(opened))
    }

    async fn secure(
        &self,
        origin: &UrlOrigin,
        stream: BoxIo,
    ) -> Result<(BoxIo, bool), HttpClientError> {
        self.secure_as(origin, stream, true).await
    }

    /// Performs the TLS handshake. Returns true if HTTP/2 was negotiated.
    async fn secure_as(
        &self,
        origin: &UrlOrigin,
        stream: BoxIo,
        offers_two: bool,
    ) -> Result<(BoxIo, bool), HttpClientError> {
        let insecure = |source| HttpClientError::Tls {
            origin: origin.clone(),
            source,
        };
        let name = ServerName::try_from(origin.host.to_string())
            .map_err(|name| insecure(io::Error::new(io::ErrorKind::InvalidInput, name)))?;
        let mut config = self.tls.config().await;
        if !offers_two {
            Arc::make_mut(&mut config).alpn_protocols = vec![b"http/1.1".to_vec()];
        }
        let connector = TlsConnector::from(config);
        let greeting = connector.connect(name, stream);
        let limit = self.limits.handshake_timeout;
        let secured = self.within(origin, limit, greeting).await?;
        let secured = secured.map_err(insecure)?;
        let is_two = secured.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok((BoxIo::new(secured), is_two))
    }

    async fn handshake_http1(
        &self,
        origin: &UrlOrigin,
        stream: BoxIo,
        form: Form,
    ) -> Result<Link, HttpClientError> {
        let mut builder = http1::Builder::new();
        builder
            .max_headers(self.limits.max_headers)
            .max_header_size(self.limits.max_header_bytes);
        let greeting = builder.handshake(TokioIo::new(stream)).await;
        let (sender, driver) = greeting.map_err(|source| broken(origin, source))?;
        Ok(Link::Solo(Box::new(Http1Link {
            origin: origin.clone(),
            sender,
            host: None,
            driver: Some(Box::pin(driver)),
            form,
            keeps: None,
        })))
    }

    async fn handshake_http2(
        &self,
        origin: &UrlOrigin,
        stream: BoxIo,
    ) -> Result<Link, HttpClientError> {
        let builder = super::http2::builder(self.limits.max_header_bytes);
        let greeting = builder.handshake(TokioIo::new(stream));
        let limit = self.limits.handshake_timeout;
        let greeted = self.within(origin, limit, greeting).await?;
        let (sender, driver) = greeted.map_err(|source| broken(origin, source))?;
        // The connection ends after its last request, once the pool has dropped it.
        tokio::spawn(async move {
            if let Err(error) = driver.await {
                tracing::debug!(%error, "a connection ended");
            }
        });
        Ok(Link::Shared(origin.clone(), sender))
    }

    async fn within<T>(
        &self,
        origin: &UrlOrigin,
        limit: Duration,
        work: impl Future<Output = T>,
    ) -> Result<T, HttpClientError> {
        timeout(limit, work)
            .await
            .map_err(|_| HttpClientError::TimedOut {
                origin: origin.clone(),
                after: limit,
            })
    }
}

fn broken(origin: &UrlOrigin, source: hyper::Error) -> HttpClientError {
    HttpClientError::Connect {
        origin: origin.clone(),
        source: io::Error::other(source),
    }
}

fn refused(to: &UrlOrigin, proxy: &ProxyRoute, reason: &str) -> HttpClientError {
    HttpClientError::Proxy {
        proxy: format!("{}://{}", proxy.scheme, proxy.origin.authority()).into(),
        origin: to.clone(),
        reason: reason.into(),
    }
}

async fn open(
    origin: &UrlOrigin,
    reach: Option<NetworkScope>,
) -> Result<TcpStream, HttpClientError> {
    let found = lookup_host((&*origin.host, origin.port)).await;
    let addresses = found.map_err(|source| HttpClientError::Resolve {
        host: origin.host.clone(),
        source,
    })?;
    let addresses = allowed(&origin.host, addresses.take(ADDRESSES), reach)?;
    open_any(alternating(addresses.into_iter()))
        .await
        .map_err(|source| HttpClientError::Connect {
            origin: origin.clone(),
            source,
        })
}

/// Returns the allowed addresses. An address that is not allowed is an error, because it may be an attack.
///
/// `localhost` must resolve to loopback addresses, because tokens are sent there without TLS.
fn allowed(
    host: &str,
    addresses: impl Iterator<Item = SocketAddr>,
    reach: Option<NetworkScope>,
) -> Result<Vec<SocketAddr>, HttpClientError> {
    let stays_here = Host::parse(host).is_ok_and(|host| host.is_loopback());
    let is_allowed = |address: &SocketAddr| {
        let is_loopback = Host::from(address.ip()).is_loopback();
        reach.is_none_or(|reach| reach.allows(address.ip())) && (is_loopback || !stays_here)
    };
    let (allowed, forbidden): (Vec<_>, Vec<_>) = addresses.partition(is_allowed);
    match (allowed.is_empty(), forbidden.first()) {
        (true, Some(forbidden)) => Err(HttpClientError::Forbidden {
            address: forbidden.ip(),
        }),
        _ => Ok(allowed),
    }
}

/// The addresses of both families in turns, so that a family that leads nowhere costs little.
fn alternating(addresses: impl Iterator<Item = SocketAddr>) -> Vec<SocketAddr> {
    let all: Vec<SocketAddr> = addresses.collect();
    let first_is_six = all.first().is_some_and(SocketAddr::is_ipv6);
    let (one, other): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|address| address.is_ipv6() == first_is_six);
    let mut other = other.into_iter();
    let mut mixed: Vec<SocketAddr> = one
        .into_iter()
        .flat_map(|address| [Some(address), other.next()])
        .flatten()
        .collect();
    mixed.extend(other);
    mixed
}

/// Connects to whichever address answers first; each has a head start on the next.
async fn open_any(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    let mut waiting = addresses.into_iter();
    let mut attempts = JoinSet::new();
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    loop {
        match waiting.next() {
            Some(address) => drop(attempts.spawn(TcpStream::connect(address))),
            None if attempts.is_empty() => return Err(failure),
            None => {}
        }
        tokio::select! {
            Some(attempt) = attempts.join_next() => match attempt {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => failure = error,
                Err(_) => {}
            },
            () = sleep(STAGGER), if waiting.len() > 0 => {}
        }
    }
}

/// Small messages leave at once, and a peer that vanished is noticed.
fn set_socket_options(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let probes = TcpKeepalive::new()
        .with_time(PROBE)
        .with_interval(PROBE / 3);
    SockRef::from(stream).set_tcp_keepalive(&probes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(list: &[&str]) -> Vec<SocketAddr> {
        list.iter()
            .map(|text| text.parse().expect("an address"))
            .collect()
    }

    #[test]
    fn families_take_turns_and_the_first_stays_first() {
        let given = addresses(&["[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1"]);
        let expected = addresses(&["[::1]:1", "1.1.1.1:1", "[::2]:1", "[::3]:1"]);
        assert_eq!(alternating(given.into_iter()), expected);
        let given = addresses(&["1.1.1.1:1", "[::1]:1", "[::2]:1"]);
        assert_eq!(alternating(given.clone().into_iter()), given);
    }

    #[test]
    fn localhost_leads_to_loopback_addresses_only() {
        let found = addresses(&["192.0.2.1:1", "127.0.0.1:1", "[::1]:1"]);
        let own = addresses(&["127.0.0.1:1", "[::1]:1"]);
        let of = |host, found: &[SocketAddr]| allowed(host, found.iter().copied(), None);
        assert_eq!(of("localhost", &found).expect("two addresses"), own);
        assert_eq!(of("a.example", &found).expect("all addresses"), found);
        let refused = of("localhost", &found[..1]).expect_err("a foreign address");
        assert!(
            matches!(refused, HttpClientError::Forbidden { .. }),
            "{refused}"
        );
    }

    #[tokio::test]
    async fn an_address_that_refuses_connections_is_skipped() {
        let gone = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let nobody = gone.local_addr().expect("an address");
        drop(gone);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let somebody = listener.local_addr().expect("an address");
        let stream = open_any(vec![nobody, somebody])
            .await
            .expect("a connection");
        assert_eq!(stream.peer_addr().expect("a peer"), somebody);
        assert!(open_any(vec![nobody]).await.is_err());
        assert!(open_any(Vec::new()).await.is_err());
    }
}
