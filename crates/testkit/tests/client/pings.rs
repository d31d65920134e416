//! Clients that ping their server at an interval.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pintle_client::{CallError, Client, ClientOptions};
use pintle_proto::TransportErrorKind;
use pintle_testkit::{HostileReply, HostileServer};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::client::{good, within};

const MINUTE: Duration = Duration::from_secs(60);

async fn pinging(server: &HostileServer) -> Client {
    let mut options = ClientOptions::default();
    options.ping_interval = Some(MINUTE);
    options.ping_timeout = Duration::from_secs(5);
    let builder = Client::builder().options(options);
    let client = within(builder.connect(server.clone())).await;
    client.expect("it opens")
}

/// Both eras of a server that answers pings while `is_there`, and calls after two minutes.
fn both(is_there: &Arc<AtomicBool>) -> [(HostileServer, &'static str); 2] {
    let script = |is_there: Arc<AtomicBool>| {
        move |out: &mut HostileReply, message: &Value| {
            if message["method"] == "tools/call" {
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": good() });
                return out.send_after(2 * MINUTE, answer);
            }
            if is_there.load(Ordering::SeqCst) {
                out.fail(message, -32601, "it is an answer all the same");
            }
        }
    };
    let legacy = HostileServer::legacy(script(Arc::clone(is_there)));
    let at_work = script(Arc::clone(is_there));
    let opened = AtomicBool::new(false);
    let modern = HostileServer::new(move |out, message| {
        if message["method"] != "server/discover" {
            return at_work(out, message);
        }
        if opened.swap(true, Ordering::SeqCst)
            && message["params"]["_meta"].is_object()
            && !opened_anew(message)
        {
            return at_work(out, message);
        }
        out.reply(message, json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } }));
    });
    [(legacy, "ping"), (modern, "server/discover")]
}

/// Whether the message is the probe of an opening; its id begins with `discover`.
fn opened_anew(message: &Value) -> bool {
    message["id"]
        .as_str()
        .is_some_and(|id| id.starts_with("discover"))
}

// spec: 2025-11-25 PING-04 (client), PING-05 (client), PING-07 (client)
#[tokio::test(start_paused = true)]
async fn a_server_is_pinged_at_the_interval_and_not_otherwise() {
    let is_there = Arc::new(AtomicBool::new(true));
    for (server, method) in both(&is_there) {
        let client = pinging(&server).await;
        let before = server.count(method);
        sleep(10 * MINUTE + MINUTE / 2).await;
        assert_eq!(server.count(method) - before, 10);
        assert!(client.is_connected(), "an error is an answer");
        within(client.close()).await;
        sleep(10 * MINUTE).await;
        assert_eq!(server.count(method) - before, 10, "nobody is there to ask");
    }
    let server = HostileServer::legacy(|_, _| {});
    let client = within(Client::connect(server.clone()))
        .await
        .expect("it opens");
    sleep(10 * MINUTE).await;
    assert_eq!(server.count("ping"), 0);
    drop(client);
}

// spec: 2025-11-25 PING-03, PING-06 (client), PING-08 (client), PING-10 (client)
#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_a_ping_is_left_and_met_again() {
    for which in 0..2 {
        let is_there = Arc::new(AtomicBool::new(true));
        let (server, method) = both(&is_there)[which].clone();
        let client = pinging(&server).await;
        is_there.store(false, Ordering::SeqCst);
        let began = Instant::now();
        let error = within(client.call_tool("t", ()).timeout(10 * MINUTE))
            .await
            .unwrap_err();
        assert_eq!(began.elapsed(), MINUTE + Duration::from_secs(5), "{method}");
        let CallError::Disconnected { source, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(source.kind(), TransportErrorKind::TimedOut);
        sleep(Duration::from_secs(10)).await;
        assert!(!client.is_connected());
        let why = within(client.disconnected()).await.expect("a reason");
        assert_eq!(why.detail(), Some("a ping was not answered"));
        is_there.store(true, Ordering::SeqCst);
        within(client.call_tool("t", ()).timeout(10 * MINUTE))
            .await
            .expect("a result");
        assert_eq!(server.conversations(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_at_the_limit_is_in_time() {
    for (wait, conversations) in [(4_999, 1), (5_001, 2)] {
        let server = HostileServer::legacy(move |out, message| {
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} });
            out.send_after(Duration::from_millis(wait), answer);
        });
        let client = pinging(&server).await;
        sleep(MINUTE + Duration::from_secs(20)).await;
        within(client.ping()).await.expect("it is there");
        assert_eq!(server.conversations(), conversations);
    }
}
