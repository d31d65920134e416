//! The connections for operations. Each sends operations without waiting for the answers of earlier ones,
//! and is replaced at its next use after it has ended.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pintle_store::{StoreError, StoreLimits};
use redis::{
    AsyncConnectionConfig, ErrorKind, FromRedisValue, RedisError, RedisResult, ServerErrorKind,
    Value,
};

use crate::connect_error::ClientError;
use crate::connection::Confirmation;
use crate::operation_error::{OperationError, needs_connection};
use crate::pending::Pending;
use crate::scripts::Call;
use crate::servers::{Connecting, Servers, connecting};
use crate::target::Target;

/// All connections for operations.
pub(crate) struct Link {
    slots: Vec<Slot>,
    /// Connection for writes that wait for replicas, because other operations would wait with them.
    confirming: Option<Slot>,
    turn: AtomicUsize,
    pending: Pending,
    replicas: usize,
    timeout: Duration,
    secrets: Vec<String>,
}

impl Link {
    /// Opens the connections.
    pub(crate) async fn open(
        servers: &Arc<Servers>,
        target: &Target,
        limits: &StoreLimits,
    ) -> RedisResult<Self> {
        let max_pending = limits.max_queued_writes;
        let mut slots = Vec::new();
        for _ in 0..target.connections {
            slots.push(Slot::open(servers, target, max_pending).await?);
        }
        let confirming = match target.replicas {
            0 => None,
            _ => Some(Slot::open(servers, target, max_pending).await?),
        };
        Ok(Self {
            slots,
            confirming,
            turn: AtomicUsize::new(0),
            pending: Pending::new(limits),
            replicas: target.replicas,
            timeout: target.operation_timeout,
            secrets: target.secrets.clone(),
        })
    }

    /// Carries out an operation.
    ///
    /// # Errors
    ///
    /// [`StoreError::Backend`]. Unless too many operations wait, the operation may have happened. It is
    /// never sent a second time, except when Redis did not know its script.
    pub(crate) async fn run<T: FromRedisValue>(&self, call: Call) -> Result<T, StoreError> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let slot = &self.slots[turn % self.slots.len()];
        let (answer, _) = self.bounded(call.bytes, slot.send(&call, None)).await?;
        Ok(answer)
    }

    /// Carries out a write, and waits for replicas if the URL requires it.
    pub(crate) async fn write<T: FromRedisValue>(&self, call: Call) -> Result<T, StoreError> {
        let Some(slot) = &self.confirming else {
            return self.run(call).await;
        };
        let confirmation = Confirmation {
            replicas: self.replicas,
            // The connection must answer before the operation times out.
            limit: self.timeout * 3 / 4,
        };
        let sent = slot.send(&call, Some(confirmation));
        let (answer, found) = self.bounded(call.bytes, sent).await?;
        if found < self.replicas {
            let required = self.replicas;
            return Err(OperationError::Unconfirmed { found, required }.into());
        }
        Ok(answer)
    }

    /// Sends a call without limits, for the start.
    pub(crate) async fn send<T: FromRedisValue>(&self, call: &Call) -> RedisResult<T> {
        self.slots[0]
            .send(call, None)
            .await
            .map(|(answer, _)| answer)
    }

    /// Returns the descriptions of the servers that accept writes.
    pub(crate) async fn descriptions(&self) -> RedisResult<Vec<String>> {
        let mut connection = self.slots[0].current().connection.await?;
        connection.descriptions().await
    }

    async fn bounded<T>(
        &self,
        bytes: usize,
        operation: impl Future<Output = RedisResult<T>>,
    ) -> Result<T, StoreError> {
        let _place = self.pending.begin(bytes)?;
        let ended = tokio::time::timeout(self.timeout, operation).await;
        let ended = ended.map_err(|_| OperationError::TimedOut(self.timeout))?;
        Ok(ended
            .map_err(|error| OperationError::new(&error, ClientError::of(&error, &self.secrets)))?)
    }
}

/// One connection, which can be replaced.
struct Slot {
    servers: Arc<Servers>,
    config: AsyncConnectionConfig,
    current: Mutex<Current>,
}

#[derive(Clone)]
struct Current {
    connection: Connecting,
    /// Number of replacements.
    generation: u64,
}

impl Slot {
    async fn open(
        servers: &Arc<Servers>,
        target: &Target,
        max_pending: usize,
    ) -> RedisResult<Self> {
        // An operation that finds no connection opens one, and waits for it within its time.
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(target.connect_timeout))
            .set_response_timeout(None)
            .set_pipeline_buffer_size(max_pending.max(1));
        let connection = connecting(servers, &config);
        connection.clone().await?;
        let generation = 0;
        Ok(Self {
            servers: Arc::clone(servers),
            config,
            current: Mutex::new(Current {
                connection,
                generation,
            }),
        })
    }

    fn current(&self) -> Current {
        self.current
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Sends a call. Returns its answer and the number of replicas that have acknowledged it.
    async fn send<T: FromRedisValue>(
        &self,
        call: &Call,
        confirmation: Option<Confirmation>,
    ) -> RedisResult<(T, usize)> {
        let current = self.current();
        let sent = async {
            let mut connection = current.connection.await?;
            let sent = connection.send(call, confirmation).await;
            match sent {
                Err(error) if is_unknown_script(&error) => {
                    let whole = call.with_whole_script();
                    connection.send(&whole, confirmation).await
                }
                sent => sent,
            }
        };
        let sent = sent.await;
        let sent = sent.inspect_err(|error| self.replace_after(error, current.generation));
        let (answer, replicas) = sent?;
        Ok((redis::from_redis_value(answer)?, replicas))
    }

    /// Replaces a connection that has ended, or whose server accepts no writes any more.
    fn replace_after(&self, error: &RedisError, generation: u64) {
        if !needs_connection(error) {
            return;
        }
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.generation == generation {
            current.connection = connecting(&self.servers, &self.config);
            current.generation += 1;
        }
    }
}

fn is_unknown_script(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}

/// An answer that is ignored.
pub(crate) type Ignored = Value;
