//! Who is let in: as many connections as there is room for, and none while accepting fails.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::time::Duration;

use pintle_runtime::{Service, Shutdown, ShutdownHandle};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinSet, yield_now};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

use super::connection::Connection;
use super::site::Front;
use super::{HttpLimits, HttpService};

/// Time at the end of the delay of the shutdown without new connections, for requests on those that were accepted.
const QUIET: Duration = Duration::from_millis(50);
/// A longer time for running requests counts as this.
const LONGEST_DRAIN: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// How long accepting pauses after it failed; doubles up to [`LONGEST_PAUSE`].
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Where connections come from.
pub(super) trait Source {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Accepts a connection, with the address of its other end.
    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, Option<IpAddr>)>> + Send;

    /// Prepares a stream for what lies before it.
    fn attend(stream: &Self::Stream, limits: &HttpLimits) -> io::Result<()>;
}

impl Source for TcpListener {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<(TcpStream, Option<IpAddr>)> {
        let (stream, peer) = TcpListener::accept(self).await?;
        Ok((stream, Some(peer.ip())))
    }

    /// Answers are written whole, so waiting for more to send would only delay them. A peer that
    /// vanished without a word is noticed within about two signs of life.
    fn attend(stream: &TcpStream, limits: &HttpLimits) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let socket = SockRef::from(stream);
        let probes = TcpKeepalive::new()
            .with_time(limits.keep_alive_interval)
            .with_interval(limits.keep_alive_interval / 3);
        #[cfg(target_os = "linux")]
        let probes = probes.with_retries(3);
        socket.set_tcp_keepalive(&probes)?;
        #[cfg(target_os = "linux")]
        socket.set_tcp_user_timeout(Some(limits.write_timeout))?;
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

    /// Serves until `end` is ready, and for the delay of the shutdown. Then it waits for answers to questions, and
    /// closes. Requests that run may finish within their time, which includes this wait.
    pub(super) async fn run_until(
        mut self,
        closing: ShutdownHandle,
        end: impl Future<Output = ()>,
    ) {
        let service = self.service.clone();
        let mut end = pin!(async {
            end.await;
            service.begin_drain();
            let limits = &service.options().limits;
            let quiet = QUIET.min(limits.shutdown_delay / 10);
            sleep(limits.shutdown_delay - quiet).await;
            let drain = limits.drain_timeout.min(LONGEST_DRAIN);
            let deadline = Instant::now() + quiet + drain;
            // Without the listener a client cannot answer. The rest of the time is for errors of calls without an answer.
            let answered = timeout(drain - drain / 10, service.until_answered()).await;
            if answered.is_err() {
                tracing::warn!("questions to clients are cancelled");
            }
            (quiet, deadline)
        });
        let (quiet, deadline) = loop {
            tokio::select! {
                biased;
                end = &mut end => break end,
                () = self.step() => {}
            }
        };
        self.accept_waiting().await;
        self.drain(closing, quiet, deadline).await;
    }

    /// Accepts the connections that wait, because their clients may have sent a request.
    async fn accept_waiting(&mut self) {
        while self.connections.len() < self.limits().max_connections {
            // The runtime then polls for connections.
            yield_now().await;
            let accepted = tokio::select! {
                biased;
                accepted = self.listener.accept() => accepted,
                () = std::future::ready(()) => return,
            };
            match accepted {
                Ok((stream, address)) => self.admit(stream, address),
                Err(_) => return,
            }
        }
    }

    /// Takes in one connection, or sees one end.
    async fn step(&mut self) {
        let has_room = self.connections.len() < self.limits().max_connections.max(1);
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
                Ok((stream, address)) => self.admit(stream, address),
                Err(error) => self.back_off(&error),
            },
        }
    }

    fn admit(&mut self, stream: L::Stream, address: Option<IpAddr>) {
        self.pause = SHORTEST_PAUSE;
        let Ok(permit) = self.service.connection_permit(address) else {
            // Closed at once, because a response would need the memory of a connection.
            tracing::debug!(
                setting = "HttpLimits::max_connections_per_address, HttpOptions::trusted_proxies",
                "a connection is closed: its address has too many"
            );
            return;
        };
        if let Err(error) = L::attend(&stream, self.limits()) {
            tracing::debug!(%error, "a connection is not attended to as it should be");
        }
        let connection = Connection {
            service: self.service.clone(),
            front: self.front.clone(),
            closed: self.closed.clone(),
            address,
            _permit: permit,
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

    /// Accepts no connection, serves those that were accepted, and closes.
    async fn drain(mut self, closing: ShutdownHandle, quiet: Duration, deadline: Instant) {
        drop(self.listener);
        sleep(quiet).await;
        // A call that arrived last may have asked meanwhile. Another replica passes the answer on.
        let spare = deadline.saturating_duration_since(Instant::now()) / 10;
        if timeout_at(deadline - spare, self.service.until_answered())
            .await
            .is_err()
        {
            tracing::warn!("late questions to clients are cancelled");
        }
        closing.begin();
        self.service.close();
        let all_done = async { while self.connections.join_next().await.is_some() {} };
        if timeout_at(deadline, all_done).await.is_err() {
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
mod tests;
