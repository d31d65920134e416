//! Messages of a client that belong to a call at another replica.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pintle_http::{HttpOptions, HttpService};
use pintle_model::Error;
use pintle_proto::{Reply, ServerProfile};
use pintle_runtime::fleet::{Fleet, FleetOptions, JoinError};
use pintle_runtime::{BoxFuture, BoxService, Context, Service, SharedSessions};
use pintle_store::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, MemoryStore, Page, Position,
    Precondition, Prefix, Record, Retention, Store, StoreError, StoreFuture, StoreTime, Tail,
    Version,
};
use serde_json::json;
use tokio::sync::OnceCell;
use tokio::time::{Instant, sleep, timeout};

use crate::common::{Ask, Counts, Demo, Endpoint, legacy, messages, open, piece, post};

/// Longer than the reading of the news without a wake-up.
const A_WHILE: Duration = Duration::from_secs(6);

/// A store in memory with a clock, so replicas share it.
struct Clocked {
    store: MemoryStore,
    begin: Instant,
}

/// The sessions of one replica. An id is the content in hexadecimal digits.
struct Open {
    store: Arc<dyn Store>,
    fleet: OnceCell<Fleet>,
}

impl SharedSessions for Open {
    fn seal(&self, _owner: Option<&str>, content: &[u8]) -> Option<String> {
        let digits = content.iter().map(|byte| format!("{byte:02x}"));
        Some(digits.collect())
    }

    fn open<'a>(&'a self, _owner: Option<&'a str>, id: &'a str) -> BoxFuture<'a, Option<Vec<u8>>> {
        let byte = |at: usize| u8::from_str_radix(id.get(at..at + 2)?, 16).ok();
        let content = (0..id.len()).step_by(2).map(byte).collect();
        Box::pin(async { content })
    }

    fn end(&self, _number: u128) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async { Ok(true) })
    }

    fn is_ended(&self, _number: u128) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async { Ok(false) })
    }

    fn fleet(&self) -> BoxFuture<'_, Result<Option<Fleet>, JoinError>> {
        let join = || Fleet::join(Arc::clone(&self.store), FleetOptions::default());
        Box::pin(async move { self.fleet.get_or_try_init(join).await.cloned().map(Some) })
    }
}

/// One replica of the service under test.
struct Replica(Demo, Arc<Open>);

impl Service for Replica {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        self.0.call(cx).await
    }

    fn profile(&self) -> Arc<ServerProfile> {
        self.0.profile()
    }

    fn shared_sessions(&self) -> Option<Arc<dyn SharedSessions>> {
        Some(Arc::clone(&self.1) as _)
    }
}

/// Two replicas that know a session, and the calls of the first one.
async fn two() -> ([Endpoint; 2], String, Arc<Counts>) {
    let store: Arc<dyn Store> = Arc::new(Clocked {
        store: MemoryStore::default(),
        begin: Instant::now(),
    });
    let (first, calls) = replica(&store);
    let (second, _) = replica(&store);
    let id = open(&first).await;
    let known = legacy(0, "ping", json!({})).in_session(&id);
    assert_eq!(known.of(&second).await.status(), 200);
    sleep(A_WHILE).await;
    ([first, second], id, calls)
}

fn replica(store: &Arc<dyn Store>) -> (Endpoint, Arc<Counts>) {
    let (demo, store) = (Demo::default(), Arc::clone(store));
    let calls = Arc::clone(&demo.calls);
    let fleet = OnceCell::new();
    let service = Replica(demo, Arc::new(Open { store, fleet }));
    let service = BoxService::new(service);
    (HttpService::new(service, HttpOptions::default()), calls)
}

fn call(tool: &str, id: &str) -> Ask {
    let params = json!({ "name": tool, "arguments": {} });
    legacy(7, "tools/call", params).in_session(id)
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_arrives_at_another_replica_reaches_its_question() {
    let ([first, second], id, _) = two().await;
    let mut stream = call("roots", &id).of(&first).await.into_body();
    let question = loop {
        let text = piece(&mut stream).await.expect("a question");
        if let Some(question) = messages(&text).pop() {
            break question;
        }
    };
    assert_eq!(question["method"], "roots/list");
    let roots = json!({ "roots": [{ "uri": "file:///a" }] });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": roots });
    let accepted = post(answer.to_string()).in_session(&id).of(&second).await;
    assert_eq!(accepted.status(), 202);
    let text = timeout(A_WHILE, piece(&mut stream)).await.expect("in time");
    let end = messages(&text.expect("the result")).pop().expect("one");
    assert_eq!(end["result"]["content"][0]["text"], "1 roots", "{end}");
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_that_arrives_at_another_replica_ends_the_call() {
    let ([first, second], id, calls) = two().await;
    let hanging = call("hang", &id);
    let hanging = tokio::spawn(async move { hanging.of(&first).await.status() });
    calls.until(|calls| calls.started() == 1).await;
    let params = json!({ "requestId": 7 });
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    let accepted = post(cancelled.to_string())
        .in_session(&id)
        .of(&second)
        .await;
    assert_eq!(accepted.status(), 202);
    let dropped = calls.until(|calls| calls.dropped() == 1);
    timeout(A_WHILE, dropped).await.expect("in time");
    drop(hanging);
}

#[tokio::test(start_paused = true)]
async fn a_message_for_another_session_ends_no_call() {
    let ([first, second], id, calls) = two().await;
    let other = open(&second).await;
    let hanging = call("hang", &id);
    let hanging = tokio::spawn(async move { hanging.of(&first).await.status() });
    calls.until(|calls| calls.started() == 1).await;
    let params = json!({ "requestId": 7 });
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    for session in [other.as_str(), "00"] {
        post(cancelled.to_string())
            .in_session(session)
            .of(&second)
            .await;
    }
    sleep(A_WHILE).await;
    assert_eq!(calls.dropped(), 0);
    hanging.abort();
}

impl Store for Clocked {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        self.store.get(now, key)
    }

    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        self.store.put(now, key, value, condition, expiry)
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        self.store.remove(now, key, condition)
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        self.store.list(now, prefix, page)
    }

    fn append<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        events: &'a [Bytes],
        tail: ExpectedTail,
        retention: Retention,
        expiry: Expiry,
    ) -> StoreFuture<'a, Position> {
        self.store.append(now, log, events, tail, retention, expiry)
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        self.store.add(now, key, amount, expiry)
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        self.store.read(now, log, after, most)
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        self.store.forget(now, log)
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        self.store.changed(prefix)
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        let passed = self.begin.elapsed();
        Box::pin(async move { Ok(Some(StoreTime::from_millis(1_700_000_000_000) + passed)) })
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        self.store.epoch(fresh)
    }

    fn capacity(&self) -> Capacity {
        self.store.capacity()
    }
}
