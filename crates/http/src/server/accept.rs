//! Who is let in: as many connections as there is room for, and none while accepting fails.

use std::future::Future;
use std::io;
use std::time::Duration;

use pintle_runtime::{Service, Shutdown};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::connection::Connection;
use super::site::Front;
use super::{HttpLimits, HttpService};

/// How long accepting pauses after it failed; doubles up to [`LONGEST_PAUSE`].
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Where connections come from.
pub(super) trait Source {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    fn accept(&self) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    /// Prepares a stream for what lies before it.
    fn attend(stream: &Self::Stream, limits: &HttpLimits) -> io::Result<()>;
}

impl Source for TcpListener {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<TcpStream> {
        TcpListener::accept(self).await.map(|(stream, _)| stream)
    }

    /// Answers are written whole, so waiting for more to send would only delay them. A peer that
    /// vanished without a word is noticed within about two signs of life.
    fn attend(stream: &TcpStream, limits: &HttpLimits) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let socket = SockRef::from(stream);
        let probes = TcpKeepalive::new()
            .with_time(limits.keep_alive)
            .with_interval(limits.keep_alive / 3);
        #[cfg(target_os = "linux")]
        let probes = probes.with_retries(3);
        socket.set_tcp_keepalive(&probes)?;
        #[cfg(target_os = "linux")]
        socket.set_tcp_user_timeout(Some(limits.write_stall))?;
        Ok(())
    }
}

/// Accepts connections, within bounds, and runs each as a task.
pub(super) struct Acceptor<S, L = TcpListener> {
    listener: L,
    service: HttpService<S>,
    front: Front<S>,
    closed: Shutdown,
    connections: JoinSet<()>,
    pause: Duration,
    accepts_from: Instant,
}

impl<S: Service, L: Source> Acceptor<S, L> {
    pub(super) fn new(
        listener: L,
        service: HttpService<S>,
        front: Front<S>,
        closed: Shutdown,
    ) -> Self {
        Self {
            listener,
            service,
            front,
            closed,
            connections: JoinSet::new(),
            pause: SHORTEST_PAUSE,
            accepts_from: Instant::now(),
        }
    }

    /// Takes in one connection, or sees one end.
    pub(super) async fn step(&mut self) {
        let has_room = self.connections.len() < self.limits().connections;
        let from = self.accepts_from;
        let listener = &self.listener;
        let accept = async {
            sleep_until(from).await;
            listener.accept().await
        };
        tokio::select! {
            biased;
            Some(_) = self.connections.join_next() => {}
            accepted = accept, if has_room => match accepted {
                Ok(stream) => self.admit(stream),
                Err(error) => self.back_off(&error),
            },
        }
    }

    fn admit(&mut self, stream: L::Stream) {
        self.pause = SHORTEST_PAUSE;
        if let Err(error) = L::attend(&stream, self.limits()) {
            tracing::debug!(%error, "a connection is not attended to as it should be");
        }
        let connection = Connection {
            service: self.service.clone(),
            front: self.front.clone(),
            closed: self.closed.clone(),
        };
        self.connections.spawn(connection.serve(stream));
    }

    /// Out of file descriptors, usually: trying again at once would only burn the processor.
    fn back_off(&mut self, error: &io::Error) {
        if is_of_the_peer(error) {
            return;
        }
        tracing::warn!(%error, pause = ?self.pause, "accepting pauses");
        self.accepts_from = Instant::now() + self.pause;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }

    /// Accepts no more, and lets what runs finish within its time.
    pub(super) async fn drain(mut self) {
        let drain = self.limits().drain;
        drop(self.listener);
        self.service.close();
        let all_done = async { while self.connections.join_next().await.is_some() {} };
        if timeout(drain, all_done).await.is_err() {
            tracing::warn!(open = self.connections.len(), "connections are cut");
        }
    }

    fn limits(&self) -> &HttpLimits {
        &self.service.options().limits
    }
}

fn is_of_the_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use pintle_model::{Error, Implementation, ServerCapabilities};
    use pintle_proto::{Incoming, Reply, ServerProfile};
    use pintle_runtime::{Context, ShutdownHandle};
    use tokio::io::DuplexStream;

    use super::*;
    use crate::HttpOptions;
    use crate::server::site::Site;

    struct Nothing;

    impl Service for Nothing {
        async fn call(&self, request: Incoming, _cx: Context) -> Result<Reply, Error> {
            Err(Error::method_not_found(request.method.as_str()))
        }

        fn profile(&self) -> Arc<ServerProfile> {
            let identity = Implementation::new("nothing", "0");
            let capabilities = ServerCapabilities::default();
            Arc::new(ServerProfile::new(identity, capabilities))
        }
    }

    /// Fails, and notes when it was asked.
    struct Failing {
        kind: io::ErrorKind,
        asked: Mutex<Vec<Instant>>,
    }

    impl Source for Failing {
        type Stream = DuplexStream;

        async fn accept(&self) -> io::Result<DuplexStream> {
            self.asked.lock().expect("no panic").push(Instant::now());
            Err(self.kind.into())
        }

        fn attend(_: &DuplexStream, _: &HttpLimits) -> io::Result<()> {
            Ok(())
        }
    }

    /// How long it takes to fail eight times, in milliseconds, each time.
    async fn pauses(kind: io::ErrorKind) -> Vec<u128> {
        let (_closing, closed) = ShutdownHandle::new();
        let service = HttpService::new(Nothing, HttpOptions::default());
        let listener = Failing {
            kind,
            asked: Mutex::default(),
        };
        let front = Front::Bare(Site::new(service.clone()));
        let mut acceptor = Acceptor::new(listener, service, front, closed);
        for _ in 0..8 {
            acceptor.step().await;
        }
        let asked = acceptor.listener.asked.into_inner().expect("no panic");
        asked
            .windows(2)
            .map(|two| (two[1] - two[0]).as_millis())
            .collect()
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
}
