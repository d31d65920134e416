//! The negotiation of the era and the revision in a new conversation.

use std::sync::Arc;
use std::time::Duration;

use pintle_model::{DiscoverResult, InitializeResult, Revision};
use pintle_proto::lifecycle::{
    HandshakeDecision, ProbeDecision, ProbeError, after_handshake, after_probe,
};
use pintle_proto::{
    Connection, PeerCallError, SendError, Timeouts, TransportError, TransportErrorKind,
};
use pintle_runtime::{Connect, PeerCall};
use serde_json::value::RawValue;

use crate::conversation::{Raw, ServerInfo};
use crate::era::{Era, MAX_DISCOVERY_BYTES};
use crate::error::{ConnectError, Misbehavior};
use crate::state::ClientState;

/// Largest number of probes in one conversation: for another revision, or after a refused handshake.
const PROBES: usize = 3;

/// The result of a negotiation.
pub(crate) struct Agreement {
    pub(crate) info: ServerInfo,
    pub(crate) finding: Finding,
}

/// An entry for the cache of eras.
pub(crate) enum Finding {
    Era(Era),
    Discovered(Revision, Box<DiscoverResult>),
    /// The cache had the description.
    Cached,
}

/// The reason why the client and the server did not agree.
pub(crate) enum Stop {
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
pub(crate) struct Opening<'a> {
    state: &'a ClientState,
    raw: &'a Raw,
    cached: Option<Era>,
    pub(crate) remembered: Option<(Revision, Arc<DiscoverResult>)>,
    modern: Vec<Revision>,
    probes: usize,
    has_probed_again: bool,
}

impl<'a> Opening<'a> {
    pub(crate) fn new(state: &'a ClientState, raw: &'a Raw, cached: Option<Era>) -> Self {
        Self {
            state,
            raw,
            cached,
            remembered: None,
            modern: state.mode.modern(),
            probes: 0,
            has_probed_again: false,
        }
    }

    pub(crate) async fn negotiate(&mut self) -> Result<Agreement, Stop> {
        if let Some((revision, found)) = self.remembered.take() {
            self.use_revision(revision);
            return Ok(Agreement {
                info: discovered(revision, &found),
                finding: Finding::Cached,
            });
        }
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

    fn use_revision(&self, revision: Revision) {
        let peer = &self.raw.peer;
        peer.with_engine_mut(|engine| engine.use_revision(revision));
    }

    async fn probe(&mut self, first: Revision) -> Result<Agreement, Stop> {
        let mut revision = first;
        loop {
            self.probes += 1;
            let is_retry = self.probes > 1 && !self.has_probed_again;
            let outcome = self.discover(revision).await?;
            let evidence = outcome.as_ref().map(|raw| &**raw);
            let binding = self.state.connect.binding();
            match after_probe(evidence, binding, &self.modern, is_retry) {
                ProbeDecision::Modern(revision, found) => {
                    self.use_revision(revision);
                    let bytes = evidence.map_or(0, |raw| raw.get().len());
                    return Ok(Agreement {
                        info: discovered(revision, &found),
                        finding: match bytes <= MAX_DISCOVERY_BYTES {
                            true => Finding::Discovered(revision, found),
                            false => Finding::Era(Era::Modern(revision)),
                        },
                    });
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
    ) -> Result<Agreement, Stop> {
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

    async fn shake_hands(&mut self) -> Result<Agreement, Stop> {
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

    fn welcomed(&self, raw: &RawValue) -> Result<Agreement, ConnectError> {
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
        Ok(Agreement {
            info,
            finding: Finding::Era(Era::Legacy),
        })
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

pub(crate) fn lost(error: TransportError) -> ConnectError {
    match error.kind() {
        TransportErrorKind::Unauthorized(_) => ConnectError::Unauthorized(error),
        _ => ConnectError::Unreachable(error),
    }
}

fn discovered(revision: Revision, found: &DiscoverResult) -> ServerInfo {
    let identity = found
        .meta
        .as_ref()
        .and_then(pintle_model::Meta::server_info);
    ServerInfo {
        revision,
        capabilities: Arc::new(found.capabilities.clone()),
        identity: identity.map(Arc::new),
        instructions: found.instructions.clone(),
        supported: found.supported_versions.clone(),
    }
}
