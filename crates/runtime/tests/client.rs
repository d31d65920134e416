//! A client's end of a conversation over byte streams, against the server's driver.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex, split};
use tokio::task::JoinHandle;

use crate::common::{Misbehaving, dropped, within};
use pintle_model::{ClientCapabilities, Feature, Implementation, JsonObject, Revision};
use pintle_proto::{
    Connection, NewCall, PeerCallError, Timeouts, TransportError, TransportErrorKind,
};
use pintle_runtime::{
    Peer, PeerCall, PipeOptions, Step, StreamOptions, StreamTransport, Transport, drive, serve_pipe,
};

type Driver = JoinHandle<Result<(), TransportError>>;

fn peer() -> Peer {
    let identity = Implementation::new("t", "1");
    let engine = Connection::client(identity, ClientCapabilities::default(), Arc::default());
    Peer::new(engine)
}

fn start(peer: &Peer, transport: impl Transport) -> Driver {
    let peer = peer.clone();
    tokio::spawn(async move { drive(peer, transport, drop).await })
}

fn over(
    stream: DuplexStream,
) -> StreamTransport<impl tokio::io::AsyncRead, impl tokio::io::AsyncWrite> {
    let (reader, writer) = split(stream);
    StreamTransport::new(reader, writer)
}

/// A client that is ready to call in `revision`.
async fn ready(revision: Revision) -> (Peer, Driver) {
    let (near, far) = duplex(1 << 16);
    let (reader, writer) = split(far);
    tokio::spawn(serve_pipe(
        Arc::new(Misbehaving),
        reader,
        writer,
        PipeOptions::default(),
    ));
    let peer = peer();
    let driver = start(&peer, over(near));
    if revision.has(Feature::Handshake) {
        let call = peer.open(|engine, now| engine.initialize(now, revision));
        within(call.expect("it is open").outcome())
            .await
            .expect("a welcome");
    } else {
        peer.with_engine_mut(|engine| engine.use_revision(revision));
    }
    (peer, driver)
}

fn tool(name: &str, arguments: Value) -> NewCall {
    let mut params = JsonObject::new();
    params.insert("name".into(), name.into());
    params.insert("arguments".into(), arguments);
    NewCall::new("tools/call", params)
}

fn text(result: &serde_json::value::RawValue) -> Value {
    let result: Value = serde_json::from_str(result.get()).expect("JSON");
    result["content"][0]["text"].clone()
}

#[tokio::test(start_paused = true)]
async fn calls_are_answered_in_every_revision() {
    for revision in Revision::ALL {
        let (peer, _driver) = ready(revision).await;
        let calls: Vec<_> = (0..20)
            .map(|_| peer.call(tool("any", json!({}))).expect("room"))
            .collect();
        for call in calls {
            let result = within(call.outcome()).await.expect("a result");
            assert_eq!(text(&result), "echo");
        }
    }
}

// spec: 2025-11-25 PROG-01
#[tokio::test(start_paused = true)]
async fn progress_comes_in_order_and_before_the_result() {
    let (peer, _driver) = ready(Revision::LATEST).await;
    let mut call = tool("progress", json!({ "steps": 5 }));
    call.wants_progress = true;
    let mut call = peer.call(call).expect("room");
    let mut seen = Vec::new();
    loop {
        match within(poll_fn(|task| call.poll_step(task))).await {
            Step::Progress(progress) => seen.push(progress.progress),
            Step::Done(outcome) => {
                assert_eq!(text(&outcome.expect("a result")), "done");
                break;
            }
        }
    }
    assert_eq!(seen, [1.0, 2.0, 3.0, 4.0, 5.0]);
}

const LOG: &[u8] =
    br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
const ANSWER: &[u8] =
    br#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","content":[]}}"#;

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A call whose driver has received a notification and the answer, and has handled neither.
fn answered(peer: &Peer) -> PeerCall {
    let call = peer.call(tool("any", json!({}))).expect("room");
    let sent = peer.wire().try_next().expect("a call").frame.to_vec();
    let sent: Value = serde_json::from_slice(&sent).expect("JSON");
    let answer = String::from_utf8_lossy(ANSWER).replace("ID", &sent["id"].to_string());
    peer.wire().receive(LOG);
    peer.wire().receive(answer.as_bytes());
    call
}

#[tokio::test]
async fn notifications_before_a_result_are_handled_before_its_call_ends() {
    let (peer, seen) = (peer(), AtomicU32::new(0));
    peer.with_engine_mut(|engine| engine.use_revision(Revision::LATEST));
    let (near, _far) = duplex(1);
    let handle = |_| {
        seen.fetch_add(1, Ordering::Relaxed);
    };
    let mut driven = pin!(drive(peer.clone(), over(near), handle));
    assert!(poll(driven.as_mut()).is_pending());
    let mut called = pin!(answered(&peer).outcome());
    assert!(poll(called.as_mut()).is_pending());
    assert!(poll(driven.as_mut()).is_pending());
    assert_eq!(seen.load(Ordering::Relaxed), 1);
    assert!(poll(called.as_mut()).is_ready());
}

#[tokio::test]
async fn a_call_ends_if_its_driver_is_dropped_before_a_notification() {
    let peer = peer();
    peer.with_engine_mut(|engine| engine.use_revision(Revision::LATEST));
    let (near, _far) = duplex(1);
    let mut driven = Box::pin(drive(peer.clone(), over(near), drop));
    assert!(poll(driven.as_mut()).is_pending());
    let called = tokio::spawn(answered(&peer).outcome());
    tokio::task::yield_now().await;
    assert!(!called.is_finished());
    drop(driven);
    within(called).await.expect("no panic").expect("a result");
}

// hardening: H-170
#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_or_times_out_is_given_up_at_the_server() {
    let (peer, _driver) = ready(Revision::LATEST).await;
    let before = dropped();
    drop(peer.call(tool("hang", json!({}))).expect("room"));
    let mut hanging = tool("hang", json!({}));
    let wait = Duration::from_secs(5);
    hanging.timeouts = Some(Timeouts::new(wait, wait));
    let outcome = within(peer.call(hanging).expect("room").outcome()).await;
    assert_eq!(outcome.unwrap_err(), PeerCallError::TimedOut(wait));
    // This call is asked after the cancellations.
    within(peer.call(tool("any", json!({}))).expect("room").outcome())
        .await
        .expect("a result");
    assert_eq!(dropped() - before, 1, "one never left");
}

#[tokio::test(start_paused = true)]
async fn waiting_calls_fail_when_the_server_is_gone() {
    let (near, far) = duplex(1 << 16);
    let peer = peer();
    let driver = start(&peer, over(near));
    peer.with_engine_mut(|engine| engine.use_revision(Revision::LATEST));
    let call = peer.call(tool("any", json!({}))).expect("room");
    drop(far);
    let outcome = within(call.outcome()).await.unwrap_err();
    let PeerCallError::Lost(error) = outcome else {
        panic!("{outcome}")
    };
    assert_eq!(error.kind(), TransportErrorKind::Disconnected);
    within(driver).await.expect("no panic").unwrap_err();
    assert!(peer.call(tool("any", json!({}))).is_err(), "it is over");
}

// hardening: H-172
#[tokio::test(start_paused = true)]
async fn closing_cancels_calls_and_closes_the_stream() {
    let (near, mut far) = duplex(1 << 16);
    let peer = peer();
    let driver = start(&peer, over(near));
    peer.with_engine_mut(|engine| engine.use_revision(Revision::LATEST));
    let call = peer.call(tool("any", json!({}))).expect("room");
    peer.close();
    peer.close();
    assert_eq!(
        within(call.outcome()).await.unwrap_err(),
        PeerCallError::Closed
    );
    let mut written = Vec::new();
    within(far.read_to_end(&mut written)).await.expect("an end");
    // The server never ends its own stream, and is not waited for beyond the grace.
    let began = tokio::time::Instant::now();
    within(driver).await.expect("no panic").expect("a good end");
    assert_eq!(began.elapsed(), Duration::from_secs(5));
}

// hardening: H-170, H-172
#[tokio::test(start_paused = true)]
async fn a_client_that_closes_cancels_its_open_and_dropped_calls() {
    for revision in Revision::ALL {
        let (peer, driver) = ready(revision).await;
        let dropped = peer.call(tool("hang", json!({}))).expect("room");
        let open = peer.call(tool("hang", json!({}))).expect("room");
        // The server has read the first two requests when it answers the third.
        let third = peer.call(tool("any", json!({}))).expect("room");
        within(third.outcome()).await.expect("a result");
        let began = tokio::time::Instant::now();
        drop(dropped);
        peer.close();
        within(driver).await.expect("no panic").expect("a good end");
        assert_eq!(
            began.elapsed(),
            Duration::ZERO,
            "{revision}: the server waits for a handler"
        );
        let outcome = within(open.outcome()).await;
        assert_eq!(outcome.unwrap_err(), PeerCallError::Closed);
    }
}

// hardening: H-157, H-166
#[tokio::test(start_paused = true)]
async fn floods_and_endless_lines_are_bounded() {
    let (near, mut far) = duplex(1 << 16);
    let peer = peer();
    let (reader, writer) = split(near);
    let mut options = StreamOptions::default();
    options.max_line_bytes = 1 << 10;
    let driver = start(&peer, StreamTransport::with(reader, writer, options));
    peer.with_engine_mut(|engine| engine.use_revision(Revision::LATEST));
    let notice = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";
    for _ in 0..10_000 {
        within(far.write_all(notice)).await.expect("it reads");
        within(far.write_all(b"no message\n"))
            .await
            .expect("it reads");
    }
    within(far.write_all(&[b'x'; 2 << 10]))
        .await
        .expect("it reads");
    let error = within(driver).await.expect("no panic").unwrap_err();
    assert_eq!(error.kind(), TransportErrorKind::TooLarge);
    assert_eq!(peer.with_engine(|engine| engine.ignored_messages()), 10_000);
}

/// A writer whose other end is gone.
struct Broken;

impl tokio::io::AsyncWrite for Broken {
    fn poll_write(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
        _: &[u8],
    ) -> std::task::Poll<std::io::Result<usize>> {
        std::task::Poll::Ready(Err(std::io::ErrorKind::BrokenPipe.into()))
    }

    fn poll_flush(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn poll_shutdown(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        std::task::Poll::Ready(Ok(()))
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_messages_of_a_closing_server_are_read() {
    let (near, mut far) = duplex(1 << 16);
    let (reader, _writer) = split(near);
    let peer = peer();
    peer.with_engine_mut(|engine| engine.use_revision(Revision::LATEST));
    let call = peer.call(tool("any", json!({}))).expect("room");
    let answer = format!(
        "{}\n",
        json!({ "jsonrpc": "2.0", "id": call.id().to_request_id(), "result": {} })
    );
    within(far.write_all(answer.as_bytes()))
        .await
        .expect("it is read");
    let driver = start(&peer, StreamTransport::new(reader, Broken));
    within(call.outcome()).await.expect("the answer was there");
    let error = within(driver).await.expect("no panic").unwrap_err();
    assert_eq!(error.kind(), TransportErrorKind::Disconnected);
}
