//! The figures of the stores in memory and in a directory:
//! `cargo test --release -p pintle-testkit --test integration store_figures -- --ignored --nocapture`.

use std::io::Write;
use std::sync::Arc;

use pintle_store::{FileStore, MemoryStore, Store, StoreLimits};
use pintle_testkit::stores::measure;

/// Number of operations of each kind.
const COUNT: usize = 500;

async fn print(name: &str, store: Arc<dyn Store>) {
    let figures = measure(&[store], COUNT).await.expect("measures");
    let text = format!("{name}\n{figures}\n");
    let mut errors = std::io::stderr();
    errors.write_all(text.as_bytes()).expect("writes");
}

#[tokio::test]
#[ignore = "a measurement"]
async fn latencies_and_rates() {
    print("memory", Arc::new(MemoryStore::default())).await;
    let folder = std::env::temp_dir().join(format!("pintle-figures-{}", std::process::id()));
    let store = FileStore::open(&folder, StoreLimits::default()).expect("opens");
    print("a directory", Arc::new(store)).await;
    std::fs::remove_dir_all(&folder).expect("removes the folder");
}

#[tokio::test]
async fn a_measurement_has_all_figures() {
    let openings: [Arc<dyn Store>; 1] = [Arc::new(MemoryStore::default())];
    let figures = measure(&openings, 20).await.expect("measures");
    assert_eq!(figures.openings, 1);
    for latency in [
        figures.put,
        figures.get,
        figures.append,
        figures.add,
        figures.wake_up,
    ] {
        assert!(
            !latency.p50.is_zero() && latency.p50 <= latency.p99,
            "{latency}"
        );
    }
    assert!(figures.puts_a_second > 0 && figures.appends_a_second > 0);
    assert!(figures.to_string().contains("put to wake-up   p50 "));
}
