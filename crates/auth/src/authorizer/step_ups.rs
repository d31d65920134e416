//! Number of sign-ins for more scopes, per operation.

use std::collections::VecDeque;

use tokio::time::Instant;

use crate::authorizer::OAuthOptions;

/// Counted operations, the oldest first.
#[derive(Debug, Default)]
pub(super) struct StepUps(VecDeque<StepUpCount>);

/// The sign-ins of one operation.
#[derive(Debug)]
struct StepUpCount {
    operation: String,
    count: u32,
    last: Instant,
}

impl StepUps {
    /// Counts one for an operation; how many there are of it now, none of them older than
    /// [`OAuthOptions::step_up_ttl`] before the next.
    pub(super) fn count(&mut self, operation: &str, now: Instant, options: &OAuthOptions) -> u32 {
        self.0
            .retain(|row| now.duration_since(row.last) < options.step_up_ttl);
        if let Some(row) = self.0.iter_mut().find(|row| row.operation == operation) {
            row.last = now;
            row.count = row.count.saturating_add(1);
            return row.count;
        }
        if self.0.len() >= options.max_step_up_operations {
            self.0.pop_front();
        }
        self.0.push_back(StepUpCount {
            operation: operation.to_owned(),
            count: 1,
            last: now,
        });
        1
    }

    /// Resets all counts, because the next user may be another one.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    // spec: 2025-11-25 AUTH-77, AUTH-78
    // spec: 2026-07-28 N-AUTH-41
    #[test]
    fn step_up_counts_expire() {
        let options = OAuthOptions::default();
        let (mut all, begin) = (StepUps::default(), Instant::now());
        let life = options.step_up_ttl;
        let second = Duration::from_secs(1);
        assert_eq!(all.count("x", begin, &options), 1);
        let later = begin + life - second;
        assert_eq!(all.count("x", later, &options), 2);
        assert_eq!(all.count("y", later, &options), 1, "each for itself");
        // An attempt above the limit counts, too, so repeated attempts do not reset the limit.
        assert_eq!(all.count("x", later + life - second, &options), 3);
        assert_eq!(all.count("x", later + life * 2 - second, &options), 1);
        all.clear();
        assert_eq!(all.count("x", later + life * 2, &options), 1);
    }

    #[test]
    fn only_so_many_operations_are_counted() {
        let options = OAuthOptions {
            max_step_up_operations: 2,
            ..OAuthOptions::default()
        };
        let (mut all, now) = (StepUps::default(), Instant::now());
        for operation in ["a", "b", "c"] {
            assert_eq!(all.count(operation, now, &options), 1);
        }
        assert_eq!(all.count("b", now, &options), 2);
        assert_eq!(all.count("c", now, &options), 2);
        assert_eq!(all.count("a", now, &options), 1, "the oldest was forgotten");
        assert_eq!(all.0.len(), 2);
    }
}
