//! Servers that send nothing, or not enough.

use std::time::Duration;

use pintle_client::{CallError, Client, ConnectError};
use pintle_proto::TransportErrorKind;
use pintle_testkit::HostileServer;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::hostile::{GROUNDS, Ground, both, good, meet, within};

const SECOND: Duration = Duration::from_secs(1);

// hardening: H-170
#[tokio::test(start_paused = true)]
async fn a_call_without_an_answer_is_cancelled_after_a_minute() {
    for ground in GROUNDS {
        for (server, is_modern) in both(|out, message| {
            if message["params"]["name"] == "late" {
                let late = json!({ "jsonrpc": "2.0", "id": message["id"], "result": good() });
                out.send_after(61 * SECOND, late);
            }
        })
        .into_iter()
        .zip([true, false])
        {
            let client = meet(&server, ground).await;
            for name in ["silent", "late"] {
                let began = Instant::now();
                let error = within(client.call_tool(name, ())).await.unwrap_err();
                assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
                assert_eq!(began.elapsed().as_secs(), 60, "{ground:?}");
            }
            sleep(5 * SECOND).await;
            // Over HTTP since 2026-07-28 the end of the exchange is the cancellation.
            let cancellations = if is_modern && ground == Ground::Http {
                0
            } else {
                2
            };
            assert_eq!(
                server.count("notifications/cancelled"),
                cancellations,
                "{ground:?}"
            );
        }
    }
}

// hardening: H-163 (silence), H-168
#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_a_connect_timeout() {
    for ground in GROUNDS {
        let server = HostileServer::new(|_, _| {});
        let began = Instant::now();
        let error = match ground {
            Ground::Pipe => within(Client::connect(server.over_pipe())).await,
            Ground::Http => crate::hostile::visit(&server.origin()).await,
        };
        let error = error.expect_err("no conversation");
        assert!(
            matches!(error, ConnectError::TimedOut { .. }),
            "{ground:?} {error}"
        );
        assert!(began.elapsed() <= 100 * SECOND, "{:?}", began.elapsed());
    }
}

// hardening: H-168
#[tokio::test(start_paused = true)]
async fn a_server_that_goes_away_in_the_middle_of_everything_loses_every_call() {
    for server in both(|out, message| {
        if message["params"]["name"] == "last" {
            out.lose_all(TransportErrorKind::ProcessExited);
        }
    }) {
        let client = meet(&server, Ground::Pipe).await;
        let waiting: Vec<_> = (0..8)
            .map(|_| {
                let client = client.clone();
                tokio::spawn(async move { client.call_tool("first", ()).await })
            })
            .collect();
        tokio::task::yield_now().await;
        within(client.call_tool("last", ())).await.unwrap_err();
        for call in waiting {
            let error = within(call).await.expect("no panic").unwrap_err();
            assert_eq!(
                crate::hostile::loss(&error),
                TransportErrorKind::Disconnected
            );
        }
    }
}

// hardening: H-172
#[tokio::test(start_paused = true)]
async fn a_client_may_be_closed_at_any_moment_and_as_often_as_one_likes() {
    for ground in GROUNDS {
        for server in both(|out, message| {
            if message["params"]["name"] == "good" {
                out.notify(
                    "notifications/message",
                    json!({ "level": "info", "data": 1 }),
                );
                out.reply(message, good());
            }
        }) {
            let client = meet(&server, ground).await;
            let waiting = client.clone();
            let waiting = tokio::spawn(async move { waiting.call_tool("silent", ()).await });
            tokio::task::yield_now().await;
            let began = Instant::now();
            within(client.close()).await;
            within(client.close()).await;
            assert!(
                began.elapsed() <= 6 * SECOND,
                "{ground:?} {:?}",
                began.elapsed()
            );
            let error = within(waiting).await.expect("no panic").unwrap_err();
            assert!(
                matches!(error, CallError::Closed { .. }),
                "{ground:?} {error}"
            );
            let error = within(client.call_tool("good", ())).await.unwrap_err();
            assert!(
                matches!(error, CallError::Closed { .. }),
                "{ground:?} {error}"
            );
        }
        // The connection attempt is dropped in the middle of the opening.
        let silent = HostileServer::new(|_, _| {});
        let connecting = async {
            match ground {
                Ground::Pipe => Client::connect(silent.over_pipe()).await.map(drop),
                Ground::Http => crate::hostile::visit(&silent.origin()).await.map(drop),
            }
        };
        drop(tokio::time::timeout(SECOND, connecting).await);
    }
}

// hardening: H-172
#[tokio::test(start_paused = true)]
async fn a_notice_handler_may_close_the_client() {
    for ground in GROUNDS {
        let server = HostileServer::legacy(|out, message| {
            if message["method"] == "tools/call" {
                out.notify(
                    "notifications/message",
                    json!({ "level": "info", "data": 1 }),
                );
                let later = json!({ "jsonrpc": "2.0", "id": message["id"], "result": good() });
                out.send_after(SECOND, later);
            }
        });
        let own = std::sync::Arc::new(std::sync::OnceLock::<Client>::new());
        let observer = std::sync::Arc::clone(&own);
        let builder = Client::builder().on_log(move |_| {
            let client = observer.get().expect("it is there").clone();
            tokio::spawn(async move { client.close().await });
        });
        let client = crate::hostile::meet_as(builder, &server, ground).await;
        own.set(client.clone()).expect("once");
        let error = within(client.call_tool("t", ())).await.unwrap_err();
        assert!(
            matches!(error, CallError::Closed { .. }),
            "{ground:?} {error}"
        );
    }
}
