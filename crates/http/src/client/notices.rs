//! Messages without an answer: notifications, and answers to questions of the server.

use std::time::Duration;

use bytes::Bytes;
use http::Response;
use pintle_model::jsonrpc::Message;
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
    /// did not accept it, because the server waits for it; a second copy has no effect there.
    ///
    /// # Errors
    ///
    /// [`HttpTransportError`] if the server did not accept it.
    pub(crate) async fn deliver(
        &self,
        state: &SessionState,
        body: &Bytes,
    ) -> Result<(), HttpTransportError> {
        let is_answer = matches!(Message::parse(body), Ok(Message::Response(_)));
        let most = if is_answer {
            self.limits.max_reconnects
        } else {
            0
        };
        let mut failures = 0;
        loop {
            let Err(failure) = self.notify(state, body).await else {
                return Ok(());
            };
            let Some(asked) = failure.retry_delay().filter(|_| failures < most) else {
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
