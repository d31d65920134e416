//! The requests of this replica that wait for their replies. No I/O.

use std::collections::HashMap;

use tokio::sync::oneshot;

use super::message::{DeliveryError, ReplicaReply};
use super::replica_id::ReplicaId;
use crate::sync::Mutex;

/// The pending requests, by number.
#[derive(Debug, Default)]
pub(super) struct Requests(Mutex<HashMap<u64, Pending>>);

#[derive(Debug)]
struct Pending {
    to: ReplicaId,
    reply: oneshot::Sender<ReplicaReply>,
}

/// A place among the pending requests, until it is dropped.
#[derive(Debug)]
pub(super) struct Request<'a> {
    requests: &'a Requests,
    number: u64,
    pub(super) reply: oneshot::Receiver<ReplicaReply>,
}

impl Requests {
    pub(super) fn add(
        &self,
        number: u64,
        to: ReplicaId,
        limit: usize,
    ) -> Result<Request<'_>, DeliveryError> {
        let (sender, reply) = oneshot::channel();
        let mut pending = self.0.lock();
        if pending.len() >= limit {
            return Err(DeliveryError::TooManyRequests { limit });
        }
        pending.insert(number, Pending { to, reply: sender });
        Ok(Request {
            requests: self,
            number,
            reply,
        })
    }

    /// Settles a request with the reply of the replica that received it. Drops other replies.
    pub(super) fn settle(&self, from: ReplicaId, number: u64, reply: ReplicaReply) {
        let mut pending = self.0.lock();
        if pending.get(&number).is_some_and(|it| it.to == from)
            && let Some(settled) = pending.remove(&number)
        {
            drop(pending);
            // The requester may have given up.
            let _ = settled.reply.send(reply);
        }
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        self.requests.0.lock().remove(&self.number);
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn a_request_beyond_the_limit_is_refused_until_another_one_ends() {
        let requests = Requests::default();
        let to = "aaaaaaaa".parse().expect("a replica id");
        let first = requests.add(1, to, 1).expect("room");
        let limit = 1;
        assert!(matches!(
            requests.add(2, to, limit),
            Err(DeliveryError::TooManyRequests { limit: 1 })
        ));
        drop(first);
        assert!(requests.add(2, to, limit).is_ok());
    }

    #[test]
    fn a_reply_of_another_replica_is_dropped() {
        let requests = Requests::default();
        let [a, b] = ["aaaaaaaa", "bbbbbbbb"].map(|id| id.parse().expect("a replica id"));
        let mut request = requests.add(1, a, 1).expect("room");
        requests.settle(b, 1, ReplicaReply::NotFound);
        assert!(request.reply.try_recv().is_err());
        requests.settle(a, 1, ReplicaReply::Done);
        assert_eq!(request.reply.try_recv(), Ok(ReplicaReply::Done));
    }
}
