//! Replicas that share their sessions: each of them serves a session that another one opened.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use http::StatusCode;
use pintle_http::{HttpOptions, HttpService};
use pintle_model::Error;
use pintle_proto::{Reply, ServerProfile};
use pintle_runtime::{
    BoxFuture, BoxService, Context, EngineHandle, Principal, Service, SessionChange, SessionKey,
    SessionState, SharedSessions,
};
use pintle_store::{Retry, StoreError};
use serde_json::json;
use tokio::time::advance;

use crate::common::{Ask, Demo, Endpoint, ask, get, initialize, legacy, notice, open, piece};

/// The interval in which a replica notices the end of a session.
const INTERVAL: Duration = Duration::from_secs(5);

/// The state that the replicas share. An id is the place of its content.
#[derive(Default)]
struct Shared {
    sealed: Mutex<Vec<(Option<String>, Vec<u8>)>>,
    ended: Mutex<HashSet<u128>>,
    reads: AtomicUsize,
    is_away: AtomicBool,
}

impl Shared {
    fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    fn check(&self) -> Result<(), StoreError> {
        match self.is_away.load(Ordering::SeqCst) {
            true => Err(StoreError::backend(Retry::Later, "away")),
            false => Ok(()),
        }
    }
}

impl SharedSessions for Shared {
    fn seal(&self, owner: Option<&str>, content: &[u8]) -> Option<String> {
        let mut sealed = self.sealed.lock().expect("no panic");
        sealed.push((owner.map(str::to_owned), content.to_owned()));
        Some(format!("sealed.{}", sealed.len() - 1))
    }

    fn open<'a>(&'a self, owner: Option<&'a str>, id: &'a str) -> BoxFuture<'a, Option<Vec<u8>>> {
        Box::pin(async move {
            let place: usize = id.strip_prefix("sealed.")?.parse().ok()?;
            let sealed = self.sealed.lock().expect("no panic");
            let (of, content) = sealed.get(place)?;
            (of.as_deref() == owner).then(|| content.clone())
        })
    }

    fn end(&self, key: SessionKey) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            self.check()?;
            Ok(self.ended.lock().expect("no panic").insert(key.number))
        })
    }

    fn state(&self, key: SessionKey) -> BoxFuture<'_, Result<SessionState, StoreError>> {
        Box::pin(async move {
            self.reads.fetch_add(1, Ordering::SeqCst);
            self.check()?;
            let mut state = SessionState::default();
            state.is_ended = self.ended.lock().expect("no panic").contains(&key.number);
            Ok(state)
        })
    }

    fn change<'a>(
        &'a self,
        key: SessionKey,
        _change: &'a SessionChange,
    ) -> BoxFuture<'a, Result<SessionState, StoreError>> {
        self.state(key)
    }
}

/// One replica of the service under test.
struct Replica(Demo, Arc<Shared>);

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

fn replica_with(shared: &Arc<Shared>, options: HttpOptions) -> Endpoint {
    let replica = Replica(Demo::default(), Arc::clone(shared));
    HttpService::new(BoxService::new(replica), options).into()
}

fn replica(shared: &Arc<Shared>) -> Endpoint {
    replica_with(shared, HttpOptions::default())
}

fn list(id: &str) -> Ask {
    legacy(1, "tools/list", json!({})).in_session(id)
}

fn end(id: &str) -> Ask {
    ask("DELETE").in_session(id)
}

async fn status(ask: Ask, endpoint: &Endpoint) -> u16 {
    ask.of(endpoint).await.status().as_u16()
}

#[tokio::test(start_paused = true)]
async fn each_replica_serves_a_session_of_another_one() {
    let shared = Arc::new(Shared::default());
    let [first, second, third] = [(); 3].map(|()| replica(&shared));
    let id = open(&first).await;
    let echo = json!({ "name": "echo", "arguments": { "x": 1 } });
    for replica in [&second, &third, &first, &second, &third] {
        let (code, answer) = list(&id).json(replica).await;
        assert_eq!((code, &answer["result"]), (200, &json!({ "tools": [] })));
        let ping = legacy(2, "ping", json!({})).in_session(&id);
        assert_eq!(status(ping, replica).await, 200);
        let call = legacy(3, "tools/call", echo.clone()).in_session(&id);
        let (code, answer) = call.json(replica).await;
        assert_eq!(code, 200);
        assert_eq!(answer["result"]["content"][0]["text"], r#"{"x":1}"#);
    }
    assert_eq!(
        shared.reads(),
        2,
        "one at the first request of each other replica"
    );
}

#[tokio::test(start_paused = true)]
async fn a_handshake_is_confirmed_at_another_replica() {
    let shared = Arc::new(Shared::default());
    let [first, second] = [(); 2].map(|()| replica(&shared));
    let opened = initialize("2025-06-18").of(&first).await;
    let id = opened.headers()["mcp-session-id"].to_str().expect("text");
    let confirmed = notice("notifications/initialized").in_session(id);
    assert_eq!(status(confirmed, &second).await, 202);
    advance(Duration::from_secs(120)).await;
    assert_eq!(status(list(id), &first).await, 200);
}

#[tokio::test(start_paused = true)]
async fn a_forged_id_and_one_of_another_principal_do_not_exist() {
    let shared = Arc::new(Shared::default());
    let [first, second] = [(); 2].map(|()| replica(&shared));
    let id = open(&first).await;
    let number = "0123456789abcdef0123456789abcdef";
    for forged in ["sealed.9", "x", number] {
        assert_eq!(status(list(forged), &second).await, 404, "{forged}");
        assert_eq!(status(end(forged), &second).await, 404, "{forged}");
    }
    for replica in [&first, &second] {
        let mut request = list(&id).request();
        request
            .extensions_mut()
            .insert(Principal::new("bob", ["read"]));
        let answer = replica.clone().call(request).await;
        assert_eq!(answer.status(), 404);
    }
    assert_eq!(shared.reads(), 0, "no one else causes an operation");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_at_one_replica_ends_at_all_within_5_seconds() {
    let shared = Arc::new(Shared::default());
    let [first, second, third] = [(); 3].map(|()| replica(&shared));
    let id = open(&first).await;
    assert_eq!(status(list(&id), &second).await, 200);
    assert_eq!(status(end(&id), &second).await, 200);
    assert_eq!(status(list(&id), &second).await, 404);
    assert_eq!(status(list(&id), &third).await, 404, "not seen before");
    advance(INTERVAL).await;
    assert_eq!(status(list(&id), &first).await, 404);
    assert_eq!(status(end(&id), &first).await, 404);
}

// Operations of the store by kind of request: a budget that does not depend on the machine.
#[tokio::test(start_paused = true)]
async fn a_busy_session_reads_the_store_once_in_5_seconds() {
    let shared = Arc::new(Shared::default());
    let endpoint = replica(&shared);
    let id = open(&endpoint).await;
    for second in 0..20 {
        for _ in 0..3 {
            assert_eq!(status(list(&id), &endpoint).await, 200);
        }
        assert_eq!(shared.reads(), second / 5, "after {second} s");
        advance(Duration::from_secs(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_at_two_replicas_ends_once() {
    let shared = Arc::new(Shared::default());
    let [first, second] = [(); 2].map(|()| replica(&shared));
    let id = open(&first).await;
    assert_eq!(status(list(&id), &second).await, 200);
    assert_eq!(status(end(&id), &first).await, 200);
    assert_eq!(status(end(&id), &second).await, 404);
}

#[tokio::test(start_paused = true)]
async fn without_the_store_sessions_continue_and_do_not_end() {
    let shared = Arc::new(Shared::default());
    let [first, second] = [(); 2].map(|()| replica(&shared));
    let id = open(&first).await;
    shared.is_away.store(true, Ordering::SeqCst);
    advance(INTERVAL).await;
    assert_eq!(status(list(&id), &first).await, 200);
    assert_eq!(status(list(&id), &second).await, 200);
    let refused = end(&id).of(&second).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers()["retry-after"], "2");
    shared.is_away.store(false, Ordering::SeqCst);
    assert_eq!(status(end(&id), &second).await, 200);
}

#[tokio::test(start_paused = true)]
async fn without_the_store_sessions_are_served_for_5_minutes() {
    let shared = Arc::new(Shared::default());
    let [first, second] = [(); 2].map(|()| replica(&shared));
    let id = open(&first).await;
    shared.is_away.store(true, Ordering::SeqCst);
    // The time begins with the first reading that fails, and not with the last one that succeeded.
    advance(Duration::from_secs(1_000)).await;
    for endpoint in [&first, &second] {
        assert_eq!(status(list(&id), endpoint).await, 200);
    }
    advance(Duration::from_secs(299)).await;
    for endpoint in [&first, &second] {
        assert_eq!(status(list(&id), endpoint).await, 200);
    }
    advance(Duration::from_secs(1)).await;
    for endpoint in [&first, &second] {
        let refused = list(&id).of(endpoint).await;
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(refused.headers()["retry-after"], "2");
    }
    assert_eq!(status(initialize("2025-11-25"), &second).await, 200);
    shared.is_away.store(false, Ordering::SeqCst);
    for endpoint in [&first, &second] {
        assert_eq!(status(list(&id), endpoint).await, 200);
    }
}

#[tokio::test(start_paused = true)]
async fn with_no_offline_time_sessions_need_the_store() {
    let shared = Arc::new(Shared::default());
    let mut options = HttpOptions::default();
    options.limits.offline_session_ttl = Duration::ZERO;
    let (first, second) = (replica(&shared), replica_with(&shared, options));
    let id = open(&first).await;
    shared.is_away.store(true, Ordering::SeqCst);
    assert_eq!(status(list(&id), &second).await, 503);
    assert_eq!(status(list(&id), &first).await, 200);
}

// hardening: H-17
#[tokio::test(start_paused = true)]
async fn a_replica_creates_no_part_beyond_its_limit_of_sessions() {
    let shared = Arc::new(Shared::default());
    let mut options = HttpOptions::default();
    options.limits.max_sessions = 1;
    let (first, full) = (replica(&shared), replica_with(&shared, options));
    let known = open(&full).await;
    let other = open(&first).await;
    let refused = list(&other).of(&full).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(status(list(&known), &full).await, 200);
}

#[tokio::test(start_paused = true)]
async fn a_part_that_was_idle_for_too_long_is_created_again() {
    let shared = Arc::new(Shared::default());
    let endpoint = replica(&shared);
    let id = open(&endpoint).await;
    let idle = HttpOptions::default().limits.session_idle_timeout;
    advance(idle * 2).await;
    assert_eq!(status(list(&id), &endpoint).await, 200);
}

#[tokio::test(start_paused = true)]
async fn without_a_fleet_an_event_id_of_another_replica_is_refused() {
    let shared = Arc::new(Shared::default());
    let [first, second] = [(); 2].map(|()| replica(&shared));
    let id = open(&first).await;
    let mut bodies = Vec::new();
    for replica in [&first, &second] {
        let stream = get().in_session(&id).of(replica).await;
        assert_eq!(stream.status(), StatusCode::OK);
        bodies.push(stream.into_body());
    }
    let text = piece(&mut bodies[0]).await.expect("an event");
    let event = text.lines().find_map(|line| line.strip_prefix("id: "));
    let event = event.expect("an event id");
    let resumed = get().in_session(&id).with("last-event-id", event);
    assert_eq!(status(resumed.clone(), &second).await, 400);
    assert_eq!(status(resumed, &first).await, 200);
}
