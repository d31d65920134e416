//! The home of a session: the replica of its stream. Other replicas pass posts on to it, and wait for its reply.
//!
//! The session id in the URL for posts is sealed, and names the home. A home that is silent or absent is reported
//! to the client with a status and a text, at most about a second later.

use std::sync::{Arc, Weak};

use bytes::Bytes;
use http::header::{HOST, HeaderName, ORIGIN, USER_AGENT};
use http::request::Parts;
use http::{Method, Request, StatusCode};
use pintle_runtime::fleet::{DeliveryError, Recipient, ReplicaId, ReplicaMessage, ReplicaReply};
use pintle_runtime::{BoxFuture, Principal, Service};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::deliver::{Delivery, Text};
use crate::rules::cause;
use crate::rules::classify::HttpRejection;
use crate::rules::session_id::SessionId;
use crate::server::endpoint::reading::read;
use crate::server::endpoint::{Endpoint, EndpointResponse};
use crate::server::peers::Sender;
use crate::server::reply;
use crate::server::session::{Session, StreamLayout};
use crate::server::session_mail::ForwardError;
use crate::server::sessions::OpenSessionError;

/// The kind of the messages between replicas.
const KIND: &str = "sse-post";
/// Largest text that is passed on, in bytes. The inbox of a replica has 64 MiB.
const MAX_BYTES: usize = 256 << 10;
/// The form of the content of an id. Ids of other sessions have other forms.
const FORM: u8 = 2;
/// Bytes of the number of a session.
const NUMBER_BYTES: usize = 16;
/// The headers of a post that its home receives. None of them is a credential, because the store has them.
static PASSED_HEADERS: [HeaderName; 6] = [
    HOST,
    ORIGIN,
    USER_AGENT,
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
    HeaderName::from_static("baggage"),
];

/// The place of a session.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address {
    id: SessionId,
    home: ReplicaId,
}

/// The session of a post.
pub(super) enum Found {
    Here(Arc<Session>),
    Elsewhere(Address),
}

/// A post for a session at another replica.
#[derive(Serialize, Deserialize)]
struct ForwardedPost {
    /// 32 hexadecimal digits.
    session: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    principal: Option<ForwardedPrincipal>,
    uri: String,
    headers: Vec<(String, String)>,
    text: String,
}

#[derive(Serialize, Deserialize)]
struct ForwardedPrincipal {
    id: String,
    scopes: Vec<String>,
}

/// Delivers the posts of other replicas.
struct Home<S>(Weak<Endpoint<S>>);

impl Address {
    fn write(&self) -> Vec<u8> {
        let number = self.id.bits().to_be_bytes();
        [&[FORM], number.as_slice(), self.home.as_str().as_bytes()].concat()
    }

    /// `None` if the content has another form.
    fn read(content: &[u8]) -> Option<Self> {
        let (number, home) = content
            .strip_prefix(&[FORM])?
            .split_first_chunk::<NUMBER_BYTES>()?;
        Some(Self {
            id: SessionId::new(*number),
            home: std::str::from_utf8(home).ok()?.parse().ok()?,
        })
    }
}

impl<S: Service> Endpoint<S> {
    /// Prepares this replica for sessions, and returns its name. `None` if no other process can share the store.
    ///
    /// # Errors
    ///
    /// [`ForwardError::NotJoined`] if the other replicas cannot find this one yet.
    pub(super) async fn be_home(self: &Arc<Self>) -> Result<Option<ReplicaId>, ForwardError> {
        if self.shared().is_none() {
            return Ok(None);
        }
        self.begin_mail();
        self.mail.wait_for_start().await;
        let Some(fleet) = self.mail.fleet()? else {
            return Ok(None);
        };
        let home = || Arc::new(Home(Arc::downgrade(self))) as Arc<dyn Recipient>;
        self.mail.receive_posts(&fleet, KIND, home);
        Ok(Some(fleet.replica()))
    }

    /// Returns the id of a session for its client.
    ///
    /// # Errors
    ///
    /// [`OpenSessionError::NoRandomness`] if the id cannot be sealed.
    pub(super) fn name_of(
        &self,
        id: SessionId,
        home: Option<ReplicaId>,
        owner: Option<&Principal>,
    ) -> Result<String, OpenSessionError> {
        let (Some(home), Some(shared)) = (home, self.shared()) else {
            return Ok(id.to_string());
        };
        let content = Address { id, home }.write();
        let sealed = shared.seal(owner.map(Principal::id), &content);
        sealed.ok_or(OpenSessionError::NoRandomness)
    }

    /// Finds a session of this replica.
    pub(super) fn session_here(
        &self,
        id: SessionId,
        owner: Option<&Principal>,
    ) -> Option<Arc<Session>> {
        let now = Instant::now().into_std();
        self.sessions.find(id, StreamLayout::OneStream, owner, now)
    }

    pub(super) fn no_session(&self) -> EndpointResponse {
        self.reject(HttpRejection::no_such_session())
    }

    /// Finds the session of a sealed id.
    ///
    /// # Errors
    ///
    /// The response 404 or 503.
    pub(super) async fn find_named(
        &self,
        name: &str,
        owner: Option<&Principal>,
    ) -> Result<Found, EndpointResponse> {
        let opened = match self.shared() {
            Some(shared) => shared.open(owner.map(Principal::id), name).await,
            None => None,
        };
        let Some(address) = opened.and_then(|content| Address::read(&content)) else {
            return Err(self.no_session());
        };
        self.begin_mail();
        self.mail.wait_for_start().await;
        match self.mail.fleet() {
            Ok(Some(fleet)) if fleet.replica() != address.home => Ok(Found::Elsewhere(address)),
            Ok(_) => {
                let session = self.session_here(address.id, owner);
                session.map(Found::Here).ok_or_else(|| self.no_session())
            }
            Err(_) => Err(self.busy(&cause::STORE_AWAY)),
        }
    }

    /// Passes a post on to its home, and answers with the reply.
    pub(super) async fn pass_on(
        &self,
        address: &Address,
        parts: &Parts,
        text: Text<'_>,
    ) -> EndpointResponse {
        let bytes = text.bytes;
        // A challenge for missing scopes needs this response. The home knows whether a batch is valid.
        if let Err(rejection) = self.check_text(parts, text.reading, true) {
            return self.reject(rejection);
        }
        if bytes.len() > MAX_BYTES {
            return self.refuse(&cause::POST_TOO_LARGE);
        }
        let Some(message) = message(address.id, parts, bytes) else {
            return self.no_session();
        };
        let Ok(Some(fleet)) = self.mail.fleet() else {
            return self.busy(&cause::STORE_AWAY);
        };
        match fleet.request(address.home, message).await {
            Ok(ReplicaReply::Done) => reply::bare(StatusCode::ACCEPTED),
            Ok(ReplicaReply::Data(status)) => self.refused_by_home(status.get(), bytes),
            Ok(_) => self.no_session(),
            Err(DeliveryError::Absent) => self.refuse(&cause::HOME_ENDED),
            Err(DeliveryError::TimedOut) => self.busy(&cause::HOME_SILENT),
            Err(error) => {
                tracing::warn!(%error, "a message does not reach the process of its stream");
                self.busy(&cause::STORE_AWAY)
            }
        }
    }

    fn refused_by_home(&self, status: &str, bytes: &Bytes) -> EndpointResponse {
        if status == StatusCode::TOO_MANY_REQUESTS.as_str() {
            return reply::crowded(None, StatusCode::TOO_MANY_REQUESTS);
        }
        // It is a batch in a revision without batches.
        let rejection = match pintle_model::jsonrpc::Message::parse_within(bytes, self.values()) {
            Err(malformed) => HttpRejection::malformed(malformed),
            Ok(_) => HttpRejection::no_such_session(),
        };
        self.reject(rejection)
    }

    /// Delivers a post of another replica.
    fn receive_post(&self, post: ForwardedPost) -> ReplicaReply {
        let session = SessionId::parse(&post.session);
        let Some((id, parts)) = session.zip(post.parts()).filter(|_| !self.is_closed()) else {
            return ReplicaReply::NotFound;
        };
        let owner = parts.extensions.get::<Principal>();
        let Some(session) = self.session_here(id, owner) else {
            return ReplicaReply::NotFound;
        };
        let sender = Sender {
            peer: session.peer().clone(),
            body: None,
        };
        let bytes = Bytes::from(post.text);
        let text = Text {
            bytes: &bytes,
            reading: read(&bytes, self.values()),
        };
        match self.deliver_text(&session, parts, &sender, text) {
            Ok(Delivery::Accepted) => ReplicaReply::Done,
            Ok(Delivery::Crowded) => refusal(StatusCode::TOO_MANY_REQUESTS),
            Err(rejection) if rejection.status == StatusCode::NOT_FOUND => ReplicaReply::NotFound,
            Err(rejection) => refusal(rejection.status),
        }
    }
}

impl<S: Service> Recipient for Home<S> {
    fn receive(&self, _from: ReplicaId, message: ReplicaMessage) -> BoxFuture<'_, ReplicaReply> {
        Box::pin(async move {
            match (self.0.upgrade(), message.read::<ForwardedPost>()) {
                (Some(endpoint), Ok(post)) => endpoint.receive_post(post),
                _ => ReplicaReply::NotFound,
            }
        })
    }
}

impl ForwardedPost {
    /// Returns the head of the request, with the principal that another replica has authorized.
    fn parts(&self) -> Option<Parts> {
        let mut request = Request::builder().method(Method::POST).uri(&self.uri);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(principal) = &self.principal {
            let scopes = principal.scopes.iter().map(String::as_str);
            request = request.extension(Principal::new(&*principal.id, scopes));
        }
        Some(request.body(()).ok()?.into_parts().0)
    }
}

/// Returns the message for the home of a session. `None` if the text is not UTF-8.
fn message(id: SessionId, parts: &Parts, bytes: &Bytes) -> Option<ReplicaMessage> {
    let principal = parts.extensions.get::<Principal>();
    let passed = PASSED_HEADERS.iter().filter_map(|name| {
        let value = parts.headers.get(name)?.to_str().ok()?;
        Some((name.to_string(), value.to_owned()))
    });
    let post = ForwardedPost {
        session: id.to_string(),
        principal: principal.map(|principal| ForwardedPrincipal {
            id: principal.id().to_owned(),
            scopes: principal.scopes().map(str::to_owned).collect(),
        }),
        uri: parts.uri.path().to_owned(),
        headers: passed.collect(),
        text: std::str::from_utf8(bytes).ok()?.to_owned(),
    };
    ReplicaMessage::new(KIND, &post).ok()
}

fn refusal(status: StatusCode) -> ReplicaReply {
    ReplicaReply::data(&status.as_u16()).unwrap_or(ReplicaReply::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_was_written() {
        let address = Address {
            id: SessionId::new([7; 16]),
            home: "abcdef27".parse().expect("a name"),
        };
        let content = address.write();
        assert_eq!(Address::read(&content), Some(address));
        let mut other_form = content.clone();
        other_form[0] = 1;
        let longer = [content.as_slice(), b"a"].concat();
        for content in [&other_form, &longer, &content[..20].to_vec(), &Vec::new()] {
            assert_eq!(Address::read(content), None);
        }
    }

    #[test]
    fn credentials_stay_at_the_replica_of_a_post() {
        let request = Request::builder()
            .header("authorization", "Bearer secret")
            .header("cookie", "secret")
            .header("x-api-key", "secret")
            .header("traceparent", "00-1-2-01")
            .uri("/messages?session_id=secret");
        let request = request.extension(Principal::new("ada", ["read"])).body(());
        let parts = request.expect("a request").into_parts().0;
        let message = message(SessionId::new([7; 16]), &parts, &Bytes::from("{}"));
        let post: ForwardedPost = message.expect("text").read().expect("a post");
        let all = serde_json::to_string(&post).expect("JSON");
        assert!(!all.contains("secret"), "{all}");
        let parts = post.parts().expect("a head");
        assert_eq!(parts.headers["traceparent"], "00-1-2-01");
        let principal = parts.extensions.get::<Principal>().expect("one");
        assert!(principal.id() == "ada" && principal.has_scope("read"));
    }
}
