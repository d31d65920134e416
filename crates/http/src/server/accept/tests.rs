//! Whole connections, over pipes in memory and on a paused clock.

mod place;

use std::time::Duration;

use super::*;
use crate::HttpOptions;
use place::{Failing, Place, Remote, call, check, get, in_session, initialize, list, listen};
use serde_json::{Value, json};

const SECOND: Duration = Duration::from_secs(1);

/// How long it takes to fail eight times, in milliseconds, each time.
async fn pauses(kind: io::ErrorKind) -> Vec<u128> {
    let asked = Failing::new(kind).until_asked(8).await;
    let between = asked.windows(2).map(|two| (two[1] - two[0]).as_millis());
    between.collect()
}

// hardening: H-181
#[tokio::test(start_paused = true)]
async fn accepting_pauses_longer_and_longer_while_it_fails() {
    let out_of_descriptors = io::ErrorKind::Other;
    let expected = [50, 100, 200, 400, 800, 1000, 1000];
    assert_eq!(pauses(out_of_descriptors).await, expected);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_is_gone_already_costs_no_pause() {
    assert_eq!(pauses(io::ErrorKind::ConnectionAborted).await, [0; 7]);
}

// hardening: H-181
#[tokio::test(start_paused = true)]
async fn while_accepting_fails_connections_are_served_and_later_new_ones_are() {
    let place = Place::open(HttpOptions::default());
    let mut first = place.connect();
    assert_eq!(first.ask(&list()).await, 200);
    for _ in 0..3 {
        place.fail();
    }
    let mut second = place.connect();
    let began = Instant::now();
    assert_eq!(first.ask(&list()).await, 200);
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(second.ask(&list()).await, 200);
    assert_eq!(began.elapsed().as_millis(), 50 + 100 + 200);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_shall_end_is_not_ready_and_serves_until_its_delay() {
    let mut options = HttpOptions::default();
    options.limits.shutdown_delay = Duration::from_secs(5);
    options.serve_health = true;
    let mut place = Place::open(options);
    assert_eq!(place.connect().ask(&check("/readyz")).await, 200);
    let began = Instant::now();
    place.begin_end();
    tokio::time::sleep_until(began + Duration::from_millis(4_900)).await;
    assert_eq!(place.connect().ask(&check("/readyz")).await, 503);
    assert_eq!(place.connect().ask(&check("/healthz")).await, 200);
    assert_eq!(place.connect().ask(&list()).await, 200);
    assert_eq!(place.ended().await, (0, 0));
    assert_eq!(began.elapsed(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn responses_close_their_connections_once_the_shutdown_is_announced() {
    let mut options = HttpOptions::default();
    options.limits.shutdown_delay = Duration::from_secs(5);
    let mut place = Place::open(options);
    let [mut idle, mut busy] = [(); 2].map(|()| place.connect());
    for peer in [&mut idle, &mut busy] {
        peer.send(&list()).await;
        assert!(!peer.head().await.contains("connection: close"));
    }
    busy.send(&call("slow", 1)).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    place.begin_end();
    tokio::task::yield_now().await;
    idle.send(&list()).await;
    for peer in [&mut idle, &mut busy] {
        assert!(peer.head().await.contains("connection: close"));
        assert_eq!(peer.rest().await, "");
    }
    assert_eq!(place.ended().await, (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_waits_at_the_end_of_the_delay_is_served() {
    for delay in [SECOND, 10 * SECOND] {
        let mut options = HttpOptions::default();
        options.limits.shutdown_delay = delay;
        let mut place = Place::open(options);
        place.connect().ask(&list()).await;
        place.begin_end();
        let began = Instant::now();
        tokio::time::sleep_until(began + delay - QUIET.min(delay / 10)).await;
        let mut late = place.connect();
        assert_eq!(late.ask(&list()).await, 200, "{delay:?}");
        drop(late);
        place.ended().await;
        assert!(began.elapsed() >= delay);
    }
}

#[tokio::test(start_paused = true)]
async fn the_connections_of_one_address_leave_room_for_others() {
    let mut options = HttpOptions::default();
    options.limits.max_connections_per_address = 2;
    let proxies = crate::TrustedProxies::x_forwarded_for(["10.0.0.1"]);
    options.trusted_proxies = proxies.expect("valid");
    let place = Place::open(options);
    let from = |address: &str| place.connect_from(Some(address.parse().expect("an address")));
    let mut served = Vec::new();
    for address in [
        "192.0.2.1",
        "192.0.2.1",
        "192.0.2.2",
        "10.0.0.1",
        "10.0.0.1",
        "10.0.0.1",
    ] {
        let mut peer = from(address);
        assert_eq!(peer.ask(&list()).await, 200, "{address}");
        served.push(peer);
    }
    assert_eq!(from("192.0.2.1").ask(&list()).await, 0);
    drop(served.remove(0));
    tokio::task::yield_now().await;
    assert_eq!(from("192.0.2.1").ask(&list()).await, 200);
}

#[tokio::test(start_paused = true)]
async fn as_many_connections_are_served_as_there_is_room_for() {
    for (connections, room) in [(2, 2), (1, 1), (0, 1)] {
        let mut options = HttpOptions::default();
        options.limits.max_connections = connections;
        let place = Place::open(options);
        let mut served = Vec::new();
        for _ in 0..room {
            let mut peer = place.connect();
            assert_eq!(peer.ask(&list()).await, 200);
            served.push(peer);
        }
        let mut one_more = place.connect();
        one_more.send(&list()).await;
        let waiting = timeout(20 * SECOND, one_more.status()).await;
        assert!(waiting.is_err(), "{connections} connections");
        drop(served.pop());
        assert_eq!(one_more.status().await, 200);
    }
}

// hardening: H-153
#[tokio::test(start_paused = true)]
async fn a_head_has_its_time_however_it_trickles() {
    for silence in [1, 29, 31] {
        let place = Place::open(HttpOptions::default());
        let mut slow = place.connect();
        let began = Instant::now();
        let ended = slow.trickle(list().as_bytes(), silence * SECOND).await;
        assert!(!ended.contains("200"), "{ended}");
        assert_eq!(began.elapsed(), 30 * SECOND, "a byte every {silence} s");
    }
}

// hardening: H-153
#[tokio::test(start_paused = true)]
async fn a_later_head_has_as_much_time_from_its_first_byte() {
    let place = Place::open(HttpOptions::default());
    let mut peer = place.connect();
    assert_eq!(peer.ask(&list()).await, 200);
    tokio::time::sleep(50 * SECOND).await;
    let began = Instant::now();
    peer.trickle(list().as_bytes(), SECOND).await;
    assert_eq!(began.elapsed(), 30 * SECOND);
}

// hardening: H-153
#[tokio::test(start_paused = true)]
async fn a_slow_client_within_the_timeouts_is_served() {
    let place = Place::open(HttpOptions::default());
    let mut slow = place.connect();
    let request = list();
    let (head, body) = request.split_at(request.find("{").expect("a body"));
    // The head takes 29 s of 30, and the body 290 s of 300, in pauses of 29 s.
    let pieces = body.as_bytes().chunks(body.len().div_ceil(10));
    let pieces = pieces.map(|piece| str::from_utf8(piece).expect("text"));
    let began = Instant::now();
    slow.send(&head[..20]).await;
    tokio::time::sleep(29 * SECOND).await;
    slow.send(&head[20..]).await;
    for piece in pieces {
        tokio::time::sleep(29 * SECOND).await;
        slow.send(piece).await;
    }
    assert_eq!(slow.status().await, 200);
    assert_eq!(began.elapsed(), 11 * 29 * SECOND);
}

// hardening: H-153
#[tokio::test(start_paused = true)]
async fn a_body_has_its_time_however_it_trickles() {
    for (silence, ends) in [(1, 300), (29, 300), (31, 30)] {
        let place = Place::open(HttpOptions::default());
        let mut slow = place.connect();
        let request = list();
        let (head, body) = request.split_at(request.find("{").expect("a body"));
        let head = head.replace("content-length", "content-length: 100000\r\nx-was");
        slow.send(&head).await;
        let began = Instant::now();
        let body = body.repeat(100);
        let answer = slow.trickle(body.as_bytes(), silence * SECOND).await;
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
        assert!(began.elapsed() >= ends * SECOND, "{:?}", began.elapsed());
        // The server still reads for a moment, so that the response is not lost.
        assert!(
            began.elapsed() <= (ends + 31) * SECOND,
            "{:?}",
            began.elapsed()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_kept_for_its_time_and_then_closed() {
    let place = Place::open(HttpOptions::default());
    let mut peer = place.connect();
    for _ in 0..3 {
        assert_eq!(peer.ask(&list()).await, 200);
        tokio::time::sleep(59 * SECOND).await;
    }
    // A call is not idle, however long it takes.
    peer.send(&call("slow", 100)).await;
    let began = Instant::now();
    let rest = peer.rest().await;
    assert!(rest.contains("slow is done"), "{rest}");
    assert_eq!(began.elapsed(), 160 * SECOND);
}

// hardening: H-139
#[tokio::test(start_paused = true)]
async fn a_connection_that_never_asks_is_closed() {
    let place = Place::open(HttpOptions::default());
    let began = Instant::now();
    assert_eq!(place.connect().rest().await, "");
    assert_eq!(began.elapsed(), 30 * SECOND);
}

// hardening: H-186
#[tokio::test(start_paused = true)]
async fn a_peer_that_reads_no_answer_is_left() {
    let place = Place::open(HttpOptions::default());
    let mut deaf = place.connect();
    deaf.send(&call("large", 1 << 20)).await;
    let began = Instant::now();
    deaf.until_left().await;
    assert!(began.elapsed() >= 30 * SECOND);
    assert!(began.elapsed() <= 32 * SECOND);
    assert_eq!(place.connect().ask(&list()).await, 200);
}

// hardening: H-176
#[tokio::test(start_paused = true)]
async fn the_end_waits_for_calls_and_ends_streams() {
    let mut place = Place::open(HttpOptions::default());
    let session = place.connect().session().await;
    let (mut idle, mut caller) = (place.connect(), place.connect());
    let (mut stream, mut listener) = (place.connect(), place.connect());
    assert_eq!(idle.ask(&list()).await, 200);
    caller.send(&call("slow", 9)).await;
    stream.send(&get(&session)).await;
    listener.send(&listen()).await;
    tokio::time::sleep(SECOND).await;

    place.begin_end();
    let began = Instant::now();
    for (peer, said) in [
        (&mut idle, ""),
        (&mut stream, "text/event-stream"),
        (&mut listener, "\"resultType\":\"complete\""),
    ] {
        let rest = peer.rest().await;
        assert!(rest.contains(said), "{rest}");
        assert!(began.elapsed() <= SECOND, "{said}");
    }
    let answer = caller.rest().await;
    assert!(answer.contains("slow is done"), "{answer}");
    drop(caller);
    assert_eq!(place.ended().await, (1, 0), "finished and dropped");
    assert_eq!(began.elapsed(), 8 * SECOND);
}

/// A server that ends after a second, and its last two connections. They send nothing before the listener has closed, and
/// then the first one a call, whose question is the value.
async fn asked_last() -> (Place, String, [Remote; 2], Value, Instant) {
    let mut options = HttpOptions::default();
    options.limits.shutdown_delay = SECOND;
    let mut place = Place::open(options);
    let session = place.connect().session().await;
    place.begin_end();
    let began = Instant::now();
    let millisecond = Duration::from_millis(1);
    tokio::time::sleep_until(began + SECOND - QUIET - millisecond).await;
    let [mut caller, other] = [(); 2].map(|()| place.connect());
    tokio::time::sleep_until(began + SECOND - millisecond).await;
    let params = json!({ "name": "ask", "arguments": {} });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    caller.send(&in_session(&session, &call)).await;
    let question = caller.message().await;
    assert_eq!(question["method"], "roots/list");
    (place, session, [caller, other], question, began)
}

#[tokio::test(start_paused = true)]
async fn the_end_waits_for_the_answer_to_a_question_of_the_last_call() {
    let (place, session, [mut caller, mut other], question, began) = asked_last().await;
    let later = began + Duration::from_millis(3_007);
    tokio::time::sleep_until(later).await;
    let roots = json!({ "roots": [{ "uri": "file:///a" }] });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": roots });
    assert_eq!(other.ask(&in_session(&session, &answer)).await, 202);
    assert!(caller.rest().await.contains("1 roots"));
    drop((caller, other));
    assert_eq!(place.ended().await, (1, 0), "finished and dropped");
    assert_eq!(Instant::now(), later, "it notices the answer at once");
}

#[tokio::test(start_paused = true)]
async fn a_question_without_an_answer_leaves_time_for_its_error() {
    let (place, _, [mut caller, other], _, began) = asked_last().await;
    let rest = caller.rest().await;
    assert!(rest.contains("\"id\":1"), "{rest}");
    drop((caller, other));
    assert_eq!(place.ended().await, (1, 0), "finished and dropped");
    // A tenth of the rest of the time is for the error.
    assert_eq!(began.elapsed(), SECOND + 9 * SECOND);
}

// hardening: H-176
#[tokio::test(start_paused = true)]
async fn the_end_waits_no_longer_than_its_time() {
    let mut place = Place::open(HttpOptions::default());
    let session = place.connect().session().await;
    let mut peers = Vec::new();
    for request in [
        call("slow", 1000),
        call("slow", 1000).replace(
            "mcp-method",
            &format!("mcp-session-id: {session}\r\nmcp-method"),
        ),
        initialize()[..40].to_owned(),
        list()[..list().len() - 5].to_owned(),
    ] {
        let mut peer = place.connect();
        peer.send(&request).await;
        peers.push(peer);
    }
    tokio::time::sleep(SECOND).await;

    place.begin_end();
    let began = Instant::now();
    assert_eq!(place.ended().await, (0, 2), "finished and dropped");
    assert_eq!(began.elapsed(), 10 * SECOND);
    for peer in &mut peers {
        assert!(!peer.rest().await.contains("done"));
    }
}

// hardening: H-179
#[tokio::test]
async fn a_vanished_peer_is_detected_within_two_keep_alive_intervals() {
    let limits = HttpLimits::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let (_peer, stream) = tokio::join!(TcpStream::connect(address), Source::accept(&listener));
    let (stream, _) = stream.expect("a connection");
    TcpListener::attend(&stream, &limits).expect("a system with signs of life");

    let socket = SockRef::from(&stream);
    assert!(socket.keepalive().expect("said"));
    assert!(stream.nodelay().expect("said"));
    let first = socket.tcp_keepalive_time().expect("said");
    let others = socket.tcp_keepalive_interval().expect("said");
    let count = socket.tcp_keepalive_retries().expect("said");
    // Either it is silent, or what we write is not taken.
    assert_eq!(first + others * count, 2 * limits.keep_alive_interval);
    #[cfg(target_os = "linux")]
    assert_eq!(
        socket.tcp_user_timeout().expect("said"),
        Some(2 * limits.keep_alive_interval)
    );
}
