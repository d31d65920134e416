//! Connections that are replaced for their age.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pintle::client::{CallError, Client, EraMode, InProcess, Tcp};
use pintle::model::{CallToolResult, JsonObject, Revision, SubscriptionFilter};
use pintle::proto::Change;
use pintle::runtime::{Answer, IntoService};
use pintle::server::ServerHandle;
use pintle_proxy::{Proxy, ProxyOptions};
use serde_json::json;

use crate::server::{Counts, pairs, server, text};

const AGE: Duration = Duration::from_secs(60);
const DRAIN: Duration = Duration::from_secs(100);

/// A client of a proxy whose connections have an age, and the number of connections that were made.
struct Aged {
    client: Client,
    proxy: Proxy,
    made: Arc<AtomicUsize>,
    is_away: Arc<AtomicBool>,
    counts: Arc<Counts>,
    handle: ServerHandle,
}

impl Aged {
    async fn new((of_client, of_server): (Revision, Revision)) -> Self {
        let (server, counts, handle) = server();
        let app = server.into_service().expect("a valid server");
        let (made, is_away) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let (counted, away) = (Arc::clone(&made), Arc::clone(&is_away));
        let mut options = ProxyOptions::default();
        (options.max_connection_age, options.drain_timeout) = (Some(AGE), DRAIN);
        let proxy = Proxy::builder(move |client| {
            counted.fetch_add(1, Ordering::SeqCst);
            let client = client.mode(EraMode::Pinned(of_server));
            match away.load(Ordering::SeqCst) {
                true => client.connect_lazily(Tcp::new("127.0.0.1:1")),
                false => client.connect_lazily(InProcess::new(app.clone())),
            }
        });
        let proxy = proxy.options(options).connect().await.expect("a server");
        // Each answer takes most of the age of a connection.
        let client = Client::builder().on_elicit(|_| async {
            tokio::time::sleep(AGE * 3 / 4).await;
            let mut content = JsonObject::new();
            content.insert("seat".to_owned(), "1A".into());
            Answer::Accepted(content)
        });
        let client = client.mode(EraMode::Pinned(of_client));
        let client = client.connect(InProcess::new(proxy.clone())).await;
        Self {
            client: client.expect("a proxy"),
            proxy,
            made,
            is_away,
            counts,
            handle,
        }
    }

    fn made(&self) -> usize {
        self.made.load(Ordering::SeqCst)
    }

    async fn call(&self, tool: &str) -> Result<CallToolResult, CallError> {
        let call = self.client.call_tool(tool, ());
        call.timeout(10 * AGE).total_timeout(10 * AGE).await
    }

    async fn echoes(&self) -> bool {
        let echoed = self.client.call_tool("echo", json!({ "text": "hi" })).await;
        echoed.is_ok_and(|result| text(&result) == "hi")
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_and_its_subscriptions_outlive_an_old_connection() {
    for pair in pairs() {
        let aged = Aged::new(pair).await;
        let mut filter = SubscriptionFilter::new();
        filter.resource_subscriptions = Some(vec!["memo:///a".to_owned()]);
        let mut subscription = aged.client.listen(filter).await.expect("a subscription");
        assert!(aged.echoes().await, "{pair:?}");
        let (before, connections) = (aged.made(), aged.proxy.connections());
        tokio::time::sleep(AGE / 2).await;
        assert_eq!(aged.made(), before, "{pair:?}");
        tokio::time::sleep(AGE).await;
        assert_eq!(aged.made(), before + connections, "{pair:?}");
        assert_eq!(aged.proxy.connections(), connections, "{pair:?}");
        assert!(aged.echoes().await, "{pair:?}");
        aged.handle.changes().resource("memo:///a");
        let next = tokio::time::timeout(Duration::from_secs(5), subscription.next()).await;
        let updated = Change::Resource("memo:///a".to_owned());
        assert_eq!(next.expect("an update"), Some(updated), "{pair:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_on_its_old_connection() {
    for pair in pairs() {
        let aged = Aged::new(pair).await;
        let result = aged.call("book").await.expect("a result");
        assert_eq!(text(&result), "1A 1A", "{pair:?}");
        if pair.1 < Revision::LATEST {
            assert_eq!(aged.counts.bookings(), 1, "{pair:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_on_an_old_connection_is_cut_off_after_the_drain_timeout() {
    for pair in pairs() {
        let aged = Aged::new(pair).await;
        let start = tokio::time::Instant::now();
        let cut_off = aged.call("wait").await;
        assert!(cut_off.is_err(), "{pair:?}");
        let lived = start.elapsed();
        let slack = Duration::from_secs(5);
        assert!(lived > AGE + DRAIN - slack, "{pair:?} {lived:?}");
        assert!(lived < AGE + DRAIN + slack, "{pair:?} {lived:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_old_connection_without_a_successor_stays() {
    for pair in pairs() {
        let aged = Aged::new(pair).await;
        assert!(aged.echoes().await);
        aged.is_away.store(true, Ordering::SeqCst);
        let before = aged.made();
        tokio::time::sleep(AGE + Duration::from_secs(45)).await;
        assert_eq!(aged.made(), before + 2, "{pair:?}");
        assert!(aged.echoes().await, "{pair:?}");
        aged.is_away.store(false, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(45)).await;
        assert_eq!(aged.made(), before + 3, "{pair:?}");
        assert!(aged.echoes().await, "{pair:?}");
    }
}
