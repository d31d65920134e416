//! Sessions that the replicas of a server share: each replica serves a session that another one opened.
//!
//! The id of such a session is sealed, and has all that a replica needs: number, revision, capabilities and
//! identity of the client. A replica creates an engine from it at the first request of the session there. The
//! engine, its requests and its streams are a part of the session. A record has the settings and the end of a
//! session. Each replica reads it at the first request, after a notice that it changed, and at most once in
//! [`CHECK_INTERVAL`].
//!
//! Behind this file a session has its number only: the number replaces the id in the head of a request.

mod claims;

use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use http::request::Parts;
use pintle_model::jsonrpc::Message;
use pintle_proto::{Connection, Terms};
use pintle_runtime::{BoxFuture, Principal, Service, SessionKey, SharedSessions, random_bytes};
use tokio::time::Instant;

use super::endpoint::{
    Endpoint, EndpointResponse, Post, PostResult, Setting, change_of, peer_identity,
};
use super::peers::Peer;
use super::session::{NewPart, NewSession, Session, StreamLayout};
use super::session_changes::{Reloaded, read_state, reload};
use super::session_mail::{ForwardError, Forwarding, call_prefix, crosses};
use super::sessions::{OpenSessionError, draw_id};
use crate::rules::cause;
use crate::rules::headers;
use crate::rules::session_id::SessionId;
use claims::Claims;

/// How long a replica serves a session before it reads the record of the session again.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The id in the head of a request.
struct Named {
    id: SessionId,
    /// The content of a sealed id.
    claimed: Option<(SessionKey, Terms)>,
}

/// The result of a search for the session of a request.
enum Found {
    /// The session is served here.
    Session,
    /// The session has ended, or does not exist for this principal.
    Nothing,
    /// The store has been away for too long.
    Unavailable,
}

impl<S: Service> Endpoint<S> {
    /// Opens the session of an engine that has performed the handshake. Returns its id.
    ///
    /// # Errors
    ///
    /// [`OpenSessionError`]; no session is stored then.
    pub(super) fn session_of(
        &self,
        engine: Connection,
        parts: &Parts,
        peer: &Peer,
    ) -> Result<HeaderValue, OpenSessionError> {
        self.begin_mail();
        if let Some(shared) = self.shared()
            && let Some(terms) = engine.session_terms()
            && let Some(claims) = Claims::of(terms)
        {
            return self.share(&**shared, &claims, Terms::clone(terms), parts, peer);
        }
        let now = Instant::now().into_std();
        let layout = StreamLayout::ManyStreams;
        let session = self
            .sessions
            .open(engine, layout, owner(parts), peer, now)?;
        Ok(session.id().to_header())
    }

    fn share(
        &self,
        shared: &dyn SharedSessions,
        claims: &Claims,
        terms: Terms,
        parts: &Parts,
        peer: &Peer,
    ) -> Result<HeaderValue, OpenSessionError> {
        let id = draw_id()?;
        let owner = owner(parts).map(Principal::id);
        let key = shared.key(id.bits(), self.options.limits.session_idle_timeout);
        let sealed = shared.seal(owner, &claims.with_key(key));
        let sealed = sealed.and_then(|sealed| HeaderValue::try_from(sealed).ok());
        let sealed = sealed.ok_or(OpenSessionError::NoRandomness)?;
        self.restore(key, terms, parts, peer)?;
        Ok(sealed)
    }

    /// Creates the part of a session at this replica.
    fn restore(
        &self,
        key: SessionKey,
        terms: Terms,
        parts: &Parts,
        peer: &Peer,
    ) -> Result<Arc<Session>, OpenSessionError> {
        let random = random_bytes().map_err(|_| OpenSessionError::NoRandomness)?;
        let limits = Arc::clone(&self.options.conversation_limits);
        let fleet = self.sessions.bounds.fleet();
        // The client may confirm the handshake at another replica, so no part waits for it.
        let engine = Connection::restored(self.service.profile(), limits, Arc::new(terms), true)
            .with_call_prefix(&call_prefix(fleet, u64::from_be_bytes(random)))
            .with_peer(peer_identity(parts));
        let tag = u64::from_be_bytes(random) as u32;
        let part = NewSession {
            id: SessionId::new(key.number.to_be_bytes()),
            owner: owner(parts),
            peer,
            engine,
            layout: StreamLayout::ManyStreams,
            part: Some(NewPart { tag, key }),
        };
        self.sessions.insert(part, Instant::now().into_std())
    }

    /// Finds or creates the part of the session that a request names, and puts its number into the head. A
    /// head without a valid id stays as it is, so the rules reject it.
    ///
    /// # Errors
    ///
    /// The response if there is no room for the part, or if the store has been away for too long.
    pub(super) async fn with_shared_session(
        &self,
        shared: &dyn SharedSessions,
        mut parts: Arc<Parts>,
        peer: &Peer,
    ) -> Result<Arc<Parts>, EndpointResponse> {
        let Some(named) = named(shared, &parts).await else {
            return Ok(parts);
        };
        self.begin_mail();
        self.mail.wait_for_start().await;
        let id = named.id;
        match self.find_shared(shared, named, &parts, peer).await {
            Ok(Found::Session) => {
                let head = Arc::make_mut(&mut parts);
                head.headers.insert(headers::SESSION_ID, id.to_header());
                Ok(parts)
            }
            Ok(Found::Nothing) => Ok(parts),
            Ok(Found::Unavailable) => Err(self.busy(&cause::STORE_AWAY)),
            Err(error) => Err(self.unopened(error)),
        }
    }

    /// Joins the other replicas in the background, because this one has a session or a listener.
    pub(super) fn begin_mail(&self) {
        self.mail.begin(self.shared(), &self.sessions);
    }

    /// Publishes messages that may belong to a part at another replica. Progress and cancellations are
    /// published without a wait. The client may forget an answer when it is accepted, so the response waits until the
    /// replicas of the questions have all answers: the future that this returns.
    pub(super) fn forward<'m>(
        &self,
        session: &Session,
        messages: impl Iterator<Item = (&'m [u8], &'m Message<'m>)>,
    ) -> Option<Forwarding> {
        if !session.is_shared() {
            return None;
        }
        let mut answers = Vec::new();
        for (text, message) in messages.filter(|(_, message)| crosses(message)) {
            let Message::Response(response) = message else {
                self.mail.publish(session.id(), text);
                continue;
            };
            let call = response.id.as_ref();
            if let Some(call) = call.filter(|call| !session.has_prefix_of(call)) {
                answers.push((call, text));
            }
        }
        (!answers.is_empty()).then(|| self.mail.answer(session.id(), &answers))
    }

    /// Answers a post when other replicas can read its message.
    pub(super) fn answer_forwarded(
        &self,
        forwarding: Forwarding,
        answer: EndpointResponse,
    ) -> BoxFuture<'_, EndpointResponse> {
        Box::pin(async move {
            match forwarding.await {
                Ok(()) => answer,
                Err(error) => {
                    tracing::warn!(%error, "an answer does not reach its replica");
                    match error {
                        ForwardError::TooLarge(_) => self.refuse(&cause::ANSWER_TOO_LARGE),
                        _ => self.busy(&cause::STORE_AWAY),
                    }
                }
            }
        })
    }

    /// Passes a message to a session. A change of the settings of a shared session is answered later.
    pub(super) fn in_shared_session(
        &self,
        id: SessionId,
        post: Post<'_>,
        message: Message<'_>,
    ) -> PostResult<S> {
        let change = change_of(&message);
        let now = Instant::now().into_std();
        let session = (change.is_some() || crosses(&message))
            .then(|| self.find_session(id, post.parts, now))
            .flatten();
        let forwarding = session.as_ref().and_then(|session| {
            self.forward(session, std::iter::once((&post.bytes[..], &message)))
        });
        let result = self.in_session(id, Arc::clone(post.parts), post.sender, message, post.forms);
        match (
            result,
            session.filter(|session| session.is_shared()),
            change,
        ) {
            (PostResult::Waiting { source, id, era }, Some(session), Some(change)) => {
                let setting = Setting {
                    source,
                    id,
                    session,
                    change,
                };
                PostResult::Setting(Box::new(setting), era)
            }
            (PostResult::Answered(answer), ..) => match forwarding {
                Some(forwarding) => PostResult::Forwarding(Box::new((forwarding, answer))),
                None => PostResult::Answered(answer),
            },
            (result, ..) => result,
        }
    }

    async fn find_shared(
        &self,
        shared: &dyn SharedSessions,
        Named { id, claimed }: Named,
        parts: &Parts,
        peer: &Peer,
    ) -> Result<Found, OpenSessionError> {
        let now = Instant::now().into_std();
        let session = self.find_session(id, parts, now);
        let Some((key, terms)) = claimed.filter(|_| session.is_none()) else {
            return Ok(match session {
                Some(session) => self.check(shared, &session).await,
                None => Found::Nothing,
            });
        };
        self.create_part(shared, key, terms, parts, peer).await
    }

    /// Creates a part with the settings of its session, unless the session has ended.
    async fn create_part(
        &self,
        shared: &dyn SharedSessions,
        key: SessionKey,
        terms: Terms,
        parts: &Parts,
        peer: &Peer,
    ) -> Result<Found, OpenSessionError> {
        let changes = self.sessions.noted_changes();
        let state = read_state(shared, &self.sessions, key).await;
        if state.is_none() && self.is_offline() {
            return Ok(Found::Unavailable);
        }
        if state.as_ref().is_some_and(|state| state.is_ended) {
            return Ok(Found::Nothing);
        }
        let session = self.restore(key, terms, parts, peer)?;
        let Some(state) = state else {
            self.sessions.note_unread(&session, 0);
            return Ok(Found::Session);
        };
        session.apply(&state, 0);
        if self.sessions.noted_changes() != changes {
            // The notice may be about this session, whose part did not exist.
            session.doubt();
        }
        Ok(self.check(shared, &session).await)
    }

    /// Finds out whether a session continues. Reads the store only after the interval, if the state is in
    /// doubt, or if the store has been away for too long. Then it also applies the settings.
    async fn check(&self, shared: &dyn SharedSessions, session: &Session) -> Found {
        let is_due = session.needs_check(Instant::now().into_std(), CHECK_INTERVAL);
        let is_offline = session.is_shared() && self.is_offline();
        if is_due || is_offline {
            let reloaded = reload(shared, &self.sessions, session).await;
            if reloaded == Reloaded::Ended {
                return Found::Nothing;
            }
        }
        match is_offline && self.is_offline() {
            true => Found::Unavailable,
            false => Found::Session,
        }
    }

    fn is_offline(&self) -> bool {
        self.sessions.outage.is_too_long(Instant::now().into_std())
    }
}

/// Reads the id in a head: a sealed one, or the number of a session of this process.
async fn named(shared: &dyn SharedSessions, parts: &Parts) -> Option<Named> {
    let text = headers::single(&parts.headers, &headers::SESSION_ID).ok()??;
    if let Some(id) = SessionId::parse(text) {
        return Some(Named { id, claimed: None });
    }
    let opened = shared.open(owner(parts).map(Principal::id), text).await?;
    let (key, terms) = Claims::read(&opened)?;
    Some(Named {
        id: SessionId::new(key.number.to_be_bytes()),
        claimed: Some((key, terms)),
    })
}

fn owner(parts: &Parts) -> Option<&Principal> {
    parts.extensions.get::<Principal>()
}
