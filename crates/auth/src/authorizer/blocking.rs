//! Work with the credential store, on threads that may block.

use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use crate::authorizer::{Inner, kept};
use crate::error::AuthError;
use crate::secret::Secret;

impl Inner {
    /// Runs `work` on a thread for blocking work, because a store waits for a disk or a keyring.
    ///
    /// The work goes on when the future is dropped. So work that must not end halfway is one closure.
    ///
    /// # Errors
    ///
    /// Errors of `work`; [`AuthError::StorageFailed`] where the runtime shuts down before the work began.
    pub(super) async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, AuthError> + Send + 'static,
    ) -> Result<T, AuthError> {
        let inner = Arc::clone(self);
        match spawn_blocking(move || work(&inner)).await {
            Ok(outcome) => outcome,
            Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
            Err(_) => Err(AuthError::StorageFailed("the runtime shuts down".into())),
        }
    }

    /// Loads the text of a key.
    ///
    /// # Errors
    ///
    /// [`AuthError::StorageFailed`].
    pub(super) async fn load_text(
        self: &Arc<Self>,
        key: String,
    ) -> Result<Option<Secret>, AuthError> {
        self.blocking(move |inner| inner.store.load(&key).map_err(kept))
            .await
    }
}
