//! Opening a conversation: the era, the revision, and the server's description of itself.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use pintle_model::method::MethodName;
use pintle_model::{DiscoverResult, InitializeResult, Revision};
use pintle_proto::lifecycle::{
    HandshakeDecision, ProbeDecision, ProbeError, after_handshake, after_probe,
};
use pintle_proto::{
    Connection, PeerCallError, SendError, Timeouts, TransportError, TransportErrorKind,
};
use pintle_runtime::{BoxConnect, Connect, ObservedConversation, Peer, PeerCall};
use serde_json::value::RawValue;
use tokio::time::timeout;

use crate::client_tasks::ClientTasks;
use crate::conversation::{Conversation, Raw, ServerInfo, start};
use crate::dispatch::Dispatcher;
use crate::era::{Era, EraMode};
use crate::error::{CallError, ConnectError, Misbehavior};
use crate::keep_alive::keep_alive;
use crate::state::ClientState;
use crate::turns::Turns;

/// How often one opening starts over: after a process that exited during the probe, and once more.
const ATTEMPTS: usize = 3;
/// How often one conversation is probed: for another revision, or after a handshake was refused.
const PROBES: usize = 3;

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
        match opening.negotiate().await {
            Ok((info, era)) => {
                remember(state, key.as_deref(), era);
                return Ok(finish(state, raw, info));
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

fn remember(state: &ClientState, key: Option<&str>, era: Era) {
    if let (Some(key), EraMode::Auto) = (key, state.mode) {
        state.eras.put(key, era, SystemTime::now());
    }
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
    let conversation = ObservedConversation::new(session.info.revision, state.connect.binding());
    let observed = observer.open(conversation);
    let mut end = session.end.clone();
    tokio::spawn(async move {
        // An error means that the driver has gone, which is an end, too.
        let _ = end.wait_for(Option::is_some).await;
        drop(observed);
    });
}

/// The reason why the client and the server did not agree.
enum Stop {
    /// The client must open another connection and use this era.
    StartOver(Era),
    Fail(ConnectError),
}

impl From<ConnectError> for Stop {
    fn from(error: ConnectError) -> Self {
        Self::Fail(error)
    }
}

/// The opening of one conversation.
struct Opening<'a> {
    state: &'a ClientState,
    raw: &'a Raw,
    cached: Option<Era>,
    modern: Vec<Revision>,
    probes: usize,
    has_probed_again: bool,
}

impl<'a> Opening<'a> {
    fn new(state: &'a ClientState, raw: &'a Raw, cached: Option<Era>) -> Self {
        Self {
            state,
            raw,
            cached,
            modern: state.mode.modern(),
            probes: 0,
            has_probed_again: false,
        }
    }

    async fn negotiate(&mut self) -> Result<(ServerInfo, Era), Stop> {
        let first = match self.cached {
            Some(Era::Legacy) => None,
            Some(Era::Modern(revision)) if self.modern.contains(&revision) => Some(revision),
            _ => self.modern.last().copied(),
        };
        match first {
            Some(revision) => self.probe(revision).await,
            None => self.shake_hands().await,
        }
    }

    async fn probe(&mut self, first: Revision) -> Result<(ServerInfo, Era), Stop> {
        let mut revision = first;
        loop {
            self.probes += 1;
            let is_retry = self.probes > 1 && !self.has_probed_again;
            let outcome = self.discover(revision).await?;
            let evidence = outcome.as_ref().map(|raw| &**raw);
            let binding = self.state.connect.binding();
            match after_probe(evidence, binding, &self.modern, is_retry) {
                ProbeDecision::Modern(revision, found) => {
                    self.raw
                        .peer
                        .with_engine_mut(|engine| engine.use_revision(revision));
                    return Ok((discovered(revision, *found), Era::Modern(revision)));
                }
                ProbeDecision::Retry(other) if self.probes < PROBES => revision = other,
                ProbeDecision::Legacy if self.has_probed_again => {
                    return Err(self.no_handshake().into());
                }
                ProbeDecision::Legacy => return self.fall_back(outcome).await,
                ProbeDecision::Retry(_) => return Err(self.no_handshake().into()),
                ProbeDecision::Fail(fault) => return Err(self.fault(fault).into()),
            }
        }
    }

    async fn discover(
        &self,
        revision: Revision,
    ) -> Result<Result<Box<RawValue>, PeerCallError>, ConnectError> {
        let options = &self.state.options;
        // If no handshake may follow, a longer wait helps a server that starts slowly.
        let wait = match self.state.mode.legacy() {
            Some(_) => options.probe_timeout,
            None => options.probe_timeout.max(options.connect_timeout),
        };
        let timeouts = Timeouts::new(wait, wait);
        let peer = &self.raw.peer;
        let call = peer.open(|engine, now| engine.discover(now, revision, timeouts));
        outcome(call).await
    }

    /// Performs a handshake if the mode allows one, because the server is not a modern one.
    async fn fall_back(
        &mut self,
        outcome: Result<Box<RawValue>, PeerCallError>,
    ) -> Result<(ServerInfo, Era), Stop> {
        if self.state.mode.legacy().is_none() {
            return Err(Stop::Fail(match outcome {
                // The connection ended without an answer, so that the server may still be a modern
                // one.
                Err(PeerCallError::Lost(error)) => lost(error),
                Err(PeerCallError::TimedOut(timeout)) => silent("server/discover", timeout),
                _ => self.no_handshake(),
            }));
        }
        if self.raw.peer.with_engine(Connection::is_closed) {
            return Err(Stop::StartOver(Era::Legacy));
        }
        // Boxed, because a handshake may lead back to a probe.
        Box::pin(self.shake_hands()).await
    }

    async fn shake_hands(&mut self) -> Result<(ServerInfo, Era), Stop> {
        let Some(offered) = self.state.mode.legacy() else {
            return Err(self.no_handshake().into());
        };
        let peer = &self.raw.peer;
        let call = peer.open(|engine, now| engine.initialize(now, offered));
        let failure = match outcome(call).await? {
            Ok(raw) => return self.welcomed(&raw).map_err(Stop::Fail),
            Err(failure) => failure,
        };
        match after_handshake(&failure, &self.modern) {
            HandshakeDecision::Probe(revision) if !self.has_probed_again => {
                self.has_probed_again = true;
                Box::pin(self.probe(revision)).await
            }
            _ => Err(self.refused(failure).into()),
        }
    }

    fn welcomed(&self, raw: &RawValue) -> Result<(ServerInfo, Era), ConnectError> {
        let welcome: InitializeResult = serde_json::from_str(raw.get())
            .map_err(|_| ConnectError::Misbehaved(Misbehavior::Contradiction))?;
        let revision = welcome
            .revision()
            .filter(|revision| self.state.mode.allows(*revision));
        let Some(revision) = revision else {
            return Err(self.no_common(vec![welcome.protocol_version]));
        };
        let info = ServerInfo {
            revision,
            capabilities: Arc::new(welcome.capabilities),
            identity: Some(Arc::new(welcome.server_info)),
            instructions: welcome.instructions,
            supported: Vec::new(),
        };
        Ok((info, Era::Legacy))
    }

    fn refused(&self, failure: PeerCallError) -> ConnectError {
        match failure {
            PeerCallError::Answered(error) => ConnectError::Rejected(error),
            PeerCallError::Incompatible(theirs) => self.no_common(vec![theirs]),
            PeerCallError::TimedOut(timeout) => ConnectError::TimedOut {
                what: "initialize",
                timeout,
            },
            PeerCallError::Lost(error) => lost(error),
            PeerCallError::Closed | PeerCallError::Cancelled => ConnectError::Closed,
            _ => ConnectError::Misbehaved(Misbehavior::Contradiction),
        }
    }

    fn fault(&self, fault: ProbeError) -> ConnectError {
        match fault {
            ProbeError::NoCommonRevision { theirs } => self.no_common(theirs),
            ProbeError::Rejected(error) => ConnectError::Rejected(error),
            ProbeError::Unauthorized(error) => ConnectError::Unauthorized(error),
            ProbeError::NoAnswer(PeerCallError::TimedOut(timeout)) => {
                silent("server/discover", timeout)
            }
            ProbeError::NoAnswer(failure) => self.refused(failure),
            _ => ConnectError::Misbehaved(Misbehavior::Contradiction),
        }
    }

    fn no_common(&self, theirs: Vec<String>) -> ConnectError {
        ConnectError::NoCommonRevision {
            ours: self.state.mode.dates(),
            theirs,
        }
    }

    fn no_handshake(&self) -> ConnectError {
        ConnectError::HandshakeRequired {
            ours: self.state.mode.dates(),
        }
    }
}

fn silent(what: &'static str, timeout: Duration) -> ConnectError {
    ConnectError::TimedOut { what, timeout }
}

async fn outcome(
    call: Result<PeerCall, SendError>,
) -> Result<Result<Box<RawValue>, PeerCallError>, ConnectError> {
    match call {
        Ok(call) => Ok(call.outcome().await),
        // The connection was lost before the request was sent, which is the same as during it.
        Err(SendError::Closed) => Ok(Err(PeerCallError::Lost(TransportError::new(
            TransportErrorKind::Disconnected,
        )))),
        Err(refusal) => Err(ConnectError::InvalidConfig(refusal.to_string())),
    }
}

fn lost(error: TransportError) -> ConnectError {
    match error.kind() {
        TransportErrorKind::Unauthorized(_) => ConnectError::Unauthorized(error),
        _ => ConnectError::Unreachable(error),
    }
}

fn discovered(revision: Revision, found: DiscoverResult) -> ServerInfo {
    let identity = found
        .meta
        .as_ref()
        .and_then(pintle_model::Meta::server_info);
    ServerInfo {
        revision,
        capabilities: Arc::new(found.capabilities),
        identity: identity.map(Arc::new),
        instructions: found.instructions,
        supported: found.supported_versions,
    }
}
