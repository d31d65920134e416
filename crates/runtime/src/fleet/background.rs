//! The task of a replica in a shared store: it renews the presence, lists the others and follows the clock.

use std::collections::BTreeSet;
use std::future::pending;
use std::sync::Arc;

use pintle_store::{Changes, Precondition, StoreError, StoreTime};
use tokio::select;
use tokio::sync::{broadcast, oneshot};
use tokio::time::{Instant, sleep, sleep_until};
use tracing::{debug, info, warn};

use super::event::FleetEvent;
use super::heartbeat::{Attempt, Renewal};
use super::join::fresh_epoch;
use super::layout;
use super::news_feed::NewsEvent;
use super::replica_id::ReplicaId;
use super::shared::Shared;

/// The task of one replica. It ends when all handles are dropped, or one of them leaves.
pub(super) struct Background {
    pub(super) shared: Arc<Shared>,
    pub(super) events: broadcast::Sender<FleetEvent>,
    pub(super) news: broadcast::Sender<NewsEvent>,
}

impl Background {
    /// Runs until the replica leaves, and removes its presence then.
    pub(super) async fn run(self, mut leave: oneshot::Receiver<()>) {
        // The list and the clock are dropped at any point. A renewal ends first, because the store could
        // carry it out after the removal.
        select! {
            () = self.keep_present(&mut leave) => {}
            () = self.follow_replicas() => {}
            () = self.follow_clock() => {}
            () = self.receive_messages() => {}
            () = self.publish_news() => {}
            () = self.follow_news() => {}
        }
        self.publish_last_news().await;
        let replica = self.shared.replica;
        self.shared.state.lock().is_leaving = true;
        match self.remove_presence(replica).await {
            Ok(()) => info!(%replica, "the replica left"),
            Err(error) => {
                warn!(%replica, error = %reason(&error), "the presence stays until it expires")
            }
        }
    }

    async fn publish_last_news(&self) {
        if let Err(error) = self.append_news().await {
            debug!(error = %reason(&error), "the last news cannot be published");
        }
    }

    /// Removes the presence, then notifies the others: they read the list after the record.
    async fn remove_presence(&self, replica: ReplicaId) -> Result<(), StoreError> {
        let operations = self.shared.operations();
        operations.remove_presence(replica).await?;
        let expires = self.shared.now() + self.shared.options.presence_ttl;
        let notified = operations.write_departure(replica, expires).await;
        notified.map(drop).or_else(|error| {
            debug!(error = %reason(&error), "the others notice the departure in their next list");
            Ok(())
        })
    }

    async fn keep_present(&self, leave: &mut oneshot::Receiver<()>) {
        while let Some(due) = self.next_renewal() {
            select! {
                biased;
                _ = &mut *leave => return,
                () = sleep_until(due) => self.renew().await,
            }
        }
    }

    fn next_renewal(&self) -> Option<Instant> {
        let state = self.shared.state.lock();
        state.heartbeat.as_ref().map(|heartbeat| heartbeat.due())
    }

    async fn renew(&self) {
        let shared = &self.shared;
        let (sent, now) = (Instant::now(), shared.now());
        let expires = now + shared.options.presence_ttl;
        let (condition, value, lapsed) = {
            let mut state = shared.state.lock();
            let value = layout::presence(state.server.as_ref());
            let Some(heartbeat) = state.heartbeat.as_mut() else {
                return;
            };
            (heartbeat.condition(), value, heartbeat.check(now))
        };
        self.report(lapsed);
        let operations = shared.operations();
        let write = operations.write_presence(shared.replica, value, condition, expires);
        let renewal = renewal(write.await);
        self.settle(Attempt { sent, expires }, renewal);
        // A first write meets no conflict in new content, and an unanswered one is found there.
        let is_first = matches!(condition, Precondition::Absent);
        if is_first || matches!(renewal, Renewal::Conflict(_)) {
            self.check_epoch().await;
        }
    }

    fn settle(&self, attempt: Attempt, renewal: Renewal) {
        let now = self.shared.now();
        let mut state = self.shared.state.lock();
        let heartbeat = state.heartbeat.as_mut();
        let events = heartbeat.map(|heartbeat| heartbeat.settle(attempt, renewal, now));
        drop(state);
        self.report(events.into_iter().flatten().flatten());
    }

    async fn follow_replicas(&self) {
        let mut departures = None;
        loop {
            let listed = select! {
                () = sleep(self.shared.options.list_interval) => self.list(None).await,
                () = self.next_departure(&mut departures) => self.list_after_departure().await,
            };
            if let Err(error) = listed {
                debug!(error = %reason(&error), "the replicas cannot be listed");
            }
        }
    }

    /// Waits for a report that a replica left. Until there is a watch, the list alone shows it.
    async fn next_departure(&self, watch: &mut Option<Changes>) {
        if watch.is_none() {
            *watch = self.shared.operations().watch_departures().await.ok();
        }
        if let Some(changes) = watch
            && changes.next().await.is_some()
        {
            return;
        }
        *watch = None;
        pending::<()>().await;
    }

    async fn list_after_departure(&self) -> Result<(), StoreError> {
        let left = self.shared.operations().departure().await?;
        self.list(left).await
    }

    /// Lists the replicas, and reports those that have gone. `left` is one that no list may have shown.
    async fn list(&self, left: Option<ReplicaId>) -> Result<(), StoreError> {
        let shared = &self.shared;
        let most = shared.options.max_replicas.saturating_mul(2);
        let mut listed = shared.operations().list(most).await?;
        listed.remove(&shared.replica);
        if listed.len() + 1 >= most {
            warn!(most, "the fleet has too many replicas to list");
            return Ok(());
        }
        let now = shared.now();
        shared.state.lock().roster.add(left);
        if self.must_check_epoch(&listed, now) {
            self.check_epoch().await;
        }
        self.update(listed, now);
        Ok(())
    }

    fn update(&self, listed: BTreeSet<ReplicaId>, now: StoreTime) {
        let gone = self.shared.state.lock().roster.update(listed, now);
        self.report(gone.into_iter().map(FleetEvent::Gone));
    }

    fn must_check_epoch(&self, listed: &BTreeSet<ReplicaId>, now: StoreTime) -> bool {
        let state = self.shared.state.lock();
        state.is_epoch_due || state.roster.lacks(listed, now)
    }

    /// Reads the epoch. A reading that fails is repeated with the next list.
    async fn check_epoch(&self) {
        let Ok(fresh) = fresh_epoch() else {
            return;
        };
        let epoch = self.shared.operations().epoch(fresh).await;
        self.shared.state.lock().is_epoch_due = epoch.is_err();
        if epoch.is_ok_and(|epoch| self.shared.has_new_epoch(epoch)) {
            self.report([FleetEvent::ContentLost]);
            self.shared.news.repeat(Instant::now());
        }
    }

    async fn follow_clock(&self) {
        loop {
            sleep(self.shared.options.clock_interval).await;
            if let Err(error) = self.shared.operations().measure_clock().await {
                debug!(error = %reason(&error), "the clock of the store cannot be read");
            }
        }
    }

    pub(super) fn report(&self, events: impl IntoIterator<Item = FleetEvent>) {
        let replica = self.shared.replica;
        for event in events {
            log(replica, event);
            // Without a reader the event is not needed.
            let _ = self.events.send(event);
        }
    }
}

impl Shared {
    /// Returns true if the store has lost its content, and replicas may not have written their presences again.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store does not answer.
    pub(super) async fn lacks_presences(&self) -> Result<bool, StoreError> {
        if self.state.lock().roster.waits(self.now()) {
            return Ok(true);
        }
        let Ok(fresh) = fresh_epoch() else {
            return Ok(false);
        };
        let epoch = self.operations().epoch(fresh).await?;
        let mut state = self.state.lock();
        let is_new = state.epoch.is_some_and(|known| known != epoch);
        // The next list takes it over, and reports the loss.
        state.is_epoch_due |= is_new;
        Ok(is_new)
    }
}

fn renewal(result: Result<pintle_store::Version, StoreError>) -> Renewal {
    match result {
        Ok(version) => Renewal::Written(version),
        Err(StoreError::Conflict { found }) => Renewal::Conflict(found),
        Err(error) => {
            debug!(error = %reason(&error), "the presence cannot be renewed");
            Renewal::Failed
        }
    }
}

fn log(replica: ReplicaId, event: FleetEvent) {
    match event {
        FleetEvent::Gone(other) => info!(%replica, %other, "another replica has gone"),
        FleetEvent::Lapsed => warn!(%replica, "the presence of the replica lapsed"),
        FleetEvent::Renewed => info!(%replica, "the presence of the replica is written again"),
        FleetEvent::Offline => warn!(%replica, "the replica is offline: the store does not answer"),
        FleetEvent::Online => info!(%replica, "the replica is online: the store answers again"),
        FleetEvent::ContentLost => warn!(%replica, "the store has lost its content"),
        FleetEvent::MessagesLost => warn!(%replica, "the inbox of the replica lost messages"),
        FleetEvent::Missed(_) => {}
    }
}

/// The error of the engine, because the error of the trait is general.
pub(super) fn reason(error: &StoreError) -> &dyn std::error::Error {
    std::error::Error::source(error).unwrap_or(error)
}
