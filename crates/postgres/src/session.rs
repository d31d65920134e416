//! One connection with its prepared statements.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::try_join_all;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{Instant, timeout};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Connection, Error, Row, Socket, Statement};

use crate::connect_error::ConnectError;
use crate::load::{Load, Rank};
use crate::statements::Operation;
use crate::target::Target;
use crate::tls::{Stream, Tls};

/// A parameter of a statement.
pub(crate) type Parameter<'a> = &'a (dyn ToSql + Sync);

/// A connection of the pool. Operations share it: the server receives them one after the other, without
/// waiting for answers.
pub(crate) struct Session {
    client: Client,
    calls: Vec<Call>,
    driver: AbortHandle,
    /// The driver ends later than the call that ends it.
    is_closed: AtomicBool,
    load: Load,
}

/// The statement of one operation.
enum Call {
    Prepared(Statement),
    /// Sent with each operation, because a pooler may change the server in between.
    Text(String, Vec<Type>),
}

impl Call {
    async fn prepare(
        client: &Client,
        operation: Operation,
        target: &Target,
    ) -> Result<Self, Error> {
        let (sql, types) = (operation.sql(target), operation.types());
        if target.is_pooled {
            return Ok(Self::Text(sql, types));
        }
        Ok(Self::Prepared(client.prepare_typed(&sql, &types).await?))
    }
}

/// Opens a connection.
///
/// # Errors
///
/// [`ConnectError`] if the server cannot be reached, or refuses the user.
pub(crate) async fn open(
    config: &Config,
    target: &Target,
    tls: &Tls,
) -> Result<(Client, Connection<Socket, Stream>), ConnectError> {
    let limit = target.connect_timeout;
    let opened = timeout(limit, config.connect(tls.clone())).await;
    let host = target.host();
    target.explain(opened.map_err(|_| ConnectError::TimedOut { host, limit })?)
}

/// Starts the task that exchanges the bytes of a connection. Errors also reach the pending operations.
pub(crate) fn drive(connection: Connection<Socket, Stream>) -> JoinHandle<()> {
    tokio::spawn(async move { drop(connection.await) })
}

impl Session {
    /// Prepares a connection. `driver` exchanges its bytes.
    ///
    /// # Errors
    ///
    /// The error of the server.
    pub(crate) async fn prepare(
        client: Client,
        driver: &JoinHandle<()>,
        target: &Target,
    ) -> Result<Self, Error> {
        if !target.is_pooled {
            client
                .batch_execute(&settings(target.operation_timeout))
                .await?;
        }
        let calls = Operation::ALL.map(|operation| Call::prepare(&client, operation, target));
        let calls = try_join_all(calls).await?;
        let driver = driver.abort_handle();
        Ok(Self {
            client,
            calls,
            driver,
            is_closed: AtomicBool::new(false),
            load: Load::new(Instant::now()),
        })
    }

    /// Returns true if the connection has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire) || self.client.is_closed()
    }

    /// Ends the connection. Its pending operations fail.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.driver.abort();
    }

    /// Returns the place of this connection in the order of choice.
    pub(crate) fn rank(&self) -> Rank {
        self.load.rank(Instant::now())
    }

    /// Carries out one operation.
    ///
    /// # Errors
    ///
    /// The error of the server or of the connection.
    pub(crate) async fn call(
        &self,
        operation: Operation,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, Error> {
        let _pending = self.load.begin(Instant::now());
        match &self.calls[operation as usize] {
            Call::Prepared(statement) => self.client.query(statement, parameters).await,
            Call::Text(sql, types) => {
                let typed: Vec<_> = parameters
                    .iter()
                    .copied()
                    .zip(types.iter().cloned())
                    .collect();
                self.client.query_typed(sql, &typed).await
            }
        }
    }
}

/// The server ends a statement before its caller gives up, so an operation that is late did not happen.
fn settings(operation_timeout: Duration) -> String {
    let limit = (operation_timeout * 4 / 5).as_millis().max(1);
    format!(
        "SET statement_timeout = {limit}; SET default_transaction_isolation = 'read committed';
        SET client_min_messages = warning"
    )
}
