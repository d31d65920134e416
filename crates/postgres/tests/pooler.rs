//! pgbouncer, which gives each transaction another connection of the server.

use pintle_store::Store;
use tokio::task::JoinSet;

use crate::suite::{self, Schemas};
use crate::support::{Engine, NOW, Pooler, fresh, key, open};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn three_openings_behind_a_pooler_keep_the_contract() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let Some(pooler) = Pooler::start(engine) else {
        return;
    };
    let url = |schema: &str| pooler.url(engine, schema);
    suite::run(&Schemas {
        openings: 3,
        url: &url,
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_operations_share_few_connections_of_the_server() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let Some(pooler) = Pooler::start(engine) else {
        return;
    };
    let store = std::sync::Arc::new(open(&pooler.url(engine, &fresh("pooler"))).await);
    let mut adds = JoinSet::new();
    for _ in 0..200 {
        let store = std::sync::Arc::clone(&store);
        adds.spawn(async move {
            let key = key("sum");
            store
                .add(NOW, &key, 1, pintle_store::Expiry::Never)
                .await
                .expect("adds")
        });
    }
    assert_eq!(adds.join_all().await.into_iter().max(), Some(200));
}
