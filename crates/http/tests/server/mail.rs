//! Messages of a client that belong to a call at another replica.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use bytes::Bytes;
use pintle_http::{HttpOptions, HttpService, ResponseBody};
use pintle_model::Error;
use pintle_proto::{IncomingNotice, Reply, ServerProfile};
use pintle_runtime::fleet::{Fleet, FleetOptions, JoinError};
use pintle_runtime::{
    BoxFuture, BoxService, Context, EngineHandle, ParamHeader, Principal, Service, SessionChange,
    SessionKey, SessionState, SharedSessions,
};
use pintle_store::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, MemoryStore, Namespace, Page,
    Position, Precondition, Prefix, Record, Retention, Retry, Store, StoreError, StoreFuture,
    StoreTime, Tail, Version,
};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tokio::time::{Instant, sleep, timeout};

use crate::common::{
    Ask, Counts, Demo, Endpoint, legacy, messages, open, open_speaking, piece, post,
};

/// Longer than the reading of the news without a wake-up.
pub(crate) const A_WHILE: Duration = Duration::from_secs(6);

/// A store in memory with a clock, so replicas share it.
pub(crate) struct Clocked {
    store: MemoryStore,
    begin: Instant,
    is_away: AtomicBool,
    /// Whether no log can be read.
    hides_logs: AtomicBool,
    /// The number of appends, also of those that fail.
    appends: AtomicUsize,
    /// The number of those to the logs of streams, which `appends` does not have.
    stream_appends: AtomicUsize,
    /// How long a replica waits for the position of a log.
    delay: Duration,
}

impl Clocked {
    fn new(delay: Duration) -> Self {
        Self {
            store: MemoryStore::default(),
            begin: Instant::now(),
            is_away: AtomicBool::new(false),
            hides_logs: AtomicBool::new(false),
            appends: AtomicUsize::new(0),
            stream_appends: AtomicUsize::new(0),
            delay,
        }
    }

    /// Fails all appends and readings of logs, or none.
    pub(crate) fn set_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::SeqCst);
        self.hides_logs.store(is_away, Ordering::SeqCst);
    }

    /// Drops the news.
    pub(crate) async fn lose_news(&self) {
        let namespace = Namespace::new("news").expect("a namespace");
        let news = Key::new(&namespace, "all").expect("a key");
        let now = self.time().await.expect("a time").expect("a clock");
        assert!(self.store.forget(now, &news).await.expect("in memory"));
    }

    /// The number of appends since the last call: to the logs of streams, and to others.
    pub(crate) fn take_appends(&self) -> (usize, usize) {
        let take = |appends: &AtomicUsize| appends.swap(0, Ordering::SeqCst);
        (take(&self.stream_appends), take(&self.appends))
    }
}

/// The sessions of one replica. An id is the content in hexadecimal digits, and the owner.
pub(crate) struct Open {
    store: Arc<dyn Store>,
    fleet: OnceCell<Fleet>,
    records: Arc<Records>,
}

/// The records of sessions, which all replicas share.
#[derive(Default)]
pub(crate) struct Records {
    states: Mutex<HashMap<u128, SessionState>>,
    operations: AtomicUsize,
    pub(crate) is_away: AtomicBool,
    /// Whether no reading ends.
    pub(crate) is_silent: AtomicBool,
}

impl Records {
    /// The number of operations since the last call.
    pub(crate) fn operations(&self) -> usize {
        self.operations.swap(0, Ordering::SeqCst)
    }

    /// Ends a session without a notice.
    pub(crate) fn end(&self, key: SessionKey) {
        let ended = self.with(0, key.number, SessionState::end);
        assert!(ended.expect("not away"), "once");
    }

    /// Loses all records.
    pub(crate) fn lose(&self) {
        self.states.lock().expect("no panic").clear();
    }

    fn with<T>(
        &self,
        operations: usize,
        number: u128,
        act: impl FnOnce(&mut SessionState) -> T,
    ) -> Result<T, StoreError> {
        self.operations.fetch_add(operations, Ordering::SeqCst);
        if self.is_away.load(Ordering::SeqCst) {
            return Err(StoreError::backend(Retry::Later, "away"));
        }
        let mut states = self.states.lock().expect("no panic");
        Ok(act(states.entry(number).or_default()))
    }
}

/// The end of an id, which only its owner knows.
fn suffix(owner: Option<&str>) -> String {
    owner.map_or_else(String::new, |owner| format!("-{owner}"))
}

impl SharedSessions for Open {
    fn seal(&self, owner: Option<&str>, content: &[u8]) -> Option<String> {
        let digits = content.iter().map(|byte| format!("{byte:02x}"));
        Some(digits.collect::<String>() + &suffix(owner))
    }

    fn open<'a>(&'a self, owner: Option<&'a str>, id: &'a str) -> BoxFuture<'a, Option<Vec<u8>>> {
        let content = id.strip_suffix(&suffix(owner)).and_then(|id| {
            let byte = |at: usize| u8::from_str_radix(id.get(at..at + 2)?, 16).ok();
            (0..id.len()).step_by(2).map(byte).collect()
        });
        Box::pin(async { content })
    }

    fn key(&self, number: u128, _idle: Duration) -> SessionKey {
        SessionKey {
            ttl_seconds: 3_600,
            ..SessionKey::unlimited(number)
        }
    }

    fn end(&self, key: SessionKey) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move { self.records.with(1, key.number, SessionState::end) })
    }

    fn state(&self, key: SessionKey) -> BoxFuture<'_, Result<SessionState, StoreError>> {
        Box::pin(async move {
            if self.records.is_silent.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            self.records.with(1, key.number, |state| state.clone())
        })
    }

    fn change<'a>(
        &'a self,
        key: SessionKey,
        change: &'a SessionChange,
    ) -> BoxFuture<'a, Result<SessionState, StoreError>> {
        let act = |state: &mut SessionState| {
            state.apply(change);
            state.clone()
        };
        Box::pin(async move { self.records.with(2, key.number, act) })
    }

    fn restore<'a>(
        &'a self,
        key: SessionKey,
        known: &'a SessionState,
    ) -> BoxFuture<'a, Result<SessionState, StoreError>> {
        let act = |state: &mut SessionState| {
            state.restore(known);
            state.clone()
        };
        Box::pin(async move { self.records.with(2, key.number, act) })
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

    fn attach(&self, engine: Weak<dyn EngineHandle>) {
        self.0.attach(engine);
    }

    fn shared_sessions(&self) -> Option<Arc<dyn SharedSessions>> {
        Some(Arc::clone(&self.1) as _)
    }
}

/// A replica of any service.
pub(crate) struct Replicated(BoxService, Arc<Open>);

/// The store and the records of all replicas.
pub(crate) struct SharedByReplicas {
    store: Arc<dyn Store>,
    records: Arc<Records>,
}

impl SharedByReplicas {
    /// Returns the same records with another way to the store.
    pub(crate) fn over(&self, store: Arc<dyn Store>) -> Self {
        let records = Arc::clone(&self.records);
        Self { store, records }
    }
}

impl Replicated {
    /// Returns a store that answers at once.
    pub(crate) fn shared() -> SharedByReplicas {
        SharedByReplicas {
            store: Arc::new(Clocked::new(Duration::ZERO)),
            records: Arc::default(),
        }
    }

    pub(crate) fn new(service: BoxService, shared: &SharedByReplicas) -> Self {
        let open = Open {
            store: Arc::clone(&shared.store),
            fleet: OnceCell::new(),
            records: Arc::clone(&shared.records),
        };
        Self(service, Arc::new(open))
    }
}

impl Service for Replicated {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        self.0.call(cx).await
    }

    fn profile(&self) -> Arc<ServerProfile> {
        self.0.profile()
    }

    fn notified(&self, notified: IncomingNotice) {
        self.0.notified(notified);
    }

    fn attach(&self, engine: Weak<dyn EngineHandle>) {
        self.0.attach(engine);
    }

    fn param_headers(&self, tool: &str, principal: Option<&Principal>) -> Arc<[ParamHeader]> {
        self.0.param_headers(tool, principal)
    }

    fn shared_sessions(&self) -> Option<Arc<dyn SharedSessions>> {
        Some(Arc::clone(&self.1) as _)
    }
}

/// Two replicas that know a session, and the calls of the first one.
async fn two() -> ([Endpoint; 2], String, Arc<Counts>) {
    let (replicas, id, calls, _) = replicas().await;
    (replicas, id, calls)
}

/// Replicas that know a session, the calls of the first one, and the records of sessions.
pub(crate) async fn replicas<const N: usize>() -> ([Endpoint; N], String, Arc<Counts>, Arc<Records>)
{
    replicas_after(A_WHILE).await
}

/// The same, as long after their start.
pub(crate) async fn replicas_after<const N: usize>(
    pause: Duration,
) -> ([Endpoint; N], String, Arc<Counts>, Arc<Records>) {
    let (endpoints, id, calls, records, _) = replicas_with_store(pause).await;
    (endpoints, id, calls, records)
}

/// Two replicas, and their store.
async fn with_store() -> ([Endpoint; 2], String, Arc<Counts>, Arc<Clocked>) {
    let (endpoints, id, calls, _, store) = replicas_with_store(A_WHILE).await;
    (endpoints, id, calls, store)
}

/// The replicas of a test, a session that all of them know, the calls of the first one, and their state.
pub(crate) type Known<const N: usize> = (
    [Endpoint; N],
    String,
    Arc<Counts>,
    Arc<Records>,
    Arc<Clocked>,
);

pub(crate) async fn replicas_with_store<const N: usize>(pause: Duration) -> Known<N> {
    replicas_speaking("2025-11-25", pause).await
}

/// The same, with a session of a revision.
pub(crate) async fn replicas_speaking<const N: usize>(revision: &str, pause: Duration) -> Known<N> {
    let clocked = Arc::new(Clocked::new(Duration::from_millis(100)));
    let store = Arc::clone(&clocked) as Arc<dyn Store>;
    let records = Arc::new(Records::default());
    let mut calls = Vec::new();
    let endpoints = [(); N].map(|()| {
        let (endpoint, counts) = replica(&store, &records);
        calls.push(counts);
        endpoint
    });
    let id = open_speaking(&endpoints[0], revision).await;
    for other in &endpoints[1..] {
        let known = legacy(0, "ping", json!({})).in_session(&id);
        assert_eq!(known.of(other).await.status(), 200);
    }
    sleep(pause).await;
    (endpoints, id, calls.swap_remove(0), records, clocked)
}

/// Reads a stream up to a question for roots.
pub(crate) async fn question(stream: &mut ResponseBody) -> Value {
    loop {
        let text = piece(stream).await.expect("a question");
        if let Some(question) = messages(&text).pop() {
            assert_eq!(question["method"], "roots/list");
            return question;
        }
    }
}

/// Sends a call that asks the client for its roots. Returns its stream, and the question.
async fn asked(endpoint: &Endpoint, id: &str) -> (ResponseBody, Value) {
    let mut stream = call("roots", id).of(endpoint).await.into_body();
    let question = question(&mut stream).await;
    (stream, question)
}

/// The answer of a client to a question for its roots.
fn answer_with(question: &Value, roots: Value, id: &str) -> Ask {
    let result = json!({ "roots": roots });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
    post(answer.to_string()).in_session(id)
}

/// Reads the text of the result that a stream ends with.
async fn result_text(stream: &mut ResponseBody) -> String {
    let text = timeout(A_WHILE, piece(stream)).await.expect("in time");
    let end = messages(&text.expect("the result")).pop().expect("one");
    let text = end["result"]["content"][0]["text"].as_str();
    text.expect("a text").to_owned()
}

fn replica(store: &Arc<dyn Store>, records: &Arc<Records>) -> (Endpoint, Arc<Counts>) {
    let demo = Demo::default();
    let calls = Arc::clone(&demo.calls);
    let open = Open {
        store: Arc::clone(store),
        fleet: OnceCell::new(),
        records: Arc::clone(records),
    };
    let service = BoxService::new(Replica(demo, Arc::new(open)));
    let endpoint = HttpService::new(service, HttpOptions::default());
    (endpoint.into(), calls)
}

pub(crate) fn call(tool: &str, id: &str) -> Ask {
    let params = json!({ "name": tool, "arguments": {} });
    legacy(7, "tools/call", params).in_session(id)
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_arrives_at_another_replica_reaches_its_question() {
    let ([first, second], id, _) = two().await;
    let (mut stream, question) = asked(&first, &id).await;
    let answer = answer_with(&question, json!([{ "uri": "file:///a" }]), &id);
    let accepted = answer.of(&second).await;
    assert_eq!(accepted.status(), 202);
    assert_eq!(result_text(&mut stream).await, "1 roots");
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_a_question_of_the_first_call_of_a_replica_is_not_missed() {
    let (replicas, id, ..) = replicas_after::<2>(Duration::ZERO).await;
    let [first, second] = replicas;
    let (mut stream, question) = asked(&first, &id).await;
    let accepted = answer_with(&question, json!([]), &id).of(&second).await;
    assert_eq!(accepted.status(), 202);
    assert_eq!(result_text(&mut stream).await, "0 roots");
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_accepted_when_the_replica_of_its_question_has_it() {
    let ([first, second], _, _, store) = with_store().await;
    // The first session of a replica began before it had a name.
    let id = open(&first).await;
    let (mut stream, question) = asked(&first, &id).await;
    let large = "x".repeat(64 << 10);
    let answer = |name: &str| {
        let roots = json!([{ "uri": "file:///a", "name": name }]);
        answer_with(&question, roots, &id)
    };
    store.is_away.store(true, Ordering::SeqCst);
    let refused = answer("a").of(&second).await;
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.headers()["retry-after"], "2");
    assert_eq!(answer(&large).of(&second).await.status(), 413);
    store.is_away.store(false, Ordering::SeqCst);
    let appends = store.appends.load(Ordering::SeqCst);
    // The other replica has not read it.
    store.hides_logs.store(true, Ordering::SeqCst);
    let refused = answer("a").of(&second).await;
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.headers()["retry-after"], "2");
    store.hides_logs.store(false, Ordering::SeqCst);
    sleep(A_WHILE).await;
    let appends = appends + 2;
    let all = store.appends.load(Ordering::SeqCst);
    assert_eq!(all, appends, "with a reply");
    for _ in 0..2 {
        assert_eq!(answer("a").of(&second).await.status(), 202);
    }
    assert_eq!(store.appends.load(Ordering::SeqCst), appends + 4);
    assert_eq!(result_text(&mut stream).await, "1 roots");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_arrives_at_the_replica_of_its_question_needs_no_store() {
    let ([first, _second], id, _, store) = with_store().await;
    let (mut stream, question) = asked(&first, &id).await;
    store.is_away.store(true, Ordering::SeqCst);
    let appends = store.appends.load(Ordering::SeqCst);
    let accepted = answer_with(&question, json!([]), &id).of(&first).await;
    assert_eq!(accepted.status(), 202);
    piece(&mut stream).await.expect("the result");
    assert_eq!(store.appends.load(Ordering::SeqCst), appends);
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
        if events.is_empty() {
            let append = self.store.append(now, log, events, tail, retention, expiry);
            return Box::pin(async {
                sleep(self.delay).await;
                append.await
            });
        }
        let appends = match log.namespace() {
            "stream" => &self.stream_appends,
            _ => &self.appends,
        };
        appends.fetch_add(1, Ordering::SeqCst);
        if self.is_away.load(Ordering::SeqCst) {
            return Box::pin(async { Err(StoreError::backend(Retry::Later, "away")) });
        }
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
        if self.hides_logs.load(Ordering::SeqCst) {
            return Box::pin(async { Err(StoreError::backend(Retry::Later, "away")) });
        }
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
