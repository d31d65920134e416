//! Dispatches the notifications of a server to handlers, listeners, waiting calls and the cache.

use std::collections::BTreeMap;
use std::sync::Arc;

use pintle_model::method::{
    Acknowledged, ElicitationComplete, LogMessage, Notice, Progress, PromptsChanged,
    ResourceUpdated, ResourcesChanged, TaskChanged, TaskStatusChanged, ToolsChanged,
};
use pintle_model::{
    AcknowledgedParams, ElicitationCompleteParams, Feature, Meta, RequestId, ResourceUpdatedParams,
    Revision, SubscriptionFilter,
};
use pintle_proto::{CallId, Change, IncomingNotice, PeerCallError};
use pintle_runtime::sync::{Mutex, MutexGuard};
use serde::Deserialize;

use crate::cache::Cache;
use crate::change_queue::{ChangeQueue, Ended};
use crate::handlers::Handlers;
use crate::pending_visits::{PendingVisits, VisitEnd};
use crate::task_events::TaskEvents;

/// The listeners of one conversation.
pub(crate) struct Dispatcher {
    handlers: Handlers,
    cache: Arc<Cache>,
    task_events: Arc<TaskEvents>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    listeners: BTreeMap<u64, Listener>,
    next: u64,
    visits: PendingVisits,
}

pub(crate) struct Listener {
    /// The changes that the listener receives.
    pub(crate) filter: SubscriptionFilter,
    /// The call that the server answers when it ends the subscription; none if listening is not a
    /// call.
    pub(crate) listen: Option<CallId>,
    pub(crate) change_queue: Arc<ChangeQueue>,
    pub(crate) audience: Audience,
}

/// The receivers of a subscription's changes. Closed: no others exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// The subscriber and the client's change handler.
    Caller,
    /// Only the cache, which also receives all other changes.
    Cache,
}

/// The `_meta` of a notification, which names its subscription.
#[derive(Deserialize)]
struct Tagged {
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

impl Dispatcher {
    pub(crate) fn new(handlers: Handlers, cache: Arc<Cache>, task_events: Arc<TaskEvents>) -> Self {
        Self {
            handlers,
            cache,
            task_events,
            state: Mutex::default(),
        }
    }

    /// Adds a listener. Notifications wait until `make` has returned.
    pub(crate) fn add<E>(&self, make: impl FnOnce() -> Result<Listener, E>) -> Result<u64, E> {
        let mut state = self.lock();
        let listener = make()?;
        state.next += 1;
        let key = state.next;
        state.listeners.insert(key, listener);
        Ok(key)
    }

    pub(crate) fn remove(&self, key: u64) -> Option<Listener> {
        self.lock().listeners.remove(&key)
    }

    /// Returns true if a listener subscribes to the resource.
    pub(crate) fn wants_resource(&self, uri: &str) -> bool {
        let state = self.lock();
        let mut listeners = state.listeners.values();
        listeners.any(|listener| listener.filter.wants_resource(uri))
    }

    /// Records that the user accepted a visit, so that the end of the visit is reported.
    pub(crate) fn expect_visit(&self, id: String) {
        self.lock().visits.expect(id);
    }

    /// As [`Dispatcher::expect_visit`], and returns a future that resolves at the end of the visit.
    pub(crate) fn await_visit(&self, id: String) -> VisitEnd {
        self.lock().visits.wait(id)
    }

    /// Records the end of a visit. Returns true if the visit was pending.
    pub(crate) fn end_visit(&self, id: &str) -> bool {
        self.lock().visits.end(id)
    }

    /// Passes a notification to its receivers.
    pub(crate) fn notified(&self, notified: IncomingNotice, revision: Revision) {
        match notified.method.as_str() {
            LogMessage::NAME => {
                let log = self.handlers.log.as_ref();
                if let (Some(log), Ok(message)) = (log, notified.params.decode()) {
                    log(message);
                }
            }
            Acknowledged::NAME => self.acknowledged(&notified),
            ElicitationComplete::NAME => self.visited(&notified),
            // The engine handles progress of open calls, so this progress belongs to a task.
            Progress::NAME => self.task_events.progress(&notified),
            TaskStatusChanged::NAME | TaskChanged::NAME => {
                self.task_events.changed(&notified);
                if let Some(notice) = &self.handlers.notice {
                    notice(notified);
                }
            }
            _ => match change_of(&notified) {
                Some(change) => self.changed(&change, &notified, revision),
                None => {
                    if let Some(notice) = &self.handlers.notice {
                        notice(notified);
                    }
                }
            },
        }
    }

    fn changed(&self, change: &Change, notified: &IncomingNotice, revision: Revision) {
        // The cached results may be stale, whichever listener the change is for.
        self.cache.changed(change);
        if revision.has(Feature::Listen) {
            let Some(listen) = listen_of(notified) else {
                tracing::debug!("a change belongs to no listener");
                return;
            };
            let state = self.lock();
            let its = |listener: &&Listener| is_called(listener, &listen);
            let Some(listener) = state.listeners.values().find(its) else {
                tracing::debug!(%listen, "a change belongs to no listener");
                return;
            };
            listener.change_queue.push(change.clone());
            if listener.audience == Audience::Cache {
                return;
            }
        } else {
            let state = self.lock();
            let wanting = state
                .listeners
                .values()
                .filter(|listener| wants(&listener.filter, change));
            wanting.for_each(|listener| listener.change_queue.push(change.clone()));
        }
        if let Some(on_change) = &self.handlers.change {
            on_change(change.clone());
        }
    }

    fn acknowledged(&self, notified: &IncomingNotice) {
        let (Some(listen), Ok(params)) = (
            listen_of(notified),
            notified.params.decode::<AcknowledgedParams>(),
        ) else {
            return;
        };
        let state = self.lock();
        let listener = state
            .listeners
            .values()
            .find(|listener| is_called(listener, &listen));
        if let Some(listener) = listener {
            let granted = params.notifications;
            let is_excessive = exceeds(&granted, &listener.filter);
            listener.change_queue.acknowledge(granted, is_excessive);
        }
    }

    fn visited(&self, notified: &IncomingNotice) {
        let Ok(params) = notified.params.decode::<ElicitationCompleteParams>() else {
            return;
        };
        if !self.end_visit(&params.elicitation_id) {
            return;
        }
        if let Some(visited) = &self.handlers.visited {
            visited(params.elicitation_id);
        }
    }

    /// Records the end of a listen call, which is not an error if the server ended it.
    pub(crate) fn settled(&self, call: CallId, ended: Result<(), PeerCallError>) {
        let state = self.lock();
        let its = state
            .listeners
            .values()
            .find(|listener| listener.listen == Some(call));
        if let Some(listener) = its {
            listener.change_queue.end(match ended {
                Ok(()) => Ended::ByServer,
                Err(failure) => Ended::Failed(failure),
            });
        }
    }

    /// Ends all listeners, because the conversation is over.
    pub(crate) fn lost(&self) {
        let mut state = self.lock();
        for listener in state.listeners.values() {
            listener
                .change_queue
                .end(Ended::Failed(PeerCallError::Closed));
        }
        // No notification can report the end of a visit any more.
        state.visits = PendingVisits::default();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

fn is_called(listener: &Listener, listen: &RequestId) -> bool {
    listener
        .listen
        .is_some_and(|call| call.to_request_id() == *listen)
}

fn listen_of(notified: &IncomingNotice) -> Option<RequestId> {
    let tagged: Tagged = serde_json::from_str(notified.params.text()).ok()?;
    tagged.meta?.subscription_id()
}

fn change_of(notified: &IncomingNotice) -> Option<Change> {
    Some(match notified.method.as_str() {
        ToolsChanged::NAME => Change::Tools,
        PromptsChanged::NAME => Change::Prompts,
        ResourcesChanged::NAME => Change::Resources,
        ResourceUpdated::NAME => {
            let params: ResourceUpdatedParams = notified.params.decode().ok()?;
            Change::Resource(params.uri)
        }
        _ => return None,
    })
}

/// Returns true if a change passes a filter. The server may report a part of a subscribed resource,
/// and decides which parts it reports.
fn wants(filter: &SubscriptionFilter, change: &Change) -> bool {
    match change {
        Change::Tools => filter.wants_tools(),
        Change::Prompts => filter.wants_prompts(),
        Change::Resources => filter.wants_resources(),
        Change::Resource(uri) => filter
            .resource_subscriptions
            .iter()
            .flatten()
            .any(|subscribed| uri.starts_with(subscribed.as_str())),
    }
}

fn exceeds(granted: &SubscriptionFilter, asked: &SubscriptionFilter) -> bool {
    (granted.wants_tools() && !asked.wants_tools())
        || (granted.wants_prompts() && !asked.wants_prompts())
        || (granted.wants_resources() && !asked.wants_resources())
        || granted
            .resource_subscriptions
            .iter()
            .flatten()
            .any(|uri| !asked.wants_resource(uri))
}
