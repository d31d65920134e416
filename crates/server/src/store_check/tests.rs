use pintle_store::MemoryStore;

use super::*;
use crate::faulty_store::{Fault, FaultyStore};

fn check() -> (StoreCheck, Arc<FaultyStore>) {
    let store = Arc::new(FaultyStore::new(MemoryStore::default()));
    let check = StoreCheck::new(Arc::clone(&store).store(), Duration::from_secs(5));
    (check, store)
}

#[tokio::test(start_paused = true)]
async fn a_store_is_read_at_most_once_a_second() {
    let (check, store) = check();
    let all = (0..100).map(|_| check.is_reachable());
    for is_reachable in all {
        assert!(is_reachable.await);
    }
    assert_eq!(store.operations(), 1);
    tokio::time::advance(INTERVAL).await;
    assert!(check.is_reachable().await);
    assert_eq!(store.operations(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_or_hangs_is_away_until_it_answers_again() {
    let (check, store) = check();
    for fault in [Fault::Fails, Fault::Hangs] {
        store.set(Some(fault));
        let began = Instant::now();
        assert!(!check.is_reachable().await, "{fault:?}");
        assert!(began.elapsed() <= MAX_WAIT);
        store.set(None);
        tokio::time::advance(INTERVAL).await;
        assert!(check.is_reachable().await);
        tokio::time::advance(INTERVAL).await;
    }
}
