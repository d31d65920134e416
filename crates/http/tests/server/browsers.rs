//! What a web page can make its reader's browser send, as raw bytes on a port.

use std::time::Duration;

use pintle_http::{HostPolicy, HttpOptions, HttpServer, ServeError};
use tokio::time::Instant;

use super::port::Port;
use crate::common::{ask, endpoint_with, initialize, list};

// hardening: H-1, H-2, H-3, H-4, H-5, H-9
// spec: 2025-11-25 TRANS-HTTP-03
// spec: 2026-07-28 N-HTTP-02, A-36
#[tokio::test]
async fn only_loopback_names_and_pages_are_served() {
    let port = Port::open().await;
    let rows: [(&str, Option<&str>, u16); 25] = [
        ("127.0.0.1:PORT", None, 200),
        ("localhost:PORT", None, 200),
        ("localhost", None, 200),
        ("[::1]:PORT", None, 200),
        ("127.0.0.1:PORT", Some("http://127.0.0.1:PORT"), 200),
        ("localhost:PORT", Some("http://localhost:PORT"), 200),
        ("localhost:PORT", Some("http://localhost:3000"), 200),
        ("127.0.0.1:PORT", Some("http://evil.example"), 403),
        ("127.0.0.1:PORT", Some("http://localhost.evil.example"), 403),
        (
            "127.0.0.1:PORT",
            Some("http://127.0.0.1:PORT.evil.example"),
            403,
        ),
        (
            "127.0.0.1:PORT",
            Some("http://evil.example@127.0.0.1:PORT"),
            403,
        ),
        (
            "127.0.0.1:PORT",
            Some("http://127.0.0.1:PORT@evil.example"),
            403,
        ),
        (
            "127.0.0.1:PORT",
            Some("http://127.0.0.1:PORT#evil.example"),
            403,
        ),
        ("127.0.0.1:PORT", Some("http://127.0.0.1:PORT/"), 403),
        ("127.0.0.1:PORT", Some("ftp://127.0.0.1:PORT"), 403),
        ("127.0.0.1:PORT", Some("null"), 403),
        (
            "127.0.0.1:PORT",
            Some("http://127.0.0.1:PORT, http://evil.example"),
            403,
        ),
        ("evil.example", None, 403),
        ("evil.example:PORT", None, 403),
        ("127.0.0.1.evil.example", None, 403),
        ("evil.example:1@localhost", None, 400),
        ("evil.example", Some("http://evil.example"), 403),
        ("127.0.0.2:PORT", None, 200),
        ("app.localhost:PORT", None, 403),
        ("0.0.0.0:PORT", None, 403),
    ];
    for (host, origin, expected) in rows {
        for ask in [list(), initialize("2025-11-25"), ask("GET"), ask("DELETE")] {
            let is_post = ask.verb == "POST";
            let ask = ask.having("host", host);
            let ask = origin
                .iter()
                .fold(ask, |ask, origin| ask.with("origin", origin));
            let said = format!("{ask:?}");
            let came = port.ask(ask).await;
            if is_post || expected != 200 {
                assert_eq!(came.status, expected, "{said} {came:?}");
            }
            assert!(!came.head.contains("access-control"), "{said}");
            came.assert_discreet(&said);
        }
    }
    assert_eq!(port.calls.started(), 8);
}

// hardening: H-1
#[tokio::test]
async fn a_foreign_page_is_turned_away_before_its_body_comes() {
    let port = Port::open().await;
    let ask = list()
        .with("origin", "http://evil.example")
        .with("content-length", "1000000");
    let began = Instant::now();
    assert_eq!(port.send(ask.bytes(port.address)).await.status, 403);
    assert!(began.elapsed() < Duration::from_secs(2));
}

// hardening: H-6, H-7, H-8, H-9
#[tokio::test]
async fn requests_that_browsers_send_without_a_preflight_are_not_executed() {
    let port = Port::open().await;
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonfoo",
    ] {
        assert_eq!(
            port.ask(list().having("content-type", kind)).await.status,
            415,
            "{kind}"
        );
    }
    assert_eq!(port.ask(list().without("content-type")).await.status, 415);
    assert_eq!(
        port.ask(list().with("content-encoding", "gzip"))
            .await
            .status,
        415
    );
    assert_eq!(
        port.ask(list().having("accept", "text/html")).await.status,
        406
    );
    let preflight = ask("OPTIONS").with("access-control-request-method", "POST");
    let foreign = port
        .ask(preflight.clone().with("origin", "http://evil.example"))
        .await;
    let own = port
        .ask(preflight.with("origin", "http://localhost:3000"))
        .await;
    assert_eq!((foreign.status, own.status), (403, 405));
    assert!(!foreign.head.contains("access-control") && !own.head.contains("access-control"));
    for verb in ["PUT", "PATCH", "TRACE", "HEAD", "BREW"] {
        let came = port.ask(ask(verb).with("x-secret", "echo-me")).await;
        assert_eq!(came.status, 405, "{verb}");
        assert!(came.head.contains("allow: post, get, delete"), "{came:?}");
        assert!(!came.body.contains("echo-me") && !came.head.contains("echo-me"));
    }
    let tunnel = port.send(&b"CONNECT 127.0.0.1:80 HTTP/1.1\r\nhost: 127.0.0.1:80\r\nconnection: close\r\n\r\n"[..]).await;
    assert!((400..500).contains(&tunnel.status), "{tunnel:?}");
    assert_eq!(port.calls.started(), 0);
    assert_eq!(port.ask(list()).await.status, 200);
}

// spec: 2025-11-25 TRANS-HTTP-05
// hardening: H-10
#[tokio::test]
async fn a_public_address_needs_a_decision() {
    let bind = |options| HttpServer::bind(endpoint_with(options).0.only().clone(), "0.0.0.0:0");
    let refused = bind(HttpOptions::default())
        .await
        .expect_err("nobody decided");
    assert!(
        matches!(refused, ServeError::Exposed { address } if address.ip().is_unspecified()),
        "{refused}"
    );
    let mut any = HttpOptions::default();
    any.host_policy = HostPolicy::any_host();
    assert!(matches!(bind(any).await, Err(ServeError::Exposed { .. })));
    let mut listed = HttpOptions::default();
    listed.host_policy = HostPolicy::hosts(["api.example"]).expect("a host");
    assert!(
        matches!(bind(listed).await, Err(ServeError::Exposed { .. })),
        "a list of names asks nobody who they are"
    );
    let mut insecure = HttpOptions::default();
    insecure.allow_insecure_bind = true;
    bind(insecure).await.expect("somebody decided");
}
