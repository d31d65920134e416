//! Messages without an answer: notifications, and answers to questions of the server.

use std::time::Duration;

use bytes::Bytes;
use http::Response;
use pintle_model::jsonrpc::Message;
use pintle_model::method::{Cancelled, Initialized, Notice, RootsChanged};
use tokio::time::sleep;

use crate::body::{self, Bounds};
use crate::client::answer::{ResponseKind, Sent, meaning};
use crate::client::backoff::Jitter;
use crate::client::failure::HttpTransportError;
use crate::client::head::RoutingHeaders;
use crate::client::http_client::{HttpClient, HttpClientBody};
use crate::client::http_conversation::{HttpConversation, SessionState};

/// How long a stream may take to end after its answer.
pub(crate) const END_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum bytes that are read of a body that carries nothing.
const SMALL_BYTES: usize = 4 << 10;

impl<F: HttpClient> HttpConversation<F> {
    /// Posts a message that has no answer. An answer to a question of the server is posted again if the server
    /// did not accept it, because the server waits for it. So are notifications without a successor, because the
    /// server would act on old facts. A second copy has no effect there.
    ///
    /// # Errors
    ///
    /// [`HttpTransportError`] if the server did not accept it.
    pub(crate) async fn deliver(
        &self,
        state: &SessionState,
        body: &Bytes,
    ) -> Result<(), HttpTransportError> {
        let repeats = Repeats::of(body);
        let mut failures = 0;
        loop {
            let Err(failure) = self.notify(state, body).await else {
                return Ok(());
            };
            let is_repeated = repeats.allow(&failure) && failures < self.limits.max_reconnects;
            let Some(asked) = failure.retry_delay().filter(|_| is_repeated) else {
                return Err(failure);
            };
            let wait = self.limits.backoff().wait(failures, asked, Jitter::draw());
            sleep(wait).await;
            failures += 1;
        }
    }

    /// Posts a message that has no answer, once.
    ///
    /// # Errors
    ///
    /// [`HttpTransportError`] if the server did not accept it.
    pub(crate) async fn notify(
        &self,
        state: &SessionState,
        body: &Bytes,
    ) -> Result<(), HttpTransportError> {
        let method = match Message::parse(body) {
            Ok(Message::Notification(notice)) => Some(notice.method.into_owned()),
            _ => None,
        };
        let message = RoutingHeaders {
            method: method.as_deref(),
            ..RoutingHeaders::default()
        };
        let wait = self.limits.header_timeout;
        let response = self.post(state, message, body, wait).await?;
        taken(response, state).await
    }
}

/// After which failures a message is posted again. Closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeats {
    /// After each one that may pass.
    Always,
    /// If the server is away or busy. Calls wait for this message.
    WhileAway,
    Never,
}

impl Repeats {
    fn of(body: &[u8]) -> Self {
        match Message::parse(body) {
            Ok(Message::Response(_)) => Self::Always,
            Ok(Message::Notification(notice)) => match notice.method.as_ref() {
                Cancelled::NAME | RootsChanged::NAME => Self::Always,
                Initialized::NAME => Self::WhileAway,
                // The next progress replaces this one.
                _ => Self::Never,
            },
            _ => Self::Never,
        }
    }

    fn allow(self, failure: &HttpTransportError) -> bool {
        match self {
            Self::Always => true,
            Self::WhileAway => failure.is_passing(),
            Self::Never => false,
        }
    }
}

/// Returns an error unless the server accepted a message that has no answer.
pub(crate) async fn taken(
    response: Response<HttpClientBody>,
    state: &SessionState,
) -> Result<(), HttpTransportError> {
    let (parts, body) = response.into_parts();
    let found = meaning(Sent::Notice, state.session(), parts.status, &parts.headers);
    if let ResponseKind::Ended(trouble) | ResponseKind::ErrorBody(trouble) = found {
        return Err(trouble.into());
    }
    // The body is read only so that the connection can be reused.
    drop(body::read(body, Bounds::within(SMALL_BYTES, END_TIMEOUT)).await);
    Ok(())
}
