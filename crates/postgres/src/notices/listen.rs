//! The connection that receives notifications.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::poll_fn;
use pintle_store::Watchers;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, Client, Connection, Socket};

use super::payload::{self, Report, Sender};
use crate::backoff::Backoff;
use crate::connect_error::ConnectError;
use crate::session::open;
use crate::target::Target;
use crate::tls::{Stream, Tls};

/// Receives the notifications of other openings, and wakes the watchers.
pub(crate) struct Listener {
    pub(crate) target: Arc<Target>,
    pub(crate) tls: Tls,
    pub(crate) watchers: Arc<Watchers>,
    pub(crate) sender: Sender,
}

/// A connection that listens. Dropping the client ends it.
pub(crate) struct Listening {
    _client: Client,
    driver: JoinHandle<()>,
}

impl Listener {
    /// Opens the connection, and begins to listen.
    ///
    /// # Errors
    ///
    /// As [`open`].
    pub(crate) async fn listen(&self) -> Result<Listening, ConnectError> {
        let target = &self.target;
        let (client, connection) = open(&target.listen, target, &self.tls).await?;
        let driver = tokio::spawn(receive(connection, Arc::clone(&self.watchers), self.sender));
        let sql = format!("LISTEN \"{}\"", target.schema);
        let (host, limit) = (target.host(), target.connect_timeout);
        let listens = timeout(limit, client.batch_execute(&sql)).await;
        target.explain(listens.map_err(|_| ConnectError::TimedOut { host, limit })?)?;
        Ok(Listening {
            _client: client,
            driver,
        })
    }

    /// Keeps the connection open.
    pub(crate) async fn run(self, mut listening: Listening) {
        loop {
            // The task ends with its connection. It does not panic.
            let _ = listening.driver.await;
            listening = self.reconnect().await;
            // Notifications in between are lost.
            self.watchers.notify_all();
        }
    }

    async fn reconnect(&self) -> Listening {
        let mut backoff = Backoff::default();
        loop {
            match self.listen().await {
                Ok(listening) => return listening,
                Err(error) => tracing::debug!(%error, "cannot listen to PostgreSQL"),
            }
            sleep(backoff.next()).await;
        }
    }
}

/// Wakes watchers until the connection ends.
async fn receive(
    mut connection: Connection<Socket, Stream>,
    watchers: Arc<Watchers>,
    sender: Sender,
) {
    let mut messages = poll_fn(|cx| connection.poll_message(cx));
    while let Some(Ok(message)) = messages.next().await {
        let AsyncMessage::Notification(notification) = message else {
            continue;
        };
        match payload::read(sender, notification.payload()) {
            Report::Own => {}
            Report::Keys(keys) => keys.iter().for_each(|key| watchers.notify(key)),
            Report::All => watchers.notify_all(),
        }
    }
}
