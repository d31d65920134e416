//! The server of a store: one with a fixed address, the one that sentinels name, or a cluster.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use redis::aio::PubSub;
use redis::cluster::ClusterClient;
use redis::sentinel::SentinelClient;
use redis::{AsyncConnectionConfig, Client, ProtocolVersion, RedisResult};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::connection::Connection;

/// The server that accepts writes.
pub(crate) enum Servers {
    One(Box<Client>),
    /// After a failover the sentinels name another server.
    Sentinels {
        client: Box<Mutex<SentinelClient>>,
        /// Longest time for the answers of the sentinels.
        limit: Duration,
    },
    Cluster {
        client: Box<ClusterClient>,
        /// The servers of the URL. Each of them knows the others.
        first: Vec<Client>,
    },
}

/// A connection that all operations await together.
pub(crate) type Connecting = Shared<BoxFuture<'static, RedisResult<Connection>>>;

impl Servers {
    async fn open(&self, config: &AsyncConnectionConfig) -> RedisResult<Connection> {
        let client = match self {
            Self::Cluster { client, .. } => {
                let opened = client.get_async_connection().await;
                return opened.map(Connection::Cluster);
            }
            Self::One(client) => Client::clone(client),
            Self::Sentinels { client, limit } => primary(client, *limit).await?,
        };
        let opened = client.get_multiplexed_async_connection_with_config(config);
        opened.await.map(Connection::One)
    }

    /// Opens a connection for messages.
    pub(crate) async fn messages(&self) -> RedisResult<PubSub> {
        match self {
            Self::One(client) => messages(client).await,
            Self::Sentinels { client, limit } => messages(&primary(client, *limit).await?).await,
            // A cluster sends each message to all its servers.
            Self::Cluster { first, .. } => {
                let mut opened = Err(timed_out().into());
                for client in first {
                    opened = messages(client).await;
                    if opened.is_ok() {
                        break;
                    }
                }
                opened
            }
        }
    }
}

/// Returns a client for the server that accepts writes now.
async fn primary(client: &Mutex<SentinelClient>, limit: Duration) -> RedisResult<Client> {
    let found = async { client.lock().await.async_get_client().await };
    timeout(limit, found).await.map_err(|_| timed_out())?
}

/// Opens a connection with the older protocol, which alone the type for messages reads.
async fn messages(client: &Client) -> RedisResult<PubSub> {
    let info = client.get_connection_info().clone();
    let redis = info.redis_settings().clone();
    let redis = redis.set_protocol(ProtocolVersion::RESP2);
    let client = Client::open(info.set_redis_settings(redis))?;
    client.get_async_pubsub().await
}

/// Returns a connection that its first use opens.
pub(crate) fn connecting(servers: &Arc<Servers>, config: &AsyncConnectionConfig) -> Connecting {
    let (servers, config) = (Arc::clone(servers), config.clone());
    let opened = async move { servers.open(&config).await };
    opened.boxed().shared()
}

fn timed_out() -> std::io::Error {
    std::io::ErrorKind::TimedOut.into()
}
