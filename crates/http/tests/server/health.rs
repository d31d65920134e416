//! Health of an endpoint: two paths, which answer in one word.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::{Method, Uri};
use http_body_util::BodyExt as _;
use pintle_http::{Health, HttpOptions, HttpService};
use pintle_model::Error;
use pintle_proto::{Reply, ServerProfile};
use pintle_runtime::{BoxFuture, Context, Service};

use super::port::Port;
use crate::common::Demo;

/// A service whose store may be away.
struct Stored(Demo, Arc<AtomicBool>);

impl Service for Stored {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        self.0.call(cx).await
    }

    fn profile(&self) -> Arc<ServerProfile> {
        self.0.profile()
    }

    fn is_ready(&self) -> BoxFuture<'_, bool> {
        Box::pin(async { !self.1.load(Ordering::SeqCst) })
    }
}

async fn check(health: &Health, path: &'static str) -> (u16, String) {
    let answer = health.answer(&Method::GET, &Uri::from_static(path)).await;
    let answer = answer.expect("a check");
    let status = answer.status().as_u16();
    assert_eq!(answer.headers()["cache-control"], "no-store");
    let body = answer.into_body().collect().await.expect("never fails");
    let text = String::from_utf8(body.to_bytes().to_vec());
    (status, text.expect("text"))
}

fn word(status: u16, word: &str) -> (u16, String) {
    (status, word.to_owned())
}

#[tokio::test]
async fn an_endpoint_is_ready_while_its_store_answers_and_it_does_not_drain() {
    let is_away = Arc::new(AtomicBool::new(false));
    let service = Stored(Demo::default(), Arc::clone(&is_away));
    let endpoint = HttpService::new(service, HttpOptions::default());
    let health = endpoint.health();
    assert_eq!(check(&health, "/readyz").await, word(200, "ready"));
    is_away.store(true, Ordering::SeqCst);
    assert_eq!(check(&health, "/readyz").await, word(503, "store"));
    assert_eq!(
        check(&health, "/readyz?exclude=store").await,
        word(200, "ready")
    );
    assert_eq!(check(&health, "/healthz").await, word(200, "ok"));
    is_away.store(false, Ordering::SeqCst);
    assert_eq!(check(&health, "/readyz").await, word(200, "ready"));
    endpoint.close();
    assert_eq!(check(&health, "/readyz").await, word(503, "draining"));
    assert_eq!(check(&health, "/healthz").await, word(200, "ok"));
}

#[tokio::test]
async fn a_request_that_is_not_a_check_has_no_answer_of_health() {
    let health = crate::common::endpoint().only().health();
    for (method, path) in [
        (Method::POST, "/readyz"),
        (Method::GET, "/mcp"),
        (Method::GET, "/readyz/"),
        (Method::GET, "/metrics"),
    ] {
        let answer = health.answer(&method, &Uri::from_static(path)).await;
        assert!(answer.is_none(), "{method} {path}");
    }
    let uri = Uri::from_static("/healthz");
    assert!(health.answer(&Method::HEAD, &uri).await.is_some());
}

#[tokio::test]
async fn a_port_answers_checks_for_every_host_only_if_the_option_is_set() {
    let mut options = HttpOptions::default();
    options.serve_health = true;
    let ports = [
        (Port::open_with(options).await, 200),
        (Port::open().await, 404),
    ];
    for (port, status) in ports {
        for path in ["/healthz", "/readyz"] {
            let request =
                format!("GET {path} HTTP/1.1\r\nhost: 10.0.0.1\r\nconnection: close\r\n\r\n");
            let came = port.send(request).await;
            assert_eq!(came.status, status, "{path} {came:?}");
            assert!(!came.head.contains("pintle"), "{came:?}");
        }
    }
}
