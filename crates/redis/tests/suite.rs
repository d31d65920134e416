//! The contract of stores, by one opening and by three openings in turn.

use std::sync::Arc;
use std::time::Duration;

use pintle_redis::RedisStore;
use pintle_store::conformance::{self, Opening, Part, Rotating, Subject};
use pintle_store::{Store, StoreLimits};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::support::{Engine, fresh};

/// Longest time for the suite.
const LIMIT: Duration = Duration::from_secs(300);

/// Prefixes with a number of openings each.
struct Prefixes {
    engine: &'static Engine,
    openings: usize,
}

impl Subject for Prefixes {
    fn open(&self, limits: StoreLimits) -> Opening<'_> {
        Box::pin(async move {
            // A slow machine must not fail the suite.
            let url = self.engine.url(&fresh("suite")) + "&operation_timeout=60000";
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

async fn run(openings: usize) {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let prefixes = Prefixes { engine, openings };
    timeout(LIMIT, conformance::run(&prefixes))
        .await
        .expect("the suite ends");
}

// hardening: H-187, H-188, H-189, H-190, H-191, H-192
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_opening_keeps_the_contract() {
    run(1).await;
}

// hardening: H-187, H-188, H-189, H-190, H-191, H-192
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn three_openings_in_turn_keep_the_contract() {
    run(3).await;
}
