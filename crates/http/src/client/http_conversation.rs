//! What all exchanges of one conversation share.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Response};
use pintle_model::Revision;
use pintle_runtime::Wire;
use pintle_runtime::sync::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::client::agent::{Agent, PreparedRequest};
use crate::client::answer::{ResponseKind, Sent, SessionUse, meaning};
use crate::client::endpoint_url::EndpointUrl;
use crate::client::failure::HttpTransportError;
use crate::client::head::{RequestHead, RoutingHeaders, SessionHeaders};
use crate::client::http_client::{HttpClient, HttpClientBody};
use crate::client::options::HttpClientLimits;
use crate::client::session_id::SessionId;

/// One conversation with a server, whatever number of exchanges it takes.
pub(crate) struct HttpConversation<F> {
    pub(crate) agent: Arc<Agent<F>>,
    pub(crate) limits: Arc<HttpClientLimits>,
    pub(crate) url: EndpointUrl,
    pub(crate) wire: Wire,
    /// Notified when messages left the wire, because it may have room again.
    pub(crate) taken: Notify,
    agreed: Mutex<Agreed>,
}

/// The results of the negotiation.
#[derive(Debug, Clone, Default)]
struct Agreed {
    session: Option<SessionId>,
    /// The URL for messages of the older transport; `None` with one endpoint.
    messages_to: Option<Box<EndpointUrl>>,
}

/// The state of the session that the headers of a request state.
#[derive(Debug, Clone)]
pub(crate) struct SessionState {
    pub(crate) revision: Option<Revision>,
    session: Option<SessionId>,
    // Boxed, because only the older transport has it.
    messages_to: Option<Box<EndpointUrl>>,
}

impl<F: HttpClient> HttpConversation<F> {
    pub(crate) fn new(
        agent: Arc<Agent<F>>,
        limits: Arc<HttpClientLimits>,
        url: EndpointUrl,
        wire: Wire,
    ) -> Self {
        Self {
            agent,
            limits,
            url,
            wire,
            taken: Notify::new(),
            agreed: Mutex::default(),
        }
    }

    /// On what a message of this revision is sent.
    pub(crate) fn state(&self, revision: Option<Revision>) -> SessionState {
        let Agreed {
            session,
            messages_to,
        } = self.agreed().clone();
        SessionState {
            revision,
            session,
            messages_to,
        }
    }

    /// Notes the session that an answer to `initialize` opens.
    ///
    /// # Errors
    ///
    /// [`HttpTransportError::SessionId`] for an id that cannot be sent back.
    pub(crate) fn note_session(&self, headers: &HeaderMap) -> Result<(), HttpTransportError> {
        let session = SessionId::of(headers).map_err(|_| HttpTransportError::SessionId)?;
        self.agreed().session = session;
        Ok(())
    }

    /// Notes that messages go elsewhere.
    pub(crate) fn send_to(&self, address: EndpointUrl) {
        self.agreed().messages_to = Some(Box::new(address));
    }

    /// Whether this is the older transport with two endpoints.
    pub(crate) fn has_two_endpoints(&self) -> bool {
        self.agreed().messages_to.is_some()
    }

    /// Waits until more may be read.
    pub(crate) async fn room(&self) {
        loop {
            let taken = self.taken.notified();
            if self.wire.has_room() {
                return;
            }
            taken.await;
        }
    }

    fn agreed(&self) -> MutexGuard<'_, Agreed> {
        self.agreed.lock()
    }

    /// Posts one message; returns with the head of the answer.
    ///
    /// # Errors
    ///
    /// As [`Agent::ask`].
    pub(crate) fn post<'a>(
        &'a self,
        state: &'a SessionState,
        message: RoutingHeaders<'a>,
        body: &'a Bytes,
        wait: std::time::Duration,
    ) -> impl Future<Output = Result<Response<HttpClientBody>, HttpTransportError>> + Send + 'a
    {
        let ask = PreparedRequest {
            to: state.messages_to.as_deref().unwrap_or(&self.url),
            head: RequestHead::Post(state.under(), message),
            body,
        };
        // Its future has the request only, which an `async fn` would keep beside the arguments.
        async move { self.agent.ask(&ask, wait).await }
    }

    /// Requests the stream of the session, or the rest of a stream after an event.
    ///
    /// # Errors
    ///
    /// As [`Agent::ask`].
    pub(crate) async fn get(
        &self,
        state: &SessionState,
        last_id: Option<&str>,
    ) -> Result<Response<HttpClientBody>, HttpTransportError> {
        let ask = PreparedRequest {
            to: &self.url,
            head: RequestHead::Get(state.under(), last_id),
            body: &Bytes::new(),
        };
        self.agent.ask(&ask, self.limits.header_timeout).await
    }

    /// Ends the session, if there is one.
    pub(crate) async fn say_goodbye(&self, revision: Option<Revision>) {
        let state = self.state(revision);
        if state.session.is_none() {
            return;
        }
        let ask = PreparedRequest {
            to: &self.url,
            head: RequestHead::Delete(state.under()),
            body: &Bytes::new(),
        };
        // The conversation ends whatever the response is.
        match self.agent.ask(&ask, self.limits.close_timeout).await {
            Err(error) => tracing::debug!(%error, "the end of the session could not be said"),
            Ok(answer) => {
                let found = meaning(
                    Sent::Delete,
                    SessionUse::Named,
                    answer.status(),
                    answer.headers(),
                );
                if let ResponseKind::Ended(trouble) | ResponseKind::ErrorBody(trouble) = found {
                    tracing::debug!(%trouble, "the server did not end the session");
                }
            }
        }
    }
}

impl SessionState {
    fn under(&self) -> SessionHeaders<'_> {
        SessionHeaders {
            revision: self.revision,
            session: self.session.as_ref(),
        }
    }

    /// Whether a session is named, which decides what 404 means. The URL for messages of the older transport names one.
    pub(crate) fn session(&self) -> SessionUse {
        match self.under().names_session() || self.messages_to.is_some() {
            true => SessionUse::Named,
            false => SessionUse::None,
        }
    }
}
