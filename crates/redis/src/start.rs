//! The start: connections, and checks of the server.

use std::error::Error as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pintle_store::{
    ExpectedTail, Expiry, Key, Namespace, Page, Position, Precondition, Prefix, Record, Retention,
    StoreLimits, StoreTime, Version, Watchers,
};
use redis::aio::PubSub;
use redis::cluster::ClusterClientBuilder;
use redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use redis::{
    Client, ClientTlsConfig, ConnectionAddr, ConnectionInfo, ErrorKind, ProtocolVersion,
    RedisError, RedisResult, TlsCertificates, TlsMode,
};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::connect_error::{ClientError, ConnectError};
use crate::link::{Ignored, Link};
use crate::logs::{self, Append};
use crate::names::Names;
use crate::records;
use crate::scripts::{Call, TIME};
use crate::servers::Servers;
use crate::subscriber::Subscriber;
use crate::target::{Hosts, Sentinels, Target, tcp_settings};

mod server;

/// Connects and checks the server, within the time of the target.
pub(crate) async fn start(
    target: &Target,
    limits: &StoreLimits,
    watchers: &Arc<Watchers>,
) -> Result<(Link, Subscriber), ConnectError> {
    let limit = target.connect_timeout;
    let host = || target.host.clone();
    let timed_out = |_| ConnectError::TimedOut {
        host: host(),
        limit,
    };
    if target.is_exposed() {
        tracing::warn!(
            host = host(),
            "the connection to Redis is not encrypted; use `rediss://`"
        );
    }
    let servers = Arc::new(servers(target)?);
    let connected = timeout(limit, connect(&servers, target, limits)).await;
    let (link, messages) = connected.map_err(timed_out)??;
    let subscriber = Subscriber::start(servers, messages, Arc::clone(watchers));
    Ok((link, subscriber))
}

async fn connect(
    servers: &Arc<Servers>,
    target: &Target,
    limits: &StoreLimits,
) -> Result<(Link, PubSub), ConnectError> {
    let explain = |error| explain(target, &error);
    let link = Link::open(servers, target, limits).await;
    let link = link.map_err(explain)?;
    for info in link.descriptions().await.map_err(explain)? {
        server::check(&info, &target.host)?;
    }
    let names = Names::new(&target.prefix);
    let probe = probe_key();
    try_operations(&link, &names, &probe, limits)
        .await
        .map_err(explain)?;
    let mut messages = servers.messages().await.map_err(explain)?;
    let channel = names.channel(&probe);
    messages.subscribe(&channel).await.map_err(explain)?;
    messages.unsubscribe(&channel).await.map_err(explain)?;
    Ok((link, messages))
}

fn servers(target: &Target) -> Result<Servers, ConnectError> {
    let explain = |error| explain(target, &error);
    let certificates = match target.is_encrypted() {
        false => None,
        true => {
            // A provider that the program installed earlier stays.
            let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
            Some(certificates(target)?)
        }
    };
    let servers = match &target.hosts {
        Some(Hosts::Sentinels(sentinels)) => {
            sentinel_client(target, sentinels, certificates).map(|client| Servers::Sentinels {
                client: Box::new(Mutex::new(client)),
                limit: target.connect_timeout,
            })
        }
        Some(Hosts::Cluster(addresses)) => cluster(target, addresses, certificates.as_ref()),
        None => client(target.info.clone(), certificates)
            .map(Box::new)
            .map(Servers::One),
    };
    servers.map_err(explain)
}

fn client(info: ConnectionInfo, certificates: Option<TlsCertificates>) -> RedisResult<Client> {
    match certificates {
        Some(certificates) => Client::build_with_tls(info, certificates),
        None => Client::open(info),
    }
}

fn cluster(
    target: &Target,
    addresses: &[ConnectionAddr],
    certificates: Option<&TlsCertificates>,
) -> RedisResult<Servers> {
    let infos = addresses
        .iter()
        .map(|it| target.info.clone().set_addr(it.clone()));
    let infos: Vec<_> = infos.collect();
    let mut builder = ClusterClientBuilder::new(infos.clone())
        .use_protocol(ProtocolVersion::RESP3)
        .tcp_settings(tcp_settings())
        .connection_timeout(target.connect_timeout)
        // The time of an operation has its limit elsewhere.
        .response_timeout(target.operation_timeout.saturating_mul(2))
        // The client would repeat an operation that may have happened.
        .retries(0);
    if let Some(certificates) = certificates {
        builder = builder.tls(TlsMode::Secure).certs(certificates.clone());
    }
    let first = infos
        .into_iter()
        .map(|it| client(it, certificates.cloned()));
    Ok(Servers::Cluster {
        client: Box::new(builder.build()?),
        first: first.collect::<RedisResult<_>>()?,
    })
}

/// Returns a client for the sentinels. Their connections and those of the server have the same TLS.
fn sentinel_client(
    target: &Target,
    sentinels: &Sentinels,
    certificates: Option<TlsCertificates>,
) -> RedisResult<SentinelClient> {
    let redis = target.info.redis_settings();
    let addresses = sentinels.addresses.iter().cloned();
    let mut builder =
        SentinelClientBuilder::new(addresses, &sentinels.service, SentinelServerType::Master)?
            .set_client_to_redis_db(redis.db())
            .set_client_to_redis_protocol(ProtocolVersion::RESP3)
            .set_client_to_redis_tcp_settings(tcp_settings())
            .set_client_to_sentinel_tcp_settings(tcp_settings());
    if let Some(user) = redis.username() {
        builder = builder.set_client_to_redis_username(user);
    }
    if let Some(password) = redis.password() {
        builder = builder.set_client_to_redis_password(password);
    }
    if let Some(user) = &sentinels.user {
        builder = builder.set_client_to_sentinel_username(user);
    }
    if let Some(password) = &sentinels.password {
        builder = builder.set_client_to_sentinel_password(password);
    }
    if let Some(certificates) = certificates {
        builder = builder
            .set_client_to_redis_tls_mode(TlsMode::Secure)
            .set_client_to_sentinel_tls_mode(TlsMode::Secure)
            .set_client_to_redis_certificates(certificates.clone())
            .set_client_to_sentinel_certificates(certificates);
    }
    builder.build()
}

fn certificates(target: &Target) -> Result<TlsCertificates, ConnectError> {
    let files = &target.files;
    let root_cert = read("ca", files.ca.as_ref())?;
    let client_cert = read("cert", files.cert.as_ref())?;
    let client_key = read("key", files.key.as_ref())?;
    let client_tls = match (client_cert, client_key) {
        (Some(client_cert), Some(client_key)) => Some(ClientTlsConfig {
            client_cert,
            client_key,
        }),
        (None, None) => None,
        _ => {
            let reason = "`cert` and `key` need each other".to_owned();
            return Err(ConnectError::Url { reason });
        }
    };
    Ok(TlsCertificates {
        client_tls,
        root_cert,
    })
}

fn read(parameter: &'static str, path: Option<&PathBuf>) -> Result<Option<Vec<u8>>, ConnectError> {
    let Some(path) = path else { return Ok(None) };
    let read = std::fs::read(path);
    let read = read.map_err(|error| ConnectError::Certificate {
        parameter,
        path: path.display().to_string(),
        reason: error.to_string(),
    });
    read.map(Some)
}

/// Returns a key that no other process uses.
fn probe_key() -> Key {
    let number = getrandom::u64().unwrap_or_default();
    let name = format!("{number:016x}.probe");
    Key::new(&Namespace::fixed("probe"), &name).expect("a proper name")
}

/// Carries out each kind of operation, so that missing rights are found at the start.
async fn try_operations(
    link: &Link,
    names: &Names,
    key: &Key,
    limits: &StoreLimits,
) -> RedisResult<()> {
    let now = StoreTime::default();
    let expiry = Expiry::At(now + Duration::from_secs(1));
    let record = Record::new("probe".into(), Version::new(1), expiry);
    let append = Append {
        events: &["probe".into()],
        tail: ExpectedTail::Any,
        retention: Retention::default(),
        expiry,
    };
    let prefix = Prefix::from(key.clone());
    let mut calls = vec![
        Call::of(&TIME, &[names.epoch()]),
        Call::get(&names.epoch()),
        records::put(names, now, key, &record, Precondition::Any),
        records::remove(names, now, key, Precondition::Any),
        logs::append(names, now, key, &append),
        logs::read(names, now, key, Position::START, 1, limits),
        logs::forget(names, now, key),
        logs::add(names, now, key, 1, expiry),
    ];
    calls.extend(records::list(names, now, &prefix, &Page::first(1), limits));
    for call in &calls {
        link.send::<Ignored>(call).await?;
    }
    Ok(())
}

/// Converts an error of the start.
fn explain(target: &Target, error: &RedisError) -> ConnectError {
    let host = target.host.clone();
    let source = ClientError::of(error, &target.secrets);
    if is_denied(error) {
        return ConnectError::Denied { host, source };
    }
    if is_permission(error) {
        let rights = target.rights();
        return ConnectError::Permission {
            host,
            rights,
            source,
        };
    }
    if error.kind() == ErrorKind::MasterNameNotFoundBySentinel {
        return ConnectError::UnknownService { host, source };
    }
    if error.kind() == ErrorKind::RESP3NotSupported {
        let found = "a version before 6".to_owned();
        return ConnectError::Version { host, found };
    }
    if target.is_encrypted() && is_tls(error) {
        return ConnectError::Tls { host, source };
    }
    if error.is_timeout() {
        let limit = target.connect_timeout;
        return ConnectError::TimedOut { host, limit };
    }
    if error.is_io_error() {
        return ConnectError::Unreachable { host, source };
    }
    ConnectError::Refused { host, source }
}

fn is_denied(error: &RedisError) -> bool {
    error.kind() == ErrorKind::AuthenticationFailed
        || matches!(error.code(), Some("NOAUTH" | "WRONGPASS"))
}

/// Returns true if a rule for the user forbids a command, a key or a channel, also within a script.
fn is_permission(error: &RedisError) -> bool {
    let text = error.to_string();
    let signs = [
        "NOPERM",
        "ACL failure",
        "The user executing the script can't",
    ];
    error.code() == Some("NOPERM") || signs.iter().any(|sign| text.contains(sign))
}

/// The form in which the client stores an error of the system.
type Shared = Arc<dyn std::error::Error + Send + Sync>;

/// Returns true if the handshake failed, or the server ended the connection in it.
fn is_tls(error: &RedisError) -> bool {
    use std::io::ErrorKind::{ConnectionReset, InvalidData, UnexpectedEof};
    let source = error.source().and_then(|it| it.downcast_ref::<Shared>());
    let source = source.and_then(|it| it.downcast_ref());
    let kind = source.map(std::io::Error::kind);
    matches!(kind, Some(InvalidData | UnexpectedEof | ConnectionReset))
        || error.kind() == ErrorKind::InvalidClientConfig
}
