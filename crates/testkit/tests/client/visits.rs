//! Calls that fail because the user must visit URLs first (-32042, 2025-11-25).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle_client::{CallError, Client, ClientOptions};
use pintle_proto::TransportErrorKind;
use pintle_runtime::Answer;
use pintle_testkit::{HostileReply, HostileServer};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::client::{good, within};

const MINUTES: Duration = Duration::from_secs(5 * 60);

/// Fails a call: the user must visit these URLs first.
fn require(out: &mut HostileReply, message: &Value, urls: &[&str]) {
    let visit = |url: &&str| json!({ "mode": "url", "message": "Connect", "url": url, "elicitationId": url });
    let visits: Vec<Value> = urls.iter().map(visit).collect();
    let error =
        json!({ "code": -32042, "message": "visit first", "data": { "elicitations": visits } });
    out.send(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
}

fn done(id: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": { "elicitationId": id } })
}

/// A server that refuses the first `refusals` calls.
fn server(
    refusals: usize,
    refuse: impl Fn(&mut HostileReply, &Value) + Send + Sync + 'static,
) -> HostileServer {
    let calls = AtomicUsize::new(0);
    HostileServer::legacy(move |out, message| {
        if message["method"] != "tools/call" {
            return;
        }
        if calls.fetch_add(1, Ordering::SeqCst) < refusals {
            return refuse(out, message);
        }
        out.reply(message, good());
    })
}

/// A client whose user consents to every visit, and the URLs that were visited.
async fn tourist(server: &HostileServer) -> (Client, Arc<Mutex<Vec<String>>>) {
    let been = Arc::new(Mutex::new(Vec::new()));
    let diary = Arc::clone(&been);
    let builder = Client::builder().on_elicit_url(move |visit| {
        diary.lock().expect("no panic").push(visit.url);
        async { Answer::Accepted(()) }
    });
    let client = within(builder.connect(server.clone())).await;
    (client.expect("it opens"), been)
}

fn urls_of(error: &CallError) -> usize {
    let required = error.required_urls().expect("the visits");
    required.elicitations.len()
}

// spec: 2025-11-25 ELIC-31, ELIC-33, ELIC-35, ELIC-36, ELIC-07, ELIC-59
#[tokio::test(start_paused = true)]
async fn a_call_is_retried_when_all_visits_of_the_user_have_ended() {
    let (one, other) = ("https://example.org/1", "https://example.org/2");
    let server = server(1, move |out, message| {
        require(out, message, &[one, other]);
        out.send_after(Duration::from_secs(20), done(other));
        out.send_after(Duration::from_secs(30), done(one));
    });
    let (client, been) = tourist(&server).await;
    let began = Instant::now();
    within(client.call_tool("t", ())).await.expect("a result");
    assert_eq!(began.elapsed(), Duration::from_secs(30));
    assert_eq!(*been.lock().expect("no panic"), [one, other]);
    assert_eq!(server.count("tools/call"), 2);
}

// spec: 2025-11-25 ELIC-30, ELIC-31
#[tokio::test(start_paused = true)]
async fn the_end_of_a_visit_may_arrive_before_the_consent() {
    let url = "https://example.org/";
    let server = server(1, move |out, message| {
        require(out, message, &[url]);
        out.send_after(Duration::from_secs(1), done(url));
    });
    let builder = Client::builder().on_elicit_url(async |_| {
        tokio::time::sleep(Duration::from_secs(2)).await;
        Answer::Accepted(())
    });
    let client = within(builder.connect(server)).await.expect("it opens");
    let began = Instant::now();
    within(client.call_tool("t", ())).await.expect("a result");
    assert_eq!(began.elapsed(), Duration::from_secs(2));
}

// spec: 2025-11-25 ELIC-27, ELIC-31, ELIC-32
#[tokio::test(start_paused = true)]
async fn a_visit_without_a_reported_end_is_awaited_until_the_timeout() {
    let refuse =
        |out: &mut HostileReply, message: &Value| require(out, message, &["https://example.org/"]);
    let server = server(1, refuse);
    let (client, _) = tourist(&server).await;
    let began = Instant::now();
    within(client.call_tool("t", ())).await.expect("a result");
    assert_eq!(began.elapsed(), MINUTES);
}

// spec: 2025-11-25 ELIC-32
#[tokio::test(start_paused = true)]
async fn the_application_may_complete_a_visit() {
    let url = "https://example.org/";
    let server = server(1, move |out, message| require(out, message, &[url]));
    let (client, _) = tourist(&server).await;
    assert!(!client.complete_visit(url), "nobody is anywhere");
    let began = Instant::now();
    let says = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert!(client.complete_visit(url));
    };
    let (result, ()) =
        within(async { tokio::join!(client.call_tool("t", ()).into_future(), says) }).await;
    result.expect("a result");
    assert_eq!(began.elapsed(), Duration::from_secs(3));
}

// spec: 2025-11-25 ELIC-33
#[tokio::test(start_paused = true)]
async fn a_call_is_retried_once_and_then_its_error_has_the_url() {
    let url = "https://example.org/";
    let server = server(usize::MAX, move |out, message| {
        require(out, message, &[url]);
        out.send(done(url));
    });
    let (client, been) = tourist(&server).await;
    let error = within(client.call_tool("t", ())).await.unwrap_err();
    assert_eq!(urls_of(&error), 1);
    assert_eq!(server.count("tools/call"), 2);
    assert_eq!(been.lock().expect("no panic").len(), 1);
}

// spec: 2025-11-25 ELIC-33, ELIC-37, ELIC-62
// hardening: H-78
#[tokio::test(start_paused = true)]
async fn without_a_visit_the_call_fails_with_the_error() {
    let good_url: &[&str] = &["https://example.org/"];
    let bad_url: &[&str] = &["http://example.org/"];
    let no_more = Client::builder().on_elicit_url(async |_| Answer::Declined);
    let never = Client::builder().on_elicit_url(async |_| -> Answer<()> { panic!("not asked") });
    let mut none = ClientOptions::default();
    none.max_visits_per_call = 0;
    for (builder, urls) in [
        (Client::builder(), good_url),
        (no_more, good_url),
        (never.clone(), bad_url),
        (never.clone(), &[]),
        (never.options(none), good_url),
    ] {
        let server = server(usize::MAX, move |out, message| require(out, message, urls));
        let client = within(builder.connect(server.clone())).await;
        let client = client.expect("it opens");
        let error = within(client.call_tool("t", ())).await.unwrap_err();
        assert_eq!(urls_of(&error), urls.len());
        assert_eq!(server.count("tools/call"), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn as_many_visits_as_the_limit_are_made_and_one_more_are_not() {
    for (count, calls) in [(16, 2), (17, 1)] {
        let server = server(usize::MAX, move |out, message| {
            require(out, message, &vec!["https://example.org/"; count]);
        });
        let (client, been) = tourist(&server).await;
        within(client.call_tool("t", ())).await.unwrap_err();
        assert_eq!(server.count("tools/call"), calls);
        assert_eq!(
            been.lock().expect("no panic").len(),
            if calls == 2 { count } else { 0 }
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_does_not_wait_for_visits_of_a_conversation_that_was_lost() {
    let (is_refused, pings) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let server = HostileServer::legacy(move |out, message| match message["method"].as_str() {
        Some("ping") if pings.fetch_add(1, Ordering::SeqCst) == 0 => {
            out.lose_all(TransportErrorKind::Disconnected);
        }
        Some("tools/call") if is_refused.fetch_add(1, Ordering::SeqCst) == 0 => {
            require(out, message, &["https://example.org/"]);
        }
        _ => out.reply(message, good()),
    });
    let (client, _) = tourist(&server).await;
    let began = Instant::now();
    let ends = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        client.ping().await.expect("it is made again");
    };
    let call = client.call_tool("t", ()).into_future();
    let (result, ()) = within(async { tokio::join!(call, ends) }).await;
    result.expect("a result");
    assert!(began.elapsed() < MINUTES, "{:?}", began.elapsed());
    assert_eq!(server.conversations(), 2);
}
