//! A store that no other process may have open, because the program lacks the feature `replicas`.

use std::sync::Arc;
use std::time::SystemTime;

use pintle_model::Error;
use pintle_runtime::BoxFuture;
use pintle_store::{Retry, Store, StoreError, StoreTime};
use tokio::sync::OnceCell;

use crate::replica::{Replica, Replicas, without_store};

/// Only a store that several processes can open has a clock.
const IS_SHARED: &str =
    "several processes can open the store, which requires the feature `replicas` of `pintle`";

/// The only process with a store.
pub(crate) struct SoleProcess {
    store: Arc<dyn Store>,
    /// Set when the store has no clock.
    checked: OnceCell<()>,
}

impl SoleProcess {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let checked = OnceCell::new();
        Self { store, checked }
    }

    async fn check(&self) -> Result<(), StoreError> {
        let check = async || match self.store.time().await? {
            None => Ok(()),
            Some(_) => Err(StoreError::backend(Retry::Never, IS_SHARED)),
        };
        self.checked.get_or_try_init(check).await.copied()
    }
}

impl Replica for SoleProcess {
    // A store that is away is checked again, by the first operation.
    fn start(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async {
            match self.check().await {
                Err(error) if error.is_retryable() => Ok(()),
                checked => checked,
            }
        })
    }

    fn now(&self) -> BoxFuture<'_, Result<StoreTime, StoreError>> {
        Box::pin(async {
            self.check().await?;
            Ok(SystemTime::now().into())
        })
    }

    fn join(&self) -> BoxFuture<'_, Result<Option<Box<dyn Replicas>>, Error>> {
        Box::pin(async {
            let checked = self.check().await;
            checked.map_err(|error| without_store(&error, error.is_retryable()))?;
            Ok(None)
        })
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as StdError;

    use pintle_store::conformance::{Layer, Layered};
    use pintle_store::{MemoryStore, StoreFuture};

    use super::*;
    use crate::faulty_store::{Fault, FaultyStore};

    /// A store that several processes can open.
    struct Shared(MemoryStore);

    impl Layer for Shared {
        fn inner(&self) -> &dyn Store {
            &self.0
        }

        fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
            Box::pin(async { Ok(Some(StoreTime::default())) })
        }
    }

    #[tokio::test]
    async fn a_shared_store_is_refused_at_the_start_and_later() {
        let store = Layered(Shared(MemoryStore::default()));
        let sole = SoleProcess::new(Arc::new(store));
        let error = sole.start().await.expect_err("a shared store");
        let cause = StdError::source(&error).expect("a cause").to_string();
        assert!(cause.contains("feature `replicas`"), "{cause}");
        assert!(sole.now().await.is_err());
        assert_eq!(sole.join().await.err(), Some(Error::internal()));
    }

    #[tokio::test]
    async fn a_store_that_is_away_at_the_start_is_checked_again() {
        let faulty = Arc::new(FaultyStore::new(MemoryStore::default()));
        let sole = SoleProcess::new(Arc::clone(&faulty).store());
        faulty.set(Some(Fault::Fails));
        assert!(sole.start().await.is_ok());
        assert!(sole.now().await.is_err());
        faulty.set(None);
        assert!(sole.now().await.is_ok());
        assert!(matches!(sole.join().await, Ok(None)));
        assert_eq!(faulty.operations(), 3);
    }
}
