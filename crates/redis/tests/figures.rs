//! Measures the store:
//! `cargo test --release -p pintle-redis --test integration figures -- --ignored --nocapture`.

use std::io::Write;
use std::sync::Arc;

use pintle_redis::RedisStore;
use pintle_store::{Store, StoreLimits};
use pintle_testkit::stores::measure;

use crate::support::{Engine, fresh};

/// Number of operations of each kind.
const COUNT: usize = 10_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn latencies_and_rates() {
    let Some(engine) = Engine::start(&[]) else {
        return;
    };
    for openings in [1, 3] {
        let url = engine.url(&fresh("figures")) + "&operation_timeout=60000";
        let mut stores: Vec<Arc<dyn Store>> = Vec::new();
        for _ in 0..openings {
            let store = RedisStore::connect(&url, StoreLimits::default()).await;
            stores.push(Arc::new(store.expect("connects")));
        }
        let figures = measure(&stores, COUNT).await.expect("measures");
        let text = format!("Redis\n{figures}\n");
        let mut errors = std::io::stderr();
        errors.write_all(text.as_bytes()).expect("writes");
    }
}
