//! Requests that change the settings of a session that replicas share.

use std::future::{poll_fn, ready};
use std::sync::Arc;
use std::task::Poll;

use pintle_model::jsonrpc::Message;
use pintle_model::method::{Method, SetLevel, Subscribe, Unsubscribe};
use pintle_model::{Error, ErrorCode, ReadJson, RequestId, SetLevelParams, SubscribeParams};
use pintle_proto::AnswerStatus;
use pintle_runtime::{BoxFuture, Service, SessionChange};
use tokio::time::Instant;

use super::super::events::MessageSource as _;
use super::super::reply::{self, Era};
use super::super::session::Session;
use super::{Caller, Endpoint, EndpointResponse};
use crate::rules::cause;
use crate::rules::classify::HttpRejection;
use crate::rules::media::AcceptedTypes;

/// Returns the change of the settings that a request asks for.
pub(in crate::server) fn change_of(message: &Message<'_>) -> Option<SessionChange> {
    let Message::Request(request) = message else {
        return None;
    };
    let method = request.method.as_ref();
    if ![SetLevel::NAME, Subscribe::NAME, Unsubscribe::NAME].contains(&method) {
        return None;
    }
    let params = request.params.as_ref()?.get();
    if method == SetLevel::NAME {
        let params = SetLevelParams::read_json(params).ok()?;
        return Some(SessionChange::Level(params.level));
    }
    let SubscribeParams { uri, .. } = SubscribeParams::read_json(params).ok()?;
    Some(match method == Subscribe::NAME {
        true => SessionChange::Subscribe(uri),
        false => SessionChange::Unsubscribe(uri),
    })
}

/// Why a change of the settings is not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum UnrecordedChange {
    StoreAway,
    /// The session has ended at another replica.
    Ended,
    /// The record has no room for the subscription.
    NoRoom,
}

impl UnrecordedChange {
    /// The error for the request.
    pub(in crate::server) fn to_error(self) -> Error {
        match self {
            Self::StoreAway => Error::new(ErrorCode::INTERNAL_ERROR, cause::STORE_AWAY.text),
            Self::Ended => reply::session_ended(),
            Self::NoRoom => Error::invalid_params("too many subscriptions, or too long a URI"),
        }
    }
}

/// A request that changes the settings of a session.
pub(in crate::server) struct Setting<S: Service> {
    pub(in crate::server) source: Caller<S>,
    pub(in crate::server) id: RequestId,
    pub(in crate::server) session: Arc<Session>,
    pub(in crate::server) change: SessionChange,
}

impl<S: Service> Endpoint<S> {
    /// Notifies the other replicas of a change of the settings.
    ///
    /// # Errors
    ///
    /// [`UnrecordedChange::StoreAway`] if a replica may not learn of it. The client then sends the request again.
    pub(in crate::server) async fn announce_change(
        &self,
        session: &Session,
        generation: u64,
    ) -> Result<(), UnrecordedChange> {
        let id = session.id();
        let announced = self.mail.announce(id, generation).await;
        announced.map_err(|error| {
            tracing::warn!(%error, session = ?id, "cannot announce a setting to all replicas");
            UnrecordedChange::StoreAway
        })
    }

    /// Records a change of the settings that the engine has accepted. Returns the generation of the record, which
    /// the other replicas need.
    ///
    /// # Errors
    ///
    /// [`UnrecordedChange`]; the next request of the session reads the record again.
    pub(in crate::server) async fn record_change(
        &self,
        session: &Session,
        change: &SessionChange,
    ) -> Result<u64, UnrecordedChange> {
        let shared = self.shared().zip(session.key());
        let (shared, key) = shared.ok_or(UnrecordedChange::StoreAway)?;
        let id = session.id();
        // If this future ends early, the next request reads the settings again.
        let doubts = session.doubt_settings();
        let mut recorded = shared.change(key, change).await;
        if let Ok(state) = &recorded
            && let Some(mut own) = session.lost_settings(state)
        {
            // The store has lost the earlier settings.
            own.apply(change);
            recorded = shared.restore(key, &own).await;
        }
        let state = match recorded {
            Ok(state) => state,
            Err(error) => {
                // The engine has the setting, so the next request reads the record.
                self.sessions.note_unread(session, 0);
                tracing::warn!(%error, session = ?id, "cannot record a setting for all replicas");
                return Err(UnrecordedChange::StoreAway);
            }
        };
        if state.is_ended {
            self.sessions.end(session, Instant::now().into_std());
            return Err(UnrecordedChange::Ended);
        }
        session.apply(&state, doubts);
        if let SessionChange::Subscribe(uri) = change
            && !state.subscribed.contains(uri)
        {
            return Err(UnrecordedChange::NoRoom);
        }
        Ok(state.generation)
    }

    /// The response to a request whose change is not recorded.
    fn unrecorded(&self, why: UnrecordedChange, request: RequestId) -> EndpointResponse {
        let rejection = match why {
            UnrecordedChange::StoreAway => return self.busy(&cause::STORE_AWAY),
            UnrecordedChange::Ended => HttpRejection::no_such_session(),
            UnrecordedChange::NoRoom => HttpRejection::error(why.to_error()),
        };
        self.reject(rejection.with_id(Some(request)))
    }

    /// Answers a request that changes the settings of a shared session, after all replicas know the change.
    pub(in crate::server) fn answer_setting(
        &self,
        setting: Setting<S>,
        era: Era,
        forms: AcceptedTypes,
    ) -> BoxFuture<'_, EndpointResponse> {
        match self.shared() {
            Some(_) => Box::pin(self.answer_recorded(setting, era, forms)),
            None => Box::pin(ready(self.busy(&cause::STORE_AWAY))),
        }
    }

    async fn answer_recorded(
        &self,
        setting: Setting<S>,
        era: Era,
        forms: AcceptedTypes,
    ) -> EndpointResponse {
        let Setting {
            mut source,
            id,
            session,
            change,
        } = setting;
        match poll_fn(|cx| Poll::Ready(source.poll_message(cx))).await {
            Poll::Ready(Some(message)) if message.verdict.is_some() => {
                if message.verdict == Some(AnswerStatus::Result) {
                    let recorded = match self.record_change(&session, &change).await {
                        Ok(generation) => self.announce_change(&session, generation).await,
                        Err(why) => Err(why),
                    };
                    if let Err(why) = recorded {
                        return self.unrecorded(why, id);
                    }
                }
                reply::answer(message, era)
            }
            // The engine answers these methods at once, so this does not happen.
            first => self.reply(source, first, id, era, forms).await,
        }
    }
}
