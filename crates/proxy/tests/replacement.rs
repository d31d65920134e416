//! Connections that are replaced under their clients, and connections that all clients share.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle::client::{Client, EraMode, InProcess, Tcp};
use pintle::model::{Revision, SubscriptionFilter};
use pintle::proto::Change;
use pintle::runtime::{BoxConnect, IntoService};
use pintle_proxy::{Proxy, ProxyError, ProxyOptions};

use crate::server::{Chain, Counts, answering, chain_with, pairs, server, text};

/// A proxy whose server can be another one later, and its client.
struct Replaceable {
    proxy: Proxy,
    client: Client,
    current: Arc<Mutex<Option<BoxConnect>>>,
    of_server: Revision,
}

fn target() -> (BoxConnect, Arc<Counts>) {
    let (server, counts, _) = server();
    let app = server.into_service().expect("a valid server");
    (BoxConnect::new(InProcess::new(app)), counts)
}

impl Replaceable {
    async fn new((of_client, of_server): (Revision, Revision)) -> (Self, Arc<Counts>) {
        let (first, counts) = target();
        let current = Arc::new(Mutex::new(Some(first)));
        let served = Arc::clone(&current);
        let proxy = Proxy::connect(move |client| {
            let client = client.mode(EraMode::Pinned(of_server));
            match served.lock().expect("no panic").clone() {
                Some(target) => client.connect_lazily(target),
                None => client.connect_lazily(Tcp::new("127.0.0.1:1")),
            }
        });
        let proxy = proxy.await.expect("a server");
        let client = answering().mode(EraMode::Pinned(of_client));
        let client = client.connect(InProcess::new(proxy.clone())).await;
        let client = client.expect("a proxy");
        let all = Self {
            proxy,
            client,
            current,
            of_server,
        };
        (all, counts)
    }

    fn set(&self, target: Option<BoxConnect>) {
        *self.current.lock().expect("no panic") = target;
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_outlives_the_replacement_of_its_server() {
    for pair in pairs() {
        let (all, first) = Replaceable::new(pair).await;
        all.client.call_tool("book", ()).await.expect("a result");
        let (second_target, second) = target();
        all.set(Some(second_target));
        all.proxy.replace().await.expect("a replacement");
        all.client.call_tool("book", ()).await.expect("a result");
        assert!(first.bookings() > 0 && second.bookings() > 0, "{pair:?}");
        if all.of_server < Revision::LATEST {
            assert_eq!((first.bookings(), second.bookings()), (1, 1));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn clients_are_notified_of_a_replacement_and_of_later_changes() {
    for pair in pairs() {
        let (all, _) = Replaceable::new(pair).await;
        let mut filter = SubscriptionFilter::new();
        filter.tools_list_changed = Some(true);
        filter.resource_subscriptions = Some(vec!["memo:///a".to_owned()]);
        let mut subscription = all.client.listen(filter).await.expect("a subscription");
        tokio::time::sleep(Duration::from_millis(100)).await;
        let (server, _, handle) = server();
        let app = server.into_service().expect("a valid server");
        all.set(Some(BoxConnect::new(InProcess::new(app))));
        all.proxy.replace().await.expect("a replacement");
        let next = tokio::time::timeout(Duration::from_secs(5), subscription.next());
        let next = next.await.unwrap_or_else(|_| panic!("no change {pair:?}"));
        assert_eq!(next, Some(Change::Tools), "{pair:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
        handle.changes().resource("memo:///a");
        let next = tokio::time::timeout(Duration::from_secs(5), subscription.next());
        let updated = Change::Resource("memo:///a".to_owned());
        assert_eq!(
            next.await.unwrap_or_else(|_| panic!("no update {pair:?}")),
            Some(updated)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_running_call_ends_on_the_earlier_server() {
    for pair in pairs() {
        let (all, first) = Replaceable::new(pair).await;
        let client = all.client.clone();
        let call = tokio::spawn(async move { client.call_tool("count", ()).await });
        tokio::time::sleep(Duration::from_millis(5)).await;
        let (second_target, _) = target();
        all.set(Some(second_target));
        all.proxy.replace().await.expect("a replacement");
        assert_eq!(
            text(&call.await.expect("no panic").expect("a result")),
            "done"
        );
        // The next replacement does not wait for a call that never ends.
        let client = all.client.clone();
        let call = tokio::spawn(async move { client.call_tool("wait", ()).await });
        tokio::time::sleep(Duration::from_millis(5)).await;
        for _ in 0..2 {
            all.set(Some(target().0));
            all.proxy.replace().await.expect("a replacement");
        }
        let cut_off = call.await.expect("no panic");
        assert!(cut_off.is_err(), "{pair:?}");
        drop(first);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_cannot_be_reached_replaces_nothing() {
    for pair in pairs() {
        let (all, first) = Replaceable::new(pair).await;
        all.client.call_tool("book", ()).await.expect("a result");
        let before = first.bookings();
        all.set(None);
        let failed = all.proxy.replace().await;
        assert!(matches!(failed, Err(ProxyError::Connect(_))), "{failed:?}");
        all.client.call_tool("book", ()).await.expect("a result");
        assert!(first.bookings() > before, "{pair:?}");
    }
}

async fn shared(pair: (Revision, Revision)) -> (Chain, Client) {
    let mut options = ProxyOptions::default();
    options.is_shared = true;
    let chain = chain_with(answering(), pair, options).await;
    let other = chain.another_client().await;
    (chain, other)
}

#[tokio::test(start_paused = true)]
async fn all_clients_of_a_shared_server_have_one_connection() {
    for pair in pairs() {
        let (chain, other) = shared(pair).await;
        for client in [&chain.client, &other] {
            let read = client.read_resource("memo:///a").await;
            assert!(read.is_ok(), "{pair:?}");
        }
        assert_eq!(chain.proxy.connections(), 1, "{pair:?}");
        assert_eq!(chain.proxy.clients(), 2, "{pair:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_shared_server_asks_only_where_requests_state_capabilities() {
    for pair in pairs() {
        let (chain, other) = shared(pair).await;
        let asked = chain.client.call_tool("book", ()).await;
        let is_asked = asked.as_ref().is_ok_and(|result| !result.has_failed());
        assert_eq!(is_asked, pair.1 >= Revision::LATEST, "{pair:?}");
        // This client has no capabilities.
        let refused = other.call_tool("book", ()).await;
        assert!(
            !refused.is_ok_and(|result| !result.has_failed()),
            "{pair:?}"
        );
        assert_eq!(chain.proxy.connections(), 1, "{pair:?}");
    }
}
