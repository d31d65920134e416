//! A [`Store`](pintle_store::Store) in PostgreSQL: shared by the processes of several hosts.
//!
//! Each operation is one statement, and so one round trip and one transaction. Operations share a few
//! connections without waiting for each other. Changes wake the watchers of the same process at once, and
//! those of other processes through `LISTEN` and `NOTIFY`.
//!
//! ```no_run
//! use pintle_postgres::PostgresStore;
//! use pintle_store::{Expiry, Key, Namespace, Precondition, Store, StoreLimits, StoreTime};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let url = "postgres://harbour@db.example/harbour";
//! let store = PostgresStore::connect(url, StoreLimits::default()).await?;
//! let key = Key::new(&Namespace::fixed("tasks"), "f00d")?;
//! let now = store.time().await?.unwrap_or_default();
//! store.put(now, &key, "working".into(), Precondition::Absent, Expiry::Never).await?;
//! # Ok(())
//! # }
//! ```

mod backoff;
mod connect_error;
mod layout;
mod load;
mod logs;
mod notices;
mod operation_error;
mod pool;
mod records;
mod session;
mod start;
mod statements;
mod store;
mod target;
mod tls;
mod values;

pub use connect_error::ConnectError;
pub use store::PostgresStore;
