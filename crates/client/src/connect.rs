//! Opening a conversation: the era, the revision, and the server's description of itself.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use pintle_model::method::MethodName;
use pintle_model::{DiscoverResult, Revision};
use pintle_proto::lifecycle::Binding;
use pintle_proto::{Connection, Timeouts, TransportError, TransportErrorKind};
use pintle_runtime::{BoxConnect, Connect, Peer};
use tokio::time::timeout;

use crate::client_tasks::ClientTasks;
use crate::conversation::{Conversation, Raw, ServerInfo, start};
use crate::dispatch::Dispatcher;
use crate::era::{Era, EraMode};
use crate::error::{CallError, ConnectError};
use crate::exchange::observed_conversation;
use crate::keep_alive::keep_alive;
use crate::opening::{Finding, Opening, Stop, lost};
use crate::state::ClientState;
use crate::turns::Turns;

/// How often one opening starts over: after a process that exited during the probe, and once more.
const ATTEMPTS: usize = 3;

impl ClientState {
    /// Returns the open conversation, or opens one.
    pub(crate) async fn session(
        &self,
        method: &MethodName,
    ) -> Result<Arc<Conversation>, CallError> {
        match self.live(method)? {
            Some(session) => Ok(session),
            // Boxed, so that calls on an open conversation are not as large.
            None => Box::pin(self.open_anew(method)).await,
        }
    }

    async fn open_anew(&self, method: &MethodName) -> Result<Arc<Conversation>, CallError> {
        let _turn = self.opening.lock().await;
        if let Some(session) = self.live(method)? {
            return Ok(session);
        }
        self.check_pace(method)?;
        let opened = open(self).await;
        self.note(opened).map_err(|source| CallError::NotConnected {
            method: method.clone(),
            source,
        })
    }

    /// Opens the first conversation.
    pub(crate) async fn open_first(&self) -> Result<(), Arc<ConnectError>> {
        let _turn = self.opening.lock().await;
        let opened = open(self).await;
        self.note(opened).map(drop)
    }
}

/// Opens a conversation.
async fn open(state: &ClientState) -> Result<Conversation, ConnectError> {
    let key = state.connect.key();
    let mut cached = known_era(state, key.as_deref());
    for _ in 0..ATTEMPTS {
        let raw = reach(state).await?;
        let mut opening = Opening::new(state, &raw, cached);
        opening.remembered = remembered(state, key.as_deref());
        match opening.negotiate().await {
            Ok(agreement) => {
                let is_remembered = matches!(agreement.finding, Finding::Cached);
                remember(state, key, agreement.finding);
                let mut session = finish(state, raw, agreement.info);
                session.is_remembered = is_remembered;
                return Ok(session);
            }
            Err(Stop::StartOver(era)) => cached = Some(era),
            Err(Stop::Fail(error)) => {
                if let Some(key) = &key {
                    state.eras.forget(key);
                }
                return Err(error);
            }
        }
    }
    let error = TransportError::new(TransportErrorKind::Disconnected);
    Err(ConnectError::Unreachable(error))
}

fn known_era(state: &ClientState, key: Option<&str>) -> Option<Era> {
    match state.mode {
        EraMode::Legacy => Some(Era::Legacy),
        EraMode::Pinned(_) if state.mode.legacy().is_some() => Some(Era::Legacy),
        EraMode::Auto => state.eras.get(key?, SystemTime::now()),
        _ => None,
    }
}

fn remember(state: &ClientState, key: Option<String>, finding: Finding) {
    let (Some(key), EraMode::Auto) = (key, state.mode) else {
        return;
    };
    let now = SystemTime::now();
    match finding {
        Finding::Cached => {}
        Finding::Era(era) => state.eras.put(key, era, now),
        Finding::Discovered(revision, found) => {
            let principal = state.connect.principal();
            let principal = principal.as_deref();
            state
                .eras
                .put_discovery(key, revision, *found, principal, now);
        }
    }
}

/// Returns the description of a modern server that needs no probe. A process is always probed, because another
/// program may have taken its place.
fn remembered(state: &ClientState, key: Option<&str>) -> Option<(Revision, Arc<DiscoverResult>)> {
    let is_usable = state.mode == EraMode::Auto && state.connect.binding() == Binding::Http;
    let key = key.filter(|_| is_usable)?;
    let principal = state.connect.principal();
    let now = SystemTime::now();
    state.eras.discovery(key, principal.as_deref(), now)
}

async fn reach(state: &ClientState) -> Result<Raw, ConnectError> {
    let wait = state.options.connect_timeout;
    let connected = timeout(wait, BoxConnect::connect(&state.connect)).await;
    let transport = match connected {
        Ok(Ok(transport)) => transport,
        Ok(Err(error)) => return Err(lost(error)),
        Err(_) => {
            return Err(ConnectError::TimedOut {
                what: "the connection",
                timeout: wait,
            });
        }
    };
    let engine = Connection::client(
        state.identity.clone(),
        state.handlers.capabilities(),
        Arc::clone(&state.options.limits),
    );
    let peer = Peer::new(engine);
    let dispatcher = Dispatcher::new(
        state.handlers.clone(),
        Arc::clone(&state.cache),
        Arc::clone(&state.task_events),
    );
    let client_tasks = ClientTasks::new(peer.clone(), &state.options);
    Ok(start(
        peer,
        transport,
        state.handlers.clone(),
        dispatcher,
        client_tasks,
    ))
}

fn finish(state: &ClientState, mut raw: Raw, info: ServerInfo) -> Conversation {
    raw.guard.disarm();
    let offered = Arc::clone(&info.capabilities);
    raw.peer
        .with_engine_mut(|engine| engine.set_server_capabilities(offered));
    if let Some(identity) = &info.identity {
        let _ = raw.server.set(Arc::clone(identity));
    }
    let limits = &state.options.limits;
    let session = Conversation {
        peer: raw.peer,
        info,
        dispatcher: raw.dispatcher,
        end: raw.end,
        fault: raw.fault,
        is_watched: AtomicBool::new(false),
        is_remembered: false,
        turns: Turns::default(),
        timeouts: Timeouts::new(limits.call_idle_timeout, limits.call_total_timeout),
    };
    keep_alive(&session, &state.options);
    observe(state, &session);
    session
}

/// Begins the observation of a conversation, if the client has an observer.
fn observe(state: &ClientState, session: &Conversation) {
    let Some(observer) = &state.observer else {
        return;
    };
    let observed = observer.open(observed_conversation(state, session));
    let mut end = session.end.clone();
    tokio::spawn(async move {
        // An error means that the driver has gone, which is an end, too.
        let _ = end.wait_for(Option::is_some).await;
        drop(observed);
    });
}
