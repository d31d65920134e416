//! The page beside a server in development.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pintle_runtime::sync::Mutex;
use pintle_runtime::{IntoService as _, Service as _};
use pintle_server::{Server, Tool};
use pintle_web::Inspect as _;
use serde_json::json;

use crate::browser::Browser;

/// A server with one tool, and the number of its ends.
fn server(ends: &Arc<AtomicU32>) -> Server {
    let ends = Arc::clone(ends);
    let tool = Tool::new("greet").handler(async || "hello");
    let stop = move || async move {
        ends.fetch_add(1, Ordering::SeqCst);
    };
    Server::new("beside", "1.0.0").add_tool(tool).on_stop(stop)
}

#[tokio::test]
async fn the_page_is_served_while_the_server_runs() {
    let (ends, url) = (Arc::default(), Arc::new(Mutex::new(None)));
    let opened = Arc::clone(&url);
    let inspected = server(&ends).inspector();
    let inspected = inspected.on_open(move |url| *opened.lock() = Some(url.to_owned()));
    let service = inspected.into_service().expect("a server");
    assert_eq!(*url.lock(), None, "a server that does not run has no page");

    // A program starts its server before the transport does, which starts it again.
    service.start().await.expect("starts");
    service.start().await.expect("starts");
    let url = url.lock().take().expect("a page");
    let browser = Browser::at(&url);
    assert!(browser.address.ip().is_loopback(), "{url}");
    let connected = browser.post("connect", json!({ "target": "beside" })).await;
    assert_eq!(
        connected["server"]["identity"]["name"], "beside",
        "{connected}"
    );
    let call = json!({ "op": 1, "name": "greet" });
    let called = browser.post("call", call).await;
    assert_eq!(called["result"]["content"][0]["text"], "hello", "{called}");
    let foreign = [("Host", browser.address.to_string())];
    let status = browser
        .send("POST", "/api/state", &foreign, "{}")
        .await
        .status;
    assert_eq!(status, 403, "the rules of the page apply");

    service.stop().await;
    assert!(browser.post("state", json!({})).await["connection"].is_object());
    service.stop().await;
    let refused = tokio::net::TcpStream::connect(browser.address).await;
    assert!(refused.is_err(), "the page ends with the server");
    assert_eq!(
        ends.load(Ordering::SeqCst),
        1,
        "the hook of the server has run"
    );
}

#[tokio::test]
async fn a_server_runs_without_its_page_if_the_port_is_taken() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("listens");
    let port = taken.local_addr().expect("an address").port();
    let inspected = server(&Arc::default()).inspector().port(port);
    let service = inspected
        .on_open(|url| panic!("{url}"))
        .into_service()
        .expect("a server");
    service.start().await.expect("starts");
    assert_eq!(service.profile().identity().name, "beside");
    service.stop().await;
}
