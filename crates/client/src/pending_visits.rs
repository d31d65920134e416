//! Visits to URLs that users are on, as far as their end is of interest.

use tokio::sync::oneshot;

/// How many are waited for; the oldest gives way.
const VISITS: usize = 64;

/// The visits of one conversation, oldest first, by the server's names for them.
#[derive(Debug, Default)]
pub(crate) struct PendingVisits(Vec<Expected>);

/// Resolves when the visit is over, or when nobody can tell any more.
pub(crate) type VisitEnd = oneshot::Receiver<()>;

#[derive(Debug)]
struct Expected {
    id: String,
    tell: Option<oneshot::Sender<()>>,
}

impl PendingVisits {
    /// A visit has begun.
    pub(crate) fn expect(&mut self, id: String) {
        self.push(Expected { id, tell: None });
    }

    /// A visit begins, and somebody waits for its end.
    pub(crate) fn wait(&mut self, id: String) -> VisitEnd {
        let (tell, end) = oneshot::channel();
        self.push(Expected {
            id,
            tell: Some(tell),
        });
        end
    }

    /// A visit is over. Whether there was one: its end comes once.
    pub(crate) fn end(&mut self, id: &str) -> bool {
        let Some(at) = self.0.iter().position(|visit| visit.id == id) else {
            return false;
        };
        let visit = self.0.remove(at);
        if let Some(tell) = visit.tell {
            // Whoever waited may have given up.
            let _ = tell.send(());
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
