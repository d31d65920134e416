//! Measures the store, with `fsync`:
//! `cargo test --release -p pintle-postgres --test integration figures -- --ignored --nocapture`.

use std::io::Write;
use std::sync::Arc;

use pintle_store::Store;
use pintle_testkit::stores::measure;

use crate::support::{Engine, fresh, open};

/// Number of operations of each kind.
const COUNT: usize = 5_000;

async fn set_fsync(engine: &Engine, statement: &str) {
    engine.run(statement).await;
    engine.run("SELECT pg_reload_conf()").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn latencies_and_rates() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    set_fsync(engine, "ALTER SYSTEM SET fsync = on").await;
    for openings in [1, 3] {
        let url = engine.url(&fresh("figures"));
        let url = url.replace("connections=2", "connections=8");
        let mut stores: Vec<Arc<dyn Store>> = Vec::new();
        for _ in 0..openings {
            stores.push(Arc::new(open(&url).await));
        }
        let figures = measure(&stores, COUNT).await.expect("measures");
        let text = format!("PostgreSQL\n{figures}\n");
        let mut errors = std::io::stderr();
        errors.write_all(text.as_bytes()).expect("writes");
    }
    set_fsync(engine, "ALTER SYSTEM RESET fsync").await;
}
