//! A store that does not answer for a while.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use pintle_store::{
    Changes, Expiry, Key, Listing, MemoryStore, Moment, Page, Position, Precondition, Prefix,
    Record, Store, StoreFuture, Tail, Version,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::tasks::peer::{CORE, MODERN, Peer, call, id_of};
use crate::tasks::tools::{Seen, server};

/// A store in memory that can be cut off.
#[derive(Default)]
struct Remote {
    store: MemoryStore,
    is_away: AtomicBool,
}

impl Remote {
    fn set_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::SeqCst);
    }

    /// The operation, unless the store is away when it begins.
    fn reach<'a, T: Send + 'a>(&'a self, operation: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        Box::pin(async move {
            if self.is_away.load(Ordering::SeqCst) {
                return pending().await;
            }
            operation.await
        })
    }
}

impl Store for Remote {
    fn get<'a>(&'a self, now: Moment, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        self.reach(self.store.get(now, key))
    }

    fn put<'a>(
        &'a self,
        now: Moment,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        self.reach(self.store.put(now, key, value, condition, expiry))
    }

    fn remove<'a>(
        &'a self,
        now: Moment,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        self.reach(self.store.remove(now, key, condition))
    }

    fn list<'a>(&'a self, now: Moment, prefix: &'a Prefix, page: Page) -> StoreFuture<'a, Listing> {
        self.reach(self.store.list(now, prefix, page))
    }

    fn append<'a>(
        &'a self,
        now: Moment,
        log: &'a Key,
        event: Bytes,
        expiry: Expiry,
    ) -> StoreFuture<'a, Position> {
        self.reach(self.store.append(now, log, event, expiry))
    }

    fn read<'a>(
        &'a self,
        now: Moment,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        self.reach(self.store.read(now, log, after, most))
    }

    fn forget<'a>(&'a self, now: Moment, log: &'a Key) -> StoreFuture<'a, bool> {
        self.reach(self.store.forget(now, log))
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        self.reach(self.store.changed(prefix))
    }
}

// hardening: H-180, H-194
#[tokio::test(start_paused = true)]
async fn requests_fail_in_time_while_the_store_is_away_and_go_on_when_it_is_back() {
    for revision in [CORE, MODERN] {
        let store = Arc::new(Remote::default());
        let shared = Arc::clone(&store) as Arc<dyn Store>;
        let mut peer = Peer::connect(server(&Seen::default()).store(shared), revision).await;
        let task = peer.start("wait", json!({ "seconds": 60 })).await;

        store.set_away(true);
        let mut new = call("must", json!({}));
        if revision == CORE {
            new["task"] = json!({});
        }
        for (method, params) in [
            ("tasks/get", id_of(&task)),
            ("tasks/cancel", id_of(&task)),
            ("tools/call", new.clone()),
        ] {
            let began = Instant::now();
            let error = peer.error(method, params).await;
            assert_eq!(error["code"], -32603, "{revision} {method}");
            assert_eq!(began.elapsed(), Duration::from_secs(5), "{method}");
        }
        let began = Instant::now();
        let plain = peer.request("tools/list", json!({})).await;
        assert!(plain["result"].is_object(), "{plain}");
        assert_eq!(began.elapsed(), Duration::ZERO);

        store.set_away(false);
        let status = |task: &Value| task["status"].clone();
        assert_eq!(status(&peer.look(&task).await), "working", "{revision}");
        assert_eq!(status(&peer.ended(&task).await), "completed", "{revision}");
        peer.start("must", json!({})).await;
    }
}
