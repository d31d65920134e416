//! Redis and PostgreSQL servers of their own for tests, in folders for temporary files.
//!
//! A server ends with its value, and also with the process of the tests. Without an installed server a test
//! reports that it skips. It fails if the variable `PINTLE_ENGINES` is `required`.
#![cfg(unix)]

mod certificates;
mod installed;
mod pooler;
mod postgres;
mod redis;
mod redis_cluster;

use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use pooler::Pooler;
pub use postgres::{PostgresServer, Stop};
pub use redis::RedisServer;
pub use redis_cluster::{Migration, RedisCluster};

/// Returns a name that no other test of this process uses: letters of `kind`, `_` and a number.
pub fn fresh(kind: &str) -> String {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    format!("{kind}_{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// Returns a port that no program uses now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}
