use std::sync::atomic::{AtomicU64, Ordering};

use pintle_runtime::{BoxFuture, Principal, SessionChange, SessionKey, SessionState, SharedCount};
use pintle_store::StoreError;

use super::*;

const INTERVAL: Duration = Duration::from_secs(60);
const NO_STORE: &str = "a quota uses the counter only";

/// A counter that never ends its interval, for three replicas.
#[derive(Default)]
struct Shared {
    sum: AtomicU64,
    operations: AtomicU64,
    is_silent: bool,
}

impl SharedSessions for Shared {
    fn seal(&self, _: Option<&str>, _: &[u8]) -> Option<String> {
        unreachable!("{NO_STORE}")
    }

    fn open<'a>(&'a self, _: Option<&'a str>, _: &'a str) -> BoxFuture<'a, Option<Vec<u8>>> {
        unreachable!("{NO_STORE}")
    }

    fn end(&self, _: SessionKey) -> BoxFuture<'_, Result<bool, StoreError>> {
        unreachable!("{NO_STORE}")
    }

    fn state(&self, _: SessionKey) -> BoxFuture<'_, Result<SessionState, StoreError>> {
        unreachable!("{NO_STORE}")
    }

    fn change<'a>(
        &'a self,
        _: SessionKey,
        _: &'a SessionChange,
    ) -> BoxFuture<'a, Result<SessionState, StoreError>> {
        unreachable!("{NO_STORE}")
    }

    fn count<'a>(
        &'a self,
        _: &'a str,
        _: Duration,
        uses: u64,
    ) -> BoxFuture<'a, Result<Option<SharedCount>, StoreError>> {
        self.operations.fetch_add(1, Ordering::SeqCst);
        let sum = self.sum.fetch_add(uses, Ordering::SeqCst) + uses;
        Box::pin(async move {
            if self.is_silent {
                std::future::pending::<()>().await;
            }
            tokio::task::yield_now().await;
            Ok(Some(SharedCount {
                interval: 1,
                rest: INTERVAL,
                sum,
                replicas: 3,
            }))
        })
    }
}

fn quotas(most: usize, peers: usize) -> Quotas {
    let limits = HttpLimits {
        max_requests_per_peer: most,
        max_quota_peers: peers,
        ..HttpLimits::default()
    };
    Quotas::of(&limits).expect("a quota")
}

fn peer(name: &str) -> Peer {
    Peer::Principal(Principal::new(name, ["read"]))
}

#[tokio::test]
async fn a_quota_remembers_a_number_of_peers() {
    let quotas = quotas(1, 2);
    for name in ["ada", "bob", "cid", "dan"] {
        assert!(quotas.admit(None, &peer(name), 1).await.is_ok());
        assert!(quotas.admit(None, &peer(name), 1).await.is_err());
    }
    let state = quotas.state.lock();
    assert_eq!((state.by_peer.len(), state.order.len()), (2, 2));
}

#[tokio::test]
async fn requests_of_one_peer_at_the_same_time_share_a_block() {
    let (quotas, shared) = (quotas(4_800, 10), Shared::default());
    let ada = peer("ada");
    let admit = || quotas.admit(Some(&shared), &ada, 1);
    // The replicas are unknown at first, so a block is a part of 8 times 8.
    let (first, second, third) = tokio::join!(admit(), admit(), admit());
    assert!(first.is_ok() && second.is_ok() && third.is_ok());
    assert_eq!(shared.operations.load(Ordering::SeqCst), 1);
    assert_eq!(shared.sum.load(Ordering::SeqCst), 75);
}

#[tokio::test]
async fn a_refused_peer_costs_no_operation() {
    let (quotas, shared) = (quotas(2, 10), Shared::default());
    for expected in [true, true, false, false, false] {
        let admitted = quotas.admit(Some(&shared), &peer("ada"), 1).await;
        assert_eq!(admitted.is_ok(), expected);
    }
    assert_eq!(shared.operations.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_silent_store_is_waited_for_once_a_second() {
    let shared = Shared {
        is_silent: true,
        ..Shared::default()
    };
    let (quotas, began) = (quotas(100, 10), Instant::now());
    for name in ["ada", "bob", "ada", "cid"] {
        let admitted = quotas.admit(Some(&shared), &peer(name), 1).await;
        assert!(admitted.is_ok());
    }
    assert_eq!(began.elapsed(), MAX_WAIT);
    assert_eq!(shared.operations.load(Ordering::SeqCst), 1);
}
