//! The proxy between a store and its engine, in front of a server that repeats lines.

use std::net::Ipv4Addr;
use std::time::Duration;

use pintle_store::conformance::{CutAt, Fault};
use pintle_testkit::stores::{Target, TcpProxy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

const REQUEST: &[u8] = b"ping";

/// A server that returns each request, and its requests.
async fn repeater() -> (Target, mpsc::UnboundedReceiver<Vec<u8>>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.expect("binds");
    let target = Target::Tcp(listener.local_addr().expect("an address"));
    let (requests, received) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(repeat(stream, requests.clone()));
        }
    });
    (target, received)
}

async fn repeat(mut stream: TcpStream, requests: mpsc::UnboundedSender<Vec<u8>>) {
    let mut buffer = [0; 64];
    while let Ok(bytes @ 1..) = stream.read(&mut buffer).await {
        requests
            .send(buffer[..bytes].to_vec())
            .expect("the test runs");
        if stream.write_all(&buffer[..bytes]).await.is_err() {
            break;
        }
    }
}

/// Sends a request, and returns the bytes until the answer is whole or the connection ends.
async fn exchange(client: &mut TcpStream) -> Vec<u8> {
    let mut answer = Vec::new();
    if client.write_all(REQUEST).await.is_ok() {
        let mut buffer = [0; 64];
        while answer.len() < REQUEST.len() {
            match client.read(&mut buffer).await {
                Ok(bytes @ 1..) => answer.extend(&buffer[..bytes]),
                _ => break,
            }
        }
    }
    answer
}

async fn connect(proxy: &TcpProxy) -> TcpStream {
    TcpStream::connect(proxy.address()).await.expect("connects")
}

#[tokio::test]
async fn a_cut_ends_the_connection_at_its_point() {
    let (target, mut received) = repeater().await;
    let proxy = TcpProxy::start(target, 0).await.expect("starts");
    for (number, (at, request, answer)) in [
        (CutAt::BeforeRequest, "", ""),
        (CutAt::InsideRequest, "pi", ""),
        (CutAt::BeforeAnswer, "ping", ""),
        (CutAt::InsideAnswer, "ping", "pi"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut client = connect(&proxy).await;
        proxy.set_fault(Some(Fault::Cut { at, skip: 1 }));
        assert_eq!(exchange(&mut client).await, REQUEST, "the first passes");
        assert_eq!(received.recv().await.as_deref(), Some(REQUEST));
        assert_eq!(exchange(&mut client).await, answer.as_bytes(), "{at:?}");
        if !request.is_empty() {
            let found = received.recv().await;
            assert_eq!(found.as_deref(), Some(request.as_bytes()), "{at:?}");
        }
        assert_eq!(proxy.cuts(), number + 1);
        // A cut happens once.
        let mut client = connect(&proxy).await;
        assert_eq!(exchange(&mut client).await, REQUEST);
        assert_eq!(received.recv().await.as_deref(), Some(REQUEST));
    }
}

#[tokio::test]
async fn half_of_the_answers_after_the_handshake_are_lost() {
    let (target, _received) = repeater().await;
    let proxy = TcpProxy::start(target, 1).await.expect("starts");
    proxy.set_fault(Some(Fault::LoseAnswers));
    let (mut lost, mut passed) = (0, 0);
    for _ in 0..100 {
        let mut client = connect(&proxy).await;
        assert_eq!(exchange(&mut client).await, REQUEST, "the handshake passes");
        match exchange(&mut client).await.len() {
            0 => lost += 1,
            _ => passed += 1,
        }
    }
    assert!(lost > 25 && passed > 25, "{lost} lost, {passed} passed");
    assert_eq!(proxy.cuts(), lost);
}

#[tokio::test]
async fn a_pause_holds_bytes_until_it_ends() {
    let (target, mut received) = repeater().await;
    let proxy = TcpProxy::start(target, 0).await.expect("starts");
    let mut client = connect(&proxy).await;
    assert_eq!(exchange(&mut client).await, REQUEST);
    assert_eq!(received.recv().await.as_deref(), Some(REQUEST));

    proxy.set_fault(Some(Fault::Pause));
    client.write_all(REQUEST).await.expect("writes");
    let waiting = tokio::time::timeout(Duration::from_millis(50), received.recv());
    assert!(waiting.await.is_err(), "a request passes in a pause");
    proxy.set_fault(None);
    assert_eq!(received.recv().await.as_deref(), Some(REQUEST));
}

#[tokio::test]
async fn an_engine_that_is_away_accepts_no_connection() {
    let (target, _received) = repeater().await;
    let proxy = TcpProxy::start(target, 0).await.expect("starts");
    let mut client = connect(&proxy).await;
    assert_eq!(exchange(&mut client).await, REQUEST);

    proxy.set_fault(Some(Fault::Away));
    assert!(exchange(&mut client).await.is_empty());
    assert!(exchange(&mut connect(&proxy).await).await.is_empty());
    proxy.set_fault(None);
    assert_eq!(exchange(&mut connect(&proxy).await).await, REQUEST);
}
