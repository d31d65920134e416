//! Futures whose type is hidden, and deadlines.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio::time::Instant;

/// A future of any type, on the heap.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The wait of a deadline that no clock can represent.
const THIRTY_YEARS: Duration = Duration::from_secs(86_400 * 365 * 30);

/// Returns the instant after `wait`. A wait that no clock can represent ends in thirty years.
pub fn deadline_after(from: Instant, wait: Duration) -> Instant {
    from.checked_add(wait).unwrap_or(from + THIRTY_YEARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_exists_for_every_wait() {
        let now = Instant::now();
        let second = Duration::from_secs(1);
        assert_eq!(deadline_after(now, second), now + second);
        assert_eq!(deadline_after(now, Duration::MAX), now + THIRTY_YEARS);
    }
}
