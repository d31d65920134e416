//! The server of a store: one with a fixed address, or the one that sentinels name.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use redis::aio::{MultiplexedConnection, PubSub};
use redis::sentinel::SentinelClient;
use redis::{AsyncConnectionConfig, Client, ProtocolVersion, RedisResult};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// The server that accepts writes.
pub(crate) enum Servers {
    One(Box<Client>),
    /// After a failover the sentinels name another server.
    Sentinels {
        client: Box<Mutex<SentinelClient>>,
        /// Longest time for the answers of the sentinels.
        limit: Duration,
    },
}

/// A connection that all operations await together.
pub(crate) type Connecting = Shared<BoxFuture<'static, RedisResult<MultiplexedConnection>>>;

impl Servers {
    /// Returns a client for the server that accepts writes now.
    pub(crate) async fn primary(&self) -> RedisResult<Client> {
        match self {
            Self::One(client) => Ok(Client::clone(client)),
            Self::Sentinels { client, limit } => {
                let found = async { client.lock().await.async_get_client().await };
                timeout(*limit, found).await.map_err(|_| timed_out())?
            }
        }
    }

    /// Opens a connection for messages.
    pub(crate) async fn messages(&self) -> RedisResult<PubSub> {
        let info = self.primary().await?.get_connection_info().clone();
        // The type for messages reads the older protocol alone.
        let redis = info.redis_settings().clone();
        let redis = redis.set_protocol(ProtocolVersion::RESP2);
        let client = Client::open(info.set_redis_settings(redis))?;
        client.get_async_pubsub().await
    }
}

/// Returns a connection that its first use opens.
pub(crate) fn connecting(servers: &Arc<Servers>, config: &AsyncConnectionConfig) -> Connecting {
    let (servers, config) = (Arc::clone(servers), config.clone());
    let opened = async move {
        let client = servers.primary().await?;
        client
            .get_multiplexed_async_connection_with_config(&config)
            .await
    };
    opened.boxed().shared()
}

fn timed_out() -> std::io::Error {
    std::io::ErrorKind::TimedOut.into()
}
