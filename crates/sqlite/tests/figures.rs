//! Measures the store:
//! `cargo test --release -p pintle-sqlite --test integration figures -- --ignored --nocapture`.

use std::io::Write;
use std::sync::Arc;

use pintle_store::Store;
use pintle_testkit::stores::measure;

use crate::support::{Directory, open};

/// Number of operations of each kind.
const COUNT: usize = 2_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn latencies_and_rates() {
    for openings in [1, 3] {
        let directory = Directory::new();
        let open = |_| -> Arc<dyn Store> { Arc::new(open(&directory.database())) };
        let stores: Vec<_> = (0..openings).map(open).collect();
        let figures = measure(&stores, COUNT).await.expect("measures");
        let text = format!("SQLite\n{figures}\n");
        let mut errors = std::io::stderr();
        errors.write_all(text.as_bytes()).expect("writes");
    }
}
