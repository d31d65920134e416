//! The framing of pipes over sockets: one conversation per connection.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::common::{Misbehaving, Peer, call, within};
use pintle_model::{EmptyResult, Error, Implementation};
use pintle_proto::{Reply, ServerProfile};
use pintle_runtime::{Context, PipeOptions, Service, ShutdownHandle, serve_tcp};

/// Declares that tasks can be listed.
struct WithTasks;

impl Service for WithTasks {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        Reply::complete(EmptyResult::default(), cx.terms().revision)
    }

    fn profile(&self) -> Arc<ServerProfile> {
        let tasks = json!({ "tasks": { "list": {}, "cancel": {} } });
        let capabilities = serde_json::from_value(tasks).expect("capabilities");
        let identity = Implementation::new("with-tasks", "1.0.0");
        Arc::new(ServerProfile::new(identity, capabilities))
    }
}

// spec: 2025-11-25 TASK-82
#[tokio::test]
async fn tasks_are_listed_on_a_pipe_unless_it_is_shared() {
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/list" });
    for is_shared in [false, true] {
        let mut options = PipeOptions::default();
        options.is_shared = is_shared;
        let mut peer = Peer::connect_in("2025-11-25", WithTasks, options).await;
        peer.send(list.clone()).await;
        let answer = peer.receive().await;
        assert_eq!(answer["error"]["code"] == -32601, is_shared, "{answer}");
    }
}

async fn round_trip(stream: impl AsyncRead + AsyncWrite + Unpin, tool: &str) -> Value {
    let mut stream = BufReader::new(stream);
    let request = format!("{}\n", call("2026-07-28", 1, tool));
    stream
        .write_all(request.as_bytes())
        .await
        .expect("the server reads");
    let mut line = String::new();
    within(stream.read_line(&mut line))
        .await
        .expect("the server writes");
    serde_json::from_str(&line).expect("JSON")
}

// spec: 2026-07-28 N-TRAN-04, N-TRAN-03
#[tokio::test]
async fn a_tcp_connection_is_a_conversation_and_a_panic_stays_in_it() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (handle, shutdown) = ShutdownHandle::new();
    let mut options = PipeOptions::default();
    options.shutdown = shutdown;
    let server = tokio::spawn(serve_tcp(Arc::new(Misbehaving), listener, options));

    let first = TcpStream::connect(address).await.expect("connects");
    assert_eq!(round_trip(first, "panic").await["error"]["code"], -32603);
    let second = TcpStream::connect(address).await.expect("connects");
    assert_eq!(
        round_trip(second, "echo").await["result"]["content"][0]["text"],
        "echo"
    );

    handle.begin();
    within(server).await.expect("no panic").expect("no error");
}

#[cfg(unix)]
#[tokio::test]
async fn a_unix_socket_serves_two_peers_with_the_same_ids() {
    use pintle_runtime::serve_unix;
    use tokio::net::{UnixListener, UnixStream};

    let folder = std::env::temp_dir().join(format!("pintle-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("socket");
    let listener = UnixListener::bind(&path).expect("binds");
    let (handle, shutdown) = ShutdownHandle::new();
    let mut options = PipeOptions::default();
    options.shutdown = shutdown;
    let server = tokio::spawn(serve_unix(Arc::new(Misbehaving), listener, options));

    let first = UnixStream::connect(&path).await.expect("connects");
    let second = UnixStream::connect(&path).await.expect("connects");
    let (one, two) = tokio::join!(round_trip(first, "echo"), round_trip(second, "late-panic"));
    assert_eq!(one["result"]["content"][0]["text"], "echo");
    assert_eq!(two["error"]["code"], -32603);

    handle.begin();
    within(server).await.expect("no panic").expect("no error");
    std::fs::remove_dir_all(&folder).expect("cleans up");
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_closed_after_the_handshake_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (handle, shutdown) = ShutdownHandle::new();
    let mut options = PipeOptions::default();
    options.shutdown = shutdown;
    let server = tokio::spawn(serve_tcp(Arc::new(Misbehaving), listener, options));
    let mut silent = TcpStream::connect(address).await.expect("connects");
    let mut byte = [0];
    let read = tokio::io::AsyncReadExt::read(&mut silent, &mut byte);
    assert_eq!(
        within(read).await.expect("no error"),
        0,
        "the server hangs up"
    );
    handle.begin();
    within(server).await.expect("no panic").expect("no error");
}
