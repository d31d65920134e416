//! The steps of joining, and the clock of the store.

use std::sync::Arc;
use std::time::Duration;

use pintle_runtime::fleet::{Fleet, FleetOptions, JoinError, JoinStep, ServerName};
use pintle_store::{Expiry, Key, MemoryStore, Namespace, Precondition, Store, StoreTime};
use tokio::time::{Instant, sleep};

use super::link::{Fault, Host};
use super::{Replica, seconds};

fn of_server(name: &str, version: &str) -> FleetOptions {
    let mut options = FleetOptions::default();
    options.server = Some(ServerName::new(name, version));
    options
}

async fn error(host: &Arc<Host>, options: FleetOptions) -> JoinError {
    Fleet::join(host.link(), options)
        .await
        .expect_err("the replica does not join")
}

/// Writes the record of the server.
async fn write_server(host: &Arc<Host>, text: &'static str) {
    let key = Key::new(&Namespace::fixed("system"), "server").expect("a key");
    let (value, any) = (text.as_bytes().into(), Precondition::Any);
    let content = host.content();
    let put = content.put(host.now(), &key, value, any, Expiry::Never);
    put.await.expect("the store has room");
}

#[tokio::test(start_paused = true)]
async fn a_store_belongs_to_one_server() {
    let host = Host::new();
    let _old = Replica::join_with(&host, of_server("harbour", "1.4.0")).await;
    let _new = Replica::join_with(&host, of_server("harbour", "1.5.0")).await;
    let error = error(&host, of_server("airport", "1.4.0")).await;
    assert_eq!(
        error.to_string(),
        r#"the store belongs to the server "harbour", not to "airport"; use another prefix"#
    );
    assert!(matches!(error, JoinError::OtherServer { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_server_is_claimed_after_the_replica_has_joined() {
    let host = Host::new();
    let [a, b] = [Replica::join(&host).await, Replica::join(&host).await];
    let server = |name| ServerName::new(name, "1");
    a.fleet.claim_server(server("harbour")).await.expect("free");
    b.fleet.claim_server(server("harbour")).await.expect("same");
    let refused = b.fleet.claim_server(server("airport")).await;
    assert!(matches!(refused, Err(JoinError::OtherServer { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_store_of_one_process_belongs_to_one_server() {
    let store = Arc::<MemoryStore>::default();
    let options = of_server("harbour", "1");
    let first = Fleet::join(Arc::clone(&store) as _, options).await;
    let refused = Fleet::join(store, of_server("airport", "1")).await;
    assert!(first.is_ok());
    assert!(matches!(refused, Err(JoinError::OtherServer { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_record_of_a_newer_layout_is_refused() {
    let host = Host::new();
    write_server(&host, r#"{"schema":2,"servers":["harbour"]}"#).await;
    let refused = error(&host, of_server("harbour", "1")).await;
    let JoinError::OtherLayout { found, supported } = refused else {
        panic!("{refused}");
    };
    assert_eq!((found, supported), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_damaged_record_of_the_server_is_refused() {
    let host = Host::new();
    write_server(&host, "{").await;
    let refused = error(&host, of_server("harbour", "1")).await;
    assert!(matches!(refused, JoinError::Damaged), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn joining_a_silent_store_times_out_and_names_the_step() {
    let (host, start) = (Host::new(), Instant::now());
    let link = host.link();
    link.set(Fault::Silent);
    let refused = Fleet::join(link, FleetOptions::default()).await;
    let step = JoinStep::Clock;
    assert!(matches!(refused, Err(JoinError::TimedOut { step: it }) if it == step));
    assert_eq!(start.elapsed(), seconds(10));
}

#[tokio::test(start_paused = true)]
async fn joining_a_store_that_refuses_fails_at_once_and_names_the_step() {
    let (host, start) = (Host::new(), Instant::now());
    let link = host.link();
    link.set(Fault::Refused);
    let refused = Fleet::join(link, FleetOptions::default()).await;
    let text = refused.expect_err("refused").to_string();
    assert_eq!(text, "cannot read the clock of the store");
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_slow_store_can_be_joined_within_the_join_timeout() {
    let host = Host::new();
    let link = host.link();
    link.set(Fault::Slow(seconds(1), Duration::from_millis(200)));
    let joined = Fleet::join(link, FleetOptions::default()).await;
    assert!(joined.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_replica_beyond_the_maximum_number_cannot_join() {
    let host = Host::new();
    let mut options = FleetOptions::default();
    options.max_replicas = 2;
    let a = Replica::join_with(&host, options.clone()).await;
    let _b = Replica::join_with(&host, options.clone()).await;
    let refused = error(&host, options.clone()).await;
    assert!(matches!(refused, JoinError::TooManyReplicas { limit: 2 }));
    a.fleet.leave().await;
    Replica::join_with(&host, options).await;
}

/// The difference of two times, in milliseconds.
fn between(one: StoreTime, other: StoreTime) -> u64 {
    one.as_millis().abs_diff(other.as_millis())
}

#[tokio::test(start_paused = true)]
async fn replicas_use_the_clock_of_the_store_and_not_their_wall_clocks() {
    let host = Host::new();
    let [a, b] = [host.link(), host.link()];
    a.set(Fault::Slow(
        Duration::from_millis(2),
        Duration::from_millis(4),
    ));
    b.set(Fault::Slow(Duration::from_millis(80), Duration::ZERO));
    let [a, b] = [a, b].map(|link| Fleet::join(link, FleetOptions::default()));
    let [a, b] = [a.await.expect("joins"), b.await.expect("joins")];
    for _ in 0..20 {
        assert!(between(a.now(), host.now()) <= 3);
        assert!(between(b.now(), host.now()) <= 40);
        sleep(seconds(7)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_replica_follows_the_clock_of_the_store_when_it_is_set() {
    let host = Host::new();
    let a = Replica::join(&host).await;
    host.set_ahead(seconds(3_600));
    assert_eq!(between(a.fleet.now(), host.now()), 3_600_000);
    sleep(seconds(31)).await;
    assert!(between(a.fleet.now(), host.now()) <= 1);
    sleep(seconds(3)).await;
    assert!(a.fleet.is_current());
}
