//! The proxy over HTTP, with sessions and without.

use std::sync::Arc;
use std::time::Duration;

use pintle::client::{Client, EraMode};
use pintle::http::{HttpServer, ServeHttp};
use pintle::model::{JsonObject, Revision};
use pintle::runtime::Answer;
use pintle_proxy::Proxy;
use serde_json::json;

use crate::server::{Counts, answering, pairs, server, text};

/// Serves a proxy of a server over HTTP, and returns its URL.
async fn serve(of_server: Revision) -> (String, Proxy, Arc<Counts>) {
    let (server, counts, _) = server();
    let behind = HttpServer::bind(server.into_http().expect("an endpoint"), "127.0.0.1:0").await;
    let behind = behind.expect("a port");
    let url = format!("http://{}/mcp", behind.address().expect("an address"));
    tokio::spawn(behind.run());
    let proxy = Proxy::connect(move |client| {
        client
            .mode(EraMode::Pinned(of_server))
            .connect_lazily(&*url)
    });
    let proxy = proxy.await.expect("a server");
    let front = HttpServer::bind(
        proxy.clone().into_http().expect("an endpoint"),
        "127.0.0.1:0",
    )
    .await;
    let front = front.expect("a port");
    let url = format!("http://{}/mcp", front.address().expect("an address"));
    tokio::spawn(front.run());
    (url, proxy, counts)
}

#[tokio::test]
async fn questions_pass_through_over_http() {
    for pair in pairs() {
        let (url, _, counts) = serve(pair.1).await;
        let client = answering().mode(EraMode::Pinned(pair.0));
        let client = client.connect(&*url).await.expect("a proxy");
        let result = client.call_tool("book", ()).await.expect("a result");
        assert_eq!(text(&result), "1A 2A", "{pair:?}");
        if pair.1 < Revision::LATEST {
            assert_eq!(counts.bookings(), 1, "{pair:?}");
        }
        let result = client.call_tool("echo", json!({ "text": "hi" })).await;
        assert_eq!(text(&result.expect("a result")), "hi");
    }
}

/// Books seats as a client that always answers with the same one.
async fn book(url: String, seat: &'static str) -> String {
    let client = Client::builder().on_elicit(move |_| {
        let mut content = JsonObject::new();
        content.insert("seat".to_owned(), seat.into());
        async move {
            tokio::task::yield_now().await;
            Answer::Accepted(content)
        }
    });
    let client = client.mode(EraMode::Pinned(Revision::LATEST));
    let client = client.connect(&*url).await.expect("a proxy");
    text(&client.call_tool("book", ()).await.expect("a result"))
}

#[tokio::test]
async fn clients_without_sessions_receive_their_own_questions() {
    let (url, _, counts) = serve(Revision::LATEST_LEGACY).await;
    let booked = tokio::join!(
        book(url.clone(), "1A"),
        book(url.clone(), "2B"),
        book(url.clone(), "3C")
    );
    let expected = ("1A 1A", "2B 2B", "3C 3C");
    assert_eq!((&*booked.0, &*booked.1, &*booked.2), expected);
    assert_eq!(counts.bookings(), 3);
}

#[tokio::test]
async fn a_connection_without_a_session_is_closed_when_it_is_idle() {
    let (url, proxy, _) = serve(Revision::LATEST_LEGACY).await;
    assert_eq!(book(url, "1A").await, "1A 1A");
    assert_eq!(proxy.connections(), 1);
    tokio::time::pause();
    tokio::time::sleep(Duration::from_secs(200)).await;
    assert_eq!(proxy.connections(), 1);
    tokio::time::sleep(Duration::from_secs(200)).await;
    assert_eq!(proxy.connections(), 0);
}
