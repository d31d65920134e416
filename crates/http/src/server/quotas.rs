//! A quota of requests for each peer in an interval, which holds for all replicas together.
//!
//! A replica takes blocks of the quota from a counter that all replicas share, so most requests need no operation
//! of the store. While the store does not answer, each replica admits its share: the quota divided by the number
//! of replicas. A server of one process counts alone.

mod allowance;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use pintle_runtime::SharedSessions;
use pintle_runtime::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::options::HttpLimits;
use super::peers::Peer;
use allowance::{Allowance, Decision, Quota};

/// How long a request waits for the shared counter.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// The pause after an operation that failed. Meanwhile this replica admits its share.
const RETRY: Duration = Duration::from_secs(1);

/// The quotas of one endpoint.
pub(super) struct Quotas {
    quota: Quota,
    max_peers: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    by_peer: HashMap<Peer, Arc<PeerQuota>>,
    /// The peers, the oldest first.
    order: VecDeque<Peer>,
    counter: Counter,
}

/// The shared counter, as this replica knows it.
#[derive(Debug, Clone, Copy, Default)]
struct Counter {
    /// `None` before the first answer of the store.
    replicas: Option<usize>,
    /// Whether no other process can share the store.
    is_alone: bool,
    /// When the store is tried again.
    retry: Option<Instant>,
}

/// A request of a peer holds it while it takes a block, so others of the peer wait for the same block.
type PeerQuota = tokio::sync::Mutex<Allowance>;

impl Quotas {
    /// `None` if there is no quota.
    pub(super) fn of(limits: &HttpLimits) -> Option<Self> {
        let quota = Quota {
            most: u64::try_from(limits.max_requests_per_peer).unwrap_or(u64::MAX),
            interval: limits.quota_interval,
        };
        (limits.max_requests_per_peer != usize::MAX).then(|| Self {
            quota,
            max_peers: limits.max_quota_peers.max(1),
            state: Mutex::default(),
        })
    }

    /// Admits requests of a peer, all or none. A peer without a known address has no quota.
    ///
    /// # Errors
    ///
    /// The time until the peer has a quota again.
    pub(super) async fn admit(
        &self,
        shared: Option<&dyn SharedSessions>,
        peer: &Peer,
        requests: u64,
    ) -> Result<(), Duration> {
        if *peer == Peer::Unknown {
            return Ok(());
        }
        let allowance = self.allowance(peer);
        let mut allowance = allowance.lock().await;
        let counter = self.state.lock().counter;
        let shared = shared.filter(|_| !counter.is_alone);
        let (now, replicas) = (Instant::now(), counter.replicas);
        let Some(shared) = shared else {
            return allowance.admit_up_to(self.quota.most, requests, &self.quota, now);
        };
        match allowance.decide(requests, replicas, &self.quota, now) {
            Decision::Admitted => Ok(()),
            Decision::Refused(rest) => Err(rest),
            Decision::Take(_) if counter.retry.is_some_and(|retry| now < retry) => {
                let share = self.quota.share(replicas);
                allowance.admit_up_to(share, requests, &self.quota, now)
            }
            Decision::Take(block) => {
                self.take(shared, peer, block, &mut allowance).await;
                self.admit_of(&mut allowance, requests)
            }
        }
    }

    /// Takes a block of the quota from the shared counter.
    async fn take(
        &self,
        shared: &dyn SharedSessions,
        peer: &Peer,
        block: u64,
        allowance: &mut Allowance,
    ) {
        let name = name_of(peer);
        let counting = shared.count(&name, self.quota.interval, block);
        let counted = timeout(MAX_WAIT, counting).await;
        let now = Instant::now();
        let mut state = self.state.lock();
        let counter = &mut state.counter;
        match counted {
            Ok(Ok(Some(count))) => {
                (counter.replicas, counter.retry) = (Some(count.replicas), None);
                allowance.add(block, &count, &self.quota, now);
            }
            Ok(Ok(None)) => counter.is_alone = true,
            failed => {
                if counter.retry.is_none() {
                    let error = failed.ok().and_then(Result::err);
                    tracing::warn!(?error, "quotas are divided by the number of replicas");
                }
                counter.retry = Some(now + RETRY);
            }
        }
    }

    /// Admits requests after the attempt to take a block.
    fn admit_of(&self, allowance: &mut Allowance, requests: u64) -> Result<(), Duration> {
        let counter = self.state.lock().counter;
        let now = Instant::now();
        let most = match counter {
            Counter { is_alone: true, .. } => self.quota.most,
            Counter { retry: Some(_), .. } => self.quota.share(counter.replicas),
            Counter { .. } => return allowance.use_block(requests, &self.quota, now),
        };
        allowance.admit_up_to(most, requests, &self.quota, now)
    }

    fn allowance(&self, peer: &Peer) -> Arc<PeerQuota> {
        let mut state = self.state.lock();
        if let Some(known) = state.by_peer.get(peer) {
            return Arc::clone(known);
        }
        if state.order.len() >= self.max_peers
            && let Some(oldest) = state.order.pop_front()
        {
            // It takes another block at its next request.
            state.by_peer.remove(&oldest);
        }
        let allowance = Arc::<PeerQuota>::default();
        state.order.push_back(peer.clone());
        state.by_peer.insert(peer.clone(), Arc::clone(&allowance));
        allowance
    }
}

/// The name of the counter of a peer.
fn name_of(peer: &Peer) -> String {
    match peer {
        Peer::Principal(principal) => format!("principal {}", principal.id()),
        Peer::Address(address) => format!("address {address}"),
        Peer::Unknown => String::new(),
    }
}

#[cfg(test)]
mod tests;
