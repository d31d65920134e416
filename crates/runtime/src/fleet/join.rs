//! The steps of a replica that joins.

use std::future::Future;

use pintle_store::{Epoch, Precondition, StoreError};
use tokio::time::{Instant, timeout_at};

use super::error::{JoinError, JoinStep};
use super::heartbeat::{Attempt, Heartbeat};
use super::layout::{self, LAYOUT};
use super::operations::Operations;
use super::options::ServerName;
use super::shared::Shared;
use crate::future::deadline_after;
use crate::random::{RandomnessError, random_bytes};

/// A replica on its way into a fleet.
pub(super) struct Joining<'a> {
    shared: &'a Shared,
    operations: Operations<'a>,
    deadline: Instant,
}

impl<'a> Joining<'a> {
    pub(super) fn new(shared: &'a Shared) -> Self {
        let timeout = shared.options.join_timeout;
        Self {
            shared,
            // The deadline ends an operation, because a first connection may be slow.
            operations: shared.operations_within(timeout.saturating_mul(2)),
            deadline: deadline_after(Instant::now(), timeout),
        }
    }

    /// Returns false if one process owns the store, so that there are no other replicas.
    pub(super) async fn join(&self) -> Result<bool, JoinError> {
        let measured = self.operations.measure_clock();
        let has_clock = self.step(JoinStep::Clock, measured).await?;
        let is_shared = has_clock || self.shared.options.is_shared;
        if let Some(server) = self.shared.options.server.clone() {
            self.claim(server).await?;
        }
        if is_shared {
            self.read_epoch().await?;
            self.list().await?;
            self.write_presence().await?;
        }
        Ok(is_shared)
    }

    /// Compares the server of the store with this one, and writes this one into a store without a server.
    pub(super) async fn claim(&self, server: ServerName) -> Result<(), JoinError> {
        let key = layout::server_key();
        let value = layout::server(&server.name);
        let create = self.operations.create(&key, value);
        match self.step(JoinStep::Server, create).await {
            Err(JoinError::Store { source, .. }) if source.is_conflict() => {
                let get = self.operations.get(&key);
                let record = self.step(JoinStep::Server, get).await?;
                let record = record.ok_or(JoinError::Damaged)?;
                compare(&server.name, &record.value)?;
            }
            created => created.map(drop)?,
        }
        self.shared.state.lock().server = Some(server);
        Ok(())
    }

    async fn read_epoch(&self) -> Result<(), JoinError> {
        let fresh = fresh_epoch().map_err(JoinError::Randomness)?;
        let read = self.operations.epoch(fresh);
        let epoch = self.step(JoinStep::Epoch, read).await?;
        self.shared.has_new_epoch(epoch);
        Ok(())
    }

    async fn list(&self) -> Result<(), JoinError> {
        let limit = self.shared.options.max_replicas;
        let list = self.operations.list(limit);
        let listed = self.step(JoinStep::List, list).await?;
        if listed.len() >= limit {
            return Err(JoinError::TooManyReplicas { limit });
        }
        let now = self.shared.now();
        self.shared.state.lock().roster.update(listed, now);
        Ok(())
    }

    async fn write_presence(&self) -> Result<(), JoinError> {
        let (shared, absent) = (self.shared, Precondition::Absent);
        let sent = Instant::now();
        let expires = shared.now() + shared.options.presence_ttl;
        let value = layout::presence(shared.state.lock().server.as_ref());
        let operations = &self.operations;
        let write = operations.write_presence(shared.replica, value, absent, expires);
        let version = self.step(JoinStep::Presence, write).await?;
        let (interval, written) = (shared.options.heartbeat_interval, Attempt { sent, expires });
        let heartbeat = Heartbeat::new(interval, written, version);
        shared.state.lock().heartbeat = Some(heartbeat);
        Ok(())
    }

    async fn step<T>(
        &self,
        step: JoinStep,
        operation: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, JoinError> {
        match timeout_at(self.deadline, operation).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(source)) => Err(JoinError::Store { step, source }),
            Err(_) => Err(JoinError::TimedOut { step }),
        }
    }
}

/// Draws the epoch of a store that has none.
pub(super) fn fresh_epoch() -> Result<Epoch, RandomnessError> {
    Ok(Epoch::new(u128::from_be_bytes(random_bytes()?)))
}

fn compare(name: &str, record: &[u8]) -> Result<(), JoinError> {
    let record = layout::read_server(record).ok_or(JoinError::Damaged)?;
    if record.schema > LAYOUT {
        let (found, supported) = (record.schema, LAYOUT);
        return Err(JoinError::OtherLayout { found, supported });
    }
    if record.server == name {
        return Ok(());
    }
    Err(JoinError::OtherServer {
        name: name.to_owned(),
        found: record.server,
    })
}
