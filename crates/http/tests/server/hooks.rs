//! Hooks before the first request of a server and after its last.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pintle_http::{HttpOptions, HttpServer, HttpService, ServeError};
use pintle_model::Error;
use pintle_proto::{Reply, ServerProfile};
use pintle_runtime::{BoxFuture, BoxService, Context, Service, StartHookError};

use crate::common::Demo;

/// A service that counts its starts and stops, and may fail to start.
#[derive(Default)]
struct Hooked {
    demo: Demo,
    fails: bool,
    counts: Arc<(AtomicUsize, AtomicUsize)>,
}

impl Service for Hooked {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        self.demo.call(cx).await
    }

    fn profile(&self) -> Arc<ServerProfile> {
        self.demo.profile()
    }

    fn start(&self) -> BoxFuture<'_, Result<(), StartHookError>> {
        self.counts.0.fetch_add(1, Ordering::SeqCst);
        let failure = self.fails.then(|| StartHookError::new("no database"));
        Box::pin(ready(failure.map_or(Ok(()), Err)))
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        self.counts.1.fetch_add(1, Ordering::SeqCst);
        Box::pin(ready(()))
    }
}

#[tokio::test]
async fn a_server_starts_before_it_serves_and_stops_after() {
    let service = Hooked::default();
    let counts = Arc::clone(&service.counts);
    let counted = || {
        (
            counts.0.load(Ordering::SeqCst),
            counts.1.load(Ordering::SeqCst),
        )
    };
    let service = HttpService::new(BoxService::new(service), HttpOptions::default());
    assert_eq!(counted(), (0, 0));
    let server = HttpServer::bind(service, "127.0.0.1:0").await;
    let server = server.expect("a server");
    assert_eq!(counted(), (1, 0));
    server.run_until(ready(())).await;
    assert_eq!(counted(), (1, 1));
}

#[tokio::test]
async fn a_server_whose_start_fails_is_not_bound() {
    let service = Hooked {
        fails: true,
        ..Hooked::default()
    };
    let counts = Arc::clone(&service.counts);
    let service = HttpService::new(service, HttpOptions::default());
    let bound = HttpServer::bind(service, "127.0.0.1:0").await;
    let error = bound.expect_err("a failure");
    assert!(matches!(error, ServeError::Start(_)));
    assert_eq!(
        format!("{error:?}"),
        "a start hook of the server failed: no database"
    );
    assert_eq!(counts.1.load(Ordering::SeqCst), 0);
}
