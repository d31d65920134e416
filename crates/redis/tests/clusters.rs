//! A cluster: the contract, slots that move, and a failover.

use std::sync::Arc;
use std::time::Duration;

use pintle_redis::RedisStore;
use pintle_store::conformance::{self, Opening, Part, Rotating, Subject};
use pintle_store::{Expiry, Precondition, Prefix, Store, StoreLimits};
use pintle_test_servers::RedisCluster;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::support::{NOW, fresh, key, open};

/// Longest time for the suite or for a failover.
const LIMIT: Duration = Duration::from_secs(300);

/// Prefixes in a cluster with a number of openings each.
struct Prefixes {
    cluster: RedisCluster,
    openings: usize,
}

impl Subject for Prefixes {
    fn open(&self, limits: StoreLimits) -> Opening<'_> {
        Box::pin(async move {
            // A slow machine must not fail the suite.
            let url = self.cluster.url(&fresh("clusters")) + "&operation_timeout=60000";
            let mut openings: Vec<Arc<dyn Store>> = Vec::new();
            for _ in 0..self.openings {
                let store = RedisStore::connect(&url, limits.clone()).await;
                openings.push(Arc::new(store.expect("connects")));
            }
            let store: Arc<dyn Store> = Arc::new(Rotating::new(openings));
            store
        })
    }

    fn openings(&self) -> usize {
        self.openings
    }

    fn is_ordered(&self) -> bool {
        false
    }

    fn together(&self, parts: Vec<Part>) -> Part {
        Box::pin(async move {
            let tasks: JoinSet<()> = parts.into_iter().collect();
            tasks.join_all().await;
        })
    }
}

// hardening: H-187, H-188, H-189, H-190, H-191, H-192
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_and_three_openings_of_a_cluster_keep_the_contract() {
    let Some(cluster) = RedisCluster::start(0) else {
        return;
    };
    let mut prefixes = Prefixes {
        cluster,
        openings: 1,
    };
    for openings in [1, 3] {
        prefixes.openings = openings;
        let suite = timeout(LIMIT, conformance::run(&prefixes));
        suite.await.expect("the suite ends");
    }
}

async fn put_until_written(store: &dyn Store, name: &str) {
    let name = key(name);
    let puts = async {
        loop {
            let put = store.put(NOW, &name, "value".into(), Precondition::Any, Expiry::Never);
            match put.await {
                Ok(_) => return,
                Err(error) => assert!(error.is_retryable(), "{error:?}"),
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, puts).await.expect("a server");
}

// hardening: H-187
#[tokio::test(flavor = "multi_thread")]
async fn a_store_follows_a_failover_in_its_cluster() {
    let Some(mut cluster) = RedisCluster::start(1) else {
        return;
    };
    let prefix = fresh("clusters");
    let url = cluster.url(&prefix);
    let confirmed = open(&(url.clone() + "&wait=1&operation_timeout=2000")).await;
    let store = open(&url).await;
    let watched = Prefix::from(key("watched"));
    let mut changes = store.changed(&watched).await.expect("watches");
    put_until_written(&confirmed, "before").await;

    let primary = cluster.primary_of(&format!("{prefix}:{{tests/before}}"));
    cluster.stop(primary);
    put_until_written(&store, "before").await;
    put_until_written(&store, "watched").await;
    let woken = timeout(LIMIT, changes.next()).await.expect("wakes");
    assert_eq!(woken, Some(()));
    let other = open(&url).await;
    let record = other.get(NOW, &key("watched")).await.expect("gets");
    assert_eq!(record.expect("a record").value, "value");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_that_moves_loses_no_operation() {
    let Some(cluster) = RedisCluster::start(0) else {
        return;
    };
    let prefix = fresh("clusters");
    let store = open(&cluster.url(&prefix)).await;
    let sum = key("sum");
    let add = || store.add(NOW, &sum, 1, Expiry::Never);
    assert_eq!(add().await.expect("adds"), 1);
    let counter = format!("{prefix}:{{tests/sum}}:c:sum");
    let target = (cluster.primary_of(&counter) + 1) % 3;
    let migration = cluster.begin_migration(&counter, target);
    // The key is absent at its old server, which asks to try the new one.
    assert_eq!(add().await.expect("adds"), 2);
    migration.end();
    assert_eq!(add().await.expect("adds"), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_servers_of_a_cluster_use_tls() {
    let Some(cluster) = RedisCluster::start_tls() else {
        return;
    };
    let store = open(&cluster.url(&fresh("clusters"))).await;
    let watched = Prefix::from(key("c"));
    let mut changes = store.changed(&watched).await.expect("watches");
    // The keys are in slots of different servers.
    for name in ["a", "b", "c", "d", "e", "f"] {
        put_until_written(&store, name).await;
        let record = store.get(NOW, &key(name)).await.expect("gets");
        assert_eq!(record.expect("a record").value, "value");
    }
    let woken = timeout(LIMIT, changes.next()).await.expect("wakes");
    assert_eq!(woken, Some(()));
}
