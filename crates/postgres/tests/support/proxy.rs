//! A broken network between a store and its server.

use std::net::SocketAddr;
use std::path::PathBuf;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The state of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    /// Bytes arrive in both directions.
    Whole,
    /// Requests arrive, and a connection ends at the next byte of an answer.
    LosesAnswers,
    /// Bytes do not arrive until the network changes.
    Silent,
}

/// Passes the bytes of TCP connections to a Unix socket.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    network: watch::Sender<Network>,
    cuts: watch::Sender<u64>,
    _accepts: JoinSet<()>,
}

impl Proxy {
    pub(crate) async fn start(socket: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (network, seen) = watch::channel(Network::Whole);
        let (cuts, cut) = watch::channel(0);
        let mut accepts = JoinSet::new();
        accepts.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&socket).await;
                if let Ok(server) = server {
                    connections.spawn(pass(client, server, seen.clone(), cut.clone()));
                }
            }
        });
        Self {
            address,
            network,
            cuts,
            _accepts: accepts,
        }
    }

    /// Ends all connections. Later ones work.
    pub(crate) fn cut(&self) {
        self.cuts.send_modify(|count| *count += 1);
    }

    pub(crate) fn set(&self, network: Network) {
        self.network.send_replace(network);
    }
}

async fn pass(
    mut client: TcpStream,
    mut server: UnixStream,
    network: watch::Receiver<Network>,
    mut cuts: watch::Receiver<u64>,
) {
    cuts.mark_unchanged();
    let (requests, to_client) = client.split();
    let (answers, to_server) = server.split();
    tokio::select! {
        () = copy(requests, to_server, network.clone(), false) => {}
        () = copy(answers, to_client, network, true) => {}
        _ = cuts.changed() => {}
    }
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut network: watch::Receiver<Network>,
    is_answer: bool,
) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        let arrives = network.wait_for(|it| *it != Network::Silent).await;
        let is_lost = arrives.is_ok_and(|it| is_answer && *it == Network::LosesAnswers);
        if is_lost || to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
