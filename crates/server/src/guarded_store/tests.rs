use std::time::SystemTime;

use pintle_store::{MemoryStore, Namespace};

use super::*;
use crate::faulty_store::{Fault, FaultyStore};

const STORE_TIME: Duration = Duration::from_secs(5);

const TESTS: Namespace = Namespace::fixed("tests");

struct Subject {
    guarded: GuardedStore,
    inner: Arc<FaultyStore>,
    breaker: Arc<CircuitBreaker>,
}

fn subject() -> Subject {
    let inner = Arc::new(FaultyStore::new(MemoryStore::default()));
    let breaker = Arc::new(CircuitBreaker::default());
    let store = Arc::clone(&inner).store();
    let guarded = GuardedStore::new(store, STORE_TIME, Arc::clone(&breaker));
    Subject {
        guarded,
        inner,
        breaker,
    }
}

async fn read(store: &GuardedStore) -> Result<Option<Record>, StoreError> {
    let key = Key::new(&TESTS, "one").expect("letters are valid");
    store.get(SystemTime::now().into(), &key).await
}

#[tokio::test(start_paused = true)]
async fn an_operation_without_an_answer_ends_after_its_time() {
    let subject = subject();
    subject.inner.set(Some(Fault::Hangs));
    let began = Instant::now();
    let error = read(&subject.guarded).await.expect_err("no answer");
    assert!(error.is_retryable());
    assert_eq!(began.elapsed(), STORE_TIME);
}

#[tokio::test(start_paused = true)]
async fn while_the_store_is_away_operations_fail_at_once_and_one_tries_again() {
    let subject = subject();
    for fault in [Fault::Fails, Fault::Hangs] {
        subject.inner.set(Some(fault));
        for _ in 0..3 {
            read(&subject.guarded).await.expect_err("the store is away");
        }
        let (operations, now) = (subject.inner.operations(), Instant::now());
        for _ in 0..100 {
            let error = read(&subject.guarded).await.expect_err("the store is away");
            assert!(error.is_retryable());
        }
        assert_eq!(subject.inner.operations(), operations);
        assert_eq!(now.elapsed(), Duration::ZERO);
        subject.inner.set(None);
        tokio::time::advance(Duration::from_millis(100)).await;
        read(&subject.guarded)
            .await
            .expect("the store answers again");
        read(&subject.guarded).await.expect("all operations pass");
    }
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_its_caller_drops_after_a_second_is_a_failure() {
    let subject = subject();
    subject.inner.set(Some(Fault::Hangs));
    for time in [SLOW - Duration::from_millis(1), SLOW, SLOW, SLOW] {
        assert!(subject.breaker.permits(Instant::now()));
        let dropped = timeout(time, read(&subject.guarded)).await;
        dropped.expect_err("the store hangs");
    }
    assert!(!subject.breaker.permits(Instant::now()));
}

#[tokio::test(start_paused = true)]
async fn an_error_of_a_store_that_answers_does_not_reject_the_next_operation() {
    let subject = subject();
    let key = Key::new(&TESTS, "one").expect("letters are valid");
    let now = SystemTime::now().into();
    for _ in 0..10 {
        let absent = Precondition::Version(Version::new(7));
        let put = subject
            .guarded
            .put(now, &key, Bytes::new(), absent, Expiry::Never);
        assert!(put.await.expect_err("no such version").is_conflict());
    }
}
