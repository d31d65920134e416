//! Connections that are replaced for their age.

use std::sync::Arc;
use std::time::Duration;

use pintle::client::CallError;
use pintle::model::Error;
use tokio::time::Instant;

use crate::connections::Scope;
use crate::error::internal;
use crate::link::Link;
use crate::proxy::Shared;

/// Time between two attempts to replace a connection.
const PAUSE: Duration = Duration::from_secs(30);

impl Shared {
    /// Begins to replace a connection that is too old, unless another one is being replaced.
    pub(crate) fn renew_aged(self: &Arc<Self>) {
        let options = &self.upstream.options;
        let Some(most) = options.max_connection_age else {
            return;
        };
        if self.draining.open() >= options.max_connections {
            return;
        }
        let Ok(permit) = Arc::clone(&self.renewal).try_acquire_owned() else {
            return;
        };
        let Some((scope, aged)) = self.connections.aged(most, PAUSE.min(most)) else {
            return;
        };
        aged.attempt();
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(error) = shared.renew(&scope, &aged).await {
                tracing::warn!(%error, "a connection stays, because its successor cannot be opened");
            }
            drop(permit);
        });
    }

    /// Opens a successor of a connection, and lets the earlier one end with its calls.
    async fn renew(&self, scope: &Scope, aged: &Arc<Link>) -> Result<(), Error> {
        let new = match scope {
            // The next call opens one.
            Scope::Caller(_) => None,
            Scope::All | Scope::Session(_) => Some(self.successor(aged).await?),
        };
        if !self.connections.exchange(scope, aged, new.clone()) {
            return Ok(());
        }
        let ends = Instant::now() + self.upstream.options.drain_timeout;
        self.draining.add(aged, Some(ends));
        if let Some(new) = new {
            new.succeed(aged);
            aged.subscriptions.end().await;
        }
        Ok(())
    }

    async fn successor(&self, aged: &Link) -> Result<Arc<Link>, Error> {
        let session = aged.session().map(|session| Arc::downgrade(&session));
        if aged.has_session() && session.is_none() {
            return Err(internal("its session has ended"));
        }
        let new = Link::new(&self.upstream, session, aged.capabilities.clone());
        let new = new.map_err(|error| internal(&error.to_string()))?;
        let opened: Result<_, CallError> = new.client().open().await;
        opened.map_err(|error| internal(&error.to_string()))?;
        Ok(new)
    }
}
