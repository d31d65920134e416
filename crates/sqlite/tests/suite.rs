//! The contract of stores, by one opening and by three openings in turn.

use std::sync::{Arc, Mutex};

use pintle_sqlite::SqliteStore;
use pintle_store::conformance::{self, Opening, Part, Rotating, Subject};
use pintle_store::{Store, StoreLimits};

use crate::support::{Directory, together};

/// Databases with a number of openings each.
struct Databases {
    openings: usize,
    directories: Mutex<Vec<Directory>>,
}

impl Databases {
    fn opened(openings: usize) -> Self {
        let directories = Mutex::default();
        Self {
            openings,
            directories,
        }
    }
}

impl Subject for Databases {
    fn open(&self, limits: StoreLimits) -> Opening<'_> {
        let directory = Directory::new();
        let open = |_| -> Arc<dyn Store> {
            Arc::new(SqliteStore::open(directory.database(), limits.clone()).expect("opens"))
        };
        let store: Arc<dyn Store> = Arc::new(Rotating::new((0..self.openings).map(open).collect()));
        self.directories.lock().expect("no panic").push(directory);
        Box::pin(std::future::ready(store))
    }

    fn openings(&self) -> usize {
        self.openings
    }

    fn together(&self, parts: Vec<Part>) -> Part {
        together(parts)
    }
}

// hardening: H-187, H-188, H-189, H-190, H-191, H-192
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_opening_keeps_the_contract() {
    conformance::run(&Databases::opened(1)).await;
}

// hardening: H-187, H-188, H-189, H-190, H-191, H-192
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn three_openings_in_turn_keep_the_contract() {
    conformance::run(&Databases::opened(3)).await;
}
