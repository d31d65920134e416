//! Waiting for the first of two futures.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// The result of the future that ended first.
pub(crate) enum First<A, B> {
    /// The result of the first future.
    One(A),
    /// The result of the second future.
    Other(B),
}

/// Waits until one of two futures ends, and drops both. `one` is polled first each time, so its result is returned if both
/// have ended.
pub(crate) async fn first<A: Future, B: Future>(one: A, other: B) -> First<A::Output, B::Output> {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|task| match one.as_mut().poll(task) {
        Poll::Ready(result) => Poll::Ready(First::One(result)),
        Poll::Pending => other.as_mut().poll(task).map(First::Other),
    })
    .await
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn the_result_is_that_of_the_first_future_if_both_have_ended() {
        assert!(matches!(first(ready(1), ready(2)).await, First::One(1)));
        assert!(matches!(
            first(pending::<()>(), ready(2)).await,
            First::Other(2)
        ));
    }
}
