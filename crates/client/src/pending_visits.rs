//! Visits to URLs whose end the client expects.

use tokio::sync::oneshot;

/// Largest number of pending visits; the oldest is evicted.
const VISITS: usize = 64;

/// The visits of one conversation, oldest first, by their ids at the server.
#[derive(Debug, Default)]
pub(crate) struct PendingVisits(Vec<Expected>);

/// Resolves when the visit has ended, or when its end can no longer be reported.
pub(crate) type VisitEnd = oneshot::Receiver<()>;

#[derive(Debug)]
struct Expected {
    id: String,
    notify: Option<oneshot::Sender<()>>,
}

impl PendingVisits {
    /// Records the start of a visit.
    pub(crate) fn expect(&mut self, id: String) {
        self.push(Expected { id, notify: None });
    }

    /// Records the start of a visit, and returns a future that resolves at its end.
    pub(crate) fn wait(&mut self, id: String) -> VisitEnd {
        let (notify, end) = oneshot::channel();
        self.push(Expected {
            id,
            notify: Some(notify),
        });
        end
    }

    /// Records the end of a visit. Returns true if it was pending; its end is reported once.
    pub(crate) fn end(&mut self, id: &str) -> bool {
        let Some(at) = self.0.iter().position(|visit| visit.id == id) else {
            return false;
        };
        let visit = self.0.remove(at);
        if let Some(notify) = visit.notify {
            // The receiver may have been dropped.
            let _ = notify.send(());
        }
        true
    }

    fn push(&mut self, visit: Expected) {
        if self.0.len() >= VISITS {
            self.0.remove(0);
        }
        self.0.push(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2025-11-25 ELIC-30
    #[test]
    fn a_visit_ends_once_and_the_oldest_gives_way() {
        let mut visits = PendingVisits::default();
        let mut first = visits.wait("0".to_owned());
        let mut second = visits.wait("1".to_owned());
        (2..VISITS).for_each(|id| visits.expect(id.to_string()));
        assert!(visits.end("1") && !visits.end("1") && !visits.end("other"));
        assert_eq!(second.try_recv(), Ok(()));
        visits.expect("full".to_owned());
        assert_eq!(first.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        visits.expect("one more".to_owned());
        assert_eq!(first.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        assert!(!visits.end("0"));
    }
}
