//! Clients that are slow, idle, many, gone, or speak something else.

use std::time::Duration;

use pintle_http::HttpOptions;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;

use super::port::Port;
use crate::common::{ask, list, modern, modern_tool};

// hardening: H-145, H-146
#[tokio::test]
async fn other_protocols_and_bare_connections_are_survived() {
    let port = Port::open().await;
    let hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    for bytes in [
        &hello[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        &[0; 64],
        b"{\"jsonrpc\":\"2.0\"}\r\n\r\n",
        b"\r\n\r\n\xff\r\n\r\n",
    ] {
        let came = port.send(bytes).await;
        assert!(matches!(came.status, 0 | 400 | 505), "{came:?}");
    }
    let mut bare = Vec::new();
    for nth in 0..200 {
        let mut stream = port.connect().await;
        if nth % 4 == 0 {
            stream.shutdown().await.expect("half closed");
        }
        bare.push(stream);
    }
    assert_eq!(port.ask(list()).await.status, 200);
}

// hardening: H-139, H-140, H-147
#[tokio::test]
async fn slow_and_idle_clients_do_not_delay_others() {
    let mut options = HttpOptions::default();
    // Slow clients never time out, so their end cannot explain that others are served.
    options.limits.header_timeout = Duration::MAX;
    let port = Port::open_with(options).await;
    let id = port.session().await;
    let mut held = Vec::new();
    for _ in 0..48 {
        let mut stream = port.connect().await;
        stream
            .write_all(b"POST /mcp HTTP/1.1\r\nhost: local")
            .await
            .expect("written");
        held.push(stream);
    }
    for _ in 0..24 {
        let mut stream = port.connect().await;
        let get = ask("GET")
            .with("accept", "text/event-stream")
            .in_session(&id);
        stream
            .write_all(&get.bytes(port.address))
            .await
            .expect("written");
        held.push(stream);
    }
    let mut asked = JoinSet::new();
    let port = std::sync::Arc::new(port);
    for nth in 0..64 {
        let port = std::sync::Arc::clone(&port);
        asked.spawn(async move {
            let came = port
                .ask(modern_tool(nth, "echo", json!({ "nth": nth })))
                .await;
            assert_eq!((came.status, &came.json()["id"]), (200, &json!(nth)));
            nth
        });
    }
    let answered: std::collections::BTreeSet<i32> = asked.join_all().await.into_iter().collect();
    assert_eq!(answered.len(), 64);
}

// hardening: H-153
#[tokio::test]
async fn a_head_or_a_body_that_stalls_is_given_up() {
    let mut options = HttpOptions::default();
    options.limits.header_timeout = Duration::from_millis(200);
    options.limits.body_idle_timeout = Duration::from_millis(200);
    let port = Port::open_with(options).await;
    let head = port.send(&b"POST /mcp HTTP/1.1\r\nhost: local"[..]).await;
    assert!(matches!(head.status, 0 | 408), "{head:?}");
    let ask = list().with("content-length", "1000");
    assert_eq!(port.send(ask.bytes(port.address)).await.status, 408);
}

// spec: 2026-07-28 N-HTTP-20
// hardening: H-138
#[tokio::test]
async fn clients_that_vanish_drop_their_handlers() {
    let port = Port::open().await;
    let mut streams = Vec::new();
    for nth in 0..50 {
        let mut stream = port.connect().await;
        stream
            .write_all(&modern_tool(nth, "hang", json!({})).bytes(port.address))
            .await
            .expect("written");
        streams.push(stream);
    }
    port.calls.until(|calls| calls.started() == 50).await;
    drop(streams);
    port.calls.until(|calls| calls.dropped() == 50).await;
    assert_eq!(port.ask(list()).await.status, 200);
}

// hardening: H-176
#[tokio::test]
async fn the_end_lets_calls_finish_and_streams_end() {
    let mut port = Port::open().await;
    let mut listener = port.connect().await;
    let listen = modern(
        5,
        "subscriptions/listen",
        json!({ "notifications": { "toolsListChanged": true } }),
    );
    listener
        .write_all(&listen.bytes(port.address))
        .await
        .expect("written");
    let mut received = String::new();
    while !received.contains("acknowledged") {
        received.push(char::from(listener.read_u8().await.expect("a stream")));
    }
    let mut call = port.connect().await;
    call.write_all(&modern_tool(6, "gated", json!({})).bytes(port.address))
        .await
        .expect("written");
    port.calls.until(|calls| calls.started() == 1).await;
    port.begin_end();
    listener
        .read_to_string(&mut received)
        .await
        .expect("an end");
    port.calls.open_gate();
    let mut answered = String::new();
    call.read_to_string(&mut answered).await.expect("an end");
    assert!(
        received.contains("acknowledged") && received.contains("\"id\":5,"),
        "{received}"
    );
    assert!(
        answered.contains("\"id\":6,") && answered.contains("done"),
        "{answered}"
    );
    port.ended().await;
}

#[tokio::test]
async fn waits_without_an_end_are_waits_without_an_end() {
    let mut options = HttpOptions::default();
    let limits = &mut options.limits;
    limits.header_timeout = Duration::MAX;
    limits.body_idle_timeout = Duration::MAX;
    limits.keep_alive_interval = Duration::MAX;
    limits.write_timeout = Duration::MAX;
    limits.session_idle_timeout = Duration::MAX;
    limits.drain_timeout = Duration::MAX;
    let mut port = Port::open_with(options).await;
    let id = port.session().await;
    let mut stream = port.connect().await;
    let get = ask("GET")
        .with("accept", "text/event-stream")
        .in_session(&id);
    stream
        .write_all(&get.bytes(port.address))
        .await
        .expect("written");
    assert_eq!(port.ask(list()).await.status, 200);
    port.begin_end();
    let mut received = String::new();
    stream.read_to_string(&mut received).await.expect("an end");
    port.ended().await;
}
