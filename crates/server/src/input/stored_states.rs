//! States between rounds in a store.

use std::sync::Arc;

use bytes::Bytes;
use pintle_model::Error;
use pintle_runtime::BoxFuture;
use pintle_store::{Expiry, Key, Precondition, Store, StoreError, StoreTime};

use super::seal::LIFE;
use super::states::States;
use crate::replica::{Replica, now_of};

/// States in a store.
pub(crate) struct StoredStates {
    store: Arc<dyn Store>,
    /// This replica, if others may share the store.
    replica: Option<Arc<dyn Replica>>,
}

impl StoredStates {
    pub(crate) fn new(store: Arc<dyn Store>, replica: Option<Arc<dyn Replica>>) -> Self {
        Self { store, replica }
    }

    async fn now(&self) -> Result<StoreTime, Error> {
        let now = now_of(self.replica.as_deref()).await;
        now.map_err(|error| unstored(&error))
    }
}

impl States for StoredStates {
    fn put<'a>(&'a self, key: &'a Key, value: Bytes) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async move {
            let now = self.now().await?;
            let expiry = Expiry::At(now + LIFE);
            let put = self
                .store
                .put(now, key, value, Precondition::Absent, expiry);
            match put.await {
                Ok(_) => Ok(true),
                Err(error) if error.is_conflict() => Ok(false),
                Err(error) => Err(unstored(&error)),
            }
        })
    }

    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Bytes>, Error>> {
        Box::pin(async move {
            let get = self.store.get(self.now().await?, key).await;
            let record = get.map_err(|error| unstored(&error))?;
            Ok(record.map(|record| record.value))
        })
    }
}

fn unstored(error: &StoreError) -> Error {
    tracing::error!(%error, source = ?std::error::Error::source(error), "a request cannot be remembered");
    Error::internal()
}
