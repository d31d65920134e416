//! Over real sockets: TLS, HTTP/2, proxies.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use pintle_http::client::{
    EndpointUrl, HttpClient, HttpClientError, HttpClientOptions, HttpConnect, Proxy, Tls, WebClient,
};
use pintle_http::{HttpOptions, HttpServer};
use pintle_model::Revision;
use pintle_proto::TransportErrorKind;
use pintle_runtime::Connect;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;

use super::user::{User, loss, user_at};
use crate::common::endpoint_with;

/// Longer than anything takes here.
const PATIENCE: Duration = Duration::from_secs(20);

async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.expect("in time")
}

/// A server behind TLS that answers with the HTTP version of the request.
struct Secure {
    address: SocketAddr,
    authority: String,
    connections: Arc<AtomicUsize>,
}

impl Secure {
    /// Serves `names` and speaks the protocols of `alpn`.
    async fn open(names: &[&str], alpn: &[&str]) -> Self {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(names).expect("a certificate");
        let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key.into())
            .expect("a key that fits");
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let connections = Arc::<AtomicUsize>::default();
        tokio::spawn(accept(listener, acceptor, Arc::clone(&connections)));
        Self {
            address,
            authority: pem(cert.der()),
            connections,
        }
    }

    fn url(&self) -> String {
        format!("https://localhost:{}/mcp", self.address.port())
    }

    fn trusting(&self) -> HttpClientOptions {
        let mut options = HttpClientOptions::default();
        let tls = Tls::default().without_system();
        options.tls = tls.and_authorities(self.authority.as_bytes()).expect("PEM");
        options
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn pem(der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, connections: Arc<AtomicUsize>) {
    while let Ok((stream, _)) = listener.accept().await {
        connections.fetch_add(1, Ordering::SeqCst);
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            let Ok(stream) = acceptor.accept(stream).await else {
                return;
            };
            let is_two = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            let stream = TokioIo::new(stream);
            let service = service_fn(answer);
            // Clients go away in the middle here, as they like.
            if is_two {
                let serving = http2::Builder::new(TokioExecutor::new());
                drop(serving.serve_connection(stream, service).await);
            } else {
                let serving = http1::Builder::new();
                drop(serving.serve_connection(stream, service).await);
            }
        });
    }
}

async fn answer(
    request: http::Request<Incoming>,
) -> Result<http::Response<Full<bytes::Bytes>>, hyper::Error> {
    let version = format!("{:?}", request.version());
    let host = request.uri().authority().map(ToString::to_string);
    let host = host.or_else(|| Some(request.headers().get("host")?.to_str().ok()?.to_owned()));
    let body = request.into_body().collect().await?.to_bytes();
    let asked: serde_json::Value = serde_json::from_slice(&body).expect("a message");
    let said = json!({ "resultType": "complete", "tools": [], "version": version, "host": host });
    let body = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": said }).to_string();
    let response = http::Response::builder().header("content-type", "application/json");
    Ok(response.body(Full::from(body)).expect("a response"))
}

async fn modern(url: &str, options: &HttpClientOptions) -> User {
    let user = user_at(url, WebClient::new(options), options).await;
    user.peer
        .with_engine_mut(|engine| engine.use_revision(Revision::LATEST));
    user
}

async fn said(user: &User) -> serde_json::Value {
    let result = within(user.list()).await.expect("a result");
    serde_json::from_str(result.get()).expect("JSON")
}

#[tokio::test]
async fn http_2_is_used_if_offered_and_shares_one_connection() {
    let server = Secure::open(&["localhost"], &["h2", "http/1.1"]).await;
    let user = modern(&server.url(), &server.trusting()).await;
    let first = said(&user).await;
    assert_eq!(first["version"], "HTTP/2.0");
    assert_eq!(
        first["host"],
        format!("localhost:{}", server.address.port())
    );
    let calls: Vec<_> = (0..16)
        .map(|_| user.call("tools/list", json!({})))
        .collect();
    for call in calls {
        within(call.outcome()).await.expect("a result");
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn http_1_is_spoken_where_the_server_offers_nothing_else() {
    for alpn in [&["http/1.1"][..], &[]] {
        let server = Secure::open(&["localhost"], alpn).await;
        let user = modern(&server.url(), &server.trusting()).await;
        for _ in 0..3 {
            assert_eq!(said(&user).await["version"], "HTTP/1.1");
        }
        assert_eq!(server.connections(), 1);
    }
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_rejected() {
    let server = Secure::open(&["localhost"], &["h2"]).await;
    let other = Secure::open(&["other.example"], &["h2"]).await;
    let strangers = other.trusting();
    let mut none = HttpClientOptions::default();
    none.tls = Tls::default().without_system();
    for options in [HttpClientOptions::default(), strangers, none] {
        let user = modern(&server.url(), &options).await;
        assert_eq!(
            loss(&within(user.list()).await),
            TransportErrorKind::Unreachable
        );
    }
    // A certificate that is trusted, for another name.
    let url = format!("https://localhost:{}/mcp", other.address.port());
    let user = modern(&url, &other.trusting()).await;
    assert_eq!(
        loss(&within(user.list()).await),
        TransportErrorKind::Unreachable
    );
}

#[tokio::test]
async fn the_server_of_this_crate_is_reached_on_a_port() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let (endpoint, _) = endpoint_with(HttpOptions::default());
        let server = HttpServer::bind(endpoint.only().clone(), "127.0.0.1:0")
            .await
            .expect("a port");
        let address = server.address().expect("an address");
        let serving = tokio::spawn(server.run_until(std::future::pending()));
        let options = HttpClientOptions::default();
        let user = user_at(
            &format!("http://{address}/mcp"),
            WebClient::new(&options),
            &options,
        )
        .await;
        if revision == Revision::LATEST {
            user.peer
                .with_engine_mut(|engine| engine.use_revision(revision));
        } else {
            within(user.shake_hands(revision)).await.expect("a welcome");
        }
        for _ in 0..10 {
            let calls: Vec<_> = (0..16)
                .map(|n| {
                    user.call(
                        "tools/call",
                        json!({ "name": "echo", "arguments": { "n": n } }),
                    )
                })
                .collect();
            for call in calls {
                within(call.outcome()).await.expect("a result");
            }
        }
        within(user.close()).await.expect("a good end");
        serving.abort();
    }
}

#[tokio::test]
async fn a_refused_connection_reports_that_nothing_was_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let options = HttpClientOptions::default();
    let request = http::Request::get(format!("http://{address}/")).body(bytes::Bytes::new());
    let failed = within(WebClient::new(&options).fetch(request.expect("a request"))).await;
    let error = failed.expect_err("nobody listens");
    assert!(matches!(error, HttpClientError::Connect { .. }), "{error}");
    assert!(!error.may_have_arrived());
}

/// A proxy that records requests, and forwards all of them to `to`.
async fn proxy(to: SocketAddr, tunnels: bool) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let heads = Arc::<Mutex<Vec<String>>>::default();
    let noted = Arc::clone(&heads);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let noted = Arc::clone(&noted);
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(client.read_u8().await.expect("a head"));
                }
                let head = String::from_utf8(head).expect("text");
                noted.lock().expect("no panic").push(head.clone());
                let mut server = TcpStream::connect(to).await.expect("a server");
                if !tunnels {
                    client
                        .write_all(b"HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n")
                        .await
                        .expect("read");
                    return;
                }
                if head.starts_with("CONNECT") {
                    client
                        .write_all(b"HTTP/1.1 200 OK\r\n\r\n")
                        .await
                        .expect("read");
                } else {
                    server.write_all(head.as_bytes()).await.expect("read");
                }
                // Either side may end it.
                drop(copy_bidirectional(&mut client, &mut server).await);
            });
        }
    });
    (address, heads)
}

fn through(proxy: SocketAddr, mut options: HttpClientOptions) -> HttpClientOptions {
    options.proxy = Proxy::fixed(&format!("http://user:pass@{proxy}")).expect("a proxy");
    options
}

#[tokio::test]
async fn a_proxy_makes_a_tunnel_for_https() {
    let server = Secure::open(&["server.example"], &["h2"]).await;
    let (address, heads) = proxy(server.address, true).await;
    let options = through(address, server.trusting());
    let user = modern("https://server.example/mcp", &options).await;
    assert_eq!(said(&user).await["host"], "server.example");
    let heads = heads.lock().expect("no panic").clone();
    assert_eq!(heads.len(), 1);
    assert!(
        heads[0].starts_with("CONNECT server.example:443 HTTP/1.1\r\n"),
        "{heads:?}"
    );
    assert!(
        heads[0].contains("proxy-authorization: Basic dXNlcjpwYXNz\r\n"),
        "{heads:?}"
    );
}

#[tokio::test]
async fn a_proxy_is_asked_for_plain_addresses_whole() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let to = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let serving = http1::Builder::new();
            drop(
                serving
                    .serve_connection(TokioIo::new(stream), service_fn(answer))
                    .await,
            );
        }
    });
    let (address, heads) = proxy(to, true).await;
    let options = through(address, HttpClientOptions::default());
    let user = modern("http://server.example:81/mcp?k=v", &options).await;
    assert_eq!(said(&user).await["host"], "server.example:81");
    let heads = heads.lock().expect("no panic").clone();
    assert!(
        heads[0].starts_with("POST http://server.example:81/mcp?k=v HTTP/1.1\r\n"),
        "{heads:?}"
    );
    assert!(
        heads[0].contains("proxy-authorization: Basic dXNlcjpwYXNz\r\n"),
        "{heads:?}"
    );
}

#[tokio::test]
async fn a_proxy_that_refuses_is_named_without_its_password() {
    let server = Secure::open(&["server.example"], &["h2"]).await;
    let (address, _) = proxy(server.address, false).await;
    let options = through(address, server.trusting());
    let fetch = WebClient::new(&options);
    let request = http::Request::get("https://server.example/").body(bytes::Bytes::new());
    let error = within(fetch.fetch(request.expect("a request")))
        .await
        .expect_err("refused");
    let text = error.to_string();
    assert!(text.contains("407") && !text.contains("pass"), "{text}");
    assert!(!error.may_have_arrived());
}

#[test]
fn a_verdict_is_kept_for_an_origin_and_a_path() {
    let options = HttpClientOptions::default();
    let key = |url: &str| {
        let url = EndpointUrl::parse(url).expect("a URL");
        HttpConnect::new(url, &options).expect("no header").key()
    };
    assert_eq!(
        key("HTTPS://A.example/mcp?key=secret"),
        Some("https://a.example:443/mcp".into())
    );
    assert_ne!(key("https://a.example/mcp"), key("https://a.example/other"));
}
