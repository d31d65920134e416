//! Conversations that end, and the recovery of the client.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pintle_client::{CallError, Client, ClientOptions};
use pintle_proto::{Limits, SendError, TransportErrorKind};
use pintle_testkit::HostileServer;
use serde_json::json;

use crate::client::{connect, good, within};

fn losses(times: usize, loss: TransportErrorKind) -> HostileServer {
    let left = AtomicUsize::new(times);
    HostileServer::modern(move |out, message| {
        let count = |left: usize| left.checked_sub(1);
        if left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, count)
            .is_ok()
        {
            return out.lose_all(loss);
        }
        match message["method"].as_str() {
            Some("tools/list") => {
                out.reply(message, json!({ "resultType": "complete", "tools": [] }))
            }
            _ => out.reply(message, good()),
        }
    })
}

// spec: 2026-07-28 N-HTTP-19, A-39, N-STDIO-11
// hardening: H-160
#[tokio::test(start_paused = true)]
async fn only_a_call_without_side_effects_is_retried_and_only_once() {
    let server = losses(1, TransportErrorKind::Disconnected);
    let client = connect(&server).await;
    within(client.list_tools()).await.expect("the second time");
    assert_eq!((server.conversations(), server.count("tools/list")), (2, 2));

    let server = losses(1, TransportErrorKind::Disconnected);
    let client = connect(&server).await;
    let error = within(client.call_tool("t", ())).await.unwrap_err();
    assert!(!error.is_retryable(), "the server may have acted: {error}");
    within(client.call_tool("t", ()))
        .await
        .expect("another conversation");
    assert_eq!((server.conversations(), server.count("tools/call")), (2, 2));

    let server = losses(1, TransportErrorKind::Disconnected);
    let client = connect(&server).await;
    within(client.call_tool("t", ()).idempotent())
        .await
        .expect("the caller said so");

    let server = losses(99, TransportErrorKind::Disconnected);
    let client = connect(&server).await;
    within(client.list_tools()).await.unwrap_err();
    assert_eq!(server.count("tools/list"), 2, "no loop");
}

// hardening: H-159
#[tokio::test(start_paused = true)]
async fn a_call_that_the_server_rejects_is_not_retried() {
    for loss in [
        TransportErrorKind::Status(400),
        TransportErrorKind::Status(429),
        TransportErrorKind::Status(503),
        TransportErrorKind::Unauthorized(401),
        TransportErrorKind::InvalidMessage,
        TransportErrorKind::TooLarge,
        TransportErrorKind::TimedOut,
    ] {
        let server = HostileServer::modern(move |out, message| out.lose(message, loss));
        let client = connect(&server).await;
        within(client.call_tool("t", ())).await.unwrap_err();
        within(client.list_tools()).await.unwrap_err();
        within(client.call_tool("t", ()).idempotent())
            .await
            .unwrap_err();
        assert_eq!(
            (server.count("tools/call"), server.count("tools/list")),
            (2, 1),
            "{loss}"
        );
    }
}

// hardening: H-160
#[tokio::test(start_paused = true)]
async fn a_lost_session_fails_pending_calls_and_is_reopened_once() {
    let server = HostileServer::legacy(|out, message| {
        if message["params"]["name"] == "lost" {
            // This call got the 404; the other one was on its way.
            out.lose(message, TransportErrorKind::SessionLost);
            out.lose_all(TransportErrorKind::SessionLost);
        } else if message["params"]["name"] == "good" {
            out.reply(message, good());
        }
    });
    let client = connect(&server).await;
    let waiting = client.clone();
    let waiting = tokio::spawn(async move { waiting.call_tool("slow", ()).await });
    tokio::task::yield_now().await;
    let error = within(client.call_tool("lost", ())).await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
    let error = within(waiting).await.expect("no panic").unwrap_err();
    assert!(matches!(error, CallError::Disconnected { .. }), "{error}");
    assert!(
        !error.is_retryable(),
        "it may have been carried out: {error}"
    );
    within(client.call_tool("good", ()))
        .await
        .expect("a new session");
}

// hardening: H-159, H-168
#[tokio::test(start_paused = true)]
async fn a_server_that_cannot_be_reached_is_not_hammered() {
    let openings = AtomicUsize::new(0);
    let server = HostileServer::new(move |out, message| {
        if openings.fetch_add(1, Ordering::SeqCst) > 0 {
            return out.lose_all(TransportErrorKind::Unreachable);
        }
        let found = json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } });
        out.reply(message, found);
    });
    let client = connect(&server).await;
    within(client.call_tool("t", ())).await.unwrap_err();
    for _ in 0..1_000 {
        let error = within(client.call_tool("t", ())).await.unwrap_err();
        assert!(matches!(error, CallError::NotConnected { .. }), "{error}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // In 100 seconds: after 0, 1, 3, 7, 15, 31, 61, 91 seconds.
    let conversations = server.conversations();
    assert!((7..=10).contains(&conversations), "{conversations}");
}

// spec: 2026-07-28 N-CANC-12
#[tokio::test(start_paused = true)]
async fn calls_in_flight_are_bounded() {
    let server = HostileServer::modern(|_, _| {});
    let mut limits = Limits::default();
    limits.max_calls = 4;
    let builder = Client::builder().limits(limits);
    let client = within(builder.connect(server.clone()))
        .await
        .expect("it opens");
    let waiting: Vec<_> = (0..4)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call_tool("t", ()).await })
        })
        .collect();
    tokio::task::yield_now().await;
    let error = within(client.call_tool("t", ())).await.unwrap_err();
    let CallError::NotSent { source, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(source, SendError::TooManyCalls { limit: 4 });
    for call in waiting {
        within(call).await.expect("no panic").unwrap_err();
    }
    within(client.call_tool("t", ()).timeout(Duration::from_secs(1)))
        .await
        .unwrap_err();
}

// hardening: H-172
#[tokio::test(start_paused = true)]
async fn a_client_whose_last_clone_is_dropped_ends_its_conversation() {
    let server = HostileServer::modern(|_, _| {});
    let client = connect(&server).await;
    let clone = client.clone();
    let waiting = tokio::spawn(async move { clone.disconnected().await });
    tokio::task::yield_now().await;
    within(client.close()).await;
    assert!(
        within(waiting).await.expect("no panic").is_none(),
        "it ended as it should"
    );
    let error = within(client.call_tool("t", ())).await.unwrap_err();
    assert!(matches!(error, CallError::Closed { .. }), "{error}");
    assert_eq!(
        ClientOptions::default().reconnect_delay,
        Duration::from_secs(1)
    );
}

// spec: 2026-07-28 N-CANC-01, N-STDIO-07
// hardening: H-170
#[tokio::test(start_paused = true)]
async fn a_client_that_closes_sends_the_cancellations_of_its_calls() {
    for server in [
        HostileServer::modern(|_, _| {}),
        HostileServer::legacy(|_, _| {}),
    ] {
        let client = within(Client::connect(server.over_pipe()))
            .await
            .expect("a conversation");
        let dropped = client.call_tool("t", ()).into_future();
        let mut dropped = Box::pin(dropped);
        let caller = client.clone();
        let open = tokio::spawn(async move { caller.call_tool("t", ()).await });
        let wait = Duration::from_secs(1);
        tokio::time::timeout(wait, &mut dropped)
            .await
            .expect_err("an answer of a silent server");
        drop(dropped);
        within(client.close()).await;
        let error = within(open).await.expect("no panic").unwrap_err();
        assert!(matches!(error, CallError::Closed { .. }), "{error}");
        assert_eq!(server.count("notifications/cancelled"), 2);
    }
}
