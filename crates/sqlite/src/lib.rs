//! A [`Store`](pintle_store::Store) in a SQLite database: durable, for several processes on one host.
//!
//! Operations run on two threads of the store, so a slow disk never holds a thread of the runtime. One
//! thread writes, and one reads. Changes wake the watchers of the same process at once. Other
//! processes look for changes every [`POLL_INTERVAL`].
//!
//! ```
//! use pintle_sqlite::SqliteStore;
//! use pintle_store::{Expiry, Key, Namespace, Precondition, Store, StoreLimits, StoreTime};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("pintle-sqlite-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! let store = SqliteStore::open(folder.join("state.sqlite"), StoreLimits::default())?;
//! let key = Key::new(&Namespace::fixed("tasks"), "f00d")?;
//! let now = StoreTime::from(std::time::SystemTime::now());
//! store.put(now, &key, "working".into(), Precondition::Absent, Expiry::Never).await?;
//! assert_eq!(store.get(now, &key).await?.expect("a record").value, "working");
//! # drop(store);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! ```

mod counters;
mod layout;
mod logs;
mod open_error;
mod records;
mod store;
mod values;
mod worker;

pub use open_error::OpenError;
pub use store::SqliteStore;
pub use worker::POLL_INTERVAL;
