//! A fixed number of connections, which reconnect on their own.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pintle_store::{StoreError, StoreLimits};
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::{Client, Row};

use crate::backoff::Backoff;
use crate::operation_error::OperationError;
use crate::session::{Parameter, Session, drive, open};
use crate::statements::Operation;
use crate::target::Target;
use crate::tls::Tls;

/// The connections of a store. Dropping the pool ends them after their pending operations.
pub(crate) struct Pool {
    slots: Arc<Slots>,
    next: AtomicUsize,
    pending: Semaphore,
    max_pending: usize,
    pending_bytes: Semaphore,
    max_pending_bytes: usize,
    /// One task per slot. Ends with the pool.
    _keepers: JoinSet<()>,
}

struct Slots {
    target: Arc<Target>,
    tls: Tls,
    sessions: Vec<Mutex<Option<Arc<Session>>>>,
    /// Changes with each new connection.
    opened: watch::Sender<u64>,
    /// The error of the last attempt to connect.
    error: Mutex<String>,
}

/// An open connection, and the task that exchanges its bytes.
pub(crate) struct Live {
    session: Arc<Session>,
    driver: JoinHandle<()>,
}

impl Live {
    /// Prepares the statements.
    ///
    /// # Errors
    ///
    /// The error of the server.
    pub(crate) async fn prepare(
        client: Client,
        driver: JoinHandle<()>,
        target: &Target,
    ) -> Result<Self, tokio_postgres::Error> {
        let session = Session::prepare(client, &driver, target).await;
        let session = Arc::new(session.inspect_err(|_| driver.abort())?);
        Ok(Self { session, driver })
    }
}

impl Pool {
    /// Begins with one connection, and opens the others in the background.
    pub(crate) fn start(first: Live, target: Arc<Target>, tls: Tls, limits: &StoreLimits) -> Self {
        let max_pending = limits.max_queued_writes.clamp(1, Semaphore::MAX_PERMITS);
        let max_pending_bytes = limits.max_queued_bytes.clamp(1, u32::MAX as usize);
        let slots = Arc::new(Slots {
            sessions: (0..target.connections).map(|_| Mutex::default()).collect(),
            target,
            tls,
            opened: watch::Sender::new(0),
            error: Mutex::default(),
        });
        let mut keepers = JoinSet::new();
        slots.publish(0, &first);
        let mut first = Some(first);
        for slot in 0..slots.sessions.len() {
            keepers.spawn(Arc::clone(&slots).keep(slot, first.take()));
        }
        Self {
            slots,
            next: AtomicUsize::new(0),
            pending: Semaphore::new(max_pending),
            max_pending,
            pending_bytes: Semaphore::new(max_pending_bytes),
            max_pending_bytes,
            _keepers: keepers,
        }
    }

    /// Carries out one operation with `bytes` bytes of values. A lost connection fails a write, because
    /// the write may have happened. A read is repeated once.
    ///
    /// # Errors
    ///
    /// [`StoreError::Backend`] with the error of the server or of the connection, or if too many
    /// operations wait.
    pub(crate) async fn call(
        &self,
        operation: Operation,
        parameters: &[Parameter<'_>],
        bytes: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let _pending = self.enter(bytes)?;
        let limit = self.slots.target.operation_timeout;
        let end = Instant::now() + limit;
        match self.attempt(operation, parameters, end).await {
            Err(OperationError::Lost(_)) if operation.is_repeatable() => {
                self.attempt(operation, parameters, end).await
            }
            ended => ended,
        }
        .map_err(StoreError::from)
    }

    /// Counts an operation that waits. One that waits alone may have more bytes than the limit.
    fn enter(&self, bytes: usize) -> Result<[SemaphorePermit<'_>; 2], OperationError> {
        let place = self
            .pending
            .try_acquire()
            .map_err(|_| OperationError::TooMany(self.max_pending))?;
        let most = self.max_pending_bytes;
        let bytes = u32::try_from(bytes.min(most)).unwrap_or(u32::MAX);
        let room = self.pending_bytes.try_acquire_many(bytes);
        Ok([place, room.map_err(|_| OperationError::TooLarge(most))?])
    }

    async fn attempt(
        &self,
        operation: Operation,
        parameters: &[Parameter<'_>],
        end: Instant,
    ) -> Result<Vec<Row>, OperationError> {
        let limit = self.slots.target.operation_timeout;
        let session = timeout_at(end, self.session()).await;
        let session =
            session.map_err(|_| OperationError::NoConnection(limit, self.slots.last_error()))?;
        let answer = timeout_at(end, session.call(operation, parameters)).await;
        let ended = match answer {
            Ok(answer) => answer.map_err(|error| OperationError::new(&error)),
            Err(_) => Err(OperationError::TimedOut(limit)),
        };
        if ended.as_ref().is_err_and(OperationError::ends_connection) {
            session.close();
        }
        ended
    }

    /// Returns the open connection with the fewest pending operations. Avoids connections without answers,
    /// because an operation that waits for a lock delays those behind it. Waits if none is open.
    async fn session(&self) -> Arc<Session> {
        let mut opened = self.slots.opened.subscribe();
        loop {
            opened.mark_unchanged();
            let first = self.next.fetch_add(1, Ordering::Relaxed);
            let count = self.slots.sessions.len();
            let slots = (0..count).map(|step| first.wrapping_add(step) % count);
            let open = slots.filter_map(|slot| self.slots.open(slot));
            let found = open.min_by_key(|session| session.rank());
            if let Some(session) = found {
                return session;
            }
            // The sender lives as long as the pool.
            let _ = opened.changed().await;
        }
    }
}

impl Slots {
    fn open(&self, slot: usize) -> Option<Arc<Session>> {
        let session = lock(&self.sessions[slot]).clone();
        session.filter(|it| !it.is_closed())
    }

    fn publish(&self, slot: usize, live: &Live) {
        *lock(&self.sessions[slot]) = Some(Arc::clone(&live.session));
        self.opened
            .send_modify(|number| *number = number.wrapping_add(1));
    }

    fn last_error(&self) -> String {
        lock(&self.error).clone()
    }

    /// Keeps the connection of one slot open.
    async fn keep(self: Arc<Self>, slot: usize, mut first: Option<Live>) {
        loop {
            let live = match first.take() {
                Some(live) => live,
                None => self.reconnect().await,
            };
            self.publish(slot, &live);
            // The task ends with its connection. It does not panic.
            let _ = live.driver.await;
            *lock(&self.sessions[slot]) = None;
            tracing::debug!(slot, "a connection to PostgreSQL has ended");
        }
    }

    /// Tries to connect until it succeeds, with growing pauses.
    async fn reconnect(&self) -> Live {
        let mut backoff = Backoff::default();
        loop {
            match self.connect().await {
                Ok(live) => return live,
                Err(error) => {
                    tracing::debug!(%error, "cannot connect to PostgreSQL");
                    *lock(&self.error) = error;
                }
            }
            sleep(backoff.next()).await;
        }
    }

    /// The texts of errors have no credentials.
    async fn connect(&self) -> Result<Live, String> {
        let target = &self.target;
        let opened = open(&target.config, target, &self.tls).await;
        let (client, connection) = opened.map_err(|error| error.to_string())?;
        let started = Live::prepare(client, drive(connection), target);
        match tokio::time::timeout(target.connect_timeout, started).await {
            Ok(started) => started.map_err(|error| OperationError::new(&error).to_string()),
            Err(_) => Err("the statements cannot be prepared in time".to_owned()),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.slots.target.fmt(f)
    }
}
