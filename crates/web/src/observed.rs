//! A connection whose messages are events of the page.

use std::sync::Arc;

use pintle_model::JsonObject;
use pintle_proto::TransportError;
use pintle_proto::lifecycle::Binding;
use pintle_runtime::{
    BoxConnect, BoxTransport, Connect, ParamHeader, ServerAddress, TappedMessage, Transport, Wire,
};
use serde_json::value::RawValue;

use crate::feed::Feed;
use crate::object::Object;

/// A connection whose messages are added to the feed.
pub(crate) struct Observed {
    pub(crate) connect: BoxConnect,
    pub(crate) feed: Arc<Feed>,
    pub(crate) max_message_bytes: usize,
}

/// A transport whose messages are added to the feed.
pub(crate) struct ObservedTransport {
    transport: BoxTransport,
    feed: Arc<Feed>,
    max_message_bytes: usize,
}

impl Connect for Observed {
    type Transport = ObservedTransport;

    async fn connect(&self) -> Result<ObservedTransport, TransportError> {
        Ok(ObservedTransport {
            transport: self.connect.connect().await?,
            feed: Arc::clone(&self.feed),
            max_message_bytes: self.max_message_bytes,
        })
    }

    fn binding(&self) -> Binding {
        self.connect.binding()
    }

    fn key(&self) -> Option<String> {
        self.connect.key()
    }

    fn server_address(&self) -> Option<ServerAddress> {
        self.connect.server_address()
    }

    fn principal(&self) -> Option<String> {
        self.connect.principal()
    }

    fn param_headers(&self, input_schema: &JsonObject) -> Result<Vec<ParamHeader>, String> {
        self.connect.param_headers(input_schema)
    }
}

impl Transport for ObservedTransport {
    async fn run(self, wire: Wire) -> Result<(), TransportError> {
        let (feed, max) = (self.feed, self.max_message_bytes);
        let wire = wire.tapped(move |tapped| observe(&feed, max, &tapped));
        self.transport.run(wire).await
    }
}

/// Adds a message to the feed: as it is, or the beginning of one that is too long or is not JSON.
fn observe(feed: &Feed, max: usize, tapped: &TappedMessage<'_>) {
    let (to, bytes) = match tapped {
        TappedMessage::Sent(bytes) => ("server", *bytes),
        TappedMessage::Received(bytes) => ("client", *bytes),
    };
    let is_whole = bytes.len() <= max;
    let message = is_whole.then(|| serde_json::from_slice(bytes).ok());
    let message: Option<&RawValue> = message.flatten();
    let mut event = Object::event("message");
    event.text("to", to).whole("bytes", bytes.len() as u64);
    feed.add(match message {
        Some(message) => event.raw("message", message.get()),
        None => {
            let shown = bytes.get(..max).unwrap_or(bytes);
            event.text("text", &String::from_utf8_lossy(shown))
        }
    });
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::Value;

    use super::*;
    use crate::options::WebOptions;

    async fn observed(bytes: &[u8]) -> Value {
        let feed = Feed::new(&WebOptions::default());
        observe(&feed, 16, &TappedMessage::Received(bytes));
        let text = feed.wait(0, Duration::ZERO).await;
        let mut page: Value = serde_json::from_slice(&text).expect("JSON");
        page["events"][0].take()
    }

    #[tokio::test]
    async fn a_message_is_an_event_as_it_is() {
        let event = observed(b"{\"id\": 1.50}").await;
        assert_eq!(event["message"].to_string(), "{\"id\":1.5}");
        assert_eq!(
            (&event["to"], &event["bytes"]),
            (&"client".into(), &12.into())
        );
    }

    #[tokio::test]
    async fn a_long_message_is_cut_off() {
        let event = observed(b"{\"text\":\"much too long\"}").await;
        assert_eq!(event["text"], "{\"text\":\"much to");
        assert_eq!(event["bytes"], 24);
        assert!(event.get("message").is_none());
    }

    #[tokio::test]
    async fn a_line_that_is_not_json_is_shown_as_text() {
        let event = observed(b"Starting \xff...").await;
        assert_eq!(event["text"], "Starting \u{fffd}...");
    }
}
