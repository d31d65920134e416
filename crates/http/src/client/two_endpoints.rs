//! The transport of 2024-11-05: one stream for all messages of the server, and another URL for the
//! messages of the client.
//!
//! Spec: [2024-11-05, Transports, HTTP with SSE][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse

use pintle_proto::frame::sse::Event;
use tokio::time::timeout;

use crate::client::answer::{ResponseKind, Sent, meaning};
use crate::client::endpoint_url::EndpointUrl;
use crate::client::events::Events;
use crate::client::failure::{HttpTransportError, MessageEndpointError};
use crate::client::http_client::HttpClient;
use crate::client::http_conversation::{HttpConversation, SessionState};
use crate::client::resume::ResumeError;

/// The type of the event that names the URL for messages.
const ENDPOINT: &str = "endpoint";

impl<F: HttpClient> HttpConversation<F> {
    /// Opens the stream of the server, whose first event is the URL for messages.
    ///
    /// # Errors
    ///
    /// [`HttpTransportError`] if the server does not use this transport either.
    pub(crate) async fn open_two_endpoints(
        &self,
        state: &SessionState,
    ) -> Result<Events, HttpTransportError> {
        let (parts, body) = self.get(state, None).await?.into_parts();
        match meaning(Sent::Listen, state.session(), parts.status, &parts.headers) {
            ResponseKind::Events => {}
            ResponseKind::Ended(trouble) | ResponseKind::ErrorBody(trouble) => {
                return Err(trouble.into());
            }
            ResponseKind::Message | ResponseKind::Accepted => {
                return Err(HttpTransportError::NotTheAnswer);
            }
        }
        let mut events = self.events(body, None, None);
        let wait = self.limits.header_timeout;
        let first = timeout(wait, events.next()).await;
        let first = first.map_err(|_| HttpTransportError::Silent(wait))??;
        let event = first.ok_or(ResumeError::Ended)?;
        self.send_to(address_in(&event, &self.url)?);
        Ok(events)
    }
}

/// Reads the URL in the first event. It must have the same origin, because messages are sent there.
fn address_in(event: &Event, from: &EndpointUrl) -> Result<EndpointUrl, HttpTransportError> {
    if event.name.as_deref() != Some(ENDPOINT) {
        return Err(HttpTransportError::NotTheAnswer);
    }
    let text = str::from_utf8(&event.data).map_err(|_| HttpTransportError::NotTheAnswer)?;
    let address = from
        .resolve(text.trim())
        .map_err(MessageEndpointError::from)?;
    if address.origin() != from.origin() {
        return Err(MessageEndpointError::OtherOrigin.into());
    }
    Ok(address)
}

#[cfg(test)]
mod tests {
    use pintle_proto::frame::sse::Decoder;

    use super::*;

    fn address(event: &str) -> Result<String, HttpTransportError> {
        let from = EndpointUrl::parse("https://a.example/v1/sse").expect("a URL");
        let mut bytes = event.as_bytes();
        let decoded = Decoder::default().decode(&mut bytes).expect("short");
        address_in(&decoded.expect("an event"), &from).map(|url| url.as_str().to_owned())
    }

    // spec: 2025-11-25 TRANS-COMPAT-03, SEC-31 (endpoints), AMB-45
    // spec: 2026-07-28 N-SEC-10 (endpoints)
    #[test]
    fn the_first_event_names_the_url_for_messages_within_the_origin() {
        let good = [
            (
                "/messages?sessionId=7",
                "https://a.example/messages?sessionId=7",
            ),
            ("message", "https://a.example/v1/message"),
            ("https://a.example:443/m", "https://a.example:443/m"),
        ];
        for (said, expected) in good {
            let found = address(&format!("event: endpoint\ndata: {said}\n\n"));
            assert_eq!(found.expect(said), expected);
        }
        for other in [
            "//b.example/m",
            "http://a.example/m",
            "https://a.example:1/m",
        ] {
            let found = address(&format!("event: endpoint\ndata: {other}\n\n"));
            let expected = HttpTransportError::MessageAddress(MessageEndpointError::OtherOrigin);
            assert_eq!(found.expect_err(other).to_string(), expected.to_string());
        }
        for bad in [
            "event: message\ndata: /m\n\n",
            "data: /m\n\n",
            "event: endpoint\ndata: file:///m\n\n",
        ] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }
}
