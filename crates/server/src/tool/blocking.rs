//! Functions that block, where they may.

use std::future::{Future, pending};
use std::panic::resume_unwind;

use tokio::task::spawn_blocking;
use tracing::Span;

/// Runs a function that blocks on the pool for that, within the current span.
///
/// A panic of the function continues in the task that awaits the future.
///
/// # Cancellation
///
/// Dropping the future does not stop the function: nothing can. Its value is lost.
pub fn blocking<T: Send + 'static>(
    function: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = T> + Send + 'static {
    let span = Span::current();
    async move {
        match spawn_blocking(move || span.in_scope(function)).await {
            Ok(value) => value,
            Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
            // The runtime is shutting down, and drops the task that awaits.
            Err(_) => pending().await,
        }
    }
}
