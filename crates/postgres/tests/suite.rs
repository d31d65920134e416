//! The contract of stores, by one opening and by three openings in turn.

use std::sync::Arc;
use std::time::Duration;

use pintle_postgres::PostgresStore;
use pintle_store::conformance::{self, Opening, Part, Rotating, Subject};
use pintle_store::{Store, StoreLimits};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::support::{Engine, fresh};

/// Longest time for the suite.
const LIMIT: Duration = Duration::from_secs(600);

/// Schemas with a number of openings each.
pub(crate) struct Schemas<'a> {
    pub(crate) openings: usize,
    /// Returns the URL of a schema.
    pub(crate) url: &'a (dyn Fn(&str) -> String + Sync),
}

impl Subject for Schemas<'_> {
    fn open(&self, limits: StoreLimits) -> Opening<'_> {
        Box::pin(async move {
            let url = (self.url)(&fresh("suite"));
            let mut openings: Vec<Arc<dyn Store>> = Vec::new();
            for _ in 0..self.openings {
                let store = PostgresStore::connect(&url, limits.clone()).await;
                openings.push(Arc::new(store.expect("connects")));
            }
            let store: Arc<dyn Store> = Arc::new(Rotating::new(openings));
            store
        })
    }

    fn openings(&self) -> usize {
        self.openings
    }

    fn together(&self, parts: Vec<Part>) -> Part {
        Box::pin(async move {
            let tasks: JoinSet<()> = parts.into_iter().collect();
            tasks.join_all().await;
        })
    }
}

pub(crate) async fn run(schemas: &Schemas<'_>) {
    let suite = timeout(LIMIT, conformance::run(schemas));
    suite.await.expect("the suite ends");
}

async fn run_openings(openings: usize) {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let url = |schema: &str| engine.url(schema);
    run(&Schemas {
        openings,
        url: &url,
    })
    .await;
}

// hardening: H-187, H-188, H-189, H-190, H-191, H-192
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_opening_keeps_the_contract() {
    run_openings(1).await;
}

// hardening: H-187, H-188, H-189, H-190, H-191, H-192
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn three_openings_in_turn_keep_the_contract() {
    run_openings(3).await;
}
