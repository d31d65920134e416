//! A [`Store`](pintle_store::Store) in Redis 6.2 or Valkey 7.2, or newer: shared by the processes of several hosts.
//!
//! Each operation is one round trip: a command, or a script that Redis runs as a whole. Operations share a
//! few connections without waiting for each other. Changes wake watchers in all processes through a
//! connection for messages.
//!
//! ```no_run
//! use pintle_redis::RedisStore;
//! use pintle_store::{Expiry, Key, Namespace, Precondition, Store, StoreLimits};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let url = "rediss://harbour:secret@cache.example:6379/0?prefix=harbour";
//! let store = RedisStore::connect(url, StoreLimits::default()).await?;
//! let key = Key::new(&Namespace::fixed("tasks"), "f00d")?;
//! let now = store.time().await?.unwrap_or_default();
//! store.put(now, &key, "working".into(), Precondition::Absent, Expiry::Never).await?;
//! # Ok(())
//! # }
//! ```

mod connect_error;
mod connection;
mod link;
mod logs;
mod names;
mod operation_error;
mod pending;
mod records;
mod scripts;
mod servers;
mod start;
mod store;
mod subscriber;
mod target;
mod values;

pub use connect_error::{ClientError, ConnectError};
pub use store::RedisStore;
